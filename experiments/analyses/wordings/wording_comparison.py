"""Which wording: every wording against the control, and the rule that was written before the run.

Several wordings are tried, so one that is no better may pass by luck: the rule is applied by Holm's procedure [1979].
With m wordings left, each is held to the rule with intervals of the level ``1 - (1 - level) / m``; those that pass are
adopted and leave, and the rest is tried again. A wording must pass all checks of the rule, which is an
intersection-union test and needs no adjustment; so the chance that any wording is adopted that does not deserve it is
at most ``(1 - level) / 2``, however many are tried.

That is so for numbers that are there. Where some are missing, the rule is applied a second time, to the data with all
that is missing against the wording (``worst_cases``), and must hold there too: a wording may
not gain by what became of its worst answers. A rule may say that what is missing is like the rest, and then the second
application is shown and does not decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.analyses.wordings.wording_grid import Bounds, WordingCell, WordingFacts, WordingGrid, WordingPairs
from experiments.analyses.wordings.wording_looks import LookedAt, look_at
from experiments.errors import SpecError
from experiments.specs.decisions import AbSpec
from experiments.specs.wording_rule import check_wording_rule, find_wording
from experiments.stats.comparisons.multiplicity import AdjustedPValues, adjust_p_values
from experiments.stats.comparisons.wording_effects import WordingEffects
from experiments.stats.comparisons.wording_rule import RuleCheck, WordingRule, decide_wording

__all__ = ["RESAMPLES", "AdoptedWording", "WordingComparison", "WordingResult", "compare_wordings"]

RESAMPLES = 10_000
"""Draws of a bootstrap or sign-flip test."""


@dataclass(frozen=True, slots=True)
class WordingComparison:
    """One wording against the control: its effects by quantity, and what is missing could make of the average."""

    wording: str
    effects: Mapping[str, WordingEffects]
    bounds: Mapping[str, Bounds]


@dataclass(frozen=True, slots=True)
class AdoptedWording:
    """What the rule says of a wording: its checks at ``level``, the level of the last step that it was held to.

    ``worst`` are the same checks with all that is missing against the wording, empty where nothing is missing.
    """

    wording: str
    adopted: bool
    level: float
    checks: tuple[RuleCheck, ...]
    worst: tuple[RuleCheck, ...] = ()

    @property
    def hangs_on_missing(self) -> bool:
        """Whether the rule holds for what is there, and not where all that is missing went against the wording."""
        return all(check.passed for check in self.checks) and not all(check.passed for check in self.worst)

    @property
    def worst_passes(self) -> bool:
        """Whether something is missing, and the rule holds even where all of it went against the wording."""
        return bool(self.worst) and all(check.passed for check in self.worst)

    @property
    def undecided(self) -> bool:
        """Whether it is not adopted for want of what is missing alone."""
        return self.hangs_on_missing and not self.adopted

    def worst_of(self, check: RuleCheck) -> RuleCheck | None:
        """The same check at its worst; ``None`` where nothing is missing."""
        return next((one for one in self.worst if (one.quantity, one.model) == (check.quantity, check.model)), None)


@dataclass(frozen=True, slots=True)
class WordingResult:
    """All that a page shows.

    Attributes
    ----------
    facts
        What was compared.
    level
        Confidence level.
    control
        The wording that others are held against.
    rule
        The experiment's; ``None`` where none was written, and then ``decisions`` is empty.
    cells
        Every wording in every model, wording by wording.
    comparisons
        One a wording other than the control; empty for a comparison that may be looked at while it runs.
    adjusted
        Quantity to scope (``fixed``, ``sampled``) to the p-values over wordings.
    decisions
        One a wording, in the same order.
    pairs
        Each wording to what it and the control have in common, of what was looked at.
    looks
        What was looked at, of a comparison that may be looked at while it runs.
    as_graded
        Of scores that are corrected for the grader's errors: the same comparison of the scores as it judged them.
    """

    facts: WordingFacts
    level: float
    control: str
    rule: AbSpec | None
    cells: tuple[WordingCell, ...]
    comparisons: tuple[WordingComparison, ...]
    adjusted: Mapping[str, Mapping[str, AdjustedPValues]]
    decisions: tuple[AdoptedWording, ...]
    pairs: Mapping[str, WordingPairs]
    looks: LookedAt | None
    as_graded: WordingResult | None = None

    @property
    def chosen(self) -> AdoptedWording | None:
        """Of the wordings that the rule adopts, the one whose estimate of what was to rise is the largest."""
        adopted = [one for one in self.decisions if one.adopted]
        return max(adopted, key=_raised, default=None)


def compare_wordings(
    grid: WordingGrid, spec: AbSpec | None, *, level: float, control: str | None = None, resamples: int = RESAMPLES
) -> WordingResult:
    """Hold every wording against the control, and apply the rule.

    Parameters
    ----------
    grid
        The wordings and models.
    spec
        The experiment's rule, ``None`` where it wrote none.
    level
        Confidence level.
    control
        Where there is no rule: the wording that others are held against, by default the first.
    resamples
        Draws of the permutation tests and the bootstrap.

    Raises
    ------
    SpecError
        If a comparison of a fixed size lacks what is still to be asked for, the rule does not fit the run, or scores
        that are corrected for the grader are to be looked at while it runs.
    """
    named = _find_control(grid.facts, spec, control)
    if spec is not None and spec.stopping == "anytime" and grid.facts.corrected_by is not None:
        raise SpecError(
            f'{grid.facts.run_id}: --calibration with ab.stopping = "anytime"; expected one of the two: limits that '
            "hold at all looks rest on questions whose numbers are known, and corrected scores rest on error rates "
            'that are estimated. A comparison of a fixed size (stopping = "fixed-size") can be corrected'
        )
    rule = None if spec is None else _rule(spec, grid.facts, level)
    if spec is not None and spec.stopping == "anytime" and rule is not None:
        return _look(grid, spec, rule, named)
    if grid.pending:
        raise SpecError(
            f"{grid.facts.run_id}: {len(grid.pending):,} of {len(set(grid.clusters)):,} questions lack what is still "
            "to be asked for, and a comparison of a fixed size is not looked at before its end; expected a finished "
            'run (autorater run continues it), or stopping = "anytime" in its [ab]'
        )
    others = [wording for wording in grid.facts.wordings if wording != named]
    cells = _cells(grid, named, level=level)
    comparisons = tuple(
        WordingComparison(
            one, effects, {name: _bounds(cells, one, named, name, effects[name].models) for name in effects}
        )
        for one in others
        for effects in (grid.effects(one, named, level=level, resamples=resamples),)
    )
    pairs = {one: grid.pairs(one, named) for one in others}
    ignorable = spec is not None and spec.missing == "ignorable"
    decisions = () if rule is None else _decide(grid, rule, named, comparisons, pairs, ignorable=ignorable)
    adjusted = _adjust(grid.facts, comparisons, level)
    return WordingResult(grid.facts, level, named, spec, cells, comparisons, adjusted, decisions, pairs, None)


def _look(grid: WordingGrid, spec: AbSpec, rule: WordingRule, control: str) -> WordingResult:
    looks, seen = look_at(grid, rule, control, ignorable=spec.missing == "ignorable")
    decisions = tuple(
        AdoptedWording(one.wording, one.adopted, one.level, tuple(look.check for look in one.checks), one.worst)
        for one in looks.wordings
    )
    cells = _cells(seen, control, level=rule.level)
    pairs = {one.wording: seen.pairs(one.wording, control) for one in looks.wordings}
    return WordingResult(grid.facts, rule.level, control, spec, cells, (), {}, decisions, pairs, looks)


def _find_control(facts: WordingFacts, spec: AbSpec | None, control: str | None) -> str:
    if spec is None:
        return facts.wordings[0] if control is None else find_wording(control, facts.wordings, "--control")
    named = find_wording(spec.control, facts.wordings, f"{facts.run_id}: ab.control")
    if control is not None and find_wording(control, facts.wordings, "--control") != named:
        raise SpecError(f"--control: {control!r}; expected none, as the experiment's rule names {spec.control!r}")
    return named


def _rule(spec: AbSpec, facts: WordingFacts, level: float) -> WordingRule:
    check_wording_rule(spec, facts.wordings, facts.kind, facts.run_id)
    return WordingRule(spec.raises, dict(spec.may_not_fall), scope=spec.scope, level=level)


def _cells(grid: WordingGrid, control: str, *, level: float) -> tuple[WordingCell, ...]:
    facts = grid.facts
    ordered = (control, *(wording for wording in facts.wordings if wording != control))
    found = (grid.cell(wording, model, level=level) for wording in ordered for model in facts.models)
    return tuple(cell for cell in found if cell is not None)


def _decide(
    grid: WordingGrid,
    rule: WordingRule,
    control: str,
    comparisons: Sequence[WordingComparison],
    pairs: Mapping[str, WordingPairs],
    *,
    ignorable: bool,
) -> tuple[AdoptedWording, ...]:
    decided: dict[str, AdoptedWording] = {}
    left = list(comparisons)
    while left:
        level = 1 - (1 - rule.level) / len(left)
        own = WordingRule(rule.raises, rule.keeps, rule.least, rule.scope, level)
        tried = [
            _apply(
                grid, own, control, one, missing=pairs[one.wording].missing > 0, ignorable=ignorable, level=rule.level
            )
            for one in left
        ]
        decided.update({one.wording: one for one in tried})
        passed = {one.wording for one in tried if one.adopted}
        left = [one for one in left if one.wording not in passed] if passed else []
    return tuple(decided[one.wording] for one in comparisons)


def _apply(
    grid: WordingGrid,
    rule: WordingRule,
    control: str,
    comparison: WordingComparison,
    *,
    missing: bool,
    ignorable: bool,
    level: float,
) -> AdoptedWording:
    """The rule at its own level, for effects that are at hand at ``level``."""
    wording, effects = comparison.wording, comparison.effects
    if level != rule.level:
        # Only the intervals of another level are used: they rest on no draw.
        effects = grid.effects(wording, control, level=rule.level, resamples=1)
    decision, worst = decide_wording(rule, effects), None
    if missing:
        worst = decide_wording(rule, grid.worst(wording, control, (rule.raises, *rule.keeps), level=rule.level))
    adopted = decision.adopted and (ignorable or worst is None or worst.adopted)
    return AdoptedWording(wording, adopted, rule.level, decision.checks, () if worst is None else worst.checks)


def _bounds(cells: Sequence[WordingCell], wording: str, control: str, quantity: str, models: Sequence[str]) -> Bounds:
    """Lowest and highest average effect over models: what is missing of one cell may be anything, whatever the others.

    ``None`` where nothing is missing, or where the average is not defined.
    """
    found = {(cell.wording, cell.model): cell for cell in cells}
    changed, baseline = ([found[one, model] for model in models] for one in (wording, control))
    if not models or all(cell.bounds[quantity] is None for cell in (*changed, *baseline)):
        return None
    ends = [[_ends(cell, quantity) for cell in own] for own in (changed, baseline)]
    if any(end is None for own in ends for end in own):
        return None
    (up, down) = ([end for end in own if end is not None] for own in ends)
    lows = [one[0] - other[1] for one, other in zip(up, down, strict=True)]
    highs = [one[1] - other[0] for one, other in zip(up, down, strict=True)]
    return sum(lows) / len(models), sum(highs) / len(models)


def _ends(cell: WordingCell, quantity: str) -> Bounds:
    value = cell.quantities[quantity].value
    return cell.bounds[quantity] or (None if value is None else (value, value))


def _adjust(
    facts: WordingFacts, comparisons: Sequence[WordingComparison], level: float
) -> Mapping[str, Mapping[str, AdjustedPValues]]:
    names = [one.wording for one in comparisons]
    return {
        quantity: {
            "fixed": adjust_p_values(
                [one.effects[quantity].fixed.p_value for one in comparisons], names=names, level=level
            ),
            "sampled": adjust_p_values(
                [one.effects[quantity].sampled.p_value for one in comparisons], names=names, level=level
            ),
        }
        for quantity in facts.quantities
    }


def _raised(decided: AdoptedWording) -> float:
    """Its average effect on the quantity that was to rise, which is checked first."""
    values = [check.value for check in decided.checks if check.quantity == decided.checks[0].quantity]
    known = [value for value in values if value is not None]
    return sum(known) / len(known)
