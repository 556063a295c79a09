"""Replies as graders write them, and the verdict that each must be."""

from __future__ import annotations

import pytest

from calibration_sets.scale import SIMPLEQA, LabelScale
from graders.parsing import parse_verdict

C, I, N = "CORRECT", "INCORRECT", "NOT_ATTEMPTED"  # noqa: E741


def outcome(text: str | None, scale: LabelScale = SIMPLEQA, stop_reason: str | None = None) -> str:
    verdict = parse_verdict(text, scale, stop_reason=stop_reason)
    assert verdict.rule == "robust"
    return verdict.label or str(verdict.failure)


def is_failure(text: str | None, scale: LabelScale = SIMPLEQA) -> bool:
    return parse_verdict(text, scale).failure is not None


@pytest.mark.parametrize("letter", ["A", "B", "C"])
@pytest.mark.parametrize("form", ["{}", "{}: {word}", "Grade: {}", '{{"grade": "{}"}}', "It differs or not.\n\n{}"])
def test_every_label_can_be_produced_by_every_form(letter: str, form: str) -> None:
    label = {"A": C, "B": I, "C": N}[letter]
    assert outcome(form.format(letter, word=label)) == label
    assert outcome(form.format(label, word=letter)) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("NOT ATTEMPTED", N), ("NOT_ATTEMPTED", N), ("not-attempted", N), ("NotAttempted", N),
        ("NOT\\_ATTEMPTED", N),
        ("Not  attempted.", N), ("NOT\nATTEMPTED", N), ("*Not* *Attempted*", N), ("CORRECT", C), ("Correct", C),
        ("Correct!", C), ("INCORRECT", I), ("incorrect.", I), ("<result>incorrect</result>", I), ("a", C), ("b", I),
        ("A.", C), ("A)", C), ("(C)", N), ("[B]", I), ("«B»", I), ("B!!!", I), ("- B", I), ("1. B", I),
        ("CORRECT<|im_end|>", C),
        ("A</s>", C), ("CORRECT\nCORRECT", C), ("✅ CORRECT", C), ("❌ INCORRECT", I),
    ],
)  # fmt: skip
def test_a_reply_that_is_a_label_and_nothing_else(text: str, label: str) -> None:
    assert outcome(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("**B**", I), ("`B`", I), ("_B_", I), ("__CORRECT__", C), ("**_B_**", I), ("### Verdict: B", I),
        ("**GRADE:** C", N),
        ("GRADE: **C**", N), ("**Grade: B**", I), ("> B", I), ("# A", C), ("\\boxed{B}", I),
        ("$\\boxed{\\text{B}}$", I),
        ("| Grade | B |", I), ("## Verdict\n\n**B**\n\n## Why\nOther year.", I), ("<answer>B</answer>", I),
        ("<verdict>\nCORRECT\n</verdict>", C), ("Grade: <B>", I), ("```\nA\n```", C), ('GRADE: "C"', N),
        ("Grade: [B]", I),
    ],
)  # fmt: skip
def test_decoration_is_ignored(text: str, label: str) -> None:
    assert outcome(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("A: CORRECT", C), ("B: INCORRECT", I), ("C (NOT_ATTEMPTED)", N), ("NOT_ATTEMPTED (C)", N),
        ("C. NOT ATTEMPTED", N),
        ("(C) NOT_ATTEMPTED", N), ("C — not attempted", N), ("INCORRECT [B]", I), ("B INCORRECT", I),
        ("C) NOT_ATTEMPTED", N),
    ],
)  # fmt: skip
def test_a_letter_with_its_word_is_one_label(text: str, label: str) -> None:
    assert outcome(text) == label


@pytest.mark.parametrize(
    "text",
    ["NOT_ATTEMPTED (A)", "A: INCORRECT", "B (CORRECT)", "A. INCORRECT", "CORRECT (B)", "INCORRECT: A",
     "A NOT_ATTEMPTED",
     "Verdict: NOT_ATTEMPTED (A)", "A\nINCORRECT", "A\nB", "INCORRECT\nCORRECT", "Grade: B\nGrade: A",
     "Grade: A or B",
     "A, C", "CORRECT\n\nThe response is incorrect.", "INCORRECT. Actually CORRECT.", "CORRECT. Wait, INCORRECT.",
     "Verdict: CORRECT\n\nOn reflection: INCORRECT", "❌ CORRECT"],
)  # fmt: skip
def test_two_labels_that_contradict_are_ambiguous(text: str) -> None:
    assert outcome(text) == "ambiguous"


@pytest.mark.parametrize(
    "text",
    ["GRADE: CI", "CI", "AB", "A/B", "BA", "ABC", "A B", "A|B", "A&B", "A+B", "A and B", "A or C", "GRADE: AB",
     "Grade: B/C",
     "GRADE: A, B", "CORRECT/INCORRECT", "CORRECT or INCORRECT", "GRADE: A & C", "A, B, or C?", "Grade: BC"],
)  # fmt: skip
def test_several_letters_are_never_read_by_their_first(text: str) -> None:
    assert is_failure(text)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("As a judge I weighed both sides carefully. The final grade is B.", I), ("I grade it as B", I),
        ("Verdict - CORRECT", C),
        ("It gives a wrong year, hence B", I), ("VERDICT:B", I), ("Grade=B", I), ("Grade → B", I),
        ("grade: b", I), ("So B.", I),
        ("My final answer is C.", N), ("My grade for this answer is C.", N), ("The correct grade is B.", I),
        ("Label: B", I),
        ("Judgment: CORRECT", C), ("Result: INCORRECT", I), ("Overall, CORRECT.", C), ("Therefore, INCORRECT.", I),
        ("1926 != 1925 → INCORRECT", I), ("I'd mark it CORRECT.", C), ("I assign a grade of B.", I),
        ("Graded as: INCORRECT", I),
        ("This one is graded as NOT_ATTEMPTED since it declines.", N), ("I'd classify this as B: INCORRECT.", I),
        ("It matches, so CORRECT.", C), ("This gets an A.", C), ("I would give it a C.", N), ("Verdict\nB", I),
        ("Label: NOT ATTEMPTED. The model declined.", N), ("Answer: B", I), ("Grade A", C),
        ("The children were named Malia and Sasha, so the grade is A.", C), ("It was born in May 1926, hence B", I),
    ],
)  # fmt: skip
def test_a_label_behind_a_cue(text: str, label: str) -> None:
    assert outcome(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The gold target is 1926.\nThe prediction says 1926.\nA", C), ("They match.\n\n**A**", C),
        ("They differ. INCORRECT.", I),
        ("First.\nSecond.\nNOT ATTEMPTED", N), ("The gold answer is Paris, and so is this. CORRECT", C),
        ("first I thought INCORRECT, but final verdict: CORRECT", C), ("Initial grade: B. Final grade: A", C),
        ("I initially considered CORRECT. Final verdict: INCORRECT", I), ("Grade: A\nGrade: B\nFinal: B", I),
        ("At first glance the response is correct. The year is another, though.\nGrade: B", I),
        ("A - the response matches the gold target.", C), ("B. The predicted answer gives another year.", I),
        ("INCORRECT, the year is another.", I), ("CORRECT. The response says 1926.", C),
        ("B\n\nThe year differs.", I),
    ],
)  # fmt: skip
def test_reasoning_before_or_after_the_verdict(text: str, label: str) -> None:
    assert outcome(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The response is CORRECT.", C), ("The predicted answer is incorrect because it gives 1925.", I),
        ("This is correct.", C),
        ("The candidate's answer is incorrect.", I), ("The response is incorrect: it gives 1925.", I),
    ],
)  # fmt: skip
def test_a_statement_about_the_response(text: str, label: str) -> None:
    assert outcome(text) == label


def test_a_letter_behind_an_article_is_read_as_that_letter_or_not_at_all() -> None:
    assert outcome("This is a B.") == I
    assert outcome("This is a C.") == N
    assert is_failure("This is a bad answer")


@pytest.mark.parametrize(
    "text",
    ["Options: A: CORRECT, B: INCORRECT, C: NOT_ATTEMPTED", "CORRECT, INCORRECT, or NOT_ATTEMPTED?",
     "A: CORRECT\nB: INCORRECT\nC: NOT_ATTEMPTED",
     "Choose one: CORRECT, INCORRECT, NOT_ATTEMPTED.", "- CORRECT\n- INCORRECT\n- NOT_ATTEMPTED"],
)  # fmt: skip
def test_a_list_of_all_labels_is_no_verdict_unless_one_follows(text: str) -> None:
    assert outcome(text) == "ambiguous"
    assert outcome(f"{text}\n\nFinal verdict: B") == I
    assert outcome(f"{text}\n\nGrade: C") == N


def test_the_evidence_shows_what_was_matched_and_how() -> None:
    assert parse_verdict("They differ. The final grade is B.", SIMPLEQA).evidence == "final: 'final grade is B'"
    assert "'B' against" not in parse_verdict("B", SIMPLEQA).evidence
    both = parse_verdict("Grade: B\nGrade: A", SIMPLEQA).evidence
    assert "'Grade: B'" in both
    assert "'Grade: A'" in both
