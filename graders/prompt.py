"""Grader prompts: versioned text that turns an item into what a model reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from string import Template
from typing import Literal

from calibration_sets.item import Item, content_digest
from calibration_sets.scale import LabelScale
from graders.sampling import Channel

__all__ = ["GraderPrompt", "PromptForm"]

PromptForm = Literal["chat", "completion"]
"""``chat`` is sent as a user message; ``completion`` is continued as plain text."""


@dataclass(frozen=True, slots=True)
class GraderPrompt:
    """One published version of a grader prompt.

    ``rubric`` is the ``name@version`` of the rules that it states, which people's labels name too.
    ``scale`` carries the letters and words of this prompt. ``digest`` covers what can move a model:
    labels, letters, words, text, channel and form; neither name nor version.
    """

    name: str
    version: str
    rubric: str
    scale: LabelScale
    channel: Channel
    form: PromptForm
    text: str
    description: str = ""
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        content = {
            "labels": list(self.scale.labels),
            "letters": dict(self.scale.letters),
            "words": {label: list(words) for label, words in self.scale.words.items()},
            "channel": self.channel,
            "form": self.form,
            "text": self.text,
        }
        object.__setattr__(self, "digest", content_digest(content))

    @property
    def title(self) -> str:
        """``name@version#digest``, the digest in its first eight digits."""
        return f"{self.name}@{self.version}#{self.digest[:8]}"

    def render(self, item: Item) -> str:
        """The text that a model reads, item last."""
        return Template(self.text).substitute(
            question=item.question, reference=item.reference.text, response=item.response
        )
