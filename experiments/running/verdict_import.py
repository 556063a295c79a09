"""Graders' existing verdicts as a run: judged elsewhere, reported here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import Item, content_digest
from calibration_sets.loader import load_set
from calibration_sets.scale import LabelScale
from calibration_sets.strict import raise_problems, shorten
from calibration_sets.tables import Row, Table, cell_text, read_table, refuse_queue
from experiments.errors import ImportFileError
from experiments.specs.experiment import Analyses, check_run_name
from experiments.store.run_records import GraderRecord, write_run
from experiments.store.run_store import CompletionKey, RunStore
from experiments.store.set_snapshot import identify_set
from graders.sampling import Channel
from graders.verdict import FAILURES, CallFailure, Completion, Failure

__all__ = ["FIELDS", "import_verdicts"]

FIELDS = ("item", "digest", "grader", "repeat", "label", "text", "stop_reason", "failure")
"""What a row can say; each is taken from the column of its own name unless told otherwise."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One row, checked: which grader, which content, which repeat, and the answer."""

    where: str
    grader: str
    key: CompletionKey
    answer: Completion | CallFailure


def import_verdicts(
    file: Path,
    set_name: str,
    store: RunStore,
    *,
    columns: Sequence[str] = (),
    labels: Sequence[str] = (),
    grader: str | None = None,
    name: str | None = None,
) -> str:
    """Store the verdicts of a file as completions and record a run over them; return its id.

    Parameters
    ----------
    file
        CSV, TSV, JSONL or Parquet, one row a verdict; see :data:`FIELDS`.
    columns
        ``FIELD=COLUMN`` for columns of other names.
    labels
        ``TEXT=LABEL`` for labels that the file spells otherwise.
    grader
        Name of the grader where the file has no column for it.

    Raises
    ------
    ImportFileError
        If a row names no item of the set, a label is not on its scale, a verdict comes twice, or a
        needed column is missing; the message names file and line. Nothing is stored then.
    calibration_sets.errors.CalibrationSetError
        If the set or the table cannot be read.
    """
    if name is not None:
        _check_name(name)
    calibration_set = load_set(set_name)
    table = read_table(file)
    refuse_queue(table)
    sources = _find_columns(table, columns, grader)
    rows = _read_rows(table, sources, _split_labels(labels, calibration_set), calibration_set, grader)
    by_grader: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        by_grader[row.grader].append(row)
    raise_problems([f"{table.file}: {gap}" for gap in _find_gaps(by_grader)], ImportFileError)
    records = {title: _describe(title, own, calibration_set) for title, own in sorted(by_grader.items())}
    for title, record in records.items():
        store.append_many(record.grader_id, [(row.key, row.answer) for row in by_grader[title]])
    run_name = name or f"{calibration_set.name}-verdicts"
    ids = [[record.grader_id, record.sampling["repeats"]] for record in records.values()]
    run_id = f"{run_name}-{content_digest([dict(identify_set(calibration_set)), ids])[:8]}"
    write_run(
        store,
        run_id=run_id,
        name=run_name,
        calibration_set=calibration_set,
        n_items_in_set=len(calibration_set.items),
        set_digest=calibration_set.digest,
        graders=list(records.values()),
        analyses=Analyses(),
    )
    return run_id


def _check_name(name: str) -> None:
    try:
        check_run_name(name)
    except ValueError as error:
        raise ImportFileError(f"--name: {shorten(name)}; {error}") from error


def _find_gaps(by_grader: Mapping[str, Sequence[_Row]]) -> Iterator[str]:
    """Graders with a repeat that none of their rows is of: it would count as asked for and not answered."""
    for title, rows in sorted(by_grader.items()):
        numbers = sorted({row.key.repeat for row in rows})
        absent = next(place for place, number in enumerate([*numbers, -1]) if place != number)
        if absent < len(numbers):
            yield f"grader {title!r}: no row of repeat {absent}, but of {numbers[absent]}; expected 0, 1, 2 and so on"


def _find_columns(table: Table, columns: Sequence[str], grader: str | None) -> Mapping[str, str]:
    """Field to column, for the fields that the table has."""
    renamed = dict(_split_mapping(entry) for entry in columns)
    table.require(renamed)
    sources = {field: renamed.get(field, field) for field in FIELDS if renamed.get(field, field) in table.columns}
    found = ", ".join(table.columns)
    if "item" not in sources and "digest" not in sources:
        raise ImportFileError(f"{table.file}: no column 'item' or 'digest', found {found}; expected --column item=NAME")
    if "label" not in sources and "text" not in sources:
        expected = (
            "a column 'label' beside 'failure', with empty cells where a call failed"
            if "failure" in sources
            else "--column label=NAME"
        )
        raise ImportFileError(f"{table.file}: no column 'label' or 'text', found {found}; expected {expected}")
    if ("grader" in sources) == (grader is not None):
        got = "both a column and --grader" if grader is not None else f"no column 'grader', found {found}"
        raise ImportFileError(f"{table.file}: {got}; expected a column 'grader', or --grader NAME")
    return sources


def _split_mapping(entry: str) -> tuple[str, str]:
    field, _, column = entry.partition("=")
    if field not in FIELDS or not column:
        raise ImportFileError(f"--column: {entry!r}; expected FIELD=COLUMN with one of {list(FIELDS)}")
    return field, column


def _split_labels(entries: Sequence[str], calibration_set: CalibrationSet) -> Mapping[str, str]:
    """What the file writes to the label that it means."""
    spelt: dict[str, str] = {}
    for entry in entries:
        text, _, label = entry.rpartition("=")
        if not text or label not in calibration_set.scale or text in spelt:
            known = ", ".join(calibration_set.scale.labels)
            raise ImportFileError(f"--label: {entry!r}; expected TEXT=LABEL, each text once, with one of [{known}]")
        spelt[text] = label
    return spelt


def _read_rows(
    table: Table,
    sources: Mapping[str, str],
    spelt: Mapping[str, str],
    calibration_set: CalibrationSet,
    grader: str | None,
) -> list[_Row]:
    index = _Index(calibration_set)
    rows, problems = [], []
    seen: dict[tuple[str, str, int], tuple[str, Completion | CallFailure]] = {}
    for row in table.rows:
        cells = {field: cell_text(row, column) for field, column in sources.items()}
        if (label := cells.get("label")) is not None:
            cells["label"] = spelt.get(label, label)
        try:
            item = index.find(cells)
            read = _read_row(row, cells, item, calibration_set, grader)
            _check_once(read, item, seen)
        except ImportFileError as error:
            problems.append(f"{row.where}: {error}")
        else:
            rows.append(read)
    raise_problems(problems, ImportFileError)
    return rows


class _Index:
    """Items by id and by content."""

    def __init__(self, calibration_set: CalibrationSet) -> None:
        self._name = calibration_set.name
        self._by_id = {item.item_id: item for item in calibration_set.items}
        self._by_digest: dict[str, Item] = {}
        for item in calibration_set.items:
            self._by_digest.setdefault(item.digest, item)

    def find(self, cells: Mapping[str, str | None]) -> Item:
        item_id, digest = cells.get("item") or None, cells.get("digest") or None
        if item_id is None and digest is None:
            raise ImportFileError("item: missing; expected the id of an item")
        item = self._by_id.get(item_id) if item_id is not None else self._by_digest.get(digest or "")
        if item is None:
            raise ImportFileError(f"item {item_id or digest!r}: not in set {self._name}; expected an id of the set")
        if digest is not None and digest != item.digest:
            raise ImportFileError(
                f"item {item_id!r}: judged with other content (digest {digest[:8]}, now {item.digest[:8]}); "
                "expected a verdict on the item as it is"
            )
        return item


def _read_row(
    row: Row, cells: Mapping[str, str | None], item: Item, calibration_set: CalibrationSet, grader: str | None
) -> _Row:
    title = grader or cells.get("grader")
    if not title or title.isspace():
        raise ImportFileError("grader: missing; expected a name")
    key = CompletionKey(item.digest, _read_repeat(cells.get("repeat")))
    return _Row(row.where, title, key, _read_answer(title, cells, calibration_set.scale.labels))


def _read_repeat(text: str | None) -> int:
    if text is None:
        return 0
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        raise ImportFileError(f"repeat: {text!r}; expected a whole number from 0")
    return int(text)


def _read_answer(title: str, cells: Mapping[str, str | None], labels: Iterable[str]) -> Completion | CallFailure:
    label, text, failure = cells.get("label"), cells.get("text"), cells.get("failure")
    if failure:
        if label:
            raise ImportFileError(f"label {label!r} and failure {failure!r}; expected one of them")
        return _read_failure(title, text, failure)
    if label and label not in labels:
        raise ImportFileError(f"label {label!r} is not on the scale [{', '.join(sorted(labels))}]")
    stop_reason = cells.get("stop_reason") or None
    return Completion(text=text, served_model=title, stop_reason=stop_reason, stated_label=label or None)


def _read_failure(title: str, text: str | None, failure: str) -> Completion | CallFailure:
    """A failure that somebody else recorded: a reply that could not be used, or no reply at all."""
    if failure in FAILURES and failure != "not_answered":
        return Completion(text=text, served_model=title, stop_reason=None, stated_failure=cast(Failure, failure))
    return CallFailure(failure, text or "")


def _check_once(row: _Row, item: Item, seen: dict[tuple[str, str, int], tuple[str, Completion | CallFailure]]) -> None:
    """One verdict a grader, content and repeat; items of one content may only repeat the same one."""
    key = (row.grader, row.key.item_digest, row.key.repeat)
    owner, answer = seen.setdefault(key, (item.item_id, row.answer))
    again = owner == item.item_id and answer is not row.answer
    if again or answer != row.answer:
        raise ImportFileError(
            f"grader {row.grader!r}, item {item.item_id!r}, repeat {row.key.repeat}: a second verdict"
            f"{'' if again else f' on the content of item {owner!r}, and another one'}; expected one"
        )


def _channel(scale: LabelScale) -> Channel:
    """How imported replies are read: words cannot tell a label such as ``0.25``, or one that is a set."""
    if scale.values is not None and any("." in label for label in scale.labels):
        return "score"
    return "reasons" if scale.parts is not None else "word"


def _describe(title: str, rows: Sequence[_Row], calibration_set: CalibrationSet) -> GraderRecord:
    """An imported grader is its verdicts: its id covers them all, its sampling is not known."""
    content = sorted([row.key.item_digest, row.key.repeat, repr(row.answer)] for row in rows)
    unknown = dict.fromkeys(("temperature", "seed", "max_tokens", "constrained"))
    return GraderRecord(
        grader_id=content_digest(["imported", title, content])[:16],
        model=f"imported/{title}",
        prompt=None,
        rubric=None,
        channel=_channel(calibration_set.scale),
        scale=calibration_set.scale,
        sampling={**unknown, "channel": None, "repeats": 1 + max(row.key.repeat for row in rows)},
    )
