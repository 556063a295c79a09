"""`autorater export`: a run's verdicts for other programs, and for reports that need no store."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from experiments.commands.options import DEFAULT_STORE, StoreOption
from experiments.commands.terminal import slow_notice
from experiments.reports.figures import count_of
from experiments.store.run_store import RunStore

__all__ = ["export"]


class ExportFormat(StrEnum):
    """Forms of an export."""

    parquet = "parquet"


def export(
    name: Annotated[str, typer.Argument(metavar="RUN", help="Run id, or enough of its beginning.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="A new folder; it appears when all is written.")],
    output_format: Annotated[  # noqa: ARG001
        ExportFormat, typer.Option("--format", help="Parquet files, verdicts apart for each grader.")
    ] = ExportFormat.parquet,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the export that FOLDER holds, once the new one is whole.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Write a run's verdicts, items and people's labels to a folder of Parquet files; no model is called.

    Any program that reads Parquet reads them (docs/parquet.md has the columns), and `autorater report FOLDER` reports
    them without the store, whatever their number: it counts them some at a time. Replies and log-probabilities stay
    in the store. Stopped in the middle, the same command again starts anew; FOLDER is never there in part.

    \b
    Examples:
      autorater export quickstart --out quickstart_export
      autorater export nightly --out nightly --replace --store postgresql://anna@db.example.org/grading
      autorater report quickstart_export
    """
    from experiments.parquet.run_export import export_run  # brings the Parquet writer, which takes its time

    with RunStore(store, must_exist=True) as opened, slow_notice(f"writing the verdicts of {name}"):
        written = export_run(opened, name, out, replace=replace)
    n_verdicts = sum(grader.n_verdicts for grader in written.graders)
    typer.echo(
        f"wrote {out}: run {written.run.run_id}, {count_of(len(written.graders), 'grader')}, "
        f"{count_of(written.items.rows, 'item')}, {count_of(n_verdicts, 'verdict')}",
        err=True,
    )
