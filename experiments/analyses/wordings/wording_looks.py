"""A comparison of wordings that may be looked at while it runs: questions in a random order, limits for all looks.

The order of the questions is a digest of their names, fixed before anything is asked. What is looked at are the
questions up to the first one for which something is still to be asked, so that no answer can decide which questions
count. Each check of the rule has a confidence sequence (:mod:`experiments.stats.comparisons.anytime`), and the rule is
applied to the wordings by Holm's procedure, as in ``wording_comparison``. Where something is
missing for good, each check has a second sequence, with all that is missing against the wording, and must pass in both.

A question counts in the average over models where all of them have it under both wordings, since a sequence needs one
number a question. A comparison of a fixed size averages the effects of the models, each on its own questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.wordings.wording_grid import QuestionTable, WordingGrid
from experiments.stats.comparisons.anytime import confidence_sequence, first_look_above, question_means, random_order
from experiments.stats.comparisons.multiplicity import adjust_p_values
from experiments.stats.comparisons.wording_rule import RuleCheck, WordingRule
from experiments.stats.estimate import Difference

__all__ = ["LookedAt", "LookedWording", "WordingLook", "look_at"]


@dataclass(frozen=True, slots=True)
class WordingLook:
    """One check of the rule at the last look.

    ``difference`` has the limits of the rule's own level; ``adjusted`` is its p-value adjusted for the number of
    wordings. ``check`` is made at the wording's level in Holm's procedure. ``first_look`` counts the questions of the
    order after which the check had passed, ``None`` where it has not.
    """

    check: RuleCheck
    difference: Difference
    adjusted: float | None
    first_look: int | None


@dataclass(frozen=True, slots=True)
class LookedWording:
    """A wording at the last look: its checks, and whether all have passed at ``level``.

    ``worst`` are the checks with all that is missing against it, empty where nothing is missing.
    """

    wording: str
    adopted: bool
    level: float
    checks: tuple[WordingLook, ...]
    worst: tuple[RuleCheck, ...]


@dataclass(frozen=True, slots=True)
class LookedAt:
    """Questions looked at and questions of the run, and one result a wording other than the control."""

    n_seen: int
    n_questions: int
    wordings: tuple[LookedWording, ...]


@dataclass(frozen=True, slots=True)
class _Sequence:
    """Numbers of the questions that a check is about, and the place of each in the order."""

    quantity: str
    model: str | None
    values: NDArray[np.float64]
    places: tuple[int, ...]
    span: tuple[float, float]
    required: float


def look_at(
    grid: WordingGrid, rule: WordingRule, control: str, *, ignorable: bool = False
) -> tuple[LookedAt, WordingGrid]:
    """Look at the questions in the order, up to the first that is still to be asked; and the grid of these.

    ``ignorable``: what is missing is like the rest, and its worst case decides nothing.
    """
    order = random_order(grid.clusters)
    seen = next((place for place, question in enumerate(order) if question in grid.pending), len(order))
    kept = grid.take(frozenset(order[:seen]))
    others = [wording for wording in grid.facts.wordings if wording != control]
    seen_order = order[:seen]
    sequences = {one: _sequences(kept, rule, one, control, seen_order, worst=False) for one in others}
    worst = {
        one: _sequences(kept, rule, one, control, seen_order, worst=True) if kept.pairs(one, control).missing else ()
        for one in others
    }
    binding = sequences if ignorable else {one: (*sequences[one], *worst[one]) for one in others}
    levels = _levels(binding, rule.level)
    adjusted = _adjusted(sequences, rule)
    wordings = tuple(
        LookedWording(
            wording,
            all(_first(one, levels[wording]) is not None for one in binding[wording]),
            levels[wording],
            _looks(sequences[wording], rule.level, levels[wording], adjusted[wording]),
            tuple(_check(one, levels[wording]) for one in worst[wording]),
        )
        for wording in others
    )
    return LookedAt(seen, len(order), wordings), kept


def _sequences(
    grid: WordingGrid, rule: WordingRule, wording: str, control: str, order: Sequence[str], *, worst: bool
) -> tuple[_Sequence, ...]:
    found = []
    for quantity, required in {rule.raises: rule.least, **{name: -keep for name, keep in rule.keeps.items()}}.items():
        table = grid.table(wording, control, quantity, worst=worst)
        if table is None:
            raise ValueError(f"{quantity}: no mean of the questions; expected one that check_wording_rule lets pass")
        columns: list[tuple[str | None, NDArray[np.float64]]] = [(None, _average(table))]
        if rule.scope == "every-model" and table.values.shape[1]:
            models = grid.shared(wording, control)
            columns = [(model, table.values[:, place]) for place, model in enumerate(models)]
        found += [_sequence(quantity, model, values, table, order, required) for model, values in columns]
    return tuple(found)


def _average(table: QuestionTable) -> NDArray[np.float64]:
    """(n,) average over the models of the items that all of them have; NaN elsewhere."""
    if not table.values.shape[1]:
        return np.full(len(table.clusters), np.nan)
    return np.asarray(table.values.mean(axis=1), dtype=np.float64)


def _sequence(
    quantity: str,
    model: str | None,
    values: NDArray[np.float64],
    table: QuestionTable,
    order: Sequence[str],
    required: float,
) -> _Sequence:
    known = {question for question, value in zip(table.clusters, values.tolist(), strict=True) if not np.isnan(value)}
    places = tuple(place for place, question in enumerate(order, start=1) if question in known)
    low, high = table.span
    means = np.clip(question_means(values, table.clusters, order), low, high)
    return _Sequence(quantity, model, means, places, table.span, required)


def _levels(sequences: dict[str, tuple[_Sequence, ...]], level: float) -> dict[str, float]:
    """The level of the last step of Holm's procedure that each wording was held to."""
    levels: dict[str, float] = {}
    left = list(sequences)
    while left:
        step = 1 - (1 - level) / len(left)
        levels.update(dict.fromkeys(left, step))
        passed = {one for one in left if all(_first(sequence, step) is not None for sequence in sequences[one])}
        left = [one for one in left if one not in passed] if passed else []
    return levels


def _first(sequence: _Sequence, level: float) -> int | None:
    """Questions of the order after which the check had passed."""
    found = first_look_above(sequence.values, sequence.required, span=sequence.span, level=level)
    return None if found is None else sequence.places[found - 1]


def _adjusted(sequences: dict[str, tuple[_Sequence, ...]], rule: WordingRule) -> dict[str, list[float | None]]:
    """P-values of no difference, check by check, adjusted over the wordings."""
    raw = {
        wording: [confidence_sequence(one.values, span=one.span, level=rule.level).p_value for one in own]
        for wording, own in sequences.items()
    }
    keys = {wording: [(one.quantity, one.model) for one in own] for wording, own in sequences.items()}
    found: dict[str, list[float | None]] = {wording: [None] * len(values) for wording, values in raw.items()}
    for key in dict.fromkeys(key for own in keys.values() for key in own):
        at = [(wording, own.index(key)) for wording, own in keys.items() if key in own]
        rows = adjust_p_values([raw[wording][place] for wording, place in at], level=rule.level).rows
        for (wording, place), row in zip(at, rows, strict=True):
            found[wording][place] = row.adjusted
    return found


def _looks(
    sequences: Sequence[_Sequence], level: float, own_level: float, adjusted: Sequence[float | None]
) -> tuple[WordingLook, ...]:
    return tuple(
        WordingLook(
            _check(sequence, own_level),
            confidence_sequence(sequence.values, span=sequence.span, level=level),
            p_value,
            _first(sequence, own_level),
        )
        for sequence, p_value in zip(sequences, adjusted, strict=True)
    )


def _check(sequence: _Sequence, level: float) -> RuleCheck:
    held = confidence_sequence(sequence.values, span=sequence.span, level=level).estimate
    passed = _first(sequence, level) is not None
    return RuleCheck(sequence.quantity, sequence.model, held.value, held.low, sequence.required, passed)
