"""Prompt files: TOML front matter between ``+++`` lines, then the prompt's text.

    +++
    description = "One line for people"
    rubric = "simpleqa@1.0.0"       # the rules that the text states
    scale = "simpleqa"              # a name in calibration_sets.SCALES
    channel = "letter"              # letter, word, json, tool or logprobs
    form = "chat"                   # chat (default) or completion
    unused = []                     # optional: labels of the scale that these rules never give

    [letters]                       # optional: instead of the scale's own; likewise [words]
    CORRECT = "A"

    [[examples]]
    question = "..."
    reference = "..."
    response = "..."
    label = "CORRECT"
    why = "..."                     # optional; left out of the text of a completion prompt
    +++
    Rules first ... $examples ... then the item: $question $reference $response

``$examples`` is replaced once, at load; the other three for each item. ``$$`` is a dollar sign;
braces mean nothing. A chat prompt's examples are written as ``Question:``, ``Reference:``,
``Response:``, ``Why:`` and ``Grade:`` lines; those of a completion prompt in the form of the item,
which is all that follows ``$examples``, with the label behind it. Name and version come from the
path, not from the file.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from calibration_sets.scale import SCALES, LabelScale
from graders.errors import PromptError
from graders.prompt import GraderPrompt, PromptExample, PromptForm
from graders.prompt_text import Problem, check_placeholders, expand_examples
from graders.sampling import Channel

__all__ = ["PromptSource", "is_version", "parse_prompt", "read_source", "write_prompt"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_NUMBER = r"(?:0|[1-9]\d*)"
_SUFFIX = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_SEMVER = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_SUFFIX})?(?:\+{_SUFFIX})?")


class _FrontMatter(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    description: str = ""
    rubric: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*@\d+\.\d+\.\d+\S*$")
    scale: str
    channel: Channel
    form: PromptForm = "chat"
    letters: dict[str, str] | None = None
    words: dict[str, str | list[str]] | None = None
    unused: list[str] = Field(default_factory=list)


class _Example(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    question: str
    reference: str
    response: str
    label: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class PromptSource:
    """A prompt file taken apart, with everything that is wrong with it.

    ``front`` and ``scale`` are ``None`` where the front matter does not give them. ``body`` is the
    text as written, ``text`` the one with its examples in it; ``body_line`` is the file's line on
    which ``body`` begins, from 1.
    """

    where: str
    front: _FrontMatter | None
    scale: LabelScale | None
    examples: tuple[PromptExample, ...]
    body: str
    body_line: int
    text: str
    problems: tuple[Problem, ...]

    def raise_first(self) -> None:
        """Raise ``PromptError`` for the first problem, if there is one."""
        for problem in self.problems:
            place = f"{self.where}:{problem.line}" if problem.line else self.where
            raise PromptError(f"{place}: {problem.message}")


def parse_prompt(text: str, *, name: str, version: str, where: str) -> GraderPrompt:
    """A prompt from the text of its file.

    Parameters
    ----------
    text
        The whole file.
    name, version
        Its name and semantic version, which the file itself does not hold.
    where
        What messages call the file.

    Raises
    ------
    PromptError
        If the front matter has an unknown, missing or wrong key, a label is not covered in the
        prompt's channel, an example's label is off the scale, or a placeholder is unknown, missing
        or repeated.
    """
    if not _NAME.fullmatch(name):
        raise PromptError(f"{where}: name {name!r}; expected letters, digits, '_', '-' and '.'")
    if not is_version(version):
        raise PromptError(f"{where}: version {version!r}; expected a semantic version such as 1.0.0")
    source = read_source(text, where=where)
    source.raise_first()
    assert source.front is not None  # without front matter there is a problem
    assert source.scale is not None
    return GraderPrompt(
        name=name,
        version=version,
        rubric=source.front.rubric,
        scale=source.scale,
        channel=source.front.channel,
        form=source.front.form,
        text=source.text,
        description=source.front.description,
        examples=source.examples,
        unused=tuple(source.front.unused),
    )


def is_version(text: str) -> bool:
    """Whether a text is a semantic version, such as ``1.0.0``, ``2.1.0-rc.1`` or ``0.0.0+063c04ea``."""
    return _SEMVER.fullmatch(text) is not None


def write_prompt(prompt: GraderPrompt, path: Path) -> None:
    """Write a prompt as a file that reads back as the same prompt; its examples stay in its text.

    Raises
    ------
    PromptError
        If there is another prompt at that path already, or the prompt has what a file cannot hold,
        such as a scale of its own or white space around its text.
    """
    written = _format(prompt)
    again = parse_prompt(written, name=prompt.name, version=prompt.version, where=str(path))
    if again.digest != prompt.digest:
        raise PromptError(f"{path}: {prompt.title} reads back as {again.title}; expected a shipped scale and bare text")
    if path.exists() and path.read_text(encoding="utf-8") != written:
        raise PromptError(f"{path}: already there with other content; expected a new version")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written, encoding="utf-8", newline="\n")


def _format(prompt: GraderPrompt) -> str:
    # JSON's strings and lists of strings are TOML's too.
    keys = {
        "description": prompt.description,
        "rubric": prompt.rubric,
        "scale": prompt.scale.name,
        "channel": prompt.channel,
        "form": prompt.form,
        "unused": list(prompt.unused),
    }
    lines = [f"{key} = {_quote(value)}" for key, value in keys.items() if value]
    for table, spoken in (("letters", prompt.scale.letters), ("words", prompt.scale.words)):
        lines += [f"\n[{table}]", *(f"{_quote(label)} = {_quote(said)}" for label, said in spoken.items())]
    return "\n".join(["+++", *lines, "+++", prompt.text, ""])


def _quote(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_source(text: str, *, where: str) -> PromptSource:
    """Take a prompt file apart; what is wrong with it is listed, not raised."""
    header, body, body_line, problems = _split(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    raw, toml_problems = _parse_toml(header)
    listed = raw.pop("examples", [])
    front, front_problems = _read_front(raw) if not (problems or toml_problems) else (None, [])
    scale, scale_problems = _build_scale(front) if front else (None, [])
    examples, example_problems = _read_examples(listed, scale, front.unused if front else [])
    text = body
    if front and scale:
        text = expand_examples(body, examples, scale=scale, channel=front.channel, form=front.form)
    body_problems = check_placeholders(body, body_line, n_examples=len(examples))
    return PromptSource(
        where=where,
        front=front,
        scale=scale,
        examples=examples,
        body=body,
        body_line=body_line,
        text=text,
        problems=(*problems, *toml_problems, *front_problems, *scale_problems, *example_problems, *body_problems),
    )


def _split(text: str) -> tuple[str, str, int, list[Problem]]:
    """Front matter, body, the body's first line in the file, and problems."""
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if line.rstrip() == "+++"][:2]
    if len(fences) < 2 or any(line.strip() for line in lines[: fences[0]]):
        message = "front matter not found; expected TOML between two lines of +++ at the top"
        return "", text.strip(), 1, [Problem("front-matter", message)]
    start = fences[1] + 1
    while start < len(lines) - 1 and not lines[start].strip():
        start += 1
    # Blank lines keep the line numbers of TOML messages those of the file.
    header = "\n" * (fences[0] + 1) + "\n".join(lines[fences[0] + 1 : fences[1]])
    return header, "\n".join(lines[start:]).strip(), start + 1, []


def _parse_toml(header: str) -> tuple[dict[str, Any], list[Problem]]:
    try:
        return tomllib.loads(header), []
    except tomllib.TOMLDecodeError as error:
        return {}, [Problem("front-matter", f"front matter is not TOML, {error}; expected lines of key = value")]


def _read_front(raw: dict[str, Any]) -> tuple[_FrontMatter | None, list[Problem]]:
    try:
        return _FrontMatter.model_validate(raw), []
    except ValidationError as error:
        return None, [_as_problem(_FrontMatter, detail) for detail in error.errors()]


def _read_examples(
    listed: object, scale: LabelScale | None, unused: Sequence[str]
) -> tuple[tuple[PromptExample, ...], list[Problem]]:
    if not isinstance(listed, list):
        return (), [Problem("front-matter", f"examples {listed!r}; expected [[examples]] tables")]
    examples, problems = [], []
    for number, raw in enumerate(listed, start=1):
        try:
            example = PromptExample(**_Example.model_validate(raw).model_dump())
        except ValidationError as error:
            problems += [_as_problem(_Example, detail, f"examples[{number}]: ") for detail in error.errors()]
            continue
        examples.append(example)
        if example.label in unused:
            problems.append(Problem("off-scale", f"examples[{number}]: label {example.label!r} is listed as unused"))
        if scale and example.label not in scale:
            message = f"examples[{number}]: label {example.label!r} is not on the scale {list(scale.labels)}"
            problems.append(Problem("off-scale", message))
    return tuple(examples), problems


def _as_problem(model: type[BaseModel], detail: Any, prefix: str = "") -> Problem:
    """One of pydantic's complaints as ``key, got; expected``."""
    key = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        message = f"key {key!r} is unknown; expected one of {_keys(model)}"
    elif detail["type"] == "missing":
        message = f"key {key!r} is missing; expected {_keys(model, required=True)}"
    else:
        wanted = detail["msg"][:1].lower() + detail["msg"][1:]
        message = f"key {key!r} is {detail['input']!r}; expected: {wanted}"
    return Problem("front-matter", prefix + message)


def _keys(model: type[BaseModel], *, required: bool = False) -> list[str]:
    names = [name for name, info in model.model_fields.items() if info.is_required() or not required]
    return names if required or model is _Example else [*names, "examples"]


def _build_scale(front: _FrontMatter) -> tuple[LabelScale | None, list[Problem]]:
    base = SCALES.get(front.scale)
    if base is None:
        return None, [Problem("front-matter", f"scale {front.scale!r} is unknown; expected one of {sorted(SCALES)}")]
    words = {label: (said,) if isinstance(said, str) else tuple(said) for label, said in (front.words or {}).items()}
    letters = base.letters if front.letters is None else front.letters
    try:
        scale = replace(base, letters=letters, words=base.words if front.words is None else words)
    except ValueError as error:
        return base, [Problem("labels", str(error))]
    return scale, _check_spoken(scale, front)


def _check_spoken(scale: LabelScale, front: _FrontMatter) -> list[Problem]:
    """Every label must have a form in which the prompt's channel can give it."""
    messages = [
        *(
            f"letters: {said!r} for {label}; expected one letter"
            for label, said in scale.letters.items()
            if len(said) != 1 or not said.isalnum()
        ),
        *(
            f"words: {list(said)} for {label}; expected one or more words"
            for label, said in scale.words.items()
            if not said or not all(word.strip() for word in said)
        ),
        *(
            f"unused: {label!r} is not on the scale {list(scale.labels)}"
            for label in front.unused
            if label not in scale
        ),
        *_uncovered("letters", scale.letters, scale, needed=front.channel == "letter" or bool(front.letters)),
        *_uncovered("words", scale.words, scale, needed=bool(front.words)),
    ]
    return [Problem("labels", message) for message in messages]


def _uncovered(key: str, covered: Container[str], scale: LabelScale, *, needed: bool) -> list[str]:
    missing = [label for label in scale.labels if label not in covered]
    return [f"{key}: none for {missing}; expected one for each of {list(scale.labels)}"] if needed and missing else []
