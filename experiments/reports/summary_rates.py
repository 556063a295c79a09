"""The two error rates by which graders are summed up: refused and passed wrongly, or graded too low and too high."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.reports.label_words import LabelWords

__all__ = ["SummaryRates", "summary_rates"]

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SummaryRates:
    """What both are called, and where they stand in the fields of a grader or of a part of its items."""

    names: tuple[str, str]
    fields: tuple[str, str]
    group: str | None = None

    def of(self, fields: Fields) -> tuple[Fields, Fields]:
        """Both estimates."""
        place = fields if self.group is None else fields[self.group]
        return place[self.fields[0]], place[self.fields[1]]

    def meaning(self, words: LabelWords, positive: str | None) -> str:
        """What the two are, in a sentence or two."""
        if self.group is not None:
            return f"Under-graded: scores below {words.givers}. Over-graded: scores above."
        right = positive or "the label that counts as right"
        return (
            f"False negatives: {words.giver} said {right}, the grader did not. False positives: {words.giver} said "
            f"anything else, the grader said {right}."
        )


ERROR_RATES = SummaryRates(("false negatives", "false positives"), ("false_negative_rate", "false_positive_rate"))
SCORE_RATES = SummaryRates(("under-graded", "over-graded"), ("under_grading", "over_grading"), "score_errors")


def summary_rates(parts: Sequence[Fields]) -> SummaryRates:
    """The rates of all these graders or parts: those of scores where each has them."""
    return SCORE_RATES if parts and all(part.get("score_errors") for part in parts) else ERROR_RATES
