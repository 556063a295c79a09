"""The error rate of a question set against a threshold, from an audited random sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from calibration_sets.audit.audit_counts import AuditCounts
from calibration_sets.audit.audit_folder import SOUND
from experiments.stats.estimate import Estimate
from experiments.stats.intervals.finite_population import FiniteSample, finite_rate_interval, further_labels

__all__ = ["Audit", "AuditRule", "judge_audit"]

Outcome = Literal["pass", "fail", "undecided"]


@dataclass(frozen=True, slots=True)
class AuditRule:
    """The error rate that a set may have, how near to it a sample is extended, and to how many.

    ``chance`` is that with which the further labels that are told of decide.
    """

    threshold: float = 0.2
    level: float = 0.95
    margin: float = 0.05
    extended_size: int = 100
    chance: float = 0.8


@dataclass(frozen=True, slots=True)
class Audit:
    """An audit's rate and what it comes to.

    ``rate`` is that of the labelled questions. ``low`` and ``high`` are the interval whatever labels the open
    questions of the sample get: that of the whole sample with all of them sound, and with all of them faulty.
    ``pass`` is an interval no larger than the threshold, ``fail`` one above it, each by ``low`` and ``high``.
    ``n_more`` is about how many more labels would decide; the whole set always does. ``extend`` says that the rule
    asks for the larger sample.
    """

    counts: AuditCounts
    rule: AuditRule
    rate: Estimate
    low: float | None
    high: float | None
    outcome: Outcome
    extend: bool
    n_more: int | None


def judge_audit(counts: AuditCounts, rule: AuditRule) -> Audit:
    """Judge a set by its audited sample.

    Each topic has its share of the sample, so the plain share of faults is the set's. The interval is exact for a
    sample from a set of this size; it takes no credit for the strata, which make it rather too wide than too narrow.
    A question without a label counts neither as sound nor as faulty: where it could change the verdict, there is none.
    """
    n = sum(counts.labels.values())
    faults = n - counts.labels.get(SOUND, 0)
    rate = finite_rate_interval(FiniteSample(faults, n, counts.n_population), level=rule.level)
    low, high = _bounds(faults, n, counts, rule) if n else (None, None)
    outcome = _outcome(low, high, rule)
    n_more = _further(faults, n, counts, rule) if n and outcome == "undecided" else None
    return Audit(counts, rule, rate, low, high, outcome, _is_extended(rate, outcome, counts, rule), n_more)


def _bounds(faults: int, n: int, counts: AuditCounts, rule: AuditRule) -> tuple[float | None, float | None]:
    whole = n + counts.n_open
    best = finite_rate_interval(FiniteSample(faults, whole, counts.n_population), level=rule.level)
    worst = finite_rate_interval(FiniteSample(faults + counts.n_open, whole, counts.n_population), level=rule.level)
    return best.low, worst.high


def _outcome(low: float | None, high: float | None, rule: AuditRule) -> Outcome:
    if low is None or high is None:
        return "undecided"
    if high <= rule.threshold:
        return "pass"
    return "fail" if low > rule.threshold else "undecided"


def _is_extended(rate: Estimate, outcome: Outcome, counts: AuditCounts, rule: AuditRule) -> bool:
    """Whether the whole sample is labelled, decides nothing, comes out near the threshold, and can be extended."""
    if rate.value is None or counts.n_open or outcome != "undecided":
        return False
    near = abs(rate.value - rule.threshold) <= rule.margin + 1e-9
    return near and rate.n < min(rule.extended_size, counts.n_population)


def _further(faults: int, n: int, counts: AuditCounts, rule: AuditRule) -> int:
    return further_labels(
        FiniteSample(faults, n, counts.n_population),
        threshold=rule.threshold,
        level=rule.level,
        chance=rule.chance,
        at_least=max(counts.n_open, 1),
    )
