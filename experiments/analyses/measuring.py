"""What a rule of a gate can be about: each measure of a grader with its interval, as its report has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.completing import complete_sample
from experiments.analyses.graded_samples import GradedSample, positive_of, wrong_shares
from experiments.analyses.score_values import SCORE_MEASURES, is_scored, score_values
from experiments.reports.exact_sample import ExactSample
from experiments.reports.measures import agreement_fields, alpha_fields, error_rate_fields, repeat_fields
from experiments.reports.sample import Sample
from experiments.reports.score_measures import score_error_fields
from experiments.stats.estimate import Estimate
from experiments.stats.intervals import clustered_wilson
from experiments.stats.repeats.inconsistency import item_disagreement

__all__ = ["Measured", "error_names", "item_values", "measure"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure with its interval, and what missing verdicts could make of it.

    ``coverage`` is that of the items that the measure is over; ``within`` is the measure with the missing verdicts as
    good and as bad as they could have been, ``None`` where none is missing or it is itself about missing ones.
    ``reason`` says why there is no value.
    """

    name: str
    estimate: Estimate
    coverage: float | None
    within: tuple[Estimate, Estimate] | None = None
    reason: str | None = None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The lowest and the highest value that the missing verdicts allow; ``None`` where there are no two."""
        if self.within is None or self.within[0].value is None or self.within[1].value is None:
            return None
        low, high = sorted((self.within[0].value, self.within[1].value))
        return low, high


def measure(graded: GradedSample, name: str, *, level: float) -> Measured:
    """One measure of a grader, the same digits as its report has.

    Raises
    ------
    SpecError
        For an error rate where the scale names no label as right, for an error of scores where labels are no numbers.
    """
    found = _MEASURES[name](graded, name, level)
    if name in _ABOUT_MISSING or found.coverage is None or found.coverage == 1:
        return found
    better, worse = (_MEASURES[name](_completed(graded, name, worse=worse), name, level) for worse in (False, True))
    return replace(found, within=(better.estimate, worse.estimate))


def _completed(graded: GradedSample, name: str, *, worse: bool) -> GradedSample:
    return replace(graded, sample=complete_sample(graded.sample, graded.sample.reference, name, worse=worse))


def _error(graded: GradedSample, name: str, level: float) -> Measured:
    positive_of(graded.sample, name)
    fields, reasons = error_rate_fields(graded.sample, level=level)
    return Measured(name, Estimate(**fields[name]), fields["rate_coverage"][name], None, reasons.get(name))


def _error_rate(graded: GradedSample, name: str, level: float) -> Measured:
    positive_of(graded.sample, name)
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


def _score(graded: GradedSample, name: str, level: float) -> Measured:
    labelled = graded.sample.labelled
    score_values(labelled, labelled.reference, name)  # refuses what is no score
    fields = score_error_fields(graded.sample, level=level) or {}
    return Measured(name, Estimate(**fields[name]), labelled.coverage, None, "no labelled item with a verdict")


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
    **dict.fromkeys(SCORE_MEASURES, _score),
}

_ABOUT_MISSING = ("coverage", "failure_rate")


def _mean(sample: Sample, values: NDArray[np.float64], level: float) -> Estimate:
    used = np.flatnonzero(~np.isnan(values))
    clusters = [sample.clusters[row] for row in used]
    repeats = sample.draws if isinstance(sample, ExactSample) else int(sample.valid[used].max(initial=0))
    return clustered_wilson(values[used], clusters, repeats=repeats, level=level)


def error_names(*samples: Sample) -> tuple[str, ...]:
    """The rates of errors that all these samples have, two of either sort; none where labels allow neither."""
    has_right = all(sample.scale.positive is not None for sample in samples)
    rates = ("false_negative_rate", "false_positive_rate") if has_right else ()
    return (*rates, *(("under_grading", "over_grading") if all(map(is_scored, samples)) else ()))


def item_values(sample: Sample, reference: Sequence[str | None], name: str) -> NDArray[np.float64]:
    """(n,) an item's share behind one of ``gate_rules.COMPARED``, NaN where it has none."""
    if name == "failure_rate":
        return np.asarray(1 - sample.valid / sample.expected, dtype=np.float64)
    if name == "pairwise_disagreement":
        return _disagreements(sample)
    if name in SCORE_MEASURES:
        return score_values(sample, reference, name)
    positive = positive_of(sample, name)
    wrong = wrong_shares(sample, reference)
    if name == "error_rate":
        return wrong
    right = np.array([label == positive for label in reference], dtype=bool)
    return np.asarray(np.where(right == (name == "false_negative_rate"), wrong, np.nan), dtype=np.float64)


def _disagreements(sample: Sample) -> NDArray[np.float64]:
    if isinstance(sample, ExactSample):
        return np.asarray(1 - (sample.shares**2).sum(axis=1), dtype=np.float64)
    values = np.full(sample.n_items, np.nan)
    repeated = sample.valid >= 2
    values[repeated] = item_disagreement(sample.counts[repeated])
    return values
