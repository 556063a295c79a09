"""Answer prompts: versioned wordings in which a question is put to a model.

``experiments/respondents/prompts/<name>/<semver>.md``: front matter between ``+++`` lines with a
``description``, then the text, whose only placeholder is ``$question``, once; ``$$`` is a dollar sign.
``prompts.lock`` beside the folder maps each published ``name@version`` to its digest. An answer prompt
is carried by a :class:`graders.prompt.GraderPrompt`, so that every provider sends it as it sends a
grader's; its rendering holds the question as it stands, and never a reference or a response.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from calibration_sets.item import Item
from calibration_sets.scale import SIMPLEQA
from graders.errors import PromptError
from graders.prompt import GraderPrompt
from graders.prompt_delimiters import find_placeholders
from graders.prompt_file import is_version
from graders.prompt_library import UNPUBLISHED, PromptEntry, lock_of, read_lock, read_text, scan_library

__all__ = [
    "NO_RUBRIC",
    "SHIPPED",
    "AnswerPrompt",
    "check_published",
    "list_answer_prompts",
    "load_answer_prompt",
    "parse_answer_prompt",
    "read_entry",
    "read_wording",
]

SHIPPED = Path(__file__).parent / "prompts"
"""The folder of the answer prompts that come with the package."""

NO_RUBRIC = "none@0.0.0"
"""Of a prompt by whose replies nothing is judged."""


class _FrontMatter(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    description: str = Field(default="")


@dataclass(frozen=True, slots=True)
class AnswerPrompt(GraderPrompt):
    """A wording of a question. Scale and channel are there for the carrier's sake; no reply is read by them."""

    def render(self, item: Item) -> str:
        """The text that a model reads: the question goes in once, as it stands; nothing else of the item does."""
        return Template(self.text).substitute(question=item.question)


def list_answer_prompts() -> list[PromptEntry]:
    """The shipped answer prompts, by name and then by version, oldest first."""
    return scan_library(SHIPPED, "shipped")


def load_answer_prompt(reference: str, *, folder: Path | None = None) -> AnswerPrompt:
    """An answer prompt by ``name@version``, by ``name`` (its newest version), or by the path of a ``.md`` file.

    Parameters
    ----------
    reference
        Such as ``question_only@1.0.0`` or ``wordings/mine/0.2.0.md``.
    folder
        What a path is relative to.

    Raises
    ------
    PromptError
        If there is no such prompt, its file is malformed, or a shipped one is not what its lock says.
    """
    if reference.endswith(".md"):
        return _read_file((folder or Path()) / reference)
    entries = list_answer_prompts()
    name, _, version = reference.partition("#")[0].partition("@")
    versions = [entry for entry in entries if entry.name == name]
    if not versions:
        known = sorted({entry.name for entry in entries})
        raise PromptError(f"answer prompt {name!r} is unknown; expected one of {known}, or the path of a .md file")
    chosen = versions if "@" not in reference else [entry for entry in versions if entry.version == version]
    if not chosen:
        raise PromptError(
            f"answer prompt {reference!r}: version {version!r} is unknown; "
            f"expected one of {[entry.version for entry in versions]}"
        )
    prompt = read_entry(chosen[-1])
    digits = reference.partition("#")[2]
    if not prompt.digest.startswith(digits):
        raise PromptError(f"answer prompt {reference!r}: digest {prompt.digest[:8]}; expected {digits!r}")
    return prompt


def read_entry(entry: PromptEntry) -> AnswerPrompt:
    """Read an entry's file; ``PromptError`` if it is malformed or, shipped, not what its lock says."""
    text = read_text(entry.path)
    prompt = parse_answer_prompt(text, name=entry.name, version=entry.version, where=str(entry.path))
    if entry.origin == "shipped":
        check_published(prompt, entry)
    return prompt


def parse_answer_prompt(text: str, *, name: str, version: str, where: str) -> AnswerPrompt:
    """An answer prompt from the text of its file.

    Raises
    ------
    PromptError
        If the front matter is missing or malformed, or the text has another placeholder than one ``$question``.
    """
    body, description = read_wording(text, where=where)
    return AnswerPrompt(
        name=name,
        version=version,
        rubric=NO_RUBRIC,
        scale=SIMPLEQA,
        channel="letter",
        form="chat",
        text=body,
        description=description,
    )


def read_wording(text: str, *, where: str, places: Sequence[str] = ("question",)) -> tuple[str, str]:
    """The text of a prompt's file without its front matter, and the description in that.

    Raises
    ------
    PromptError
        If the front matter is missing or malformed, or the placeholders are not ``places``, in their order.
    """
    header, body = _split(text, where)
    front = _read_front(header, where)
    names = [place.name for place in find_placeholders(body)]
    if names != list(places):
        got = ", ".join(f"${name or ''}" for name in names) or "none"
        wanted = ", ".join(f"${name}" for name in places)
        raise PromptError(f"{where}: placeholders {got}; expected {wanted}, once ($$ is a dollar sign)")
    return body, front.description


def check_published(prompt: GraderPrompt, entry: PromptEntry) -> None:
    """``PromptError`` if a prompt of a library is not what the lock beside that says."""
    published = read_lock(lock_of(entry.path.parent.parent)).get(entry.reference)
    if published != prompt.digest:
        got = "not in prompts.lock" if published is None else f"published as {published[:8]}"
        raise PromptError(f"{entry.path}: digest {prompt.digest[:8]}, {got}; expected changed text under a new version")


def _read_file(path: Path) -> AnswerPrompt:
    """``<name>/<version>.md``, or ``<name>.md`` as version 0.0.0."""
    path = path.absolute()
    named = (path.parent.name, path.stem) if is_version(path.stem) else (path.stem, UNPUBLISHED)
    return parse_answer_prompt(read_text(path), name=named[0], version=named[1], where=str(path))


def _split(text: str, where: str) -> tuple[str, str]:
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    fences = [number for number, line in enumerate(lines) if line.rstrip() == "+++"][:2]
    if len(fences) < 2 or any(line.strip() for line in lines[: fences[0]]):
        raise PromptError(f"{where}: front matter not found; expected TOML between two lines of +++ at the top")
    return "\n".join(lines[fences[0] + 1 : fences[1]]), "\n".join(lines[fences[1] + 1 :]).strip()


def _read_front(header: str, where: str) -> _FrontMatter:
    try:
        return _FrontMatter.model_validate(tomllib.loads(header))
    except tomllib.TOMLDecodeError as error:
        raise PromptError(f"{where}: front matter is not TOML, {error}; expected lines of key = value") from error
    except ValidationError as error:
        key = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise PromptError(f"{where}: front matter: key {key!r}; expected a text under description, alone") from error
