"""Questions of a benchmark, before anybody has answered them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from calibration_sets.references.reference import Reference

__all__ = ["Question"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its reference.

    ``original_index`` is the row of the benchmark that this one was drawn from, counted from 0;
    it says where a question came from, not that the two still have the same text or answer.
    """

    question_id: str
    question: str
    reference: Reference
    topic: str | None = None
    answer_type: str | None = None
    urls: tuple[str, ...] = ()
    original_index: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, compare=False)
