"""The time that a grader's verdicts took: what is known of it, in one value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from experiments.reports.figures import DASH

__all__ = [
    "NOT_RECORDED",
    "GraderTimes",
    "pace_text",
    "seconds_text",
    "sum_call_times",
    "time_fields",
    "times_text",
    "untimed_text",
]

NOT_RECORDED = "not recorded"
"""What stands where nobody timed a call."""

_UNITS = ((1.0, "ms", 1e-3), (120.0, "s", 1.0), (7200.0, "min", 60.0))
"""Below so many seconds a time is told in this unit, of so many seconds."""

_LEAST_SHOWN = 1e-5

_QUANTILES = (0.5 - 1e-9, 0.95 - 1e-9)
"""Weights such as a tenth do not add up to one to the last digit; no quantile may hang on that."""


@dataclass(frozen=True, slots=True)
class GraderTimes:
    """Times of a grader's calls, and of its sessions.

    Attributes
    ----------
    n_timed, n_untimed
        Completions with and without the time of their call. Batch jobs, recordings, imports and stores of earlier
        versions have none.
    n_valid
        Timed completions that are a verdict with a label.
    seconds
        Of all timed calls, one after another: a call that brought several completions counts once.
    median, p95
        Of a call's seconds, each call counted once: the least time that half, and that 95% of the calls, kept.
        ``None`` where no call was timed.
    pace
        Completions a second of the wall clock over the sessions that came to an end; ``None`` where none was noted.
    """

    n_timed: int = 0
    n_untimed: int = 0
    n_valid: int = 0
    seconds: float = 0.0
    median: float | None = None
    p95: float | None = None
    pace: float | None = None

    @property
    def thousand(self) -> float | None:
        """Seconds of calls, one after another, for a thousand valid verdicts.

        Calls whose reply is no usable verdict are in it, as they are in the cost; calls without a reply are not.
        ``None`` where no valid verdict was timed.
        """
        return 1000 * self.seconds / self.n_valid if self.n_valid else None


def sum_call_times(seconds: Sequence[float], shared_by: Sequence[int], *, n_untimed: int) -> GraderTimes:
    """Sum up the times of completions; their order moves no digit.

    Parameters
    ----------
    seconds, shared_by
        For each timed completion the seconds of its call, and how many completions that call brought.
    n_untimed
        Completions without a time.
    """
    if not seconds:
        return GraderTimes(n_untimed=n_untimed)
    # A call's completions together weigh one, also where some of them belong to another run.
    weights = 1.0 / np.asarray(shared_by, dtype=np.float64)
    median, p95 = np.quantile(seconds, _QUANTILES, weights=weights, method="inverted_cdf")
    total = math.fsum(np.asarray(seconds) * weights)
    return GraderTimes(len(seconds), n_untimed, seconds=total, median=float(median), p95=float(p95))


def time_fields(times: GraderTimes) -> dict[str, Any]:
    """The times as plain values."""
    return {"seconds_of_a_thousand": times.thousand, **asdict(times)}


def seconds_text(seconds: float | None) -> str:
    """A time as people read it: ``0.42 ms``, ``3.10 s``, ``12.0 min``, ``2.5 h``; a dash where there is none."""
    if seconds is None:
        return DASH
    if 0 < seconds < _LEAST_SHOWN:
        return "<0.01 ms"
    for below, unit, size in _UNITS:
        if seconds < below:
            number = seconds / size
            return f"{number:.{2 if number < 10 else 1 if number < 100 else 0}f} {unit}"
    return f"{seconds / 3600:,.1f} h"


def pace_text(pace: float | None) -> str:
    """Replies a second; a dash where that is not known."""
    return DASH if pace is None else f"{pace:,.0f}" if pace >= 10 else f"{pace:.2g}"


def untimed_text(*, n_timed: int, n_untimed: int) -> str:
    """How many replies have no time, ``12 of 40``."""
    return f"{n_untimed:,} of {n_timed + n_untimed:,}"


def times_text(fields: Mapping[str, Any]) -> str:
    """The plain values of :func:`time_fields` in one line, without what is not known."""
    thousand, n_timed, n_untimed = (fields[name] for name in ("seconds_of_a_thousand", "n_timed", "n_untimed"))
    parts = [NOT_RECORDED if thousand is None else f"{seconds_text(thousand)} of calls for 1,000 verdicts"]
    if n_timed:
        parts.append(f"a call's median {seconds_text(fields['median'])}, 95% within {seconds_text(fields['p95'])}")
    if fields["pace"] is not None:
        parts.append(f"{pace_text(fields['pace'])} replies a second by the wall clock")
    if n_timed and n_untimed:
        parts.append(f"{untimed_text(n_timed=n_timed, n_untimed=n_untimed)} replies without a time")
    return "; ".join(parts)
