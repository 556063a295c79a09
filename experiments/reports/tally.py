"""Counts of verdicts with people's labels: all that most statistics need, wherever the verdicts are kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from calibration_sets.scale import LabelScale

__all__ = ["Tally"]


class Tally(ABC):
    """A grader's verdicts on n items, counted.

    Attributes
    ----------
    scale
        The L labels.
    reference
        (n,) people's label, ``None`` where they have none in common.
    counts
        (n, L) valid verdicts with each label.
    expected
        Verdicts asked for of each item.
    """

    scale: LabelScale
    reference: Sequence[str | None]
    counts: NDArray[np.int64]
    expected: int

    @property
    @abstractmethod
    def clusters(self) -> Sequence[Hashable]:
        """(n,) the question of each item."""

    @property
    @abstractmethod
    def failure_counts(self) -> Mapping[str, int]:
        """Reason to number of verdicts without a label, only reasons that occur, by their names."""

    @abstractmethod
    def take(self, keep: Sequence[bool]) -> Self:
        """The items whose flag is set."""

    @property
    def n_items(self) -> int:
        """Items, with and without people's label."""
        return len(self.counts)

    @property
    def n_expected(self) -> int:
        """Verdicts asked for."""
        return self.expected * self.n_items

    @cached_property
    def n_verdicts(self) -> int:
        """Verdicts with a label."""
        return int(self.counts.sum())

    @property
    def coverage(self) -> float | None:
        """Valid verdicts as a share of those asked for; ``None`` without items."""
        return self.n_verdicts / self.n_expected if self.n_expected else None

    @cached_property
    def valid(self) -> NDArray[np.int64]:
        """(n,) valid verdicts of each item."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.int64)

    @cached_property
    def most_repeats(self) -> int:
        """The most valid verdicts that any item has."""
        return int(self.valid.max(initial=0))

    @cached_property
    def labelled(self) -> Self:
        """The items with people's label."""
        return self.take([label is not None for label in self.reference])

    @cached_property
    def labels_given(self) -> Sequence[str]:
        """People's labels where every item has one; raises ``ValueError`` otherwise."""
        given = [label for label in self.reference if label is not None]
        if len(given) != self.n_items:
            raise ValueError(f"sample: {self.n_items - len(given)} items without a label; expected none")
        return given
