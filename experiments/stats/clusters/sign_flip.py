"""The sign-flip permutation test of no difference, question by question.

Where two graders are exchangeable, swapping them in all items of a question changes nothing but the sign of the
question's sum of differences. The p-value is the share of all ways to choose these signs whose total lies as far
from zero as the one observed [Fisher 1935; Winkler et al. 2014 for the flipping of whole blocks]. Questions whose
sum is zero cannot matter.

Only how often each size of sum is turned up or down matters, so among n questions of one size the number turned up
is binomial. Where that leaves few enough different totals, all are enumerated and the p-value is exact: always with
up to 16 questions that differ; with one item a question and single labels it is McNemar's exact test. Elsewhere it
is drawn, and ``(1 + as extreme) / (1 + draws)`` is a valid p-value itself [Phipson and Smyth 2010].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["SignFlip", "sign_flip_tests"]

Array = NDArray[np.float64]

MOST_ARRANGEMENTS = 16.0  # as a power of two
MOST_SIZES = 64  # with more different sizes than this, single signs are drawn for all comparisons at once
BLOCK = 4_000_000  # signs drawn at a time
_DIGITS = 10  # sums that agree to so many digits of the largest are equal
_ROUNDING = 1e-8


@dataclass(frozen=True, slots=True)
class SignFlip:
    """Two-sided p-value of a sign-flip test, and whether all arrangements were enumerated."""

    p_value: float
    exact: bool


@dataclass(frozen=True, slots=True)
class _Column:
    """The sums of one comparison: their sizes and how many have each, all as shares of the largest."""

    signed: Array
    sizes: Array
    counts: NDArray[np.int64]

    @property
    def observed(self) -> float:
        return abs(float(np.sort(self.signed).sum()))

    @property
    def enumerable(self) -> bool:
        return float(np.log2(self.counts + 1.0).sum()) <= MOST_ARRANGEMENTS


def sign_flip_tests(sums: Array, *, rng: np.random.Generator, resamples: int) -> list[SignFlip]:
    """Two-sided sign-flip test of each column.

    Parameters
    ----------
    sums
        (G, P) sum of differences of each question, a column a comparison.
    rng
        Source of the draws; not used where all comparisons can be enumerated.
    resamples
        Draws where a comparison cannot be enumerated.

    Returns
    -------
    P tests. Where no question differs there is one arrangement only, and the p-value is 1.

    Raises
    ------
    ValueError
        Fewer than one draw.
    """
    if resamples < 1:
        raise ValueError(f"resamples: too few, got {resamples}; expected 1 or more")
    columns = [_describe(column) for column in sums.T]
    many = [place for place, column in enumerate(columns) if not column.enumerable and len(column.sizes) > MOST_SIZES]
    shared = dict(zip(many, _draw_signs([columns[place] for place in many], rng=rng, resamples=resamples), strict=True))
    return [
        SignFlip(shared[place], False) if place in shared else _test(column, rng=rng, resamples=resamples)
        for place, column in enumerate(columns)
    ]


def _describe(column: Array) -> _Column:
    largest = float(np.abs(column).max(initial=0.0))
    signed = np.round(column / (largest or 1.0), _DIGITS)
    sizes, counts = np.unique(np.abs(signed[signed != 0]), return_counts=True)
    return _Column(signed, sizes, counts.astype(np.int64))


def _test(column: _Column, *, rng: np.random.Generator, resamples: int) -> SignFlip:
    if column.enumerable:
        return SignFlip(_enumerate(column), True)
    ups = rng.binomial(column.counts, 0.5, size=(resamples, len(column.sizes)))
    totals = (2 * ups - column.counts) @ column.sizes
    return SignFlip(_share(int(_extreme(totals, column.observed).sum()), resamples), False)


def _enumerate(column: _Column) -> float:
    totals, chances = np.zeros(1), np.ones(1)
    for size, count in zip(column.sizes, column.counts, strict=True):
        ups = np.arange(count + 1)
        totals = np.add.outer(totals, size * (2 * ups - count)).ravel()
        chances = np.multiply.outer(chances, stats.binom.pmf(ups, count, 0.5)).ravel()
    extreme = _extreme(totals, column.observed)
    return 1.0 if extreme.all() else min(1.0, float(np.sort(chances[extreme]).sum()))


def _draw_signs(columns: list[_Column], *, rng: np.random.Generator, resamples: int) -> list[float]:
    """P-values from signs that all comparisons share: each question is turned in all of them or in none."""
    if not columns:
        return []
    signed = np.column_stack([column.signed for column in columns])
    whole, observed = signed.sum(axis=0), np.array([column.observed for column in columns])
    extreme = np.zeros(len(columns), dtype=np.int64)
    rows = max(1, BLOCK // len(signed))
    for start in range(0, resamples, rows):
        ups = _bits(min(rows, resamples - start), len(signed), rng=rng)
        extreme += _extreme(2 * (ups @ signed) - whole, observed).sum(axis=0)
    return [_share(int(count), resamples) for count in extreme]


def _bits(rows: int, columns: int, *, rng: np.random.Generator) -> Array:
    drawn = np.frombuffer(rng.bytes((rows * columns + 7) // 8), dtype=np.uint8)
    return np.unpackbits(drawn, count=rows * columns).reshape(rows, columns).astype(np.float64)


def _extreme(totals: Array, observed: float | Array) -> NDArray[np.bool_]:
    return np.asarray(np.abs(totals) >= np.asarray(observed) - _ROUNDING)


def _share(extreme: int, resamples: int) -> float:
    return (1 + extreme) / (1 + resamples)
