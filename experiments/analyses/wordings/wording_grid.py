"""Wordings x models: what a comparison of wordings is built from, whether they are a grader's or an answerer's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from experiments.stats.comparisons.wording_effects import WordingEffects
from experiments.stats.estimate import Estimate

__all__ = ["Bounds", "QuestionTable", "WordingCell", "WordingFacts", "WordingGrid", "WordingPairs", "complement"]

Bounds = tuple[float, float] | None
"""Lowest and highest value that what is missing allows; ``None`` where nothing is missing or nothing is defined."""


@dataclass(frozen=True, slots=True)
class WordingCell:
    """One wording in one model.

    Attributes
    ----------
    wording, model
        What stands in the tables.
    quantities, bounds
        By the quantity's name, more being better where it is one.
    expected, valid
        Verdicts asked for and verdicts with a label; of an answerer: questions asked, and those with a class.
    failures
        Reason to number of what is missing.
    """

    wording: str
    model: str
    quantities: Mapping[str, Estimate]
    bounds: Mapping[str, Bounds]
    expected: int
    valid: int
    failures: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WordingFacts:
    """What a page says of a comparison before any number.

    Attributes
    ----------
    run_id
        The run.
    kind
        Whose wordings they are.
    about
        What holds the cells together: the rubric of the labels, or the grader of the responses.
    wordings, models
        In the order of the experiment.
    quantities
        Names of what is measured.
    n_items, n_questions
        Items and questions, the question being what statistics count.
    notes
        What a reader should know.
    corrected_by
        The labelled items by which scores are corrected for the grader's errors; ``None`` where they are as graded.
    """

    run_id: str
    kind: Literal["grader", "answer"]
    about: str
    wordings: tuple[str, ...]
    models: tuple[str, ...]
    quantities: tuple[str, ...]
    n_items: int
    n_questions: int
    notes: tuple[str, ...]
    corrected_by: str | None = None


@dataclass(frozen=True, slots=True)
class WordingPairs:
    """What a wording and the control have in common.

    Attributes
    ----------
    compared
        Model to the items, or question rows, that have a number under both.
    asked
        Those that were asked in each model.
    missing
        Verdicts, or answers, that are missing under either in all models.
    """

    compared: Mapping[str, int]
    asked: int
    missing: int

    @property
    def n_compared(self) -> int:
        """Pairs of all models."""
        return sum(self.compared.values())

    @property
    def n_asked(self) -> int:
        """Pairs that would be there if nothing were missing."""
        return self.asked * len(self.compared)


@dataclass(frozen=True, slots=True)
class QuestionTable:
    """Paired differences of a quantity that is a mean, for a comparison that is looked at while it runs.

    ``values`` (n, K) for each item and model, NaN where there is none; ``clusters`` (n,) the question of each item;
    ``span`` the ends of a difference.
    """

    values: NDArray[np.float64]
    clusters: tuple[str, ...]
    span: tuple[float, float]


class WordingGrid(Protocol):
    """A grid of wordings and models, on the same questions."""

    @property
    def facts(self) -> WordingFacts:
        """What the page says first."""
        ...

    @property
    def pending(self) -> frozenset[str]:
        """Questions for which something has been asked of nobody yet."""
        ...

    @property
    def clusters(self) -> tuple[str, ...]:
        """(n,) the question of each item."""
        ...

    def cell(self, wording: str, model: str, *, level: float) -> WordingCell | None:
        """A cell; ``None`` where the run has no such pair."""
        ...

    def effects(self, wording: str, control: str, *, level: float, resamples: int) -> Mapping[str, WordingEffects]:
        """Effects of a wording against the control, by quantity, drawn with the same seed each time."""
        ...

    def worst(
        self, wording: str, control: str, quantities: Sequence[str], *, level: float
    ) -> Mapping[str, WordingEffects]:
        """Effects if all that is missing went against the wording, what the control lacks in its favour."""
        ...

    def pairs(self, wording: str, control: str) -> WordingPairs:
        """What there is of both, and what is missing."""
        ...

    def table(self, wording: str, control: str, quantity: str, *, worst: bool = False) -> QuestionTable | None:
        """Its paired differences, as they are or as in ``worst``; ``None`` where it is no mean of the questions."""
        ...

    def shared(self, wording: str, control: str) -> list[str]:
        """Models that have both wordings."""
        ...

    def take(self, questions: frozenset[str]) -> WordingGrid:
        """The grid of some questions alone."""
        ...


def complement(estimate: Estimate) -> Estimate:
    """The share that is left: 1 less an error rate, with its limits turned round."""
    value, low, high = (None if end is None else 1 - end for end in (estimate.value, estimate.high, estimate.low))
    return replace(estimate, value=value, low=low, high=high)
