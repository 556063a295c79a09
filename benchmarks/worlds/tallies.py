"""How often something happened over worlds, with its bounds, beside what was promised of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.stats.estimate import Estimate
from experiments.stats.intervals import clustered_wilson, rate_interval

__all__ = ["Tally", "count_events", "count_held", "percent"]


@dataclass(frozen=True, slots=True)
class Tally:
    """A share of worlds, or of intervals clustered by world.

    Attributes
    ----------
    name
        What happened.
    happened, n
        How often, of how many.
    estimate
        The share with its bounds.
    promised
        The most that it may be, or the least where ``at_least``; ``None`` where nothing is promised.
    """

    name: str
    happened: int
    n: int
    estimate: Estimate
    promised: float | None = None
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether what was found does not speak against the promise."""
        if self.promised is None or self.estimate.low is None or self.estimate.high is None:
            return True
        return self.estimate.high >= self.promised if self.at_least else self.estimate.low <= self.promised

    @property
    def share(self) -> str:
        """The share in words."""
        return "—" if self.estimate.value is None else percent(self.estimate.value)

    @property
    def bounds(self) -> str:
        """Its bounds in words."""
        low, high = self.estimate.low, self.estimate.high
        return "—" if low is None or high is None else f"{percent(low)} to {percent(high)}"

    @property
    def cells(self) -> list[str]:
        """Count, share, bounds, promise and whether it holds: columns of a table."""
        promise = "—"
        if self.promised is not None:
            promise = f"{'at least' if self.at_least else 'at most'} {percent(self.promised)}"
        holds = "—" if self.promised is None else "holds" if self.holds else "**does not hold**"
        return [f"{self.happened:,} of {self.n:,}", self.share, self.bounds, promise, holds]

    @property
    def sentence(self) -> str:
        """One line of a summary."""
        count, share, bounds, promise, holds = self.cells
        return f"{self.name}: {share} ({count}, {bounds}); promised {promise}: {holds}."


def count_events(name: str, events: Sequence[bool], *, promised: float | None = None) -> Tally:
    """Events of independent worlds, one each."""
    values = [float(event) for event in events]
    estimate = rate_interval(values, list(range(len(values))), repeats=1, method="clopper-pearson")
    return Tally(name, sum(events), len(events), estimate, promised)


def count_held(name: str, held: Sequence[bool], worlds: Sequence[int], *, promised: float | None = None) -> Tally:
    """Intervals that held the truth, several a world."""
    estimate = clustered_wilson([float(one) for one in held], list(worlds), repeats=1)
    return Tally(name, sum(held), len(held), estimate, promised, at_least=True)


def percent(value: float) -> str:
    """A share as per cent."""
    return f"{100 * value:.1f}%"
