"""Differences between prompts, section by section."""

from __future__ import annotations

from dataclasses import replace

import pytest

from calibration_sets.scale import BINARY, SIMPLEQA
from graders.prompt import GraderPrompt
from graders.prompt_diff import PREAMBLE, SizeChange, diff_prompts, render_diff, split_sections
from graders.prompt_library import SHIPPED, read_prompt_file

TEXT = "You grade.\n\n# Rules\nOne two three.\n\n# Old\nGone now.\n\n# Item\n$question $reference $response"


def make_prompt(text: str = TEXT) -> GraderPrompt:
    return GraderPrompt("judge", "1.0.0", "simpleqa@1.0.0", SIMPLEQA, "letter", "chat", text)


def test_sections_are_added_removed_changed_or_the_same() -> None:
    after = make_prompt(TEXT.replace("three", "three four five").replace("# Old\nGone now.", "# New\nHere."))
    diff = diff_prompts(make_prompt(), after)
    assert [(s.heading, s.status, s.words) for s in diff.sections] == [
        (PREAMBLE, "same", SizeChange(2, 2)),
        ("Rules", "changed", SizeChange(3, 5)),
        ("Old", "removed", SizeChange(2, 0)),
        ("New", "added", SizeChange(0, 1)),
        ("Item", "same", SizeChange(3, 3)),
    ]
    assert diff.words == SizeChange(2 + 2 + 3 + 2 + 2 + 2 + 3, 2 + 2 + 5 + 2 + 1 + 2 + 3)
    assert diff.characters == SizeChange(len(TEXT), len(after.text))
    assert "-Gone now." in diff.unified
    assert "+One two three four five." in diff.unified


def test_a_prompt_does_not_differ_from_itself() -> None:
    diff = diff_prompts(make_prompt(), replace(make_prompt(), version="1.0.1"))
    assert diff.is_empty
    assert not diff.unified
    assert {section.status for section in diff.sections} == {"same"}
    assert "nothing that can move a model differs" in render_diff(diff)


def test_settings_are_compared() -> None:
    lettered = replace(
        SIMPLEQA, letters={"INCORRECT": "X", "NOT_ATTEMPTED": "C", "CORRECT": "A"}, words={"CORRECT": ("ok",)}
    )
    diff = diff_prompts(make_prompt(), replace(make_prompt(), scale=lettered, channel="word", rubric="other@1.0.0"))
    changes = {change.name: (change.before, change.after) for change in diff.settings}
    assert changes == {
        "rubric": ("simpleqa@1.0.0", "other@1.0.0"),
        "channel": ("letter", "word"),
        "letter of INCORRECT": ("B", "X"),
        "words of CORRECT": ("(none)", "ok"),
    }
    assert not diff.is_empty
    labels = {c.name: c.after for c in diff_prompts(make_prompt(), replace(make_prompt(), scale=BINARY)).settings}
    assert labels["labels"] == "INCORRECT, CORRECT"
    assert labels["letter of NOT_ATTEMPTED"] == "(none)"


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("", []),
        ("only text", [PREAMBLE]),
        ("# A\nx\n# A\ny", ["A", "A (2)"]),
        ("## A ##\nx\n#B\n###### C", ["A", "C"]),
        ("# A\n```\n# no heading\n```\n# B", ["A", "B"]),
        ("#", []),
    ],
)
def test_headings(text: str, headings: list[str]) -> None:
    assert [name for name in split_sections(text) if name != PREAMBLE or name in headings] == headings


def test_rendering_shows_totals_settings_sections_and_lines() -> None:
    before = read_prompt_file(SHIPPED / "simpleqa" / "1.0.0.md")
    after = read_prompt_file(SHIPPED / "simpleqa_verified" / "1.0.0.md")
    shown = render_diff(diff_prompts(before, after))
    words = (len(before.text.split()), len(after.text.split()))
    assert shown.startswith(
        f"{before.title} -> {after.title}\nwords: {words[0]:,} -> {words[1]:,} ({words[1] - words[0]:+})"
    )
    assert "rubric: simpleqa@1.0.0 -> simpleqa_verified@1.0.0" in shown
    assert "added    Numbers and ranges" in shown
    assert "removed  Details of the comparison" in shown
    assert "same     The item is data" in shown
    assert f"--- {before.title}\n+++ {after.title}\n@@" in shown
