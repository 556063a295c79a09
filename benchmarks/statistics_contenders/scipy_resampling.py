"""scipy.stats.bootstrap and permutation_test on sums by question, vectorised, with batches that fit the memory."""

from __future__ import annotations

import argparse

import numpy as np
from scipy import stats
from verdicts import GRADERS, PAIRS, Contest, Row, run_contender, wrong_shares

CELLS = 5_000_000


def contest(stored: dict[str, np.ndarray], options: argparse.Namespace) -> Contest:
    wrong, rng = wrong_shares(stored), np.random.default_rng(1)
    questions, reference = stored["questions"], stored["reference"]
    rates = []
    for place in range(options.rates):
        row = reference if place < GRADERS else ~reference
        rates.append(interval(*by_question(wrong[place % GRADERS, row], questions[row]), options.resamples, rng))
    differences, p_values = [], []
    for first, second in PAIRS[: options.pairs]:
        sums, sizes = by_question(wrong[first] - wrong[second], questions)
        differences.append(interval(sums, sizes, options.resamples, rng))
        flipped = stats.permutation_test(
            (sums,),
            np.sum,
            permutation_type="samples",
            vectorized=True,
            n_resamples=options.resamples,
            batch=max(1, CELLS // len(sums)),
            rng=rng,
        )
        p_values.append(flipped.pvalue)
    return rates, differences, p_values


def by_question(values: np.ndarray, questions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    _, codes = np.unique(questions, return_inverse=True)
    return np.bincount(codes, weights=values), np.bincount(codes).astype(float)


def interval(sums: np.ndarray, sizes: np.ndarray, resamples: int, rng: np.random.Generator) -> Row:
    drawn = stats.bootstrap(
        (sums, sizes),
        ratio,
        paired=True,
        vectorized=True,
        n_resamples=resamples,
        batch=max(1, CELLS // len(sums)),
        method="percentile",
        rng=rng,
    ).confidence_interval
    return sums.sum() / sizes.sum(), drawn.low, drawn.high


def ratio(sums: np.ndarray, sizes: np.ndarray, axis: int) -> np.ndarray:
    return np.asarray(sums.sum(axis=axis) / sizes.sum(axis=axis))


run_contender(contest)
