"""A grader against people: error rates, their bounds and parts, majorities, the confusion matrix."""

from experiments.stats.errors.confusion import ConfusionMatrix, confusion_matrix
from experiments.stats.errors.error_bounds import BoundedErrorRates, BoundedRate, bounded_error_rates
from experiments.stats.errors.error_split import ErrorSplit, ErrorSplits, error_split, split_wrong_verdicts
from experiments.stats.errors.majority import MajorityErrorRates, majority_curve, majority_error_rates
from experiments.stats.errors.rates import (
    ErrorRateBounds,
    coverage,
    error_rate_bounds,
    false_negative_rate,
    false_positive_rate,
)
from experiments.stats.errors.weighted_rate import kish_size, weighted_rate

__all__ = [
    "BoundedErrorRates",
    "BoundedRate",
    "ConfusionMatrix",
    "ErrorRateBounds",
    "ErrorSplit",
    "ErrorSplits",
    "MajorityErrorRates",
    "bounded_error_rates",
    "confusion_matrix",
    "coverage",
    "error_rate_bounds",
    "error_split",
    "false_negative_rate",
    "false_positive_rate",
    "kish_size",
    "majority_curve",
    "majority_error_rates",
    "split_wrong_verdicts",
    "weighted_rate",
]
