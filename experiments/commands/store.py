"""``autorater store``: runs from one store to another."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Annotated

import typer

from experiments.commands.page_output import PageFormat, PageFormatOption, PageOutOption, write_page
from experiments.errors import SpecError
from experiments.reports.escaping import visible
from experiments.store.run_store import RunStore
from experiments.store.store_copy import copy_store, open_source
from experiments.store.store_copy_page import store_copy_document, store_copy_fields
from experiments.store.store_place import parse_place

__all__ = ["store_app"]

EXIT_OTHERS = 1
"""Something was left out, as the target holds something else in its place."""

_FIRST_NOTICE, _NEXT_NOTICE = 2.0, 5.0

store_app = typer.Typer(
    no_args_is_help=True,
    help="""Stores as a whole: a SQLite file, or a database of a PostgreSQL server. No model is called.

\b
Examples:
  autorater store copy autorater.sqlite postgresql://anna@db.example.org/grading
  autorater store copy postgresql://anna@db.example.org/grading nightly.sqlite --run nightly
""",
)

_PLACE = "A SQLite file, or postgresql://USER@HOST/DATABASE."


@store_app.callback()
def _store() -> None: ...


@store_app.command()
def copy(
    a: Annotated[str, typer.Argument(metavar="A", help=f"Copied from. {_PLACE}")],
    b: Annotated[str, typer.Argument(metavar="B", help="Copied to; a file is made, a database must be there.")],
    runs: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="RUN", help="Only this run and its graders; may be repeated. Default: all."),
    ] = None,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Copy runs with their sets, completions, failed calls, sessions and batch jobs, and compare what arrived.

    A is not changed, and what B has stays. Where B holds something else under a key, the first stands: it is counted
    and named, and the exit code is 1; otherwise 0. Stopped anywhere, the same command goes on. A run comes with all
    that its graders were asked, also in other runs.

    \b
    Examples:
      autorater store copy autorater.sqlite postgresql://anna@db.example.org/grading
      autorater store copy postgresql://anna@db.example.org/grading nightly.sqlite --run nightly
      autorater store copy monday.sqlite all.sqlite
    """
    source, target = parse_place(a), parse_place(b)
    if source.is_same(target):
        raise SpecError(f"{source}: both stores are one; expected two")
    with ExitStack() as stack:
        opened = stack.enter_context(open_source(source))
        other = stack.enter_context(RunStore(target, option="another B"))
        found = copy_store(opened, other, runs or None, _Notices())
    write_page(
        store_copy_document(found, source=source.name, target=target.name),
        store_copy_fields(found, source=source.name, target=target.name),
        output_format,
        out,
    )
    if found.n_others:
        raise typer.Exit(EXIT_OTHERS)


class _Notices:
    """Says on stderr how far it is, once it takes more than two seconds."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _FIRST_NOTICE
        self._doing, self._n_rows = "", 0

    def __call__(self, doing: str, grader_id: str | None, n_rows: int) -> None:
        now = doing if grader_id is None else f"{doing} of {grader_id}"
        self._n_rows = n_rows if now != self._doing else self._n_rows + n_rows
        self._doing = now
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _NEXT_NOTICE
            typer.echo(visible(f"{now}: {self._n_rows:,} rows"), err=True)
