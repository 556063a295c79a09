"""Intervals for a rate, clustered by question."""

from experiments.stats.intervals.bounded_mean import bounded_mean
from experiments.stats.intervals.clustered_wilson import (
    clustered_standard_error,
    clustered_wilson,
    few_clusters,
    wilson,
)
from experiments.stats.intervals.rate_intervals import METHODS, RateMethod, rate_interval

__all__ = [
    "METHODS",
    "RateMethod",
    "bounded_mean",
    "clustered_standard_error",
    "clustered_wilson",
    "few_clusters",
    "rate_interval",
    "wilson",
]
