"""Probabilities of the labels, out of the tokens that a local engine lists with a draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from graders.verdict_form import read_listed_logprobs

__all__ = ["LISTED", "LISTED_APART", "LabelProbabilities", "ListedToken", "listed_tokens", "read_probabilities"]

LISTED = 300
"""Tokens listed with each draw; a label further down costs further requests."""

LISTED_APART = (5_000, 1_000_000)
"""What these list: enough for most, then more than any vocabulary has."""


@dataclass(frozen=True, slots=True)
class ListedToken:
    """A token by number and text, and its natural-log probability over the whole vocabulary, before temperature."""

    number: int
    text: str
    logprob: float


@dataclass(frozen=True, slots=True)
class LabelProbabilities:
    """Natural-log probabilities of the labels, and of the listed tokens that are none."""

    labels: Mapping[str, float] | None = None
    others: tuple[float, ...] = ()

    def labels_only(self) -> Self:
        """Without the others, for replies that could only be labels."""
        return replace(self, others=())


def listed_tokens(child: Mapping[str, Any]) -> Sequence[ListedToken]:
    """The alternatives to a reply's first token, each once."""
    first = child["logprobs"]["content"][0]
    entries = {int(entry["id"]): entry for entry in (first, *first["top_logprobs"])}
    return [
        ListedToken(number, str(entry.get("token", "")), float(entry["logprob"])) for number, entry in entries.items()
    ]


def read_probabilities(
    listed: Sequence[ListedToken], firsts: Mapping[int, str], spoken: Mapping[str, str] | None = None
) -> LabelProbabilities:
    """Sort listed tokens into labels and others.

    Parameters
    ----------
    listed
        Tokens, each once.
    firsts
        Number of a label's first token, to the label.
    spoken
        Label to what is said for it, where other spellings of a label (with or without a blank
        before it) count for it too: where the reply is free, and is read as text.

    Returns
    -------
    LabelProbabilities
        Without labels where one of them is not listed.
    """
    if not firsts.keys() <= {token.number for token in listed}:
        return LabelProbabilities()
    if spoken:
        read = read_listed_logprobs([(token.text, token.logprob) for token in listed], spoken)
        if read.labels.keys() == set(firsts.values()):
            return LabelProbabilities(dict(read.labels), read.others)
    labels = {firsts[token.number]: token.logprob for token in listed if token.number in firsts}
    ordered = {label: labels[label] for label in firsts.values()}
    return LabelProbabilities(ordered, tuple(token.logprob for token in listed if token.number not in firsts))
