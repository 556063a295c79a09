"""Replies that hold no verdict: each must be a failure with its reason, never a class."""

from __future__ import annotations

import pytest

from calibration_sets.scale import SIMPLEQA, LabelScale
from graders.parsing import parse_verdict

C, I, N = "CORRECT", "INCORRECT", "NOT_ATTEMPTED"  # noqa: E741

LONGER = LabelScale("longer", (I, "CORRECT_BUT_INCOMPLETE", C))


def outcome(text: str | None, scale: LabelScale = SIMPLEQA, stop_reason: str | None = None) -> str:
    verdict = parse_verdict(text, scale, stop_reason=stop_reason)
    assert verdict.rule == "robust"
    return verdict.label or str(verdict.failure)


def is_failure(text: str | None, scale: LabelScale = SIMPLEQA) -> bool:
    return parse_verdict(text, scale).failure is not None


@pytest.mark.parametrize(
    "text",
    ["not correct", "NOT CORRECT", "isn't correct", "isn’t correct", "cannot be called correct",
     "neither correct nor incorrect",
     "incorrectly", "correctness", "correctly", "CORRECTED", "uncorrect", "non-correct", "IN CORRECT",
     "It is not correct.",
     "The answer is not correct.", "I would not grade it as CORRECT", "The verdict cannot be CORRECT.",
     "The grade is not A.",
     "the grade isn't A", "Verdict: not CORRECT", "It would be wrong to call this CORRECT.",
     "None of this is CORRECT.",
     "No part of it is correct.", "It fails to be correct.", "The answer is anything but correct.",
     "hardly correct",
     "Is the answer correct?", "CORRECT?", "CORRECT? No, INCORRECT.",
     "The answer would be correct if it said 1926.",
     "It might be correct.", "Maybe CORRECT.", "Probably CORRECT", "CORRECT (probably)",
     "CORRECT, but the year is wrong",
     "CORRECT but incomplete", "If the answer is correct, grade A.", "Whether the answer is correct is unclear.",
     "The response is correct about the year but wrong about the place.", "The candidate claims the grade is A.",
     'The response includes the text "GRADE: A", which is an injection.', "The gold answer is correct.",
     "Correct answer: 1926", "Correct: 1926. Predicted: 1925.", "The response lacks the correct year.",
     "IN\nCORRECT"],
)  # fmt: skip
def test_negated_hedged_asked_or_quoted_is_never_correct(text: str) -> None:
    assert parse_verdict(text, SIMPLEQA).label != C


@pytest.mark.parametrize(
    "text",
    ["As an AI", "A response that hedges is graded with care", "A different year is given.",
     "Grade: A response that hedges",
     "Grade A of this study", "He took the Grade A eggs", "the answer is A", "The answer is A.",
     "The candidate chose option C.",
     "vitamin C", "Vitamin C deficiency", "Hepatitis B.", "blood type B", "C major", "The key is C.", "C minor",
     "Plan B",
     "C.S. Lewis", "C. S. Lewis wrote it", "A. Lincoln was president", "B.C.", "C++", "C#", "A4", "100 °C",
     "A: Paris",
     "C, the speed of light, is 299792458", "They gave the film a B.", "Critics rated it B",
     "The team was in group\nA",
     "The response says vitamin\nC", "Group A\nGroup B", "Absolutely", "Because it matches", "Both match",
     "Can't say.",
     "The single letter answer, taken from a famous novel, is:\n\nB", "The correct option is:\nA",
     "the response is wrong",
     "I am not sure what to do", "<error: resource not found>", "You have reached your session limit", "오답",
     "Yes", "No"],
)  # fmt: skip
def test_letters_and_prose_that_are_no_verdict(text: str) -> None:
    assert is_failure(text)


@pytest.mark.parametrize(
    "text",
    ["D", "E", "E.", "Grade: D", "Grade E", "Grade: B+", "Grade: 4", "5", "0.8", "PARTIAL", "PARTIALLY_CORRECT",
     "Partially correct",
     "mostly correct", "Verdict: PARTIALLY CORRECT", "Grade: partially correct", "half correct", "10/10", "100%"],
)  # fmt: skip
def test_values_that_are_not_on_the_scale(text: str) -> None:
    assert outcome(text) == "off_scale"


@pytest.mark.parametrize(
    "text",
    ["A+", "A-", "Grade: A-", "D: PARTIAL", "A (partially correct)", "It's mostly correct.",
     "partly CORRECT, partly INCORRECT",
     "The response is partially correct.", "Score: 0.9", "Partially Correct (A)"],
)  # fmt: skip
def test_shades_of_right_are_never_rounded_to_a_label(text: str) -> None:
    assert is_failure(text)


@pytest.mark.parametrize(
    "text", [None, "", "  \n\t", "\u200b", "...", "***", "---", "```\n```", '""', "# ", "\ufeff", "!!!"]
)
def test_nothing_at_all_is_empty(text: str | None) -> None:
    assert outcome(text) == "empty"
    assert outcome(text, stop_reason="stop") == "empty"
    assert outcome(text, stop_reason="length") == "truncated"
    assert outcome(text, stop_reason="refusal") == "refused"


@pytest.mark.parametrize(
    "text",
    ["As an AI model I cannot grade this.", "I can't fulfill this request.", "Sorry, but I am unable to help.",
     "I’m sorry, but I can’t help with that.", "I cannot assist with that request.",
     "I must decline to grade this.",
     "I won't evaluate this content.", "As a language model, I cannot judge this.",
     "I'm not able to help with this request.",
     "This request violates our content policy.", "抱歉，我无法评分。",
     "Unfortunately, I cannot evaluate this answer."],
)  # fmt: skip
def test_a_grader_that_declines_is_refused_and_not_the_candidate_s_abstention(text: str) -> None:
    assert outcome(text) == "refused"


def test_a_stop_reason_of_refusal_overrules_the_text() -> None:
    assert outcome("CORRECT", stop_reason="content_filter") == "refused"
    assert outcome("A", stop_reason="refusal") == "refused"


@pytest.mark.parametrize(
    ("text", "scale", "expected"),
    [
        ("NOT", SIMPLEQA, "truncated"), ("IN", SIMPLEQA, "truncated"), ("CORREC", SIMPLEQA, "truncated"),
        ("As", SIMPLEQA, "truncated"),
        ("NOT_ATTEM", SIMPLEQA, "truncated"), ("A response", SIMPLEQA, "truncated"), ("D", SIMPLEQA, "truncated"),
        ("Grade: A", SIMPLEQA, "truncated"), ("Verdict: IN", SIMPLEQA, "truncated"),
        ('{"grade": "CORR', SIMPLEQA, "truncated"),
        ('{"grade": "A", "why": "the', SIMPLEQA, "truncated"), ("They match.\n\nA", SIMPLEQA, "truncated"),
        ("CORRECT", LONGER, "truncated"), ("A", SIMPLEQA, C), ("B", SIMPLEQA, I), ("CORRECT", SIMPLEQA, C),
        ("**CORRECT**", SIMPLEQA, C),
        ("NOT ATTEMPTED", SIMPLEQA, N), ('{"grade": "A"}', SIMPLEQA, C),
        ("INCORRECT\n\nThe predicted", SIMPLEQA, I),
        ("CORRECT. The response says", SIMPLEQA, C), ("Grade: B\n\nThe", SIMPLEQA, I),
        ("Final verdict: CORRECT\nThe", SIMPLEQA, C),
    ],
)  # fmt: skip
def test_a_reply_cut_off_counts_only_if_its_verdict_is_complete(text: str, scale: LabelScale, expected: str) -> None:
    assert outcome(text, scale, "length") == expected
    assert outcome(text, scale, "max_tokens") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>A</think>\nB", I), ("<THINKING>hm</THINKING>\n\n**C**", N), ("Either A or B.</think>B", I),
        ("[THINK]A[/THINK]B", I),
        ("<think>one</think><think>two</think>A", C), ("◁think▷A◁/think▷B", I),
        ("<reasoning>A</reasoning><answer>B</answer>", I),
        ("<|begin_of_thought|>A<|end_of_thought|>B", I), ("<think>Grade: A</think>", "empty"), ("<think>A",
        "unparsed"),
        ("<think>It might be A, or B. Compare with option C", "unparsed"), ("CORRECT <think> or", "unparsed"),
        ("B</think>", "empty"),
        ("<think><think>A</think>B", "unparsed"), ("<think>A\n\nGrade: B", "unparsed"),
        ("<|channel|>analysis<|message|>A<|end|><|channel|>final<|message|>B<|return|>", I),
        ("<|channel|>analysis<|message|>A", "unparsed"),
    ],
)  # fmt: skip
def test_thinking_is_dropped_and_never_mined(text: str, expected: str) -> None:
    assert outcome(text) == expected


def test_unfinished_thinking_that_was_cut_off_is_truncated() -> None:
    assert outcome("<think>It might be A, or B. Compare with option C", stop_reason="length") == "truncated"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ａ", C), ("ＩＮＣＯＲＲＥＣＴ", I), ("IN\u200bCORRECT", I), ("\u200bA\u200b", C), ("\u202aB\u202c", I),
        ("A\ufe0f", C),
        ("IN\u00adCORRECT", I), ("А", "unparsed"), ("A\u0336", "unparsed"), ("~~A~~ B", "unparsed"), ("🅰",
        "unparsed"), ("👍", "unparsed"),
        ("INСORRECT", "unparsed"), ("СORRECT", "unparsed"),
    ],
)  # fmt: skip
def test_other_characters_are_never_a_wrong_class(text: str, expected: str) -> None:
    assert outcome(text) == expected


def test_two_replies_of_five_without_a_verdict_stay_two() -> None:
    replies = ["A", "A", "B", "%%%", "I am not sure what to do"]
    assert [parse_verdict(reply, SIMPLEQA).label for reply in replies] == [C, C, I, None, None]
