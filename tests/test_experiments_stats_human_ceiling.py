"""People against people, and a grader beside them, against loops over raters and items."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from experiments.stats.errors.rates import false_negative_rate, false_positive_rate
from experiments.stats.intervals.clustered_wilson import clustered_wilson, wilson
from experiments.stats.raters.grader_beside_people import GraderBesidePeople, grader_beside_people
from experiments.stats.raters.human_ceiling import HumanCeiling, human_ceiling
from experiments.stats.raters.rater_agreement import agreement

LABELS = ("WRONG", "PARTLY", "RIGHT")
Ratings = list[list[str | None]]


def columns(*items: str) -> Ratings:
    """Ratings from one text an item, one letter a rater, a dot for none."""
    names = {label[0]: label for label in LABELS}
    return [[names.get(letter) for letter in row] for row in zip(*items, strict=True)]


def ceiling(ratings: Ratings, clusters: Sequence[Any] | None = None, **changes: Any) -> HumanCeiling:
    n = len(ratings[0]) if ratings else 0
    options: dict[str, Any] = {"labels": LABELS, "positive": "RIGHT", "scale_level": "nominal", "resamples": 100}
    return human_ceiling(
        ratings, range(n) if clusters is None else clusters, rng=np.random.default_rng(0), **{**options, **changes}
    )


def beside(ratings: Ratings, counts: Any, clusters: Sequence[Any] | None = None, **changes: Any) -> GraderBesidePeople:
    options: dict[str, Any] = {"labels": LABELS, "positive": "RIGHT", **changes}
    return grader_beside_people(ratings, counts, range(len(counts)) if clusters is None else clusters, **options)


def people(n: int = 80, raters: int = 4, seed: int = 0) -> tuple[Ratings, Any]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    codes = np.where(rng.random((raters + 3, n)) < 0.3, rng.integers(3, size=(raters + 3, n)), truth)
    gaps = rng.random((raters, n)) < 0.2
    ratings: Ratings = [
        [None if gone else LABELS[code] for code, gone in zip(*row, strict=True)]
        for row in zip(codes[:raters], gaps, strict=True)
    ]
    return ratings, np.eye(3, dtype=int)[codes[raters:]].sum(axis=0)


def by_loops(ratings: Ratings) -> list[tuple[int, int, str, str]]:
    """(rater, item, majority of the others, own label) wherever there are the last two."""
    found = []
    for rater, row in enumerate(ratings):
        for item, own in enumerate(row):
            others = [other[item] for place, other in enumerate(ratings) if place != rater and other[item] is not None]
            top = [label for label in LABELS if 2 * others.count(label) > len(others)]
            if own is not None and top:
                found.append((rater, item, top[0], own))
    return found


def test_each_rater_is_measured_as_a_grader_would_be() -> None:
    ratings, _ = people(seed=1)
    clusters = [item % 30 for item in range(80)]
    result = ceiling(ratings, clusters, scale_level="ordinal")
    rng = np.random.default_rng(0)
    assert [one.rater for one in result.raters] == [0, 1, 2, 3]
    for one in result.raters:
        rows = [row for row in by_loops(ratings) if row[0] == one.rater]
        reference, items = [row[2] for row in rows], [clusters[row[1]] for row in rows]
        counts = [[int(label == row[3]) for label in LABELS] for row in rows]
        options: dict[str, Any] = {"labels": LABELS, "positive": "RIGHT"}
        assert one.false_negative_rate == false_negative_rate(reference, counts, items, **options)
        assert one.false_positive_rate == false_positive_rate(reference, counts, items, **options)
        assert one.agreement == agreement(
            reference, counts, items, labels=LABELS, scale_level="ordinal", rng=rng, resamples=100
        )
        own = [row[3] for row in rows]
        kappa = cohen_kappa_score(reference, own, labels=LABELS, weights="linear")
        assert one.agreement.cohen_kappa.value == pytest.approx(kappa, abs=1e-9)


def test_all_raters_together_weigh_each_label_alike() -> None:
    ratings, _ = people(seed=2)
    clusters = [item % 30 for item in range(80)]
    result, rows = ceiling(ratings, clusters), by_loops(ratings)
    raw = [(item, float(own == top)) for _, item, top, own in rows]
    missed = [(item, float(own != "RIGHT")) for _, item, top, own in rows if top == "RIGHT"]
    passed = [(item, float(own == "RIGHT")) for _, item, top, own in rows if top != "RIGHT"]
    for found, expected in (
        (result.raw, raw),
        (result.false_negative_rate, missed),
        (result.false_positive_rate, passed),
    ):
        values, items = [value for _, value in expected], [item for item, _ in expected]
        wanted = clustered_wilson(values, [clusters[item] for item in items], repeats=1)
        assert found.value == pytest.approx(np.mean(values), abs=1e-12)
        assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-9)
        assert (found.n, found.clusters) == (len(set(items)), wanted.clusters)
        assert found.repeats == max(items.count(item) for item in items)


@pytest.mark.parametrize(
    ("scale_level", "weights"), [("nominal", None), ("ordinal", "linear"), ("interval", "quadratic")]
)
def test_kappa_of_all_equals_scikit_learn(scale_level: str, weights: str | None) -> None:
    ratings, _ = people(seed=3)
    rows = by_loops(ratings)
    expected = cohen_kappa_score([row[2] for row in rows], [row[3] for row in rows], labels=LABELS, weights=weights)
    found = ceiling(ratings, scale_level=scale_level).kappa
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert (found.low or 1) < expected < (found.high or 0)


def test_two_people_are_measured_against_each_other() -> None:
    result = ceiling(columns("RR", "RR", "RW", "WW", "PW", "R.", ".."))
    assert (result.raw.value, result.raw.n, result.n_raters) == (3 / 5, 5, 2)
    first, second = result.raters
    assert (first.false_negative_rate.value, first.false_positive_rate.value) == (0.0, 1 / 3)
    assert (second.false_negative_rate.value, second.false_positive_rate.value) == (1 / 3, 0.0)
    assert (result.false_negative_rate.value, result.false_negative_rate.n) == (1 / 5, 3)


def test_three_people_with_a_tie_among_the_others() -> None:
    """R, R, W: the first two face a tied R and W; the third faces R and R, and misses it."""
    result = ceiling(columns("RRW"))
    assert [one.rater for one in result.raters] == [2]
    assert (result.raw.value, result.raw.n, result.false_negative_rate.value) == (0.0, 1, 1.0)
    assert result.false_positive_rate.value is None


@pytest.mark.parametrize("ratings", [[], [[]], columns("R", "W"), columns("R.", ".W"), columns("..", "..")])
def test_without_a_second_person_there_is_no_ceiling(ratings: Ratings) -> None:
    result = ceiling(ratings)
    estimates = (result.raw, result.kappa, result.false_negative_rate, result.false_positive_rate)
    assert [(one.value, one.low, one.high, one.n) for one in estimates] == [(None, None, None, 0)] * 4
    assert (result.raters, result.n_raters) == ((), 0)


def test_one_class_has_agreement_and_no_kappa() -> None:
    result = ceiling(columns(*["RRR"] * 6))
    assert (result.raw.value, result.raw.low) == (1.0, pytest.approx(wilson(6, 6).low))
    assert (result.kappa.value, result.kappa.low) == (None, None)
    assert (result.false_negative_rate.value, result.false_negative_rate.high) == (
        0.0,
        pytest.approx(wilson(0, 6).high),
    )
    assert result.false_positive_rate.value is None


def test_a_grader_beside_people_equals_a_t_test_of_sums_by_item() -> None:
    """Linearised: an item's sum of differences less its number of labels times the mean, CR2 by item."""
    ratings, counts = people(seed=4)
    counts[5] = 0
    rows = [row for row in by_loops(ratings) if row[1] != 5]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    place = {label: position for position, label in enumerate(LABELS)}
    result = beside(ratings, counts)
    raw = [(item, shares[item][place[top]] - (own == top)) for _, item, top, own in rows]
    passed = [(item, shares[item][2] - (own == "RIGHT")) for _, item, top, own in rows if top != "RIGHT"]
    missed = [(item, (own == "RIGHT") - shares[item][2]) for _, item, top, own in rows if top == "RIGHT"]
    for found, values in (
        (result.raw, raw),
        (result.false_negative_rate, missed),
        (result.false_positive_rate, passed),
    ):
        numbers = np.array([value for _, value in values])
        items = sorted({item for item, _ in values})
        own = [numbers[[place for place, (i, _) in enumerate(values) if i == item]] for item in items]
        mean, n = numbers.mean(), len(numbers)
        error = np.sqrt(sum((one - mean).sum() ** 2 / (1 - len(one) / n) for one in own)) / n
        half = stats.t.ppf(0.975, len(items) - 1) * error
        assert found.estimate.value == pytest.approx(mean, abs=1e-9)
        assert (found.estimate.low, found.estimate.high) == pytest.approx((mean - half, mean + half), abs=1e-9)
        assert found.p_value == pytest.approx(2 * stats.t.sf(abs(mean) / error, len(items) - 1), abs=1e-9)
        assert (found.estimate.n, found.estimate.repeats, found.test) == (len(items), 3, "student-clustered")


def test_one_label_an_item_gives_scipys_paired_t_test() -> None:
    ratings = columns(*["RRW", "RWR", "RWW", "WRR", "WWR", "WRW"] * 6)
    counts = np.eye(3, dtype=int)[np.random.default_rng(0).integers(0, 3, size=36)]
    top = [max(set(item), key=item.count) for item in zip(*ratings, strict=True)]
    gains = [float(LABELS[row.argmax()] == label) for row, label in zip(counts, top, strict=True)]
    expected = stats.ttest_rel(gains, np.zeros(36))
    found = beside(ratings, counts).raw
    low, high = expected.confidence_interval(0.95)
    assert (found.estimate.low, found.estimate.high) == pytest.approx((low, high), abs=1e-9)
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-9)


@pytest.mark.parametrize("raters", [2, 3, 5])
def test_one_more_person_of_the_same_kind_makes_no_difference(raters: int) -> None:
    """Simulated, seeded: the difference is 0 on average, and its interval holds 0 in about 95 of 100 studies."""
    rng = np.random.default_rng(raters)
    found = []
    for _ in range(200):
        truth = rng.integers(3, size=100)
        codes = np.where(rng.random((raters + 1, 100)) < 0.4, rng.integers(3, size=(raters + 1, 100)), truth)
        ratings: Any = np.array(LABELS)[codes[1:]].tolist()
        found.append(beside(ratings, np.eye(3, dtype=int)[codes[0]]).raw.estimate)
    assert abs(np.mean([one.value for one in found])) < 4 * 0.05 / np.sqrt(200)
    assert 180 <= sum((one.low or 0) <= 0 <= (one.high or 0) for one in found) <= 199


def test_a_grader_that_copies_a_rater_makes_no_difference_with_two_people() -> None:
    """It agrees with the first fully and with the second as they do: half of the disagreement goes."""
    ratings = columns(*["RR", "RW", "WW", "WR", "RW"] * 8)
    counts = [[int(label == own) for label in LABELS] for own in ratings[0]]
    result = beside(ratings, counts)
    assert result.raw.estimate.value == pytest.approx((1 - 2 / 5) / 2)
    assert result.raw.p_value is not None
    assert result.raw.p_value < 0.01


def test_no_difference_on_any_question_keeps_a_width_and_has_no_test() -> None:
    result = beside(columns(*["RRR"] * 12), [[0, 0, 1]] * 12)
    assert (result.raw.estimate.value, result.raw.p_value, result.raw.test) == (0.0, None, "none")
    assert (result.raw.estimate.low or 0) < 0 < (result.raw.estimate.high or 0)
    assert result.false_positive_rate.estimate.value is None
    assert (result.false_positive_rate.p_value, result.false_positive_rate.estimate.n) == (None, 0)


@pytest.mark.parametrize("counts", [np.zeros((3, 3), dtype=int), np.zeros((0, 3), dtype=int)])
def test_a_grader_without_verdicts_has_no_difference(counts: Any) -> None:
    ratings = columns("RR", "RW", "WW") if len(counts) else [[], []]
    result = beside(ratings, counts)
    assert [one.estimate.value for one in (result.raw, result.false_negative_rate)] == [None, None]


def test_order_and_names_change_no_digit() -> None:
    ratings, counts = people(seed=5)
    clusters = [item % 25 for item in range(80)]
    order = np.random.default_rng(3).permutation(80)
    moved: Ratings = [[rater[row] for row in order] for rater in ratings]
    names = [f"question {clusters[row]}" for row in order]
    assert ceiling(moved, names) == ceiling(ratings, clusters)
    assert beside(moved, counts[order], names) == beside(ratings, counts, clusters)
    assert beside(ratings[::-1], counts, clusters) == beside(ratings, counts, clusters)
    turned = ceiling(ratings[::-1], clusters)
    assert (turned.raw, turned.false_negative_rate) == (
        ceiling(ratings, clusters).raw,
        ceiling(ratings, clusters).false_negative_rate,
    )
    renamed = beside(ratings, counts[:, ::-1], clusters, labels=LABELS[::-1])
    assert renamed == beside(ratings, counts, clusters)


def test_items_that_nobody_else_labelled_change_nothing() -> None:
    ratings, counts = people(seed=6)
    longer: Ratings = [[*rater, "RIGHT" if place == 0 else None] for place, rater in enumerate(ratings)]
    assert ceiling(longer) == ceiling(ratings)
    assert beside(longer, np.concatenate([counts, [[1, 0, 0]]])) == beside(ratings, counts)


def test_strangers_and_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^ratings\[1\].*: label not on the scale, got 'GREAT'"):
        ceiling([["RIGHT"], ["GREAT"]])
    with pytest.raises(ValueError, match=r"^ratings\[1\]: wrong length, got 0; expected 1"):
        ceiling([["RIGHT"], []])
    with pytest.raises(ValueError, match=r"^positive: label not on the scale"):
        beside([["RIGHT"], ["RIGHT"]], [[0, 0, 1]], positive="GREAT")
    with pytest.raises(ValueError, match=r"^counts: wrong shape"):
        beside([["RIGHT"], ["RIGHT"]], [[0, 1]])


def test_people_and_gpt_4_on_open_questions(calibration_data: Path) -> None:
    """NQ301: the two people who labelled nearly every answer, counted here by hand, and GPT-4 beside them."""
    lines = (calibration_data / "nq301" / "nq301.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    labels = ("INCORRECT", "CORRECT")
    labelled = [row for row in rows if None not in row["annotators"][:2] and "gpt-4" in row["graders"]]
    ratings: Any = [[row["annotators"][place] for row in labelled] for place in (0, 1)]
    questions = [row["question_id"] for row in labelled]
    result = human_ceiling(
        ratings,
        questions,
        labels=labels,
        positive="CORRECT",
        scale_level="nominal",
        rng=np.random.default_rng(0),
        resamples=200,
    )
    same = sum(first == second for first, second in zip(*ratings, strict=True))
    assert result.raw.value == pytest.approx(same / len(labelled))
    assert result.kappa.value is not None
    assert 0.7 < result.kappa.value < 1
    assert result.raw.clusters == len(set(questions))
    counts = [[int(row["graders"]["gpt-4"] == label) for label in labels] for row in labelled]
    against = beside(ratings, counts, questions, labels=labels, positive="CORRECT")
    halves = [
        sum(row["graders"]["gpt-4"] == one for one in row["annotators"][:2]) / 2
        - (row["annotators"][0] == row["annotators"][1])
        for row in labelled
    ]
    assert against.raw.estimate.value == pytest.approx(np.mean(halves), abs=1e-12)
    assert against.raw.estimate.high is not None
    assert against.raw.estimate.high < 0  # GPT-4 agrees with people less than they do with each other
