"""Whether a grader keeps rules: limits on what it does, and no worse than a baseline on the same items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.completing import complete_sample
from experiments.analyses.gates.gate_rules import NotWorse, Rule, keeps
from experiments.analyses.graded_samples import GradedSample, match_samples
from experiments.analyses.measuring import Measured, item_values, measure
from experiments.analyses.score_values import SCORE_SIZES, score_span
from experiments.reports.sample import Sample
from experiments.stats.comparisons import MarginTest, non_inferiority_test
from experiments.stats.estimate import Estimate

__all__ = [
    "BaselineCheck",
    "Gate",
    "Outcome",
    "RuleCheck",
    "check_gate",
    "check_not_worse",
    "check_rule",
    "total_outcome",
]

Outcome = Literal["pass", "fail", "undecided"]
"""What a gate says of a rule; ``undecided`` where the data allow both."""

_ABOUT_MISSING = ("coverage", "failure_rate")
_OVERTURNED = "the missing verdicts could overturn that"


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """A rule on one grader: what was measured, the outcome, and why."""

    rule: Rule
    measured: Measured
    outcome: Outcome
    why: str


@dataclass(frozen=True, slots=True)
class BaselineCheck:
    """A margin against the baseline on the ``n_common`` of this run's ``n_items`` that are in both runs.

    The rule is about ``n_about`` of the common ones; ``n_without`` of these have no verdict (or too few) of this
    grader and ``n_without_baseline`` none of the baseline's, and either is enough to leave an item out. ``worst`` is
    the test with this grader's missing verdicts as bad and the baseline's as good as they could have been, ``None``
    where none is missing. Labels are those of the run that is checked; ``n_relabelled`` counts common items to which
    the baseline's run has another label.
    """

    rule: NotWorse
    test: MarginTest
    worst: MarginTest | None
    n_items: int
    n_common: int
    n_about: int
    n_without: int
    n_without_baseline: int
    n_relabelled: int
    outcome: Outcome
    why: str


@dataclass(frozen=True, slots=True)
class Gate:
    """All rules of one grader and what they come to: a failure fails all, else an undecided rule leaves all so.

    A pass asks for every rule (an intersection-union test), so no level is adjusted for their number.
    """

    run_id: str
    grader: str
    baseline: tuple[str, str] | None
    level: float
    n_items: int
    n_labelled: int
    n_expected: int
    n_verdicts: int
    failures: Mapping[str, int]
    rules: tuple[RuleCheck, ...]
    comparisons: tuple[BaselineCheck, ...]

    @property
    def checks(self) -> list[RuleCheck | BaselineCheck]:
        """Every rule that was checked, limits first."""
        return [*self.rules, *self.comparisons]

    @property
    def outcome(self) -> Outcome:
        """``pass``, ``fail`` or ``undecided``."""
        return total_outcome([check.outcome for check in self.checks])


def check_gate(
    graded: GradedSample,
    rules: Sequence[Rule],
    *,
    level: float,
    baseline: GradedSample | None = None,
    not_worse: Sequence[NotWorse] = (),
) -> Gate:
    """Check a grader against rules and, where there is a baseline, against margins.

    Parameters
    ----------
    graded
        The grader.
    rules
        Limits on its measures.
    level
        Of the two-sided intervals whose ends rules are about, and of the one-sided tests against the baseline.
    baseline, not_worse
        The grader of another run, and margins within which the first may be worse.
    """
    sample = graded.sample
    ruled = any(rule.name in _ABOUT_MISSING for rule in rules)
    return Gate(
        run_id=graded.run_id,
        grader=graded.name,
        baseline=None if baseline is None else (baseline.run_id, baseline.name),
        level=level,
        n_items=sample.n_items,
        n_labelled=sample.labelled.n_items,
        n_expected=sample.n_expected,
        n_verdicts=sample.n_verdicts,
        failures=sample.failure_counts,
        rules=tuple(check_rule(rule, measure(graded, rule.name, level=level), missing_ruled=ruled) for rule in rules),
        comparisons=()
        if baseline is None
        else tuple(
            check_not_worse(rule, graded.sample, baseline.sample, level=level, missing_ruled=ruled)
            for rule in not_worse
        ),
    )


def total_outcome(outcomes: Sequence[Outcome]) -> Outcome:
    """``fail`` if any is, else ``undecided`` if any is, else ``pass``."""
    if "fail" in outcomes:
        return "fail"
    return "undecided" if "undecided" in outcomes else "pass"


def check_rule(rule: Rule, measured: Measured, *, missing_ruled: bool = False) -> RuleCheck:
    """Hold a measure against a rule.

    ``upper(x) <= L`` and ``lower(x) >= L`` ask that the whole interval keep the limit: it passes, or fails where the
    whole interval lies beyond, and is undecided where it reaches across. ``lower(x) <= L`` and ``upper(x) >= L`` ask
    only that a breach is not shown, and ``value(x)`` looks at the value alone.

    What passes has to pass whatever the missing verdicts would have been, or it is undecided; with ``missing_ruled``,
    where another rule says how many may be missing, it passes and the reason says so.
    """
    found = _check_rule(rule, measured)
    if found.outcome != "pass" or measured.within is None or all(_keeps(rule, one) for one in measured.within):
        return found
    outcome, why = _overturned(found.why, missing_ruled=missing_ruled)
    return replace(found, outcome=outcome, why=why)


def _keeps(rule: Rule, estimate: Estimate) -> bool:
    end = {"value": estimate.value, "lower": estimate.low, "upper": estimate.high}[rule.end]
    return end is not None and keeps(rule.sign, end, rule.limit)


def _overturned(why: str, *, missing_ruled: bool) -> tuple[Outcome, str]:
    if missing_ruled:
        return "pass", f"{why}; {_OVERTURNED}, and a rule says how many may be missing"
    return "undecided", f"by the verdicts that came {why}, but {_OVERTURNED}"


def _check_rule(rule: Rule, measured: Measured) -> RuleCheck:
    estimate = measured.estimate
    if estimate.value is None:
        return RuleCheck(rule, measured, "undecided", f"not defined: {measured.reason or 'no items'}")
    if rule.end == "value":
        return _check_value(rule, measured, estimate.value)
    if estimate.low is None or estimate.high is None:
        return RuleCheck(rule, measured, "undecided", "the value has no interval")
    end, other = (estimate.high, estimate.low) if rule.end == "upper" else (estimate.low, estimate.high)
    whole = (rule.end == "upper") == (rule.sign in ("<=", "<"))
    if keeps(rule.sign, end, rule.limit):
        return RuleCheck(rule, measured, "pass", "the whole interval keeps it" if whole else "no breach is shown")
    if whole and keeps(rule.sign, other, rule.limit):
        return RuleCheck(rule, measured, "undecided", "the interval reaches across the limit")
    return RuleCheck(rule, measured, "fail", "the whole interval is beyond the limit")


def _check_value(rule: Rule, measured: Measured, value: float) -> RuleCheck:
    estimate = measured.estimate
    outcome: Outcome = "pass" if keeps(rule.sign, value, rule.limit) else "fail"
    if estimate.low is None or estimate.high is None:
        return RuleCheck(rule, measured, outcome, "by the value alone, which has no interval")
    across = keeps(rule.sign, estimate.low, rule.limit) != keeps(rule.sign, estimate.high, rule.limit)
    why = "by the value alone; its interval reaches across the limit" if across else "by the value and its interval"
    return RuleCheck(rule, measured, outcome, why)


def check_not_worse(
    rule: NotWorse, sample: Sample, baseline: Sample, *, level: float, missing_ruled: bool = False
) -> BaselineCheck:
    """Non-inferiority on the items that both judged, matched by content: one one-sided test at ``level``.

    It passes where the difference is shown to be below the margin, fails where it is shown to be above, and is
    undecided in between. What passes has to pass also with this grader's missing verdicts wrong and the baseline's
    right; ``missing_ruled`` as in :func:`check_rule`.
    """
    ours, other = match_samples(sample, baseline)
    came, complete = _values(rule, ours, other), _completed_values(rule, ours, other)
    about = ~np.isnan(complete).any(axis=0)
    test = _test(rule, ours, other, came, level=level)
    worst = None if np.array_equal(came, complete, equal_nan=True) else _test(rule, ours, other, complete, level=level)
    outcome, why = _judge_margin(test)
    if outcome == "pass" and worst is not None and not worst.passed:
        outcome, why = _overturned(why, missing_ruled=missing_ruled)
    return BaselineCheck(
        rule=rule,
        test=test,
        worst=worst,
        n_items=sample.n_items,
        n_common=ours.n_items,
        n_about=int(about.sum()),
        n_without=int((np.isnan(came[0]) & about).sum()),
        n_without_baseline=int((np.isnan(came[1]) & about).sum()),
        n_relabelled=sum(one != two for one, two in zip(ours.reference, other.reference, strict=True)),
        outcome=outcome,
        why=why,
    )


def _values(rule: NotWorse, ours: Sample, other: Sample) -> NDArray[np.float64]:
    """(2, n) both graders' numbers of each item, by the labels of the run that is checked."""
    return np.stack([item_values(sample, ours.reference, rule.name) for sample in (ours, other)])


def _completed_values(rule: NotWorse, ours: Sample, other: Sample) -> NDArray[np.float64]:
    """The numbers as if every verdict had come: this grader's for the worse, the baseline's for the better."""
    if rule.name in _ABOUT_MISSING:
        return _values(rule, ours, other)
    worse = complete_sample(ours, ours.reference, rule.name, worse=True)
    return _values(rule, worse, complete_sample(other, ours.reference, rule.name, worse=False))


def _test(rule: NotWorse, ours: Sample, other: Sample, values: NDArray[np.float64], *, level: float) -> MarginTest:
    return non_inferiority_test(
        values[0],
        values[1],
        ours.clusters,
        margin=rule.margin,
        lower_is_better=True,
        level=level,
        bound=score_span(ours) if rule.name in SCORE_SIZES else 1.0,
        repeats=max(ours.most_repeats, other.most_repeats),
    )


def _judge_margin(test: MarginTest) -> tuple[Outcome, str]:
    if test.passed is None:
        return "undecided", "no item that both have a number for"
    if test.passed:
        return "pass", "it is shown to be worse by less than the margin, or better"
    if test.estimate.low is not None and test.estimate.low > test.margin:
        return "fail", "shown to be worse by more than the margin"
    return "undecided", "the interval reaches across the margin"
