"""Who does what in a run, as a section of its page, and as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from experiments.reports.call_times import seconds_text
from experiments.reports.document import Paragraph, Section, Table
from experiments.store.worker_listing import WorkerState

__all__ = ["workers_fields", "workers_section"]

_COLUMNS = ("worker", "machine", "state", "grader", "claimed", "delivered", "failed", "last heard of")


def workers_section(workers: Sequence[WorkerState], numbers: Mapping[str, int]) -> Section:
    """The workers in a table, a row for each grader that one has to do with.

    Parameters
    ----------
    numbers
        Grader's id to its number in the page.
    """
    if not workers:
        return Section("Who is at work", 2, (Paragraph("Nobody has worked for it."),))
    rows = tuple(row for worker in workers for row in _rows(worker, numbers))
    note = (
        "Claimed counts items that a worker asks about, delivered verdicts that it stored, failed calls that went "
        "wrong for good. Claims of a worker that is silent for longer than its lease are taken over by others."
    )
    return Section("Who is at work", 2, (Table(_COLUMNS, rows, n_text=4, breaks=(7,)), Paragraph(note, once=True)))


def _rows(worker: WorkerState, numbers: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    about: tuple[str, ...] = (worker.name, f"{worker.machine}, process {worker.pid}", worker.status)
    heard = "now" if worker.seconds_silent < 1 else f"{seconds_text(worker.seconds_silent)} ago"
    for grader_id in _graders(worker, numbers) or [""]:
        yield (
            *about,
            str(numbers.get(grader_id, "-")),
            *(f"{counts.get(grader_id, 0):,}" for counts in (worker.n_claimed, worker.n_delivered, worker.n_failed)),
            heard,
        )
        about, heard = ("", "", ""), ""


def _graders(worker: WorkerState, numbers: Mapping[str, int]) -> list[str]:
    return [one for one in numbers if one in worker.n_claimed or one in worker.n_delivered]


def workers_fields(workers: Sequence[WorkerState]) -> list[dict[str, Any]]:
    """The workers as plain values; times are ISO 8601 in UTC, by the server's clock."""
    return [
        {
            "name": worker.name,
            "machine": worker.machine,
            "process": worker.pid,
            "state": worker.status,
            "joined_at": _moment(worker.joined_at),
            "last_heard_of_at": _moment(worker.beat_at),
            "seconds_silent": round(worker.seconds_silent, 3),
            "items_claimed": dict(sorted(worker.n_claimed.items())),
            "verdicts_delivered": dict(sorted(worker.n_delivered.items())),
            "calls_failed": dict(sorted(worker.n_failed.items())),
        }
        for worker in workers
    ]


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
