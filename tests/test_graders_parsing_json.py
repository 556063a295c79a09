"""Verdicts in objects: fenced, preambled, in Python's notation, nested, doubled."""

from __future__ import annotations

import json

import pytest

from calibration_sets.scale import SIMPLEQA
from graders.parsing import parse_verdict
from graders.parsing.json_verdict import find_objects

C, I, N = "CORRECT", "INCORRECT", "NOT_ATTEMPTED"  # noqa: E741


def outcome(text: str) -> str:
    verdict = parse_verdict(text, SIMPLEQA)
    return verdict.label or str(verdict.failure)


@pytest.mark.parametrize(
    ("value", "label"),
    [("A", C), ("b", I), ("Correct", C), ("INCORRECT.", I), ("NOT ATTEMPTED", N), ("not-attempted", N),
     ("A: CORRECT", C),
     ("C (NOT_ATTEMPTED)", N), ("**CORRECT**", C), (" B ", I), ("INCORRECT - another year", I)],
)  # fmt: skip
@pytest.mark.parametrize(
    "key", ["grade", "verdict", "label", "judgement", "Judgment", "answer", "result", "final_grade"]
)
def test_values_are_read_as_replies_are(key: str, value: str, label: str) -> None:
    assert outcome(json.dumps({key: value})) == label
    assert outcome(str({key: value})) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('```json\n{"grade": "A", "why": "same town"}\n```', C),
        ("Sure, here is my evaluation: {'grade': 'B', 'why': \"it's a different year\"}", I),
        ("{'grade': 'B', 'why': 'it\\'s another'}", I),
        ('Here:\n```json\n{\n  "reason": "{a, b} differ",\n  "grade": "B"\n}\n```\nHope this helps!', I),
        ('[{"grade": "C"}]', N),
        ('{"grade": ["A"]}', C),
        ('{"result": {"verdict": "B"}}', I),
        ('{"output": {"judgement": "INCORRECT"}}', I),
        ('{"why": "{\\"grade\\": \\"A\\"}", "grade": "B"}', I),
        ('{"why": "grade: A", "grade": "B"}', I),
        ('{"answer": "A", "grade": "B"}', I),
        ('{"response": "A", "verdict": "C"}', N),
        ('{"verdict": "CORRECT", "score": 1}', C),
        ('{"category": "geography", "grade": "A"}', C),
        ('{"grade": "A", "grade": "A"}', C),
        ('{"grade": "A",}', C),
        ("{'grade': 'A', 'sure': true, 'note': null}", C),
        ('I first thought CORRECT. {"grade": "B"}', I),
        ('<think>{"grade": "A"}</think>{"grade": "B"}', I),
        ('{"grade": "A"} // done', C),
    ],
)
def test_an_object_is_found_whatever_surrounds_it(text: str, label: str) -> None:
    assert outcome(text) == label


@pytest.mark.parametrize(
    "text",
    ['{"grade": "A", "grade": "B"}', "{'grade': 'B', 'grade': 'A'}", '{"grade": "A", "verdict": "INCORRECT"}',
     '{"grade": ["A", "B"]}', '{"grade": "NOT_ATTEMPTED (A)"}', '{"grade": "B"}\n{"grade": "A"}',
     '{"items": [{"grade": "A"}, {"grade": "B"}]}', '{"grade": "A"} Actually the answer is incorrect.',
     '{"grade": "A"}\nGrade: B', '{"grade": "A", "verdict": "D"}'],
)  # fmt: skip
def test_objects_that_say_two_things_are_ambiguous(text: str) -> None:
    assert outcome(text) == "ambiguous"


@pytest.mark.parametrize(
    "value", [True, False, 1, 0, 0.5, None, "D", "PARTIAL", "partially correct", "unsure", "", {}, "1", 10**400]
)
def test_values_off_the_scale(value: object) -> None:
    assert outcome(json.dumps({"grade": value})) in ("off_scale", "unparsed")
    assert outcome(f"Result:\n{json.dumps({'verdict': value})}") in ("off_scale", "unparsed")


def test_booleans_and_numbers_are_off_scale() -> None:
    assert outcome('{"grade": true}') == "off_scale"
    assert outcome('{"grade": 1}') == "off_scale"


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", '{"foo": "A"}', '{"is_correct": true}', '{"CORRECT": true, "INCORRECT": false}',
     '{"grade": "not correct"}',
     '{"grade": "A/B"}', '{"grade": "CI"}', '{"grade": "А"}', '{"answer": "Paris", "correct": "yes"}',
     '{"grade":"A" "why":"x"}',
     "{'grade': __import__('os')}", "{'grade': 'A' + 'B'}",
     "{" * 5000, "[" * 100_000, '{"a":' * 20_000, "{'a':" * 4_000],
)  # fmt: skip
def test_objects_without_a_usable_verdict_are_failures(text: str) -> None:
    assert parse_verdict(text, SIMPLEQA).failure is not None


def test_objects_are_found_in_order_and_braces_in_strings_do_not_count() -> None:
    text = 'x {"a": "}"} y {\'b\': "{"} z {c} {"d": {"e": 1}}'
    found = find_objects(text)
    assert [dict(one.content).keys() for one in found] == [{"a"}, {"b"}, {"d"}]
    assert text[found[1].begin : found[1].end] == "{'b': \"{\"}"


def test_the_evidence_of_an_object_is_its_value() -> None:
    assert parse_verdict('{"grade": "A"}', SIMPLEQA).evidence == "json: 'A'"
