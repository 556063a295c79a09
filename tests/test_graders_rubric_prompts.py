"""The prompts whose replies are written out: scales, examples, what they ask for, and how they may be drawn."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from calibration_sets.scale import BINARY, DER2_CONCEPTS, DER2_ERRORS, DER2_RUBRIC, OMNISCIENCE, LabelScale
from graders.parsing import parse_completion
from graders.prompt_library import load_prompt
from graders.prompt_lint import lint_text
from graders.sampling import WRITTEN_CHANNELS, Sampling
from graders.verdict import Completion

PROMPTS = {
    "der2_rubric": (DER2_RUBRIC, "score"),
    "der2_errors": (DER2_ERRORS, "reasons"),
    "der2_concepts": (DER2_CONCEPTS, "concepts"),
    "yes_no_confidence": (BINARY, "confidence"),
    "omniscience": (OMNISCIENCE, "letter"),
}


@pytest.mark.parametrize(("name", "expected"), PROMPTS.items())
def test_each_has_its_scale_and_channel(name: str, expected: tuple[LabelScale, str]) -> None:
    prompt = load_prompt(f"{name}@1.0.0")
    assert (prompt.scale.labels, prompt.channel) == (expected[0].labels, expected[1])
    assert prompt.rubric == f"{name}@1.0.0"


@pytest.mark.parametrize(("name", "ending"), [("der2_rubric", "score"), ("der2_errors", "reasons")])
def test_worked_examples_end_in_the_line_that_is_asked_for(name: str, ending: str) -> None:
    """Each reads back as its own label."""
    prompt = load_prompt(name)
    lines = re.findall(rf"^{ending}: (?!x).*$", prompt.text, re.MULTILINE)
    said = [parse_completion(Completion(line, "m"), prompt.scale, prompt.channel).label for line in lines]
    assert said == [example.label for example in prompt.examples]
    assert "Grade:" not in prompt.text


def test_examples_with_a_confidence_show_the_verdict_alone() -> None:
    prompt = load_prompt("yes_no_confidence")
    assert re.findall(r"^verdict: (yes|no)$", prompt.text, re.MULTILINE) == ["yes", "no", "no"]


def test_the_example_of_lists_is_one_that_can_be_read() -> None:
    prompt = load_prompt("der2_concepts")
    verdict = parse_completion(Completion(prompt.text, "m"), prompt.scale, "concepts")
    assert verdict.label == "SOME"


@pytest.mark.parametrize("channel", sorted(WRITTEN_CHANNELS))
def test_a_written_reply_cannot_be_restricted_to_labels_or_computed(channel: Any) -> None:
    assert Sampling(channel=channel, constrained=False).channel == channel
    with pytest.raises(ValueError, match=f"^constrained: true with channel '{channel}'"):
        Sampling(channel=channel)
    with pytest.raises(ValueError, match=f"^method: 'exact' with channel '{channel}'"):
        Sampling(channel=channel, constrained=False, method="exact")


@pytest.mark.parametrize(
    ("reply", "channel", "expected"),
    [
        ("**Score: 0.750**", "score", "0.75"),
        ("score: 0.75/1", "score", "0.75"),
        ("score: 0.6", "score", "off_scale"),
        ("score: 75%", "score", "off_scale"),
        ("score: [0.5]", "score", "0.5"),
        ('{"why": "half of it", "score": 0.5}', "score", "0.5"),
        ("reasons: MISSING, PROCESS", "reasons", "PROCESS + MISSING"),
        ("reasons: PROCESS or FORMAL", "reasons", "ambiguous"),
        ("reasons: PROCESS (FORMAL)", "reasons", "ambiguous"),
    ],
)
def test_replies_of_the_guide_are_read_as_told(reply: str, channel: Any, expected: str) -> None:
    page = (Path(__file__).parent.parent / "docs" / "rubrics.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if f"`{reply}`" in line)
    assert expected in row
    verdict = parse_completion(Completion(reply, "m"), DER2_RUBRIC if channel == "score" else DER2_ERRORS, channel)
    assert (verdict.label or verdict.failure) == expected


def test_lint_asks_for_an_example_of_each_reason_not_of_each_set() -> None:
    example = "[[examples]]\nquestion='q {0}'\nreference='r'\nresponse='s'\nlabel='{0}'\n"
    front = '+++\nrubric = "der2_errors@1.0.0"\nscale = "der2_errors"\nchannel = "reasons"\n'
    body = "PROCESS FORMAL MISSING MISUSED\n$examples\n<q>$question</q>\n<r>$reference</r>\n<a>$response</a>\n"
    shown = "".join(map(example.format, ("PROCESS", "FORMAL + MISSING")))
    findings = lint_text(f"{front}{shown}+++\n{body}", where="mine")
    assert [finding.message for finding in findings] == ["label MISUSED has no example"]
