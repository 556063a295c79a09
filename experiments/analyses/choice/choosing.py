"""Which grader: all of a run side by side, and the decision under the rule that was recorded with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from experiments.analyses.choice.candidate_rates import CandidateRates, Stratum, measure_candidate, measure_strata
from experiments.analyses.choice.candidates import Candidate, ErrorName, LabelledContest, read_candidates, read_labelled
from experiments.analyses.choice.choice_rule import SEED, RuleResult, apply_rule
from experiments.analyses.choice.entrants import Contest
from experiments.analyses.choice.panels import build_joint_candidates
from experiments.analyses.choice.separation import Separation, plan_separation
from experiments.analyses.right_label import right_label
from experiments.errors import SpecError
from experiments.reports.inputs import RunData
from experiments.specs.decisions import ChooseSpec
from experiments.stats.comparisons import (
    AdjustedPValues,
    PairedComparison,
    ParetoFront,
    adjust_p_values,
    compare_all,
    pareto_front,
)

__all__ = ["Choice", "Recommendation", "choose_grader", "read_all_candidates"]

LEAST_DRAWS, DRAWS_A_TEST = 10_000, 20
"""A drawn p-value is never below one in the draws, so many comparisons need more of them."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The candidate to take, ``None`` where the rule or the missing verdicts leave none, and why that one of the set.

    ``by`` is ``only`` (nobody else in the set), ``cost`` (cheapest of the set) or ``rate`` (lowest rate, as no cost is
    known); ``provisional`` where it is not shown to keep the limits. ``unpriced`` are members whose cost is not known
    in full, so that they could not be weighed. ``tied`` are members that are exactly equal in what decided, cost and
    rate or the rate alone: the recommended one stands before them by its name, which is no evidence. ``hanging`` are
    members that were not weighed, as their place among the best hangs on missing verdicts.
    """

    name: str | None
    by: str
    provisional: bool
    unpriced: tuple[str, ...]
    tied: tuple[str, ...] = ()
    hanging: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choice:
    """All that the page shows.

    Attributes
    ----------
    labelled
        The contest, its rubric and its notes.
    spec, stated
        The rule, and whether the experiment stated it.
    candidates, rates
        In the same order: graders, panels, cascades.
    strata
        Parts of the items.
    rule
        Who may be the best.
    pairs, family
        All pairs of those compared, on the items that both have, and their p-values with Holm's.
    front
        Over the rate that is to be lowest and the cost; over the two kinds of error where no cost is known.
    front_over_cost
        Which of the two it is.
    separations
        The finalist with the lowest rate against each other one.
    recommendation
        By the rule.
    """

    labelled: LabelledContest
    spec: ChooseSpec
    stated: bool
    level: float
    candidates: tuple[Candidate, ...]
    rates: tuple[CandidateRates, ...]
    strata: tuple[Stratum, ...]
    rule: RuleResult
    pairs: tuple[PairedComparison, ...]
    family: AdjustedPValues
    front: ParetoFront
    front_over_cost: bool
    separations: tuple[Separation, ...]
    recommendation: Recommendation

    @property
    def contest(self) -> Contest:
        """The labelled items."""
        return self.labelled.contest

    @property
    def finalists(self) -> tuple[str, ...]:
        """The set, or the provisional one where nobody is shown to keep the limits."""
        return self.rule.provisional or self.rule.members

    def find(self, name: str) -> Candidate:
        """The candidate of a name."""
        return next(candidate for candidate in self.candidates if candidate.name == name)


def choose_grader(data: RunData, spec: ChooseSpec | None, *, level: float) -> Choice:
    """Compare all graders, panels and cascades of a run, and decide by the rule.

    Parameters
    ----------
    data
        The run.
    spec
        The experiment's rule; ``None`` for the lowest error rate without limits.
    level
        Probability with which the best candidate under the rule is in the set.

    Raises
    ------
    SpecError
        If no item is labelled, the scale names no label as right, or a panel or cascade cannot be built.
    """
    labelled, rule_spec = read_labelled(data), spec or ChooseSpec()
    contest = labelled.contest
    candidates = read_all_candidates(contest, rule_spec)
    rates = tuple(measure_candidate(candidate, contest, level=level) for candidate in candidates)
    rule = apply_rule(candidates, contest, rule_spec, level=level)
    pairs = _compare(candidates, contest, rule)
    front, over_cost = _front(candidates, rates, rule)
    return Choice(
        labelled=labelled,
        spec=rule_spec,
        stated=spec is not None,
        level=level,
        candidates=candidates,
        rates=rates,
        strata=measure_strata(candidates, contest, level=level),
        rule=rule,
        pairs=pairs,
        family=adjust_p_values([pair.difference.p_value for pair in pairs], level=level),
        front=front,
        front_over_cost=over_cost,
        separations=_separate(rule, pairs, contest),
        recommendation=_recommend(candidates, rule),
    )


def read_all_candidates(contest: Contest, spec: ChooseSpec) -> tuple[Candidate, ...]:
    """Graders, panels and cascades of a contest that can be decided; ``SpecError`` as in :func:`choose_grader`."""
    if not contest.items:
        raise SpecError(f"run {contest.run_id}: no labelled item; expected a run over a set with labels")
    right_label(contest.scale, f"run {contest.run_id}")
    singles = read_candidates(contest)
    return (*singles, *build_joint_candidates(contest, singles, spec))


def _compare(candidates: Sequence[Candidate], contest: Contest, rule: RuleResult) -> tuple[PairedComparison, ...]:
    compared = [candidate for candidate in candidates if candidate.name not in rule.not_compared]
    if len(compared) < 2:
        return ()
    n_tests = len(list(combinations(compared, 2)))
    return compare_all(
        np.column_stack([candidate.wrong(contest, rule.rate) for candidate in compared]),
        contest.clusters,
        names=[candidate.name for candidate in compared],
        rng=np.random.default_rng(SEED),
        level=rule.level,
        resamples=max(LEAST_DRAWS, round(DRAWS_A_TEST * n_tests / (1 - rule.level))),
    )


def _front(
    candidates: Sequence[Candidate], rates: Sequence[CandidateRates], rule: RuleResult
) -> tuple[ParetoFront, bool]:
    """A cost that is only known to be at least so much can dominate nobody, so it counts as not known."""
    names = [candidate.name for candidate in candidates]
    costs = [_known_cost(candidate) for candidate in candidates]
    if any(cost is not None for cost in costs):
        lowest = [own.rates[rule.rate].value for own in rates]
        return pareto_front({rule.rate: lowest, "cost": costs}, names=names), True
    kinds: tuple[ErrorName, ...] = ("false_negative_rate", "false_positive_rate")
    return pareto_front({kind: [own.rates[kind].value for own in rates] for kind in kinds}, names=names), False


def _known_cost(candidate: Candidate) -> float | None:
    return candidate.thousand.amount if candidate.thousand is not None and candidate.thousand.complete else None


def _separate(rule: RuleResult, pairs: Sequence[PairedComparison], contest: Contest) -> tuple[Separation, ...]:
    finalists = rule.provisional or rule.members
    if len(finalists) < 2:
        return ()
    best, others = finalists[0], set(finalists[1:])
    plans = [
        plan_separation(pair, contest, level=rule.set_level)
        for pair in pairs
        if {pair.first, pair.second} & {best} and {pair.first, pair.second} & others
    ]
    return tuple(sorted(plans, key=lambda plan: abs(plan.difference)))


def _recommend(candidates: Sequence[Candidate], rule: RuleResult) -> Recommendation:
    """The cheapest of the set among those shown to keep the limits, and the lowest rate where no cost is known.

    A low cost or rate speaks for nobody whose place in the set hangs on missing verdicts.
    """
    shown = [name for name in rule.members if rule.find(name).limits == "kept"]
    in_question = shown or list(rule.provisional)
    hanging = tuple(name for name in in_question if name in rule.hanging)
    names = [name for name in in_question if name not in hanging]
    known = {candidate.name: candidate for candidate in candidates}
    if not names or not rule.n:
        return Recommendation(None, "only", False, (), hanging=hanging)
    costs = {name: cost for name in names if (cost := _known_cost(known[name])) is not None}
    unpriced = tuple(name for name in names if name not in costs)
    if len(names) == 1:
        return Recommendation(names[0], "only", not shown, unpriced, hanging=hanging)
    # Rounded: two rates that differ in the last bit are equal.
    ranks = {name: (costs.get(name, 0.0), round(rule.find(name).mean or 0.0, 9)) for name in costs or names}
    first = min(ranks, key=lambda name: (*ranks[name], name))
    tied = tuple(sorted(name for name in ranks if name != first and ranks[name] == ranks[first]))
    return Recommendation(first, "cost" if costs else "rate", not shown, unpriced, tied, hanging)
