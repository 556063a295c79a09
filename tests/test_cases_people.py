"""Figures about people and several graders that have misled, each with variants of its kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from experiments.stats.clusters.clustered_mean import clustered_mean
from experiments.stats.intervals.clustered_wilson import wilson
from experiments.stats.raters.alternative_annotator import alternative_annotator_test
from experiments.stats.raters.consensus import human_consensus
from experiments.stats.raters.human_ceiling import human_ceiling
from experiments.stats.raters.multi_rater import multi_rater_agreement
from experiments.stats.repeats.inconsistency import flip_rate

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
LETTERS = {"C": "CORRECT", "I": "INCORRECT", "N": "NOT_ATTEMPTED", ".": None}


def by_rater(*items: str) -> list[list[str | None]]:
    return [[LETTERS[letter] for letter in row] for row in zip(*items, strict=True)]


@pytest.mark.parametrize(
    ("votes", "label", "stratum", "share"),
    [
        ("CIC", "CORRECT", "disputed", 2 / 3),
        ("CCC", "CORRECT", "unanimous", 1.0),
        ("CI.", None, "disputed", 1 / 2),
        ("CIN", None, "disputed", 1 / 3),
        ("C..", "CORRECT", "single", 1.0),
        ("...", None, "unlabelled", None),
        ("IIIIC", "INCORRECT", "disputed", 4 / 5),
        ("CCIIN", None, "disputed", 2 / 5),
    ],
)
def test_disagreement_of_people_is_kept_beside_their_majority(
    votes: str, label: str | None, stratum: str, share: float | None
) -> None:
    result = human_consensus(by_rater(votes), labels=LABELS)
    assert (result.labels, result.strata, result.agreement) == ((label,), (stratum,), (share,))


def test_people_are_held_to_the_measure_that_a_grader_is_held_to() -> None:
    """A third of the items is disputed by one of three: the ceiling for a grader is below 1."""
    ratings = by_rater("CCC", "III", "CIC", "CCC", "III", "IIC")
    result = human_ceiling(
        ratings,
        range(6),
        labels=LABELS,
        positive="CORRECT",
        scale_level="nominal",
        rng=np.random.default_rng(0),
        resamples=50,
    )
    # Twelve labels of unanimous items; on a disputed one only the minority faces a majority, and misses it.
    assert result.raw.value == pytest.approx(12 / (12 + 2))
    assert result.raw.high is not None
    assert result.raw.high < 1


@pytest.mark.parametrize(("n", "low"), [(10, 0.7225), (3, 0.4385), (1, 0.2065), (50, 0.9287), (300, 0.9874)])
def test_perfect_stability_of_few_items_is_an_interval(n: int, low: float) -> None:
    """Ten of ten items stable is 0.72 to 1; and with three repeats each they are still ten items."""
    assert wilson(n, n).low == pytest.approx(low, abs=5e-4)
    flips = flip_rate([[0, 0, 3]] * n, range(n))
    assert (flips.value, flips.n) == (0.0, n)
    assert flips.high == pytest.approx(1 - low, abs=5e-4)


@pytest.mark.parametrize(
    ("passed", "shares"), [([13, 20, 16, 17], [0.26, 0.40, 0.32, 0.34]), ([0, 50, 25, 50], [0.0, 1.0, 0.5, 1.0])]
)
def test_a_score_depends_on_its_grader_and_the_spread_is_shown(passed: Sequence[int], shares: Sequence[float]) -> None:
    """Fifty answers, four graders: each has its own rate with its interval, and pairs have a difference."""
    n = 50
    rates = [wilson(count, n) for count in passed]
    assert [rate.value for rate in rates] == pytest.approx(shares)
    assert all(rate.low < rate.high for rate in rates if rate.low is not None and rate.high is not None)
    first, second = (np.arange(n) < count for count in passed[:2])
    difference = clustered_mean(second.astype(float) - first, range(n))
    assert difference.value == pytest.approx(shares[1] - shares[0])


def test_a_lenient_grader_is_not_the_better_one() -> None:
    """The grader that passes most has the higher score, and loses against people by each of them."""
    ratings = by_rater(*(["CCC"] * 20 + ["III"] * 30 + ["CCI"] * 5 + ["IIC"] * 5))
    lenient: Any = [[0, 0, 1]] * 60
    careful: Any = [[0, 0, 1]] * 20 + [[1, 0, 0]] * 30 + [[0, 0, 1]] * 5 + [[1, 0, 0]] * 5
    outcomes = [
        alternative_annotator_test(ratings, counts, range(60), labels=LABELS, scale_level="nominal", epsilon=0.15)
        for counts in (lenient, careful)
    ]
    assert [outcome.passes for outcome in outcomes] == [False, True]


@pytest.mark.parametrize("counts", [[[3, 0], [2, 0], [1, 2]], [[1, 1], [4, 0]], [[0, 5], [1, 0], [2, 2]]])
def test_unequal_numbers_of_raters_have_a_coefficient(counts: list[list[int]]) -> None:
    result = multi_rater_agreement(
        counts, range(len(counts)), labels=("A", "B"), scale_level="nominal", rng=np.random.default_rng(0), resamples=20
    )
    assert result.fleiss_kappa.value is not None
    assert -1 <= result.fleiss_kappa.value <= 1
    assert result.gwet_ac.value is not None


def test_the_ratings_themselves_are_no_counts() -> None:
    """Labels given where counts of labels belong stop, in place of a figure without meaning."""
    for wrong in ([["A", "B"], ["B", "B"]], [["1", "2"], ["2", "2"]], [[True, False]], [[0.5, 0.5]]):
        with pytest.raises(ValueError, match=r"^counts: "):
            multi_rater_agreement(
                wrong, range(len(wrong)), labels=("A", "B"), scale_level="nominal", rng=np.random.default_rng(0)
            )
