"""A wording is adopted only if the rule holds where all that is missing went against it, or says that it need not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calibration_sets.item import Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from experiments.analyses.choice.candidates import Candidate, LabelledContest
from experiments.analyses.choice.entrants import Contest
from experiments.analyses.wordings.ab_page import ab_document, ab_fields
from experiments.analyses.wordings.ab_words import decision_text
from experiments.analyses.wordings.answer_wordings import PENALTY, AnswerWordings
from experiments.analyses.wordings.corrected_wordings import CorrectedWordings
from experiments.analyses.wordings.grader_wordings import GraderWordings
from experiments.analyses.wordings.wording_comparison import WordingResult, compare_wordings
from experiments.analyses.wordings.worst_cases import fill_chances, fill_shares
from experiments.reports.render_text import render_document
from experiments.respondents.grid import Grid, GridCell
from experiments.specs.decisions import AbSpec
from experiments.stats.correction import LabelledItems
from experiments.stats.scores import SCORES
from experiments.stats.scores.score_covariance import missing_question_bounds

LABELS = SIMPLEQA.labels
ROLES: dict[str, Any] = {"labels": LABELS, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
PLACE = {"C": LABELS.index("CORRECT"), "I": LABELS.index("INCORRECT"), "N": LABELS.index("NOT_ATTEMPTED")}
OLD, NEW = "old@1.0.0", "new@1.0.0"
QUANTITIES = tuple(SCORES)


def spec(raises: str = "correct", **fields: Any) -> AbSpec:
    return AbSpec.model_validate({"control": OLD, "raise": raises, **fields})


def answers(rows: Mapping[tuple[str, str], str]) -> AnswerWordings:
    """One letter a question under (model, wording); a space is an answer that is missing."""
    n = len(next(iter(rows.values())))
    questions = tuple(f"q{place}" for place in range(n))
    cells = {}
    for (model, wording), row in rows.items():
        shares = np.array([np.eye(3)[PLACE[one]] if one != " " else [np.nan] * 3 for one in row])
        present = np.array([float(one != " ") for one in row])
        lost = row.count(" ")
        cells[model, wording] = GridCell(
            model, wording, questions, shares, present, lost, 0, {"empty": lost} if lost else {}
        )
    models, wordings = (tuple(dict.fromkeys(key[at] for key in rows)) for at in (0, 1))
    grid = Grid("run", "judge", LABELS, "CORRECT", "NOT_ATTEMPTED", questions, questions, models, wordings, cells)
    return AnswerWordings(grid, 1, frozenset(), tuple(range(n)))


def vanishing(seed: int, *, n: int = 150, lost: float = 0.85, rise: float = 0.0) -> AnswerWordings:
    """A wording no better than the control, most of whose wrong answers are replies without a text."""
    rng = np.random.default_rng(seed)
    rows = {}
    for model in ("a", "b", "c"):
        rows[model, OLD] = "".join(rng.choice(list("CI"), size=n, p=[0.5, 0.5]))
        new = rng.choice(list("CI"), size=n, p=[0.5 + rise, 0.5 - rise])
        rows[model, NEW] = "".join(" " if one == "I" and rng.random() < lost else one for one in new)
    return answers(rows)


def compare(grid: Any, rule: AbSpec) -> WordingResult:
    return compare_wordings(grid, rule, level=0.95, resamples=50)


def flat(result: WordingResult) -> str:
    return " ".join(render_document(ab_document(result), width=100).split())


@pytest.mark.parametrize("raises", ["correct", "accuracy_given_attempted", "f1"])
def test_a_wording_whose_wrong_answers_vanish_is_not_adopted(raises: str) -> None:
    result = compare(vanishing(1), spec(raises))
    (decided,) = result.decisions
    assert all(check.passed for check in decided.checks)
    assert not decided.adopted
    assert decided.undecided
    text = decision_text(result)
    lost = result.pairs[NEW].missing
    assert text.startswith(f"Not decided, so keep {OLD} for now. {NEW} would be adopted if the {lost} missing answers")
    assert "missing answers were like the others (" in text
    assert "is held to 2.5%, whatever it is that is missing." in text
    given_ = 450 - lost
    assert f"Pairs with both wordings: {NEW} {given_} of 450 (" in text
    for model, n in result.pairs[NEW].compared.items():
        assert f"{n} of 150 in {model}" in text
    fields = ab_fields(result)
    assert fields["chosen"] is None
    assert fields["decisions"][0]["undecided"] is True
    assert fields["pairs"][NEW]["n_compared"] == given_


def test_a_rule_may_take_what_is_missing_for_ignorable_and_then_claims_no_more_than_that() -> None:
    result = compare(vanishing(1), spec(missing="ignorable"))
    (decided,) = result.decisions
    assert decided.adopted
    assert decided.hangs_on_missing
    text = decision_text(result)
    assert text.startswith(f"Adopt {NEW}")
    assert f"The adoption of {NEW} hangs on the {result.pairs[NEW].missing} missing answers" in text
    assert "held to 2.5%, if what is missing is like the rest, which the rule takes for granted" in text
    assert "What is missing is taken to be like the rest." in flat(result)


def test_little_that_is_missing_does_not_keep_a_large_effect_from_being_decided() -> None:
    rng = np.random.default_rng(2)
    new = "".join(rng.choice(list("CI"), size=1000, p=[0.8, 0.2]))
    rows = {("a", OLD): "".join(rng.choice(list("CI"), size=1000)), ("a", NEW): " " + new[1:]}
    result = compare(answers(rows), spec())
    assert result.decisions[0].adopted
    assert "and would if the missing answer went against it." in decision_text(result)
    assert "999 of 1,000" in decision_text(result)


def test_what_may_not_fall_may_not_fall_at_its_worst_either() -> None:
    """Right answers rise by far, and a tenth of the answers is missing: those that count may have fallen."""
    rng = np.random.default_rng(3)
    old = "".join(rng.choice(list("CIN"), size=600, p=[0.3, 0.2, 0.5]))
    new = "".join(rng.choice(list("CIN "), size=600, p=[0.6, 0.2, 0.1, 0.1]))
    result = compare(answers({("a", OLD): old, ("a", NEW): new}), spec(may_not_fall={"accuracy_given_attempted": 0.02}))
    (decided,) = result.decisions
    assert decided.undecided
    assert [(check.quantity, check.passed) for check in decided.worst] == [
        ("correct", True), ("accuracy_given_attempted", False),
    ]  # fmt: skip
    assert "accuracy given attempted lower end" in decision_text(result)


def test_what_the_control_lacks_counts_for_it() -> None:
    rng = np.random.default_rng(4)
    full = "".join(rng.choice(list("CI"), size=300, p=[0.8, 0.2]))
    old = "".join(rng.choice(list("CI "), size=300, p=[0.2, 0.4, 0.4]))
    result = compare(answers({("a", OLD): old, ("a", NEW): full}), spec())
    worst = result.decisions[0].worst[0]
    assert worst.value == pytest.approx((full.count("C") - old.count("C") - old.count(" ")) / 300)


def test_nothing_missing_has_no_worst_case() -> None:
    grid = vanishing(5, lost=0.0, rise=0.3)
    result = compare(grid, spec())
    assert result.decisions[0].worst == ()
    assert result.decisions[0].adopted
    assert "at worst" not in flat(result)
    assert "Pairs with both wordings" not in flat(result)
    assert "held to 2.5%." in flat(result)


def test_a_model_without_any_answer_is_not_left_out_of_the_worst_case() -> None:
    rng = np.random.default_rng(6)
    rows = {(model, OLD): "".join(rng.choice(list("CI"), size=100)) for model in "ab"}
    rows["a", NEW], rows["b", NEW] = "C" * 100, " " * 100
    for scope in ("fixed", "every-model"):
        result = compare(answers(rows), spec(scope=scope))
        assert not result.decisions[0].adopted
        assert "0 of 100 in b" in decision_text(result)


def contest_grid(rows: Mapping[tuple[str, str], str], people: str) -> GraderWordings:
    """One verdict an item under (wording, model), right or wrong; a space is none."""
    items = tuple(
        Item(f"i{place:04}", f"Question {place}?", Reference("r", "r"), f"says {place}", f"q{place}")
        for place in range(len(people))
    )
    contest = Contest("run", SIMPLEQA, items, tuple(LABELS[PLACE[one]] for one in people), ())
    cells = {}
    for key, row in rows.items():
        said = [
            "" if mark == " " else one if mark == "+" else "I" if one == "C" else "C"
            for mark, one in zip(row, people, strict=True)
        ]
        counts = np.array([np.eye(3, dtype=np.int64)[PLACE[one]] if one else np.zeros(3, np.int64) for one in said])
        shares = np.where(counts.sum(axis=1, keepdims=True) > 0, counts.astype(np.float64), np.nan)
        lost = row.count(" ")
        cells[key] = Candidate(str(key), "grader", shares, counts, 1, {"unparsed": lost} if lost else {}, None)
    return GraderWordings(LabelledContest(contest, "rules", "human", ()), cells, frozenset(), ())


@pytest.mark.parametrize("raises", ["accuracy", "specificity"])
def test_a_graders_missing_verdicts_are_wrong_at_worst(raises: str) -> None:
    rng = np.random.default_rng(7)
    people = "CI" * 100
    old = "".join(rng.choice(list("+-"), size=200, p=[0.6, 0.4]))
    new = "".join(rng.choice(list("+ -"), size=200, p=[0.6, 0.35, 0.05]))
    grid = contest_grid({(OLD, "m"): old, (NEW, "m"): new}, people)
    result = compare(grid, spec(raises))
    (decided,) = result.decisions
    assert decided.undecided
    about = [place for place, one in enumerate(people) if raises == "accuracy" or one == "I"]
    worst = np.mean([(new[place] == "+") - (old[place] == "+") for place in about])
    assert decided.worst[0].value == pytest.approx(worst)
    assert f"if the {new.count(' ')} missing verdicts were like the others" in decision_text(result)


def corrected(grid: AnswerWordings, *, n: int = 900) -> CorrectedWordings:
    rng = np.random.default_rng(8)
    truth = rng.integers(3, size=n)
    said = np.where(rng.random(n) < 0.95, truth, rng.integers(3, size=n))
    known = LabelledItems([LABELS[one] for one in truth], np.eye(3, dtype=np.int64)[said], [f"l{k}" for k in range(n)])
    return CorrectedWordings(grid, known, {}, "labelled answers", 0.95)


def test_corrected_scores_have_their_worst_case_where_the_bounds_say() -> None:
    grid = corrected(vanishing(9))
    result = compare(grid, spec("accuracy_given_attempted"))
    (decided,) = result.decisions
    assert decided.undecided
    bounds = result.comparisons[0].bounds["accuracy_given_attempted"]
    assert bounds is not None
    assert decided.worst[0].value == pytest.approx(bounds[0], abs=0.01)
    assert decided.worst[0].low is not None
    assert decided.worst[0].low < bounds[0]
    # Another level than the first asked for rests on the same effects.
    wide = grid.worst(NEW, OLD, ["f1"], level=0.99)["f1"].fixed.estimate
    narrow = grid.worst(NEW, OLD, ["f1"], level=0.9)["f1"].fixed.estimate
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.low < narrow.low


def test_what_is_taken_to_be_true_rests_on_no_error_rate() -> None:
    """With all answers missing, nothing is uncertain: neither the questions nor the judge."""
    nothing = " " * 60
    grid = corrected(answers({("a", OLD): nothing, ("a", NEW): nothing}))
    found = grid.worst(NEW, OLD, ["accuracy"], level=0.95)["accuracy"].fixed.estimate
    assert found.value == pytest.approx(-1.0)
    few, many = (corrected(vanishing(9, lost=0.5), n=n).worst(NEW, OLD, ["accuracy"], level=0.95) for n in (150, 3000))
    widths = [one["accuracy"].fixed.estimate for one in (few, many)]
    assert widths[0].high - widths[0].low > widths[1].high - widths[1].low  # type: ignore[operator]


def test_looks_count_the_questions_that_an_average_has_and_stand_their_worst_case() -> None:
    grid = vanishing(10)
    result = compare(grid, spec(stopping="anytime"))
    assert result.looks is not None
    (decided,) = result.decisions
    assert decided.undecided
    complete = np.all([grid.shares(model, NEW).sum(axis=1) > 0 for model in "abc"], axis=0).sum()
    (look,) = result.looks.wordings[0].checks
    assert look.difference.estimate.n == complete
    text = flat(result)
    assert f"average {complete} " in text
    assert "for an average, in every model, where a comparison of a fixed size averages the effects" in text
    assert f"Pairs with both wordings: {NEW} {result.pairs[NEW].n_compared} of 450" in text
    assert f"its average of the {complete} questions with both in every model" in text
    assert "whatever it is that is missing" in text
    ignorable = compare(grid, spec(stopping="anytime", missing="ignorable"))
    assert ignorable.decisions[0].adopted
    # At its worst a look has every question, and a wording that is truly better passes.
    better = compare(vanishing(11, n=400, lost=0.1, rise=0.45), spec(stopping="anytime"))
    assert better.decisions[0].adopted
    assert better.decisions[0].worst_passes


def test_looks_at_a_graders_verdicts_stand_their_worst_case() -> None:
    rng = np.random.default_rng(12)
    people = "CI" * 200
    old = "".join(rng.choice(list("+-"), size=400, p=[0.6, 0.4]))
    new = "".join(rng.choice(list("+ "), size=400, p=[0.6, 0.4]))
    grid = contest_grid({(OLD, "m"): old, (NEW, "m"): new}, people)
    assert compare(grid, spec("accuracy", stopping="anytime")).decisions[0].undecided
    assert compare(grid, spec("accuracy", stopping="anytime", missing="ignorable")).decisions[0].adopted


def test_every_wording_is_told_by_itself() -> None:
    grid = vanishing(13)
    rows = dict(grid.grid.cells)
    rng = np.random.default_rng(14)
    for model in "abc":
        full = np.eye(3)[np.where(rng.random(150) < 0.9, PLACE["C"], PLACE["I"])]
        rows[model, "best@1.0.0"] = replace(
            rows[model, OLD], prompt="best@1.0.0", shares=full, present=np.ones(150), missing={}
        )
    wide = replace(grid, grid=replace(grid.grid, cells=rows, prompts=(OLD, NEW, "best@1.0.0")))
    result = compare(wide, spec())
    assert result.chosen is not None
    assert result.chosen.wording == "best@1.0.0"
    text = decision_text(result)
    assert text.startswith("Adopt best@1.0.0")
    assert f"Not decided: {NEW} would be adopted if" in text


shares_of = st.lists(st.sampled_from("CIN "), min_size=1, max_size=12)


@given(shares_of, st.sampled_from(QUANTITIES))
def test_filled_shares_are_the_ends_of_the_bounds(row: list[str], quantity: str) -> None:
    shares = np.array([np.eye(3)[PLACE[one]] if one != " " else np.zeros(3) for one in row])
    present = np.array([float(one != " ") for one in row])
    bounds = missing_question_bounds(shares, present=present, penalty=PENALTY, **ROLES)[quantity]
    for at, best in enumerate((False, True)):
        filled, missing = fill_shares(shares, present, quantity, best=best, penalty=PENALTY, **ROLES)
        assert filled.sum(axis=1) == pytest.approx(np.ones(len(row)))
        assert missing.sum() == pytest.approx(row.count(" "))
        whole = missing_question_bounds(filled, present=np.ones(len(row)), penalty=PENALTY, **ROLES)[quantity]
        if bounds is None:
            assert whole is None
        else:
            assert whole == pytest.approx((bounds[at], bounds[at]))


def test_chances_are_filled_at_their_weight() -> None:
    chances, present = np.array([1.0, 0.5, np.nan]), np.array([0.5, 0.0, 1.0])
    assert fill_chances(chances, present, best=False)[:2].tolist() == [0.5, 0.0]
    assert fill_chances(chances, present, best=True)[:2].tolist() == [1.0, 1.0]
    assert np.isnan(fill_chances(chances, present, best=True)[2])


@pytest.mark.slow
@pytest.mark.parametrize(("stopping", "n"), [("fixed-size", 80), ("anytime", 240)])
def test_vanishing_answers_deceive_no_more_often_than_claimed(stopping: str, n: int) -> None:
    """Only wrong answers vanish, so that the worst case is the truth, and the truth is no effect at all."""
    worlds, wrong, deceived = 100, 0, 0
    for seed in range(worlds):
        grid = vanishing(seed, n=n, lost=0.8)
        wrong += compare(grid, spec(stopping=stopping)).decisions[0].adopted
        deceived += compare(grid, spec(stopping=stopping, missing="ignorable")).decisions[0].adopted
    assert wrong <= stats.binom.ppf(0.999, worlds, 0.025)
    assert deceived > worlds / 4
