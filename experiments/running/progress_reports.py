"""What a run tells of its progress, whoever wants to know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["Progress", "SilentProgress"]


class Progress(Protocol):
    """Who wants to know how far a run is."""

    def start(self, title: str, n_pending: int) -> None:
        """A grader begins, or several that are asked together; so many answers are to come."""
        ...

    def advance(self, n: int, *, failures: int, cost: float | None) -> None:
        """So many more answers are in the store, some of them failures.

        ``cost`` is what those at work have cost in this run so far, in dollars and at least; ``None``
        where no price is known.
        """
        ...

    def pass_over(self, n: int) -> None:
        """So many of the answers to come are those of other workers, who have them or have claimed them."""
        ...

    def wait(self, title: str, holders: Sequence[str] = ()) -> None:
        """Others are at work with this in this store, and the run waits for them; ``holders`` are their names."""
        ...


class SilentProgress:
    """Tells nobody."""

    def start(self, title: str, n_pending: int) -> None:
        """Do nothing."""

    def advance(self, n: int, *, failures: int, cost: float | None) -> None:
        """Do nothing."""

    def pass_over(self, n: int) -> None:
        """Do nothing."""

    def wait(self, title: str, holders: Sequence[str] = ()) -> None:
        """Do nothing."""
