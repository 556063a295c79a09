"""Whether a grader keeps rules: limits on what it does, and no worse than a baseline on the same items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.gate_rules import NotWorse, Rule, keeps
from experiments.analyses.graded_samples import GradedSample, match_samples, positive_of, wrong_shares
from experiments.reports.exact_sample import ExactSample
from experiments.reports.measures import agreement_fields, alpha_fields, error_rate_fields, repeat_fields
from experiments.reports.sample import Sample
from experiments.stats.comparisons import MarginTest, non_inferiority_test
from experiments.stats.estimate import Estimate
from experiments.stats.intervals import clustered_wilson
from experiments.stats.repeats.inconsistency import item_disagreement

__all__ = [
    "BaselineCheck",
    "Gate",
    "Measured",
    "Outcome",
    "RuleCheck",
    "check_gate",
    "check_not_worse",
    "check_rule",
    "item_values",
    "measure",
    "total_outcome",
]

Outcome = Literal["pass", "fail", "undecided"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure with its interval, and what missing verdicts could make of it.

    ``coverage`` is that of the items that the measure is over; ``bounds`` are the error rate with all missing
    verdicts right and all wrong, ``None`` where none is missing or it is no false negative or positive rate.
    ``reason`` says why there is no value.
    """

    name: str
    estimate: Estimate
    coverage: float | None
    bounds: tuple[float, float] | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """A rule on one grader: what was measured, the outcome, and why."""

    rule: Rule
    measured: Measured
    outcome: Outcome
    why: str


@dataclass(frozen=True, slots=True)
class BaselineCheck:
    """A margin against the baseline on the ``n_common`` items that both runs judged.

    Labels are those of the run that is checked; ``n_relabelled`` counts common items to which the baseline's run
    has another label.
    """

    rule: NotWorse
    test: MarginTest
    n_common: int
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
        rules=tuple(check_rule(rule, measure(graded, rule.name, level=level)) for rule in rules),
        comparisons=()
        if baseline is None
        else tuple(check_not_worse(rule, graded.sample, baseline.sample, level=level) for rule in not_worse),
    )


def total_outcome(outcomes: Sequence[Outcome]) -> Outcome:
    """``fail`` if any is, else ``undecided`` if any is, else ``pass``."""
    if "fail" in outcomes:
        return "fail"
    return "undecided" if "undecided" in outcomes else "pass"


def check_rule(rule: Rule, measured: Measured) -> RuleCheck:
    """Hold a measure against a rule.

    ``upper(x) <= L`` and ``lower(x) >= L`` ask that the whole interval keep the limit: it passes, or fails where the
    whole interval lies beyond, and is undecided where it reaches across. ``lower(x) <= L`` and ``upper(x) >= L`` ask
    only that a breach is not shown, and ``value(x)`` looks at the value alone: these are always decided.
    """
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


def measure(graded: GradedSample, name: str, *, level: float) -> Measured:
    """One measure of a grader, the same digits as its report has.

    Raises
    ------
    SpecError
        For an error rate where the scale names no label as right.
    """
    return _MEASURES[name](graded, name, level)


def _error(graded: GradedSample, name: str, level: float) -> Measured:
    positive_of(graded.sample)
    fields, reasons = error_rate_fields(graded.sample, level=level)
    bounds = fields[f"{name}_bounds"]
    return Measured(
        name,
        Estimate(**fields[name]),
        fields["rate_coverage"][name],
        (bounds[0], bounds[1]) if bounds else None,
        reasons.get(name),
    )


def _error_rate(graded: GradedSample, name: str, level: float) -> Measured:
    labelled = graded.sample.labelled
    wrong = wrong_shares(labelled, labelled.reference)
    return Measured(name, _mean(labelled, wrong, level), labelled.coverage, None, "no labelled item with a verdict")


def _repeats(graded: GradedSample, name: str, level: float) -> Measured:
    fields, reasons = repeat_fields(graded.sample, level=level)
    return Measured(name, Estimate(**fields[name]), graded.sample.coverage, None, reasons.get(name))


def _alpha(graded: GradedSample, name: str, level: float) -> Measured:
    fields, reasons = alpha_fields(graded.sample, level=level, seed=graded.seed)
    return Measured(name, Estimate(**fields[name]), graded.sample.coverage, None, reasons.get(name))


def _kappa(graded: GradedSample, name: str, level: float) -> Measured:
    fields, reasons = agreement_fields(graded.sample, level=level, seed=graded.seed)
    estimate = Estimate(**fields["agreement"]["cohen_kappa"])
    return Measured(name, estimate, graded.sample.labelled.coverage, None, reasons.get("agreement.cohen_kappa"))


def _coverage(graded: GradedSample, name: str, level: float) -> Measured:
    sample = graded.sample
    shares = sample.valid / sample.expected
    asked = shares if name == "coverage" else 1 - shares
    estimate = clustered_wilson(asked, sample.clusters, repeats=sample.expected, level=level)
    return Measured(name, estimate, sample.coverage, None, "no items")


_MEASURES: Mapping[str, Callable[[GradedSample, str, float], Measured]] = {
    "false_negative_rate": _error,
    "false_positive_rate": _error,
    "error_rate": _error_rate,
    "flip_rate": _repeats,
    "pairwise_disagreement": _repeats,
    "coverage": _coverage,
    "failure_rate": _coverage,
    "alpha_repeats": _alpha,
    "kappa": _kappa,
}


def _mean(sample: Sample, values: NDArray[np.float64], level: float) -> Estimate:
    used = np.flatnonzero(~np.isnan(values))
    clusters = [sample.clusters[row] for row in used]
    repeats = sample.draws if isinstance(sample, ExactSample) else int(sample.valid[used].max(initial=0))
    return clustered_wilson(values[used], clusters, repeats=repeats, level=level)


def check_not_worse(rule: NotWorse, sample: Sample, baseline: Sample, *, level: float) -> BaselineCheck:
    """Non-inferiority on the items that both judged, matched by content: one one-sided test at ``level``.

    It passes where the difference is shown to be below the margin, fails where it is shown to be above, and is
    undecided in between.
    """
    ours, other = match_samples(sample, baseline)
    first, second = item_values(ours, ours.reference, rule.name), item_values(other, ours.reference, rule.name)
    test = non_inferiority_test(
        first,
        second,
        ours.clusters,
        margin=rule.margin,
        lower_is_better=True,
        level=level,
        repeats=max(ours.most_repeats, other.most_repeats),
    )
    relabelled = sum(one != two for one, two in zip(ours.reference, other.reference, strict=True))
    outcome, why = _judge_margin(test)
    return BaselineCheck(rule, test, ours.n_items, relabelled, outcome, why)


def _judge_margin(test: MarginTest) -> tuple[Outcome, str]:
    if test.passed is None:
        return "undecided", "no item that both have a number for"
    if test.passed:
        return "pass", "shown to be worse by less than the margin, or better"
    if test.estimate.low is not None and test.estimate.low > test.margin:
        return "fail", "shown to be worse by more than the margin"
    return "undecided", "the interval reaches across the margin"


def item_values(sample: Sample, reference: Sequence[str | None], name: str) -> NDArray[np.float64]:
    """(n,) an item's share behind one of :data:`~experiments.analyses.gate_rules.COMPARED`, NaN where it has none."""
    if name == "failure_rate":
        return np.asarray(1 - sample.valid / sample.expected, dtype=np.float64)
    if name == "pairwise_disagreement":
        return _disagreements(sample)
    wrong = wrong_shares(sample, reference)
    if name == "error_rate":
        return wrong
    right = np.array([label == positive_of(sample) for label in reference], dtype=bool)
    return np.asarray(np.where(right == (name == "false_negative_rate"), wrong, np.nan), dtype=np.float64)


def _disagreements(sample: Sample) -> NDArray[np.float64]:
    if isinstance(sample, ExactSample):
        return np.asarray(1 - (sample.shares**2).sum(axis=1), dtype=np.float64)
    values = np.full(sample.n_items, np.nan)
    repeated = sample.valid >= 2
    values[repeated] = item_disagreement(sample.counts[repeated])
    return values
