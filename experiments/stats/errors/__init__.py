"""A grader against people: error rates, their bounds and parts, majorities, the confusion matrix."""

from experiments.stats.errors.confidence import ConfidenceCalibration, ReliabilityBin, confidence_calibration
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
from experiments.stats.errors.score_errors import ScoreErrorBounds, ScoreErrors, score_error_bounds, score_errors
from experiments.stats.errors.weighted_rate import kish_size, weighted_rate

__all__ = [
    "BoundedErrorRates",
    "BoundedRate",
    "ConfidenceCalibration",
    "ConfusionMatrix",
    "ErrorRateBounds",
    "ErrorSplit",
    "ErrorSplits",
    "MajorityErrorRates",
    "ReliabilityBin",
    "ScoreErrorBounds",
    "ScoreErrors",
    "bounded_error_rates",
    "confidence_calibration",
    "confusion_matrix",
    "coverage",
    "error_rate_bounds",
    "error_split",
    "false_negative_rate",
    "false_positive_rate",
    "kish_size",
    "majority_curve",
    "majority_error_rates",
    "score_error_bounds",
    "score_errors",
    "split_wrong_verdicts",
    "weighted_rate",
]
