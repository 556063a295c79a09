"""``autorater ab``: which wording of a grader's prompt, or of an answer prompt, by the rule of the experiment."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.analyses.ab_page import ab_document, ab_fields
from experiments.analyses.answer_wordings import read_answer_wordings
from experiments.analyses.grader_wordings import read_grader_wordings
from experiments.analyses.wording_comparison import compare_wordings
from experiments.analyses.wording_grid import WordingGrid
from experiments.commands.options import DEFAULT_STORE, StoreOption
from experiments.commands.page_output import PageFormat, PageFormatOption, PageOutOption, write_page
from experiments.errors import SpecError
from experiments.reports.inputs import RunData
from experiments.store.run_records import load_decisions, load_run_data
from experiments.store.run_store import RunStore

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
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Compare the wordings of a prompt in every model of a run, from the store alone; no model is called.

    For graders on a labelled set: accuracy, sensitivity, specificity. For answer prompts ([answering]): the
    benchmark's scores. Each wording is held against the control in each model, over these models and over
    models like them, and the rule of the experiment's [ab] decides. A run that is not finished is not
    looked at, unless its rule says stopping = "anytime".

    \b
    Examples:
      autorater ab ab_grader_wording
      autorater ab ab_grader_wording --format json --out ab.json
      autorater ab my_run --control simpleqa@1.0.0

    \b
    A rule in an experiment:
      [ab]
      control = "simpleqa_short@1.0.0"
      raise = "accuracy"
      may_not_fall = { specificity = 0.02 }    # margins, as shares
      scope = "fixed"                          # or "sampled" (models like these), "every-model"
      stopping = "fixed-size"                  # or "anytime"
    """
    with RunStore(store, must_exist=True) as opened:
        data, analyses = load_run_data(opened, run)
        spec = load_decisions(opened, run).ab
    result = compare_wordings(_read(data, grader), spec, level=analyses.level, control=control)
    write_page(ab_document(result), ab_fields(result), output_format, out)


def _read(data: RunData, grader: str | None) -> WordingGrid:
    if data.answering is not None:
        return read_answer_wordings(data, grader)
    if grader is not None:
        raise SpecError(f"--grader: {grader!r}; expected none, as {data.run_id} compares its graders' own wordings")
    return read_grader_wordings(data)
