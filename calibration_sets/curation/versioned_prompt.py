"""Prompts that ship with the curation: texts with a version and a digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from string import Template

from calibration_sets.question import Question

__all__ = ["VersionedPrompt", "load_prompt"]


@dataclass(frozen=True, slots=True)
class VersionedPrompt:
    """A prompt's text with its placeholders."""

    name: str
    version: str
    text: str

    @property
    def title(self) -> str:
        """``name@version#digest``, the digest in its first eight digits."""
        return f"{self.name}@{self.version}#{hashlib.sha256(self.text.encode()).hexdigest()[:8]}"

    def render(self, question: Question, fields: Mapping[str, str] | None = None) -> str:
        """The text that a judge reads, filled in at one pass; the reference is no part of it."""
        return Template(self.text).substitute({"question": question.question, **(fields or {})})


def load_prompt(name: str, version: str) -> VersionedPrompt:
    """A shipped prompt."""
    file = resources.files(__package__).joinpath("prompts", name, f"{version}.md")
    return VersionedPrompt(name, version, file.read_text(encoding="utf-8").strip())
