"""evalstats: ``robustness_metrics`` for rates, ``all_pairwise`` for sign flips with a percentile interval.

It knows items and runs but no questions above the items, so it draws and flips items. It is given the means over runs,
which is its quicker way: with the runs it would draw these too.
"""

from __future__ import annotations

import argparse

import evalstats
import numpy as np
from verdicts import GRADERS, PAIRS, Contest, run_contender, wrong_shares


def contest(stored: dict[str, np.ndarray], options: argparse.Namespace) -> Contest:
    wrong, rng = wrong_shares(stored), np.random.default_rng(1)
    labels = [f"grader {number}" for number in range(GRADERS)]
    rates = []
    for start, row in (0, stored["reference"]), (GRADERS, ~stored["reference"]):
        wanted = min(GRADERS, max(0, options.rates - start))
        if wanted:
            table = evalstats.robustness_metrics(
                wrong[:wanted, row],
                labels[:wanted],
                n_bootstrap=options.resamples,
                rng=rng,
                alpha=0.05,
                marginal_method="bootstrap",
            )
            rates += list(zip(table.mean, table.ci_low, table.ci_high, strict=True))
    if not options.pairs:
        return rates, [], []
    if options.pairs < len(PAIRS):
        compared = [
            evalstats.pairwise_differences(
                wrong, first, second, method="permutation", n_bootstrap=options.resamples, rng=rng
            )
            for first, second in PAIRS[: options.pairs]
        ]
    else:
        matrix = evalstats.all_pairwise(
            wrong,
            labels,
            method="permutation",
            n_bootstrap=options.resamples,
            correction="none",
            rng=rng,
            simultaneous_ci=False,
            p_test="ci",
        )
        compared = [matrix.get(labels[first], labels[second]) for first, second in PAIRS]
    return rates, [(pair.point_diff, pair.ci_low, pair.ci_high) for pair in compared], [p.p_value for p in compared]


run_contender(contest)
