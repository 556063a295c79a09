"""Labels out of what Label Studio exports as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from calibration_sets.strict import parse_json, raise_problems, read_text, shorten
from calibration_sets.strict_models import parse_model
from experiments.errors import ReviewError
from experiments.review.exchange.file_row import FileLabels, FileRow, ReadOptions
from experiments.review.label_row import Role

__all__ = ["read_label_studio"]

_OURS = ("label", "note", "disputed", "autorater")


class _Own(BaseModel):
    """What the text area that is not shown keeps of an annotation of ours."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    rater: str
    label: str | None
    role: Role
    blind: bool
    labelled_at: str


def read_label_studio(path: Path, options: ReadOptions) -> FileLabels:
    """The annotations of a file that Label Studio exported as JSON (not as JSON-MIN).

    An annotation that was cancelled is a skip. One that somebody made out of a prediction, or beside one, is not blind.
    A copy of another annotation is the work of who made the copy. Drafts and controls of others are counted in the
    notes.

    Raises
    ------
    ReviewError
        The file is no such export, or an annotation is none of this configuration; with the number of the task.
    """
    seen: Counter[str] = Counter()
    rows, problems = [], []
    for where, task in _tasks(path):
        seen["drafts"] += len(task.get("drafts") or [])
        for number, annotation in enumerate(task.get("annotations") or [], start=1):
            try:
                rows.append(_read_annotation(f"{where}, annotation {number}", task, annotation, options, seen))
            except ReviewError as error:
                problems.append(str(error))
    raise_problems(problems, ReviewError)
    return FileLabels(tuple(rows), tuple(_notes(seen)))


def _tasks(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        content = parse_json(read_text(path, ReviewError))
    except ValueError as error:
        raise ReviewError(f"{path.name}: {error}") from None
    for number, task in enumerate(content if isinstance(content, list) else [content], start=1):
        where = f"{path.name}:task {number}"
        lists = ("annotations", "drafts", "predictions")
        if not (isinstance(task, dict) and isinstance(task.get("data"), dict)) or not all(
            isinstance(task.get(key) or [], list) for key in lists
        ):
            raise ReviewError(f"{where}: {shorten(task)}; expected a task with data, as in the export 'JSON'")
        yield where, task


def _read_annotation(
    where: str, task: Mapping[str, Any], annotation: Any, options: ReadOptions, seen: Counter[str]
) -> FileRow:
    if not isinstance(annotation, dict) or not isinstance(annotation.get("result") or [], list):
        raise ReviewError(f"{where}: {shorten(annotation)}; expected an annotation with a result")
    values = _values(where, annotation.get("result") or [], seen)
    copied = annotation.get("parent_annotation") is not None
    own = None if copied or "autorater" not in values else _own(where, values["autorater"])
    label = None if annotation.get("was_cancelled") else values.get("label")
    # Changed in Label Studio: the rater stays, time and blindness are of the change.
    fresh = own is None or own.label != label
    if own is None and annotation.get("ground_truth"):
        seen["ground truth"] += 1
    return FileRow(
        where=where,
        item_id=_data_text(where, task, "item_id"),
        item_digest=_data_text(where, task, "item_digest"),
        rater=own.rater if own else _user(where, annotation.get("completed_by"), options, seen),
        label=label,
        note=values.get("note", ""),
        disputed="disputed" in values,
        blind=_is_blind(task, annotation) if own is None or fresh else own.blind,
        labelled_at=_changed_at(annotation, changed=own is not None) if own is None or fresh else own.labelled_at,
        role=own.role if own else "label",
        part=_data_text(where, task, "part"),
        skipped=bool(annotation.get("was_cancelled")),
        texts={
            name: text
            for name in ("question", "reference", "response")
            if (text := _data_text(where, task, name)) is not None
        },
    )


def _values(where: str, result: list[Any], seen: Counter[str]) -> dict[str, str]:
    """Control to what it says; several lines of a text area are joined."""
    values: dict[str, str] = {}
    for region in result:
        name = region.get("from_name") if isinstance(region, dict) else None
        if name not in _OURS:
            seen[f"control {name}"] += 1
            continue
        value = region.get("value") if isinstance(region.get("value"), dict) else {}
        given = value.get("text" if name in ("note", "autorater") else "choices")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise ReviewError(f"{where}: {name} {shorten(region)}; expected choices or text of this configuration")
        if name in values or (name == "label" and len(texts) > 1):
            raise ReviewError(f"{where}: {len(texts)} values of {name}; expected one")
        values[name] = "\n".join(texts)
    return values


def _own(where: str, text: str) -> _Own:
    try:
        data = parse_json(text)
    except ValueError as error:
        raise ReviewError(f"{where}: autorater: {error}") from None
    if not isinstance(data, dict):
        raise ReviewError(f"{where}: autorater {shorten(data)}; expected what was exported there")
    return parse_model(_Own, data, f"{where}: autorater", ReviewError)


def _user(where: str, given: Any, options: ReadOptions, seen: Counter[str]) -> str | None:
    """The name for a user: given on the command line, else the address, else made of the number."""
    number, address = (given.get("id"), given.get("email")) if isinstance(given, dict) else (given, None)
    names = [options.raters[str(key)] for key in (number, address) if str(key) in options.raters]
    if names:
        return names[0]
    if number is None and not address:
        return None
    if not isinstance(number, int | str | None) or not isinstance(address, str | None):
        raise ReviewError(f"{where}: completed_by {shorten(given)}; expected the id of a user")
    if address or isinstance(number, str):
        return str(address or number)
    seen[f"user {number}"] += 1
    return f"label-studio:{number}"


def _is_blind(task: Mapping[str, Any], annotation: Mapping[str, Any]) -> bool:
    return not task.get("predictions") and annotation.get("parent_prediction") is None


def _changed_at(annotation: Mapping[str, Any], *, changed: bool) -> str | None:
    keys = ("updated_at", "created_at") if changed else ("created_at", "updated_at")
    return next((str(annotation[key]) for key in keys if annotation.get(key)), None)


def _data_text(where: str, task: Mapping[str, Any], name: str) -> str | None:
    value = task["data"].get(name)
    if value is not None and not isinstance(value, str):
        raise ReviewError(f"{where}: data {name} {shorten(value)}; expected text")
    return value


def _notes(seen: Mapping[str, int]) -> Iterator[str]:
    for what, count in sorted(seen.items()):
        kind, _, name = what.partition(" ")
        if what == "drafts" and count:
            yield f"left out, drafts that nobody has submitted: {count}"
        elif what == "ground truth":
            yield f"annotations marked as ground truth, which count as labels and not as adjudications: {count}"
        elif kind == "control":
            yield f"not read, results of the control {name!r}: {count}"
        elif kind == "user":
            yield f"user {name} has no name here; 'label-studio:{name}' stands for it, or give --rater {name}=NAME"
