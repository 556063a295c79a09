"""Commands over experiments: run, report, runs, import verdicts."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from experiments.errors import SpecError
from experiments.plan import build_plan
from experiments.plan_listing import describe_plan
from experiments.reports import build_report, render_json, render_markdown, render_text
from experiments.reports.escaping import visible
from experiments.reports.inputs import RunData
from experiments.reports.report_file import check_report_file, write_report_file
from experiments.respondents.answering_run import explain_limit, limit_of_grading
from experiments.respondents.counts_page import counts_as_data, describe_counts
from experiments.respondents.grid_plan import describe_grid_plan
from experiments.run_asking import ask_models, ask_respondents, warn_of_network
from experiments.run_records import load_run_data
from experiments.spec import Experiment, load_experiment
from experiments.store import RunStore
from experiments.verdict_import import import_verdicts
from graders.support import require_support
from graders.verdict import ParserRule

__all__ = ["app"]

app = typer.Typer()
import_app = typer.Typer(
    no_args_is_help=True,
    help="""Bring in what graders have already said.

\b
Example:
  autorater import verdicts mine.csv --set probes --grader my-grader
""",
)
app.add_typer(import_app, name="import")


class Format(StrEnum):
    """Forms of a report."""

    text = "text"
    md = "md"
    json = "json"


class Parser(StrEnum):
    """Parsers of replies."""

    robust = "robust"
    official = "official"
    both = "both"


StoreOption = Annotated[
    Path,
    typer.Option("--store", envvar="AUTORATER_STORE", help="SQLite file that keeps every completion."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How the report is written.")]
OutOption = Annotated[Path | None, typer.Option("--out", help="Write the report to this file instead of the terminal.")]
DEFAULT_STORE = Path("autorater.sqlite")
FILE_WIDTH, NARROWEST, WIDEST = 100, 60, 160
"""Columns of a report in a file or a pipe, and the least and most that are used of a terminal."""


@app.command()
def run(
    experiment: Annotated[str, typer.Argument(help="A TOML file, or the name of a shipped experiment.")],
    limit: Annotated[int | None, typer.Option("--limit", help="Judge only the first N items.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan, with what it will cost, and stop.")
    ] = False,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", help="Dollars that this run may cost in all; it stops before."),
    ] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="Hand the calls in as batch jobs: cheaper, within a day.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="With --batch: wait until every job is done.")] = False,
    store: StoreOption = DEFAULT_STORE,
    output_format: FormatOption = Format.text,
    out: OutOption = None,
) -> None:
    """Run an experiment: print the plan, ask for what is not yet paid, print the report.

    A run that was stopped, or killed, continues where it was when the same command is given again.
    An experiment with [answering] first sends the questions of its set to the models named there,
    and then has their answers graded.

    \b
    Examples:
      autorater run quickstart
      autorater run quickstart --limit 20 --dry-run
      autorater run my_experiment.toml --store results.sqlite --format md --out report.md
      autorater run my_experiment.toml --max-cost 5
      autorater run my_experiment.toml --batch

    \b
    An experiment file:
      name = "my_experiment"
      set = "probes"                       # a shipped set, or a folder
      sampling = { temperature = 2.0, repeats = 10, seed = 1 }
      [[graders]]
      prompt = "simpleqa_short@1.0.0"
      model = "local/smollm2"
      [[graders]]
      model = "baseline/lexical"
      sampling = { repeats = 1 }
    """
    _check_options(max_cost, batch=batch, wait=wait)
    if out is not None:
        check_report_file(out)
    asked = load_experiment(experiment, limit=limit)
    answering = asked.answering.respondents if asked.answering else ()
    require_support((*(respondent.grader for respondent in answering), *asked.graders))
    if dry_run:
        _print_plan(asked, store, batch=batch)
        return
    warn_of_network(store)
    with RunStore(store) as opened:
        limit_left = max_cost
        if answering:
            graded = ask_respondents(asked, opened, max_cost, batch=batch, wait=wait)
            if graded is None:
                return
            asked, limit_left = graded, limit_of_grading(asked, opened, max_cost)
        typer.echo(describe_plan(asked, build_plan(asked, opened), opened, batch=batch), err=True)
        with explain_limit(max_cost, limit_left, "answering"):
            ask_models(asked, opened, limit_left, batch=batch, wait=wait)
        _write_report(opened, asked.run_id, None, output_format, out)


def _check_options(max_cost: float | None, *, batch: bool, wait: bool) -> None:
    if max_cost is not None and not 0 <= max_cost < math.inf:
        raise SpecError(f"--max-cost: {max_cost:g}; expected dollars, 0 or more")
    if wait and not batch:
        raise SpecError("--wait: given without --batch; expected both, as only batch jobs are waited for")


@app.command()
def report(
    name: Annotated[str, typer.Argument(metavar="RUN", help="Run id, or enough of its beginning.")],
    output_format: FormatOption = Format.text,
    out: OutOption = None,
    parser: Annotated[
        Parser | None, typer.Option("--parser", help="Read the replies with this parser; 'both' compares them.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Print the report of a run, from the store alone; no model is called.

    \b
    Examples:
      autorater report quickstart
      autorater report quickstart --format json --out report.json
      autorater report quickstart --parser both
    """
    with RunStore(store, must_exist=True) as opened:
        _write_report(opened, name, parser, output_format, out)


@app.command()
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
        _write_report(opened, run_id, None, output_format, out)


def _print_plan(asked: Experiment, store: Path, *, batch: bool) -> None:
    """A dry run leaves no file behind."""
    if not store.exists() or (store.is_file() and store.stat().st_size == 0):
        typer.echo(_plan_text(asked, None, batch=batch))
        return
    with RunStore(store, must_exist=True) as opened:
        typer.echo(_plan_text(asked, opened, batch=batch))


def _plan_text(asked: Experiment, store: RunStore | None, *, batch: bool) -> str:
    if asked.answering is not None:
        return describe_grid_plan(asked, store, batch=batch)
    return describe_plan(asked, build_plan(asked, store), store, batch=batch)


def _write_report(store: RunStore, name: str, parser: Parser | None, output_format: Format, out: Path | None) -> None:
    rule: ParserRule | None = None if parser is None else "official" if parser is Parser.official else "robust"
    compare = None if parser is None else parser is Parser.both
    data, analyses = load_run_data(store, name, parser=rule, compare_parsers=compare)
    if data.answering is not None:
        _print_or_write(_counts_text(data, output_format), out)
        return
    built = build_report(data, level=analyses.level)
    renderers: Mapping[Format, Callable[[Mapping[str, Any]], str]] = {
        Format.text: partial(render_text, width=_text_width() if out is None else FILE_WIDTH),
        Format.md: render_markdown,
        Format.json: render_json,
    }
    _print_or_write(renderers[output_format](built), out)


def _counts_text(data: RunData, output_format: Format) -> str:
    """What stands in a report's place where the run itself asked for the responses, which nobody has labelled."""
    if output_format is Format.json:
        return json.dumps(counts_as_data(data), indent=2, ensure_ascii=False) + "\n"
    text = describe_counts(data)
    return text if output_format is Format.text else f"```text\n{text}```\n"


def _print_or_write(text: str, out: Path | None) -> None:
    if out is None:
        typer.echo(text, nl=False)
        return
    write_report_file(out, text)
    typer.echo(f"wrote {out}", err=True)


def _text_width() -> int:
    """The terminal's width within bounds; a pipe gets what a file gets, whatever the terminal."""
    output: TextIO | None = sys.stdout  # there is none where it was closed
    if output is None or not output.isatty():
        return FILE_WIDTH
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((FILE_WIDTH, 24)).columns))
