"""Benchmark scores as functions of the shares of three classes: correct, incorrect, not attempted.

Each score is a ratio of two weighted sums of the classes ``x = (correct, incorrect, not attempted)``,
``(numerator . x) / (denominator . x)`` [Wei et al. 2024; Haas et al. 2025]. With N items, of which c are correct and i
incorrect (any label that is neither of the two others):

============================  =====================  ======================================================
score                         in counts              note
============================  =====================  ======================================================
``correct``                   c / N
``incorrect``                 i / N
``not_attempted``             (N - c - i) / N
``attempted``                 (c + i) / N
``accuracy_given_attempted``  c / (c + i)            not defined where nothing was attempted
``f1``                        2 c / (N + c + i)      harmonic mean of ``correct`` and the line above; 0 where
                                                     nothing was attempted, by convention
``accuracy``                  c / N                  not attempted counted wrong: equals ``correct``
``index``                     100 (c - i) / N
``penalised``                 (c - penalty i) / N    ``penalty``: the chosen cost of a wrong answer
============================  =====================  ======================================================

A ratio depends on proportions alone, so counts, shares and bootstrap sums serve alike. It is monotone along every
segment, so that over a polygon of shares its extremes lie at the corners.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.inputs import check_counts, check_labels

__all__ = ["SCORES", "Score", "check_penalty", "class_shares", "item_shares", "score_gradient", "score_value"]

_EMPTY = 1e-12
"""A denominator below this share of the total is rounding error: nothing is there."""

_Weights = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Score:
    """A ratio of two weighted sums over (correct, incorrect, not attempted).

    ``cost`` times the penalty is added to ``numerator``. ``proportion`` says that the score is a share of some items,
    so that an interval for a proportion suits it.
    """

    numerator: _Weights
    denominator: _Weights = (1.0, 1.0, 1.0)
    cost: _Weights = (0.0, 0.0, 0.0)
    proportion: bool = True

    def numerator_weights(self, penalty: float) -> NDArray[np.float64]:
        """Weights of the numerator, shape (3,), at the given cost of a wrong answer."""
        return np.array(self.numerator) + penalty * np.array(self.cost)

    def value(self, classes: NDArray[np.float64], penalty: float) -> NDArray[np.float64]:
        """Value at each row of ``classes`` (..., 3), NaN where it is not defined; shape (...)."""
        divisor = classes @ np.array(self.denominator)
        defined = divisor > _EMPTY * np.abs(classes).sum(axis=-1)
        ratio = (classes @ self.numerator_weights(penalty)) / np.where(defined, divisor, 1.0)
        return np.where(defined, ratio, np.nan)

    def gradient(self, classes: NDArray[np.float64], penalty: float) -> NDArray[np.float64]:
        """Gradient of the value at each row of ``classes`` (..., 3), NaN where it is not defined; shape (..., 3)."""
        value = self.value(classes, penalty)[..., None]
        divisor = (classes @ np.array(self.denominator))[..., None]
        residual = self.numerator_weights(penalty) - value * np.array(self.denominator)
        return np.asarray(residual / np.where(np.isnan(value), 1.0, divisor), dtype=np.float64)

    def span(self, penalty: float) -> tuple[float, float]:
        """Smallest and largest value that any shares can give."""
        corners = self.value(np.eye(3), penalty)
        return float(np.nanmin(corners)), float(np.nanmax(corners))


SCORES: Mapping[str, Score] = MappingProxyType(
    {
        "correct": Score((1.0, 0.0, 0.0)),
        "incorrect": Score((0.0, 1.0, 0.0)),
        "not_attempted": Score((0.0, 0.0, 1.0)),
        "attempted": Score((1.0, 1.0, 0.0)),
        "accuracy_given_attempted": Score((1.0, 0.0, 0.0), (1.0, 1.0, 0.0)),
        "f1": Score((2.0, 0.0, 0.0), (2.0, 2.0, 1.0), proportion=False),
        "accuracy": Score((1.0, 0.0, 0.0)),
        "index": Score((100.0, -100.0, 0.0), proportion=False),
        "penalised": Score((1.0, 0.0, 0.0), cost=(0.0, -1.0, 0.0), proportion=False),
    }
)
"""Every score by its name."""


def score_value(
    name: str,
    shares: ArrayLike,
    *,
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
    penalty: float = 1.0,
) -> NDArray[np.float64]:
    """A score of class shares, over any leading axes at once.

    Parameters
    ----------
    name
        One of :data:`SCORES`.
    shares
        (..., L) shares or counts of each label; only their proportions matter.
    labels
        (L,) the scale.
    correct
        The label of a right answer.
    not_attempted
        The label of no attempt, or ``None`` where the scale has none. All other labels count as incorrect.
    penalty
        Cost of a wrong answer in ``penalised``, 0 or more.

    Returns
    -------
    (...) values, NaN where the score is not defined: no items, or nothing attempted in ``accuracy_given_attempted``.

    Raises
    ------
    ValueError
        An unknown score, a label off the scale, another number of columns, a negative penalty.
    """
    classes = class_shares(shares, labels=labels, correct=correct, not_attempted=not_attempted)
    check_penalty(penalty)
    return _score(name).value(classes, penalty)


def score_gradient(
    name: str,
    shares: ArrayLike,
    *,
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
    penalty: float = 1.0,
) -> NDArray[np.float64]:
    """Gradient of a score in the share of each label, shape (..., L), for the delta method.

    It is that of the ratio, which does not change when all shares grow alike, so the gradient is orthogonal to the
    shares and needs no constraint that they sum to one. Parameters, NaN and errors as in :func:`score_value`.
    """
    classes = class_shares(shares, labels=labels, correct=correct, not_attempted=not_attempted)
    check_penalty(penalty)
    by_class = _score(name).gradient(classes, penalty)
    return by_class[..., [_class_of(label, correct=correct, not_attempted=not_attempted) for label in labels]]


def class_shares(
    shares: ArrayLike, *, labels: Sequence[str], correct: str, not_attempted: str | None
) -> NDArray[np.float64]:
    """Shares of (correct, incorrect, not attempted), shape (..., 3), from those of the labels (..., L).

    Parameters and errors (``ValueError``) as in :func:`score_value`.
    """
    _check_classes(labels, correct=correct, not_attempted=not_attempted)
    table = np.asarray(shares, dtype=np.float64)
    if not table.ndim or table.shape[-1] != len(labels):
        raise ValueError(f"shares: wrong shape, got {table.shape}; expected (..., {len(labels)}), a column a label")
    of_label = np.array([_class_of(label, correct=correct, not_attempted=not_attempted) for label in labels])
    # Sorted, so that the order of labels cannot move the last bit of a sum.
    return np.stack([np.sort(table[..., of_label == position], axis=-1).sum(axis=-1) for position in range(3)], axis=-1)


def item_shares(counts: ArrayLike) -> NDArray[np.float64]:
    """Each item's share of valid verdicts with each label, shape (n, L); all zero for an item without one.

    Parameters
    ----------
    counts
        (n, L) valid verdicts of each item with each label.

    Raises
    ------
    ValueError
        A negative or fractional count.
    """
    table = check_counts(counts)
    return np.asarray(table / np.maximum(table.sum(axis=1, keepdims=True), 1), dtype=np.float64)


def check_penalty(penalty: float) -> None:
    """Raise ``ValueError`` unless the cost of a wrong answer is a finite number, 0 or more."""
    if not 0.0 <= penalty < float("inf"):
        raise ValueError(f"penalty: not a cost, got {penalty!r}; expected a finite number, 0 or more")


def _score(name: str) -> Score:
    if name not in SCORES:
        raise ValueError(f"score: unknown, got {name!r}; expected one of {list(SCORES)}")
    return SCORES[name]


def _check_classes(labels: Sequence[str], *, correct: str, not_attempted: str | None) -> None:
    check_labels(labels)
    for where, label in (("correct", correct), ("not_attempted", not_attempted)):
        if label is not None and label not in labels:
            raise ValueError(f"{where}: label not on the scale, got {label!r}; expected one of {list(labels)}")
    if correct == not_attempted:
        raise ValueError(f"not_attempted: the same label as correct, got {correct!r}; expected another")


def _class_of(label: str, *, correct: str, not_attempted: str | None) -> int:
    return 0 if label == correct else 2 if label == not_attempted else 1
