"""One constructed item before it has a number."""

from __future__ import annotations

from dataclasses import dataclass

from calibration_sets.probes.fact import Question

__all__ = ["CORRECT", "FIRST_RUBRIC", "INCORRECT", "NOT_ATTEMPTED", "RUBRIC", "Probe"]

CORRECT, INCORRECT, NOT_ATTEMPTED = "CORRECT", "INCORRECT", "NOT_ATTEMPTED"
"""The labels that a probe can hold by construction."""

RUBRIC = "simpleqa_verified@1.0.0"
"""The rubric that every probe has a label under."""

FIRST_RUBRIC = "simpleqa@1.0.0"
"""The older rubric; a probe has a label under it only where its rules decide."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A response to a question, and the labels that follow from how it was made.

    ``first_label`` is the label under :data:`FIRST_RUBRIC`, ``None`` where that does not decide.
    """

    kind: str
    question: Question
    response: str
    label: str
    first_label: str | None
