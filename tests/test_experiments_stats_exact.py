"""Statistics of computed distributions, against the draws that they stand for."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from experiments.stats import false_negative_rate, false_positive_rate, flip_rate, pairwise_disagreement
from experiments.stats.repeats.exact import (
    check_shares,
    exact_agreement,
    exact_bounds,
    exact_entropy,
    exact_error_rates,
    exact_flip_rate,
    exact_majority_error_rates,
    exact_pairwise_disagreement,
)

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
RIGHT = {"labels": LABELS, "positive": "CORRECT"}


def example(n: int = 60) -> tuple[list[str], NDArray[np.float64], list[str]]:
    rng = np.random.default_rng(3)
    return rng.choice(LABELS, n).tolist(), rng.dirichlet([1.0, 0.5, 2.0], size=n), [f"q{row % 20}" for row in range(n)]


def test_certain_items_give_what_counts_give() -> None:
    reference, shares, clusters = example()
    counts = np.eye(3, dtype=np.int64)[shares.argmax(axis=1)]
    negative, false = exact_error_rates(reference, counts, clusters, draws=1, **RIGHT)
    assert negative == false_negative_rate(reference, counts, clusters, **RIGHT)
    assert false == false_positive_rate(reference, counts, clusters, **RIGHT)


def test_many_draws_come_to_the_computed_rates() -> None:
    reference, shares, clusters = example()
    counts = np.array([np.random.default_rng(8).multinomial(4_000, row) for row in shares])
    negative, false = exact_error_rates(reference, shares, clusters, draws=10, **RIGHT)
    assert negative.value == pytest.approx(false_negative_rate(reference, counts, clusters, **RIGHT).value, abs=0.01)
    assert false.value == pytest.approx(false_positive_rate(reference, counts, clusters, **RIGHT).value, abs=0.01)
    drawn = pairwise_disagreement(counts, clusters).value
    assert exact_pairwise_disagreement(shares, clusters, draws=10).value == pytest.approx(drawn, abs=0.01)


def test_the_flip_rate_is_that_of_so_many_draws() -> None:
    _, shares, clusters = example(8)
    rng = np.random.default_rng(2)
    rates = [flip_rate(np.array([rng.multinomial(3, row) for row in shares]), clusters).value for _ in range(4_000)]
    assert exact_flip_rate(shares, clusters, draws=3).value == pytest.approx(np.mean(rates), abs=0.01)


def test_two_even_labels_differ_half_the_time_and_flip_in_three_of_four() -> None:
    shares = [[0.5, 0.0, 0.5]]
    assert exact_pairwise_disagreement(shares, ["q"], draws=10).value == pytest.approx(1 / 2)
    assert exact_flip_rate(shares, ["q"], draws=3).value == pytest.approx(1 - 2 / 8)
    assert exact_entropy(shares) == [pytest.approx(1.0)]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_a_majority_is_that_of_every_sequence_of_draws(k: int) -> None:
    row = np.array([0.2, 0.3, 0.5])
    won = tied = 0.0
    for drawn in product(range(3), repeat=k):
        chance, counts = float(row[list(drawn)].prod()), np.bincount(drawn, minlength=3)
        best = counts == counts.max()
        tied += chance * (best.sum() > 1)
        won += chance * (best.sum() == 1 and bool(best[2]))
    rates = exact_majority_error_rates(["CORRECT"], [row], ["q"], k=k, draws=10, **RIGHT)
    assert rates.false_negative.value == pytest.approx(1 - won - tied)
    assert rates.false_negative_ties.value == pytest.approx(tied)


def test_the_majority_of_one_is_the_single_draw_rate_with_its_interval() -> None:
    reference, shares, clusters = example()
    rates = exact_majority_error_rates(reference, shares, clusters, k=1, draws=10, **RIGHT)
    for majority, single in zip(
        (rates.false_negative, rates.false_positive),
        exact_error_rates(reference, shares, clusters, draws=10, **RIGHT),
        strict=True,
    ):
        assert (majority.value, majority.low, majority.high) == pytest.approx((single.value, single.low, single.high))


def test_items_without_a_distribution_widen_the_bounds_and_leave_the_rate() -> None:
    reference, shares, clusters = ["CORRECT"] * 4 + ["INCORRECT"] * 2, np.tile([0.2, 0.0, 0.8], (6, 1)), list("abcdef")
    shares[0] = np.nan
    negative, false = exact_error_rates(reference, shares, clusters, draws=10, **RIGHT)
    assert (negative.value, negative.n, false.value) == (pytest.approx(0.2), 3, pytest.approx(0.8))
    bounds = exact_bounds(reference, shares, **RIGHT)
    assert bounds.false_negative == pytest.approx((0.6 / 4, (0.6 + 1) / 4))
    assert bounds.false_positive == pytest.approx((0.8, 0.8))
    assert exact_bounds(["CORRECT"], [[1, 0, 0]], **RIGHT).false_positive is None


def test_names_and_order_move_nothing() -> None:
    reference, shares, clusters = example()
    order = np.random.default_rng(1).permutation(len(reference))
    turned = ("CORRECT", "INCORRECT", "NOT_ATTEMPTED")
    columns = [LABELS.index(label) for label in turned]
    before = exact_error_rates(reference, shares, clusters, draws=10, **RIGHT)
    after = exact_error_rates(
        [reference[row] for row in order],
        shares[order][:, columns],
        [clusters[row] for row in order],
        labels=turned,
        positive="CORRECT",
        draws=10,
    )
    for one, other in zip(before, after, strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


@pytest.mark.parametrize(
    "shares", [[[0.5, 0.5, 0.5]], [[-0.1, 0.1, 1.0]], [[0.5, 0.5]], [[0.5], [0], [0.5]], [[np.nan, 0.5, 0.5]]]
)
def test_what_is_no_distribution_is_refused(shares: Any) -> None:
    with pytest.raises(ValueError, match="shares"):
        check_shares(shares, n=1, n_labels=3)


def test_no_draw_has_no_majority() -> None:
    with pytest.raises(ValueError, match="k: too few"):
        exact_majority_error_rates(["CORRECT"], [[0, 0, 1]], ["q"], k=0, draws=1, **RIGHT)


def test_agreement_is_the_chance_of_peoples_label() -> None:
    found = exact_agreement(["CORRECT", "INCORRECT"], [[0.1, 0.2, 0.7], [0.3, 0, 0.7]], "ab", labels=LABELS, draws=10)
    assert found.value == pytest.approx((0.7 + 0.3) / 2)


def test_the_order_of_items_moves_not_a_digit_of_the_bounds() -> None:
    rng = np.random.default_rng(0)
    chances = rng.dirichlet([1.0, 1.0, 1.0], 60)
    chances[::7] = np.nan
    reference = [LABELS[row % 3] for row in range(60)]
    whole = exact_bounds(reference, chances, labels=LABELS, positive=LABELS[-1])
    for _ in range(20):
        order = rng.permutation(60).tolist()
        turned = exact_bounds([reference[row] for row in order], chances[order], labels=LABELS, positive=LABELS[-1])
        assert turned == whole


@pytest.mark.parametrize("row", [[-0.5, 0.5, 1.0], [0.5, 0.2, 0.2], [0.5, 0.5, float("nan")], [float("inf"), 0, 0]])
def test_the_row_that_is_no_distribution_is_named(row: list[float]) -> None:
    shares = [[0.2, 0.3, 0.5], row]
    for call in (lambda: exact_entropy(shares), lambda: exact_flip_rate(shares, "ab", draws=2)):
        with pytest.raises(
            ValueError, match=r"^shares\[1\]: no distribution, got .+; expected chances that add up to 1"
        ):
            call()


def test_no_item_has_no_entropy() -> None:
    assert exact_entropy([]) == []


def test_agreement_on_what_is_no_scale_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^labels: a label stands twice, got .+; expected "):
        exact_agreement(["a"], [[0.5, 0.5]], ["q"], labels=["a", "a"], draws=2)


@pytest.mark.parametrize("draws", [0, -2])
def test_a_distribution_that_stands_for_no_draw_is_refused(draws: int) -> None:
    shares = [[0.4, 0.1, 0.5], [0.2, 0.3, 0.5]]
    for call in (
        lambda: exact_flip_rate(shares, "ab", draws=draws),
        lambda: exact_agreement(["CORRECT"] * 2, shares, "ab", labels=LABELS, draws=draws),
        lambda: exact_error_rates(["CORRECT"] * 2, shares, "ab", draws=draws, **RIGHT),
    ):
        with pytest.raises(ValueError, match=r"^draws: too few, got -?\d; expected 1 or more"):
            call()
