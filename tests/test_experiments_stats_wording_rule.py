"""Choosing a wording by a rule written before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from experiments.stats.comparisons.wording_effects import WordingEffects, wording_effects
from experiments.stats.comparisons.wording_rule import RuleScope, WordingRule, decide_wording


def effect(shifts: list[float], *, n: int = 60, noise: float = 0.1, level: float = 0.95) -> WordingEffects:
    """Effects near ``shifts``, one a model."""
    rng = np.random.default_rng(0)
    values = np.array(shifts) + rng.normal(0, noise, (n, len(shifts)))
    names = [f"m{place}" for place in range(len(shifts))]
    return wording_effects(np.zeros_like(values), values, range(n), models=names, rng=rng, resamples=100, level=level)


RULE = WordingRule(raises="sensitivity", keeps={"specificity": 0.05})


def test_a_rise_without_a_fall_is_adopted_with_its_numbers() -> None:
    effects = {"sensitivity": effect([0.2, 0.22]), "specificity": effect([0.0, 0.01])}
    decision = decide_wording(RULE, effects)
    assert decision.adopted
    assert decision.rule is RULE
    raised, kept = decision.checks
    assert (raised.quantity, raised.model, raised.required, raised.passed) == ("sensitivity", None, 0.0, True)
    assert (kept.quantity, kept.required, kept.passed) == ("specificity", -0.05, True)
    assert raised.low == effects["sensitivity"].fixed.estimate.low
    assert kept.value == effects["specificity"].fixed.estimate.value


@pytest.mark.parametrize(
    ("raised", "kept", "passed"),
    [([0.0, 0.01], [0.0, 0.0], [False, True]), ([0.2, 0.2], [-0.04, -0.04], [True, False])],
    ids=["no rise", "a fall that may exceed the margin"],
)
def test_either_check_can_stop_it(raised: list[float], kept: list[float], passed: list[bool]) -> None:
    """The second falls by .04, within the margin of .05, but its interval reaches beyond."""
    decision = decide_wording(RULE, {"sensitivity": effect(raised), "specificity": effect(kept)})
    assert not decision.adopted
    assert [check.passed for check in decision.checks] == passed


def test_the_least_rise_is_held_against_the_interval() -> None:
    effects = {"sensitivity": effect([0.1, 0.1])}
    low = effects["sensitivity"].fixed.estimate.low
    assert low is not None
    assert decide_wording(WordingRule("sensitivity", {}, least=low - 1e-9), effects).adopted
    assert not decide_wording(WordingRule("sensitivity", {}, least=low), effects).adopted


@pytest.mark.parametrize(("scope", "adopted"), [("fixed", True), ("sampled", False), ("every-model", False)])
def test_the_scope_decides_what_is_checked(scope: RuleScope, adopted: bool) -> None:
    """One model of three does not gain: these models do on average, models like them may not."""
    effects = {"sensitivity": effect([0.3, 0.2, 0.0])}
    decision = decide_wording(WordingRule("sensitivity", {}, scope=scope), effects)
    assert decision.adopted is adopted
    if scope == "every-model":
        assert [(check.model, check.passed) for check in decision.checks] == [("m0", True), ("m1", True), ("m2", False)]


@pytest.mark.parametrize("scope", ["fixed", "sampled", "every-model"])
def test_what_is_not_defined_does_not_pass(scope: RuleScope) -> None:
    none = wording_effects(np.zeros((0, 2)), np.zeros((0, 2)), [], models="ab", rng=np.random.default_rng(0))
    decision = decide_wording(WordingRule("sensitivity", {}, scope=scope), {"sensitivity": none})
    assert not decision.adopted
    assert [(check.value, check.low, check.passed) for check in decision.checks] == [(None, None, False)]


def test_one_model_cannot_speak_for_models_like_it() -> None:
    decision = decide_wording(WordingRule("sensitivity", {}, scope="sampled"), {"sensitivity": effect([0.5])})
    assert not decision.adopted
    assert decision.checks[0].value == pytest.approx(0.5, abs=0.05)
    assert decision.checks[0].low is None


def test_the_data_must_be_what_the_rule_speaks_of() -> None:
    with pytest.raises(ValueError, match=r"^effects: quantity missing, got \['sensitivity'\]; expected 'specificity'"):
        decide_wording(RULE, {"sensitivity": effect([0.1])})
    both = {"sensitivity": effect([0.1]), "specificity": effect([0.1], level=0.9)}
    with pytest.raises(
        ValueError, match=r"^effects\['specificity'\]: another level, got 0.9; expected the rule's 0.95"
    ):
        decide_wording(RULE, both)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"keeps": {"a": 0.1}}, r"^keeps: names the quantity to raise, got 'a'"),
        ({"keeps": {"b": 0}}, r"^keeps\['b'\]: not a margin, got 0"),
        ({"keeps": {"b": float("nan")}}, r"^keeps\['b'\]: not a margin, got nan"),
        ({"least": -0.1}, r"^least: not a rise, got -0.1"),
        ({"scope": "some"}, r"^scope: unknown, got 'some'"),
        ({"level": 95}, r"^level: not a confidence level, got 95"),
    ],
)
def test_a_bad_rule_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WordingRule(**{"raises": "a", "keeps": {}, **arguments})
