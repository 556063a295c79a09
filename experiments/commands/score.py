"""The command ``autorater score``: how wide the error bar of a benchmark's score is."""

from __future__ import annotations

import math
from contextlib import ExitStack
from enum import StrEnum
from typing import Annotated

import typer

from calibration_sets.strict import shorten
from experiments.analyses.scores.scoring import score_benchmark
from experiments.analyses.scores.scoring_inputs import GraderChoice, read_scoring
from experiments.analyses.scores.scoring_page import build_scoring_page, scoring_fields
from experiments.analyses.scores.scoring_results import ScoringChoice
from experiments.analyses.scores.strata_reweighting import FIELDS
from experiments.commands.calibration_options import CalibrationGraderOption, CalibrationStoreOption, OtherGraderOption
from experiments.commands.figure_output import FiguresOption, check_figures, write_score_figures
from experiments.commands.options import DEFAULT_STORE, StoreOption, check_level
from experiments.commands.page_output import PageFormat, PageFormatOption, PageOutOption, write_page
from experiments.errors import SpecError
from experiments.reports.report_file import check_report_file
from experiments.stats.scores import SCORES
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore

__all__ = ["score"]


class Method(StrEnum):
    """Intervals of corrected scores and differences."""

    delta = "delta"
    bootstrap = "bootstrap"


class StratumField(StrEnum):
    """What strata can be of."""

    respondent = "respondent"
    topic = "topic"
    answer_type = "answer_type"
    kind = "kind"


def score(
    benchmark: Annotated[str, typer.Argument(metavar="BENCHMARK_RUN", help="Run whose responses are scored.")],
    calibration: Annotated[
        str | None,
        typer.Option("--calibration", help="Run in which the same grader judged items that people labelled."),
    ] = None,
    calibration_store: CalibrationStoreOption = None,
    against: Annotated[
        str | None, typer.Option("--against", help="Run of another set, to compare each respondent's scores with.")
    ] = None,
    grader: Annotated[
        str | None, typer.Option("--grader", help="Grader of the benchmark: its model or prompt and model.")
    ] = None,
    calibration_grader: CalibrationGraderOption = None,
    other_grader_assumed: OtherGraderOption = False,
    method: Annotated[
        Method, typer.Option("--method", help="Intervals of corrected scores and differences.")
    ] = Method.delta,
    rank_by: Annotated[str, typer.Option("--rank-by", help="Score of the ranking and the decision.")] = "f1",
    strata: Annotated[
        list[StratumField] | None, typer.Option("--strata", help="Look at these strata alone; may be repeated.")
    ] = None,
    reweight: Annotated[
        StratumField | None,
        typer.Option("--reweight", help="Reweight the error rates to the benchmark's shares of this, throughout."),
    ] = None,
    labelled_at_random: Annotated[
        bool,
        typer.Option("--labelled-at-random", help="The labelled items are a random part of the benchmark: PPI++ too."),
    ] = False,
    box: Annotated[
        float, typer.Option("--box", help="How far each error rate may be off, where that is shown.")
    ] = 0.02,
    penalty: Annotated[float, typer.Option("--penalty", help="Cost of a wrong answer in 'penalised'.")] = 1.0,
    level: Annotated[float, typer.Option("--level", help="Confidence level.")] = 0.95,
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
    figures: FiguresOption = None,
) -> None:
    """Score a benchmark as graded and corrected for its grader's errors, from the store alone.

    The benchmark's set needs no labels of people; its items name their respondents. The calibration is a run of the
    same grader (prompt, model and sampling) over items that people labelled; it may be the same run. Without one, or
    where the error rates do not identify the true scores, scores stay uncorrected, with the reason.

    \b
    Examples:
      autorater score score_simpleqa_verified --calibration my_calibration
      autorater score verified --calibration mine --calibration-store labels.sqlite --method bootstrap
      autorater score verified --calibration mine --reweight topic --rank-by accuracy_given_attempted
      autorater score verified --calibration mine --against simpleqa --format json --out score.json
      autorater score verified --calibration verified --labelled-at-random
      autorater score verified --calibration mine --figures figures/
    """
    _check(rank_by, level, box, penalty)
    if out is not None:
        check_report_file(out)
    if figures is not None:
        check_figures(figures)
    names = [benchmark] if against is None else [benchmark, against]
    with ExitStack() as stack:
        opened = stack.enter_context(RunStore(store, must_exist=True))
        other = opened
        if calibration_store is not None:
            there = RunStore(calibration_store, must_exist=True, option="--calibration-store PATH")
            other = stack.enter_context(there)
        runs = [load_run_data(opened, name)[0] for name in names]
        known = None if calibration is None else load_run_data(other, calibration)[0]
    choice = GraderChoice(grader, calibration_grader, other_grader_assumed)
    read, labelled = read_scoring(runs, known, choice)
    asked = ScoringChoice(
        level=level,
        method=method.value,
        rank_by=rank_by,
        reweight=None if reweight is None else reweight.value,
        labelled_at_random=labelled_at_random,
        box=box,
        penalty=penalty,
        fields=tuple(field for field in FIELDS if not strata or StratumField(field) in strata),
    )
    found = score_benchmark(read[0], labelled, asked, against=read[1] if against is not None else None)
    write_page(build_scoring_page(found), scoring_fields(found), output_format, out)
    if figures is not None:
        write_score_figures(runs[0], found, figures)


def _check(rank_by: str, level: float, box: float, penalty: float) -> None:
    if rank_by not in SCORES:
        raise SpecError(f"--rank-by: no score {shorten(rank_by)}; expected one of {list(SCORES)}")
    check_level(level)
    if not 0 <= box <= 1:
        raise SpecError(f"--box: {box:g}; expected a number from 0 to 1")
    if not 0 <= penalty < math.inf:
        raise SpecError(f"--penalty: {penalty:g}; expected a number, 0 or more")
