"""Label-bias calibration: a grader's liking for some labels, whatever the item, measured and taken away.

The offset of a label is its class-balanced mean log-probability: the mean over the items that people
gave a label, then the mean over labels, so that how often people gave each label does not move it. An
item's offsets are fitted on the items of all *other* questions, so no item is judged by what it, or
another answer to its question, helped to fit. There is no random split: each question is a fold.

Close to the contextual calibration of Zhao et al. 2021 (https://arxiv.org/abs/2102.09690) and the batch
calibration of Zhou et al. 2023 (https://arxiv.org/abs/2309.17249), but with labelled items.

Why offsets alone: nine variants were compared on a small local model and 529 short probes (85 questions,
chance .333), by balanced accuracy of the likeliest label, held out by question in ten folds, mean of five
shuffles. As it comes .386; offsets .454; one scale and offsets by likelihood .444 (classes balanced); a
multinomial regression on all log-probabilities .530, the best of all. It is not used, as it corrects no
bias: its slopes on a label's own log-probability are near zero for two of three labels, so that it has
learnt a classifier of its own, and with kinds of probe held out instead of questions its lead in accuracy
was .055, 95% -.004 to .120. On 100 of these items (63 questions): .394, .477, .476 and .483, so that a set
of that size does not tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax

from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, percentile_interval, sum_by_cluster
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_counts, check_labels, check_level, encode_clusters, encode_labels

__all__ = [
    "FEWEST_QUESTIONS",
    "accuracy_gain",
    "balanced_accuracy",
    "count_questions",
    "held_out_logprobs",
    "label_offsets",
    "likeliest_counts",
]

FEWEST_QUESTIONS = 5
"""Questions in which people gave a label, of each label, below which nothing is fitted."""

_METHOD = "cluster-bootstrap"

_Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From sums, (B, D), to a statistic of each, (B,)."""


def count_questions(reference: Sequence[str], clusters: Sequence[Hashable], *, labels: Sequence[str]) -> dict[str, int]:
    """Label to the number of questions in which people gave it."""
    check_labels(labels)
    people, codes = encode_labels(reference, labels), encode_clusters(clusters, n=len(reference))
    return {label: len(np.unique(codes[people == position])) for position, label in enumerate(labels)}


def label_offsets(logprobs: ArrayLike, reference: Sequence[str], *, labels: Sequence[str]) -> dict[str, float]:
    """Offset of each label, fitted on all items, less their mean: for showing and for *other* items.

    Parameters
    ----------
    logprobs
        (n, L) natural-log probabilities of the labels, each row up to a constant.
    reference
        (n,) people's label of each item.
    labels
        (L,) the scale.

    Raises
    ------
    ValueError
        A label that people gave no item, a label off the scale, a log-probability that is no number.
    """
    table, people = _check(logprobs, reference, labels)
    sums, sizes = _class_sums(table, people)
    if not np.all(sizes > 0):
        raise ValueError(f"reference: a label without items, got {sizes.tolist()} of {list(labels)}; expected all")
    offsets = (sums / sizes[:, None]).mean(axis=0)
    return {label: float(value) for label, value in zip(labels, offsets - offsets.mean(), strict=True)}


def held_out_logprobs(
    logprobs: ArrayLike, reference: Sequence[str], clusters: Sequence[Hashable], *, labels: Sequence[str]
) -> NDArray[np.float64]:
    """Log-probabilities without label bias, each item's by offsets of all other questions.

    Parameters
    ----------
    logprobs, reference, labels
        As in :func:`label_offsets`.
    clusters
        (n,) the question of each item.

    Returns
    -------
    (n, L) natural-log probabilities; each row adds up to 1.

    Raises
    ------
    ValueError
        As :func:`label_offsets`; or a label was given in fewer than ``FEWEST_QUESTIONS`` questions.
    """
    table, people = _check(logprobs, reference, labels)
    few = {name: n for name, n in count_questions(reference, clusters, labels=labels).items() if n < FEWEST_QUESTIONS}
    if few:
        raise ValueError(f"clusters: too few questions with a label, got {few}; expected {FEWEST_QUESTIONS} or more")
    codes = encode_clusters(clusters, n=len(people))
    n_labels, n_clusters = len(labels), int(codes.max()) + 1
    own_sums, own_sizes = np.zeros((n_clusters, n_labels, n_labels)), np.zeros((n_clusters, n_labels))
    np.add.at(own_sums, (codes, people), table)
    np.add.at(own_sizes, (codes, people), 1.0)
    other_sums, other_sizes = own_sums.sum(axis=0) - own_sums, own_sizes.sum(axis=0) - own_sizes
    offsets = (other_sums / other_sizes[:, :, None]).mean(axis=1)
    return np.asarray(log_softmax(table - offsets[codes], axis=1), dtype=np.float64)


def likeliest_counts(logprobs: ArrayLike) -> NDArray[np.int64]:
    """One for the likeliest label of each row, shape (n, L); labels that share first place count one each.

    Every statistic takes the share of an item's counts, so that a tie is split and no label is preferred.
    """
    table = np.asarray(logprobs, dtype=np.float64)
    # Log-probabilities that differ by rounding alone are a tie too.
    return np.asarray(table >= table.max(axis=1, keepdims=True) - 1e-12, dtype=np.int64)


def balanced_accuracy(
    reference: Sequence[str],
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 1000,
) -> Estimate:
    """Mean over the labels that people gave of the share of verdicts that agree; by chance 1 of L.

    Parameters
    ----------
    reference, counts, clusters, labels, level
        As in :func:`experiments.stats.false_negative_rate`; items without a verdict are left out.
    rng
        Source of the resamples of questions. Those that lack a label are left out.

    Raises
    ------
    ValueError
        A label off the scale, a negative count, lengths that differ.
    """
    check_labels(labels)
    check_level(level)
    right, people, codes = _right_shares(reference, counts, clusters, labels)
    given = np.unique(people)
    rows = (people[:, None] == given).astype(np.float64)
    sums = sum_by_cluster(np.hstack([rows * right[:, None], rows]), codes)

    def statistic(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        agreed, sizes = totals[:, : len(given)], totals[:, len(given) :]
        ratios = np.divide(agreed, sizes, out=np.full_like(agreed, np.nan), where=sizes > 0)
        return np.asarray(ratios.mean(axis=1), dtype=np.float64)

    return _bootstrapped(sums, statistic, n=len(people), rng=rng, level=level, resamples=resamples)


def accuracy_gain(
    reference: Sequence[str],
    before: ArrayLike,
    after: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 1000,
) -> Estimate:
    """Accuracy after less accuracy before, paired by item, with a bootstrap interval over questions.

    ``before`` and ``after`` are counts of verdicts, (n, L), with a verdict of every item (else ``ValueError``); the
    rest is as in :func:`balanced_accuracy`.
    """
    check_labels(labels)
    check_level(level)
    first, _, _ = _right_shares(reference, before, clusters, labels)
    second, _, codes = _right_shares(reference, after, clusters, labels)
    if not len(first) == len(second) == len(reference):
        raise ValueError("counts: an item without a verdict; expected one or more of each item, before and after")
    sums = sum_by_cluster(np.column_stack([second - first, np.ones_like(first)]), codes)
    return _bootstrapped(
        sums, lambda totals: totals[:, 0] / totals[:, 1], n=len(first), rng=rng, level=level, resamples=resamples
    )


def _bootstrapped(
    sums: NDArray[np.float64], statistic: _Statistic, *, n: int, rng: np.random.Generator, level: float, resamples: int
) -> Estimate:
    if not n:
        return Estimate(None, None, None, level, _METHOD, 0, 0, 0)
    value = float(statistic(sums.sum(axis=0, keepdims=True))[0])
    draws = statistic(bootstrap_sums(sums, rng=rng, resamples=resamples))
    low, high = percentile_interval(draws, level=level) or (None, None)
    return Estimate(value, low, high, level, _METHOD, n, len(sums), 1)


def _right_shares(
    reference: Sequence[str], counts: ArrayLike, clusters: Sequence[Hashable], labels: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Share of an item's verdicts that are people's label, people's labels, and questions; of items with a verdict."""
    people = encode_labels(reference, labels)
    table = check_counts(counts, n=len(people), n_labels=len(labels))
    codes = encode_clusters(clusters, n=len(people))
    totals = table.sum(axis=1)
    used = totals > 0
    return table[used, people[used]] / totals[used], people[used], codes[used]


def _class_sums(
    table: NDArray[np.float64], people: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of log-probabilities by people's label, (L, L), and numbers of items, (L,)."""
    sums, sizes = np.zeros((table.shape[1], table.shape[1])), np.zeros(table.shape[1])
    np.add.at(sums, people, table)
    np.add.at(sizes, people, 1.0)
    return sums, sizes


def _check(
    logprobs: ArrayLike, reference: Sequence[str], labels: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    check_labels(labels)
    people = encode_labels(reference, labels)
    table = np.asarray(logprobs, dtype=np.float64)
    table = table if table.size else table.reshape(0, len(labels))
    if table.shape != (len(people), len(labels)):
        raise ValueError(f"logprobs: wrong shape, got {table.shape}; expected ({len(people)}, {len(labels)})")
    if not np.all(np.isfinite(table)):
        raise ValueError("logprobs: not a number; expected a finite log-probability of every label")
    # Among the labels alone: what a free reply could have been besides has no part in it.
    return np.asarray(log_softmax(table, axis=1), dtype=np.float64) if len(table) else table, people
