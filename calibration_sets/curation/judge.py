"""Who reads prompts for a curation: any callable from texts to replies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Judge", "NoReply"]


@dataclass(frozen=True, slots=True)
class NoReply:
    """A call that went wrong, and why; it says nothing of what was asked."""

    reason: str

    @property
    def failure(self) -> str:
        """How it is counted."""
        return f"no reply, {self.reason}"


Judge = Callable[[Sequence[str]], Sequence[str | NoReply]]
"""Prompts in, one reply each out, in their order."""
