"""The four regimes, poorest first."""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["REGIMES", "RegimeName"]

RegimeName = Literal["instruction_only", "concepts_only", "related_documents", "full_set"]

REGIMES: tuple[RegimeName, ...] = get_args(RegimeName)
"""In the order of tables: nothing, concepts, the documents that hold them, these among distractors."""
