"""Variance components of a grader's scores: question, item, repeat; with several graders also grader and interactions.

The score may be any number; for error rates it is 1 where a verdict is on people's side of ``positive`` and else 0.
The model is random effects: questions are a sample of questions, items of a question's items, repeats of a grader's
verdicts, and graders of graders. Every component is a difference of mean half squared differences of pairs of scores
(``pair_variances`` has the table): unbiased with unequal repeats, unequal questions and missing cells, and equal to the
estimators of the analysis of variance [Searle, Casella, McCulloch 1992, chapters 4 and 5] where the data are balanced.
For unbalanced data it is in the place of Henderson's method 1 [1953], which weighs items by their repeats.

Unbiased estimates can be negative where a component is small; they are kept as they are, with zero beside them.

Cells may be missing for any reason that has nothing to do with the scores.

Intervals are BCa bootstraps over questions. In a simulation of 400 data sets a cell (normal and 0/1 scores, 3 or 4
items a question, 3 repeats, 600 draws) 95% intervals covered .94 to .96 with 100 questions and .90 to .93 with 20;
percentile intervals .92 to .96 and .89 to .93. With four graders and missing cells (300 data sets of normal scores) BCa
covered .93 to .95 with 100 questions and .89 to .94 with 30: with few questions these intervals are somewhat short.
The graders are not resampled: the intervals hold for these graders.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from experiments.stats.estimate import Estimate
from experiments.stats.repeats.pair_estimates import PairEstimates, estimate_pairs
from experiments.stats.repeats.score_cells import check_scores, correctness_cells, score_cells

__all__ = [
    "Component",
    "CrossedComponents",
    "VarianceComponents",
    "correctness_components",
    "crossed_components",
    "crossed_correctness_components",
    "variance_components",
]


@dataclass(frozen=True, slots=True)
class Component:
    """A variance component: ``raw`` is unbiased and may be negative, ``truncated`` is zero instead."""

    raw: Estimate
    truncated: float | None


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Components of one grader's scores, in squared units of the score.

    A component that the data cannot tell from the next one up is ``None`` and is contained in that one: ``repeat`` in
    ``item`` where no item has two scores, ``item`` in ``question`` where no question has two items. ``question`` is
    ``None`` with one question.

    ``item_correlation`` is the correlation of two repeats of an item, (question + item) / all; ``question_correlation``
    that of two items of a question, question / all [intraclass correlations: Fisher 1925]. Raw components go into both.
    """

    question: Component
    item: Component
    repeat: Component
    question_correlation: Estimate
    item_correlation: Estimate


@dataclass(frozen=True, slots=True)
class CrossedComponents:
    """Components of the scores that several graders gave to the same items, in squared units of the score.

    A component that the data cannot tell from the next one up is ``None`` and is contained in that one: ``repeat`` in
    ``grader_item`` where no cell has two scores; ``item`` in ``question`` and ``grader_item`` in ``grader_question``
    where no question has two items. Where no item was scored by two graders the data are not crossed: only ``grader``
    and ``repeat`` are defined.

    ``agreement`` is the correlation of two graders' scores of an item, (question + item) / all, the ICC(2, 1) of Shrout
    and Fleiss [1979]; ``consistency`` leaves the graders' levels out of all, their ICC(3, 1).
    """

    grader: Component
    question: Component
    item: Component
    grader_question: Component
    grader_item: Component
    repeat: Component
    agreement: Estimate
    consistency: Estimate


def variance_components(
    scores: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    largest_difference: float = 1.0,
    level: float = 0.95,
    resamples: int = 1000,
    rng: np.random.Generator,
) -> VarianceComponents:
    """Components question, item and repeat of one grader's scores.

    Parameters
    ----------
    scores
        (n, R) any numbers, NaN where there is none; the order of an item's scores says nothing.
    clusters
        (n,) the question of each item.
    largest_difference
        The most that two scores can differ; used where no draw varies, so that no interval has width zero.
    level
        Confidence level of the intervals.
    resamples
        Draws of the bootstrap.
    rng
        Source of the draws.

    Raises
    ------
    ValueError
        A wrong shape, an infinite score, scores that differ by more than ``largest_difference``, lengths that differ.
    """
    table = check_scores(scores, largest_difference, shape="(n, repeats)", depth=2)
    cells = score_cells(table[None], largest_difference)
    return _nested(estimate_pairs(cells, clusters, level=level, resamples=resamples, rng=rng), largest_difference**2)


def correctness_components(
    reference: Sequence[str],
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    positive: str,
    level: float = 0.95,
    resamples: int = 1000,
    rng: np.random.Generator,
) -> VarianceComponents:
    """Components of whether a verdict is on people's side of ``positive``, as 0 or 1.

    Over all items; for one error rate pass only its items. The repeat component is the random part of
    :func:`experiments.stats.errors.error_split`, whose interval is the better one where few items are unstable.

    Parameters
    ----------
    reference, counts, clusters, labels, positive
        As in :func:`experiments.stats.false_negative_rate`.
    level, resamples, rng
        As in :func:`variance_components`.

    Raises
    ------
    ValueError
        A label off the scale, a negative count, lengths that differ.
    """
    cells = correctness_cells(reference, [counts], labels=labels, positive=positive)
    return _nested(estimate_pairs(cells, clusters, level=level, resamples=resamples, rng=rng), 1.0)


def crossed_components(
    scores: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    largest_difference: float = 1.0,
    level: float = 0.95,
    resamples: int = 1000,
    rng: np.random.Generator,
) -> CrossedComponents:
    """Components of several graders' scores of the same items; cells may be missing.

    Parameters
    ----------
    scores
        (K, n, R) a layer a grader, NaN where there is no score.
    clusters, largest_difference, level, resamples, rng
        As in :func:`variance_components`.

    Raises
    ------
    ValueError
        As in :func:`variance_components`.
    """
    table = check_scores(scores, largest_difference, shape="(graders, n, repeats)", depth=3)
    cells = score_cells(table, largest_difference)
    return _crossed(estimate_pairs(cells, clusters, level=level, resamples=resamples, rng=rng), largest_difference**2)


def crossed_correctness_components(
    reference: Sequence[str],
    counts: Sequence[ArrayLike],
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    positive: str,
    level: float = 0.95,
    resamples: int = 1000,
    rng: np.random.Generator,
) -> CrossedComponents:
    """:func:`crossed_components` of whether a verdict is on people's side of ``positive``.

    Parameters
    ----------
    counts
        (K, n, L) valid verdicts of each grader, item and label; a row may be all zero.
    reference, clusters, labels, positive, level, resamples, rng
        As in :func:`correctness_components`.

    Raises
    ------
    ValueError
        As in :func:`correctness_components`; no grader.
    """
    cells = correctness_cells(reference, counts, labels=labels, positive=positive)
    return _crossed(estimate_pairs(cells, clusters, level=level, resamples=resamples, rng=rng), 1.0)


Terms = Mapping[str, float]
"""A component as a sum of kinds of pairs, each with its sign."""


def _nested(pairs: PairEstimates, scale: float) -> VarianceComponents:
    repeat: Terms = {"repeat": 1}
    item: Terms = {"item": 1}
    # What is not told apart is contained in the next one up.
    below_item = repeat if pairs.has("repeat") else {}
    below_question = item if pairs.has("item") else below_item
    return VarianceComponents(
        question=_component(pairs, _less({"question": 1}, below_question), scale),
        item=_component(pairs, _less(item, below_item), scale),
        repeat=_component(pairs, repeat, scale),
        question_correlation=pairs.ratio({"question": 1, "item": -1}, {"question": 1}),
        item_correlation=pairs.ratio({"question": 1, "repeat": -1}, {"question": 1}),
    )


def _crossed(pairs: PairEstimates, scale: float) -> CrossedComponents:
    repeat: Terms = {"repeat": 1} if pairs.has("repeat") else {}
    item = _less({"grader_item": 1}, {"grader": 1})
    told_apart = all(pairs.has(kind) for kind in ("item", "grader", "grader_item"))
    same, other = ({"item": 1.0}, {"grader_item": 1.0}) if told_apart else (repeat, {"grader": 1.0})
    question = _less({"grader_question": 1}, other)
    none = Component(pairs.undefined(), None)
    return CrossedComponents(
        grader=_component(pairs, {"grader_question": 1, "question": -1}, scale),
        question=_component(pairs, question, scale),
        item=_component(pairs, item, scale) if told_apart else none,
        grader_question=_component(pairs, _less(_less({"question": 1}, same), question), scale),
        grader_item=_component(pairs, _less(_less({"item": 1}, repeat), item), scale) if told_apart else none,
        repeat=_component(pairs, {"repeat": 1}, scale),
        agreement=pairs.ratio({"grader_question": 1, "grader": -1}, {"grader_question": 1}),
        consistency=pairs.ratio({"grader_question": 1, "grader": -1}, {"question": 1}),
    )


def _component(pairs: PairEstimates, terms: Terms, scale: float) -> Component:
    raw = pairs.variance(terms, scale=scale)
    return Component(raw, None if raw.value is None else max(raw.value, 0.0))


def _less(first: Terms, second: Terms) -> Terms:
    """``first`` less ``second``, without the kinds that cancel: those may have no pair."""
    terms = {kind: first.get(kind, 0) - second.get(kind, 0) for kind in (*first, *second)}
    return {kind: sign for kind, sign in terms.items() if sign}
