"""Official grader texts, read out of a package that publishes them; none is copied into this one."""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter

from calibration_sets.scale import SIMPLEQA
from graders.errors import PromptError
from graders.official_texts import KNOWN_TEXTS, OfficialKind, digest_of, find_known
from graders.prompt import GraderPrompt
from graders.template_source import FoundTemplate, read_templates

__all__ = ["OfficialKind", "OfficialText", "as_grader_prompt", "extract_official"]

_KINDS: tuple[OfficialKind, ...] = ("simpleqa", "simpleqa_verified")
_PLACEHOLDERS = {
    "question": "$question",
    "target": "$reference",
    "criterion": "$reference",
    "predicted_answer": "$response",
    "answer": "$response",
}


@dataclass(frozen=True, slots=True)
class OfficialText:
    """A published grader text.

    Attributes
    ----------
    kind
        Which rubric it states.
    text
        The text after ``strip``, placeholders in braces.
    digest
        SHA-256 of ``text``.
    name
        Which published text it is.
    characters, words
        Its size, for comparison with what was published.
    where
        File and name under which it was found.
    """

    kind: OfficialKind
    text: str
    digest: str
    name: str
    characters: int
    words: int
    where: str = ""


def extract_official(kind: OfficialKind, source: str) -> OfficialText:
    """Find the official text of a rubric in a source, without importing anything.

    Parameters
    ----------
    kind
        Which rubric's text is wanted.
    source
        An installed package, a wheel or source archive, a Python or text file, a folder, or an address.

    Raises
    ------
    PromptError
        If the source cannot be read, holds no grader template, or none whose digest is that of a
        published text of this kind.
    """
    if kind not in _KINDS:
        raise PromptError(f"official text: kind {kind!r}; expected one of {list(_KINDS)}")
    templates = read_templates(source)
    if not templates:
        raise PromptError(
            f"{source}: no grader template in it; expected a string with {{question}}, {{target}}, "
            "{predicted_answer} and the three label words"
        )
    for template in templates:
        known = find_known(template.text)
        if known and known[0].kind == kind:
            name = known[0].name if known[1] else f"{known[0].name}, in other white space"
            return _describe(kind, template, name)
    raise PromptError(
        f"{source}: holds {'; '.join(map(_name_template, templates))}; expected a published {kind} text, "
        f"known are {', '.join(known.digest[:8] for known in KNOWN_TEXTS if known.kind == kind)}"
    )


def as_grader_prompt(official: OfficialText) -> GraderPrompt:
    """The text as a prompt of this package, word for word, with our placeholders.

    Raises
    ------
    PromptError
        If it has a placeholder that an item cannot fill.
    """
    return GraderPrompt(
        name=f"official_{official.kind}",
        version=f"0.0.0+{official.digest[:8]}",
        rubric=f"{official.kind}@1.0.0",
        scale=SIMPLEQA,
        channel="letter",
        form="chat",
        text=_as_template(official),
        description=official.name,
    )


def _describe(kind: OfficialKind, template: FoundTemplate, name: str) -> OfficialText:
    return OfficialText(
        kind=kind,
        text=template.text,
        digest=digest_of(template.text),
        name=name,
        characters=len(template.text),
        words=len(template.text.split()),
        where=template.where,
    )


def _name_template(template: FoundTemplate) -> str:
    known = find_known(template.text)
    what = known[0].name if known else f"unknown, {len(template.text):,} characters"
    return f"{digest_of(template.text)} at {template.where} ({what})"


def _as_template(official: OfficialText) -> str:
    """Braces of ``str.format`` made dollars; what was literal stays literal."""
    parts: list[str] = []
    try:
        for literal, field, specification, conversion in Formatter().parse(official.text):
            parts.append(literal.replace("$", "$$"))
            if field is None:
                continue
            if specification or conversion or field not in _PLACEHOLDERS:
                raise PromptError(
                    f"{official.name}: placeholder {{{field}}}; expected one of {sorted(_PLACEHOLDERS)} and no format"
                )
            parts.append(_PLACEHOLDERS[field])
    except ValueError as error:
        raise PromptError(f"{official.name}: {error}; expected braces as str.format has them") from error
    return "".join(parts)
