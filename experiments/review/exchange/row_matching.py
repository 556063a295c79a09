"""Rows of a file against the review that they go into: content, scale, names, times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from calibration_sets.item import Item
from calibration_sets.strict import raise_problems, shorten
from experiments.errors import ReviewError
from experiments.review.desk import clean_name
from experiments.review.exchange.file_row import FileRow
from experiments.review.label_row import Role
from experiments.review.label_state import ItemKey
from experiments.review.review_record import Review

__all__ = ["MatchedRow", "match_rows"]


@dataclass(frozen=True, slots=True)
class MatchedRow:
    """A row that belongs to an item of the review. ``labelled_at`` is ``None`` where nobody knows."""

    where: str
    item: Item
    rater: str
    label: str | None
    note: str
    disputed: bool
    blind: bool
    labelled_at: str | None
    role: Role

    @property
    def key(self) -> ItemKey:
        """Whose standing it is about."""
        return ItemKey(self.item.digest, self.rater, self.role == "adjudication")


def match_rows(
    review: Review, rows: Iterable[FileRow], *, known_raters: Sequence[str], rater: str | None, blind: bool
) -> list[MatchedRow]:
    """The rows with their items.

    Parameters
    ----------
    known_raters
        Who is in the store: a name that differs in capitals alone is the same person's.
    rater, blind
        Where a row says nothing of its own.

    Raises
    ------
    ReviewError
        All rows that name an unknown item, content that is not the review's, a label off the scale, no usable rater
        or time, or that contradict another row of the file; each with its place.
    """
    matcher = _Matcher(review, rater, blind=blind, known=list(known_raters))
    found: dict[ItemKey, MatchedRow] = {}
    problems: list[str] = []
    for row in rows:
        try:
            matched = matcher.match(row)
            earlier = found.setdefault(matched.key, matched)
            if replace(earlier, where="", item=matched.item) != replace(matched, where=""):
                raise ReviewError(
                    f"{row.where}: {matched.rater!r} says otherwise of the same text at {earlier.where}; "
                    "expected one of both"
                )
        except ReviewError as error:
            problems.append(str(error))
    raise_problems(problems, ReviewError)
    return list(found.values())


class _Matcher:
    """Knows the items of a review by id and digest, and the names so far."""

    def __init__(self, review: Review, rater: str | None, *, blind: bool, known: list[str]) -> None:
        self._review, self._rater, self._blind, self._known = review, rater, blind, known
        self._by_id = {item.item_id: item for item in review.calibration_set.items}
        self._spelt = {label.casefold(): label for label in review.scale.labels}

    def match(self, row: FileRow) -> MatchedRow:
        return MatchedRow(
            where=row.where,
            item=self._item(row),
            rater=self._name(row),
            label=self._label(row),
            note=row.note,
            disputed=row.disputed,
            blind=self._blind if row.blind is None else row.blind,
            labelled_at=_time(row),
            role=row.role,
        )

    def _item(self, row: FileRow) -> Item:
        named = self._by_id.get(row.item_id or "")
        item = named if row.item_digest is None else self._review.items.get(row.item_digest)
        if named is not None and named.digest != (row.item_digest or named.digest):
            other = f"that of {item.item_id!r}" if item else f"{str(row.item_digest)[:12]}, it was reworded since"
            raise ReviewError(
                f"{row.where}: item {shorten(row.item_id)} with another digest ({other}); expected "
                f"{named.digest[:12]}, as labels belong to what people saw"
            )
        if item is None:
            got = shorten(row.item_id or (row.item_digest or "")[:12])
            raise ReviewError(f"{row.where}: item {got}; expected one of review {self._review.review_id}")
        _check_texts(row, item)
        return item

    def _name(self, row: FileRow) -> str:
        given = row.rater or self._rater
        if given is None:
            raise ReviewError(f"{row.where}: no rater; expected one, or --rater NAME for the whole file")
        try:
            name = clean_name(given, self._known)
        except ReviewError as error:
            raise ReviewError(f"{row.where}: rater {shorten(given)}: {error}") from error
        self._known.append(name)
        return name

    def _label(self, row: FileRow) -> str | None:
        if row.label is None:
            return None
        label = self._spelt.get(row.label.casefold())
        if label is None:
            expected = ", ".join(self._review.scale.labels)
            raise ReviewError(f"{row.where}: label {shorten(row.label)} is not on the scale [{expected}]")
        return label


def _check_texts(row: FileRow, item: Item) -> None:
    """What was shown must be what the digest says; programs may only have changed line ends and outer white space."""
    shown = {"question": item.question, "reference": item.reference.text, "response": item.response}
    for name, text in row.texts.items():
        if _plain(text) != _plain(shown[name]):
            raise ReviewError(
                f"{row.where}: the {name} of item {shorten(item.item_id)} was changed; expected the text of the "
                "review, as labels belong to what people saw"
            )


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _time(row: FileRow) -> str | None:
    """The time as it stands if it is UTC already, else in UTC."""
    if not row.labelled_at:
        return None
    try:
        time = datetime.fromisoformat(row.labelled_at)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise ReviewError(
            f"{row.where}: time {shorten(row.labelled_at)}; expected ISO 8601 with its zone, such as "
            "2026-01-31T09:30:00+00:00"
        )
    return row.labelled_at if row.labelled_at.endswith("+00:00") else time.astimezone(UTC).isoformat()
