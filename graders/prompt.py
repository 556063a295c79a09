"""Grader prompts: versioned text that turns an item into what a model reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from string import Template
from typing import Literal

from calibration_sets.item import Item, content_digest
from calibration_sets.references.reference import Reference
from calibration_sets.scale import PART_SEPARATOR, LabelScale
from graders.prompt_delimiters import neutralise
from graders.sampling import Channel

__all__ = ["GraderPrompt", "PromptExample", "PromptForm", "spoken_label"]

PromptForm = Literal["chat", "completion"]
"""``chat`` is sent as a user message; ``completion`` is continued as plain text."""


@dataclass(frozen=True, slots=True)
class PromptExample:
    """A worked example of a prompt: a response, its label, and why."""

    question: str
    reference: str
    response: str
    label: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class GraderPrompt:
    """One published version of a grader prompt.

    ``rubric`` is the ``name@version`` of the rules that it states, which people's labels name too.
    ``scale`` carries the letters and words of this prompt. ``text`` has its worked examples written
    out; ``examples`` are the same ones, taken apart for checks. ``unused`` are labels of the scale that
    the prompt's rules never give. ``digest`` covers what can move a
    model: labels, letters, words, text, channel and form; neither name nor version.
    """

    name: str
    version: str
    rubric: str
    scale: LabelScale
    channel: Channel
    form: PromptForm
    text: str
    description: str = ""
    examples: tuple[PromptExample, ...] = ()
    unused: tuple[str, ...] = ()
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

    @property
    def shared_text(self) -> str:
        """What every rendering begins with: the text before the first placeholder."""
        for found in Template.pattern.finditer(self.text):
            if found["named"] or found["braced"]:
                return Template(self.text[: found.start()]).substitute()
        return self.text

    def spoken(self, label: str) -> str:
        """What the model is to say for a label: its letter, its first word, or the label itself.

        Raises
        ------
        KeyError
            If the channel is ``letter`` and the label has none.
        """
        return spoken_label(self.scale, self.channel, label)

    def render(self, item: Item) -> str:
        """The text that a model reads, item last.

        Question, reference and response go in once, as data: a placeholder or a template expression
        inside them stays what it is, and a delimiter of this prompt inside them is made harmless
        (:mod:`graders.prompt_delimiters`). Nothing is cut off. The reference goes without outer
        white space, its given aliases below it, one ``or:`` line each.
        """
        data = {"question": item.question, "reference": _written(item.reference), "response": item.response}
        return Template(self.text).substitute({name: neutralise(value, self.text) for name, value in data.items()})

    @property
    def reads_by_tool(self) -> bool:
        """Whether a model opens documents by a tool before it replies; see :meth:`openable`."""
        return False

    def openable(self, item: Item) -> tuple[str, ...]:  # noqa: ARG002 - of those that read by a tool
        """Texts that a model may open by number, from 1, one at a time; none where the prompt holds all it gives."""
        return ()

    def item_text(self, item: Item) -> str:
        """What of an item a rendering holds beside this prompt's own text, or may hold; calls are priced by it."""
        return f"{item.question}{item.reference.text}{''.join(item.reference.extra_aliases)}{item.response}"


def spoken_label(scale: LabelScale, channel: Channel, label: str) -> str:
    """What a model is to say for a label of a scale in a channel; see :meth:`GraderPrompt.spoken`."""
    if channel == "letter":
        return scale.letters[label]
    if channel in ("word", "logprobs", "confidence") and scale.words.get(label):
        return scale.words[label][0]
    if channel == "reasons":
        return label.replace(PART_SEPARATOR, ", ")
    return scale.letters.get(label, label) if channel == "logprobs" else label


def _written(reference: Reference) -> str:
    return "\nor: ".join([reference.text.strip(), *(alias.strip() for alias in reference.extra_aliases)])
