"""Calibration sets from folders.

A set is a folder of three files, all UTF-8, all read strictly: an unknown key, a missing one or a
value of another type is an error that names file and line.

``set.toml``
    ``name``, ``version`` (such as ``1.0.0``), ``rubric`` (``name@version``), ``scale`` (the name of
    one of :data:`calibration_sets.scale.SCALES`, or a table of ``labels``, worst first, and, where
    wanted, ``name``, ``level``, ``letters``, ``words``, ``positive``), ``label_source`` (``human``,
    ``published`` or ``construction``), ``licence``, ``source``, ``description``. All are needed.
    A set without labels says ``labelled = false`` and has no ``human_labels.jsonl``.

``items.jsonl``
    One JSON object a line, records end at line feeds only. Needed: ``id``, ``question``,
    ``reference`` (as published), ``response`` (may be empty, not null). If wanted: ``aliases`` (list
    of strings), ``cluster`` (default: derived from the question's text), ``kind``, ``topic``,
    ``answer_type``, ``respondent`` (strings), ``metadata`` (object). In its place there may be
    ``items.parquet``, a file or a folder of parts, with the same keys as columns.

``human_labels.jsonl``
    One JSON object a line, one line for each rater, item and rubric. Needed: ``item`` (an id of
    ``items.jsonl``), ``digest`` (of the item's content that the person saw), ``rater``, ``label``.
    If wanted: ``rubric`` (default: the set's). :func:`calibration_sets.writer.stamp_labels` fills in
    the digests of a file written by hand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.errors import SetFileError, SetNotFoundError
from calibration_sets.item import HumanLabel, Item
from calibration_sets.parquet_items import read_parquet_items
from calibration_sets.records import ItemRecord, LabelRecord, ScaleRecord, SetRecord
from calibration_sets.scale import LabelScale
from calibration_sets.strict import raise_problems, read_toml, shorten
from calibration_sets.strict_models import parse_model, read_rows

__all__ = [
    "ITEMS",
    "ITEMS_PARQUET",
    "LABELS",
    "SET",
    "list_shipped_sets",
    "load_set",
    "read_items",
    "read_label_records",
]

SET, ITEMS, LABELS = "set.toml", "items.jsonl", "human_labels.jsonl"
"""The files of a set's folder."""

ITEMS_PARQUET = "items.parquet"
"""The items of a large set, in the place of ``items.jsonl``."""

_SHIPPED = Path(__file__).parent / "data"


def list_shipped_sets() -> tuple[str, ...]:
    """Names of the sets that come with the package."""
    return tuple(sorted(path.parent.name for path in _SHIPPED.glob(f"*/{SET}")))


def load_set(name_or_path: str | Path) -> CalibrationSet:
    """A shipped set by its name, or the set in a folder.

    A name that is both is the shipped set; write ``./name`` for the folder.

    Raises
    ------
    SetNotFoundError
        If there is neither.
    SetFileError
        If a file of the set is malformed.
    """
    folder = _find_folder(name_or_path)
    record = _read_header(folder / SET)
    items = read_items(folder)
    labels = _read_labels(folder / LABELS, record, items)
    header = record.to_header()
    return header.with_content(items, labels)


def _find_folder(name_or_path: str | Path) -> Path:
    if isinstance(name_or_path, str) and name_or_path in list_shipped_sets():
        return _SHIPPED / name_or_path
    what = "no such set"
    try:
        folder = Path(name_or_path).expanduser()
        if str(name_or_path) and folder.is_dir():
            return folder
        what = "a file, not a folder" if folder.is_file() else what
    except (OSError, RuntimeError) as error:  # a name too long for a path, an unknown user after a tilde
        what = f"no such set, and no path ({error})"
    shipped = ", ".join(list_shipped_sets()) or "none"
    raise SetNotFoundError(
        f"{shorten(str(name_or_path))}: {what}; expected a shipped set ({shipped}) or the path of a folder with a {SET}"
    )


def _read_header(path: Path) -> SetRecord:
    data = read_toml(path, SetFileError)
    scale = data.get("scale")
    if isinstance(scale, dict):
        data["scale"] = parse_model(ScaleRecord, scale, f"{path.name}: scale", SetFileError)
    record = parse_model(SetRecord, data, path.name, SetFileError)
    try:
        record.to_header()
    except ValueError as error:
        raise SetFileError(f"{path.name}: {error}") from None
    return record


def read_items(folder: Path) -> tuple[Item, ...]:
    """The items of a set's folder, in the order of the file; ``SetFileError`` without any."""
    path, parquet = folder / ITEMS, folder / ITEMS_PARQUET
    if parquet.exists():
        if path.exists():
            raise SetFileError(f"{folder}: {ITEMS} and {ITEMS_PARQUET}, both present; expected one of them")
        return read_parquet_items(parquet)
    records = read_rows(ItemRecord, path, SetFileError)
    raise_problems(_repeated(path.name, "id", [(record.id, line) for line, record in records]), SetFileError)
    if not records:
        raise SetFileError(f"{path.name}: empty; expected at least one item")
    return tuple(record.to_item() for _, record in records)


def read_label_records(path: Path) -> list[tuple[int, LabelRecord]]:
    """Line numbers and rows of a ``human_labels.jsonl``; nothing is checked against the set yet."""
    return read_rows(LabelRecord, path, SetFileError)


def _read_labels(path: Path, header: SetRecord, items: Iterable[Item]) -> tuple[HumanLabel, ...]:
    if not header.labelled:
        if path.exists():
            raise SetFileError(f"{path.name}: present, but {SET} says labelled = false; expected one or the other")
        return ()
    if not path.exists():
        raise SetFileError(
            f"{path.name}: no such file in {path.parent}; expected one, or labelled = false in {SET} "
            "for a set without labels"
        )
    records = read_label_records(path)
    by_id = {item.item_id: item for item in items}
    scale = header.to_header().scale
    problems = [
        f"{path.name}:{line}: {problem}"
        for line, record in records
        if (problem := _label_problem(record, by_id, scale, path.parent))
    ]
    keys = [((row.item, row.rater, row.rubric or header.rubric), line) for line, row in records]
    problems += _repeated(path.name, "item, rater and rubric", keys)
    raise_problems(problems, SetFileError)
    if not records:
        raise SetFileError(f"{path.name}: empty; expected labels, or labelled = false in {SET} and no such file")
    return tuple(_to_label(record, header.rubric) for _, record in records)


def _label_problem(record: LabelRecord, by_id: Mapping[str, Item], scale: LabelScale, folder: Path) -> str | None:
    """What is wrong with one label, seen from the rest of the set."""
    item = by_id.get(record.item)
    if item is None:
        return f"item {shorten(record.item)} is not in {ITEMS}"
    if record.label not in scale:
        labels = sorted(scale.labels) if scale.level == "nominal" else scale.labels
        return f"label {shorten(record.label)} is not on the scale [{', '.join(labels)}]"
    if record.digest is None:
        return f"digest is missing; run 'autorater sets stamp {folder}' to fill it in"
    if record.digest != item.digest:
        return (
            f"item {shorten(record.item)} was reworded since (label's digest {record.digest[:12]}, "
            f"item's {item.digest[:12]}); have it labelled again, or restore the item"
        )
    return None


def _to_label(record: LabelRecord, rubric: str) -> HumanLabel:
    return HumanLabel(record.item, record.digest or "", record.rater, record.label, record.rubric or rubric)


def _repeated(file: str, what: str, keys: Sequence[tuple[Hashable, int]]) -> list[str]:
    """A message for every key that comes more than once, all its lines named."""
    lines: dict[Hashable, list[int]] = defaultdict(list)
    for key, line in keys:
        lines[key].append(line)
    return [
        f"{file}:{at[1]}: duplicate {what} {_shown(key)}, on lines {', '.join(map(str, at))}; expected one line each"
        for key, at in lines.items()
        if len(at) > 1
    ]


def _shown(key: Hashable) -> str:
    return ", ".join(map(shorten, key)) if isinstance(key, tuple) else shorten(key)
