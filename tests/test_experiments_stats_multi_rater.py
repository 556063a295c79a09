"""Fleiss' kappa and Gwet's coefficients of several raters against statsmodels and irrCAC."""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path
from typing import Any, Literal

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from experiments.stats.intervals.clustered_wilson import wilson
from experiments.stats.raters.multi_rater import MultiRaterAgreement, multi_rater_agreement
from experiments.stats.raters.rater_agreement import agreement, human_agreement

STORED = json.loads((Path(__file__).parent / "references" / "irrcac.json").read_text(encoding="utf-8"))
LABELS = tuple(STORED["labels"])
WEIGHTS = {"nominal": "identity", "ordinal": "linear", "interval": "quadratic"}
Level = Literal["nominal", "ordinal", "interval"]
every_level = pytest.mark.parametrize("scale_level", ["nominal", "ordinal", "interval"])


def agree(counts: Any, clusters: Any = None, **changes: Any) -> MultiRaterAgreement:
    options: dict[str, Any] = {"labels": LABELS[: len(counts[0]) if len(counts) else 4], "scale_level": "nominal"}
    groups = range(len(counts)) if clusters is None else clusters
    return multi_rater_agreement(
        counts, groups, rng=np.random.default_rng(0), **{**options, "resamples": 200, **changes}
    )


def count(ratings: list[list[int | None]]) -> Any:
    return np.array([[row.count(code) for code in range(1, 5)] for row in ratings])


@every_level
@pytest.mark.parametrize("example", STORED["examples"])
def test_coefficients_equal_irrcac_with_and_without_gaps(example: dict[str, Any], scale_level: Level) -> None:
    expected = example["coefficients"][WEIGHTS[scale_level]]
    result = agree(count(example["ratings"]), scale_level=scale_level)
    assert result.fleiss_kappa.value == pytest.approx(expected["fleiss"], abs=1e-9)
    assert result.gwet_ac.value == pytest.approx(expected["gwet"], abs=1e-9)
    assert result.raw.value == pytest.approx(expected["raw"], abs=1e-9)
    assert result.n_single == sum(sum(code is not None for code in row) == 1 for row in example["ratings"])


@pytest.mark.parametrize("example", STORED["examples"])
@pytest.mark.parametrize(("scale_level", "weights"), [("nominal", "identity"), ("interval", "quadratic")])
def test_alpha_of_people_equals_irrcac(example: dict[str, Any], scale_level: Level, weights: str) -> None:
    ratings = [
        [None if code is None else str(code) for code in rater] for rater in zip(*example["ratings"], strict=True)
    ]
    n = len(ratings[0])
    result = human_agreement(
        ratings, range(n), labels=LABELS, scale_level=scale_level, rng=np.random.default_rng(0), resamples=10
    )
    expected = example["coefficients"][weights]["krippendorff"]
    assert result.alpha.value == pytest.approx(expected, abs=1e-9)


@settings(max_examples=50)
@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=2, max_size=15))
def test_equal_numbers_of_raters_give_fleiss_kappa_of_statsmodels(ratings: list[list[int]]) -> None:
    counts = aggregate_raters(np.array(ratings), n_cat=3)[0]
    result = agree(counts, resamples=5)
    if np.count_nonzero(counts.sum(axis=0)) == 1:
        assert (result.fleiss_kappa.value, result.gwet_ac.value, result.raw.value) == (None, None, 1.0)
    else:
        assert result.fleiss_kappa.value == pytest.approx(fleiss_kappa(counts), abs=1e-9)


@every_level
def test_alpha_is_fleiss_kappa_with_a_small_correction(scale_level: Level) -> None:
    """With equal numbers of raters 1 - alpha = (1 - kappa) (N - 1) / N, N ratings in all, where distances agree."""
    example = STORED["examples"][1]
    counts = count(example["ratings"])
    kappa = agree(counts, scale_level=scale_level).fleiss_kappa.value
    total = counts.sum()
    domain = np.arange(4.0)
    alpha = krippendorff.alpha(value_counts=counts, value_domain=domain, level_of_measurement=scale_level)
    corrected = 1 - (1 - (kappa or 0)) * (total - 1) / total
    assert bool(abs(corrected - alpha) < 1e-9) is (scale_level != "ordinal")


@every_level
def test_two_raters_give_gwets_coefficient_of_the_table(scale_level: Level) -> None:
    rng = np.random.default_rng(5)
    first, second = rng.integers(4, size=(2, 40))
    pair = agree(np.eye(4, dtype=int)[first] + np.eye(4, dtype=int)[second], scale_level=scale_level)
    table = agreement(
        [LABELS[code] for code in first],
        np.eye(4, dtype=int)[second],
        range(40),
        labels=LABELS,
        scale_level=scale_level,
        rng=np.random.default_rng(0),
        resamples=200,
    )
    assert pair.gwet_ac.value == pytest.approx(table.gwet_ac2.value, abs=1e-12)
    assert (table.gwet_ac2.value == table.gwet_ac1.value) is (scale_level == "nominal")


def test_unequal_numbers_of_raters_have_a_value() -> None:
    """By hand: agreement (1 + 1 + 1/3) / 3, shares of the first label 1, 1 and 1/3."""
    result = agree([[3, 0], [2, 0], [1, 2]])
    observed, share = (1 + 1 + 1 / 3) / 3, (1 + 1 + 1 / 3) / 3
    chance = share**2 + (1 - share) ** 2
    assert result.raw.value == pytest.approx(observed)
    assert result.fleiss_kappa.value == pytest.approx((observed - chance) / (1 - chance))
    varied = 2 * share * (1 - share)
    assert result.gwet_ac.value == pytest.approx((observed - varied) / (1 - varied))
    assert (result.raw.n, result.raw.repeats) == (3, 3)


@every_level
@pytest.mark.parametrize("place", [0, 2])
def test_one_class_only_is_not_defined_but_the_raw_agreement_is(scale_level: Level, place: int) -> None:
    counts = np.zeros((5, 3), dtype=int)
    counts[:, place] = [2, 3, 3, 5, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = agree(counts, scale_level=scale_level)
    assert (result.raw.value, result.raw.low) == (1.0, pytest.approx(wilson(5, 5).low))
    for estimate in (result.fleiss_kappa, result.gwet_ac):
        assert (estimate.value, estimate.low, estimate.high, estimate.n) == (None, None, None, 5)


@pytest.mark.parametrize("counts", [np.zeros((0, 2), dtype=int), [[0, 0]], [[1, 0], [0, 1], [0, 0]]])
def test_without_two_raters_of_an_item_nothing_is_defined(counts: Any) -> None:
    result = agree(counts, labels=LABELS[:2])
    for estimate in (result.raw, result.fleiss_kappa, result.gwet_ac):
        assert (estimate.value, estimate.low, estimate.high, estimate.n) == (None, None, None, 0)
    assert result.n_single == int((np.sum(counts, axis=1) == 1).sum())


def test_opposite_labels_are_not_clipped() -> None:
    result = agree([[1, 1], [1, 1], [1, 1]])
    assert result.fleiss_kappa.value == pytest.approx(-1.0)
    assert result.gwet_ac.value == pytest.approx(-1.0)
    assert result.raw.value == 0.0


def test_a_rare_class_parts_kappa_from_ac1() -> None:
    result = agree([[2, 0]] * 94 + [[1, 1]] * 6)
    chance = 0.97**2 + 0.03**2
    assert result.fleiss_kappa.value == pytest.approx((0.94 - chance) / (1 - chance))
    assert result.fleiss_kappa.value == pytest.approx(-0.0309, abs=5e-5)
    assert result.gwet_ac.value == pytest.approx(0.9363, abs=5e-5)


def test_perfect_agreement_on_two_classes_has_a_width() -> None:
    result = agree([[3, 0], [0, 3]] * 15)
    for estimate in (result.fleiss_kappa, result.gwet_ac):
        assert (estimate.value, estimate.high, estimate.method) == (1.0, 1.0, "wilson-clustered")
        assert 0.5 < (estimate.low or 0) < 0.95


@every_level
def test_order_and_names_change_no_digit(scale_level: Level) -> None:
    rng = np.random.default_rng(6)
    counts = rng.multinomial(4, [0.1, 0.2, 0.3, 0.4], size=50) - rng.integers(0, 2, size=(50, 4))
    counts = np.maximum(counts, 0)
    clusters = [row % 20 for row in range(50)]
    order = rng.permutation(50)
    result = agree(counts, clusters, scale_level=scale_level)
    assert agree(counts[order], [f"q{clusters[row]}" for row in order], scale_level=scale_level) == result
    turned = agree(counts[:, ::-1], clusters, scale_level=scale_level, labels=LABELS[::-1])
    assert turned.fleiss_kappa.value == pytest.approx(result.fleiss_kappa.value, abs=1e-12)
    assert turned.gwet_ac.value == pytest.approx(result.gwet_ac.value, abs=1e-12)


def test_ratings_in_place_of_counts_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^counts: not numbers"):
        agree([["A", "B"], ["B", "A"]])
    with pytest.raises(ValueError, match=r"^counts: wrong shape, got \(2, 3\); expected \(2, 2\)"):
        agree([[0, 1, 1], [1, 0, 0]], labels=LABELS[:2])
    with pytest.raises(ValueError, match=r"^counts: not a count, got -1"):
        agree([[3, -1]])


def test_fifty_thousand_ratings_are_fast() -> None:
    """Ten thousand items of five raters, with a thousand resamples: the time does not grow with pairs of raters."""
    rng = np.random.default_rng(0)
    codes = rng.choice(3, p=[0.2, 0.2, 0.6], size=(5, 10_000))
    ratings: Any = np.array(LABELS[:3])[codes].tolist()
    start = time.process_time()
    people = human_agreement(
        ratings, range(10_000), labels=LABELS[:3], scale_level="ordinal", rng=np.random.default_rng(0)
    )
    several = agree((codes[:, :, None] == np.arange(3)).sum(axis=0), resamples=1000)
    assert time.process_time() - start < 20
    assert (people.alpha.high or 0) - (people.alpha.low or 0) < 0.03
    assert (several.fleiss_kappa.high or 0) - (several.fleiss_kappa.low or 0) < 0.03
