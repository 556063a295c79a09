"""Statistics of graders: error rates, self-consistency, agreement, and their intervals.

Pure: plain labels and numbers in, :class:`Estimate` out, randomness only through a passed generator.
"""

from experiments.stats.confusion import ConfusionMatrix, confusion_matrix
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import ScaleLevel
from experiments.stats.intervals import clustered_standard_error, clustered_wilson, few_clusters, wilson
from experiments.stats.majority import MajorityErrorRates, majority_error_rates
from experiments.stats.rater_agreement import Agreement, HumanAgreement, agreement, human_agreement
from experiments.stats.rates import (
    ErrorRateBounds,
    coverage,
    error_rate_bounds,
    false_negative_rate,
    false_positive_rate,
)
from experiments.stats.repeats import alpha_repeats, flip_rate, item_entropy, pairwise_disagreement

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
