"""The words of a choice: rates, rules, costs, and the paragraph that a careful person would sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.analyses.candidates import Candidate, ErrorName
from experiments.analyses.choosing import Choice
from experiments.analyses.separation import POWER, Separation
from experiments.reports.figures import percent, rate_text
from experiments.reports.label_words import label_words
from experiments.reports.plain import estimate_fields
from experiments.specs.decisions import ChooseSpec
from experiments.stats.estimate import Estimate
from graders.pricing import NO_COST

__all__ = ["RATE_WORDS", "cost_text", "decision_text", "points_text", "rate_cell", "rule_text"]

RATE_WORDS: dict[ErrorName, str] = {
    "false_negative_rate": "false negatives",
    "false_positive_rate": "false positives",
    "error_rate": "error rate",
}
FEW_QUESTIONS = 10
MOST_NAMED = 6


def rate_cell(estimate: Estimate | None, *, mark: str = "") -> str:
    """A rate with its interval; a dash where there is none."""
    if estimate is None or estimate.value is None:
        return "-"
    return rate_text(estimate_fields(estimate)) + mark


def points_text(estimate: Estimate) -> str:
    """A difference of two rates in points, with its interval."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "-"
    return f"{100 * estimate.value:+.1f} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def cost_text(candidate: Candidate) -> str:
    """Cost of a thousand verdicts."""
    if candidate.thousand is None:
        return "unknown"
    return "free" if candidate.thousand == NO_COST else str(candidate.thousand)


def rule_text(spec: ChooseSpec) -> str:
    """The rule in words."""
    text = f"lowest {RATE_WORDS[spec.lowest]}"
    limits = [
        f"{RATE_WORDS[rate]} not above {percent(limit.limit)}"
        + (f" by more than {100 * limit.margin:g} points" if limit.margin else "")
        for rate, limit in spec.limits.items()
    ]
    return f"{text} among those with {' and '.join(limits)}" if limits else text


def decision_text(choice: Choice) -> str:
    """What is decided, on what, how surely, and what is not decided."""
    return " ".join([_verdict(choice), *_grounds(choice), *_open(choice), *_scope(choice)])


def _verdict(choice: Choice) -> str:
    found = choice.recommendation
    if found.name is None:
        return "No grader is recommended."
    if found.tied and not found.provisional:
        return f"A tie: take any of {_names([found.name, *found.tied])}."
    if found.provisional:
        return f"For now take {found.name}, provisionally: no grader is shown to keep the limits."
    return f"Take {found.name}."


def _grounds(choice: Choice) -> Iterator[str]:
    rule, found = choice.rule, choice.recommendation
    stated = "the rule recorded with the run" if choice.stated else "the default rule, as the experiment states none"
    words = label_words({"label_source": choice.labelled.label_source})
    yield (
        f"By {stated} ({rule_text(choice.spec)}), {len(rule.standings):,} candidates were compared on {rule.n:,} items "
        f"of {rule.clusters:,} questions against the labels of {words.giver}."
    )
    if not rule.n:
        yield "There is no item that all of them have a verdict on and that the rule is about, so nothing is decided."
        return
    yield _set_text(choice)
    if found.name is None:
        return
    if found.by == "cost":
        cheapest = choice.find(found.name)
        yield f"None of these is known to cost less than {found.name} (a thousand verdicts: {cost_text(cheapest)})."
    elif found.by == "rate" and not found.tied:
        yield f"No cost of these is known, so {found.name}, with the lowest rate observed, comes first."
    if found.tied:
        equal = "cost and rate" if found.by == "cost" else "the rate observed"
        unknown = "" if found.by == "cost" else "No cost of these is known. "
        yield (
            f"{unknown}{found.name} and {_names(found.tied)} are exactly equal in {equal}: that {found.name} stands "
            "first is the order of names and no evidence."
        )
    own = next(rates for rates in choice.rates if rates.name == found.name)
    shown = ", ".join(f"{RATE_WORDS[name]} {rate_cell(estimate)}" for name, estimate in own.rates.items())
    yield f"{found.name} has {shown}." if found.tied else f"Its {shown}."


def _set_text(choice: Choice) -> str:
    rule = choice.rule
    broken = [standing.name for standing in rule.standings if standing.limits == "broken"]
    out = f" {_names(broken)}: shown to break a limit." if broken else ""
    if rule.provisional:
        return f"As if all that are not shown to break the limits kept them, {_may_be(rule.provisional)}.{out}"
    if not rule.members:
        return f"All are shown to break a limit.{out}"
    others = len(rule.standings) - len(rule.members) - len(broken)
    rest = f"; the other {others:,} are shown to be worse" if others else ""
    if len(rule.members) == len(rule.standings) > 1:
        rest = "; that is all of them, so the data do not choose"
    return f"At level {rule.level:.0%} {_may_be(rule.members)}{rest}.{out}"


def _may_be(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} alone can be the best"
    return f"{len(names):,} are not distinguishable from the best: {_names(names)}"


def _open(choice: Choice) -> Iterator[str]:
    """What is not decided, and why."""
    rule = choice.rule
    unshown = [one.name for one in rule.standings if one.in_set and one.limits == "not shown"]
    if unshown:
        yield f"Not decided: whether the limits are kept by {_names(unshown)}."
    if len(choice.finalists) > 1:
        yield f"Not decided: which of the {len(choice.finalists):,} is best."
        yield from (_separation_text(plan) for plan in choice.separations[-1:])
    if choice.recommendation.unpriced and choice.recommendation.by == "cost":
        yield f"Cost not known, so not weighed: {_names(choice.recommendation.unpriced)}."
    for name, reason in rule.not_compared.items():
        yield f"{name} has {reason} and was not compared."
    partial = [one.name for one in choice.candidates if one.name in choice.finalists and (one.coverage or 0) < 1]
    if partial:
        yield f"Verdicts are missing from {_names(partial)}: rates are of those that came."


def _separation_text(plan: Separation) -> str:
    pair = f"{plan.first} and {plan.second}"
    if plan.needed is None or plan.more_questions is None:
        return f"No number of labels is given that would separate {pair}: {plan.reason}."
    return (
        f"If {pair} differ by the {100 * abs(plan.difference):.1f} points seen here, {plan.needed:,} questions would "
        f"show it with {POWER:.0%} power ({plan.more_questions:,} more than now, about {plan.more_labels:,} labels)."
    )


def _scope(choice: Choice) -> Iterator[str]:
    if 0 < choice.rule.clusters < FEW_QUESTIONS:
        yield "With fewer than ten questions the intervals themselves are doubtful."
    yield (
        "This holds for questions and responses like those of this set. How high a grader scores anybody was not "
        "looked at."
    )


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMED])
    return f"{shown} and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else shown
