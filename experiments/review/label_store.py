"""The label store: one SQLite file of reviews and of all that raters did in them, durable before they are told so."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, RowMapping, and_, func, inspect, or_, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DBAPIError

from experiments.errors import ReviewError, StoreError
from experiments.review.events import UNDOABLE, Event, NewEvent, Recorded
from experiments.review.review_record import Review, dump_review, load_review
from experiments.review.tables import SCHEMA, about, create_tables, events, reviews, table_names
from experiments.store.database_file import check_place, connect, expected_state, is_frozen

__all__ = ["LabelStore"]

_CONTENT = ("rater", "item_digest", "kind", "label", "note", "disputed", "blind", "undoes")
"""What two events of one token must have in common to be one."""


class LabelStore:
    """Reviews and their events.

    Each event is committed with full synchronisation before it is returned, so that what a rater was told is kept
    whatever happens to process or machine. All of it is in the one file: there is no write-ahead log, without which a
    copy of the file would lack the newest labels. Several processes can use one file. Events are never changed or
    deleted. A database of something else is refused and left as it is; with ``must_exist`` nothing is created.

    Raises
    ------
    StoreError
        If the file cannot be opened or is no label store; with ``must_exist`` also if it is missing.
    """

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.path = path
        check_place(path, must_exist=must_exist, option="--labels PATH")
        self._engine = connect(path, frozen=must_exist and is_frozen(path), synchronous="EXTRA")
        try:
            self._prepare(must_exist=must_exist)
        except StoreError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back the file."""
        self._engine.dispose()

    def create_review(self, review: Review) -> None:
        """Record a review; recording the same one again changes nothing."""
        row = {
            "review_id": review.review_id,
            "protocol": review.protocol,
            "payload": dump_review(review),
            "created_at": _now(),
        }
        with self._writing() as connection:
            connection.execute(insert(reviews).on_conflict_do_nothing(), [row])

    def list_reviews(self) -> Sequence[Review]:
        """All reviews, oldest first."""
        with self._reading() as connection:
            found = connection.execute(select(reviews.c.payload).order_by(reviews.c.created_at, reviews.c.review_id))
            payloads = found.scalars().all()
        return [self._load(payload) for payload in payloads]

    def find_review(self, name: str | None = None) -> Review:
        """The review of that id, the only one of that run or set, or the only one whose id begins so.

        Parameters
        ----------
        name
            ``None`` for the only review of the store.

        Raises
        ------
        ReviewError
            If there is none, or more than one.
        """
        found = {review.review_id: review for review in self.list_reviews()}
        named = [one for one, review in found.items() if name in (None, review.name)]
        begins = [one for one in found if name and one.startswith(name)]
        matches = [name] if name is not None and name in found else named or begins
        if len(matches) != 1:
            got = f"{len(matches)} reviews" if matches else "no review"
            what = f"of {name!r}" if name is not None else "in it"
            expected = f"one of {matches or list(found)}" if found else "a store with reviews, this one has none"
            raise ReviewError(f"{self.path.name}: {got} {what}; expected {expected}")
        return found[matches[0]]

    def append(self, review: Review, new: NewEvent) -> Recorded:
        """Make one event durable, and give what stands for it.

        The same event with the same token is not stored again, and neither is an ``undo`` of what was undone already.
        Something else with a known token is an event of its own: its page never learnt what became of the first.

        Raises
        ------
        ReviewError
            If it undoes what is not the rater's own decision, or labels off the scale or outside the review.
        """
        return self.append_many(review, [new])[0]

    def append_many(self, review: Review, new: Sequence[NewEvent]) -> Sequence[Recorded]:
        """Make several events durable in one transaction: all of them, or with an error none."""
        for one in new:
            _check(review, one)
        with self._writing() as connection:
            return [_append(connection, review, one) for one in new]

    def append_unless_newer(self, review: Review, new: Sequence[NewEvent], *, newest: int) -> bool:
        """Make several events durable if ``newest`` is still the last event on the review's rubric and scale.

        Returns whether it is: if others have said something since, nothing is stored.
        """
        for one in new:
            _check(review, one)
        last = select(func.max(events.c.event_id)).where(events.c.protocol == review.protocol)
        with self._writing() as connection:
            if (connection.execute(last).scalar() or 0) != newest:
                return False
            for one in new:
                _append(connection, review, one)
            return True

    def events(self, review: Review, *, after: int = 0) -> Sequence[Event]:
        """Events on the review's rubric and scale, oldest first: those of other reviews too.

        Parameters
        ----------
        after
            Leave out events up to this id.
        """
        query = select(events).where(events.c.protocol == review.protocol, events.c.event_id > after)
        with self._reading() as connection:
            rows = connection.execute(query.order_by(events.c.event_id)).mappings().all()
        return [_event(row) for row in rows]

    # inside

    def _prepare(self, *, must_exist: bool) -> None:
        with self._reading() as connection:
            tables = set(inspect(connection).get_table_names())
        if not tables:
            if must_exist:
                raise StoreError(f"{self.path}: an empty file; expected the labels of an earlier review")
            self._create()
        elif not table_names() <= tables:
            raise StoreError(f"{self.path}: a database of something else; expected a label store, or a new file")
        elif not must_exist:
            self._leave_log()
        with self._reading() as connection:
            schemas = connection.execute(select(about.c.value).where(about.c.key == "schema")).scalars().all()
        if schemas != [SCHEMA]:
            raise StoreError(f"{self.path}: schema {', '.join(map(repr, schemas)) or 'missing'}; expected {SCHEMA!r}")

    def _create(self) -> None:
        with self._writing() as writing:
            if not inspect(writing).get_table_names():  # another process may have been quicker
                create_tables(writing)

    def _leave_log(self) -> None:
        """A file of an earlier version has a write-ahead log; it goes once nobody else has the file open."""
        with self._errors_named():
            connection = self._engine.raw_connection()
            try:
                cursor = connection.cursor()
                if cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",):
                    cursor.execute("PRAGMA busy_timeout=0")
                    cursor.execute("PRAGMA journal_mode=DELETE")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                # Somebody else works on it: all is well with the log too, and the next start asks again.
            finally:
                connection.close()
                self._engine.dispose()  # with the connection that no longer waits

    def _load(self, payload: str) -> Review:
        try:
            return load_review(payload)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise StoreError(f"{self.path}: a review is damaged ({error}); expected an intact store") from error

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._errors_named(), self._engine.execution_options(writes=True).begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._errors_named(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise StoreError(f"{self.path}: {cause}; expected {expected_state(str(cause))}") from error


def _append(connection: Connection, review: Review, new: NewEvent) -> Recorded:
    row = _row(review, new)
    last = _last_of_token(connection, new.token)
    known = last if last is not None and _says_same(last, row) else None
    if known is None and new.kind == "undo":
        known = _find(connection, events.c.undoes == new.undoes)
        _check_undo(_find(connection, events.c.event_id == new.undoes), new)
    if known is not None:
        return Recorded(known, repeated=True)
    if last is not None:
        row["token"] = f"{new.token}.{last.event_id}"
    adding = insert(events).values(**row).returning(*events.c)
    return Recorded(_event(connection.execute(adding).mappings().one()), repeated=False)


def _last_of_token(connection: Connection, token: str) -> Event | None:
    """The newest event of a page: under its token, or under that and the number of the event before."""
    # '/' follows '.': between them are all texts that begin with the token and a full stop.
    following = and_(events.c.token >= f"{token}.", events.c.token < f"{token}/")
    return _find(connection, or_(events.c.token == token, following))


def _says_same(known: Event, row: Mapping[str, Any]) -> bool:
    return all(getattr(known, name) == row[name] for name in _CONTENT)


def _find(connection: Connection, condition: Any) -> Event | None:
    query = select(events).where(condition).order_by(events.c.event_id.desc())
    row = connection.execute(query.limit(1)).mappings().first()
    return None if row is None else _event(row)


def _check(review: Review, new: NewEvent) -> None:
    if new.item_digest not in review.items:
        raise ReviewError(f"{review.review_id}: item {new.item_digest[:12]!r}; expected one of this review")
    if new.kind in ("label", "adjudicate") and new.label not in review.scale:
        raise ReviewError(f"{review.review_id}: label {new.label!r}; expected one of {list(review.scale.labels)}")


def _check_undo(target: Event | None, new: NewEvent) -> None:
    """A rater takes back own decisions alone."""
    if target is None or target.rater != new.rater or target.item_digest != new.item_digest:
        raise ReviewError(f"undo: event {new.undoes}; expected a decision of {new.rater!r} on this item")
    if target.kind not in UNDOABLE:
        raise ReviewError(f"undo: event {new.undoes} is a {target.kind}; expected one of {list(UNDOABLE)}")


def _row(review: Review, new: NewEvent) -> dict[str, Any]:
    return {
        "token": new.token,
        "review_id": review.review_id,
        "protocol": review.protocol,
        "rater": _storable(new.rater),
        "item_digest": new.item_digest,
        "kind": new.kind,
        "label": new.label,
        "note": None if new.note is None else _storable(new.note),
        "disputed": new.disputed,
        "blind": new.blind,
        "undoes": new.undoes,
        "created_at": new.created_at or _now(),
    }


def _event(row: RowMapping) -> Event:
    values = {name: row[name] for name in Event.__dataclass_fields__}
    # An earlier version stored notes with nulls, and files with one cannot be imported.
    return Event(**{**values, "note": row["note"] and row["note"].replace("\0", "")})


def _storable(text: str) -> str:
    """Text without lone surrogates, which no database takes, and without nulls, which no file of labels does."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
