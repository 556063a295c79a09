"""The rates by which graders are summed up: refused and passed wrongly, graded too low and too high, or agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.reports.label_words import LabelWords

__all__ = ["AGREEMENT_RATE", "SCORE_RATES", "SummaryRates", "summary_rates"]

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SummaryRates:
    """What they are called, and where they stand in the fields of a grader or of a part of its items."""

    names: tuple[str, ...]
    fields: tuple[str, ...]
    group: str | None = None

    def of(self, fields: Fields) -> tuple[Fields, ...]:
        """The estimates."""
        place = fields if self.group is None else fields[self.group]
        return tuple(place[name] for name in self.fields)

    def meaning(self, words: LabelWords, positive: str | None) -> str:
        """What they are, in a few sentences."""
        drawn = "Rates are single-draw rates: the mean over items of the share of an item's valid verdicts that are"
        if self is AGREEMENT_RATE:
            return (
                f"{drawn} {words.givers} label. No label counts as right on this scale, so there are no false "
                "negatives and positives."
            )
        if self is SCORE_RATES:
            return f"{drawn} wrong. Under-graded: scores below {words.givers}. Over-graded: scores above."
        return (
            f"{drawn} wrong. False negatives: {words.giver} said {positive}, the grader did not. False positives: "
            f"{words.giver} said anything else, the grader said {positive}."
        )


ERROR_RATES = SummaryRates(("false negatives", "false positives"), ("false_negative_rate", "false_positive_rate"))
SCORE_RATES = SummaryRates(("under-graded", "over-graded"), ("under_grading", "over_grading"), "score_errors")
"""What a summary shows of scores."""
"""Of scales of numbers."""
AGREEMENT_RATE = SummaryRates(("agreement",), ("raw",), "agreement")
"""Of other scales without a label that counts as right."""
"""What a summary shows where no label counts as right."""


def summary_rates(parts: Sequence[Fields], *, positive: str | None) -> SummaryRates:
    """The rates of all these graders or parts: those of scores where each has them.

    Parameters
    ----------
    parts
        Fields of graders, or of parts of one's items.
    positive
        The label that counts as right, if the scale has one.
    """
    if parts and all(part.get("score_errors") for part in parts):
        return SCORE_RATES
    return AGREEMENT_RATE if positive is None else ERROR_RATES
