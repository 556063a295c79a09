"""``autorater gate``: pass, fail or undecided, for a pipeline."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.analyses.gates.gate_rules import parse_not_worse, parse_rule
from experiments.analyses.gates.gating import check_gate
from experiments.analyses.gates.gating_page import gate_document, gate_fields
from experiments.analyses.graded_samples import GradedSample, find_graded, read_graded_samples
from experiments.commands.options import DEFAULT_STORE, StoreOption, check_level
from experiments.commands.page_output import EXIT_CODES, PageFormat, PageFormatOption, PageOutOption, write_page
from experiments.errors import SpecError
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore

__all__ = ["gate"]


def gate(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id, or enough of its beginning.")],
    rules: Annotated[
        list[str] | None,
        typer.Option("--rule", help="value|lower|upper(NAME) <=|>=|<|> NUMBER; may be repeated, all must hold."),
    ] = None,
    grader: Annotated[
        str | None, typer.Option("--grader", help="Prompt and model, or one of the two; needed with several graders.")
    ] = None,
    baseline: Annotated[str | None, typer.Option("--baseline", help="Run that --not-worse is held against.")] = None,
    baseline_grader: Annotated[
        str | None, typer.Option("--baseline-grader", help="Its grader; default: its only one, or the same name.")
    ] = None,
    not_worse: Annotated[
        list[str] | None, typer.Option("--not-worse", help="NAME by MARGIN, on the items of both; may be repeated.")
    ] = None,
    level: Annotated[float | None, typer.Option("--level", help="Confidence level; default: the run's.")] = None,
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Check a grader against rules, from the store alone: exit 0 for pass, 1 for fail, 3 for undecided.

    Rules are about false_negative_rate, false_positive_rate, error_rate, flip_rate,
    pairwise_disagreement, coverage, failure_rate, alpha_repeats and kappa; of scores about
    under_grading, over_grading, bias and mean_absolute_error. 'upper(x) <= L' passes
    where the whole interval keeps the limit, fails where the whole interval is beyond it, and is
    undecided in between, as 'lower(x) >= L' is. 'lower(x) <= L' passes unless a breach is shown.
    'value(x)' looks at the value alone. What passes has to pass whatever the missing verdicts would
    have been, or it is undecided, unless a rule on coverage or failure_rate says how many may be missing.

    \b
    Examples:
      autorater gate quickstart --grader baseline/lexical --rule "upper(false_negative_rate) <= 3%"
      autorater gate nightly --rule "upper(error_rate) <= 0.05" --rule "value(coverage) >= 99%"
      autorater gate nightly --baseline pinned --not-worse "false_negative_rate by 0.01"
      autorater gate essays --rule "upper(mean_absolute_error) <= 0.1" --rule "lower(bias) >= -0.05"
    """
    parsed, margins = [parse_rule(text) for text in rules or []], [parse_not_worse(text) for text in not_worse or []]
    _check_options(bool(parsed or margins), baseline, bool(margins), level)
    with RunStore(store, must_exist=True) as opened:
        data, analyses = load_run_data(opened, run)
        graded = find_graded(read_graded_samples(data), grader)
        other = None if baseline is None else _find_baseline(opened, baseline, baseline_grader, graded)
    checked = check_gate(graded, parsed, level=level or analyses.level, baseline=other, not_worse=margins)
    write_page(gate_document(checked), gate_fields(checked), output_format, out)
    raise typer.Exit(EXIT_CODES[checked.outcome])


def _check_options(any_rule: bool, baseline: str | None, any_margin: bool, level: float | None) -> None:
    if not any_rule:
        raise SpecError("--rule: none given; expected one or more, or --baseline with --not-worse")
    if (baseline is None) == any_margin:
        given, missing = ("--not-worse", "--baseline") if any_margin else ("--baseline", "--not-worse")
        raise SpecError(f"{given}: given without {missing}; expected both")
    check_level(level)


def _find_baseline(store: RunStore, run: str, name: str | None, graded: GradedSample) -> GradedSample:
    candidates = read_graded_samples(load_run_data(store, run)[0])
    if name is None and len(candidates) > 1:
        name = graded.name
    found = find_graded(candidates, name, option="--baseline-grader")
    if found.sample.scale.labels != graded.sample.scale.labels:
        raise SpecError(
            f"--baseline {run}: scale {list(found.sample.scale.labels)}; expected {list(graded.sample.scale.labels)}"
        )
    return found
