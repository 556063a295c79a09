"""Ours: rates by ``rate_interval``, all differences from one set of drawn questions, p-values by ``compare_all``."""

from __future__ import annotations

import argparse

import numpy as np
from verdicts import GRADERS, PAIRS, Contest, Row, run_contender, wrong_shares

from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, percentile_interval, sum_by_cluster
from experiments.stats.comparisons.paired_comparison import compare_all
from experiments.stats.intervals.rate_intervals import rate_interval


def contest(stored: dict[str, np.ndarray], options: argparse.Namespace) -> Contest:
    wrong, rng = wrong_shares(stored), np.random.default_rng(1)
    rates = [rate(wrong, stored, place, options.resamples, rng) for place in range(options.rates)]
    if not options.pairs:
        return rates, [], []
    clusters = stored["questions"]
    compared = compare_all(
        wrong.T,
        clusters.tolist(),
        names=[f"grader {number}" for number in range(GRADERS)],
        rng=rng,
        resamples=options.resamples,
        repeats=stored["verdicts"].shape[2],
    )
    sums = sum_by_cluster(np.column_stack([*wrong, np.ones(len(clusters))]), clusters)
    drawn = bootstrap_sums(sums, rng=rng, resamples=options.resamples)
    errors = drawn[:, :-1] / drawn[:, -1:]
    differences = []
    for pair, (first, second) in zip(compared, PAIRS, strict=True):
        low, high = percentile_interval(errors[:, first] - errors[:, second], level=0.95) or (np.nan, np.nan)
        value = pair.difference.estimate.value
        differences.append((np.nan if value is None else value, low, high))
    return rates, differences, [pair.difference.p_value or np.nan for pair in compared]


def rate(wrong: np.ndarray, stored: dict[str, np.ndarray], place: int, resamples: int, rng: np.random.Generator) -> Row:
    row = stored["reference"] if place < GRADERS else ~stored["reference"]
    estimate = rate_interval(
        wrong[place % GRADERS, row],
        stored["questions"][row].tolist(),
        repeats=stored["verdicts"].shape[2],
        method="bootstrap-percentile",
        rng=rng,
        resamples=resamples,
    )
    assert estimate.value is not None and estimate.low is not None and estimate.high is not None
    return estimate.value, estimate.low, estimate.high


run_contender(contest)
