"""`autorater report`: what a run says of its graders, without any call."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands.export_report import is_export, write_export_report
from experiments.commands.figure_output import FiguresOption
from experiments.commands.options import DEFAULT_STORE, Format, FormatOption, OutOption, Parser, StoreOption
from experiments.commands.report_output import write_report
from experiments.errors import SpecError
from experiments.store.run_store import RunStore

__all__ = ["report"]


def report(
    name: Annotated[
        str,
        typer.Argument(metavar="RUN", help="Run id, or enough of its beginning; or the folder of `autorater export`."),
    ],
    output_format: FormatOption = Format.text,
    out: OutOption = None,
    parser: Annotated[
        Parser | None, typer.Option("--parser", help="Read the replies with this parser; 'both' compares them.")
    ] = None,
    times: Annotated[
        bool, typer.Option("--times", help="Tell how long the calls took; no two runs then have the same report.")
    ] = False,
    figures: FiguresOption = None,
    calibration: Annotated[
        str | None,
        typer.Option(
            "--calibration",
            metavar="RUN",
            help="With --format html: run of the same grader on items that people labelled, to correct scores by.",
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Print the report of a run, from the store alone; no model is called.

    A folder that `autorater export` wrote is reported without a store, in text, md or json: all that rests on counts of
    verdicts, under the same names; what needs replies or texts is named at the end. A name that could be either is the
    folder where it holds an export.

    \b
    Examples:
      autorater report quickstart
      autorater report quickstart --format json --out report.json
      autorater report quickstart --parser both
      autorater report quickstart --times
      autorater report quickstart --figures figures/
      autorater report quickstart --format html
      autorater report quickstart_export --format json
    """
    if is_export(name):
        given = {"--parser": parser is not None, "--times": times, "--figures": figures is not None}
        write_export_report(Path(name), output_format, out, refused=given | {"--calibration": calibration is not None})
        return
    if calibration is not None and output_format is not Format.html:
        raise SpecError(f"--calibration: {calibration!r} with --format {output_format}; expected --format html")
    with RunStore(store, must_exist=True) as opened:
        write_report(opened, name, parser, output_format, out, times=times, figures=figures, calibration=calibration)
