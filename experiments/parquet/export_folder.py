"""The folder of an export: it appears whole, at once, and never takes the place of something else unasked."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from experiments.errors import ExportError
from experiments.parquet.description import DESCRIPTION_FILE, ExportDescription, load_description

__all__ = ["new_folder"]


@contextmanager
def new_folder(folder: Path, *, replace: bool = False) -> Iterator[Path]:
    """A folder beside ``folder`` to write into, which takes its name where the block ends without an error.

    What an interrupted export left behind is taken away first. A link stays one: what it points at is written.

    Parameters
    ----------
    replace
        Whether an export that is already there is replaced, once the new one is whole.

    Raises
    ------
    ExportError
        If something is there that may not be replaced, another process writes there, or nothing can be written.
    """
    place = Path(os.path.realpath(folder))
    partial = place.parent / f".{place.name}.partial"
    try:
        _check_place(folder, place, replace=replace)
        with FileLock(place.parent / f".{place.name}.lock", blocking=False) as lock:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            try:
                yield partial
                _check_place(folder, place, replace=replace)
                _put(partial, place)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
                Path(lock.lock_file).unlink(missing_ok=True)
    except Timeout as error:
        raise ExportError(f"--out {folder}: another export is being written there; expected to be alone") from error
    except OSError as error:
        raise ExportError(
            f"--out {folder}: {error.strerror or error}; expected a folder that can be written"
        ) from error


def _check_place(folder: Path, place: Path, *, replace: bool) -> None:
    """Nothing stands at the place of a folder that may not go; messages name the folder as it was given."""
    if not place.parent.is_dir():
        raise ExportError(f"--out {folder}: no folder {place.parent}; expected an existing folder")
    if Path.cwd().is_relative_to(place):
        raise ExportError(f"--out {folder}: the command was given inside it; expected a folder beside or below")
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return
    if not (place / DESCRIPTION_FILE).is_file():
        raise ExportError(f"--out {folder}: holds something else; expected a new folder, or an export of ours")
    description = load_description(place)
    run_id = description.run.run_id
    if not replace:
        raise ExportError(f"--out {folder}: holds the export of run {run_id}; expected a new folder, or --replace")
    strangers = _strangers(place, description)
    if strangers:
        raise ExportError(
            f"--out {folder}: holds {strangers[0]} beside the export of run {run_id}; expected the export alone"
        )
    held = [path for path in (place, *place.rglob("*")) if path.is_dir() and not os.access(path, os.W_OK)]
    if held:
        raise ExportError(f"--out {folder}: {held[0]} is write-protected; expected a folder that can be replaced")


def _strangers(folder: Path, description: ExportDescription) -> list[str]:
    """Files in the folder of an export that are none of its own."""
    own = {DESCRIPTION_FILE, *(record.file for record in description.files)}
    found = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted({path.relative_to(folder).as_posix() for path in found} - own)


def _put(partial: Path, place: Path) -> None:
    """Let the new folder take the name; what had it is gone only after that, and back if that fails."""
    old = partial.with_suffix(".replaced")
    shutil.rmtree(old, ignore_errors=True)
    if place.exists():
        place.rename(old)
    try:
        partial.rename(place)
    except BaseException:
        if old.exists():
            old.rename(place)
        raise
    shutil.rmtree(old, ignore_errors=True)
