"""Half squared differences of pairs of scores, by what the two scores have in common.

A score belongs to a grader, an item, the item's question, and a repeat. Two scores differ by everything that they do
not share, so the mean of half their squared difference is a sum of variance components [the symmetric differences of
Koch 1968; U-statistics of Hoeffding 1948]:

=================  ==========  ===========  ================================================================
kind of pair       grader      item         expectation
=================  ==========  ===========  ================================================================
repeat             same        same         R
item               same        same q.      R + GI + I
question           same        other q.     R + GI + I + GQ + Q
grader             other       same         R + GI + GQ + G
grader_item        other       same q.      R + GI + I + GQ + G
grader_question    other       other q.     R + GI + I + GQ + Q + G
=================  ==========  ===========  ================================================================

with G for graders, Q for questions, I for items in a question, GQ and GI for the interactions, and R for repeats. Every
kind is unbiased for any numbers of repeats, items and graders and for missing cells, with any weights of the pairs.
The weights here let a cell (a grader's scores of an item) weigh the same whatever its repeats: a pair of cells adds the
mean over its pairs of scores, ``(u + u') / 2 - y y'`` with y the mean and u the mean square of a cell; within a
question each cell adds its mean over its partners; across questions every pair of cells weighs the same. Where
the data are balanced, differences of the kinds are the estimators of the analysis of variance.

All kinds are functions of sums by question, so neither the delete-one jackknife nor the bootstrap needs the items
again. A question that is drawn twice is no pair with itself: with w_q its weight, pairs across questions need the sums
of ``w_q`` and of ``w_q**2``. Without that the bootstrap would see too little between questions, by one part in G.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.stats.clusters.cluster_bootstrap import sum_by_cluster

__all__ = ["KINDS", "Cells", "PairSums", "jackknife_pairs", "pair_sums", "pair_variances", "resample_pairs"]

Array = NDArray[np.float64]

KINDS = ("repeat", "item", "question", "grader", "grader_item", "grader_question")
"""Kinds of pairs, in the order of :func:`pair_variances`."""

_WITHIN = 4
"""Kinds whose pairs lie within a question: repeat, item, grader, grader_item."""

_BLOCK, _LEAST = 2**17, 64
"""Weights in a block of resamples, 1 MiB; but 64 resamples, so that the sums are not read anew for each."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Scores of K graders on n items, each array (K, n): how many, their mean, and their mean square; 0 without any."""

    sizes: NDArray[np.int64]
    means: Array
    squares: Array


@dataclass(frozen=True, slots=True)
class PairSums:
    """What each question adds: ``linear`` (G, 8 + 3 K) in proportion to its weight, ``quadratic`` (G, 4) to its square.

    The linear columns are sum and weight of the four kinds within a question, then cells, squares and means by grader.
    """

    linear: Array
    quadratic: Array


@dataclass(frozen=True, slots=True)
class _Groups:
    """Sums over the cells of groups, each of one shape: cells, their squares, means, and squared means."""

    cells: Array
    squares: Array
    means: Array
    products: Array

    @property
    def pairs(self) -> Array:
        """Ordered pairs of different cells."""
        return self.cells * (self.cells - 1)

    @property
    def differences(self) -> Array:
        """Sum over those pairs of half the squared difference of a score of each."""
        return (self.cells - 1) * self.squares - (self.means**2 - self.products)

    def sum_graders(self) -> _Groups:
        """Groups over all graders, from groups (..., K) by grader."""
        return _Groups(*(part.sum(axis=-1) for part in (self.cells, self.squares, self.means, self.products)))


def pair_sums(cells: Cells, codes: NDArray[np.int64]) -> PairSums:
    """Sums by question of what the kinds of pairs need.

    Parameters
    ----------
    cells
        Scores of K graders on n items, best centred: squares of large scores lose digits.
    codes
        (n,) each item's question, 0..G-1.

    Returns
    -------
    PairSums
        In an order that neither the order of items nor the names of questions can change.
    """
    n_graders = len(cells.sizes)
    seen = (cells.sizes > 0).T.astype(np.float64)
    means, squares = cells.means.T * seen, cells.squares.T * seen
    item = _Groups(seen, squares, means, means**2).sum_graders()
    columns = [*_repeat_pairs(cells), *_partner_means(item.differences, item.pairs, item.cells)]
    sums = sum_by_cluster(
        np.column_stack([*columns, item.differences, item.pairs, seen, squares, means, means**2]), codes
    )
    by_grader = _Groups(*(sums[:, 6 + part * n_graders : 6 + (part + 1) * n_graders] for part in range(4)))
    return _question_sums(by_grader, repeat=sums[:, :2], grader=sums[:, 2:4], same_item=sums[:, 4:6])


def pair_variances(linear: Array, quadratic: Array) -> Array:
    """Mean half squared difference of each kind of pair, from totals of any weighting of the questions.

    Parameters
    ----------
    linear, quadratic
        (..., 8 + 3 K) and (..., 4): totals of :class:`PairSums`.

    Returns
    -------
    (6, ...) in the order of ``KINDS``; NaN where there is no such pair.
    """
    within = [_ratio(linear[..., 2 * kind], linear[..., 2 * kind + 1]) for kind in range(_WITHIN)]
    n_graders = (linear.shape[-1] - 2 * _WITHIN) // 3
    by_grader = linear[..., 2 * _WITHIN :].reshape(*linear.shape[:-1], 3, n_graders)
    cells, squares, means = np.moveaxis(by_grader, -2, 0)
    graders = (cells * squares - means**2).sum(axis=-1) - quadratic[..., 0]
    grader_pairs = (cells**2).sum(axis=-1) - quadratic[..., 1]
    whole = cells.sum(axis=-1) * squares.sum(axis=-1) - means.sum(axis=-1) ** 2 - quadratic[..., 2]
    whole_pairs = cells.sum(axis=-1) ** 2 - quadratic[..., 3]
    repeat, item, grader, grader_item = within
    across = (_ratio(graders, grader_pairs), _ratio(whole - graders, whole_pairs - grader_pairs))
    return np.stack([repeat, item, across[0], grader, grader_item, across[1]])


def resample_pairs(sums: PairSums, *, rng: np.random.Generator, resamples: int) -> Array:
    """:func:`pair_variances` of ``resamples`` draws of G questions with replacement, shape (6, resamples).

    Raises
    ------
    ValueError
        Fewer than one resample.
    """
    if resamples < 1:
        raise ValueError(f"resamples: too few, got {resamples}; expected 1 or more")
    n_questions = len(sums.linear)
    step = max(_LEAST, _BLOCK // n_questions)
    drawn = []
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        places = rng.integers(n_questions, size=(size, n_questions)) + np.arange(size)[:, None] * n_questions
        counted = np.bincount(places.ravel(), minlength=size * n_questions)
        weights = counted.reshape(size, n_questions).astype(np.float64)
        drawn.append(pair_variances(weights @ sums.linear, weights**2 @ sums.quadratic))
    return np.concatenate(drawn, axis=1)


def jackknife_pairs(sums: PairSums) -> Array:
    """:func:`pair_variances` without each question in turn, shape (6, G)."""
    linear, quadratic = sums.linear, sums.quadratic
    return pair_variances(linear.sum(axis=0) - linear, quadratic.sum(axis=0) - quadratic)


def _repeat_pairs(cells: Cells) -> tuple[Array, Array]:
    """Sum of the variances of a cell's scores, and number of cells with two or more, by item."""
    repeated = cells.sizes >= 2
    sizes = np.where(repeated, cells.sizes, 2)
    variances = np.where(repeated, np.maximum(cells.squares - cells.means**2, 0.0) * sizes / (sizes - 1), 0.0)
    return variances.sum(axis=0), repeated.sum(axis=0).astype(np.float64)


def _partner_means(differences: Array, pairs: Array, cells: Array) -> tuple[Array, Array]:
    """Mean over a group's pairs times its cells, and its cells; 0 for a group without a pair."""
    paired = pairs > 0
    return np.where(paired, differences / np.where(paired, pairs, 1.0) * cells, 0.0), np.where(paired, cells, 0.0)


def _question_sums(by_grader: _Groups, *, repeat: Array, grader: Array, same_item: Array) -> PairSums:
    every = by_grader.sum_graders()
    item = [part.sum(axis=1) for part in _partner_means(by_grader.differences, by_grader.pairs, by_grader.cells)]
    # What shares neither the grader nor the item is all pairs of the question without those that share one.
    both = every.differences - by_grader.differences.sum(axis=1) - same_item[:, 0]
    both_pairs = every.pairs - by_grader.pairs.sum(axis=1) - same_item[:, 1]
    grader_item = _partner_means(both, both_pairs, every.cells)
    linear = [repeat, *item, grader, *grader_item, by_grader.cells, by_grader.squares, by_grader.means]
    quadratic = [
        (by_grader.cells * by_grader.squares - by_grader.means**2).sum(axis=1),
        (by_grader.cells**2).sum(axis=1),
        every.cells * every.squares - every.means**2,
        every.cells**2,
    ]
    return PairSums(np.column_stack(linear), np.column_stack(quadratic))


def _ratio(numerator: Array, denominator: Array) -> Array:
    defined = denominator > 0.5  # numbers of cells or of pairs, whole up to rounding
    return np.where(defined, numerator / np.where(defined, denominator, 1.0), np.nan)
