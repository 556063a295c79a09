"""Replies that are written out: a score, reasons, a verdict with a confidence, lists of concepts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.scale import BINARY, DER2_CONCEPTS, DER2_ERRORS, DER2_RUBRIC, LabelScale
from graders.parsing import parse_completion
from graders.sampling import WRITTEN_CHANNELS, Channel
from graders.verdict import Completion, ConceptUse, ParsedVerdict, Verdict

SCALES: dict[Channel, LabelScale] = {
    "score": DER2_RUBRIC,
    "reasons": DER2_ERRORS,
    "confidence": BINARY,
    "concepts": DER2_CONCEPTS,
}


def read(text: str | None, channel: Channel, stop_reason: str | None = "stop") -> ParsedVerdict:
    return parse_completion(Completion(text, "m", stop_reason), SCALES[channel], channel)


def outcome(text: str | None, channel: Channel = "score") -> str:
    verdict = read(text, channel)
    return verdict.label or str(verdict.failure)


def lists(used: list[Any], missing: list[Any], foreign: list[Any], **changed: Any) -> str:
    counts = {"true_positives": len(used), "false_negatives": len(missing), "false_positives": len(foreign)}
    return json.dumps({"used": used, "missing": missing, "foreign": foreign, **counts, **changed})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Accuracy: fine.\nCompleteness: a part is missing.\nReasoning: sound.\n\nscore: 0.75", "0.75"),
        ("score: 1", "1"),
        ("Score: 1.0", "1"),
        ("**score: 0.50**", "0.5"),
        ("SCORE = .25", "0.25"),
        ("score: 0,75", "0.75"),
        ("final score: 0", "0"),
        ("The score is 0.5.", "0.5"),
        ("<score>0.25</score>", "0.25"),
        ("`score: 1`", "1"),
        ('{"score": 0.75}', "0.75"),
        ("- score: 0.5 (half of it)", "0.5"),
        ("score: 0.75/1", "0.75"),
        ("0.25", "0.25"),
        ("score: 1 out of 1", "1"),
        ("<think>score: 0</think>score: 1", "1"),
        ("score: 0.25\nNo: more than that.\nscore: 0.5", "0.5"),
        ("score: 0.5\nThat is all.", "0.5"),
        ("Score:\n0.5", "0.5"),
        (r"score: \boxed{0.25}", "0.25"),
        ("score: [0.75]", "0.75"),
        ('{"reasoning": "sound", "score": 0.5}', "0.5"),
        ('```json\n{"score": "0.5", "why": "half of it"}\n```', "0.5"),
        ('{"response": "says\\nscore: 1", "score": 0.25}', "0.25"),
        ("> score: 1\nThis is the response's own line.\nscore: 0", "0"),
        ("> score: 1\nThis is the response's own line.\nscore: 0\nDone.", "0"),
        ("The response ends with:\nscore: 1\nIt is not its to say.\nscore: 0.25\nDone.", "0.25"),
        ("It is sound.\n> score: 0.75", "0.75"),
    ],
)
def test_a_score_on_a_step_is_its_label(text: str, expected: str) -> None:
    assert outcome(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("score: 0.6", "off_scale"),
        ("score: 0.8", "off_scale"),
        ("score: 75%", "off_scale"),
        ("score: 3/4", "off_scale"),
        ("score: 4 out of 5", "off_scale"),
        ("score: -0.5", "off_scale"),
        ("score: 2", "off_scale"),
        ("0.3", "off_scale"),
        ("score: 0.5 or 0.75", "ambiguous"),
        ("score: 0.5-0.75", "ambiguous"),
        ("score: 0.5, 0.25 for style", "ambiguous"),
        ("score: 0.5\nscore: 1\nThat is all.", "ambiguous"),
        ("score: 1e0", "ambiguous"),
        ("score: 1 (0.75 to 1)", "ambiguous"),
        ("> score: 1\nThe response wrote this line, and I ignore it.", "unparsed"),
        ("The response ends with:\nscore: 1\nI ignore this; it deserves 0.25.", "ambiguous"),
        ('The response holds {"score": 1}, which I ignore.', "unparsed"),
        ('{"score": 0.5, "score": 1}', "ambiguous"),
        ("score: x", "unparsed"),
        ("score: high", "unparsed"),
        ("It deserves most of the points.", "unparsed"),
        ("0.5 for one part, 1 for the other", "unparsed"),
        ("accuracy score 1", "unparsed"),
        ("", "empty"),
        ("  \n", "empty"),
        (None, "empty"),
        ("<think>score: 1", "unparsed"),
        ("I'm sorry, I cannot grade this answer.", "refused"),
    ],
)
def test_what_is_no_step_is_a_failure_and_never_rounded(text: str | None, expected: str) -> None:
    assert outcome(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It slips in the sum.\nreasons: FORMAL", "FORMAL"),
        ("Reason: misused.", "MISUSED"),
        ("reasons: MISSING, PROCESS", "PROCESS + MISSING"),
        ("reasons: missing and process", "PROCESS + MISSING"),
        ("**Reasons:** FORMAL + MISUSED", "FORMAL + MISUSED"),
        ("reasons: MISSING (no drag), FORMAL", "FORMAL + MISSING"),
        ("reasons: MISSING, MISSING", "MISSING"),
        ('{"why": "a slip", "reasons": "FORMAL"}', "FORMAL"),
        ("reasons: (PROCESS)", "PROCESS"),
        ("reasons: PROCESS or FORMAL", "ambiguous"),
        ("reasons: MISSING and/or MISUSED", "ambiguous"),
        ("reasons: PROCESS (FORMAL)", "ambiguous"),
        ("reasons: FORMAL, MISSING (or MISUSED)", "ambiguous"),
        ("reasons: PROCESS, not FORMAL", "off_scale"),
        ("reasons: PROCESS, FORMAL, MISSING", "off_scale"),
        ("reasons: LAZINESS", "off_scale"),
        ("reasons: FORMAL, LAZINESS", "off_scale"),
        ("FORMAL", "unparsed"),
        ("", "empty"),
    ],
)
def test_reasons_are_a_set_of_one_or_two(text: str, expected: str) -> None:
    assert outcome(text, "reasons") == expected


@pytest.mark.parametrize(
    ("text", "label", "confidence"),
    [
        ("Same river.\nverdict: yes\nconfidence: 80", "CORRECT", 0.8),
        ("Verdict: No.\nConfidence: 55%", "INCORRECT", 0.55),
        ("confidence: 97\nverdict: yes", "CORRECT", 0.97),
        ("verdict: yes\nconfidence: 100", "CORRECT", 1.0),
        ("verdict: correct\nconfidence: 0", "CORRECT", 0.0),
        ("verdict: no\nconfidence: 90/100", "INCORRECT", 0.9),
        ("verdict: no\nThen again:\nverdict: yes\nconfidence: 1%", "CORRECT", 0.01),
        ("verdict: no\nconfidence: 70\nThank you.", "INCORRECT", 0.7),
        ('{"verdict": "yes", "confidence": 85}', "CORRECT", 0.85),
    ],
)
def test_a_confidence_stands_beside_its_label(text: str, label: str, confidence: float) -> None:
    verdict = read(text, "confidence")
    assert (verdict.label, verdict.finding) == (label, pytest.approx(confidence))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("verdict: yes", "unparsed"),
        ("confidence: 80", "unparsed"),
        ("verdict: maybe\nconfidence: 50", "off_scale"),
        ("verdict: yes\nconfidence: 120", "unparsed"),
        ("verdict: yes\nconfidence: high", "unparsed"),
        ("yes", "unparsed"),
        ("verdict: yes\nconfidence: 0.8", "ambiguous"),
        ("verdict: yes\nconfidence: 1", "ambiguous"),
        ("", "empty"),
        ("verdict: yes\nverdict: no\nconfidence: 80\nDone.", "ambiguous"),
        ("verdict: yes\nconfidence: 80\nNo, the other river.\nverdict: no", "ambiguous"),
        ("grade: no\nconfidence: 50\nverdict: yes\nThanks", "ambiguous"),
        ("verdict: yes\nconfidence: 20\nconfidence: 90", "ambiguous"),
        ("> verdict: yes\n> confidence: 100\nThe response says so.", "unparsed"),
        ("The response says:\nverdict: yes\nconfidence: 100\nwhich I ignore.", "ambiguous"),
        ("verdict: yes\nconfidence: 80-90", "unparsed"),
    ],
)
def test_a_verdict_without_a_plain_confidence_is_none(text: str, expected: str) -> None:
    verdict = read(text, "confidence")
    assert (verdict.label, verdict.failure, verdict.finding) == (None, expected, None)


@pytest.mark.parametrize(
    ("used", "missing", "label"), [(["a", "b"], [], "ALL"), (["a"], ["b"], "SOME"), ([], ["a", "b"], "NONE")]
)
def test_lists_say_what_is_used_and_the_label_is_derived(used: list[str], missing: list[str], label: str) -> None:
    verdict = read(f"I compared them.\n```json\n{lists(used, missing, ['c'])}\n```", "concepts")
    assert verdict.label == label
    assert verdict.finding == ConceptUse(tuple(used), tuple(missing), ("c",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (lists(["a"], [], [], true_positives=2), "ambiguous"),
        (lists(["a"], [], ["b"], false_positives=0), "ambiguous"),
        (lists(["a"], ["A"], []), "ambiguous"),
        (lists(["a", "a"], [], []), "ambiguous"),
        (lists(["a"], [], ["a "]), "ambiguous"),
        (lists([], [], ["c"]), "unparsed"),
        (lists(["a"], [""], []), "unparsed"),
        (lists(["a"], ["none"], []), "unparsed"),
        (lists(["None."], ["a"], []), "unparsed"),
        (lists(["a"], ["b"], ["-"]), "unparsed"),
        (f"{lists(['a'], ['b'], [])} {lists(['a', 'b'], [], [])} The second is the own one.", "ambiguous"),
        (lists(["a"], [1], []), "unparsed"),
        (lists(["a"], [], [], true_positives="1"), "unparsed"),
        (lists(["a"], [], [], true_positives=True), "unparsed"),
        ('{"used": ["a"], "missing": []}', "unparsed"),
        ('{"used": ["a"], "missing": [], "foreign": []}', "unparsed"),
        ('{"used": "a", "missing": [], "foreign": []}', "unparsed"),
        ("It uses a and b.", "unparsed"),
        ("", "empty"),
        ("I'm sorry, I cannot evaluate this.", "refused"),
    ],
)
def test_lists_that_contradict_their_counts_or_themselves_are_no_verdict(text: str, expected: str) -> None:
    verdict = read(text, "concepts")
    assert (verdict.label, verdict.failure, verdict.finding) == (None, expected, None)


def test_the_last_object_with_all_lists_is_read() -> None:
    text = f'{lists(["a"], ["b"], [])} No, I missed one: {lists(["a", "b"], [], [])} {{"done": true}}'
    assert outcome(text, "concepts") == "ALL"


@pytest.mark.parametrize(
    ("channel", "text"),
    [
        ("score", "score: 1"),
        ("reasons", "reasons: FORMAL"),
        ("confidence", "verdict: yes\nconfidence: 80"),
        ("concepts", lists(["a"], [], [])),
    ],
)
def test_a_reply_that_was_cut_off_or_refused_has_no_verdict(channel: Channel, text: str) -> None:
    assert read(text, channel).label is not None
    assert read(text, channel, "length").failure == "truncated"
    assert read(text, channel, "content_filter").failure == "refused"


@given(st.text() | st.none(), st.sampled_from(sorted(WRITTEN_CHANNELS)), st.sampled_from(["stop", "length", None]))
def test_any_text_gives_a_label_of_the_scale_or_a_failure(text: str | None, channel: Any, stop: str | None) -> None:
    verdict = read(text, channel, stop)
    assert verdict.label is None or verdict.label in SCALES[channel]
    assert verdict.finding is None or verdict.label is not None


@given(st.sampled_from(DER2_RUBRIC.labels), st.text(alphabet="abc .\n", max_size=40))
def test_the_line_at_the_end_is_read_whatever_comes_before(label: str, before: str) -> None:
    assert outcome(f"{before}\nscore: {label}") == label


def test_a_finding_without_a_label_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="expected none beside a failure"):
        ParsedVerdict(None, "empty", "robust", "", 0.5)
    with pytest.raises(ValueError, match="expected none beside a failure"):
        Verdict("d", "g", 0, None, "empty", "robust", "", ConceptUse((), (), ()))
