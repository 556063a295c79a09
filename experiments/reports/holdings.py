"""What a store holds of its runs: plain data, counted by somebody else."""

from __future__ import annotations

import math
from dataclasses import dataclass

from graders.pricing import Cost

__all__ = ["GraderHolding", "RunHolding"]


@dataclass(frozen=True, slots=True)
class GraderHolding:
    """A grader of a run: completions that are stored of those it asks for.

    ``cost`` is that of these completions and of the failed calls for them; ``None`` where the model had no price.
    """

    grader_id: str
    model: str
    prompt: str | None
    repeats: int
    n_stored: int
    n_asked: int
    cost: Cost | None


@dataclass(frozen=True, slots=True)
class RunHolding:
    """A run of a store, first ``recorded_at`` (ISO 8601, UTC); ``rules`` are the decisions fixed with it."""

    run_id: str
    experiment: str
    recorded_at: str
    set_name: str
    set_digest: str
    n_items: int
    n_items_in_set: int
    graders: tuple[GraderHolding, ...]
    rules: tuple[str, ...]

    @property
    def n_stored(self) -> int:
        """Completions that are stored, over all graders."""
        return sum(grader.n_stored for grader in self.graders)

    @property
    def n_asked(self) -> int:
        """Completions that are asked for, over all graders."""
        return sum(grader.n_asked for grader in self.graders)

    @property
    def cost(self) -> Cost | None:
        """Of all graders; a lower bound where one of them has no price, ``None`` where none has."""
        known = [grader.cost for grader in self.graders if grader.cost is not None]
        if not known:
            return None
        complete = len(known) == len(self.graders) and all(one.complete for one in known)
        return Cost(math.fsum(one.amount for one in known), complete)
