"""What is wrong, or likely to go wrong, with a grader prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from calibration_sets.scale import PART_SEPARATOR, SIMPLEQA, LabelScale
from graders.prompt import GraderPrompt, spoken_label
from graders.prompt_delimiters import FIELDS, find_placeholders, find_surroundings
from graders.prompt_examples import FoundExample, check_numbers, check_words, find_prose_examples
from graders.prompt_file import PromptSource, is_version, read_source
from graders.prompt_library import read_text
from graders.sampling import Channel

__all__ = ["Finding", "Severity", "lint_prompt", "lint_text"]

Severity = Literal["error", "warning"]
"""Whether a finding stands in the way of publishing a prompt."""

_CLOSING_WORDS = 60
"""So many words may follow an item: a reminder of the format, no rules."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; ``rule`` is its short name, ``line`` the line in the file or text, where it has one."""

    where: str
    rule: str
    severity: Severity
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = f"{self.where}:{self.line}" if self.line else self.where
        return f"{place}: {self.severity}: {self.message} [{self.rule}]"


@dataclass(frozen=True, slots=True)
class _Subject:
    """What the rules look at: a prompt, or as much of a broken file as could be read."""

    where: str
    scale: LabelScale
    rubric: str
    channel: Channel | None
    form: str
    text: str
    examples: tuple[FoundExample, ...]
    unused: tuple[str, ...]
    first_line: int

    def find(self, rule: str, severity: Severity, message: str, line: int | None = None) -> Finding:
        return Finding(self.where, rule, severity, message, line)

    def line_at(self, position: int) -> int:
        return self.first_line + self.text[:position].count("\n")


def lint_prompt(prompt: GraderPrompt | Path | str) -> list[Finding]:
    """Check a prompt, or a prompt file, broken ones too.

    Parameters
    ----------
    prompt
        A prompt, or the path of a prompt file.

    Returns
    -------
    list of Finding
        Errors first. A file with an error cannot be used, or teaches a grader what its rubric forbids.

    Raises
    ------
    PromptError
        If the file cannot be read as text.
    """
    if isinstance(prompt, GraderPrompt):
        return _run_rules(_subject_of_prompt(prompt))
    path = Path(prompt)
    findings = lint_text(read_text(path), where=str(path))
    if path.stem[:1].isdigit() and not is_version(path.stem):
        message = f"version {path.stem!r}; expected a semantic version such as 1.0.0"
        findings.insert(0, Finding(str(path), "version", "error", message))
    return findings


def lint_text(text: str, *, where: str) -> list[Finding]:
    """Check the text of a prompt file; ``where`` is what messages call it."""
    source = read_source(text, where=where)
    problems = [Finding(where, problem.rule, "error", problem.message, problem.line) for problem in source.problems]
    return [*problems, *_run_rules(_subject_of_source(source))]


def _subject_of_prompt(prompt: GraderPrompt) -> _Subject:
    known = {(example.reference, example.response, example.label) for example in prompt.examples}
    prose = [
        found
        for found in find_prose_examples(prompt.text, prompt.scale)
        if (found.example.reference, found.example.response, found.example.label) not in known
    ]
    written = tuple(FoundExample(example, 0) for example in prompt.examples)
    return _Subject(
        where=prompt.title,
        scale=prompt.scale,
        rubric=prompt.rubric,
        channel=prompt.channel,
        form=prompt.form,
        text=prompt.text,
        examples=(*written, *prose),
        unused=prompt.unused,
        first_line=1,
    )


def _subject_of_source(source: PromptSource) -> _Subject:
    scale = source.scale or SIMPLEQA
    offset = source.body_line - 1
    prose = [FoundExample(f.example, f.line + offset) for f in find_prose_examples(source.body, scale)]
    written = tuple(FoundExample(example, 0) for example in source.examples)
    return _Subject(
        where=source.where,
        scale=scale,
        rubric=source.front.rubric if source.front else "",
        channel=source.front.channel if source.front else None,
        form=source.front.form if source.front else "chat",
        text=source.body,
        examples=(*written, *prose),
        unused=tuple(source.front.unused) if source.front else (),
        first_line=source.body_line,
    )


def _run_rules(subject: _Subject) -> list[Finding]:
    findings = [finding for rule in _RULES for finding in rule(subject)]
    return sorted(findings, key=lambda finding: finding.severity != "error")


def _contradictions(subject: _Subject) -> Iterator[Finding]:
    """Examples whose label is not what the numbers say under the rule that they illustrate."""
    by_figures = subject.rubric.startswith("simpleqa@") or subject.rubric.startswith("simpleqa_abstention")
    severity: Severity = "error" if subject.rubric.startswith("simpleqa") or not subject.rubric else "warning"
    for number, found in enumerate(subject.examples, start=1):
        example = found.example
        outcome = check_numbers(example.reference, example.response)
        # Under other rubrics a number that rounds to the reference may be wrong all the same.
        refused = example.label == "INCORRECT" and outcome == "in" and (by_figures or "range" in example.reference)
        accepted = example.label == "CORRECT" and outcome == "out"
        numbers = f"its number {'disagrees' if accepted else 'agrees'} with" if accepted or refused else None
        because = numbers or check_words(example)
        if because:
            message = (
                f"example {number}: response {example.response!r} is labelled {example.label}, but {because} "
                f"reference {example.reference!r}"
            )
            yield subject.find("contradiction", severity, message, found.line or None)


def _conflicts(subject: _Subject) -> Iterator[Finding]:
    """The same example under two labels, or twice under one."""
    first: dict[tuple[str, ...], tuple[int, str]] = {}
    for number, found in enumerate(subject.examples, start=1):
        example = found.example
        content = tuple(
            " ".join(part.casefold().split()) for part in (example.question, example.reference, example.response)
        )
        earlier, label = first.setdefault(content, (number, example.label))
        if label != example.label:
            message = f"examples {earlier} and {number} are the same, labelled {label} and {example.label}"
            yield subject.find("conflict", "error", message, found.line or None)
        elif earlier != number:
            yield subject.find(
                "repetition", "warning", f"examples {earlier} and {number} are the same", found.line or None
            )


def _unexemplified(subject: _Subject) -> Iterator[Finding]:
    shown = {part for found in subject.examples for part in _parts(found.example.label, subject)}
    for label in _told_labels(subject):
        if label not in shown and label not in subject.unused:
            yield subject.find("no-example", "warning", f"label {label} has no example")


def _told_labels(subject: _Subject) -> tuple[str, ...]:
    """The labels that a reply names: of sets their parts, and none where the label is derived from lists."""
    return () if subject.channel == "concepts" else subject.scale.parts or subject.scale.labels


def _parts(label: str, subject: _Subject) -> list[str]:
    return label.split(PART_SEPARATOR) if subject.scale.parts else [label]


def _undelimited(subject: _Subject) -> Iterator[Finding]:
    """Data that a reader of the rendered prompt cannot tell from the prompt."""
    for name, sides in find_surroundings(subject.text).items():
        missing = [side for side, mark in (("before", sides.before), ("after", sides.after)) if mark is None]
        if missing:
            message = f"${name} has no delimiter {' or '.join(missing)} it; expected such as <{name}> and </{name}>"
            yield subject.find("delimiter", "warning", message)


def _named_delimiters(subject: _Subject) -> Iterator[Finding]:
    """A tag that also occurs elsewhere in the prompt no longer marks one place."""
    if subject.form == "completion":  # its examples are written in the form of its item
        return
    marks = find_surroundings(subject.text).get("response")
    for mark in (marks.before, marks.after) if marks else ():
        if mark and mark.startswith("<") and subject.text.count(mark) > 1:
            message = f"{mark} occurs {subject.text.count(mark)} times; expected only around $response"
            yield subject.find("delimiter", "warning", message)


def _item_first(subject: _Subject) -> Iterator[Finding]:
    """Rules after the item: no two items then share a prefix that an engine could cache."""
    places = [place for place in find_placeholders(subject.text) if place.name in FIELDS]
    if not places:
        return
    before = len(subject.text[: places[0].start].split())
    after = len(subject.text[places[-1].end :].split())
    examples_after = any(p.name == "examples" and p.start > places[0].start for p in find_placeholders(subject.text))
    if examples_after or after > _CLOSING_WORDS or after > max(before, 5):
        message = f"${places[0].name} stands before the rules ({before} words before it, {after} after the item)"
        expected = "expected rules and examples first, the item last, so that items share a prefix"
        yield subject.find("item-first", "warning", f"{message}; {expected}", subject.line_at(places[0].start))


def _ambiguous_words(subject: _Subject) -> Iterator[Finding]:
    """Words of which one begins another cannot be told apart while they are being written."""
    if subject.channel not in ("word", "logprobs"):
        return
    said = {label: spoken_label(subject.scale, subject.channel, label).casefold() for label in subject.scale.labels}
    for label, word in said.items():
        for other, longer in said.items():
            if label != other and longer.startswith(word):
                message = f"word {word!r} for {label} begins {longer!r} for {other}"
                yield subject.find("words", "warning", message)


def _unspoken(subject: _Subject) -> Iterator[Finding]:
    """A label whose letter or word the text never mentions: the model cannot know it."""
    if subject.channel is None or not subject.text:
        return
    for label in _told_labels(subject):
        if subject.channel == "letter" and label not in subject.scale.letters:
            continue
        said = spoken_label(subject.scale, subject.channel, label)
        shown = any(found.example.label == label for found in subject.examples)
        if said not in subject.text and not shown:
            yield subject.find("unspoken", "warning", f"{said!r} for {label} does not occur in the text")


_RULES: tuple[Callable[[_Subject], Iterator[Finding]], ...] = (
    _contradictions,
    _conflicts,
    _unexemplified,
    _undelimited,
    _named_delimiters,
    _item_first,
    _ambiguous_words,
    _unspoken,
)
