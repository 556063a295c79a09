"""``autorater runs``: what a store holds, what a run is and how far it is, and two runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from experiments.analyses.runs.run_comparison import compare_runs
from experiments.analyses.runs.run_comparison_page import run_comparison_document, run_comparison_fields
from experiments.analyses.runs.run_listing_page import listing_document, listing_fields
from experiments.analyses.runs.run_state import read_run_state
from experiments.analyses.runs.run_state_page import run_state_document, run_state_fields
from experiments.commands.options import DEFAULT_STORE, StoreOption, check_level
from experiments.commands.page_output import PageFormat, PageFormatOption, PageOutOption, write_page
from experiments.commands.terminal import slow_notice
from experiments.errors import SpecError, StoreError
from experiments.store.run_descriptions import describe_runs
from experiments.store.run_holdings import list_holdings
from experiments.store.run_records import load_decisions, load_run_data
from experiments.store.run_store import RunStore
from experiments.store.store_place import StorePlace, parse_place
from experiments.store.worker_listing import list_workers

__all__ = ["runs_app"]


class _ListByDefault(TyperGroup):
    """``autorater runs`` is ``autorater runs list``, also with options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] != "--help"):
            args = ["list", *args]
        return super().parse_args(ctx, args)


runs_app = typer.Typer(
    cls=_ListByDefault,
    help="""Runs of a store: list them, look at one, compare two. No model is called.

\b
Examples:
  autorater runs                            (the same as 'runs list')
  autorater runs show quickstart
  autorater runs compare quickstart-1a2b quickstart-3c4d
""",
)


@runs_app.command("list")
def list_command(
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """List the runs of a store: when recorded, which set, how much is stored of what was asked, what it cost.

    \b
    Examples:
      autorater runs list --store results.sqlite
      autorater runs list --format json
    """
    with RunStore(store, must_exist=True) as opened, slow_notice(f"counting what {store.name} holds ..."):
        described = describe_runs(opened)
        found = list_holdings(opened, described.runs)
    if found or not described.damaged:
        page, fields = listing_document(found, store=store.name), listing_fields(found, store=store.name)
        write_page(page, fields, output_format, out)
    if described.damaged:
        raise StoreError("; ".join(described.damaged))


@runs_app.command()
def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id, or enough of its beginning.")],
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Show what a run is, how far each grader is, and which commands apply to it now.

    In a store on a server it also says who is at work: what each worker has claimed and delivered.

    \b
    Examples:
      autorater runs show quickstart
      autorater runs show quickstart --format json --out state.json
    """
    with RunStore(store, must_exist=True) as opened, _reading(run):
        data, analyses = load_run_data(opened, run)
        specs, moment = load_decisions(opened, data.run_id), opened.load_run(data.run_id).recorded_at
        address = opened.place.title if opened.is_shared else None
        state = read_run_state(data, specs, recorded_at=moment, level=analyses.level, shared_store=address)
        workers = list_workers(opened, data.run_id)
    write_page(run_state_document(state, workers), run_state_fields(state, workers), output_format, out)


@runs_app.command()
def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="Run id, or enough of its beginning.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The run that it is compared with.")],
    pairs: Annotated[
        list[str] | None,
        typer.Option("--pair", metavar="A=B", help="A grader of A and one of B to compare; may be repeated."),
    ] = None,
    level: Annotated[float | None, typer.Option("--level", help="Of all tests together; default: run B's.")] = None,
    store: StoreOption = DEFAULT_STORE,
    other_store: Annotated[
        StorePlace | None,
        typer.Option(
            "--other-store", parser=parse_place, metavar="PATH", help="Store of run B; default: the same store."
        ),
    ] = None,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Compare two runs: what differs, and for each grader in both its rates on the items that both judged.

    Items are matched by content, graders by id, else by prompt and model, else by --pair. Differences are
    paired, B less A; p-values are adjusted for all tests together (Holm). For one grader asked again there
    is 'autorater drift', for limits and baselines 'autorater gate'.

    \b
    Examples:
      autorater runs compare quickstart-1a2b quickstart-3c4d
      autorater runs compare nightly nightly --store monday.sqlite --other-store tuesday.sqlite
      autorater runs compare old new --pair baseline/lexical=local/smollm2
    """
    check_level(level)
    named = [_read_pair(text) for text in pairs or ()]
    with RunStore(store, must_exist=True) as opened, _reading(first):
        ours, _ = load_run_data(opened, first)
    option = "--store PATH" if other_store is None else "--other-store PATH"
    with RunStore(other_store or store, must_exist=True, option=option) as opened, _reading(second):
        theirs, analyses = load_run_data(opened, second)
    same_store = (other_store or store).is_same(store)
    _check_two(ours.run_id, theirs.run_id, same_store=same_store, named=named)
    with slow_notice("comparing ..."):
        found = compare_runs(ours, theirs, level=level or analyses.level, same_store=same_store, named=named)
    write_page(run_comparison_document(found), run_comparison_fields(found), output_format, out)


def _reading(run: str) -> Any:
    return slow_notice(f"reading the stored replies of run {run} ...")


def _read_pair(text: str) -> tuple[str, str]:
    first, sign, second = text.partition("=")
    if not (first and sign and second):
        raise SpecError(f"--pair {text!r}: no two graders; expected GRADER_OF_A=GRADER_OF_B")
    return first, second


def _check_two(first: str, second: str, *, same_store: bool, named: Sequence[tuple[str, str]]) -> None:
    """A run beside itself says nothing, unless its graders are paired with each other."""
    if same_store and first == second and not named:
        raise SpecError(f"{first}: both runs are one; expected two, or --other-store, or --pair")
