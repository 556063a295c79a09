"""A rendered prompt as tokens: what all items share first, then the item.

The two parts are tokenised apart. So the engine can keep the first for all items of a prompt, and
no spelling of a special token (``<|im_end|>`` in a response) is ever read as that token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from calibration_sets.item import Item
from graders.prompt import GraderPrompt

__all__ = ["CONTEXT_TOKENS", "PromptTokens", "Tokenizer", "build_prompt_tokens", "reply_lead", "shared_length"]

CONTEXT_TOKENS = 2048
"""Longest prompt and reply together; the model was not trained on more."""

_SLOT = "the-text-of-the-user-message-goes-here"


class Tokenizer(Protocol):
    """What is needed of an engine."""

    def tokenize(self, text: str, *, special: bool = False, start: bool = False) -> list[int]:
        """Text to token ids; ``special`` reads special tokens, ``start`` adds what begins a text."""
        ...

    def apply_chat_template(self, content: str) -> str:
        """The text of a chat with one user message, up to where the answer begins."""
        ...


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """Tokens of one request: the part that every item of the prompt begins with, and the rest."""

    shared: tuple[int, ...]
    own: tuple[int, ...]

    @property
    def all(self) -> list[int]:
        """Both parts, in order."""
        return [*self.shared, *self.own]


def build_prompt_tokens(prompt: GraderPrompt, item: Item, engine: Tokenizer) -> PromptTokens:
    """Tokens of an item under a prompt; a chat prompt is put into the model's template."""
    rendered = prompt.render(item)
    head = prompt.shared_text.rstrip(" ")
    if not rendered.startswith(head):
        head = ""
    tail = rendered[len(head) :]
    if prompt.form == "completion":
        return PromptTokens(
            tuple(engine.tokenize(head, start=True)),
            tuple(engine.tokenize(tail.rstrip(" "))),
        )
    before, after = engine.apply_chat_template(_SLOT).split(_SLOT)
    return PromptTokens(
        (*engine.tokenize(before, special=True, start=True), *engine.tokenize(head)),
        (*engine.tokenize(tail), *engine.tokenize(after, special=True)),
    )


def reply_lead(prompt: GraderPrompt) -> str:
    """What stands between the prompt and a word that continues it.

    Blanks at the end of a completion prompt go to the reply: vocabularies have ``" word"`` as one
    token, and after a separate blank it hardly ever follows.
    """
    ends_open = prompt.form == "completion" and not prompt.text.endswith("\n")
    return " " if ends_open else ""


def shared_length(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens two sequences have in common at their beginning."""
    pairs = zip(first, second, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))
