"""The form in which a verdict is asked for and comes back, whatever the service.

The labels are spoken as the prompt speaks them (a letter, a word, or the label itself); the channel
says what they are wrapped in.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graders.client import Request
from graders.errors import GraderError

__all__ = ["TOOL_NAME", "ListedLogprobs", "read_listed_logprobs", "spoken_labels", "verdict_schema"]

TOOL_NAME = "give_verdict"
"""Name of the tool by which a model gives its verdict."""


@dataclass(frozen=True, slots=True)
class ListedLogprobs:
    """Natural-log probabilities of the labels that were listed, and of the listed tokens that are none."""

    labels: Mapping[str, float]
    others: tuple[float, ...]


def spoken_labels(request: Request) -> Mapping[str, str]:
    """Label to what the model is to say for it, in the order of the scale.

    Raises
    ------
    GraderError
        If the request has no prompt.
    """
    if request.prompt is None:
        raise GraderError("grader prompt: none; expected one, a model has to be told what to judge")
    return {label: request.prompt.spoken(label) for label in request.prompt.scale.labels}


def verdict_schema(spoken: Sequence[str]) -> dict[str, Any]:
    """A JSON schema for ``{"verdict": ...}`` with one of these strings; strict validators accept it."""
    return {
        "type": "object",
        "properties": {"verdict": {"type": "string", "enum": list(spoken)}},
        "required": ["verdict"],
        "additionalProperties": False,
    }


def read_listed_logprobs(alternatives: Sequence[tuple[str, float]], spoken: Mapping[str, str]) -> ListedLogprobs:
    """Sort the alternatives to a reply's first token into labels and others.

    A token stands for a label if, without white space around it, it is what is said for the label,
    or begins that and no other label's. Spellings of one label (``A``, `` A``) are added up.

    Parameters
    ----------
    alternatives
        Token text and natural-log probability, each token once.
    spoken
        Label to what is said for it.
    """
    found: defaultdict[str, list[float]] = defaultdict(list)
    others = []
    for token, logprob in alternatives:
        label = _label_of(token.strip(), spoken)
        if label is None:
            others.append(logprob)
        else:
            found[label].append(logprob)
    labels = {label: _log_sum(found[label]) for label in spoken if label in found}
    return ListedLogprobs(labels, tuple(others))


def _label_of(token: str, spoken: Mapping[str, str]) -> str | None:
    if not token:
        return None
    whole = [label for label, said in spoken.items() if said == token]
    begun = whole or [label for label, said in spoken.items() if said.startswith(token)]
    return begun[0] if len(begun) == 1 else None


def _log_sum(logprobs: Sequence[float]) -> float:
    highest = max(logprobs)
    if highest == -math.inf:
        return -math.inf
    return highest + math.log(sum(math.exp(value - highest) for value in logprobs))
