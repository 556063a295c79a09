"""Intervals for a rate: clustered by question, or of a set of known size."""

from experiments.stats.intervals.bounded_mean import bounded_mean
from experiments.stats.intervals.clustered_wilson import (
    clustered_standard_error,
    clustered_wilson,
    few_clusters,
    wilson,
)
from experiments.stats.intervals.finite_population import FiniteSample, finite_rate_interval, further_labels
from experiments.stats.intervals.rate_intervals import METHODS, RateMethod, rate_interval

__all__ = [
    "METHODS",
    "FiniteSample",
    "RateMethod",
    "bounded_mean",
    "clustered_standard_error",
    "clustered_wilson",
    "few_clusters",
    "finite_rate_interval",
    "further_labels",
    "rate_interval",
    "wilson",
]
