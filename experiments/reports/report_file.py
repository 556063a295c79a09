"""A report's file: replaced at once, so that an interruption never leaves half a report."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from experiments.errors import ExperimentError

__all__ = ["STDOUT", "check_report_file", "write_report_file"]

STDOUT = Path("-")
"""Where a file is expected: the standard output."""


def check_report_file(path: Path) -> None:
    """Check, before anything is asked for, that a report can go to a file.

    Raises
    ------
    ExperimentError
        If its folder is missing or cannot be written, or it is a folder itself.
    """
    if path == STDOUT:
        return
    try:
        if path.is_dir():
            raise ExperimentError(f"--out {path}: a folder; expected a file")
        if not path.parent.is_dir():
            raise ExperimentError(f"--out {path}: no folder {path.parent}; expected an existing folder")
        path.exists()
    except OSError as error:
        raise _cannot_write(path, error) from error
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ExperimentError(f"--out {path}: no permission; expected a file that can be written")


def write_report_file(path: Path, text: str) -> None:
    """Write a report in UTF-8; ``-`` and what is no plain file, such as a pipe, is written to.

    Raises
    ------
    ExperimentError
        If it cannot be written; a report that was there before stays whole.
    """
    check_report_file(path)
    try:
        if path == STDOUT:
            _write_to_output(text)
        elif path.exists() and not path.is_file():
            with path.open("w", encoding="utf-8", newline="") as stream:
                stream.write(text)
        else:
            _replace(path.resolve(), text)
    except OSError as error:
        raise _cannot_write(path, error) from error


def _write_to_output(text: str) -> None:
    """In UTF-8 whatever the terminal's encoding; what a program put in the output's place may take text alone."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    stream.write(text.encode("utf-8"))
    stream.flush()


def _replace(path: Path, text: str) -> None:
    partial = path.parent / f".autorater-report-{os.getpid()}"
    try:
        partial.write_text(text, encoding="utf-8", newline="")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _cannot_write(path: Path, error: OSError) -> ExperimentError:
    return ExperimentError(f"--out {path}: {error.strerror}; expected a file that can be written")
