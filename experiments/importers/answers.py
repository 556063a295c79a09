"""What every tool's file is read into: responses, and what graders replied about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.importers.account import ImportAccount
from graders.verdict import CallFailure, Completion

__all__ = ["GraderReply", "ImportedAnswer", "ImportedGrader", "ReadFiles"]


@dataclass(frozen=True, slots=True, order=True)
class ImportedGrader:
    """Who graded, as far as the file tells.

    ``name`` is what the tool calls it (a scorer, a kind of assertion), ``template`` a digest of what decides the
    text of its prompts, and empty where the file says nothing of that.
    """

    name: str
    model: str
    template: str = ""

    def title(self, tool: str) -> str:
        """The wording, as reports name one: ``name@tool#digest``."""
        return f"{self.name}@{tool}" + (f"#{self.template[:8]}" if self.template else "")


@dataclass(frozen=True, slots=True)
class GraderReply:
    """One reply of a grader, or the call that brought none.

    ``own`` is the verdict that the tool itself drew from it, in the tool's words; ``None`` where it drew none.
    ``is_judged`` is whether the tool draws a verdict from this one reply at all, so that the two can be compared.
    """

    grader: ImportedGrader
    answer: Completion | CallFailure
    own: str | None = None
    is_judged: bool = True


@dataclass(frozen=True, slots=True)
class ImportedAnswer:
    """One response to one question with its reference, and what graders replied about it.

    ``where`` says which record it was, for the account. ``part`` parts a file whose graders judged different
    things, so that each becomes a run of its own.
    """

    where: str
    item_id: str
    question: str
    reference: str
    response: str
    respondent: str
    replies: Sequence[GraderReply] = ()
    aliases: Sequence[str] = ()
    part: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


ReadFiles = Callable[[Sequence[Path], ImportAccount], Iterator[ImportedAnswer]]
"""Reads files one record at a time; what it cannot map it tells the account."""
