"""Datasets of the `datasets` library as tables: local folders, as saved with ``save_to_disk`` or of data files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from calibration_sets.errors import SetFileError
from calibration_sets.tables import Row, Table

__all__ = ["read_dataset"]

_SAVED = ("dataset_info.json", "dataset_dict.json", "state.json")
_INSTALL = "pip install 'autorater-calibration[datasets]'"


def read_dataset(folder: Path, *, split: str | None = None) -> Table:
    """The rows of a dataset in a folder; nothing is fetched, and no code of the folder is run.

    A column of classes (``ClassLabel``) becomes the classes' names, and nothing where a row has none (-1).

    Parameters
    ----------
    folder
        What ``save_to_disk`` wrote, or a folder of Parquet, JSON or CSV files as datasets are shared.
    split
        Name of the split; may be left out where there is one.

    Raises
    ------
    SetFileError
        If the library is not installed, the folder is no dataset, or the split is not in it.
    """
    if not folder.is_dir():
        raise SetFileError(f"{folder}: no such folder; expected a local dataset (nothing is fetched)")
    try:
        import datasets
    except ImportError as error:
        raise SetFileError(f"datasets: not installed; expected it for a dataset's folder: {_INSTALL}") from error
    with tempfile.TemporaryDirectory(prefix="autorater-") as scratch:
        datasets.disable_progress_bars()
        try:
            found = _load(folder, scratch)
        except Exception as error:
            # The library raises what its file formats raise, and has no error of its own above them.
            told = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise SetFileError(f"{folder}: cannot be read as a dataset ({told}); expected one") from error
        chosen = _choose(found, split, folder)
        return Table(folder.name, tuple(chosen.column_names), tuple(_rows(chosen, folder.name)))


def _load(folder: Path, scratch: str) -> Any:
    import datasets

    if any((folder / name).is_file() for name in _SAVED):
        return datasets.load_from_disk(str(folder))
    return datasets.load_dataset(str(folder.resolve()), cache_dir=os.fspath(scratch))


def _choose(found: Any, split: str | None, folder: Path) -> Any:
    if not isinstance(found, dict):
        if split is not None:
            raise SetFileError(f"{folder}: one dataset without splits, asked for {split!r}; expected no --split")
        return found
    names = ", ".join(found)
    if split is None and len(found) == 1:
        return next(iter(found.values()))
    if split not in found:
        asked = "none was asked for" if split is None else f"asked for {split!r}"
        raise SetFileError(f"{folder}: splits {names}, {asked}; expected --split with one of them")
    return found[split]


def _rows(dataset: Any, name: str) -> Iterator[Row]:
    import datasets

    classes = {
        column: feature.names
        for column, feature in dataset.features.items()
        if isinstance(feature, datasets.ClassLabel)
    }
    for number, cells in enumerate(dataset, start=1):
        yield Row(f"{name}:row {number}", {**cells, **_class_names(cells, classes)})


def _class_names(cells: Mapping[str, Any], classes: Mapping[str, list[str]]) -> Mapping[str, str | None]:
    numbers = {column: cells[column] for column in classes}
    return {
        column: None if number is None or number < 0 else classes[column][number] for column, number in numbers.items()
    }
