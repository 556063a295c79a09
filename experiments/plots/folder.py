"""The folder that figures go to."""

from __future__ import annotations

import os
from pathlib import Path

from experiments.errors import ExperimentError

__all__ = ["make_folder"]


def make_folder(folder: Path) -> None:
    """Make the folder and those above it; what is in one that is there stays.

    Raises
    ------
    ExperimentError
        If it cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = "not a folder" if isinstance(error, FileExistsError | NotADirectoryError) else error.strerror
        raise ExperimentError(f"--figures {folder}: {what}; expected a folder that can be written") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ExperimentError(f"--figures {folder}: no permission; expected a folder that can be written")
