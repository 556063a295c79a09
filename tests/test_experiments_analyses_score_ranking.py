"""Pairs of respondents and of sets, and the ranking by corrected scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from score_runs import MATRIX, SIMPLEQA, Answer, decision, draw, page, run, scored

from experiments.analyses.ranking import Standing, rank_respondents
from experiments.analyses.score_table import Intervals, ScoreContrast, compare_respondents, is_starred, turned
from experiments.analyses.scoring import score_benchmark
from experiments.analyses.scoring_inputs import GraderChoice, read_scoring
from experiments.analyses.scoring_page import scoring_fields
from experiments.analyses.scoring_results import Scoring
from experiments.reports.plain import plain_value
from experiments.stats.comparisons import adjust_p_values
from experiments.stats.correction import CorrectedDifferences, GradedItems, LabelledItems, corrected_differences
from experiments.stats.estimate import Difference, Estimate
from experiments.stats.scores import item_shares, paired_score_differences, unpaired_score_differences

ROLES: dict[str, Any] = {"labels": SIMPLEQA.labels, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
THREE = {"best": (0.15, 0.1, 0.75), "middle": (0.3, 0.2, 0.5), "worst": (0.5, 0.2, 0.3)}


def columns(answers: Sequence[Answer], name: str) -> tuple[Any, list[str]]:
    own = [answer for answer in answers if answer.respondent == name]
    return np.array([[one.verdicts.count(label) for label in SIMPLEQA.labels] for one in own]), [
        one.question for one in own
    ]


@pytest.fixture(scope="module")
def answers() -> tuple[list[Answer], list[Answer]]:
    return draw(1, 300, THREE), draw(2, 300, {"other": (0.4, 0.2, 0.4)}, prefix="c")


@pytest.fixture(scope="module")
def scoring(answers: tuple[list[Answer], list[Answer]]) -> Scoring:
    return scored(run("bench", answers[0], labels=False), run("cal", answers[1]))


def test_pairs_are_those_of_the_statistics(scoring: Scoring, answers: tuple[list[Answer], list[Answer]]) -> None:
    assert [(one.first, one.second) for one in scoring.contrasts] == [
        ("best", "middle"),
        ("best", "worst"),
        ("middle", "worst"),
    ]
    counts = [[one.verdicts.count(label) for label in SIMPLEQA.labels] for one in answers[1]]
    known = LabelledItems([str(one.truth) for one in answers[1]], counts, [one.question for one in answers[1]])
    for one in scoring.contrasts:
        first, second = columns(answers[0], one.first), columns(answers[0], one.second)
        paired = paired_score_differences(item_shares(first[0]), first[1], item_shares(second[0]), second[1], **ROLES)
        assert (one.paired, one.common) == (True, 300)
        assert one.graded == paired.differences
        assert one.corrected == corrected_differences(GradedItems(*first), GradedItems(*second), known, **ROLES)


def test_p_values_are_adjusted_over_all_pairs(scoring: Scoring) -> None:
    ranking = scoring.ranking
    assert ranking is not None
    for choose, adjusted in (("graded", "graded_adjusted"), ("corrected", "corrected_adjusted")):
        raw = [getattr(pair, choose).p_value for pair in ranking.pairs]
        assert [getattr(pair, adjusted) for pair in ranking.pairs] == [
            row.adjusted for row in adjust_p_values(raw).rows
        ]


def test_far_respondents_are_ranked(scoring: Scoring) -> None:
    ranking = scoring.ranking
    assert ranking is not None
    assert [(place.standing.respondent, place.best, place.worst) for place in ranking.places] == [
        ("best", 1, 1),
        ("middle", 2, 2),
        ("worst", 3, 3),
    ]
    assert {pair.outcome for pair in ranking.pairs} == {"decided"}
    assert all(pair.corrected.estimate.value > 0 for pair in ranking.pairs)  # type: ignore[union-attr, operator]
    assert (
        "Of 3 pairs (Holm-adjusted), 3 are decided. Decided: best over middle, best over worst, middle over worst."
        in (decision(scoring))
    )


def difference(value: float, p_value: float | None) -> Difference:
    return Difference(Estimate(value, value - 0.1, value + 0.1, 0.95, "m", 10, 10, 1), p_value, "t")


def contrast(
    first: str, second: str, graded: tuple[float, float], corrected: tuple[float, float] | None
) -> ScoreContrast:
    found = CorrectedDifferences("uncorrected", "why", None, 1, 0, 0)
    if corrected is not None:
        found = CorrectedDifferences("corrected", "", {"f1": difference(*corrected)}, 1, 0, 0)
    return ScoreContrast(first, second, "s", "s", True, 1, 0, 0, {"f1": difference(*graded)}, found)


def standing(name: str, value: float | None, graded: float = 0.5) -> Standing:
    one = difference(graded, None).estimate
    return Standing(name, one, None if value is None else difference(value, None).estimate)


@pytest.mark.parametrize(
    ("graded", "corrected", "own", "outcome"),
    [
        (0.001, 0.001, None, "decided"),
        (0.6, 0.001, None, "decided"),
        (0.001, 0.001, 0.001, "decided"),
        (0.001, 0.001, 0.6, "carry-over"),
        (0.001, 0.2, None, "grader-error"),
        (0.001, 0.2, 0.001, "grader-error"),
        (0.2, 0.2, None, "undecided"),
        (0.001, None, None, "uncorrected"),
    ],
)
def test_outcomes(graded: float, corrected: float | None, own: float | None, outcome: str) -> None:
    pairs = [contrast("b", "a", (-0.2, graded), None if corrected is None else (-0.3, corrected))]
    known = None if own is None else [CorrectedDifferences("corrected", "", {"f1": difference(-0.1, own)}, 1, 0, 0)]
    ranked = rank_respondents([standing("a", 0.8), standing("b", 0.5)], pairs, known, score="f1", level=0.95)
    (pair,) = ranked.pairs
    assert (pair.higher, pair.lower, pair.outcome) == ("a", "b", outcome)
    assert pair.graded.estimate.value == pytest.approx(0.2)
    assert (pair.graded.estimate.low, pair.graded.estimate.high) == pytest.approx((0.1, 0.3))
    if corrected is not None:
        assert pair.corrected is not None
        assert pair.corrected.estimate.value == pytest.approx(0.3)
    places = [(place.best, place.worst) for place in ranked.places]
    assert places == ([(1, 1), (2, 2)] if outcome == "decided" else [(1, 2), (1, 2)])


def test_a_score_that_is_not_defined_stands_last() -> None:
    none = Standing("x", replace(difference(0.1, None).estimate, value=None, low=None, high=None), None)
    ranked = rank_respondents(
        [none, standing("a", 0.1)], [contrast("a", "x", (0.0, 0.5), None)], score="f1", level=0.95
    )
    assert [place.standing.respondent for place in ranked.places] == ["a", "x"]


def test_turning_and_stars() -> None:
    one = difference(0.2, 0.049)
    back = turned(one)
    assert (back.estimate.value, back.estimate.low, back.estimate.high) == pytest.approx((-0.2, -0.3, -0.1))
    assert turned(back) == one
    assert [is_starred(difference(0.2, p)) for p in (0.049, 0.05, None)] == [True, False, False]


def test_grader_error_makes_pairs_undecidable() -> None:
    """The grader takes many wrong answers for declined ones, and 60 labelled items say too little of how many.

    That the two differ in accuracy given attempted is plain as graded, and open once it is corrected.
    """
    matrix: Mapping[str, Sequence[float]] = {
        "INCORRECT": (0.55, 0.4, 0.05),
        "NOT_ATTEMPTED": (0.1, 0.85, 0.05),
        "CORRECT": (0.05, 0.05, 0.9),
    }
    bench = draw(105, 600, {"a": (0.5, 0.1, 0.4), "b": (0.2, 0.4, 0.4)}, matrix=matrix)
    known = draw(205, 60, {"x": (0.35, 0.35, 0.3)}, matrix=matrix, prefix="c")
    found = scored(run("bench", bench, labels=False), run("cal", known), rank_by="accuracy_given_attempted")
    assert found.ranking is not None
    (pair,) = found.ranking.pairs
    assert pair.graded_adjusted is not None
    assert pair.corrected_adjusted is not None
    assert pair.graded_adjusted < 0.05 < pair.corrected_adjusted
    assert pair.outcome == "grader-error"
    assert [(place.best, place.worst) for place in found.ranking.places] == [(1, 2), (1, 2)]
    assert "Undecidable through grader error, though the difference as graded is significant: b and a." in decision(
        found
    )
    more = draw(205, 3000, {"x": (0.35, 0.35, 0.3)}, matrix=matrix, prefix="c")
    found = scored(run("bench", bench, labels=False), run("cal", more), rank_by="accuracy_given_attempted")
    assert found.ranking is not None
    assert found.ranking.pairs[0].outcome == "decided"


def test_own_error_rates_need_labelled_items_of_the_respondents() -> None:
    bench = draw(5, 300, THREE)
    known = draw(6, 250, THREE, prefix="c")
    found = scored(run("bench", bench, labels=False), run("cal", known))
    assert found.ranking is not None
    assert all(pair.own is not None for pair in found.ranking.pairs)
    wider = [
        (pair.own.estimate.high - pair.own.estimate.low)  # type: ignore[union-attr, operator]
        > (pair.corrected.estimate.high - pair.corrected.estimate.low)  # type: ignore[union-attr, operator]
        for pair in found.ranking.pairs
    ]
    assert all(wider)
    assert "own error rates" in page(found, 160)
    partly = [answer for answer in known if answer.respondent != "worst"]
    found = scored(run("bench", bench, labels=False), run("cal", partly))
    assert found.ranking is not None
    assert [pair.own is not None for pair in found.ranking.pairs] == [True, False, False]


def test_a_grader_lenient_to_one_respondent_is_not_taken_for_a_better_respondent() -> None:
    """Both are equally right, but the grader takes a third of one's wrong answers for right."""
    lenient: dict[str, Sequence[float]] = {**MATRIX, "INCORRECT": (0.6, 0.02, 0.38)}
    shares = (0.5, 0.1, 0.4)
    bench = draw(7, 500, {"plain": shares}) + draw(8, 500, {"flattering": shares}, matrix=lenient)
    known = draw(9, 250, {"plain": shares}, prefix="c") + draw(
        10, 250, {"flattering": shares}, prefix="c", matrix=lenient
    )
    found = scored(run("bench", bench, labels=False), run("cal", known))
    assert found.ranking is not None
    (pair,) = found.ranking.pairs
    assert (pair.higher, pair.outcome) == ("flattering", "carry-over")
    assert "Decided only if the grader errs alike on both, as their own labelled items do not show" in decision(found)


def test_sets_are_compared_unpaired_unless_they_ask_the_same(answers: tuple[list[Answer], list[Answer]]) -> None:
    elsewhere = draw(11, 200, THREE, prefix="other")
    data = [run("bench", answers[0], labels=False), run("second", elsewhere, labels=False)]
    read, known = read_scoring(data, run("cal", answers[1]), GraderChoice())
    found = score_benchmark(read[0], known, against=read[1])
    assert [(one.first, one.second) for one in found.set_contrasts] == [(name, name) for name in sorted(THREE)]
    one = found.set_contrasts[0]
    assert (one.paired, one.common, one.only_first, one.only_second) == (False, 0, 300, 200)
    first, second = columns(answers[0], "best"), columns(elsewhere, "best")
    direct = unpaired_score_differences(item_shares(first[0]), first[1], item_shares(second[0]), second[1], **ROLES)
    assert one.graded == direct.differences
    assert one.corrected.status == "corrected"
    assert "best, bench 1.0.0 - best, second 1.0.0" in " ".join(page(found, 160).split())
    again, known = read_scoring(
        [data[0], run("again", answers[0], labels=False)], run("cal", answers[1]), GraderChoice()
    )
    same = score_benchmark(again[0], known, against=again[1])
    assert {one.paired for one in same.set_contrasts} == {True}
    assert {one.graded["f1"].p_value for one in same.set_contrasts} == {1.0}


def test_two_single_respondents_are_compared_whatever_their_names(answers: tuple[list[Answer], list[Answer]]) -> None:
    data = [
        run("one", draw(12, 100, {"x": (0.3, 0.2, 0.5)})),
        run("two", draw(13, 100, {"y": (0.3, 0.2, 0.5)}, prefix="z")),
    ]
    read, _ = read_scoring(data, None, GraderChoice())
    found = score_benchmark(read[0], None, against=read[1])
    (one,) = found.set_contrasts
    assert (one.first, one.second, one.corrected.status) == ("x", "y", "uncorrected")
    assert plain_value(scoring_fields(found))["set_differences"][0]["reason"] == "uncorrected: no calibration data"


def test_respondents_without_a_common_question_are_compared_unpaired() -> None:
    bench = draw(14, 100, {"a": (0.3, 0.2, 0.5)}) + draw(15, 100, {"b": (0.3, 0.2, 0.5)}, prefix="z")
    found = scored(run("bench", bench, labels=False), None)
    (one,) = found.contrasts
    assert (one.paired, one.common) == (False, 0)
    assert one.graded["f1"].p_value is not None


def test_no_respondents_no_pairs() -> None:
    assert compare_respondents([], ROLES, Intervals(0.95, False)) == ()


def test_of_many_respondents_the_ranks_are_told() -> None:
    many = {f"m{place}": (0.7 - 0.12 * place, 0.1, 0.2 + 0.12 * place) for place in range(6)}
    found = scored(
        run("bench", draw(30, 250, many), labels=False), run("cal", draw(31, 300, {"x": (0.4, 0.2, 0.4)}, prefix="c"))
    )
    words = decision(found)
    assert "Of 15 pairs (Holm-adjusted), " in words
    assert "Ranks that they leave open: m5 1" in words
    assert found.ranking is not None
    counts = [pair.outcome for pair in found.ranking.pairs].count("undecided")
    assert (f"Not decided: {counts}." in words) == (counts > 0)
    assert "accuracy given attempted" not in page(found).partition("Differences between respondents")[2]
