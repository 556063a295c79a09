"""The words of a choice: rates, rules, costs, and the paragraph that a careful person would sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.analyses.choice.candidates import Candidate, ErrorName
from experiments.analyses.choice.choice_rule import RuleResult
from experiments.analyses.choice.choosing import Choice
from experiments.analyses.choice.separation import POWER, Separation
from experiments.reports.figures import count_of, percent, rate_text
from experiments.reports.label_words import label_words
from experiments.reports.plain import estimate_fields
from experiments.specs.decisions import ChooseSpec
from experiments.stats.estimate import Estimate
from graders.pricing import NO_COST

__all__ = ["RATE_WORDS", "cost_text", "decision_text", "lost_text", "points_text", "rate_cell", "rule_text"]

RATE_WORDS: dict[ErrorName, str] = {
    "false_negative_rate": "false negatives",
    "false_positive_rate": "false positives",
    "error_rate": "error rate",
}
"""Rate to its name for people."""
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
    if len(choice.candidates) == 1:
        return " ".join([*_alone(choice), *_missing(choice), *_scope(choice)])
    return " ".join([_verdict(choice), *_grounds(choice), *_open(choice), *_scope(choice)])


def _alone(choice: Choice) -> Iterator[str]:
    """A run's only grader is held against the limits, and against nobody."""
    candidate, own = choice.candidates[0], choice.rates[0]
    words = label_words({"label_source": choice.labelled.label_source})
    shown = ", ".join(f"{RATE_WORDS[name]} {rate_cell(estimate)}" for name, estimate in own.rates.items())
    yield f"Nothing to choose between: {candidate.name} is the run's only grader."
    items, questions = len(choice.contest.items), len(set(choice.contest.clusters))
    yield (
        f"On {count_of(items, 'item')} of {count_of(questions, 'question')}, against the labels of {words.giver}, its "
        f"{shown}."
    )
    limits = rule_text(choice.spec).partition(" among those with ")[2]
    for standing in choice.rule.standings if limits else ():
        kept = {"kept": "It is shown to keep", "broken": "It is shown to break", "not shown": "It is not shown to keep"}
        yield f"{kept[standing.limits]} the limits ({limits})."
    yield from (f"It has {reason}." for reason in choice.rule.not_compared.values())


def _missing(choice: Choice) -> Iterator[str]:
    """How many verdicts are missing from those in question, and between what that leaves their rate."""
    named = choice.finalists or tuple(choice.rule.not_compared)
    partial = [
        (candidate, bounds)
        for candidate, own in zip(choice.candidates, choice.rates, strict=True)
        if candidate.name in named and (bounds := own.bounds[choice.rule.rate]) is not None
    ]
    for candidate, (low, high) in partial[:MOST_NAMED]:
        asked = candidate.expected * len(candidate.counts)
        yield (
            f"{candidate.name} is without {asked - int(candidate.counts.sum()):,} of {count_of(asked, 'verdict')}: its "
            f"{RATE_WORDS[choice.rule.rate]} would be {percent(low)} with all of these right, {percent(high)} with all "
            "wrong."
        )
    if len(partial) > MOST_NAMED:
        yield f"Verdicts are missing from {len(partial) - MOST_NAMED:,} more of those."


def lost_text(rule: RuleResult) -> str:
    """How many items the comparison lost, and through whom."""
    if not rule.left_out:
        return "no item is left out"
    most = sorted(rule.without.items(), key=lambda entry: -entry[1])
    through = ", ".join(f"{name} {n:,}" for name, n in most[:MOST_NAMED])
    more = f" and {len(most) - MOST_NAMED:,} more" if len(most) > MOST_NAMED else ""
    return f"{rule.left_out:,} of {rule.n + rule.left_out:,} items are left out for want of a verdict: {through}{more}"


def _verdict(choice: Choice) -> str:
    found = choice.recommendation
    if found.name is None:
        return "No grader is recommended."
    if found.tied and not found.provisional:
        return f"A tie: take any of {_names([found.name, *found.tied])}."
    if found.provisional:
        return f"For now take {found.name}, provisionally: no grader is shown to keep the limits."
    if len(choice.finalists) > 1:
        return f"Not decided; if one must be taken, {found.name}."
    return f"Take {found.name}."


def _grounds(choice: Choice) -> Iterator[str]:
    rule, found = choice.rule, choice.recommendation
    stated = "the rule recorded with the run" if choice.stated else "the default rule, as the experiment states none"
    words = label_words({"label_source": choice.labelled.label_source})
    yield (
        f"By {stated} ({rule_text(choice.spec)}), {_compared(len(rule.standings))} compared on "
        f"{count_of(rule.n, 'item')} of {count_of(rule.clusters, 'question')} against the labels of {words.giver}."
    )
    if not rule.n:
        yield "There is no item that all of them have a verdict on and that the rule is about, so nothing is decided."
        return
    yield _set_text(choice)
    if found.name is None:
        return
    if found.by == "cost":
        cheapest = choice.find(found.name)
        none = "Of those whose place does not hang on missing verdicts none" if found.hanging else "None of these"
        yield f"{none} is known to cost less than {found.name} (a thousand verdicts: {cost_text(cheapest)})."
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
    if len(rule.standings) == 1 and not broken:
        return f"Nobody else had verdicts enough to be compared with {rule.standings[0].name}."
    if rule.provisional:
        return f"As if all that are not shown to break the limits kept them, {_may_be(rule.provisional)}.{out}"
    if not rule.members:
        return f"All are shown to break a limit.{out}"
    others = len(rule.standings) - len(rule.members) - len(broken)
    worse = "the other one is" if others == 1 else f"the other {others:,} are"
    rest = f"; {worse} shown to be worse" if others else ""
    if len(rule.members) == len(rule.standings) > 1:
        rest = "; that is all of them, so the data do not choose"
    return f"At level {rule.level:.0%} {_may_be(rule.members)}{rest}.{out}"


def _compared(n: int) -> str:
    return f"{count_of(n, 'candidate')} {'was' if n == 1 else 'were'}"


def _may_be(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} alone can be the best"
    if not names:
        return "nobody could be the best"
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
    if rule.left_out:
        yield f"In the comparison {lost_text(rule)}."
    yield from _missing(choice)
    yield from _hanging_text(choice)


def _hanging_text(choice: Choice) -> Iterator[str]:
    """Who was not weighed because of what is missing, and who could be the best if that were wrong."""
    hanging, rule = choice.recommendation.hanging, choice.rule
    if hanging:
        yield (
            f"The place of {_names(hanging)} among the best hangs on missing verdicts, so cost and rate do not count "
            f"for it: with every missing verdict wrong {_may_be(rule.if_wrong)}."
        )


def _separation_text(plan: Separation) -> str:
    pair = f"{plan.first} and {plan.second}"
    if plan.needed is None or plan.more_questions is None or plan.more_labels is None:
        return f"No number of labels is given that would separate {pair}: {plan.reason}."
    needed = count_of(plan.needed, "question")
    return (
        f"If {pair} differ by the {100 * abs(plan.difference):.1f} points seen here, {needed} "
        f"would show it with {POWER:.0%} power ({plan.more_questions:,} more than now, about "
        f"{count_of(plan.more_labels, 'label')})."
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
