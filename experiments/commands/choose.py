"""``autorater choose``: which grader of a run, by the rule that its experiment states."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.analyses.choice.candidates import find_candidate, read_labelled
from experiments.analyses.choice.choosing import choose_grader, read_all_candidates
from experiments.analyses.choice.choosing_page import choice_document, choice_fields
from experiments.analyses.choice.moved_items import find_moved
from experiments.analyses.choice.moved_page import moved_document, moved_fields
from experiments.commands.options import DEFAULT_STORE, StoreOption
from experiments.commands.page_output import PageFormat, PageFormatOption, PageOutOption, write_page
from experiments.errors import SpecError
from experiments.specs.decisions import ChooseSpec
from experiments.store.run_records import load_decisions, load_run_data
from experiments.store.run_store import RunStore

__all__ = ["choose"]

MOST_MOVED = 20


def choose(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id, or enough of its beginning.")],
    moved: Annotated[
        tuple[str, str] | None,
        typer.Option("--moved", metavar="A B", help="List the items whose verdict moved from one grader to another."),
    ] = None,
    most: Annotated[
        int | None, typer.Option("--most", help=f"With --moved: items shown; {MOST_MOVED} if none.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Choose between the graders of a run, from the store alone; no model is called.

    All graders are compared on the same labelled items: error rates, consistency, cost, time, every pair,
    and the set that is not distinguishable from the best. The rule is the experiment's [choose]; without
    one it is the lowest error rate. A grader is named by its model, or prompt and model.

    \b
    Examples:
      autorater choose choose_grader
      autorater choose choose_grader --format json --out choice.json
      autorater choose choose_grader --moved baseline/lexical "simpleqa_short@1.0.0 local/smollm2"

    \b
    A rule in an experiment, with a panel and a cascade that cost no further call:
      [choose]
      lowest = "false_negative_rate"
      limits.false_positive_rate = { limit = 0.02, margin = 0.01 }
      [[choose.panels]]
      name = "three"
      members = ["openai/gpt-4.1-2025-04-14", "anthropic/claude-haiku-5-5", "baseline/lexical"]
      [[choose.cascades]]
      name = "cheap first"
      first = "openai/gpt-5.4-nano-2026-03-17"
      then = "anthropic/claude-opus-5-5"
    """
    if most is not None and (moved is None or most < 1):
        raise SpecError(f"--most: {most}; expected 1 or more, and --moved")
    with RunStore(store, must_exist=True) as opened:
        data, analyses = load_run_data(opened, run)
        spec = load_decisions(opened, run).choose
    if moved is None:
        choice = choose_grader(data, spec, level=analyses.level)
        write_page(choice_document(choice), choice_fields(choice), output_format, out)
        return
    contest = read_labelled(data).contest
    candidates = read_all_candidates(contest, spec or ChooseSpec())
    first, second = (find_candidate(candidates, name, "--moved") for name in moved)
    if first is second:
        raise SpecError(f"--moved: {first.name!r} twice; expected two graders")
    found = find_moved(first, second, contest, level=analyses.level)
    shown = most or MOST_MOVED
    write_page(
        moved_document(found, run_id=data.run_id, most=shown),
        moved_fields(found, run_id=data.run_id, most=shown),
        output_format,
        out,
    )
