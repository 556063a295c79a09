"""A comparison of wordings that may be looked at while it runs: questions in a random order, limits for all looks.

The order of the questions is a digest of their names, fixed before anything is asked. What is looked at are the
questions up to the first one for which something is still to be asked, so that no answer can decide which questions
count. Each check of the rule has a confidence sequence (:mod:`experiments.stats.comparisons.anytime`), and the rule is
applied to the wordings by Holm's procedure, as in :mod:`experiments.analyses.wording_comparison`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.wording_grid import QuestionTable, WordingGrid
from experiments.errors import SpecError
from experiments.stats.comparisons.anytime import confidence_sequence, first_look_above, question_means, random_order
from experiments.stats.comparisons.multiplicity import adjust_p_values
from experiments.stats.comparisons.wording_rule import RuleCheck, WordingRule
from experiments.stats.estimate import Difference

__all__ = ["LookedAt", "LookedWording", "WordingLook", "check_looks", "look_at"]


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
    """A wording at the last look: its checks, and whether all have passed at ``level``."""

    wording: str
    adopted: bool
    level: float
    checks: tuple[WordingLook, ...]


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


def check_looks(grid: WordingGrid, rule: WordingRule, control: str) -> None:
    """Raise ``SpecError`` where a rule cannot be checked while the run goes on."""
    where = f"{grid.facts.run_id}: ab"
    if rule.scope == "sampled":
        raise SpecError(f'{where}.scope: "sampled"; expected "fixed" or "every-model" with stopping = "anytime"')
    for quantity in (rule.raises, *rule.keeps):
        table = grid.table(control, control, quantity)
        if table is None:
            raise SpecError(
                f"{where}: {quantity!r} is a ratio, which has no limits for all looks here; "
                'expected a score that is a mean of the questions, or stopping = "fixed-size"'
            )
        if -rule.keeps.get(quantity, 0.0) <= table.span[0]:
            raise SpecError(f"{where}.may_not_fall: {quantity!r} may fall as far as it can; expected a smaller margin")


def look_at(grid: WordingGrid, rule: WordingRule, control: str) -> tuple[LookedAt, WordingGrid]:
    """Look at the questions that are complete, in the order, up to the first that is not; and the grid of these."""
    order = random_order(grid.clusters)
    seen = next((place for place, question in enumerate(order) if question in grid.pending), len(order))
    kept = grid.take(frozenset(order[:seen]))
    others = [wording for wording in grid.facts.wordings if wording != control]
    sequences = {wording: _sequences(kept, rule, wording, control, order[:seen]) for wording in others}
    levels = _levels(sequences, rule.level)
    adjusted = _adjusted(sequences, rule)
    wordings = tuple(
        LookedWording(
            wording,
            all(check.check.passed for check in checks),
            levels[wording],
            checks,
        )
        for wording in others
        for checks in (_looks(sequences[wording], rule.level, levels[wording], adjusted[wording]),)
    )
    return LookedAt(seen, len(order), wordings), kept


def _sequences(
    grid: WordingGrid, rule: WordingRule, wording: str, control: str, order: Sequence[str]
) -> tuple[_Sequence, ...]:
    found = []
    for quantity, required in {rule.raises: rule.least, **{name: -keep for name, keep in rule.keeps.items()}}.items():
        table = grid.table(wording, control, quantity)
        if table is None:
            raise ValueError(f"{quantity}: no mean of the questions; expected one that check_looks lets pass")
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
    looks = []
    for sequence, p_value in zip(sequences, adjusted, strict=True):
        shown = confidence_sequence(sequence.values, span=sequence.span, level=level)
        held = confidence_sequence(sequence.values, span=sequence.span, level=own_level).estimate
        first = _first(sequence, own_level)
        check = RuleCheck(sequence.quantity, sequence.model, held.value, held.low, sequence.required, first is not None)
        looks.append(WordingLook(check, shown, p_value, first))
    return tuple(looks)
