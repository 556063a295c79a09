"""What moved between two grader prompts: section by section, in words, in labels, line by line."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from graders.prompt import GraderPrompt

__all__ = [
    "PromptDiff",
    "SectionChange",
    "SettingChange",
    "SizeChange",
    "diff_prompts",
    "render_diff",
    "split_sections",
]

SectionStatus = Literal["added", "removed", "changed", "same"]

PREAMBLE = "(before the first heading)"
"""What the text above the first heading is called."""

_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*")


@dataclass(frozen=True, slots=True)
class SizeChange:
    """A count in the first and in the second prompt."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class SectionChange:
    """One section; ``words`` is 0 on the side where it does not exist."""

    heading: str
    status: SectionStatus
    words: SizeChange


@dataclass(frozen=True, slots=True)
class SettingChange:
    """Something besides the text that can move a model or a reader: labels, letters, channel, rubric."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class PromptDiff:
    """The difference between two prompts.

    ``sections`` has every section of both, in the order of the second, removed ones where they
    stood. ``words`` are separated by white space. ``unified`` are the lines of a unified diff of the
    texts, empty where they are the same.
    """

    before: str
    after: str
    sections: tuple[SectionChange, ...]
    words: SizeChange
    characters: SizeChange
    settings: tuple[SettingChange, ...]
    unified: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing that can move a model differs."""
        return not self.unified and not self.settings


def diff_prompts(a: GraderPrompt, b: GraderPrompt) -> PromptDiff:
    """What changes from prompt ``a`` to prompt ``b``; placeholders and examples count as text."""
    unified = difflib.unified_diff(
        a.text.splitlines(), b.text.splitlines(), fromfile=a.title, tofile=b.title, lineterm="", n=2
    )
    return PromptDiff(
        before=a.title,
        after=b.title,
        sections=_compare_sections(split_sections(a.text), split_sections(b.text)),
        words=SizeChange(_count_words(a.text), _count_words(b.text)),
        characters=SizeChange(len(a.text), len(b.text)),
        settings=tuple(_compare_settings(a, b)),
        unified=tuple(unified),
    )


def split_sections(text: str) -> dict[str, str]:
    """Heading to the text below it, in order; a repeated heading gets a number.

    Lines that look like headings inside a code fence are text.
    """
    sections: dict[str, list[str]] = {PREAMBLE: []}
    current, fenced, seen = PREAMBLE, False, Counter[str]()
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        heading = None if fenced else _HEADING.fullmatch(line)
        if heading:
            seen[heading[1]] += 1
            current = heading[1] if seen[heading[1]] == 1 else f"{heading[1]} ({seen[heading[1]]})"
            sections[current] = []
        else:
            sections[current].append(line)
    bodies = {name: "\n".join(lines).strip() for name, lines in sections.items()}
    return {name: body for name, body in bodies.items() if body or name != PREAMBLE}


def render_diff(diff: PromptDiff) -> str:
    """The difference as plain text: totals, settings, sections, then the lines."""
    if diff.is_empty:
        return f"{diff.before} -> {diff.after}: nothing that can move a model differs"
    width = max((len(section.heading) for section in diff.sections), default=0)
    blocks = [
        [f"{diff.before} -> {diff.after}", _size("words", diff.words), _size("characters", diff.characters)],
        [f"{change.name}: {change.before} -> {change.after}" for change in diff.settings],
        [_section_line(section, width) for section in diff.sections],
        list(diff.unified),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _count_words(text: str) -> int:
    return len(text.split())


def _size(name: str, change: SizeChange) -> str:
    return f"{name}: {change.before:,} -> {change.after:,} ({change.after - change.before:+,})"


def _section_line(section: SectionChange, width: int) -> str:
    words = section.words
    counts = f"{words.before} words" if words.before == words.after else f"{words.before} -> {words.after} words"
    return f"{section.status:<8} {section.heading:<{width}}  {counts}"


def _compare_sections(a: dict[str, str], b: dict[str, str]) -> tuple[SectionChange, ...]:
    return tuple(_compare_section(heading, a.get(heading), b.get(heading)) for heading in _merge(list(a), list(b)))


def _compare_section(heading: str, before: str | None, after: str | None) -> SectionChange:
    words = SizeChange(_count_words(before or ""), _count_words(after or ""))
    if before is None or after is None:
        return SectionChange(heading, "added" if before is None else "removed", words)
    return SectionChange(heading, "same" if before == after else "changed", words)


def _merge(a: list[str], b: list[str]) -> list[str]:
    """The headings of both, in the order of ``b``, those only in ``a`` after the one they followed."""
    merged = list(b)
    position = 0
    for heading in a:
        if heading in merged:
            position = merged.index(heading) + 1
        else:
            merged.insert(position, heading)
            position += 1
    return merged


def _compare_settings(a: GraderPrompt, b: GraderPrompt) -> list[SettingChange]:
    before, after = _settings(a), _settings(b)
    return [
        SettingChange(name, before.get(name, "(none)"), after.get(name, "(none)"))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]


def _settings(prompt: GraderPrompt) -> dict[str, str]:
    scale = prompt.scale
    return {
        "rubric": prompt.rubric,
        "labels": ", ".join(scale.labels),
        "channel": prompt.channel,
        "form": prompt.form,
        **{f"letter of {label}": letter for label, letter in scale.letters.items()},
        **{f"words of {label}": ", ".join(words) for label, words in scale.words.items()},
    }
