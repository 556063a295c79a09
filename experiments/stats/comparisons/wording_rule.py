"""Choosing a wording by a rule that was written before: what must rise, and what may not fall by more than a margin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Literal, get_args

from experiments.stats.comparisons.wording_effects import WordingEffects
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_level

__all__ = ["RuleCheck", "RuleScope", "WordingDecision", "WordingRule", "decide_wording"]

RuleScope = Literal["fixed", "sampled", "every-model"]
"""Which effects are checked: the average of these models, that over models like them, or each model's."""


@dataclass(frozen=True, slots=True)
class WordingRule:
    """A rule for adopting a changed wording, to be written before the data are seen.

    All quantities are such that more is better (a share of right verdicts, not of errors). ``raises`` names the
    quantity that must rise: the lower end of its effect's interval must lie above ``least``. ``keeps`` gives for each
    other quantity the margin by which it may fall at most: the lower end must lie above minus the margin. The
    intervals are two-sided of level ``level``, so each check is a one-sided test at ``(1 - level) / 2``. All must
    pass, so no adjustment for their number is due [the intersection-union test, Berger 1982].
    """

    raises: str
    keeps: Mapping[str, float]
    least: float = 0.0
    scope: RuleScope = "fixed"
    level: float = 0.95

    def __post_init__(self) -> None:
        check_level(self.level)
        if self.scope not in get_args(RuleScope):
            raise ValueError(f"scope: unknown, got {self.scope!r}; expected one of {list(get_args(RuleScope))}")
        if self.raises in self.keeps:
            raise ValueError(f"keeps: names the quantity to raise, got {self.raises!r}; expected others")
        if not (isfinite(self.least) and self.least >= 0):
            raise ValueError(f"least: not a rise, got {self.least}; expected a number, 0 or more")
        for name, margin in self.keeps.items():
            if not (isfinite(margin) and margin > 0):
                raise ValueError(f"keeps[{name!r}]: not a margin, got {margin}; expected a number above 0")


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """One check of a rule: ``low`` must lie above ``required``.

    ``model`` is ``None`` for an effect over models. ``value`` and ``low`` are ``None`` where they are not defined, and
    then the check has not passed.
    """

    quantity: str
    model: str | None
    value: float | None
    low: float | None
    required: float
    passed: bool


@dataclass(frozen=True, slots=True)
class WordingDecision:
    """What a rule decides, with every number that it rests on."""

    rule: WordingRule
    adopted: bool
    checks: tuple[RuleCheck, ...]


def decide_wording(rule: WordingRule, effects: Mapping[str, WordingEffects]) -> WordingDecision:
    """Apply a rule to the effects of a changed wording.

    Parameters
    ----------
    rule
        The rule.
    effects
        The effects on each quantity that the rule names, from
        :func:`experiments.stats.comparisons.wording_effects.wording_effects` at the rule's level.

    Raises
    ------
    ValueError
        A quantity without effects, or effects at another level.
    """
    required = {rule.raises: rule.least, **{name: -margin for name, margin in rule.keeps.items()}}
    for name in required:
        if name not in effects:
            raise ValueError(f"effects: quantity missing, got {list(effects)}; expected {name!r}")
        if effects[name].fixed.estimate.level != rule.level:
            level = effects[name].fixed.estimate.level
            raise ValueError(f"effects[{name!r}]: another level, got {level}; expected the rule's {rule.level}")
    checks = tuple(
        _check(name, model, estimate, threshold)
        for name, threshold in required.items()
        for model, estimate in _estimates(effects[name], rule.scope)
    )
    return WordingDecision(rule, all(check.passed for check in checks), checks)


def _estimates(effects: WordingEffects, scope: RuleScope) -> list[tuple[str | None, Estimate]]:
    if scope == "every-model":
        found = zip(effects.models, effects.effects, strict=True)
        # Without any model there is one estimate that is not defined, so that the check is seen and fails.
        return [(model, effect.difference.estimate) for model, effect in found] or [(None, effects.fixed.estimate)]
    return [(None, (effects.fixed if scope == "fixed" else effects.sampled).estimate)]


def _check(quantity: str, model: str | None, estimate: Estimate, required: float) -> RuleCheck:
    passed = estimate.low is not None and estimate.low > required
    return RuleCheck(quantity, model, estimate.value, estimate.low, required, passed)
