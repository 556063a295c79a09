"""Scores as graded and corrected: against the statistics called directly, refused cases, edges, page and fields."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from score_runs import SIMPLEQA, Answer, decision, draw, page, run, scored

from calibration_sets.scale import BINARY
from experiments.analyses.scores.scoring_page import SCHEMA, scoring_fields
from experiments.analyses.scores.scoring_results import Scoring
from experiments.reports.plain import plain_value
from experiments.stats.correction import (
    GradedItems,
    LabelledItems,
    box_ranges,
    correct_scores,
    error_budget,
    powered_scores,
)
from experiments.stats.scores import SCORES

GOOD, FAIR = (0.2, 0.1, 0.7), (0.35, 0.15, 0.5)
ROLES: dict[str, Any] = {"labels": SIMPLEQA.labels, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
EASY = {"good": GOOD, "fair": FAIR}


def columns(answers: Sequence[Answer], respondent: str | None = None) -> tuple[list[str], Any, list[str]]:
    """Truth, counts and questions of some answers, in the order in which the program has them."""
    own = [answer for answer in answers if respondent is None or answer.respondent == respondent]
    counts = [[answer.verdicts.count(label) for label in SIMPLEQA.labels] for answer in own]
    return [str(answer.truth) for answer in own], np.array(counts), [answer.question for answer in own]


@pytest.fixture(scope="module")
def answers() -> tuple[list[Answer], list[Answer]]:
    benchmark = draw(1, 400, EASY, repeats=2)
    return benchmark, draw(2, 300, {"good": FAIR}, prefix="c", repeats=2)


@pytest.fixture(scope="module")
def scoring(answers: tuple[list[Answer], list[Answer]]) -> Scoring:
    return scored(run("bench", answers[0], labels=False), run("cal", answers[1]))


def test_scores_are_those_of_the_statistics(scoring: Scoring, answers: tuple[list[Answer], list[Answer]]) -> None:
    truth, counts, questions = columns(answers[1])
    known = LabelledItems(truth, counts, questions)
    assert [one.respondent.name for one in scoring.respondents] == ["fair", "good"]
    for one in scoring.respondents:
        _, own, asked = columns(answers[0], one.respondent.name)
        graded = GradedItems(own, asked)
        direct = correct_scores(graded, known, **ROLES)
        assert one.correction == direct
        assert one.budgets["f1"] == error_budget(graded, known, "f1", **ROLES)
        assert one.box == box_ranges(graded, known, delta=0.02, **ROLES)
        assert set(one.correction.require_corrected()) == set(SCORES)
        assert one.bounds is None
        assert one.shared_questions == 0


def test_the_bootstrap_is_seeded_and_lies_near_the_delta_method(answers: tuple[list[Answer], list[Answer]]) -> None:
    runs = run("bench", answers[0], labels=False), run("cal", answers[1])
    one, two = (scored(*runs, method="bootstrap", resamples=2000) for _ in range(2))
    assert plain_value(scoring_fields(one)) == plain_value(scoring_fields(two))
    boot = one.respondents[0].correction.require_corrected()["f1"]
    delta = scored(*runs).respondents[0].correction.require_corrected()["f1"]
    assert boot.method == "inversion-bootstrap"
    assert (boot.low, boot.high) == pytest.approx((delta.low, delta.high), abs=0.01)


def test_no_calibration_leaves_scores_uncorrected_with_the_reason(answers: tuple[list[Answer], list[Answer]]) -> None:
    bench = run("bench", answers[0], labels=False)
    unlabelled = run("cal", answers[1], labels=False)
    for found in (scored(bench, None), scored(bench, unlabelled)):
        for one in found.respondents:
            assert one.correction.status == "uncorrected"
            assert one.correction.corrected is None
            assert one.correction.reason == "uncorrected: no calibration data"
            assert (one.budgets, one.box) == ({}, {})
            assert one.correction.uncorrected["f1"].low is not None
        assert found.ranking is not None
        assert {pair.outcome for pair in found.ranking.pairs} == {"uncorrected"}
        assert "Not corrected, and to be called so wherever it is shown: good (" in decision(found)
        assert "nothing is known of the grader's errors" in decision(found)


def test_what_is_not_identified_stays_uncorrected(answers: tuple[list[Answer], list[Answer]]) -> None:
    bench = run("bench", answers[0], labels=False)
    random = [replace(answer, verdicts=("CORRECT", "INCORRECT")) for answer in answers[1]]
    found = scored(bench, run("cal", random))
    assert {one.correction.status for one in found.respondents} == {"uncorrected"}
    assert "not identified" in found.respondents[0].correction.reason
    assert "Uncorrected: not identified" in page(found)
    few = [answer for answer in answers[1] if answer.truth != "NOT_ATTEMPTED"]
    reason = scored(bench, run("cal", few)).respondents[0].correction.reason
    assert reason == "not identified: people called no calibration item 'NOT_ATTEMPTED'"


def test_a_perfect_calibration_still_has_an_error(answers: tuple[list[Answer], list[Answer]]) -> None:
    perfect = [replace(answer, verdicts=(str(answer.truth),) * 2) for answer in answers[1][:60]]
    found = scored(run("bench", answers[0], labels=False), run("cal", perfect))
    for one in found.respondents:
        graded, corrected = one.correction.uncorrected["correct"], one.correction.require_corrected()["correct"]
        assert corrected.value == pytest.approx(graded.value)
        assert corrected.high - corrected.low > graded.high - graded.low  # type: ignore[operator]
        assert one.budgets["correct"].calibration > 0  # type: ignore[union-attr]


def test_a_scale_of_two_labels() -> None:
    bench = draw(4, 400, {"x": (0.4, 0.6)}, scale=BINARY)
    known = draw(5, 400, {"x": (0.5, 0.5)}, prefix="c", scale=BINARY)
    found = scored(run("bench", bench, scale=BINARY, labels=False), run("cal", known, scale=BINARY))
    corrected = found.respondents[0].correction.require_corrected()
    assert corrected["f1"].value == pytest.approx(corrected["correct"].value)
    assert corrected["correct"].low < 0.6 < corrected["correct"].high  # type: ignore[operator]
    assert "not attempted" not in page(found)
    assert found.ranking is None


def test_a_label_that_nobody_gave_is_left_off() -> None:
    never = {"INCORRECT": (0.9, 0.0, 0.1), "CORRECT": (0.1, 0.0, 0.9)}
    bench, known = (
        draw(seed, 300, {"x": (0.4, 0.0, 0.6)}, prefix=prefix, matrix=never) for seed, prefix in ((6, "q"), (7, "c"))
    )
    found = scored(run("bench", bench, labels=False), run("cal", known))
    assert (found.labels, found.unused) == (("INCORRECT", "CORRECT"), ("NOT_ATTEMPTED",))
    assert found.respondents[0].correction.status == "corrected"
    assert "No verdict and no label is NOT_ATTEMPTED: left off the scale." in " ".join(page(found).split())


def test_missing_verdicts_are_counted_and_bounded(answers: tuple[list[Answer], list[Answer]]) -> None:
    holes = [replace(answer, verdicts=()) if place % 10 == 0 else answer for place, answer in enumerate(answers[0])]
    found = scored(run("bench", holes, labels=False), run("cal", answers[1]))
    by_name = {one.respondent.name: one for one in found.respondents}
    # Every tenth answer is of the first respondent, of whose 400 answers there are then 80 without both verdicts.
    good = by_name["good"]
    assert good.respondent.sample.failure_counts == {"not_answered": 160}
    assert good.respondent.sample.coverage == pytest.approx(0.8)
    low, high = good.bounds["correct"]  # type: ignore[index, misc]
    assert high - low == pytest.approx(0.2)
    assert by_name["fair"].bounds is None
    fields = scoring_fields(found)["respondents"][1]
    assert (fields["n_expected"], fields["n_verdicts"]) == (800, 640)
    assert "Verdicts are missing" in decision(found)
    assert "good 160 [" in decision(found)


def test_a_respondent_with_only_failures_is_uncorrected(answers: tuple[list[Answer], list[Answer]]) -> None:
    holes = [replace(answer, verdicts=()) if answer.respondent == "good" else answer for answer in answers[0]]
    found = scored(run("bench", holes, labels=False), run("cal", answers[1]))
    (good,) = [one for one in found.respondents if one.respondent.name == "good"]
    assert good.correction.status == "uncorrected"
    assert good.correction.reason == "uncorrected: no benchmark item has a valid verdict"
    assert good.correction.uncorrected["f1"].value is None
    assert found.ranking is not None
    assert found.ranking.places[-1].standing.respondent == "good"
    json.dumps(plain_value(scoring_fields(found)), allow_nan=False)
    assert "good (not defined as graded)" in decision(found)


def test_no_items_at_all(answers: tuple[list[Answer], list[Answer]]) -> None:
    found = scored(run("bench", [], labels=False), run("cal", answers[1]))
    assert found.respondents == ()
    assert "0 respondents" in decision(found)


def test_prediction_powered_scores_only_where_stated(answers: tuple[list[Answer], list[Answer]]) -> None:
    partly = [replace(answer, truth=answer.truth if place % 8 < 2 else None) for place, answer in enumerate(answers[0])]
    data = run("bench", partly)
    plain = scored(data, data)
    assert all(one.powered is None for one in plain.respondents)
    assert "PPI++" not in page(plain)
    found = scored(data, data, labelled_at_random=True)
    for one in found.respondents:
        own = [answer for answer in partly if answer.respondent == one.respondent.name]
        known = [answer for answer in own if answer.truth is not None]
        truth, counts, questions = columns(known)
        _, rest, others = columns([answer for answer in own if answer.truth is None])
        direct = powered_scores(
            LabelledItems(truth, counts, questions), GradedItems(rest, others), labelled_at_random=True, **ROLES
        )
        assert one.powered == direct
        assert one.shared_questions == 100
    assert "PPI++" in page(found)
    assert "assumed to carry over to the 600 items of the benchmark without a label" in decision(found)


def test_a_benchmark_that_people_labelled_wholly_needs_no_correction(
    answers: tuple[list[Answer], list[Answer]],
) -> None:
    data = run("bench", answers[0])
    assert "has a label: these are its scores, and nothing need carry over" in decision(scored(data, data))


def test_no_prediction_powered_score_where_the_labels_are_elsewhere(
    answers: tuple[list[Answer], list[Answer]],
) -> None:
    found = scored(run("bench", answers[0], labels=False), run("cal", answers[1]), labelled_at_random=True)
    assert found.respondents[0].powered is None
    assert "No PPI++: 0 of the benchmark's items labelled and 400 not" in " ".join(page(found).split())


def test_hostile_names_do_not_reach_the_terminal(answers: tuple[list[Answer], list[Answer]]) -> None:
    hostile = [replace(answer, respondent="\x1b[31mred\u202e\n") for answer in answers[0]]
    text = page(scored(run("bench", hostile, labels=False), run("cal", answers[1])))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_order_of_items_moves_no_digit(answers: tuple[list[Answer], list[Answer]], scoring: Scoring) -> None:
    bench, known = run("bench", answers[0], labels=False), run("cal", answers[1])
    turned = [
        replace(data, calibration_set=replace(data.calibration_set, items=data.calibration_set.items[::-1]))
        for data in (bench, known)
    ]
    assert plain_value(scoring_fields(scored(*turned))) == plain_value(scoring_fields(scoring))


def test_fields_are_plain_and_say_all(scoring: Scoring) -> None:
    fields = json.loads(json.dumps(plain_value(scoring_fields(scoring)), allow_nan=False))
    assert fields["schema"] == SCHEMA == "autorater.score/1"
    assert fields["decision"] == decision(scoring)
    (fair, good) = fields["respondents"]
    assert set(fair["corrected"]) == set(fair["as_graded"]) == set(SCORES)
    budget = good["error_budget"]["f1"]
    parts = [budget[name] for name in ("questions", "repeats", "grader_error", "calibration")]
    assert sum(parts) == pytest.approx(1)


def test_the_page_fits_its_width_and_ends_in_the_decision(scoring: Scoring) -> None:
    for width in (60, 100, 160):
        text = page(scoring, width)
        assert max(map(len, text.splitlines())) <= width
    words = decision(scoring)
    assert words.startswith("2 respondents, 800 responses to 400 questions of bench 1.0.0, graded by made/grader")
    assert "Report the corrected F1: good" in words
    assert "assumed to carry over to bench 1.0.0" in words
    assert words.endswith("People's labels are taken as the truth.")


@pytest.mark.parametrize("choice", [{"rank_by": "best"}, {"level": 1.0}, {"box": 2.0}, {"penalty": -1.0}])
def test_bad_choices_are_named(answers: tuple[list[Answer], list[Answer]], choice: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"expected"):
        scored(run("bench", answers[0], labels=False), run("cal", answers[1]), **choice)


def test_differences_follow_the_method(answers: tuple[list[Answer], list[Answer]]) -> None:
    runs = run("bench", answers[0], labels=False), run("cal", answers[1])
    for method, words in (("delta", "by the delta method"), ("bootstrap", "by bootstrap of questions")):
        found = scored(*runs, method=method, resamples=1000)
        (pair,) = found.contrasts
        known = pair.corrected.differences
        assert known is not None
        assert known["f1"].estimate.method == f"inversion-{method}-joint"
        assert f"intervals and p {words}" in " ".join(page(found).split())
        for strata in found.respondents[0].strata:
            if strata.reweighted is not None and strata.reweighted.corrected is not None:
                assert strata.reweighted.corrected["f1"].method == f"inversion-{method}"


def test_labels_by_construction_are_called_so(answers: tuple[list[Answer], list[Answer]]) -> None:
    made = run("cal", answers[1])
    built = replace(made, calibration_set=replace(made.calibration_set, label_source="construction"))
    found = scored(run("bench", answers[0], labels=False), built)
    for text in (decision(found), page(found)):
        assert "people" not in text.lower()
    words = decision(found)
    assert "held against the reference's labels of 300 items" in words
    assert "Labels hold by construction of the items (the reference)." in words
    assert words.endswith("The reference's labels are taken as the truth.")
    few = replace(
        built, calibration_set=replace(built.calibration_set, human_labels=built.calibration_set.human_labels[:1])
    )
    reason = scored(run("bench", answers[0], labels=False), few).respondents[0].correction.reason
    assert reason.startswith("not identified: the reference called no calibration item")


def test_items_without_a_verdict_bound_the_corrected_score(answers: tuple[list[Answer], list[Answer]]) -> None:
    holes = [replace(answer, verdicts=()) if place % 10 == 0 else answer for place, answer in enumerate(answers[0])]
    found = scored(run("bench", holes, labels=False), run("cal", answers[1]))
    by_name = {one.respondent.name: one for one in found.respondents}
    good = by_name["good"]
    value = good.correction.require_corrected()["correct"].value
    assert good.without_verdict == 80
    assert good.corrected_bounds is not None
    assert good.corrected_bounds["correct"] == pytest.approx((0.8 * value, 0.8 * value + 0.2))  # type: ignore[operator]
    assert by_name["fair"].corrected_bounds is None
    low, high = good.corrected_bounds["f1"]  # type: ignore[misc]
    assert f", corrected [{100 * low:.1f}, {100 * high:.1f}] for 80 items without any" in decision(found)
    assert "Left out of what is corrected: 80 items without any verdict" in " ".join(page(found).split())
    partly = [
        replace(answer, verdicts=answer.verdicts[:1]) if place % 10 == 0 else answer
        for place, answer in enumerate(answers[0])
    ]
    some = scored(run("bench", partly, labels=False, repeats=2), run("cal", answers[1]))
    assert {one.corrected_bounds for one in some.respondents} == {None}


def test_questions_that_both_samples_have_are_in_the_budget(answers: tuple[list[Answer], list[Answer]]) -> None:
    data = run("bench", answers[0])
    found = scored(data, data)
    assert found.shared
    assert found.respondents[0].budgets["f1"].shared is not None  # type: ignore[union-attr]
    assert "shared questions" in page(found)
    assert "shared questions" not in page(scored(run("bench", answers[0], labels=False), run("cal", answers[1])))


@pytest.mark.parametrize("level", [0.3, 0.5, 0.8])
def test_any_level_can_be_asked_for(answers: tuple[list[Answer], list[Answer]], level: float) -> None:
    found = scored(run("bench", answers[0], labels=False), run("cal", answers[1]), level=level)
    assert f"level {100 * level:g}%" in decision(found)
