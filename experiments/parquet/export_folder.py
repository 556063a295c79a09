"""The folder of an export: it appears whole, at once, and never takes the place of something else unasked."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from experiments.errors import ExportError
from experiments.parquet.description import DESCRIPTION_FILE, load_description

__all__ = ["new_folder"]


@contextmanager
def new_folder(folder: Path, *, replace: bool = False) -> Iterator[Path]:
    """A folder beside ``folder`` to write into, which takes its name where the block ends without an error.

    What an interrupted export left behind is taken away first.

    Parameters
    ----------
    replace
        Whether an export that is already there is replaced, once the new one is whole.

    Raises
    ------
    ExportError
        If something is there that may not be replaced, another process writes there, or nothing can be written.
    """
    _check_place(folder, replace=replace)
    parent, name = folder.absolute().parent, folder.absolute().name
    partial, lock = parent / f".{name}.partial", FileLock(parent / f".{name}.lock", blocking=False)
    try:
        with lock:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            try:
                yield partial
                _check_place(folder, replace=replace)
                _put(partial, folder)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
                Path(lock.lock_file).unlink(missing_ok=True)
    except Timeout as error:
        raise ExportError(f"--out {folder}: another export is being written there; expected to be alone") from error
    except OSError as error:
        raise ExportError(
            f"--out {folder}: {error.strerror or error}; expected a folder that can be written"
        ) from error


def _check_place(folder: Path, *, replace: bool) -> None:
    if not folder.parent.is_dir():
        raise ExportError(f"--out {folder}: no folder {folder.parent}; expected an existing folder")
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not (folder / DESCRIPTION_FILE).is_file():
        raise ExportError(f"--out {folder}: holds something else; expected a new folder, or an export of ours")
    run_id = load_description(folder).run.run_id
    if not replace:
        raise ExportError(f"--out {folder}: holds the export of run {run_id}; expected a new folder, or --replace")


def _put(partial: Path, folder: Path) -> None:
    """Let the new folder take the name; what had it is gone only after that."""
    old = partial.with_suffix(".replaced")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    partial.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
