"""``autorater plan``: how many labels and repeats, what they can show, what a budget buys."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from experiments.analyses.graded_samples import GradedSample, find_graded, read_graded_samples
from experiments.analyses.plans.planning import (
    DifferenceQuestion,
    LabelsQuestion,
    RepeatsQuestion,
    ask_budget,
    plan_budget,
    plan_difference,
    plan_labels,
    plan_repeats,
)
from experiments.analyses.plans.planning_inputs import (
    PairFigures,
    Planned,
    RunFigures,
    read_pair_figures,
    read_run_figures,
)
from experiments.analyses.plans.planning_notes import pair_notes, run_notes
from experiments.analyses.plans.planning_page import Answer, plan_document, plan_fields
from experiments.commands.options import DEFAULT_STORE, StoreOption, check_level
from experiments.commands.page_output import PageFormat, PageFormatOption, PageOutOption, write_page
from experiments.errors import SpecError
from experiments.stats.planning import PlanLimits
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from experiments.store.store_place import StorePlace

__all__ = ["plan_app"]

plan_app = typer.Typer(
    no_args_is_help=True,
    help="""How many labels and repeats, what difference they can show, what a budget buys.

Numbers are given, or taken from a stored run with --run; those that are given count.

\b
Examples:
  autorater plan labels --rate 0.05 --half-width 0.02
  autorater plan difference --labels 500 --differ 0.1
  autorater plan repeats --run quickstart --grader local/smollm2 --label-cost 1 --call-cost 0.002
  autorater plan budget 200 --run quickstart --grader local/smollm2 --label-cost 1 --call-cost 0.002
""",
)


class Of(StrEnum):
    """Rates to plan for."""

    false_negative_rate = "false_negative_rate"
    false_positive_rate = "false_positive_rate"
    error_rate = "error_rate"


RunOption = Annotated[str | None, typer.Option("--run", help="Take what is not given from this run.")]
GraderOption = Annotated[
    str | None, typer.Option("--grader", help="The run's grader: prompt and model, or one of both.")
]
OfOption = Annotated[Of, typer.Option("--of", help="The rate that is planned for.")]
LevelOption = Annotated[float, typer.Option("--level", help="Confidence level.")]
ItemsOption = Annotated[
    float | None, typer.Option("--items-per-question", help="Items of a question; where they differ, sum m^2 / sum m.")
]
CorrelationOption = Annotated[float | None, typer.Option("--correlation", help="Of two items of a question, 0 to 1.")]
CallCostOption = Annotated[float | None, typer.Option("--call-cost", help="Dollars a verdict; default: the run's.")]


@plan_app.command("labels")
def labels(
    half_width: Annotated[float, typer.Option("--half-width", help="Half the wanted interval; 0.02 is two points.")],
    rate: Annotated[float | None, typer.Option("--rate", help="The rate that is expected.")] = None,
    items_per_question: ItemsOption = None,
    correlation: CorrelationOption = None,
    repeats: Annotated[
        int | None, typer.Option("--repeats", help="Verdicts an item; default: the run's, or 1.")
    ] = None,
    repeat_share: Annotated[
        float | None, typer.Option("--repeat-share", help="Share of a verdict's variance between repeats.")
    ] = None,
    class_share: Annotated[
        float | None, typer.Option("--class-share", help="Share of items that the rate is over, as of right answers.")
    ] = None,
    level: LevelOption = 0.95,
    run: RunOption = None,
    grader: GraderOption = None,
    of: OfOption = Of.error_rate,
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Labels that an interval of a wanted width takes.

    \b
    Examples:
      autorater plan labels --rate 0.05 --half-width 0.02
      autorater plan labels --run quickstart --grader local/smollm2 --of false_negative_rate --half-width 0.02
    """
    check_level(level)
    figures = _figures(store, run, grader, of, level)
    if rate is None and figures is None:
        raise SpecError("--rate: none given; expected a number between 0 and 1, or --run")
    question = LabelsQuestion(
        rate=_first(rate, figures.rate if figures else None, 0.5),
        half_width=half_width,
        level=level,
        items_per_question=_first(items_per_question, figures.items_per_question if figures else None, 1.0),
        correlation=_first(correlation, figures.correlation if figures else None, 0.0),
        repeats=int(_first(repeats, figures.repeats if figures else None, 1)),
        repeat_share=_first(repeat_share, figures.repeat_share if figures else None, 0.0),
        class_share=_first(class_share, figures.class_share if figures else None, 1.0),
    )
    _write(plan_labels(question), run_notes(figures), output_format, out)


@plan_app.command("difference")
def difference(
    n_labels: Annotated[int | None, typer.Option("--labels", help="Items that both judge; default: the run's.")] = None,
    deviation: Annotated[
        float | None, typer.Option("--deviation", help="Standard deviation of an item's difference.")
    ] = None,
    differ: Annotated[
        float | None, typer.Option("--differ", help="In its place: share of items on which single verdicts differ.")
    ] = None,
    items_per_question: ItemsOption = None,
    correlation: CorrelationOption = None,
    power: Annotated[float, typer.Option("--power", help="Chance to find it.")] = 0.8,
    level: LevelOption = 0.95,
    run: RunOption = None,
    first: Annotated[str | None, typer.Option("--first", help="A grader of the run.")] = None,
    second: Annotated[str | None, typer.Option("--second", help="Another.")] = None,
    of: OfOption = Of.error_rate,
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Smallest difference of two graders or wordings, on the same items, that can be expected to be found.

    \b
    Examples:
      autorater plan difference --labels 500 --differ 0.1
      autorater plan difference --run quickstart --first local/smollm2 --second baseline/lexical --labels 1000
    """
    check_level(level)
    pair = None if run is None else _pair(store, run, first, second, of)
    if deviation is None and differ is not None:
        if not 0 < differ <= 1:
            raise SpecError(f"--differ: {differ:g}; expected above 0 and at most 1")
        deviation = differ**0.5
    if deviation is None and pair is None:
        raise SpecError("--deviation: none given; expected --deviation, --differ, or --run with --first and --second")
    if n_labels is None and pair is None:
        raise SpecError("--labels: none given; expected a number of items, or --run")
    question = DifferenceQuestion(
        labels=int(_first(n_labels, pair.n if pair else None, 2)),
        deviation=_first(deviation, pair.deviation if pair else None, 1.0),
        items_per_question=_first(items_per_question, pair.items_per_question if pair else None, 1.0),
        correlation=_first(correlation, pair.correlation if pair else None, 0.0),
        power=power,
        level=level,
    )
    _write(plan_difference(question), pair_notes(pair), output_format, out)


@plan_app.command("repeats")
def repeats(
    item_cost: Annotated[float, typer.Option("--label-cost", help="Dollars an item before any call: its label.")],
    call_cost: CallCostOption = None,
    item_variance: Annotated[
        float | None, typer.Option("--item-variance", help="Variance that no repeat lessens.")
    ] = None,
    repeat_variance: Annotated[
        float | None, typer.Option("--repeat-variance", help="Variance between the verdicts of an item.")
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Repeats that can be had.")] = 100,
    run: RunOption = None,
    grader: GraderOption = None,
    of: OfOption = Of.error_rate,
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Repeats an item that make a mean most precise for the money.

    \b
    Examples:
      autorater plan repeats --item-variance 0.08 --repeat-variance 0.04 --label-cost 1 --call-cost 0.002
      autorater plan repeats --run quickstart --grader local/smollm2 --label-cost 1 --call-cost 0.002
    """
    figures = _figures(store, run, grader, of, 0.95)
    question = RepeatsQuestion(
        item_variance=_needed("--item-variance", item_variance, figures.item_variance if figures else None),
        repeat_variance=_needed("--repeat-variance", repeat_variance, figures.repeat_variance if figures else None),
        item_cost=item_cost,
        call_cost=_needed("--call-cost", call_cost, figures.call_cost if figures else None),
        most=most,
    )
    _write(plan_repeats(question), run_notes(figures), output_format, out)


@plan_app.command("budget")
def budget(
    dollars: Annotated[float, typer.Argument(metavar="DOLLARS", help="What may be spent.")],
    label_cost: Annotated[float, typer.Option("--label-cost", help="Dollars a label of a calibration item.")],
    call_cost: CallCostOption = None,
    question_cost: Annotated[float, typer.Option("--question-cost", help="Dollars an answer to grade.")] = 0.0,
    true_share: Annotated[float | None, typer.Option("--true-share", help="Expected share of right answers.")] = None,
    sensitivity: Annotated[
        float | None, typer.Option("--sensitivity", help="Share of right answers that the grader passes.")
    ] = None,
    specificity: Annotated[
        float | None, typer.Option("--specificity", help="Share of wrong answers that it refuses.")
    ] = None,
    repeat_variance: Annotated[
        float | None, typer.Option("--repeat-variance", help="Variance between the verdicts of an item.")
    ] = None,
    most_questions: Annotated[int, typer.Option("--most-questions", min=1)] = 10_000,
    most_labels: Annotated[int, typer.Option("--most-labels", min=1)] = 10_000,
    most_repeats: Annotated[int, typer.Option("--most-repeats", min=1)] = 20,
    run: RunOption = None,
    grader: GraderOption = None,
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Questions, repeats and calibration labels that make a corrected score most precise within a budget.

    \b
    Examples:
      autorater plan budget 200 --label-cost 1 --call-cost 0.002 --true-share 0.5 --sensitivity 0.95 --specificity 0.97
      autorater plan budget 200 --run quickstart --grader local/smollm2 --label-cost 1 --call-cost 0.002
    """
    graded = None if run is None else find_graded(_read(store, run), grader)
    rates: tuple[Planned, ...] = ("false_negative_rate", "false_positive_rate", "error_rate")
    found = [] if graded is None else [read_run_figures(graded, of) for of in rates]
    negative, positive, whole = found or (None, None, None)
    question = ask_budget(
        dollars,
        true_share=_needed("--true-share", true_share, negative.class_share if negative else None),
        sensitivity=_needed("--sensitivity", sensitivity, 1 - negative.rate if negative else None),
        specificity=_needed("--specificity", specificity, 1 - positive.rate if positive else None),
        repeat_variance=_first(repeat_variance, whole.repeat_variance if whole else None, 0.0),
        measured_variance=repeat_variance is None,
        label_cost=label_cost,
        call_cost=_needed("--call-cost", call_cost, whole.call_cost if whole else None),
        question_cost=question_cost,
        limits=PlanLimits(questions=most_questions, labels=most_labels, repeats=most_repeats),
    )
    _write(
        plan_budget(question), list(dict.fromkeys(note for one in found for note in run_notes(one))), output_format, out
    )


def _read(store: StorePlace, run: str) -> tuple[GradedSample, ...]:
    with RunStore(store, must_exist=True) as opened:
        return read_graded_samples(load_run_data(opened, run)[0])


def _figures(store: StorePlace, run: str | None, grader: str | None, of: Of, level: float) -> RunFigures | None:
    if run is None:
        return None
    return read_run_figures(find_graded(_read(store, run), grader), of.value, level=level)


def _pair(store: StorePlace, run: str, first: str | None, second: str | None, of: Of) -> PairFigures:
    if first is None or second is None:
        raise SpecError("--run: given without two graders; expected --first and --second")
    graded = _read(store, run)
    one, other = (find_graded(graded, name, option=at) for name, at in ((first, "--first"), (second, "--second")))
    return read_pair_figures(one, other, of.value)


def _first(given: float | None, found: float | None, otherwise: float) -> float:
    """What was given, else what the run has, else what is assumed."""
    return given if given is not None else found if found is not None else otherwise


def _needed(option: str, given: float | None, found: float | None) -> float:
    if given is None and found is None:
        raise SpecError(f"{option}: not given, and no run that knows it; expected a number")
    return _first(given, found, 0.0)


def _write(answer: Answer, notes: Sequence[str], output_format: PageFormat, out: Path | None) -> None:
    write_page(plan_document(answer, notes), plan_fields(answer, notes), output_format, out)
