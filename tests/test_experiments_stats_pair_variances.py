"""Half squared differences of pairs of scores, against counting every pair."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.stats.repeats.pair_variances import (
    Cells,
    PairSums,
    jackknife_pairs,
    pair_sums,
    pair_variances,
    resample_pairs,
)

Cell = tuple[int, int, np.ndarray]


def gather(scores: np.ndarray) -> Cells:
    seen = ~np.isnan(scores)
    held = np.maximum(seen.sum(axis=2), 1)
    filled = np.where(seen, scores, 0.0)
    return Cells(seen.sum(axis=2), filled.sum(axis=2) / held, (filled**2).sum(axis=2) / held)


def total(sums: PairSums) -> np.ndarray:
    return pair_variances(sums.linear.sum(axis=0), sums.quadratic.sum(axis=0))


def half_square(first: Cell, second: Cell) -> float:
    return float(np.mean([(x - y) ** 2 / 2 for x in first[2] for y in second[2]]))


def count_pairs(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> list[float]:
    """Every kind by loops over pairs of cells; question q counts ``weights[q]`` times, and is no pair with itself."""
    n_graders, n, _ = scores.shape
    cells = [(g, i, scores[g, i][~np.isnan(scores[g, i])]) for g in range(n_graders) for i in range(n)]
    cells = [cell for cell in cells if len(cell[2])]

    def partners(wanted: Callable[[Cell, Cell], bool], group: Callable[[Cell], object]) -> float:
        """Mean over a group's pairs, a group weighing as many as it has cells."""
        above, below = 0.0, 0.0
        for key in dict.fromkeys(map(group, cells)):
            members = [cell for cell in cells if group(cell) == key]
            pairs = [half_square(a, b) for a in members for b in members if a is not b and wanted(a, b)]
            if pairs:
                weight = weights[codes[members[0][1]]] * len(members)
                above, below = above + weight * float(np.mean(pairs)), below + weight
        return above / below if below else np.nan

    def across(wanted: Callable[[Cell, Cell], bool]) -> float:
        above, below = 0.0, 0.0
        for a in cells:
            for b in cells:
                if codes[a[1]] != codes[b[1]] and wanted(a, b):
                    weight = weights[codes[a[1]]] * weights[codes[b[1]]]
                    above, below = above + weight * half_square(a, b), below + weight
        return above / below if below else np.nan

    repeated = [(weights[codes[cell[1]]], np.var(cell[2], ddof=1)) for cell in cells if len(cell[2]) > 1]
    held = sum(weight for weight, _ in repeated)
    return [
        sum(weight * variance for weight, variance in repeated) / held if held else np.nan,
        partners(lambda a, b: a[0] == b[0] and a[1] != b[1], lambda cell: (cell[0], codes[cell[1]])),
        across(lambda a, b: a[0] == b[0]),
        partners(lambda a, b: a[0] != b[0], lambda cell: cell[1]),
        partners(lambda a, b: a[0] != b[0] and a[1] != b[1], lambda cell: codes[cell[1]]),
        across(lambda a, b: a[0] != b[0]),
    ]


def unbalanced(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    shape = tuple(int(rng.integers(1, most)) for most in (5, 9, 4))
    scores = rng.normal(size=shape)
    scores[rng.random(shape) < rng.choice([0.0, 0.3, 0.6])] = np.nan
    kept = ~np.isnan(scores).all(axis=(0, 2))
    scores, codes = scores[:, kept], rng.integers(0, 4, kept.sum())
    return scores, np.unique(codes, return_inverse=True)[1]


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_equals_counting_every_pair_with_missing_cells_and_unequal_questions(seed: int) -> None:
    scores, codes = unbalanced(seed)
    found = total(pair_sums(gather(scores), codes))
    assert found == pytest.approx(count_pairs(scores, codes, np.ones(8)), abs=1e-9, nan_ok=True)


def test_equals_counting_every_pair_of_weighted_questions() -> None:
    """A question that is drawn twice is no pair with itself. Question 3 alone has five items, so rows can be told."""
    rng = np.random.default_rng(1)
    codes = np.array([0, 0, 1, 1, 1, 2, 3, 3, 3, 3, 3])
    scores = rng.normal(size=(3, 11, 2)) + codes[:, None]
    scores[rng.random(scores.shape) < 0.2] = np.nan
    sums = pair_sums(gather(scores), codes)
    alone = [
        pair_sums(gather(scores[:, codes == q]), np.zeros((codes == q).sum(), dtype=int)).linear[0] for q in range(4)
    ]
    rows = [int(np.argmin(np.abs(sums.linear - row).sum(axis=1))) for row in alone]
    assert sorted(rows) == [0, 1, 2, 3]
    weights = np.array([2.0, 0.0, 3.0, 1.0])
    placed = np.zeros(4)
    placed[rows] = weights
    found = pair_variances(placed @ sums.linear, placed**2 @ sums.quadratic)
    assert found == pytest.approx(count_pairs(scores, codes, weights), abs=1e-9)


def test_jackknife_equals_leaving_each_question_out() -> None:
    rng = np.random.default_rng(2)
    codes = np.repeat(np.arange(6), [1, 2, 3, 4, 1, 2])
    scores = rng.normal(size=(2, 13, 3))
    scores[rng.random(scores.shape) < 0.2] = np.nan
    found = jackknife_pairs(pair_sums(gather(scores), codes))
    expected = np.array(
        [
            total(pair_sums(gather(scores[:, codes != q]), np.unique(codes[codes != q], return_inverse=True)[1]))
            for q in range(6)
        ]
    )
    assert np.sort(found, axis=1) == pytest.approx(np.sort(expected.T, axis=1), abs=1e-9)


def test_resamples_are_centred_on_the_estimate() -> None:
    """With pairs of a question's own copies the kinds across questions would fall short by one part in eight."""
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(8), 2)
    scores = rng.normal(size=(2, 16, 2)) + 3 * rng.normal(size=8)[codes][None, :, None]
    sums = pair_sums(gather(scores), codes)
    draws = resample_pairs(sums, rng=rng, resamples=20_000)
    assert draws.shape == (6, 20_000)
    # A resample's pairs across questions vary in number, which leaves a bias of a few percent of the 12.5.
    assert np.nanmean(draws, axis=1) == pytest.approx(total(sums), rel=0.03)


def test_one_grader_has_no_pairs_of_graders_and_one_question_none_across() -> None:
    found = total(pair_sums(gather(np.array([[[0.0, 1.0], [1.0, 1.0]]])), np.zeros(2, dtype=int)))
    assert found == pytest.approx([1 / 4, 1 / 4, np.nan, np.nan, np.nan, np.nan], nan_ok=True)


def test_no_resample_is_refused() -> None:
    sums = pair_sums(gather(np.ones((1, 2, 1))), np.arange(2))
    with pytest.raises(ValueError, match=r"^resamples: too few, got 0; expected 1 or more"):
        resample_pairs(sums, rng=np.random.default_rng(0), resamples=0)
