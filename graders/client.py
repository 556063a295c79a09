"""The protocol that every provider fills."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from calibration_sets.item import Item
from calibration_sets.scale import LabelScale
from graders.prompt import GraderPrompt
from graders.sampling import Sampling
from graders.verdict import CallFailure, Completion

__all__ = ["ModelClient", "Request"]


@dataclass(frozen=True, slots=True)
class Request:
    """One verdict to be asked for: an item, and which of its repeats."""

    item: Item
    repeat: int
    prompt: GraderPrompt | None
    sampling: Sampling
    scale: LabelScale


class ModelClient(Protocol):
    """Answers requests.

    Requests of one item come next to one another, repeats in order, so that a client may ask for
    them together. Each request gets exactly one answer, by its position; in any order, as early as
    it is there, because the caller stores it before it takes the next. What a person must fix
    (missing package, unknown model) is raised; a call that went wrong is a ``CallFailure``.
    """

    def complete(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion | CallFailure]]:
        """Answer every request once, as ``(position, answer)``."""
        ...

    def __enter__(self) -> Self:
        """Take what the client needs: a connection, a loaded model."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Give it back, also after an interruption."""
        ...
