"""Statistics of graders: error rates, self-consistency, agreement, and their intervals.

Pure: plain labels and numbers in, :class:`Estimate` out, randomness only through a passed generator.
"""

from experiments.stats.errors.confusion import ConfusionMatrix, confusion_matrix
from experiments.stats.errors.majority import MajorityErrorRates, majority_error_rates
from experiments.stats.errors.rates import (
    ErrorRateBounds,
    coverage,
    error_rate_bounds,
    false_negative_rate,
    false_positive_rate,
)
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import ScaleLevel
from experiments.stats.intervals.clustered_wilson import (
    clustered_standard_error,
    clustered_wilson,
    few_clusters,
    wilson,
)
from experiments.stats.raters.rater_agreement import Agreement, HumanAgreement, agreement, human_agreement
from experiments.stats.repeats.inconsistency import alpha_repeats, flip_rate, item_entropy, pairwise_disagreement

__all__ = [
    "Agreement",
    "ConfusionMatrix",
    "ErrorRateBounds",
    "Estimate",
    "HumanAgreement",
    "MajorityErrorRates",
    "ScaleLevel",
    "agreement",
    "alpha_repeats",
    "clustered_standard_error",
    "clustered_wilson",
    "confusion_matrix",
    "coverage",
    "error_rate_bounds",
    "false_negative_rate",
    "false_positive_rate",
    "few_clusters",
    "flip_rate",
    "human_agreement",
    "item_entropy",
    "majority_error_rates",
    "pairwise_disagreement",
    "wilson",
]
