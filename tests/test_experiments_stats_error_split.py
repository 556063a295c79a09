"""Split of error rates into a systematic and a random part."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.stats import false_negative_rate, false_positive_rate, pairwise_disagreement, wilson
from experiments.stats.errors.error_split import ErrorSplit, error_split, split_wrong_verdicts

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
ITEMS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=20)


def values(split: ErrorSplit) -> tuple[float | None, float | None, float | None]:
    return split.rate.value, split.systematic.value, split.random.value


def count_pairs(wrong: int, valid: int) -> tuple[float, float]:
    """Shares of ordered pairs of verdicts that are wrong twice, and wrong then right."""
    pairs = list(permutations([True] * wrong + [False] * (valid - wrong), 2))
    return sum(a and b for a, b in pairs) / len(pairs), sum(a and not b for a, b in pairs) / len(pairs)


@given(items=ITEMS)
def test_equals_counting_ordered_pairs_and_adds_up(items: list[tuple[int, int]]) -> None:
    wrong, valid = [min(pair) for pair in items], [max(pair) for pair in items]
    split = split_wrong_verdicts(wrong, valid, range(len(items)))
    shares = [count_pairs(w, r) for w, r in zip(wrong, valid, strict=True) if r >= 2]
    assert split.single_verdict == valid.count(1)
    assert split.no_verdict == valid.count(0)
    if not shares:
        assert values(split) == (None, None, None)
        assert split.majority_limit is None
        return
    systematic, random = np.mean(shares, axis=0)
    assert values(split) == pytest.approx((systematic + random, systematic, random), abs=1e-12)
    for part, most in ((split.rate, 1.0), (split.systematic, 1.0), (split.random, 0.5)):
        assert part.n == len(shares)
        assert part.low is not None
        assert part.high is not None
        assert 0.0 <= part.low <= (part.value or 0.0) <= part.high <= most
        assert part.high - part.low > 1e-6


def test_hand_computed_parts_with_unequal_repeats() -> None:
    """Wrong 2 of 3, 1 of 2, 4 of 4, 0 of 5; one of one and none of none are left out and counted."""
    split = split_wrong_verdicts([2, 1, 4, 0, 1, 0], [3, 2, 4, 5, 1, 0], range(6))
    assert split.systematic.value == pytest.approx((2 / 6 + 0 + 12 / 12 + 0) / 4)
    assert split.random.value == pytest.approx((2 / 6 + 1 / 2 + 0 + 0) / 4)
    assert split.rate.value == pytest.approx((2 / 3 + 1 / 2 + 1 + 0) / 4)
    assert (split.rate.n, split.rate.repeats, split.single_verdict, split.no_verdict) == (4, 5, 1, 1)


@pytest.mark.parametrize("repeats", [2, 3, 5])
def test_both_parts_are_unbiased_for_every_number_of_repeats(repeats: int) -> None:
    """The exact expectation over the binomial distribution of the wrong verdicts."""
    from scipy.stats import binom

    chances = [0.0, 0.1, 0.5, 0.8, 1.0]
    expected = np.zeros(2)
    for chance in chances:
        for wrong in range(repeats + 1):
            split = split_wrong_verdicts([wrong], [repeats], ["q"])
            expected += binom.pmf(wrong, repeats, chance) * np.array([split.systematic.value, split.random.value])
    assert expected / 5 == pytest.approx([np.mean([e**2 for e in chances]), np.mean([e * (1 - e) for e in chances])])


def test_errors_that_never_change_are_all_systematic() -> None:
    split = split_wrong_verdicts([3] * 4 + [0] * 16, [3] * 20, range(20))
    assert values(split) == (0.2, 0.2, 0.0)
    assert split.majority_limit == (0.2, 0.2)
    assert split.random.high == pytest.approx((wilson(0, 20).high or 0) / 2)  # none of twenty, halved: not certainty
    assert split.systematic.low == pytest.approx(wilson(4, 20).low)


def test_a_coin_has_an_equal_share_of_both() -> None:
    """Every item errs with chance 1/2: a quarter systematic, a quarter random."""
    wrong = np.random.default_rng(0).binomial(10, 0.5, size=4000)
    split = split_wrong_verdicts(wrong, [10] * 4000, range(4000))
    assert values(split) == pytest.approx((0.5, 0.25, 0.25), abs=0.01)


@given(chances=st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_bounds_of_the_majority_limit_hold_for_every_set_of_chances(chances: list[float]) -> None:
    e = np.array(chances)
    systematic, random, limit = (e**2).mean(), (e * (1 - e)).mean(), (e > 0.5).mean()
    assert systematic - random <= limit + 1e-12
    assert limit <= systematic + 3 * random + 1e-12


def test_bounds_of_the_majority_limit_are_reached() -> None:
    """At a chance of one half, counted as no error, and just above it, counted as one."""
    split = split_wrong_verdicts([1, 1, 2, 0], [2, 2, 2, 2], range(4))  # parts 1/4 and 1/4
    assert split.majority_limit == (0.0, 1.0)


def example() -> tuple[list[str], np.ndarray, list[int]]:
    rng = np.random.default_rng(5)
    reference = rng.choice(LABELS, 60).tolist()
    counts = np.array([rng.multinomial(size, [0.3, 0.2, 0.5]) for size in rng.integers(0, 7, 60)])
    return reference, counts, [row % 21 for row in range(60)]


def test_rates_are_those_of_the_items_with_two_verdicts() -> None:
    reference, counts, clusters = example()
    splits = error_split(reference, counts, clusters, labels=LABELS, positive="CORRECT")
    paired = counts.sum(axis=1) >= 2
    people, kept = np.array(reference)[paired].tolist(), np.array(clusters)[paired].tolist()
    for split, single in ((splits.false_negative, false_negative_rate), (splits.false_positive, false_positive_rate)):
        whole = single(people, counts[paired], kept, labels=LABELS, positive="CORRECT")
        assert (split.rate.value, split.rate.low, split.rate.high) == pytest.approx(
            (whole.value, whole.low, whole.high)
        )
        assert (split.rate.n, split.rate.clusters, split.rate.repeats) == (whole.n, whole.clusters, whole.repeats)


def test_random_part_is_half_the_disagreement_of_repeats_about_the_side() -> None:
    reference, counts, clusters = example()
    splits = error_split(reference, counts, clusters, labels=LABELS, positive="CORRECT")
    sides = np.column_stack([counts[:, :2].sum(axis=1), counts[:, 2]])
    whole = pairwise_disagreement(sides, clusters)
    random = splits.wrong_side.random
    assert [random.value, random.low, random.high] == pytest.approx(
        [(number or 0) / 2 for number in (whole.value, whole.low, whole.high)]
    )


def test_wrong_side_pools_both_rates_and_wrong_label_counts_every_other_label() -> None:
    reference, counts = ["INCORRECT", "CORRECT"], [[1, 3, 0], [0, 1, 1]]
    splits = error_split(reference, counts, "ab", labels=LABELS, positive="CORRECT")
    assert values(splits.wrong_side) == pytest.approx((0.25, 0.0, 0.25))
    assert values(splits.wrong_label) == pytest.approx(((3 / 4 + 1 / 2) / 2, (1 / 2 + 0) / 2, (1 / 4 + 1 / 2) / 2))
    two = error_split(["A", "B"], [[1, 2], [2, 2]], "ab", labels=("A", "B"), positive="B")
    assert two.wrong_side == two.wrong_label


@pytest.mark.parametrize("counts", [[], [[0, 0, 1]], [[0, 0, 0], [1, 0, 0]]])
def test_without_a_pair_nothing_is_defined(counts: list[list[int]]) -> None:
    splits = error_split(["CORRECT"] * len(counts), counts, range(len(counts)), labels=LABELS, positive="CORRECT")
    for split in (splits.false_negative, splits.false_positive, splits.wrong_side, splits.wrong_label):
        assert values(split) == (None, None, None)
        assert (split.systematic.low, split.random.high, split.rate.n) == (None, None, 0)
    counted = splits.wrong_side.single_verdict + splits.wrong_side.no_verdict
    assert counted == len(counts)


def test_order_of_items_and_names_of_questions_change_no_digit() -> None:
    reference, counts, clusters = example()
    order = np.random.default_rng(1).permutation(60)
    moved = error_split(
        np.array(reference)[order].tolist(),
        counts[order],
        [f"q{99 - clusters[row]}" for row in order],
        labels=LABELS,
        positive="CORRECT",
    )
    assert moved == error_split(reference, counts, clusters, labels=LABELS, positive="CORRECT")


def test_copies_in_one_question_tell_no_more() -> None:
    wrong, valid = [2, 0, 1, 3, 0, 0, 2, 0] * 3, [3] * 24
    alone = split_wrong_verdicts(wrong, valid, range(24))
    copies = split_wrong_verdicts(wrong * 4, valid * 4, list(range(24)) * 4)
    naive = split_wrong_verdicts(wrong * 4, valid * 4, range(96))
    for part in ("systematic", "random"):
        widths = [
            (getattr(split, part).high or 0) - (getattr(split, part).low or 0) for split in (alone, copies, naive)
        ]
        assert widths[1] == pytest.approx(widths[0], rel=1e-6)
        assert widths[2] < 0.7 * widths[1]


@pytest.mark.parametrize("part", ["systematic", "random"])
def test_intervals_keep_their_level(part: str) -> None:
    """Eighty questions of two items, unequal repeats, chances from Beta(.6, 1.4): 95% within .93 to .985."""
    rng, held, runs = np.random.default_rng(7), 0, 300
    truth = {"systematic": 0.3**2 + 0.3 * 0.7 / 3, "random": 0.3 * 0.7 * 2 / 3}[part]
    clusters = np.repeat(np.arange(80), 2).tolist()
    for _ in range(runs):
        shared, own = rng.beta(0.6, 1.4, 80).repeat(2), rng.beta(0.6, 1.4, 160)
        chances = np.where(rng.random(160) < 0.5, shared, own)
        valid = rng.integers(2, 6, 160)
        split = split_wrong_verdicts(rng.binomial(valid, chances), valid, clusters)
        estimate: object = getattr(split, part)
        held += estimate.low <= truth <= estimate.high  # type: ignore[attr-defined]
    assert 0.92 <= held / runs <= 0.985


@pytest.mark.parametrize(
    ("wrong", "valid", "message"),
    [
        ([2], [1], r"^wrong\[0\]: more wrong verdicts than valid, got 2; expected 1 at most"),
        ([1, 1], [1], r"^wrong, valid: wrong shapes"),
        ([-1], [1], r"^counts: not a count, got -1"),
        ([0.5], [1], r"^counts: not a count, got 0.5"),
    ],
)
def test_impossible_counts_are_refused(wrong: list[float], valid: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        split_wrong_verdicts(wrong, valid, range(len(wrong)))


def test_strangers_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^reference\[0\]: label not on the scale, got 'MAYBE'"):
        error_split(["MAYBE"], [[1, 0, 0]], "a", labels=LABELS, positive="CORRECT")
