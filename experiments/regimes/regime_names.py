"""The four regimes, poorest first."""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["BY_TOOL", "REGIMES", "RegimeName", "regime_of"]

RegimeName = Literal["instruction_only", "concepts_only", "related_documents", "full_set"]
"""What a model is given beside a question."""

REGIMES: tuple[RegimeName, ...] = get_args(RegimeName)
"""In the order of tables: nothing, concepts, the documents that hold them, these among distractors."""

BY_TOOL = "_by_tool"
"""What the name of a prompt ends in whose documents are opened one at a time."""


def regime_of(prompt: str) -> str:
    """The regime of a prompt, by its name or ``name@version``."""
    return prompt.partition("@")[0].removesuffix(BY_TOOL)
