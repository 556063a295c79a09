"""The protocol that every provider fills."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from calibration_sets.item import Item
from calibration_sets.scale import LabelScale
from graders.prompt import GraderPrompt
from graders.sampling import Sampling
from graders.verdict import CallFailure, Completion

__all__ = ["Answer", "Draining", "ModelClient", "Request"]


@dataclass(frozen=True, slots=True)
class Request:
    """Verdicts to be asked for: an item, and which of its repeats, ascending."""

    item: Item
    repeats: tuple[int, ...]
    prompt: GraderPrompt | None
    sampling: Sampling
    scale: LabelScale


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one repeat of one item.

    ``failed_attempts`` are the calls that went wrong before this outcome, oldest first; a call for
    several repeats counts once, at the first of them.
    """

    item_digest: str
    repeat: int
    outcome: Completion | CallFailure
    failed_attempts: tuple[CallFailure, ...] = ()


class ModelClient(Protocol):
    """Answers requests.

    Requests are taken one by one, when there is room for another, so that whoever gives them can
    stop giving. Each repeat of each request taken gets exactly one answer, in any order, as early
    as it is there, together with others that are there: the caller makes them durable before it
    takes the next. What a person must fix (missing package, unknown model, wrong key, no quota) is
    raised, after the answers to what was in flight; a call that went wrong is a ``CallFailure``.
    """

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        """Answer every repeat of every request once."""
        ...

    def __enter__(self) -> Self:
        """Take what the client needs: a connection, a loaded model."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Give it back, also after an interruption."""
        ...


@runtime_checkable
class Draining(Protocol):
    """A client that makes calls again by itself, and can be told not to."""

    def drain(self) -> None:
        """Make no more calls; answers to those under way still come. From any thread, also inside a signal handler."""
        ...
