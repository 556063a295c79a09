"""Differences of benchmark scores between two models, each with its interval and two-sided p-value.

The difference is the first model's score minus the second's.

Paired, over the questions that both models have: question c moves the difference by ``d_c = f1.S1_c - f2.S2_c``, the
difference of its influences on the two scores (:mod:`score_influence`), so that what is hard for
both models cancels. The variance is ``sum_c d_c**2 / (1 - h_c)``, h_c the mean of the question's two weights [CR2,
Bell and McCaffrey 2002]; Student's t has as many degrees of freedom as questions enter either denominator, less one.
For means of items, one a question, this is the paired t test.

Unpaired: the two variances add, with the degrees of freedom of Welch [1947] over questions. A set in which no question
varies enters with the standard error whose normal interval reaches as far as what the set has not shown.

Where no question varies in what is compared, the interval is all that the difference could become if Wilson's upper
limit of 0 in G of the questions were of any other class. The p-value is then that of the permutation test, which is
known: 1 without a difference; paired, ``2**(1 - G)`` if every question says the same; unpaired, Fisher's exact one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, sum_by_cluster
from experiments.stats.estimate import Difference
from experiments.stats.inputs import check_level, encode_clusters
from experiments.stats.scores.benchmark_scores import check_item_shares
from experiments.stats.scores.score_contrast import Contrast, score_difference
from experiments.stats.scores.score_functions import SCORES, check_penalty, class_shares
from experiments.stats.scores.score_swaps import all_swaps_fit, swapped_totals

__all__ = ["ScoreDifferences", "paired_score_differences", "unpaired_score_differences"]


@dataclass(frozen=True, slots=True)
class ScoreDifferences:
    """Difference of every score, first model minus second, by the score's name.

    ``common`` counts the questions on which both models have a valid verdict, ``only_first`` and ``only_second`` those
    on which one has. A paired difference rests on the common ones alone.
    """

    differences: dict[str, Difference]
    common: int
    only_first: int
    only_second: int


def paired_score_differences(
    first: ArrayLike,
    first_clusters: Sequence[Hashable],
    second: ArrayLike,
    second_clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
    penalty: float = 1.0,
    repeats: int = 1,
    level: float = 0.95,
    test: Literal["student", "swap", "bootstrap"] = "student",
    rng: np.random.Generator | None = None,
    resamples: int = 10_000,
) -> ScoreDifferences:
    """Differences of all scores over the questions that both models have.

    Parameters
    ----------
    first, second
        (n, L) and (m, L) each model's item shares, as in :func:`benchmark_scores`.
    first_clusters, second_clusters
        (n,) and (m,) the question of each item, by which they are paired.
    labels, correct, not_attempted, penalty
        As in :func:`experiments.stats.scores.score_functions.score_value`.
    repeats
        The most verdicts that any item has; only carried along.
    level
        Confidence level.
    test
        ``student``: t test of the influences. ``swap``: the same interval, the p-value from swapping the two models
        within questions and scoring anew, exact for scores that are no means; all swaps if no more than ``resamples``.
        ``bootstrap``: percentile interval and p-value from resampled questions.
    rng, resamples
        Source and number of the swaps or resamples; not for ``student``.

    Returns
    -------
    ScoreDifferences
        A value is ``None`` where either score is not defined; the interval is ``None`` where a score rests on fewer
        than two questions, and so is every p-value but that of ``swap``. ``n`` counts the items of the model with
        fewer.

    Raises
    ------
    ValueError
        As in :func:`benchmark_scores`; an unknown ``test``, or no ``rng`` for it.
    """
    _check(level, penalty, test, ("student", "swap", "bootstrap"), rng)
    pair = _read_pair(
        (first, first_clusters), (second, second_clusters), labels=labels, correct=correct, not_attempted=not_attempted
    )
    sums = pair.common_sums()
    draws = None
    if rng is not None and test != "student" and len(sums):
        draw = swapped_totals if test == "swap" else bootstrap_sums
        draws = draw(sums, rng=rng, resamples=resamples)
    complete = test == "swap" and all_swaps_fit(sums, resamples)
    contrast = Contrast(penalty, level, repeats, pair.common_items(), test, paired=True, complete=complete)
    return _differences(pair, sums[:, :3], sums[:, 3:], draws, contrast)


def unpaired_score_differences(
    first: ArrayLike,
    first_clusters: Sequence[Hashable],
    second: ArrayLike,
    second_clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
    penalty: float = 1.0,
    repeats: int = 1,
    level: float = 0.95,
    test: Literal["welch", "bootstrap"] = "welch",
    rng: np.random.Generator | None = None,
    resamples: int = 10_000,
) -> ScoreDifferences:
    """Differences of all scores between two sets of questions drawn independently of each other.

    Questions that bear the same name in both are taken for different ones; ``common`` of the result counts them.
    Parameters, returns and errors as in :func:`paired_score_differences`, except ``test``, which is ``welch`` (t test
    with Welch's degrees of freedom over questions) or ``bootstrap`` (both sets resampled), and ``n``, which counts the
    items of both.
    """
    _check(level, penalty, test, ("welch", "bootstrap"), rng)
    pair = _read_pair(
        (first, first_clusters), (second, second_clusters), labels=labels, correct=correct, not_attempted=not_attempted
    )
    one, two = pair.separate_sums()
    draws = None
    if rng is not None and test == "bootstrap" and len(one) and len(two):
        draws = np.hstack([bootstrap_sums(sums, rng=rng, resamples=resamples) for sums in (one, two)])
    contrast = Contrast(penalty, level, repeats, len(pair.codes), test, paired=False)
    return _differences(pair, one, two, draws, contrast)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Items with a valid verdict: class shares (n, 6), the first model's in columns 0 to 2, the second's in 3 to 5."""

    classes: NDArray[np.float64]
    codes: NDArray[np.int64]
    of_first: NDArray[np.bool_]

    def common(self) -> NDArray[np.int64]:
        """Codes of the questions that both models have."""
        return np.intersect1d(self.codes[self.of_first], self.codes[~self.of_first])

    def only(self, *, first: bool) -> int:
        """Number of questions that only the first, or only the second, model has."""
        return len(np.setdiff1d(self.codes[self.of_first == first], self.common()))

    def common_items(self) -> int:
        """Items on common questions, of the model that has fewer."""
        kept = np.isin(self.codes, self.common())
        return min(int((kept & self.of_first).sum()), int((kept & ~self.of_first).sum()))

    def common_sums(self) -> NDArray[np.float64]:
        """Both models' class sums of each common question, shape (G, 6)."""
        kept = np.isin(self.codes, self.common())
        return sum_by_cluster(self.classes[kept], self.codes[kept])

    def separate_sums(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Class sums of each question of the first model (G, 3), and of the second (H, 3)."""
        one, two = self.of_first, ~self.of_first
        return (
            sum_by_cluster(self.classes[one, :3], self.codes[one]),
            sum_by_cluster(self.classes[two, 3:], self.codes[two]),
        )


def _check(level: float, penalty: float, test: str, tests: tuple[str, ...], rng: np.random.Generator | None) -> None:
    check_level(level)
    check_penalty(penalty)
    if test not in tests:
        raise ValueError(f"test: unknown, got {test!r}; expected one of {list(tests)}")
    if rng is None and test in ("swap", "bootstrap"):
        raise ValueError("rng: none for a test that draws, got None; expected a numpy.random.Generator")


def _read_pair(
    first: tuple[ArrayLike, Sequence[Hashable]],
    second: tuple[ArrayLike, Sequence[Hashable]],
    *,
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
) -> _Pair:
    classes, used = [], []
    for where, (shares, clusters) in (("first", first), ("second", second)):
        rows, valid = check_item_shares(shares, where, n_labels=len(labels))
        if len(clusters) != len(rows):
            raise ValueError(f"{where}_clusters: wrong length, got {len(clusters)}; expected {len(rows)}, one an item")
        classes.append(class_shares(rows, labels=labels, correct=correct, not_attempted=not_attempted))
        used.append(valid)
    n, m = len(used[0]), len(used[1])
    codes = encode_clusters([*first[1], *second[1]], n=n + m)
    joint = np.zeros((n + m, 6))
    joint[:n, :3], joint[n:, 3:] = classes
    kept = np.concatenate(used)
    return _Pair(joint[kept], codes[kept], (np.arange(n + m) < n)[kept])


def _differences(
    pair: _Pair,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    draws: NDArray[np.float64] | None,
    contrast: Contrast,
) -> ScoreDifferences:
    return ScoreDifferences(
        {name: score_difference(score, first, second, draws, contrast) for name, score in SCORES.items()},
        len(pair.common()),
        pair.only(first=True),
        pair.only(first=False),
    )
