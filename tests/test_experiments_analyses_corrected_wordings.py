"""Answer wordings corrected for their judge: what is read, what is refused, and the pages, short and full."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from experiments.analyses.scores.scoring_inputs import GraderChoice
from experiments.analyses.wordings.ab_page import ab_document, ab_fields
from experiments.analyses.wordings.ab_words import decision_text
from experiments.analyses.wordings.answer_wordings import AnswerWordings, read_answer_wordings
from experiments.analyses.wordings.corrected_wordings import (
    CorrectedWordings,
    compare_corrected_wordings,
    read_corrected_wordings,
)
from experiments.analyses.wordings.wording_comparison import WordingResult, compare_wordings
from experiments.analyses.wordings.wording_matrix import effect_matrix
from experiments.errors import SpecError
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.plain import plain_value
from experiments.reports.render_text import render_document
from experiments.respondents.grid import Grid, GridCell
from experiments.respondents.records import AnsweringRecord, QuestionRecord, RespondentRecord
from experiments.specs.decisions import AbSpec
from experiments.stats.comparisons import adjust_p_values
from experiments.stats.correction import GradedItems, correct_scores, corrected_differences
from graders.verdict import Verdict

LABELS = SIMPLEQA.labels
LETTERS = dict(zip("INC", LABELS, strict=True))
ROLES: dict[str, Any] = {"labels": LABELS, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
RATES = np.array([[0.80, 0.02, 0.18], [0.03, 0.95, 0.02], [0.06, 0.01, 0.93]])
OLD, NEW, MODELS, N = "old@1.0.0", "new@1.0.0", ("a", "b"), 120
SHARES = {OLD: [0.3, 0.4, 0.3], NEW: [0.3, 0.1, 0.6]}
CHOICE = GraderChoice()


def spec(raises: str = "accuracy", **fields: Any) -> AbSpec:
    return AbSpec.model_validate({"control": OLD, "raise": raises, **fields})


def item(name: str, question: str, place: int, respondent: str | None = None) -> Item:
    metadata = {"question": f"question-{place}"} if respondent else {}
    return Item(
        name, question, Reference("r", "r"), f"says {name}", f"q{place}", respondent=respondent, metadata=metadata
    )


def judge(items: Sequence[Item], letters: str, grader_id: str = "judge-1") -> GraderResults:
    """One letter an item; a dash is no verdict."""
    verdicts = [
        Verdict(one.digest, grader_id, 0, LETTERS.get(letter), None if letter in LETTERS else "unparsed", "robust")
        for one, letter in zip(items, letters, strict=True)
    ]
    settings = {"repeats": 1, "channel": "letter"}
    return GraderResults(grader_id, "g@1.0.0#0", None, "judge", settings, [], [], verdicts)


def held(items: Sequence[Item], labels: Sequence[HumanLabel] = ()) -> CalibrationSet:
    return CalibrationSet("s", "1.0.0", "rules@1.0.0", SIMPLEQA, "human", "CC0", "us", "", tuple(items), tuple(labels))


def drawn(rng: np.random.Generator, shares: Sequence[float], n: int, rates: NDArray[np.float64]) -> tuple[str, str]:
    """Letters of the truth, and of the judge."""
    truth = rng.choice(3, size=n, p=list(shares))
    said = [int(rng.choice(3, p=rates[place])) for place in truth]
    return "".join("INC"[place] for place in truth), "".join("INC"[place] for place in said)


def answered(
    rows: Mapping[tuple[str, str], str], *, asked: str = "Benchmark question", grader: str = "judge-1"
) -> RunData:
    """A run in which each (model, wording) has the judge's letters; a space has no response."""
    items, letters, respondents = [], "", []
    for (model, wording), row in rows.items():
        name = f"{model} | {wording}"
        missing = {"refused": row.count(" ")} if " " in row else {}
        respondents.append(RespondentRecord("r", model, wording, len(row) - row.count(" "), missing=missing))
        kept = [place for place, letter in enumerate(row) if letter != " "]
        items += [item(f"{name} {place}", f"{asked} {place}?", place, name) for place in kept]
        letters += "".join(row[place] for place in kept)
    n = len(next(iter(rows.values())))
    questions = tuple(QuestionRecord(f"question-{place}", f"q{place}") for place in range(n))
    record = AnsweringRecord(questions, 1, tuple(respondents))
    graded = judge(items, letters, grader)
    return RunData("answers-1", "answers", held(items), len(items), "robust", [graded], answering=record)


def labelled(
    truth: str, said: str, *, asked: str = "Labelled question", grader: str = "judge-1", names: str = "l"
) -> RunData:
    items = [item(f"{names}{place}", f"{asked} {place}?", place) for place in range(len(truth))]
    labels = [
        HumanLabel(one.item_id, one.digest, "rater", LETTERS[letter], "rules@1.0.0")
        for one, letter in zip(items, truth, strict=True)
    ]
    return RunData("labels-1", "labels", held(items, labels), len(items), "robust", [judge(items, said, grader)])


def rows(seed: int = 1, n: int = N) -> dict[tuple[str, str], str]:
    rng = np.random.default_rng(seed)
    return {(model, wording): drawn(rng, shares, n, RATES)[1] for model in MODELS for wording, shares in SHARES.items()}


def known(seed: int = 2, n: int = 300, rates: NDArray[np.float64] = RATES, **fields: Any) -> RunData:
    return labelled(*drawn(np.random.default_rng(seed), [0.35, 0.3, 0.35], n, rates), **fields)


def counts(letters: str) -> NDArray[np.int64]:
    return np.array([np.array(list("INC")) == letter for letter in letters], dtype=np.int64)


def page(result: WordingResult, *, full: bool = False) -> str:
    json.dumps(plain_value(ab_fields(result)), allow_nan=False)
    return render_document(ab_document(result, full=full), width=100)


def test_cells_and_effects_are_those_of_the_statistics() -> None:
    data, calibration = answered(rows()), known()
    grid = read_corrected_wordings(data, calibration, CHOICE, level=0.95)
    result = compare_corrected_wordings(grid, None, level=0.95)
    graded = {key: GradedItems(counts(row), [f"q{place}" for place in range(N)]) for key, row in rows().items()}
    expected = correct_scores(graded["a", OLD], grid.labelled, **ROLES).require_corrected()
    assert result.cells[0].quantities == dict(expected)
    for place, model in enumerate(MODELS):
        alone = corrected_differences(graded[model, NEW], graded[model, OLD], grid.labelled, **ROLES).differences
        assert alone is not None
        found = result.comparisons[0].effects["f1"].effects[place].difference
        assert found.estimate.low == pytest.approx(alone["f1"].estimate.low)
        assert found.p_value == pytest.approx(alone["f1"].p_value)
    assert result.as_graded is not None
    plain = compare_wordings(read_answer_wordings(data), None, level=0.95)
    assert result.as_graded.comparisons == plain.comparisons
    assert result.facts.corrected_by == "300 labelled items of 300 questions (s 1.0.0, run labels-1)"


def test_the_decision_is_made_on_the_corrected_scale_and_says_so() -> None:
    grid = read_corrected_wordings(answered(rows()), known(), CHOICE, level=0.95)
    result = compare_corrected_wordings(grid, spec(may_not_fall={"accuracy_given_attempted": 0.2}), level=0.95)
    (decided,) = result.decisions
    assert decided.adopted
    assert decided.checks[0].low == result.comparisons[0].effects["accuracy"].fixed.estimate.low
    text = " ".join(page(result).split())
    assert "Scores are corrected for the grader's errors by 300 labelled items of 300 questions" in text
    assert "As graded and corrected" in text
    assert f"As graded the rule says to adopt {NEW}; corrected, to adopt {NEW}." in text
    assert "taken to be as frequent under every wording as on the labelled items" in text
    assert "its errors uncorrected" not in text
    fields = ab_fields(result)
    assert fields["as_graded"]["facts"]["corrected_by"] is None
    assert fields["as_graded"]["as_graded"] is None
    assert fields["facts"]["corrected_by"] == result.facts.corrected_by


def test_a_judge_that_passes_wrong_answers_sees_a_rise_that_is_none() -> None:
    """The wording turns declining into wrong answers, and nothing else; only the correction sees that."""
    rng = np.random.default_rng(3)
    lenient = np.array([[0.70, 0.0, 0.30], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    shares = {OLD: [0.1, 0.6, 0.3], NEW: [0.7, 0.0, 0.3]}
    data = answered({(m, w): drawn(rng, one, 300, lenient)[1] for m in MODELS for w, one in shares.items()})
    grid = read_corrected_wordings(data, known(4, 900, lenient), CHOICE, level=0.95)
    result = compare_corrected_wordings(grid, spec(), level=0.95)
    assert result.as_graded is not None
    assert result.as_graded.decisions[0].adopted
    assert not result.decisions[0].adopted
    assert f"As graded the rule says to adopt {NEW}; corrected, to keep {OLD}." in " ".join(page(result).split())


def test_questions_that_are_in_both_runs_are_the_same_questions() -> None:
    data = answered(rows(), asked="Which is number")
    apart = read_corrected_wordings(data, known(), CHOICE, level=0.95)
    both = read_corrected_wordings(data, known(asked="Which is number"), CHOICE, level=0.95)
    assert not apart.calibration.known.shared
    assert both.calibration.known.shared
    assert len(np.unique([*both.calibration.codes, *both.calibration.known.labelled_codes])) == 300
    assert len(np.unique([*apart.calibration.codes, *apart.calibration.known.labelled_codes])) == 300 + N


def test_labels_that_nobody_gives_are_no_class() -> None:
    """A scale with three labels, of which two occur."""
    two = np.array([[0.8, 0.0, 0.2], [0.0, 1.0, 0.0], [0.1, 0.0, 0.9]])
    rng = np.random.default_rng(5)
    data = answered({("a", w): drawn(rng, [1 - p, 0, p], N, two)[1] for w, p in ((OLD, 0.3), (NEW, 0.6))})
    calibration = labelled(*drawn(rng, [0.5, 0.0, 0.5], 200, two))
    grid = read_corrected_wordings(data, calibration, CHOICE, level=0.95)
    assert grid.calibration.choice.labels == ("INCORRECT", "CORRECT")
    result = compare_corrected_wordings(grid, spec(), level=0.95)
    assert result.decisions[0].adopted
    assert result.cells[0].quantities["not_attempted"].value == 0


def test_what_is_missing_counts_at_its_weight_and_truly_may_be_anything() -> None:
    given = rows()
    given["a", NEW] = "  " + given["a", NEW][2:]
    given["b", NEW] = "-" + given["b", NEW][1:]
    grid = read_corrected_wordings(answered(given), known(), CHOICE, level=0.95)
    result = compare_corrected_wordings(grid, None, level=0.95)
    cell = next(one for one in result.cells if (one.wording, one.model) == (NEW, "a"))
    assert (cell.valid, cell.expected, dict(cell.failures)) == (N - 2, N, {"no response, refused": 2})
    value, bounds = cell.quantities["accuracy"].value, cell.bounds["accuracy"]
    assert value is not None
    assert bounds == pytest.approx(((N - 2) / N * value, (N - 2) / N * value + 2 / N))
    whole = next(one for one in result.cells if (one.wording, one.model) == (OLD, "a"))
    assert set(whole.bounds.values()) == {None}
    assert result.comparisons[0].bounds["accuracy"] is not None


def test_looks_while_it_runs_are_not_corrected() -> None:
    grid = read_corrected_wordings(answered(rows()), known(), CHOICE, level=0.95)
    with pytest.raises(
        SpecError, match=r'--calibration with ab\.stopping = "anytime"; expected one of the two'
    ) as caught:
        compare_corrected_wordings(grid, spec(stopping="anytime"), level=0.95)
    assert "\n" not in str(caught.value)
    assert grid.table(NEW, OLD, "accuracy") is None
    assert grid.take(frozenset({"q0", "q1"})).clusters == ("q0", "q1")


@pytest.mark.parametrize(
    ("calibration", "message"),
    [
        (lambda: known(rates=np.full((3, 3), 1 / 3)), "not identified"),
        (lambda: labelled("CCCIII", "CCCIII"), "people called no calibration item 'NOT_ATTEMPTED'"),
        (lambda: known(grader="another"), "not by g@1.0.0 judge with the same prompt, model and sampling"),
        (lambda: labelled("CNI", "---"), "no labelled item has a verdict of the grader"),
    ],
)
def test_labelled_items_that_cannot_correct_are_named(calibration: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message) as caught:
        read_corrected_wordings(answered(rows()), calibration(), CHOICE, level=0.95)
    assert str(caught.value).startswith("--calibration")


def test_another_graders_errors_may_be_assumed_and_are_named() -> None:
    choice = GraderChoice("judge", "judge", other_assumed=True)
    grid = read_corrected_wordings(answered(rows()), known(grader="another"), choice, level=0.95)
    assert "whose errors are assumed to be alike" in str(grid.facts.corrected_by)


WORDINGS = tuple(f"wording_with_a_name_{place}@1.0.0" for place in range(10))
MANY = tuple(f"service/model-{place:02}-2026-01-01" for place in range(12))


def large(seed: int = 6, n: int = 60) -> AnswerWordings:
    """12 models x 10 wordings, with one model that goes against the others, and something missing."""
    rng = np.random.default_rng(seed)
    questions = tuple(f"q{place}" for place in range(n))
    cells = {}
    for row, model in enumerate(MANY):
        for column, wording in enumerate(WORDINGS):
            rise = -0.38 if (row, column) == (3, 1) else 0.04 * column if column != 1 else 0.3
            shares = np.eye(3)[rng.choice(3, size=n, p=[0.3 - rise / 2, 0.3 - rise / 2, 0.4 + rise])]
            present, missing = np.ones(n), {}
            if (row, column) == (0, 2):
                shares[:2], present[:2], missing = np.nan, 0.0, {"refused": 2}
            cells[model, wording] = GridCell(model, wording, questions, shares, present, 0, 0, missing)
    grid = Grid("run", "judge", LABELS, "CORRECT", "NOT_ATTEMPTED", questions, questions, MANY, WORDINGS, cells)
    return AnswerWordings(grid, 1, frozenset(), tuple(range(n)))


def corrected(grid: AnswerWordings) -> CorrectedWordings:
    calibration = known()
    read = read_corrected_wordings(answered(rows()), calibration, CHOICE, level=0.95)
    return replace(read, graded=grid, questions={})


RULE = AbSpec.model_validate(
    {"control": WORDINGS[0], "raise": "accuracy", "may_not_fall": {"accuracy_given_attempted": 0.01}}
)


@cache
def compared(scope: str = "fixed") -> WordingResult:
    return compare_wordings(large(), RULE.model_copy(update={"scope": scope}), level=0.95, resamples=4000)


@pytest.mark.parametrize("scope", ["fixed", "every-model"])
def test_a_large_grid_has_a_short_page(scope: str) -> None:
    text = page(compared(scope))
    lines = text.splitlines()
    assert len(lines) < 150
    assert max(map(len, lines)) <= 100
    flat = " ".join(text.split())
    assert "Each wording in each model" not in text
    assert "--full" in text
    matrix = text.split("Effect on accuracy in each model")[1].split("Notable")[0].splitlines()
    assert [line.split()[0] for line in matrix if line.startswith("service/")] == list(MANY)
    assert f"A {WORDINGS[1]}, B {WORDINGS[2]}" in flat
    assert "adjusted for all 108 cells" in flat
    assert f"Against the average, on accuracy: {WORDINGS[1]} in {MANY[3]}" in flat
    assert f"Something is missing in 1 of 120 cells: {WORDINGS[2]} in {MANY[0]} (no response, refused 2)" in flat
    assert "differs between models" in flat
    if scope == "every-model":
        assert "of 12" in text.split("check by check")[1]


def test_the_full_page_has_every_cell() -> None:
    text = page(compared(), full=True)
    cells = text.split("Each wording in each model")[1].split("Effect against")[0]
    assert len(text.splitlines()) > 500
    assert cells.count("100.0%") == 119
    assert "Effect against" in text
    assert "Notable" in text
    assert "--full" not in text


def test_a_corrected_large_grid_has_both_scales_on_a_short_page() -> None:
    result = compare_corrected_wordings(corrected(large()), RULE, level=0.95, resamples=50)
    text = page(result)
    assert len(text.splitlines()) < 150
    both = text.split("As graded and corrected")[1].split("Effect on accuracy")[0]
    assert all(wording in both for wording in WORDINGS[1:])


def test_marks_are_adjusted_for_all_cells() -> None:
    result = compared()
    matrix = effect_matrix(result, "accuracy")
    raw = [effect.difference.p_value for one in result.comparisons for effect in one.effects["accuracy"].effects]
    expected = [row.adjusted for row in adjust_p_values(raw, level=0.95).rows]
    assert [cell.adjusted for cell in matrix.cells.values()] == expected
    assert matrix.cells[WORDINGS[1], MANY[3]].significant
    shown = page(result).split("Effect on accuracy in each model")[1].split("Notable")[0]
    assert shown.count("*") == 1 + sum(cell.significant for cell in matrix.cells.values())


def test_a_small_grid_is_shown_cell_by_cell() -> None:
    text = page(compare_wordings(read_answer_wordings(answered(rows())), spec(), level=0.95, resamples=200))
    assert "Each wording in each model" in text
    assert "Notable" not in text


def test_nothing_notable_says_so() -> None:
    grid = large()
    first = {model: grid.grid.cells[model, WORDINGS[0]] for model in MANY}
    cells = {(model, wording): replace(first[model], prompt=wording) for model, wording in grid.grid.cells}
    same = replace(grid, grid=replace(grid.grid, cells=cells))
    result = compare_wordings(same, None, level=0.95, resamples=50)
    assert "Nothing stands out model by model, and nothing is missing." in page(result)
    assert decision_text(result).startswith("No decision")
