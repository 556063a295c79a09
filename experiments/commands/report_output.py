"""The report of a run, to the terminal or a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import typer

from experiments.commands.terminal import FILE_WIDTH, terminal_look, terminal_width

__all__ = ["write_report", "write_text_report"]

from experiments.commands.figure_output import check_figures, write_run_figures
from experiments.commands.html_output import write_run_page
from experiments.commands.options import Format, Parser
from experiments.page.installed import check_page_installed
from experiments.reports import build_report, render_json, render_markdown, render_text
from experiments.reports.inputs import RunData
from experiments.reports.report_file import STDOUT, write_report_file
from experiments.respondents.counts_page import counts_as_data, describe_counts
from experiments.store.run_records import load_decisions, load_run_data
from experiments.store.run_store import RunStore
from graders.verdict import ParserRule


def write_report(
    store: RunStore,
    name: str,
    parser: Parser | None,
    output_format: Format,
    out: Path | None,
    *,
    times: bool = False,
    figures: Path | None = None,
    calibration: str | None = None,
) -> None:
    """Write the report of a run, or, of a run that asked respondents, their counts; and its figures to a folder.

    ``calibration`` names the run that a page corrects scores by.

    Raises
    ------
    ExperimentError
        If there is no such run, or a file cannot be written, or figures cannot be drawn.
    """
    if output_format is Format.html:
        check_page_installed()
    if figures is not None:
        check_figures(figures)
    rule: ParserRule | None = None if parser is None else "official" if parser is Parser.official else "robust"
    compare = None if parser is None else parser is Parser.both
    data, analyses = load_run_data(store, name, parser=rule, compare_parsers=compare)
    out = None if out == STDOUT and output_format is not Format.html else out
    if output_format is Format.html:
        write_run_page(store, data, out, level=analyses.level, times=times, calibration=calibration)
        if figures is not None:
            built = None if data.answering is not None else build_report(data, level=analyses.level)
            write_run_figures(data, built, load_decisions(store, name), figures, level=analyses.level)
        return
    if data.answering is not None:
        _print_or_write(_counts_text(data, output_format), out)
        if figures is not None:
            write_run_figures(data, None, load_decisions(store, name), figures, level=analyses.level)
        return
    built = build_report(data, level=analyses.level, times=times)
    write_text_report(built, output_format, out)
    if figures is not None:
        write_run_figures(data, built, load_decisions(store, name), figures, level=analyses.level)


def write_text_report(built: Mapping[str, Any], output_format: Format, out: Path | None) -> None:
    """Write a built report as text, Markdown or JSON.

    Raises
    ------
    ExperimentError
        If the file cannot be written.
    """
    out = None if out == STDOUT else out
    renderers: Mapping[Format, Callable[[Mapping[str, Any]], str]] = {
        Format.text: partial(
            render_text, width=terminal_width() if out is None else FILE_WIDTH, look=terminal_look(out)
        ),
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
