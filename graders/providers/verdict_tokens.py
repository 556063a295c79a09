"""The replies that a constrained local model may give, as tokens.

Whole label words are of different lengths in tokens. Masking a model token by token and sampling
at a temperature draws from the product of the masked softmaxes, which is not the softmax over
whole labels, and a mask on text also lets through every shorter token that begins a label. So the
mask here is on tokens, each label in one spelling, and the draw goes only as far as the labels
differ: nearly always one token, where the distribution is exactly ``softmax(log p / T)`` over the
labels' tokens. The rest of a label could not have come out otherwise and is not generated. Where
labels share their first token, the draw takes several tokens and the product is what it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graders.errors import GraderError
from graders.prompt import GraderPrompt
from graders.providers.local_prompt import shared_length

__all__ = ["Choice", "VerdictTokens", "build_verdict_tokens"]

Tokenize = Callable[[str], list[int]]
"""Text to token ids, as plain text: no spelling of a special token becomes that token."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One label: the reply that says it, and the token(s) whose drawing decides for it."""

    label: str
    text: str
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class VerdictTokens:
    """All labels of a prompt.

    ``forced`` are tokens that every reply begins with; they are put behind the prompt, undrawn.
    ``depth`` is the largest number of tokens that a draw takes.
    """

    forced: tuple[int, ...]
    choices: tuple[Choice, ...]

    @property
    def depth(self) -> int:
        """Tokens to draw, at most."""
        return max(len(choice.tokens) for choice in self.choices)

    @property
    def first_tokens(self) -> dict[int, str] | None:
        """First token to label, or ``None`` where one token begins two labels."""
        firsts = {choice.tokens[0]: choice.label for choice in self.choices}
        return firsts if len(firsts) == len(self.choices) else None

    @property
    def grammar(self) -> str:
        """Grammar (GBNF, by token id) that lets through these choices and nothing else."""
        alternatives = (" ".join(f"<[{token}]>" for token in choice.tokens) for choice in self.choices)
        return "root ::= " + " | ".join(alternatives)

    def read(self, tokens: Sequence[int]) -> Choice | None:
        """The choice that begins with what was drawn, or ``None``."""
        return next((c for c in self.choices if tuple(tokens[: len(c.tokens)]) == c.tokens), None)


def build_verdict_tokens(prompt: GraderPrompt, *, lead: str, tokenize: Tokenize) -> VerdictTokens:
    """Tokens of a prompt's labels.

    Parameters
    ----------
    prompt
        Gives labels, channel and spellings.
    lead
        What stands between the prompt and the reply, a blank or nothing; tokenised with the reply.
    tokenize
        The model's tokeniser.

    Raises
    ------
    GraderError
        If the channel needs what a local model lacks, or the labels cannot be told apart.
    """
    spelt = _spell_labels(prompt)
    opening, closing = _json_frame(prompt.text) if prompt.channel == "json" else ("", "")
    frame = tuple(tokenize(lead + opening)) if opening else ()
    lead = "" if opening else lead
    words = {label: (*frame, *tokenize(lead + word)) for label, word in spelt.items()}
    if any(a != b and b[: len(a)] == a for a in words.values() for b in words.values()):
        end = tokenize(closing or "\n")[:1]
        words = {label: (*tokens, *end) for label, tokens in words.items()}
    if len(set(words.values())) < len(words):
        raise GraderError(f"{prompt.title}: labels {list(spelt.values())} have the same tokens; expected others")
    first = next(iter(words.values()))
    n_forced = min(shared_length(first, tokens) for tokens in words.values())
    return VerdictTokens(
        forced=first[:n_forced],
        choices=tuple(
            Choice(label, f"{opening}{spelt[label]}{closing}", _distinct_part(label, words)[n_forced:])
            for label in words
        ),
    )


def _distinct_part(label: str, words: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    own = words[label]
    others = (tokens for other, tokens in words.items() if other != label)
    return own[: 1 + max(shared_length(own, other) for other in others)]


def _spell_labels(prompt: GraderPrompt) -> dict[str, str]:
    if prompt.channel == "tool":
        raise GraderError(f"{prompt.title}: channel 'tool'; expected letter, word, json or logprobs for a local model")
    try:
        return {label: prompt.spoken(label) for label in prompt.scale.labels}
    except KeyError as error:
        raise GraderError(f"{prompt.title}: no letter for {error}; expected one for each label") from error


def _json_frame(text: str) -> tuple[str, str]:
    shown = re.search(r'\{\s*"(\w+)"\s*:', text)
    key = json.dumps(shown[1] if shown else "label")
    return f'{{{key}: "', '"}'
