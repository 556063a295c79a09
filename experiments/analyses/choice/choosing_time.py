"""How long the verdicts of a choice's candidates took: a section of the page, and plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.analyses.choice.candidates import Candidate
from experiments.reports.call_times import NOT_RECORDED, pace_text, seconds_text, time_fields, untimed_text
from experiments.reports.document import Paragraph, Section, Table
from experiments.reports.figures import DASH

__all__ = ["candidate_time_fields", "time_section"]

_COLUMNS = ("grader", "1,000 verdicts", "median call", "95% of calls within", "replies a second", "without a time")
_ABOUT = (
    "1,000 verdicts: the seconds of the calls that brought them, one after another, also of those whose reply is no "
    "usable verdict; waiting for a limit and calls that failed are not in it. A call takes longer the more others are "
    "under way. Replies a second: by the wall clock of the grader's sessions, with the calls that went on side by "
    "side, all waiting and all failures. Without a time: replies of batch jobs, recordings, imports and earlier "
    "versions, of all. A panel takes the sum of its members', a cascade all repeats of its first grader and the "
    "second for the share passed on."
)

_NOTHING = "Time is not recorded: the replies are of batch jobs, recordings, imports or earlier versions."


def time_section(candidates: Sequence[Candidate]) -> Section:
    """What each candidate's verdicts took."""
    if all(one.thousand_seconds is None and one.times.pace is None for one in candidates):
        return Section("Time", 2, (Paragraph(_NOTHING),))
    return Section("Time", 2, (Table(_COLUMNS, tuple(map(_row, candidates))), Paragraph(_ABOUT)))


def _row(candidate: Candidate) -> tuple[str, ...]:
    times, thousand = candidate.times, candidate.thousand_seconds
    return (
        candidate.name,
        NOT_RECORDED if thousand is None else seconds_text(thousand),
        seconds_text(times.median),
        seconds_text(times.p95),
        pace_text(times.pace),
        untimed_text(n_timed=times.n_timed, n_untimed=times.n_untimed) if candidate.form == "grader" else DASH,
    )


def candidate_time_fields(candidate: Candidate) -> dict[str, Any]:
    """What is known of the calls; ``None`` of panels and cascades but for the seconds of a thousand verdicts."""
    own = time_fields(candidate.times)
    if candidate.form != "grader":
        own = dict.fromkeys(own)
    return own | {"seconds_of_a_thousand": candidate.thousand_seconds}
