"""The distribution of verdicts that repeated draws would show, computed from the log-probabilities of one reply.

At temperature T a label is drawn with a probability proportional to ``exp(logprob / T)``. The
distribution is conditional on a valid verdict; how much of a free draw would fall on other tokens is
bounded, not ignored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from calibration_sets.scale import LabelScale
from graders.verdict import Completion, Failure

__all__ = ["VerdictDistribution", "compute_distribution"]

MOST_MOVED = 0.005
"""A label that was not listed may move no label's share by more than this, or there is no distribution."""

_LARGEST_VOCABULARY = 300_000
"""Tokens of the largest vocabularies in use, where a service does not say how many it has."""

_NOT_KNOWN = -9000.0
"""Below this a log-probability is a service's way to say that a token was masked."""

_REFUSED = frozenset({"refusal", "content_filter"})


@dataclass(frozen=True, slots=True)
class VerdictDistribution:
    """One grader's verdicts on one item, as chances of the labels, or the reason why there are none.

    ``outside`` bounds the mass that a draw at this temperature would put outside the labels;
    0 where decoding is held to them.
    """

    item_digest: str
    probabilities: Mapping[str, float] | None
    failure: Failure | None = None
    outside: float | None = None
    detail: str = ""

    def __post_init__(self) -> None:
        if (self.probabilities is None) == (self.failure is None):
            raise ValueError("distribution: expected probabilities or a failure, exactly one of them")


def compute_distribution(
    item_digest: str, completion: Completion, scale: LabelScale, temperature: float
) -> VerdictDistribution:
    """The distribution of the labels at a temperature.

    Parameters
    ----------
    item_digest
        What was judged.
    completion
        With natural-log probabilities of the labels, before temperature.
    scale
        The labels; one that was not listed counts as impossible, if the listed ones show that it
        nearly is, and else there is no distribution.
    temperature
        Above 0.
    """
    if completion.stop_reason in _REFUSED:
        return VerdictDistribution(item_digest, None, "refused", detail=f"stop reason {completion.stop_reason}")
    given = {label: value for label, value in (completion.label_logprobs or {}).items() if label in scale}
    if not given or any(math.isnan(value) or value > 1e-6 for value in given.values()):
        return VerdictDistribution(item_digest, None, "unparsed", detail="log-probabilities: none were given")
    others = [value for value in completion.other_logprobs if value > _NOT_KNOWN]
    highest = max(given.values())
    if highest <= _NOT_KNOWN:
        return VerdictDistribution(item_digest, None, "unparsed", detail="log-probabilities: no label is possible")
    weights = {label: _weight(given.get(label), highest, temperature) for label in scale.labels}
    total = math.fsum(weights.values())
    n_missing = len(scale.labels) - len(given)
    smallest = min(value for value in (*given.values(), *others) if value > _NOT_KNOWN)
    unlisted = _weight(smallest, highest, temperature)
    if n_missing and n_missing * unlisted > MOST_MOVED * (total + n_missing * unlisted):
        told = f"log-probabilities: too few alternatives, {n_missing} labels are not among them"
        return VerdictDistribution(item_digest, None, "unparsed", detail=told)
    return VerdictDistribution(
        item_digest,
        {label: weight / total for label, weight in weights.items()},
        outside=_outside_bound(completion, given, others, highest, temperature, total),
    )


def _weight(logprob: float | None, highest: float, temperature: float) -> float:
    return 0.0 if logprob is None else math.exp((logprob - highest) / temperature)


def _outside_bound(
    completion: Completion,
    given: Mapping[str, float],
    others: list[float],
    highest: float,
    temperature: float,
    total: float,
) -> float:
    """Most of a draw's mass that tokens which are no label can have.

    Listed ones are known. The rest have what is left of the probability, m, over K tokens; at T of
    1 or more ``p ** (1 / T)`` is concave, so that their weights add up to at most
    ``K * (m / K) ** (1 / T)``; below 1 it is convex, and one token with all of m is the worst.
    """
    effective = completion.effective_sampling
    if effective.get("constrained") is True:
        return 0.0
    listed = math.fsum(_weight(value, highest, temperature) for value in others)
    left = max(0.0, 1.0 - math.fsum(math.exp(value) for value in (*given.values(), *others)))
    vocabulary = effective.get("vocabulary")
    size = vocabulary if isinstance(vocabulary, int) and vocabulary > 0 else _LARGEST_VOCABULARY
    n_rest = max(1, size - len(given) - len(others))
    spread = n_rest if temperature >= 1 else 1
    rest = spread * math.exp((math.log(left / spread) - highest) / temperature) if left > 0 else 0.0
    return (listed + rest) / (total + listed + rest)
