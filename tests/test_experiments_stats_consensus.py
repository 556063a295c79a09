"""Consensus of people: by majority, and by Dawid and Skene, against our own small EM and the published table."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.stats.raters.consensus import DawidSkeneConsensus, HumanConsensus, dawid_skene, human_consensus

LABELS = ("A", "B", "C")
Ratings = list[list[str | None]]

needs_crowd_kit = pytest.mark.skipif(
    importlib.util.find_spec("crowdkit") is None,
    reason="SKIPPED, NOT PASSED: crowd-kit is not installed; pip install crowd-kit",
)

# Dawid and Skene (1979), Table 1: five anaesthetists on 45 patients, the first one three times.
ANAESTHETISTS = ("1", "1", "1", "2", "3", "4", "5")
TABLE = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212
1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111
1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111
2322222 1211111 2222222
"""
PATIENTS = TABLE.split()


def columns(*items: str) -> Ratings:
    """Ratings from one text an item, one letter a rater, a dot for none."""
    return [[None if letter == "." else letter for letter in row] for row in zip(*items, strict=True)]


def consensus(*items: str) -> HumanConsensus:
    return human_consensus(columns(*items), labels=LABELS)


def test_two_of_three_decide_and_the_item_is_disputed() -> None:
    result = human_consensus([["CORRECT"], ["INCORRECT"], ["CORRECT"]], labels=("INCORRECT", "CORRECT"))
    assert (result.labels, result.strata) == (("CORRECT",), ("disputed",))
    assert result.agreement == (2 / 3,)
    assert (result.n_labelled, result.n_tied, result.n_disputed) == (1, 0, 1)


def test_each_stratum_and_each_count() -> None:
    result = consensus("AAA.", "AB..", "A...", "....", "AABB", "ABCC", "CBC.")
    assert result.labels == ("A", None, "A", None, None, None, "C")
    assert result.agreement == (1.0, 0.5, 1.0, None, 0.5, 0.5, 2 / 3)
    assert result.strata == ("unanimous", "disputed", "single", "unlabelled", "disputed", "disputed", "disputed")
    assert (result.n_labelled, result.n_tied, result.n_unlabelled, result.n_disputed) == (3, 3, 1, 4)


def test_a_plurality_is_no_majority() -> None:
    assert consensus("AABC.").labels == (None,)
    assert consensus("AAABC").labels == ("A",)


@pytest.mark.parametrize("ratings", [[], [[]], [[], []]])
def test_without_items_there_is_no_consensus(ratings: Ratings) -> None:
    assert human_consensus(ratings, labels=LABELS) == HumanConsensus((), (), (), 0, 0, 0, 0)


@settings(max_examples=60)
@given(st.lists(st.text("ABC.", min_size=4, max_size=4), min_size=1, max_size=12), st.permutations(range(4)))
def test_consensus_is_symmetric_in_raters_labels_and_copies(items: list[str], order: list[int]) -> None:
    ratings = columns(*items)
    result = human_consensus(ratings, labels=LABELS)
    assert human_consensus([ratings[place] for place in order], labels=LABELS[::-1]) == result
    assert human_consensus(ratings * 2, labels=LABELS).labels == result.labels
    assert result.n_labelled + result.n_tied + result.n_unlabelled == len(items)
    for label, item in zip(result.labels, items, strict=True):
        votes = item.replace(".", "")
        assert (label is not None) == any(2 * votes.count(letter) > len(votes) for letter in votes)


def test_strangers_and_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^ratings\[1\].*: label not on the scale, got 'D'"):
        human_consensus([["A", "B"], ["A", "D"]], labels=LABELS)
    with pytest.raises(ValueError, match=r"^ratings\[1\]: wrong length, got 1; expected 2"):
        human_consensus([["A", "B"], ["A"]], labels=LABELS)
    with pytest.raises(ValueError, match=r"^ratings\[0\]: wrong length, got a text"):
        human_consensus(["AB", "AC"], labels=LABELS)


def own_em(items: list[str], raters: list[int], scale: str, iterations: int) -> tuple[Any, Any, Any]:
    """Expectation-maximisation written out from the paper: (2.3), (2.4), (2.5), begun at the shares of votes (3.1)."""
    counts = np.zeros((len(items), max(raters) + 1, len(scale)))
    for row, item in enumerate(items):
        for rater, letter in zip(raters, item, strict=True):
            if letter != ".":
                counts[row, rater, scale.index(letter)] += 1
    truth = counts.sum(axis=1) / counts.sum(axis=(1, 2))[:, None]
    for step in range(iterations + 1):
        prevalence = truth.mean(axis=0)
        errors = np.maximum(np.einsum("ij,ikl->kjl", truth, counts), 1e-10)
        errors /= errors.sum(axis=2, keepdims=True)
        if step == iterations:
            break
        logs = np.log(np.maximum(prevalence, 1e-10)) + np.einsum("ikl,kjl->ij", counts, np.log(errors))
        truth = np.exp(logs - logs.max(axis=1, keepdims=True))
        truth /= truth.sum(axis=1, keepdims=True)
    return truth, errors, prevalence


def crowd(n: int = 60, raters: int = 5, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    skills = rng.uniform(0.4, 0.95, size=raters)
    truth = rng.choice(3, size=n, p=[0.2, 0.3, 0.5])
    given = np.where(rng.random((n, raters)) < skills, truth[:, None], rng.integers(3, size=(n, raters)))
    gaps = (rng.random((n, raters)) < 0.15) & (np.arange(raters) > 0)
    return [
        "".join("." if gone else LABELS[code] for code, gone in zip(*row, strict=True))
        for row in zip(given, gaps, strict=True)
    ]


def close(found: Any, expected: Any, margin: float) -> bool:
    return bool(np.allclose(np.array(found, dtype=float), np.array(expected, dtype=float), atol=margin, rtol=0))


@needs_crowd_kit
@pytest.mark.parametrize(("seed", "iterations"), [(0, 1), (1, 15), (2, 7)])
def test_dawid_skene_equals_the_em_of_the_paper_step_by_step(seed: int, iterations: int) -> None:
    items = crowd(seed=seed)
    result = dawid_skene(columns(*items), labels=LABELS, max_iterations=iterations, tolerance=0.0)
    truth, errors, prevalence = own_em(items, list(range(5)), "ABC", iterations)
    assert (result.iterations, result.converged) == (iterations, False)
    assert close(result.posteriors, truth, 1e-9)
    assert close(result.prevalence, prevalence, 1e-9)
    assert close(result.confusion, errors, 1e-8)


@needs_crowd_kit
def test_dawid_skene_gives_the_published_anaesthetists() -> None:
    """Prevalences, the patients in doubt, and the first anaesthetist, as in the tables of Dawid and Skene (1979)."""
    result = dawid_skene(columns(*PATIENTS), labels=tuple("1234"), raters=ANAESTHETISTS)
    assert result.converged
    assert result.raters == ("1", "2", "3", "4", "5")
    assert close(result.prevalence, [0.40, 0.42, 0.11, 0.07], 0.005)
    truth, errors, _ = own_em(PATIENTS, [0, 0, 0, 1, 2, 3, 4], "1234", 500)
    assert close(result.posteriors, truth, 1e-4)
    assert close(result.confusion, errors, 1e-3)
    assert close(result.confusion[0], PUBLISHED_FIRST, 0.005)
    in_doubt = {patient for patient, row in enumerate(result.posteriors, 1) if (max(row) or 0) < 0.99}  # type: ignore[type-var]
    assert in_doubt <= {7, 12, 35, 38}
    assert in_doubt != set()


# Their Table 2, observer 1: rows the inferred class, columns the class given, percent.
PUBLISHED_FIRST = [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]]


@needs_crowd_kit
def test_dawid_skene_does_not_hang_on_order_or_names() -> None:
    items = crowd(seed=4)
    whole = dawid_skene(columns(*items), labels=LABELS, max_iterations=10)
    order = np.random.default_rng(1).permutation(len(items)).tolist()
    moved = columns(*[items[row] for row in order])
    shuffled = dawid_skene(moved, labels=LABELS, raters=list("vwxyz"), max_iterations=10)
    assert shuffled.labels == tuple(whole.labels[row] for row in order)
    assert shuffled.posteriors == tuple(whole.posteriors[row] for row in order)
    assert (shuffled.confusion, shuffled.prevalence) == (whole.confusion, whole.prevalence)
    turned = dawid_skene(columns(*items)[::-1], labels=LABELS[::-1], max_iterations=10)
    assert turned.labels == whole.labels
    assert close([row[::-1] for row in turned.posteriors], whole.posteriors, 1e-9)
    assert close([np.array(one)[::-1, ::-1] for one in turned.confusion[::-1]], whole.confusion, 1e-9)


@needs_crowd_kit
def test_a_person_who_calls_everything_the_other_way_round_is_of_use() -> None:
    items = ["AAB", "BBA", "AAB", "BBA", "AAB", "BBA", ".AB"]
    result = dawid_skene(columns(*items), labels=("A", "B"), max_iterations=10)
    assert result.labels == ("A", "B", "A", "B", "A", "B", "A")
    assert close(result.confusion[2], [[0, 1], [1, 0]], 1e-6)


@needs_crowd_kit
def test_two_people_who_never_agree_resolve_nothing() -> None:
    result = dawid_skene(columns("AB", "BA", "AB", "BA"), labels=LABELS)
    assert result.labels == (None,) * 4
    assert result.posteriors[0][2] == 0.0
    assert result.confusion[0][2] == (None, None, None)


@needs_crowd_kit
def test_items_and_people_without_ratings_are_kept_in_their_places() -> None:
    items = ["AA..", "....", "BB..", "BB.."]
    result = dawid_skene(columns(*items), labels=LABELS, raters=("x", "y", "z", "x"), max_iterations=10)
    assert result.labels == ("A", None, "B", "B")
    assert result.posteriors[1] == (None, None, None)
    assert result.raters == ("x", "y", "z")
    assert result.confusion[2] == ((None,) * 3,) * 3
    assert sum(result.prevalence) == pytest.approx(1)
    assert all(sum(row) == pytest.approx(1) for row in result.posteriors if row[0] is not None)  # type: ignore[arg-type]


@pytest.mark.parametrize("ratings", [[], [[]], [[None, None], [None, None]]])
def test_without_a_rating_the_model_says_nothing(ratings: Ratings) -> None:
    n = len(ratings[0]) if ratings else 0
    result = dawid_skene(ratings, labels=LABELS)
    assert isinstance(result, DawidSkeneConsensus)
    assert (result.labels, result.posteriors) == ((None,) * n, ((None,) * 3,) * n)
    assert len(result.confusion) == len(ratings)


def test_without_crowd_kit_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "crowdkit", None)
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", None)
    with pytest.raises(ImportError, match=r'pip install "autorater-calibration\[crowd\]"$'):
        dawid_skene([["A"], ["B"]], labels=LABELS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_iterations": 0}, r"max_iterations=0"),
        ({"tolerance": -1.0}, r"tolerance=-1\.0"),
        ({"tolerance": float("nan")}, r"tolerance=nan"),
        ({"raters": ["x"]}, r"^raters: wrong length, got 1; expected 2"),
        ({"labels": ("A", "C")}, r"^ratings\[1\].*: label not on the scale, got 'B'"),
    ],
)
def test_options_of_the_model_are_checked(changes: dict[str, Any], message: str) -> None:
    options: dict[str, Any] = {"labels": LABELS, **changes}
    with pytest.raises(ValueError, match=message):
        dawid_skene([["A"], ["B"]], **options)
