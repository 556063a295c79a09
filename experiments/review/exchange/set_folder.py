"""The folder of a frozen set: written once, and never over a version that says something else."""

from __future__ import annotations

import filecmp
import tempfile
from pathlib import Path

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.errors import CalibrationSetError
from calibration_sets.loader import load_set
from calibration_sets.writer import write_set
from experiments.errors import ReviewError

__all__ = ["write_frozen_set"]


def write_frozen_set(frozen: CalibrationSet, folder: Path) -> bool:
    """Write a set into a new folder; whether anything had to be written.

    Raises
    ------
    ReviewError
        If the folder has a set already and it is not the very same.
    calibration_sets.errors.SetFileError
        If the folder holds other files, or name or version are none.
    """
    if not folder.exists() or not any(folder.iterdir() if folder.is_dir() else ()):
        write_set(frozen, folder)
        return True
    with tempfile.TemporaryDirectory() as work:
        fresh = Path(work, "set")
        write_set(frozen, fresh)
        names = sorted(path.name for path in fresh.iterdir())
        there = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        if there == names and not any(filecmp.cmpfiles(fresh, folder, names, shallow=False)[1:]):
            return False
    raise ReviewError(
        f"--to {folder}: {_what_is_there(folder)} with other content; expected a new folder, and a --version of "
        f"its own if {frozen.name} {frozen.version} is in use"
    )


def _what_is_there(folder: Path) -> str:
    try:
        there = load_set(folder)
    except CalibrationSetError:
        return "something"
    return f"{there.name} {there.version}"
