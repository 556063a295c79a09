"""Pairs of respondents and of sets, and the ranking by corrected scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score_runs import MATRIX, SIMPLEQA, Answer, decision, draw, page, run, scored

from experiments.analyses.scores.ranking import Standing, rank_respondents
from experiments.analyses.scores.score_table import Intervals, ScoreContrast, compare_respondents, is_starred, turned
from experiments.analyses.scores.scoring import score_benchmark
from experiments.analyses.scores.scoring_inputs import GraderChoice, read_scoring
from experiments.analyses.scores.scoring_page import scoring_fields
from experiments.analyses.scores.scoring_results import Scoring
from experiments.analyses.scores.strata_reweighting import StratumField
from experiments.errors import SpecError
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
    """The labelled items are of another respondent."""
    return scored(run("bench", answers[0], labels=False), run("cal", answers[1]))


@pytest.fixture(scope="module")
def own_scoring(answers: tuple[list[Answer], list[Answer]]) -> Scoring:
    """The labelled items are of the same respondents."""
    return scored(run("bench", answers[0], labels=False), run("cal", draw(3, 200, THREE, prefix="c")))


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


def test_far_respondents_are_ranked(own_scoring: Scoring) -> None:
    ranking = own_scoring.ranking
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
        in decision(own_scoring)
    )


def test_without_labelled_items_of_their_own_they_are_ranked_if_errors_carry_over(scoring: Scoring) -> None:
    ranking = scoring.ranking
    assert ranking is not None
    assert {pair.outcome for pair in ranking.pairs} == {"carry-over"}
    assert [(place.best, place.worst) for place in ranking.places] == [(1, 3)] * 3
    assert [(place.carried_best, place.carried_worst) for place in ranking.places] == [(1, 1), (2, 2), (3, 3)]
    words = decision(scoring)
    assert "Of 3 pairs (Holm-adjusted), 0 are decided. Decided only if the grader errs alike on both" in words
    assert "of their own could show: best over middle, best over worst, middle over worst." in words
    assert "rank if errors carry over" in " ".join(page(scoring, 160).split())


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
        (0.001, 0.001, None, "carry-over"),
        (0.6, 0.001, 0.001, "decided"),
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
    carried = [(place.carried_best, place.carried_worst) for place in ranked.places]
    assert carried == ([(1, 1), (2, 2)] if outcome in ("decided", "carry-over") else [(1, 2), (1, 2)])


def test_own_error_rates_that_decide_the_other_way_round_do_not_confirm() -> None:
    pairs = [contrast("a", "b", (0.2, 0.001), (0.3, 0.001))]
    against = [CorrectedDifferences("corrected", "", {"f1": difference(-0.1, 0.001)}, 1, 0, 0)]
    ranked = rank_respondents([standing("a", 0.8), standing("b", 0.5)], pairs, against, score="f1", level=0.95)
    assert ranked.pairs[0].outcome == "carry-over"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.floats(0, 1)] * 3), min_size=3, max_size=3), st.sets(st.integers(0, 2)))
def test_fewer_labelled_items_of_their_own_decide_no_pair_more(
    p_values: list[tuple[float, float, float]], lost: set[int]
) -> None:
    """What is lost takes its pair's decision, and lends the others nothing."""
    names = list(combinations("abc", 2))
    pairs = [contrast(*pair, (0.2, raw), (0.3, known)) for pair, (raw, known, _) in zip(names, p_values, strict=True)]
    own = [CorrectedDifferences("corrected", "", {"f1": difference(0.1, p)}, 1, 0, 0) for _, _, p in p_values]
    none = CorrectedDifferences("uncorrected", "why", None, 1, 0, 0)
    fewer = [none if row in lost else one for row, one in enumerate(own)]
    standings = [standing(name, value) for name, value in zip("abc", (0.8, 0.5, 0.2), strict=True)]
    ranked = rank_respondents(standings, pairs, fewer, score="f1", level=0.95)
    alone = rank_respondents(standings, pairs, None, score="f1", level=0.95)
    assert "decided" not in {pair.outcome for pair in alone.pairs}
    whole = rank_respondents(standings, pairs, own, score="f1", level=0.95)
    decided = [{row for row, one in enumerate(found.pairs) if one.outcome == "decided"} for found in (ranked, whole)]
    assert decided[0] <= decided[1] - lost
    assert [one.outcome in ("decided", "carry-over") for one in ranked.pairs] == [
        one.outcome == "carry-over" for one in alone.pairs
    ]


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
    more = draw(205, 1500, {"a": (0.5, 0.1, 0.4), "b": (0.2, 0.4, 0.4)}, matrix=matrix, prefix="c")
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
    assert [(pair.own is not None, pair.outcome) for pair in found.ranking.pairs] == [
        (True, "decided"),
        (False, "carry-over"),
        (False, "carry-over"),
    ]
    words = decision(found)
    assert "1 is decided. Decided: best over middle. Decided only if the grader errs alike on both" in words
    assert "of their own could show: best over worst, middle over worst." in words


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


@pytest.mark.parametrize("field", ["topic", "respondent"])
def test_a_reweighting_does_not_take_the_guard_away(field: StratumField) -> None:
    """The same lenient grader: reweighted by topic it is guarded as before, by respondent each has its own errors."""
    lenient: dict[str, Sequence[float]] = {**MATRIX, "INCORRECT": (0.6, 0.02, 0.38)}
    shares, topics = (0.5, 0.1, 0.4), ("law", "art")
    bench = draw(7, 500, {"plain": shares}, topics=topics)
    bench += draw(8, 500, {"flattering": shares}, matrix=lenient, topics=topics)
    known = draw(9, 250, {"plain": shares}, prefix="c", topics=topics)
    known += draw(10, 250, {"flattering": shares}, prefix="c", matrix=lenient, topics=topics)
    found = scored(run("bench", bench, labels=False), run("cal", known), reweight=field)
    assert found.ranking is not None
    (pair,) = found.ranking.pairs
    assert pair.own is not None
    if field == "topic":
        assert (pair.higher, pair.outcome) == ("flattering", "carry-over")
    else:
        assert pair.outcome == "grader-error"
        assert pair.own == pair.corrected


def test_a_reweighting_that_can_change_nothing_is_refused() -> None:
    bench, known = run("bench", draw(5, 30, THREE, topics=("law",))), run("cal", draw(6, 30, THREE, topics=("law",)))
    with pytest.raises(SpecError, match=r"^--reweight kind: no item has a kind, .*; expected one of \['respondent'\]"):
        scored(bench, known, reweight="kind")
    with pytest.raises(SpecError, match=r"^--reweight answer_type: no item has an answer type"):
        scored(bench, known, reweight="answer_type")
    with pytest.raises(SpecError, match=r"^--reweight topic: every item has the topic 'law'"):
        scored(bench, known, reweight="topic")
    with pytest.raises(SpecError, match=r"^--reweight topic: no labelled item to reweight"):
        scored(bench, None, reweight="topic")
    one = {"x": (0.3, 0.2, 0.5)}
    with pytest.raises(SpecError, match="expected a field in which items differ; here none does"):
        scored(run("bench", draw(5, 30, one)), run("cal", draw(6, 30, one)), reweight="respondent")


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
    for name in ("f1", "correct"):
        raw = [contrast.corrected_of(name).p_value for contrast in found.set_contrasts]  # type: ignore[union-attr]
        adjusted = [contrast.corrected_adjusted[name] for contrast in found.set_contrasts]
        assert adjusted == [row.adjusted for row in adjust_p_values(raw).rows]
        graded = [contrast.graded[name].p_value for contrast in found.set_contrasts]
        assert [contrast.graded_adjusted[name] for contrast in found.set_contrasts] == [
            row.adjusted for row in adjust_p_values(graded).rows
        ]
    words = decision(found)
    assert "Against second 1.0.0, 3 comparisons across the sets. No difference of the corrected F1 is shown" in words
    fields = plain_value(scoring_fields(found))["set_differences"][0]
    assert fields["corrected_adjusted_p"]["f1"] == found.set_contrasts[0].corrected_adjusted["f1"]
    with pytest.raises(SpecError, match=r"^--against bench-run: the same items and verdicts as bench-run"):
        read_scoring([data[0], data[0]], run("cal", answers[1]), GraderChoice())
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
    words = decision(found)
    assert "Against two 1.0.0, 1 comparison across the sets. Difference as graded alone, not to be taken for" in words
    assert "(no calibration data): x - y " in words


def test_a_set_on_which_a_respondent_is_worse_is_named_with_those_it_was_not_asked_on(
    answers: tuple[list[Answer], list[Answer]],
) -> None:
    harder = draw(11, 300, {"best": (0.6, 0.2, 0.2), "middle": THREE["middle"], "new": (0.3, 0.2, 0.5)}, prefix="other")
    data = [run("bench", answers[0], labels=False), run("second", harder, labels=False)]
    read, known = read_scoring(data, run("cal", answers[1]), GraderChoice())
    words = decision(score_benchmark(read[0], known, against=read[1]))
    assert "2 comparisons across the sets. The corrected F1 differs (Holm-adjusted), if the grader errs alike" in words
    assert "on both sets: best +" in words
    assert "No difference of the corrected F1 is shown (Holm-adjusted): middle " in words
    assert "Only in bench 1.0.0, and so not compared: worst. Only in second 1.0.0, and so not compared: new." in words


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
    assert "Of 15 pairs (Holm-adjusted), 0 are decided." in words
    assert "Ranks that they leave open: m5 1 to 6;" in words
    assert "Ranks if the grader errs alike on all: m5 1" in words
    assert found.ranking is not None
    carried = [pair.outcome for pair in found.ranking.pairs].count("carry-over")
    assert f"could show: {carried}." in words
    counts = [pair.outcome for pair in found.ranking.pairs].count("undecided")
    assert (f"Not decided: {counts}." in words) == (counts > 0)
    assert "accuracy given attempted" not in page(found).partition("Differences between respondents")[2]
