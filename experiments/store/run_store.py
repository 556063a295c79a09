"""The store: one file, or one database of a server, that keeps every completion from the moment it is paid for."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, func, literal_column, select

from experiments.errors import StoreError, UnsavedError
from experiments.store.completion_records import dump_completion, dump_usage, load_completion, load_usage, plain_text
from experiments.store.database import NewRows
from experiments.store.open_store import OpenStore
from experiments.store.row_keys import new_key
from experiments.store.run_names import match_run
from experiments.store.schema import BASE_REVISION, has_column
from experiments.store.tables import call_failures, completions, runs, set_snapshots
from graders.verdict import CallFailure, Completion, Usage

__all__ = ["CompletionKey", "RunRecord", "RunStore"]

_ROWS_AT_A_TIME = 1000

_COMPLETION_COLUMNS = ("grader_id", "item_digest", "repeat", "payload", "created_at")
_FAILURE_COLUMNS = (
    "grader_id", "item_digest", "repeat", "reason", "message", "created_at", "usage", "failure_key",
)  # fmt: skip


@dataclass(frozen=True, slots=True, order=True)
class CompletionKey:
    """Item content and repeat: with the grader's id, the key that a completion is paid for under."""

    item_digest: str
    repeat: int


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a run was asked to do, as plain data: ``payload`` describes graders and analyses.

    ``recorded_at`` is when it was first stored (ISO 8601 in UTC), and empty before.
    """

    run_id: str
    payload: Mapping[str, Any]
    recorded_at: str = ""


class RunStore(OpenStore):
    """Durable completions, keyed by grader, item content and repeat, and the runs that use them.

    Opened as :class:`OpenStore` says. Writes are committed one by one with full synchronisation, so a completion that
    :meth:`append` has taken survives the end of the process at any moment. Several processes can use one file, several
    machines one database of a server. Everything is stored as JSON in ASCII, so replies with stray surrogates or NUL
    characters survive too.
    """

    # completions

    def append(self, grader_id: str, key: CompletionKey, answer: Completion | CallFailure) -> None:
        """Make one answer durable.

        A completion is kept once for each key: the first one stands. A call failure is history: it
        never stands in the way of a completion, and its key stays pending.
        """
        self.append_many(grader_id, [(key, answer)])

    def append_many(self, grader_id: str, answers: Iterable[tuple[CompletionKey, Completion | CallFailure]]) -> None:
        """Make several answers durable in one transaction, in their order.

        Raises
        ------
        UnsavedError
            If the store is on a server that stays away: then they are kept in a file of this machine.
        StoreError
            If they cannot be stored at all, or another process has taken a lock that was lost: then they are stored.
        """
        now = _now()
        paid, failed = [], []
        for key, answer in answers:
            if isinstance(answer, Completion):
                paid.append((grader_id, key.item_digest, key.repeat, dump_completion(answer), now))
            else:
                failed.append(_failure_row(grader_id, key, answer, now))
        if not paid and not failed:
            return
        news = [
            NewRows(completions, _COMPLETION_COLUMNS, paid),
            NewRows(call_failures, _FAILURE_COLUMNS, failed),
        ]
        try:
            self._make_current()
            self._database.insert(news)
        except (StoreError, KeyboardInterrupt) as error:
            kept = self._database.rescue(news)
            if kept is None:
                raise
            raise UnsavedError(f"{error if str(error) else 'stopped while the server was away'}; {kept}") from error
        self._database.check_locks()

    def stored_keys(self, grader_id: str) -> set[CompletionKey]:
        """Keys that are paid for."""
        query = select(completions.c.item_digest, completions.c.repeat).where(completions.c.grader_id == grader_id)
        query = query.execution_options(yield_per=_ROWS_AT_A_TIME)
        return self.read(
            lambda connection: {CompletionKey(digest, repeat) for digest, repeat in connection.execute(query)}
        )

    def stored_repeats(self, grader_id: str, item_digests: Sequence[str]) -> Mapping[str, set[int]]:
        """The repeats that are paid for, of some items (at most a few thousand); items without any are left out."""
        table = completions.c
        query = select(table.item_digest, table.repeat).where(
            table.grader_id == grader_id, table.item_digest.in_(item_digests)
        )
        found: dict[str, set[int]] = {}
        for digest, repeat in self._rows(query):
            found.setdefault(digest, set()).add(repeat)
        return found

    def completions(self, grader_id: str) -> Mapping[CompletionKey, Completion]:
        """All completions of a grader."""
        return dict(self.iter_completions(grader_id))

    def iter_completions(self, grader_id: str) -> Iterator[tuple[CompletionKey, Completion]]:
        """The completions of a grader by item and repeat, read as they are asked for and not kept."""
        table = completions.c
        query = (
            select(table.item_digest, table.repeat, table.payload)
            .where(table.grader_id == grader_id)
            .order_by(table.item_digest, table.repeat)
            .execution_options(yield_per=_ROWS_AT_A_TIME)
        )
        with self.reading() as connection:
            for digest, repeat, payload in connection.execute(query):
                with self.damage_named(f"the completion of item {digest}, repeat {repeat}, by grader {grader_id}"):
                    completion = load_completion(payload)
                yield CompletionKey(digest, repeat), completion

    def call_failures(self, grader_id: str) -> Mapping[CompletionKey, CallFailure]:
        """The newest failed call of each key, whether or not a later call succeeded."""
        return dict(self.iter_call_failures(grader_id))

    def iter_call_failures(self, grader_id: str) -> Iterator[tuple[CompletionKey, CallFailure]]:
        """Every failed call of a grader, oldest first."""
        table = call_failures.c
        with self.reading() as connection:
            known = self._revision != BASE_REVISION or has_column(connection, table.usage)
            usage = table.usage if known else literal_column("NULL").label("usage")
            query = (
                select(table.item_digest, table.repeat, table.reason, table.message, usage)
                .where(table.grader_id == grader_id)
                .order_by(table.failure_id)
                .execution_options(yield_per=_ROWS_AT_A_TIME)
            )
            for digest, repeat, reason, message, payload in connection.execute(query):
                with self.damage_named():
                    cost = None if payload is None else load_usage(payload)
                yield CompletionKey(digest, repeat), CallFailure(reason, message, cost)

    def call_failure_counts(self, grader_id: str) -> Counter[str]:
        """How often calls of a grader went wrong, by reason, over its whole history."""
        table = call_failures.c
        query = select(table.reason, func.count()).where(table.grader_id == grader_id).group_by(table.reason)
        return Counter({reason: int(count) for reason, count in self._rows(query)})

    def failed_usage(self, grader_id: str) -> Iterator[Usage | None]:
        """What each failed call of a grader cost, oldest first; ``None`` where that is not known."""
        return (failure.usage for _, failure in self.iter_call_failures(grader_id))

    # runs

    def create_run(self, record: RunRecord, set_payload: Mapping[str, Any]) -> None:
        """Record a run and the set that it judges; recording the same run again changes nothing."""
        dumped = _dump(set_payload)
        snapshot = {"digest": hashlib.sha256(dumped.encode("ascii")).hexdigest(), "payload": dumped}
        run = {
            "run_id": record.run_id,
            "snapshot": snapshot["digest"],
            "payload": _dump(record.payload),
            "created_at": _now(),
        }

        def work(connection: Connection) -> None:
            connection.execute(self.insert_missing(set_snapshots), [snapshot])
            connection.execute(self.insert_missing(runs), [run])

        self.write(work)

    def run_times(self) -> Mapping[str, str]:
        """Ids of all runs, the first recorded first, with the time of that (ISO 8601 in UTC)."""
        query = select(runs.c.run_id, runs.c.created_at).order_by(runs.c.created_at, runs.c.run_id)
        return {row.run_id: row.created_at for row in self._rows(query)}

    def list_runs(self) -> Sequence[tuple[RunRecord, str]]:
        """All runs with the time they were first recorded, oldest first; ``StoreError`` if any is damaged."""
        return [(self.load_run(run_id), created_at) for run_id, created_at in self.run_times().items()]

    def load_run(self, run_id: str) -> RunRecord:
        """The record of a run; ``StoreError`` if it is damaged."""
        (row,) = self._rows(select(runs).where(runs.c.run_id == run_id))
        with self.damage_named(f"the record of run {run_id}"):
            return RunRecord(run_id, dict(json.loads(row.payload).items()), row.created_at)

    def find_run(self, name: str) -> RunRecord:
        """The run that a name means, as :func:`match_run` says; ``StoreError`` if its record is damaged."""
        return self.load_run(match_run(list(self.run_times()), name, where=self.place.name))

    def load_set_snapshot(self, run_id: str) -> Mapping[str, Any]:
        """The set as it was when the run was recorded."""
        query = select(set_snapshots.c.payload).join_from(
            set_snapshots, runs, runs.c.snapshot == set_snapshots.c.digest
        )
        ((payload,),) = self._rows(query.where(runs.c.run_id == run_id))
        with self.damage_named(f"the set of run {run_id}"):
            snapshot: Mapping[str, Any] = json.loads(payload)
        return snapshot

    def count_completions(self) -> int:
        """Number of completions in the store."""
        ((count,),) = self._rows(select(func.count()).select_from(completions))
        return int(count)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _dump(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=True, sort_keys=True)


def _failure_row(grader_id: str, key: CompletionKey, failure: CallFailure, now: str) -> tuple[str | int | None, ...]:
    usage = None if failure.usage is None else dump_usage(failure.usage)
    return grader_id, key.item_digest, key.repeat, failure.reason, plain_text(failure.message), now, usage, new_key()
