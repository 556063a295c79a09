"""The Pareto front: graders that no other beats in cost and errors at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["ParetoFront", "ParetoPoint", "pareto_front"]


@dataclass(frozen=True, slots=True)
class ParetoPoint:
    """A grader, and the graders that dominate it: at least as good in all criteria and better in one."""

    name: str
    dominated_by: tuple[str, ...]

    @property
    def on_front(self) -> bool:
        """Whether nothing dominates it."""
        return not self.dominated_by


@dataclass(frozen=True, slots=True)
class ParetoFront:
    """Names on the front and all compared points, in the order given.

    ``unknown`` names graders with a criterion that is not known (such as a cost without a price): they are neither
    on the front nor dominated, and dominate nothing.
    """

    front: tuple[str, ...]
    points: tuple[ParetoPoint, ...]
    unknown: tuple[str, ...]


def pareto_front(
    criteria: Mapping[str, Sequence[float | None]], *, names: Sequence[str], maximise: Collection[str] = ()
) -> ParetoFront:
    """Find the graders that no other dominates.

    Parameters
    ----------
    criteria
        (K,) numbers of each criterion, such as cost and error rates; ``None`` where not known. Less is better
        unless ``maximise`` names the criterion. Differences within the noise count like any other: read the front
        beside the set that is not distinguishable from the best.
    names
        (K,) the graders.
    maximise
        Criteria of which more is better.

    Returns
    -------
    ParetoFront
        Graders equal in all criteria do not dominate each other.

    Raises
    ------
    ValueError
        No criterion, lengths that differ, names that are not distinct, a number that is not finite, an unknown
        criterion in ``maximise``.
    """
    _check(criteria, names, maximise)
    known = [place for place in range(len(names)) if all(values[place] is not None for values in criteria.values())]
    table = np.array(
        [[_cost(values[place], name in maximise) for name, values in criteria.items()] for place in known]
    ).reshape(len(known), len(criteria))
    no_worse = (table[:, None, :] <= table[None, :, :]).all(axis=2)
    better = (table[:, None, :] < table[None, :, :]).any(axis=2)
    dominates = np.asarray(no_worse & better)
    points = tuple(
        ParetoPoint(names[place], tuple(names[known[other]] for other in np.flatnonzero(dominates[:, column])))
        for column, place in enumerate(known)
    )
    unknown = tuple(name for place, name in enumerate(names) if place not in known)
    return ParetoFront(tuple(point.name for point in points if point.on_front), points, unknown)


def _cost(value: float | None, more_is_better: bool) -> float:
    number = np.nan if value is None else float(value)
    return -number if more_is_better else number


def _check(criteria: Mapping[str, Sequence[float | None]], names: Sequence[str], maximise: Collection[str]) -> None:
    if not criteria:
        raise ValueError("criteria: none, got {}; expected one or more")
    if len(set(names)) != len(names):
        raise ValueError(f"names: a name stands twice, got {list(names)}; expected distinct names")
    strangers = [name for name in maximise if name not in criteria]
    if strangers:
        raise ValueError(f"maximise: unknown criterion, got {strangers[0]!r}; expected one of {list(criteria)}")
    for name, values in criteria.items():
        if len(values) != len(names):
            raise ValueError(f"criteria[{name!r}]: wrong length, got {len(values)}; expected {len(names)}")
        strange = [value for value in values if value is not None and not np.isfinite(value)]
        if strange:
            raise ValueError(f"criteria[{name!r}]: not a number, got {strange[0]}; expected finite numbers or None")
