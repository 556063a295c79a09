"""The report of an export's folder, to the terminal or a file."""

from __future__ import annotations

import os
from pathlib import Path

from experiments.commands.options import Format
from experiments.commands.report_output import write_text_report
from experiments.commands.terminal import slow_notice
from experiments.errors import SpecError

__all__ = ["is_export", "write_export_report"]


def is_export(name: str) -> bool:
    """Whether an argument means a folder rather than a run: it is written as a path, or names one with an export."""
    return os.sep in name or name.startswith(".") or os.access(Path(name) / "run.json", os.F_OK)


def write_export_report(folder: Path, output_format: Format, out: Path | None, *, refused: dict[str, bool]) -> None:
    """Write the report of a folder.

    Parameters
    ----------
    refused
        Options that need a store, and whether they were given.

    Raises
    ------
    ExperimentError
        If the folder is no whole export, an option needs a store, or a file cannot be written.
    """
    given = [option for option, is_given in refused.items() if is_given]
    if output_format is Format.html:
        given.append("--format html")
    if given:
        raise SpecError(f"{given[0]}: given with the folder {folder}; expected a run, as an export has no replies")
    from experiments.parquet.export_report import report_export  # brings the Parquet reader, which takes its time

    with slow_notice(f"counting the verdicts of {folder}"):
        built = report_export(folder)
    write_text_report(built, output_format, out)
