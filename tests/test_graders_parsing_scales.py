"""Letters, words, numbers and languages of other scales."""

from __future__ import annotations

import pytest

from calibration_sets.scale import BINARY, SIMPLEQA, LabelScale
from graders.parsing import parse_verdict

C, I, N = "CORRECT", "INCORRECT", "NOT_ATTEMPTED"  # noqa: E741

CIP = LabelScale("cip", (I, "PARTIAL", C), letters={C: "C", I: "I", "PARTIAL": "P"})
SWAPPED = LabelScale("swapped", (I, N, C), letters={I: "C", N: "B", C: "A"})
MARKS = LabelScale("marks", ("1", "2", "3", "4", "5"), level="ordinal")
PHRASES = LabelScale("phrases", ("clearly wrong", "partly right", "fully right"), words={"fully right": ("spot on",)})
SIGNS = LabelScale("signs", ("-", "+"), words={"+": ("✓",)})
CHINESE = LabelScale(
    "chinese", (I, N, C), letters=dict(SIMPLEQA.letters), words={I: ("错误",), C: ("正确",), N: ("未尝试",)}
)


def outcome(text: str | None, scale: LabelScale = SIMPLEQA, stop_reason: str | None = None) -> str:
    verdict = parse_verdict(text, scale, stop_reason=stop_reason)
    assert verdict.rule == "robust"
    return verdict.label or str(verdict.failure)


def is_failure(text: str | None, scale: LabelScale = SIMPLEQA) -> bool:
    return parse_verdict(text, scale).failure is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GRADE: C\nNothing here justifies a downgrade: it is fully right.", C), ("GRADE: CI", "unparsed"),
        ("GRADE: **C**", C), ("I", I),
        ("P", "PARTIAL"), ("partial", "PARTIAL"), ("I grade it as C", C), ("I think it is right.", "unparsed"),
        ("GRADE: A", "off_scale"),
        ("I am sure. GRADE: I", I), ("No upgrade: I say so.\nGRADE: P", "PARTIAL"), ("I: the reply differs", I),
    ],
)  # fmt: skip
def test_a_scale_with_the_letters_c_i_p(text: str, expected: str) -> None:
    assert outcome(text, CIP) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4", "4"), ("Score: 4", "4"), ("Rating: 5.", "5"), ("**3**", "3"), ("Score: 6", "off_scale"), ("4.5",
        "off_scale"),
        ('{"score": 4}', "4"), ('{"score": "2"}', "2"), ("I give it a 3.", "3"), ("Final score: 2", "2"),
    ],
)  # fmt: skip
def test_a_scale_of_numbers(text: str, expected: str) -> None:
    assert outcome(text, MARKS) == expected


@pytest.mark.parametrize(
    "text",
    [
        "4/5",
        "1. The answer is fine",
        "The number is:\n\n4",
        "There are 4 moons.",
        "-1",
        '{"score": 4.5}',
        '{"score": true}',
    ],
)
def test_numbers_in_prose_are_no_marks(text: str) -> None:
    assert is_failure(text, MARKS)


@pytest.mark.parametrize(
    ("text", "scale", "expected"),
    [
        ("【错误】", CHINESE, I), ("【正确】", CHINESE, C), ("未尝试", CHINESE, N), ("最终判定：错误", CHINESE, I),
        ("评分：A。", CHINESE, C),
        ("不正确", CHINESE, "unparsed"), ("答案是错误的", CHINESE, "unparsed"), ("【错误】", SIMPLEQA, "unparsed"),
        ("B", SWAPPED, N), ("C", SWAPPED, I), ("C: INCORRECT", SWAPPED, I), ("B: INCORRECT", SWAPPED, "ambiguous"),
        ("Partly Right", PHRASES, "partly right"), ("clearly_wrong", PHRASES, "clearly wrong"),
        ("spot-on", PHRASES, "fully right"),
        ("right", PHRASES, "unparsed"), ("not fully right", PHRASES, "unparsed"),
        ("Verdict: partly right", PHRASES, "partly right"),
        ("+", SIGNS, "+"), ("-", SIGNS, "-"), ("✓", SIGNS, "+"), ("+-", SIGNS, "empty"),
    ],
)  # fmt: skip
def test_letters_and_words_are_those_of_the_scale(text: str, scale: LabelScale, expected: str) -> None:
    assert outcome(text, scale) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes, the candidate is correct.", C), ("No, the candidate is not correct.", I),
        ("No, the candidate is correct", "ambiguous"),
        ("Yes", C), ("NO", I), ("No.\n", I), ("No, the correct answer is Grisha.", I),
        ("Yes, no doubt it is correct.", C),
        ("Yes and no", "ambiguous"), ("Yes/No", "unparsed"), ("No evidence supports it", "unparsed"),
        ("Symphony No. 9", "unparsed"),
        ("No. 9 is his", "unparsed"), ("Does it contradict the gold? No.", "unparsed"), ("No, wait. Yes.",
        "ambiguous"),
        ("There is no such year.", "unparsed"), ("No: CORRECT", "ambiguous"),
    ],
)  # fmt: skip
def test_a_scale_answered_by_yes_and_no(text: str, expected: str) -> None:
    assert outcome(text, BINARY) == expected
