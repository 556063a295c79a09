"""What is known of graders on scales where no label counts as right: errors of scores, or agreement with people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.reports.figures import coefficient_text, rate_text, signed_text
from experiments.reports.label_words import label_words

__all__ = ["rubric_sentence"]

Fields = Mapping[str, Any]

MOST = 3
"""Graders that are told in one sentence."""


def rubric_sentence(named: Sequence[tuple[str, Fields]], about: Fields) -> str:
    """Errors of scores, or agreement, of one grader or of the nearest to people's labels among several.

    Parameters
    ----------
    named
        Names and fields of the report's graders, one or more.
    about
        The report's fields of their set.
    """
    told = "; ".join(f"{name}: {_grader_text(grader, about)}" for name, grader in sorted(named, key=_place)[:MOST])
    if len(named) == 1:
        return f"{told}."
    why = f"as no label counts as right on the scale {about['scale']['name']}"
    if about["scale"]["positive"] is not None:
        why = "as its labels are scores"
    order = "The nearest first" if len(named) <= MOST else f"The {MOST} nearest"
    return f"No choice is made between these {len(named):,} graders, {why}. {order}: {told}."


def _place(named: tuple[str, Fields]) -> tuple[bool, float, str]:
    """Nearest first; those of which nothing is known last."""
    name, grader = named
    scores = grader["score_errors"]
    value = scores["mean_absolute_error"]["value"] if scores else grader["agreement"]["raw"]["value"]
    return value is None, 0.0 if value is None else value if scores else -value, name


def _grader_text(grader: Fields, about: Fields) -> str:
    words, agreement = label_words(about), grader["agreement"]
    why = words.retold(grader["not_defined"].get("agreement.cohen_kappa"))
    agrees = f"agreement with {words.giver} {rate_text(agreement['raw'])}"
    weighted = "" if about["scale"]["level"] == "nominal" else "weighted "
    kappa = f"{weighted}kappa {coefficient_text(agreement['cohen_kappa'], why)}"
    if grader["score_errors"]:
        return f"{_score_text(grader['score_errors'])}, {agrees}, {kappa}"
    if grader["label_sets"]:
        return f"{agrees}, alpha of sets (MASI distance) {coefficient_text(grader['label_sets']['alpha_masi'])}"
    return f"{agrees}, {kappa}"


def _score_text(scores: Fields) -> str:
    missing = scores["bounds"]["mean_absolute_error"]
    left_open = f" ({missing[0]:.3f} to {missing[1]:.3f} by what is missing)" if missing else ""
    return (
        f"mean absolute error {coefficient_text(scores['mean_absolute_error'])}{left_open}, "
        f"mean error (bias) {signed_text(scores['bias'])}"
    )
