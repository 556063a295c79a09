"""One verdict out of an item's repeats, by a named rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from calibration_sets.scale import LabelScale
from graders.verdict import Verdict

__all__ = ["AGGREGATIONS", "Aggregate", "Aggregation", "Unscored", "aggregate_verdicts", "label_value"]

Aggregation = Literal["majority", "mean"]
"""``majority``: the most frequent label, a tie is no verdict; ``mean``: the mean of the labels' numbers."""

AGGREGATIONS: tuple[str, ...] = get_args(Aggregation)
"""All of :data:`Aggregation`."""

Unscored = Literal["tied", "grader_failed", "scoring_failed"]
"""Why there is no verdict: labels that are equally frequent, replies none of which is usable, no reply at all."""

_VALUES: Mapping[str, str] = {"NOT_ATTEMPTED": "N", "PARTIAL_ANSWER": "P"}
_NUMBERS: Mapping[str, float] = {"C": 1.0, "P": 0.5, "N": 0.0, "I": 0.0}


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An item's verdict: a value xor the reason why it has none.

    Attributes
    ----------
    value
        ``C``, ``P``, ``N`` or ``I``; a number of the scale, or the mean of numbers from 0 to 1.
    unscored
        Why there is no value.
    label
        The most frequent label, under ``majority``.
    tied
        The labels that share the first place, where there are several.
    counts
        Label to usable verdicts, only labels that occur, in the order of the scale.
    failures
        Reason to verdicts without a label, only reasons that occur.
    """

    value: str | float | None
    unscored: Unscored | None
    label: str | None
    tied: tuple[str, ...]
    counts: Mapping[str, int]
    failures: Mapping[str, int]

    def __post_init__(self) -> None:
        if (self.value is None) == (self.unscored is None):
            raise ValueError(f"aggregate: value {self.value!r} and {self.unscored!r}; expected exactly one of them")


def aggregate_verdicts(verdicts: Sequence[Verdict], scale: LabelScale, rule: Aggregation) -> Aggregate:
    """The verdict that an item's repeats amount to; failures are counted and never weigh.

    Parameters
    ----------
    verdicts
        Of one item and grader, one a repeat.
    scale
        Their labels; a scale with a label for right, or of numbers.
    rule
        How they become one.

    Raises
    ------
    ValueError
        If the scale has neither a label for right nor numbers.
    """
    said = Counter(verdict.label for verdict in verdicts if verdict.label is not None)
    counts = {label: said[label] for label in scale.labels if said[label]}
    failures = dict(sorted(Counter(str(one.failure) for one in verdicts if one.label is None).items()))
    if not counts:
        unscored: Unscored = "scoring_failed" if failures.keys() <= {"not_answered"} else "grader_failed"
        return Aggregate(None, unscored, None, (), counts, failures)
    first = tuple(label for label, n in counts.items() if n == max(counts.values()))
    tied = first if len(first) > 1 else ()
    if rule == "mean":
        total = sum(n * _number(label_value(label, scale)) for label, n in counts.items())
        return Aggregate(total / said.total(), None, None, tied, counts, failures)
    if tied:
        return Aggregate(None, "tied", None, tied, counts, failures)
    return Aggregate(label_value(first[0], scale), None, first[0], (), counts, failures)


def label_value(label: str, scale: LabelScale) -> str | float:
    """What a label is worth: ``C`` for right, ``P`` partly, ``N`` not attempted, ``I`` otherwise; or its number.

    Raises
    ------
    ValueError
        If the scale has neither a label for right nor numbers.
    """
    if scale.positive is not None:
        return "C" if label == scale.positive else _VALUES.get(label, "I")
    if scale.values is not None:
        return scale.values[scale.index(label)]
    raise ValueError(f"scale {scale.name!r}: neither a label for right nor numbers; expected one of them")


def _number(value: str | float) -> float:
    return _NUMBERS[value] if isinstance(value, str) else value
