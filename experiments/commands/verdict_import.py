"""`autorater import`: what graders have already said."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands.options import DEFAULT_STORE, Format, FormatOption, OutOption, StoreOption
from experiments.commands.report_output import write_report
from experiments.commands.tool_import import add_tool_commands
from experiments.reports.report_file import check_report_file
from experiments.running.verdict_import import import_verdicts
from experiments.store.run_store import RunStore

__all__ = ["import_app"]

import_app = typer.Typer(
    no_args_is_help=True,
    help="""Bring in what graders have already said: a table of verdicts, or another tool's files.

\b
Examples:
  autorater import verdicts mine.csv --set probes --grader my-grader
  autorater import inspect logs/*.eval
  autorater import lm-eval samples_triviaqa_2026-11-30T10-00-00.jsonl --to trivia
""",
)


@import_app.command("verdicts")
def import_verdicts_command(
    file: Annotated[Path, typer.Argument(help="CSV, TSV, JSONL or Parquet: one row a verdict.")],
    set_name: Annotated[str, typer.Option("--set", help="The set that the graders judged: a name or a folder.")],
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", help="FIELD=COLUMN, where a column has another name; may be repeated."),
    ] = None,
    labels: Annotated[
        list[str] | None, typer.Option("--label", help="TEXT=LABEL for labels that are spelt otherwise.")
    ] = None,
    grader: Annotated[
        str | None, typer.Option("--grader", help="Name of the grader, where the file has no column for it.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the run; default: the set's name.")] = None,
    store: StoreOption = DEFAULT_STORE,
    output_format: FormatOption = Format.text,
    out: OutOption = None,
) -> None:
    """Take graders' existing verdicts into a run, and print its report.

    Fields: item (id in the set), grader, and label or text (the raw reply). Optional: repeat (0, 1,
    2 and so on), stop_reason (why the reply ended, such as length), failure (a reason, where there
    is no label; its text is not read), digest (content digest of the item that was judged). A label
    counts as it stands; where there is none, the text is read by the robust parser. Items of the set
    without a row count as not answered.

    \b
    Examples:
      autorater import verdicts nq301/verdicts.jsonl --set ./nq301
      autorater import verdicts mine.csv --set probes --grader my-grader --column item=question_id \\
        --label yes=CORRECT --label no=INCORRECT
    """
    if out is not None:
        check_report_file(out)
    with RunStore(store) as opened:
        run_id = import_verdicts(
            file, set_name, opened, columns=columns or [], labels=labels or [], grader=grader, name=name
        )
        typer.echo(f"run {run_id}", err=True)
        write_report(opened, run_id, None, output_format, out)


add_tool_commands(import_app)
