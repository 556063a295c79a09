"""``autorater ab``: which wording of a grader's prompt, or of an answer prompt, by the rule of the experiment."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.analyses.scores.scoring_inputs import GraderChoice
from experiments.analyses.wordings.ab_page import ab_document, ab_fields
from experiments.analyses.wordings.answer_wordings import read_answer_wordings
from experiments.analyses.wordings.corrected_wordings import compare_corrected_wordings, read_corrected_wordings
from experiments.analyses.wordings.grader_wordings import read_grader_wordings
from experiments.analyses.wordings.wording_comparison import WordingResult, compare_wordings
from experiments.analyses.wordings.wording_grid import WordingGrid
from experiments.commands.calibration_options import CalibrationGraderOption, CalibrationStoreOption, OtherGraderOption
from experiments.commands.options import DEFAULT_STORE, StoreOption
from experiments.commands.page_output import PageFormat, PageFormatOption, PageOutOption, write_page
from experiments.errors import SpecError
from experiments.reports.inputs import RunData
from experiments.specs.decisions import AbSpec
from experiments.store.run_records import load_decisions, load_run_data
from experiments.store.run_store import RunStore
from experiments.store.store_place import StorePlace

__all__ = ["ab"]


def ab(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id, or enough of its beginning.")],
    control: Annotated[
        str | None,
        typer.Option(
            "--control", help="Where the experiment has no [ab]: the wording to compare with; else the first."
        ),
    ] = None,
    grader: Annotated[
        str | None,
        typer.Option("--grader", help="Of answer wordings judged by several graders: whose verdicts to use."),
    ] = None,
    calibration: Annotated[
        str | None,
        typer.Option(
            "--calibration",
            help="Of answer wordings: run in which the same grader judged items that people labelled, to correct by.",
        ),
    ] = None,
    calibration_store: CalibrationStoreOption = None,
    calibration_grader: CalibrationGraderOption = None,
    other_grader_assumed: OtherGraderOption = False,
    full: Annotated[
        bool, typer.Option("--full", help="Every cell and every effect, of a grid of more than 12 cells too.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Compare the wordings of a prompt in every model of a run, from the store alone; no model is called.

    For graders on a labelled set: accuracy, sensitivity, specificity. For answer prompts ([answering]): the
    benchmark's scores. Each wording is held against the control in each model, over these models and over
    models like them, and the rule of the experiment's [ab] decides. A run that is not finished is not
    looked at, unless its rule says stopping = "anytime".

    Scores of answers are as the grader judged them, and its errors shrink and shift effects. With --calibration
    every score, effect and the decision are corrected for these errors, as autorater score corrects them. That
    keeps the guarantee of a comparison of a fixed size, not that of looks while it runs, where it is refused.

    \b
    Examples:
      autorater ab ab_grader_wording
      autorater ab ab_grader_wording --format json --out ab.json
      autorater ab my_run --control simpleqa@1.0.0
      autorater ab ab_anti_abstention --calibration my_calibration
      autorater ab ab_anti_abstention --full --out ab.txt

    \b
    A rule in an experiment:
      [ab]
      control = "simpleqa_short@1.0.0"
      raise = "accuracy"
      may_not_fall = { specificity = 0.02 }    # margins, as shares
      scope = "fixed"                          # or "sampled" (models like these), "every-model"
      stopping = "fixed-size"                  # or "anytime"
      # missing = "ignorable"                  # else the rule must hold at the worst of what is missing
    """
    choice = GraderChoice(grader, calibration_grader, other_grader_assumed)
    with RunStore(store, must_exist=True) as opened:
        data, analyses = load_run_data(opened, run)
        spec = load_decisions(opened, run).ab
        known = None if calibration is None else _load(opened, calibration, calibration_store)
    if data.answering is not None and data.answering.has_regimes:
        raise SpecError(f"{data.run_id}: its prompts are regimes; expected a run of wordings (autorater regimes RUN)")
    if known is None:
        result = compare_wordings(_read(data, choice), spec, level=analyses.level, control=control)
    else:
        result = _correct(data, known, choice, spec, level=analyses.level, control=control)
    write_page(ab_document(result, full=full), ab_fields(result), output_format, out)


def _load(opened: RunStore, run: str, store: StorePlace | None) -> RunData:
    if store is None:
        return load_run_data(opened, run)[0]
    with RunStore(store, must_exist=True, option="--calibration-store PATH") as other:
        return load_run_data(other, run)[0]


def _read(data: RunData, choice: GraderChoice) -> WordingGrid:
    if choice.calibration is not None or choice.other_assumed:
        raise SpecError("--calibration-grader, --other-grader-assumed: no calibration; expected --calibration RUN")
    if data.answering is not None:
        return read_answer_wordings(data, choice.benchmark)
    if choice.benchmark is not None:
        raise SpecError(
            f"--grader: {choice.benchmark!r}; expected none, as {data.run_id} compares its graders' own wordings"
        )
    return read_grader_wordings(data)


def _correct(
    data: RunData, known: RunData, choice: GraderChoice, spec: AbSpec | None, *, level: float, control: str | None
) -> WordingResult:
    if data.answering is None:
        raise SpecError(
            f"--calibration: {known.run_id}; expected none, as {data.run_id} holds graders against people's labels"
        )
    grid = read_corrected_wordings(data, known, choice, level=level)
    return compare_corrected_wordings(grid, spec, level=level, control=control)
