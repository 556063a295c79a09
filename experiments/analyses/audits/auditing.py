"""The error rate of a question set against a threshold, from an audited random sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from calibration_sets.audit.audit_folder import SOUND, AuditCounts
from experiments.stats.estimate import Estimate
from experiments.stats.intervals.rate_intervals import rate_interval

__all__ = ["Audit", "AuditRule", "judge_audit"]

Outcome = Literal["pass", "fail", "undecided"]


@dataclass(frozen=True, slots=True)
class AuditRule:
    """The error rate that a set may have, and when a sample is extended and to how many."""

    threshold: float = 0.2
    level: float = 0.95
    extend_from: float = 0.15
    extend_to: float = 0.25
    extended_size: int = 100


@dataclass(frozen=True, slots=True)
class Audit:
    """An audit's rate and what it comes to.

    ``pass`` is a rate below the threshold, ``fail`` one above, each by its whole interval. ``n_more`` is how many more
    labels would decide if the rate stayed as it is; the whole set always does. ``extend`` says that the rule asks for
    the larger sample.
    """

    counts: AuditCounts
    rule: AuditRule
    rate: Estimate
    outcome: Outcome
    extend: bool
    n_more: int | None


def judge_audit(counts: AuditCounts, rule: AuditRule) -> Audit:
    """Judge a set by its audited sample.

    Each topic has its share of the sample, so the plain share of faults is the set's; the exact interval
    (Clopper-Pearson) takes no credit for the strata or for the set being finite: it is rather too wide than
    too narrow.
    Where the whole set is labelled, there is nothing to infer: the interval is the rate.
    """
    n = sum(counts.labels.values())
    faults = n - counts.labels.get(SOUND, 0)
    rate = _rate(faults, n, counts.n_population, rule)
    outcome = _outcome(rate, rule)
    near = rate.value is not None and rule.extend_from <= rate.value <= rule.extend_to
    room = n + counts.n_open < min(rule.extended_size, counts.n_population)
    n_more = _n_more(faults, n, counts.n_population, rule) if outcome == "undecided" else None
    return Audit(counts, rule, rate, outcome, extend=near and room, n_more=n_more)


def _rate(faults: int, n: int, n_population: int, rule: AuditRule) -> Estimate:
    if n and n == n_population:
        share = faults / n
        return Estimate(share, share, share, rule.level, "all questions labelled", n, n, 1)
    marks = [1.0] * faults + [0.0] * (n - faults)
    return rate_interval(marks, range(n), repeats=1, level=rule.level, method="clopper-pearson")


def _outcome(rate: Estimate, rule: AuditRule) -> Outcome:
    if rate.low is None or rate.high is None:
        return "undecided"
    if rate.low == rate.high:
        return "fail" if rate.low > rule.threshold else "pass"
    if rate.high < rule.threshold:
        return "pass"
    return "fail" if rate.low > rule.threshold else "undecided"


def _n_more(faults: int, n: int, n_population: int, rule: AuditRule) -> int | None:
    """How many more labels decide at this rate, found by halving: more never decide less, rounding aside."""
    if not n:
        return None

    def decides(size: int) -> bool:
        rate = _rate(round(faults * size / n), size, n_population, rule)
        return size >= n_population or _outcome(rate, rule) != "undecided"

    low, high = n, n_population
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high - n
