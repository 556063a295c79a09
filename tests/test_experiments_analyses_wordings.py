"""Which wording: cells, effects against the control, pooling, the rule over several wordings, and looks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from experiments.analyses.choice.candidates import Candidate, LabelledContest
from experiments.analyses.choice.entrants import Contest
from experiments.analyses.wordings.ab_page import ab_document, ab_fields
from experiments.analyses.wordings.ab_words import decision_text
from experiments.analyses.wordings.answer_wordings import read_answer_wordings
from experiments.analyses.wordings.grader_wordings import GraderWordings, read_grader_wordings
from experiments.analyses.wordings.wording_comparison import WordingResult, compare_wordings
from experiments.errors import SpecError
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.plain import plain_value
from experiments.reports.render_text import render_document
from experiments.respondents.records import AnsweringRecord, QuestionRecord, RespondentRecord
from experiments.specs.decisions import AbSpec
from experiments.specs.wording_rule import find_wording
from experiments.stats.comparisons import paired_comparison
from experiments.stats.comparisons.anytime import random_order
from experiments.stats.errors import false_negative_rate, false_positive_rate
from experiments.stats.scores import benchmark_scores, paired_score_differences
from graders.verdict import Verdict

LETTERS = {"C": "CORRECT", "I": "INCORRECT", "N": "NOT_ATTEMPTED"}
CONTROL = "old@1.0.0"
Array = NDArray[np.float64]


def spec(raises: str = "accuracy", **fields: Any) -> AbSpec:
    return AbSpec.model_validate({"control": "old@1.0.0", "raise": raises, **fields})


def items_of(n: int, *, each: int = 1, respondent: str | None = None) -> tuple[Item, ...]:
    return tuple(
        Item(
            f"i{place:04}", f"Question {place // each}?", Reference("r", "r"), f"response {place}", f"q{place // each}"
        )
        for place in range(n)
    )


def grader(prompt: str | None, model: str, items: Sequence[Item], replies: Sequence[str], **sampling: Any) -> Any:
    """One row of letters an item; ``-`` is unparsed, ``.`` a call that failed, a space what was not asked for."""
    grader_id = f"{prompt} {model} {sorted(sampling.items())}"
    verdicts = []
    for item, row in zip(items, replies, strict=True):
        for repeat, letter in enumerate(row):
            failure: Any = {"-": "unparsed", ".": "not_answered", " ": "not_answered"}.get(letter)
            detail = {".": "timeout", " ": "not_asked"}.get(letter, "")
            verdicts.append(Verdict(item.digest, grader_id, repeat, LETTERS.get(letter), failure, "robust", detail))
    settings = {"repeats": max(map(len, replies), default=1), "channel": "letter", **sampling}
    return GraderResults(grader_id, f"{prompt}#0" if prompt else None, None, model, settings, [], [], verdicts)


def run(people: str, graders: Sequence[tuple[str | None, str, Sequence[str]]], *, each: int = 1) -> RunData:
    items = items_of(len(people), each=each)
    labels = tuple(
        HumanLabel(item.item_id, item.digest, "rater", LETTERS[letter], "rules@1.0.0")
        for item, letter in zip(items, people, strict=True)
    )
    labelled = CalibrationSet("s", "1.0.0", "rules@1.0.0", SIMPLEQA, "human", "CC0", "us", "", items, labels)
    results = [grader(prompt, model, items, rows) for prompt, model, rows in graders]
    return RunData("run-1", "exp", labelled, len(items), "robust", results)


def drawn(rng: np.random.Generator, people: str, chance: float, repeats: int = 1) -> list[str]:
    """Verdicts that are right with a chance; a wrong one is another label."""
    wrong = {"C": "I", "I": "C", "N": "I"}
    return ["".join(letter if rng.random() < chance else wrong[letter] for _ in range(repeats)) for letter in people]


def two_by_two(*, better: float = 0.95, n: int = 120, seed: int = 1) -> RunData:
    rng = np.random.default_rng(seed)
    people = "".join(rng.choice(list("CIN"), size=n))
    return run(
        people,
        [
            (wording, model, drawn(rng, people, chance, 2))
            for model in ("a", "b")
            for wording, chance in (("old@1.0.0", 0.7), ("new@1.0.0", better))
        ],
        each=2,
    )


def page(result: WordingResult) -> str:
    text = render_document(ab_document(result), width=100)
    json.dumps(plain_value(ab_fields(result)), allow_nan=False)
    assert text.rstrip().splitlines()[-1] == render_document(ab_document(result)).rstrip().splitlines()[-1]
    return text


def test_cells_are_the_graders_rates() -> None:
    data = two_by_two()
    result = compare_wordings(read_grader_wordings(data), None, level=0.9, resamples=200)
    assert [(cell.wording, cell.model) for cell in result.cells] == [
        ("old@1.0.0", "a"), ("old@1.0.0", "b"), ("new@1.0.0", "a"), ("new@1.0.0", "b"),
    ]  # fmt: skip
    items = data.calibration_set.items
    reference = [label.label for label in data.calibration_set.human_labels]
    counts = np.zeros((len(items), 3), dtype=np.int64)
    rows = {item.digest: row for row, item in enumerate(items)}
    for verdict in data.graders[0].verdicts:
        counts[rows[verdict.item_digest], SIMPLEQA.labels.index(str(verdict.label))] += 1
    given: dict[str, Any] = {"labels": SIMPLEQA.labels, "positive": "CORRECT", "level": 0.9}
    clusters = [item.cluster_id for item in items]
    found = result.cells[0].quantities
    for name, rate in (("sensitivity", false_negative_rate), ("specificity", false_positive_rate)):
        expected = rate(reference, counts, clusters, **given)
        assert expected.value is not None
        assert expected.high is not None
        assert found[name].value == pytest.approx(1 - expected.value, abs=1e-12)
        assert found[name].low == pytest.approx(1 - expected.high, abs=1e-12)
    right = counts[np.arange(len(items)), [SIMPLEQA.labels.index(label) for label in reference]] / 2
    assert found["accuracy"].value == pytest.approx(right.mean(), abs=1e-12)
    assert result.cells[0].bounds["accuracy"] is None


def test_an_effect_is_the_paired_comparison_of_its_cells() -> None:
    data = two_by_two()
    grid = read_grader_wordings(data)
    result = compare_wordings(grid, None, level=0.95, resamples=500)
    table = grid.table("new@1.0.0", CONTROL, "accuracy")
    assert table is not None
    alone = paired_comparison(table.values[:, 0], np.zeros(120), grid.clusters, rng=np.random.default_rng(1), repeats=2)
    effect = result.comparisons[0].effects["accuracy"].effects[0]
    assert effect.difference.estimate == alone.difference.estimate
    means = [effect.difference.estimate.value or 0.0 for effect in result.comparisons[0].effects["accuracy"].effects]
    assert result.comparisons[0].effects["accuracy"].fixed.estimate.value == pytest.approx(float(np.mean(means)))


def test_without_a_rule_there_are_estimates_and_no_decision() -> None:
    result = compare_wordings(read_grader_wordings(two_by_two()), None, level=0.95, resamples=200)
    assert result.control == CONTROL
    assert result.decisions == ()
    assert result.chosen is None
    text = page(result)
    assert "The experiment wrote no rule." in text
    assert text.split("Decision\n")[1].splitlines()[1].startswith("No decision: the experiment wrote no rule")
    turned = compare_wordings(read_grader_wordings(two_by_two()), None, level=0.95, control="new", resamples=200)
    assert turned.control == "new@1.0.0"
    assert turned.comparisons[0].effects["accuracy"].fixed.estimate.value == pytest.approx(
        -(result.comparisons[0].effects["accuracy"].fixed.estimate.value or 0.0)
    )


def test_a_better_wording_is_adopted_by_the_rule() -> None:
    rule = spec(may_not_fall={"specificity": 0.05})
    result = compare_wordings(read_grader_wordings(two_by_two()), rule, level=0.95, resamples=200)
    (decided,) = result.decisions
    assert decided.adopted
    assert decided.level == 0.95
    assert [check.quantity for check in decided.checks] == ["accuracy", "specificity"]
    assert not decided.hangs_on_missing
    decision = page(result).split("Decision\n")[1]
    assert "Adopt new@1.0.0: it meets the rule" in decision
    assert "120 items of 60 questions" in " ".join(decision.split())
    assert "held to 2.5%." in " ".join(decision.split())


def test_a_worse_wording_is_not() -> None:
    result = compare_wordings(read_grader_wordings(two_by_two(better=0.6)), spec(), level=0.95, resamples=200)
    assert not result.decisions[0].adopted
    assert "Keep old@1.0.0: no other wording meets the rule." in " ".join(decision_text(result).split())


def test_several_wordings_are_held_to_steps_of_holm() -> None:
    rng = np.random.default_rng(3)
    people = "".join(rng.choice(list("CI"), size=200))
    chances = {"old@1.0.0": 0.6, "great@1.0.0": 0.95, "good@1.0.0": 0.72, "same@1.0.0": 0.6}
    data = run(people, [(name, "a", drawn(rng, people, chance)) for name, chance in chances.items()])
    result = compare_wordings(read_grader_wordings(data), spec(), level=0.95, resamples=200)
    decided = {one.wording: one for one in result.decisions}
    assert decided["great@1.0.0"].level == pytest.approx(1 - 0.05 / 3)
    assert decided["great@1.0.0"].adopted
    # Whoever is left after the first step is held to a wider margin of error than alone, and less wide than at first.
    assert decided["same@1.0.0"].level == pytest.approx(1 - 0.05 / (2 if not decided["good@1.0.0"].adopted else 1))
    assert not decided["same@1.0.0"].adopted
    assert result.chosen is decided["great@1.0.0"]
    rows = result.adjusted["accuracy"]["fixed"].rows
    assert all((row.adjusted or 0.0) >= (row.p_value or 0.0) for row in rows)
    assert "(Holm's steps)" in decision_text(result)


def test_every_model_is_checked_where_the_rule_says_so() -> None:
    result = compare_wordings(read_grader_wordings(two_by_two()), spec(scope="every-model"), level=0.95, resamples=200)
    assert [check.model for check in result.decisions[0].checks] == ["a", "b"]


def test_what_is_missing_is_counted_and_bounded_and_said_where_it_decides() -> None:
    people = "CI" * 40
    good = list(people)
    worse = ["I" if place % 4 == 0 else letter for place, letter in enumerate(people)]
    gaps = ["-" if place % 4 == 0 else letter for place, letter in enumerate(good)]
    gaps[1] = "."
    data = run(people, [("old@1.0.0", "a", worse), ("new@1.0.0", "a", gaps)])
    result = compare_wordings(read_grader_wordings(data), spec("specificity"), level=0.95, resamples=200)
    cell = result.cells[1]
    assert (cell.valid, cell.expected) == (59, 80)
    assert dict(cell.failures) == {"not_answered": 1, "unparsed": 20}
    assert cell.bounds["accuracy"] == pytest.approx((59 / 80, 1.0))
    assert result.comparisons[0].bounds["accuracy"] == pytest.approx((59 / 80 - 60 / 80, 1 - 60 / 80))
    text = page(result)
    assert "59/80" in text
    assert "not_answered 1" in text


def test_a_run_that_is_not_finished_is_not_looked_at() -> None:
    people = "CICI"
    data = run(people, [("old@1.0.0", "a", list(people)), ("new@1.0.0", "a", ["C", "I", " ", " "])])
    with pytest.raises(SpecError, match="2 of 4 questions lack what is still to be asked for") as caught:
        compare_wordings(read_grader_wordings(data), spec(), level=0.95)
    assert "anytime" in str(caught.value)
    with pytest.raises(SpecError, match="not looked at before its end"):
        compare_wordings(read_grader_wordings(data), None, level=0.95)


def test_a_call_that_failed_is_missing_and_no_longer_pending() -> None:
    people = "CICI"
    data = run(people, [("old@1.0.0", "a", list(people)), ("new@1.0.0", "a", ["C", "I", ".", "I"])])
    assert read_grader_wordings(data).pending == frozenset()


def test_ragged_grids_compare_what_is_there() -> None:
    people = "CICICICICICI"
    data = run(
        people,
        [
            ("old@1.0.0", "a", list(people)),
            ("old@1.0.0", "b", list(people)),
            ("new@1.0.0", "b", list("C" * 12)),
            ("lone@1.0.0", "c", list(people)),
            (None, "baseline/lexical", list(people)),
        ],
    )
    result = compare_wordings(read_grader_wordings(data), spec(), level=0.95, resamples=200)
    assert len(result.cells) == 4
    assert result.comparisons[0].effects["accuracy"].models == ("b",)
    assert result.comparisons[1].effects["accuracy"].models == ()
    assert not result.decisions[1].adopted
    text = page(result)
    assert "Without a prompt, and so no wording: baseline/lexical." in text
    assert "accuracy not defined" in " ".join(text.split())


def test_one_class_and_a_grader_with_only_failures() -> None:
    data = run("CCCC", [("old@1.0.0", "a", list("CCIC")), ("new@1.0.0", "a", list("----"))])
    result = compare_wordings(read_grader_wordings(data), spec(), level=0.95, resamples=200)
    assert result.cells[0].quantities["specificity"].value is None
    assert result.cells[1].quantities["accuracy"].value is None
    assert not result.decisions[0].adopted
    assert "4 questions are few" in decision_text(result)
    page(result)


def test_graders_of_one_prompt_and_model_differ_by_sampling() -> None:
    people = "CICI"
    data = run(people, [("old@1.0.0", "a", list(people)), ("new@1.0.0", "a", list(people))])
    items = data.calibration_set.items
    more = [
        grader(prompt, "a", items, list(people), temperature=heat, channel=channel)
        for prompt, channel in (("old@1.0.0", "letter"), ("new@1.0.0", "word"))
        for heat in (0.0, 1.0)
    ]
    facts = read_grader_wordings(replace(data, graders=more)).facts
    assert facts.models == ("a temperature 0.0", "a temperature 1.0")


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (spec("f1"), r"ab.raise: 'f1'; expected one of \['accuracy', 'sensitivity', 'specificity'\]"),
        (spec(may_not_fall={"f1": 0.1}), "ab.may_not_fall: 'f1'"),
        (spec(may_not_fall={"accuracy": 0.1}), "ab.may_not_fall: 'accuracy', which is to rise"),
        (spec(may_not_fall={"specificity": 0.0}), "ab.may_not_fall.specificity: 0; expected a margin above 0"),
        (spec(control="other"), "ab.control: 'other', 0 wordings of that name"),
        (spec(stopping="anytime", scope="sampled"), 'ab.scope: "sampled"'),
        (spec(stopping="anytime", may_not_fall={"specificity": 1.0}), "1, as far as it can fall"),
    ],
)
def test_a_rule_that_does_not_fit_is_named(rule: AbSpec, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        compare_wordings(read_grader_wordings(two_by_two(n=8)), rule, level=0.95)


def test_a_control_beside_a_rule_must_be_its_own() -> None:
    grid = read_grader_wordings(two_by_two(n=8))
    assert compare_wordings(grid, spec(), level=0.95, control="old", resamples=50).control == CONTROL
    with pytest.raises(SpecError, match="--control: 'new'; expected none"):
        compare_wordings(grid, spec(), level=0.95, control="new")


def test_runs_without_wordings_are_refused() -> None:
    with pytest.raises(SpecError, match=r"the grader prompts are \['old@1.0.0'\]; expected two or more"):
        read_grader_wordings(run("CI", [("old@1.0.0", "a", list("CI"))]))
    bare = run("", [("old@1.0.0", "a", []), ("new@1.0.0", "a", [])])
    with pytest.raises(SpecError, match="no labelled items"):
        read_grader_wordings(bare)


def test_wordings_are_found_by_name() -> None:
    names = ["p@1.0.0", "p@2.0.0", "q@1.0.0#ab"]
    assert find_wording("p@2.0.0", names, "x") == "p@2.0.0"
    assert find_wording("q", names, "x") == "q@1.0.0#ab"
    with pytest.raises(SpecError, match="x: 'p', 2 wordings"):
        find_wording("p", names, "x")


def looked(n: int, *, done: int, better: float, seed: int = 1, rule: AbSpec | None = None) -> WordingResult:
    """A run of which the first ``done`` questions of the order are answered under both wordings."""
    rng = np.random.default_rng(seed)
    people = "".join(rng.choice(list("CI"), size=n))
    asked = set(random_order([f"q{place}" for place in range(n)])[:done])
    new = [letter if f"q{place}" in asked else " " for place, letter in enumerate(drawn(rng, people, better))]
    data = run(people, [("old@1.0.0", "a", drawn(rng, people, 0.6)), ("new@1.0.0", "a", new)])
    grid = read_grader_wordings(data)
    return compare_wordings(grid, rule or spec(stopping="anytime"), level=0.95)


def test_a_comparison_may_be_looked_at_while_it_runs() -> None:
    early, late = looked(300, done=20, better=0.95), looked(300, done=200, better=0.95)
    assert early.looks is not None
    assert late.looks is not None
    assert (early.looks.n_seen, early.looks.n_questions) == (20, 300)
    assert early.comparisons == ()
    assert not early.decisions[0].adopted
    assert late.decisions[0].adopted
    assert late.looks.wordings[0].checks[0].first_look is not None
    text = page(late)
    assert "200 of 300 questions" in " ".join(text.split())
    assert "however often one looks" in " ".join(text.split())
    assert "no other wording meets the rule yet" in " ".join(decision_text(early).split())


def test_nothing_to_look_at_yet() -> None:
    result = looked(10, done=0, better=0.9)
    assert result.looks is not None
    assert result.looks.n_seen == 0
    assert not result.decisions[0].adopted
    page(result)


def test_looks_at_every_model_and_over_wordings() -> None:
    rng = np.random.default_rng(4)
    people = "".join(rng.choice(list("CI"), size=250))
    rows = [
        (wording, model, drawn(rng, people, chance))
        for model in ("a", "b")
        for wording, chance in (("old@1.0.0", 0.6), ("new@1.0.0", 0.95), ("same@1.0.0", 0.6))
    ]
    rule = spec(stopping="anytime", scope="every-model", may_not_fall={"specificity": 0.1})
    result = compare_wordings(read_grader_wordings(run(people, rows)), rule, level=0.95)
    assert [(one.wording, one.adopted) for one in result.decisions] == [("new@1.0.0", True), ("same@1.0.0", False)]
    assert [(check.quantity, check.model) for check in result.decisions[0].checks] == [
        ("accuracy", "a"), ("accuracy", "b"), ("specificity", "a"), ("specificity", "b"),
    ]  # fmt: skip
    assert result.decisions[0].level == pytest.approx(0.975)


def answering(
    shares: dict[tuple[str, str], str], *, repeats: int = 1, missing: dict[str, int] | None = None
) -> RunData:
    """One letter a question under each (model, wording); a space has no response."""
    n = len(next(iter(shares.values())))
    questions = tuple(QuestionRecord(f"question-{place}", f"q{place}") for place in range(n))
    items, letters, respondents = [], [], []
    for (model, wording), row in shares.items():
        respondents.append(
            RespondentRecord("r", model, wording, sum(letter != " " for letter in row), missing=missing or {})
        )
        for place, letter in enumerate(row):
            if letter != " ":
                name = f"{model} | {wording}"
                items.append(
                    Item(
                        f"{name} {place}",
                        f"Q {place}?",
                        Reference("r", "r"),
                        f"{name} says {place}",
                        f"q{place}",
                        respondent=name,
                        metadata={"question": f"question-{place}"},
                    )
                )
                letters.append(letter)
    held = CalibrationSet("s", "1.0.0", "rules@1.0.0", SIMPLEQA, "human", "CC0", "us", "", tuple(items), ())
    record = AnsweringRecord(questions, repeats, tuple(respondents))
    return RunData(
        "run-2", "exp", held, len(items), "robust", [grader("g@1.0.0", "judge", items, letters)], answering=record
    )


def answer_rows(seed: int, n: int = 150) -> dict[tuple[str, str], str]:
    rng = np.random.default_rng(seed)
    chances = {"old@1.0.0": [0.3, 0.2, 0.5], "new@1.0.0": [0.5, 0.3, 0.2]}
    return {
        (model, wording): "".join(rng.choice(list("CIN"), size=n, p=chance))
        for model in ("a", "b", "c")
        for wording, chance in chances.items()
    }


def as_shares(row: str) -> Array:
    return np.array([np.array(SIMPLEQA.labels) == LETTERS.get(letter) for letter in row], dtype=np.float64)


def test_answer_wordings_are_compared_by_the_benchmarks_scores() -> None:
    rows = answer_rows(1)
    rule = spec(may_not_fall={"accuracy_given_attempted": 0.15})
    result = compare_wordings(read_answer_wordings(answering(rows)), rule, level=0.95, resamples=300)
    roles: dict[str, Any] = {"labels": SIMPLEQA.labels, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
    clusters = [f"q{place}" for place in range(150)]
    expected = benchmark_scores(as_shares(rows["a", "old@1.0.0"]), clusters, **roles)
    assert result.cells[0].quantities["f1"] == expected["f1"]
    for name in ("f1", "accuracy_given_attempted", "accuracy"):
        alone = paired_score_differences(
            as_shares(rows["b", "new@1.0.0"]), clusters, as_shares(rows["b", "old@1.0.0"]), clusters, **roles
        )
        effects = result.comparisons[0].effects[name]
        assert effects.effects[1].difference.estimate == alone.differences[name].estimate
        assert effects.models == ("a", "b", "c")
    assert result.decisions[0].adopted
    text = " ".join(page(result).split())
    assert "accuracy given attempted may not fall by more than 15 points" in text
    assert "its errors uncorrected" in text
    assert "I squared" in text


def test_responses_that_are_missing_are_counted_and_bounded() -> None:
    rows = {("a", "old@1.0.0"): "CCIINNCI", ("a", "new@1.0.0"): "CCIINN C"}
    data = answering(rows, missing={"refused": 1})
    result = compare_wordings(read_answer_wordings(data), None, level=0.95, resamples=100)
    cell = result.cells[1]
    assert (cell.valid, cell.expected) == (7, 8)
    assert dict(cell.failures) == {"no response, refused": 1}
    assert cell.bounds["accuracy"] == pytest.approx((3 / 8, 4 / 8))
    assert cell.bounds["accuracy_given_attempted"] == pytest.approx((3 / 6, 4 / 6))
    assert result.comparisons[0].bounds["accuracy"] == pytest.approx((0.0, 1 / 8))
    assert "7/8" in page(result)


def test_answers_still_to_be_asked_for_or_judged_are_pending() -> None:
    rows = {("a", "old@1.0.0"): "CCI", ("a", "new@1.0.0"): "CI "}
    assert read_answer_wordings(answering(rows, missing={"refused": 1})).pending == frozenset()
    assert read_answer_wordings(answering(rows, missing={"not_asked": 1})).pending == {"q2"}
    data = answering(rows)
    judge = data.graders[0]
    unjudged = [
        replace(verdict, label=None, failure="not_answered", detail="not_asked") if place == 0 else verdict
        for place, verdict in enumerate(judge.verdicts)
    ]
    data = replace(data, graders=[replace(judge, verdicts=unjudged)])
    assert read_answer_wordings(data).pending == {"q0"}
    with pytest.raises(SpecError, match="1 of 3 questions"):
        compare_wordings(read_answer_wordings(data), None, level=0.95)


def test_looks_at_answers_need_a_score_that_is_a_mean() -> None:
    grid = read_answer_wordings(answering(answer_rows(2)))
    result = compare_wordings(grid, spec(stopping="anytime", may_not_fall={"index": 30.0 / 100}), level=0.95)
    assert result.looks is not None
    assert result.looks.n_seen == 150
    assert [check.quantity for check in result.decisions[0].checks] == ["accuracy", "index"]
    with pytest.raises(SpecError, match="'f1' is a ratio"):
        compare_wordings(grid, spec("f1", stopping="anytime"), level=0.95)


def test_hostile_names_do_no_harm() -> None:
    people = "CICICI"
    data = run(people, [("old@1.0.0", "a\x1b[2J", list(people)), ("new@1.0.0", "a\x1b[2J", list("CCCCCC"))])
    text = page(compare_wordings(read_grader_wordings(data), spec(), level=0.95, resamples=50))
    assert "\x1b" not in text


def null_grid(rng: np.random.Generator, n: int, n_wordings: int, n_models: int) -> GraderWordings:
    """Wordings that differ in nothing, in models that are unlike; questions of unlike difficulty."""
    items = items_of(n)
    contest = Contest("run", SIMPLEQA, items, tuple("CORRECT" if place % 2 else "INCORRECT" for place in range(n)), ())
    hard = rng.uniform(-0.2, 0.2, n)
    cells = {}
    for model in range(n_models):
        for wording in range(n_wordings):
            right = rng.random(n) < np.clip(0.6 + 0.1 * model + hard, 0, 1)
            said = [SIMPLEQA.labels.index(label) for label in contest.reference]
            label = np.where(right, said, [2 - place for place in said])
            counts = np.eye(3, dtype=np.int64)[label]
            cells[f"w{wording}@1", f"m{model}"] = Candidate(
                f"{wording} {model}", "grader", counts.astype(np.float64), counts, 1, {}, None
            )
    return GraderWordings(LabelledContest(contest, "rules", "human", ()), cells, frozenset(), ())


@pytest.mark.slow
@pytest.mark.parametrize("stopping", ["fixed-size", "anytime"])
def test_wordings_that_are_no_better_are_adopted_no_more_often_than_claimed(stopping: str) -> None:
    rng, wrong, worlds = np.random.default_rng(5), 0, 200
    rule = AbSpec.model_validate({"control": "w0@1", "raise": "accuracy", "stopping": stopping})
    for _ in range(worlds):
        result = compare_wordings(null_grid(rng, 120, 5, 3), rule, level=0.95, resamples=2)
        wrong += any(one.adopted for one in result.decisions)
    assert wrong <= stats.binom.ppf(0.999, worlds, 0.025)
