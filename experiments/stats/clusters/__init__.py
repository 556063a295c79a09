"""Sums by question: the bootstrap, robust means and sign flips that other statistics rest on."""

from experiments.stats.clusters.bca_interval import bca_interval
from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, percentile_interval, sum_by_cluster
from experiments.stats.clusters.clustered_mean import clustered_covariance, clustered_mean
from experiments.stats.clusters.sign_flip import SignFlip, sign_flip_tests
from experiments.stats.clusters.student_tests import standard_error, student_p_value

__all__ = [
    "SignFlip",
    "bca_interval",
    "bootstrap_sums",
    "clustered_covariance",
    "clustered_mean",
    "percentile_interval",
    "sign_flip_tests",
    "standard_error",
    "student_p_value",
    "sum_by_cluster",
]
