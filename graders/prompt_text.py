"""The text of a prompt file: its placeholders, and its worked examples written into it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template

from calibration_sets.scale import LabelScale
from graders.prompt import PromptExample, PromptForm, spoken_label
from graders.prompt_delimiters import FIELDS, find_placeholders, neutralise
from graders.sampling import Channel

__all__ = ["Problem", "check_placeholders", "expand_examples"]

_LAST_LINE: Mapping[Channel, str] = {"score": "score: {}", "reasons": "reasons: {}", "confidence": "verdict: {}"}
"""How a worked example of a chat prompt ends, where its channel reads a line of that name."""

_CHAT_FORM = "Question: $question\nReference: $reference\nResponse: $response"


@dataclass(frozen=True, slots=True)
class Problem:
    """What keeps a prompt file from being used: ``rule`` is a short name, ``line`` is in the file."""

    rule: str
    message: str
    line: int | None = None


def check_placeholders(body: str, body_line: int, *, n_examples: int) -> list[Problem]:
    """Placeholders that are unknown, missing or repeated; ``body_line`` is the body's first line in its file."""
    places = find_placeholders(body)
    names = [place.name for place in places]
    messages = [_missing(body, name) for name in FIELDS if name not in names]
    repeated = [name for name in ("response", "examples") if names.count(name) > 1]
    messages += [f"placeholder ${name} occurs {names.count(name)} times; expected once" for name in repeated]
    if ("examples" in names) != (n_examples > 0):
        got = f"{n_examples} [[examples]] and {names.count('examples')} $examples in the text"
        messages.append(f"{got}; expected both or neither")
    unknown = [
        Problem("placeholder", _unknown(body[place.start : place.end]), body_line + body[: place.start].count("\n"))
        for place in places
        if place.name not in (*FIELDS, "examples")
    ]
    return [*unknown, *(Problem("placeholder", message) for message in messages)]


def _unknown(got: str) -> str:
    known = ", ".join(f"${name}" for name in (*FIELDS, "examples"))
    return f"placeholder {got!r} is unknown; expected one of {known}, or $$ for a dollar sign"


def _missing(body: str, name: str) -> str:
    braces = sorted(set(re.findall(r"\{+\s*\w+\s*\}+", body)))
    hint = f" ({braces[0]} is not a placeholder)" if braces else ""
    return f"placeholder ${name} is missing{hint}; expected $question, $reference and $response"


def expand_examples(
    body: str, examples: Sequence[PromptExample], *, scale: LabelScale, channel: Channel, form: PromptForm
) -> str:
    """The body with its worked examples written out and their dollar signs escaped."""
    place = next((place for place in find_placeholders(body) if place.name == "examples"), None)
    if place is None or not examples:
        return body
    before, after = body[: place.start], body[place.end :]
    # A completion continues a pattern, so its examples look exactly like the item that follows them.
    follows = {found.name for found in find_placeholders(after)} == set(FIELDS)
    shape = after.strip() if follows and form == "completion" else _CHAT_FORM
    ending = _LAST_LINE.get(channel, "Grade: {}")
    blocks = [
        _write_example(example, _said(example.label, scale, channel), shape, body, ending) for example in examples
    ]
    return before + "\n\n".join(blocks).replace("$", "$$") + after


def _said(label: str, scale: LabelScale, channel: Channel) -> str:
    covered = label in scale and (channel != "letter" or label in scale.letters)
    return spoken_label(scale, channel, label) if covered else label


def _write_example(example: PromptExample, said: str, shape: str, body: str, ending: str) -> str:
    data = {name: neutralise(getattr(example, name), body) for name in FIELDS}
    written = Template(shape).substitute(data)
    if shape == _CHAT_FORM:
        return "\n".join([written, *([f"Why: {example.why}"] if example.why else []), ending.format(said)])
    return f"{written} {said}"
