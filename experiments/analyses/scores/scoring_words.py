"""Scores, differences and p-values as a page shows them."""

from __future__ import annotations

from experiments.analyses.scores.score_table import is_starred
from experiments.reports.figures import DASH, NOT_DEFINED, percent
from experiments.stats.estimate import Difference, Estimate

__all__ = [
    "SCORE_NOUNS",
    "SCORE_WORDS",
    "difference_text",
    "p_text",
    "plain_interval",
    "reason_text",
    "score_text",
    "share_text",
    "value_text",
]

SCORE_WORDS = {
    "correct": "correct",
    "incorrect": "incorrect",
    "not_attempted": "not attempted",
    "attempted": "attempted",
    "accuracy_given_attempted": "accuracy given attempted",
    "f1": "F1",
    "accuracy": "accuracy",
    "index": "index",
    "penalised": "penalised",
}
"""Names of the scores in words."""

SCORE_NOUNS = SCORE_WORDS | {
    "correct": "share of correct answers",
    "incorrect": "share of incorrect answers",
    "not_attempted": "share not attempted",
    "attempted": "share attempted",
    "penalised": "penalised score",
}
"""The same inside a sentence, after ``the corrected``."""

_OWN_UNITS = {"index": 1.0}
"""Scores that are not shown in percent, and what they are multiplied by."""


def value_text(name: str, value: float | None) -> str:
    """A score's value: in percent, the index as it is."""
    if value is None:
        return NOT_DEFINED
    if name in _OWN_UNITS or value < 0:
        return f"{_scaled(name, value):.1f}" + ("" if name in _OWN_UNITS else "%")
    return percent(value)


def score_text(name: str, estimate: Estimate | None) -> str:
    """``45.2% [43.0, 47.4]``; a dash where there is no such score."""
    if estimate is None:
        return DASH
    shown = value_text(name, estimate.value)
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return shown
    return f"{shown} {plain_interval(name, estimate.low, estimate.high)}"


def plain_interval(name: str, low: float, high: float) -> str:
    """``[43.0, 47.4]``."""
    return f"[{_scaled(name, low):.1f}, {_scaled(name, high):.1f}]"


def difference_text(name: str, difference: Difference | None, *, star: bool = False) -> str:
    """``+2.3 [0.4, 4.2]*`` in points, with a star where the raw p-value is below .05."""
    if difference is None or difference.estimate.value is None:
        return DASH
    estimate = difference.estimate
    value = _scaled(name, difference.estimate.value)
    interval = (
        ""
        if estimate.low is None or estimate.high is None
        else (f" {plain_interval(name, estimate.low, estimate.high)}")
    )
    return f"{value:+.1f}{interval}{'*' if star and is_starred(difference) else ''}"


def reason_text(reason: str) -> str:
    """Why there is no correction, without the word that the page has said already."""
    return reason.removeprefix("uncorrected: ")


def p_text(p_value: float | None) -> str:
    """``0.031``; ``<0.001`` below that."""
    if p_value is None:
        return DASH
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"


def share_text(share: float | None) -> str:
    """A share of something in whole percent; a dash where it is not known."""
    return DASH if share is None else f"{100 * share:.0f}%"


def _scaled(name: str, value: float) -> float:
    return value * _OWN_UNITS.get(name, 100.0)
