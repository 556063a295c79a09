"""`autorater report` and `autorater runs`: what a store holds, without any call."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.commands.figure_output import FiguresOption
from experiments.commands.options import DEFAULT_STORE, Format, FormatOption, OutOption, Parser, StoreOption
from experiments.commands.report_output import write_report
from experiments.reports.escaping import visible
from experiments.store.run_store import RunStore

__all__ = ["report", "runs"]


def report(
    name: Annotated[str, typer.Argument(metavar="RUN", help="Run id, or enough of its beginning.")],
    output_format: FormatOption = Format.text,
    out: OutOption = None,
    parser: Annotated[
        Parser | None, typer.Option("--parser", help="Read the replies with this parser; 'both' compares them.")
    ] = None,
    times: Annotated[
        bool, typer.Option("--times", help="Tell how long the calls took; no two runs then have the same report.")
    ] = False,
    figures: FiguresOption = None,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Print the report of a run, from the store alone; no model is called.

    \b
    Examples:
      autorater report quickstart
      autorater report quickstart --format json --out report.json
      autorater report quickstart --parser both
      autorater report quickstart --times
      autorater report quickstart --figures figures/
    """
    with RunStore(store, must_exist=True) as opened:
        write_report(opened, name, parser, output_format, out, times=times, figures=figures)


def runs(store: StoreOption = DEFAULT_STORE) -> None:
    """List the runs in a store: id, when it was first recorded, set, items, graders.

    \b
    Example:
      autorater runs --store results.sqlite
    """
    with RunStore(store, must_exist=True) as opened:
        for record, created_at in opened.list_runs():
            about = record.payload
            graders = ", ".join(f"{grader['model']} x {grader['sampling']['repeats']}" for grader in about["graders"])
            items = f"{about['n_items']} of {about['n_items_in_set']} items"
            typer.echo(visible(f"{record.run_id}  {created_at}  {about['set']}, {items}  {graders}"))
