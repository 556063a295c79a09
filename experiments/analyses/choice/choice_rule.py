"""The rule that an experiment states, applied: who keeps the limits, and who may be the best of them.

The rule is: the lowest of one error rate among those that keep limits on others. A candidate is out only if shown to
be above limit and margin together, it keeps the limit if shown to be below, and in between that is not shown.

What is promised, at the run's level: the candidate that is truly the best of those that truly keep the limits is in
the set. It can be missed in two ways. Limits can be misjudged; so with L limits and K candidates each is held against
an interval of level ``1 - (1 - level) / (K L)``, of which one side matters, which misjudges any of them with a chance
of half of ``1 - level`` at most [Bonferroni]. Or the comparison can leave it out, which
:func:`experiments.stats.comparisons.best_set` does with a chance of no more than it is given: the other half. Only
candidates that are shown to keep the limits can push another out: one that may break them is no reason to leave out
one that keeps them. Without limits the whole of ``1 - level`` goes to the comparison.

Missing verdicts are no luck of the draw: a grader fails on what it finds hard. So limits are held against intervals
that hold whatever the missing verdicts would have been, and the comparison is made twice: on the items that all have,
and on all items with every missing verdict wrong, which asks for right verdicts rather than for few wrong ones. Who is
in the set by the first and shown to be worse by the second is in it by what did not come: its place *hangs* on that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from experiments.analyses.choice.candidate_rates import completed_wrong, error_estimate, is_about, open_ends
from experiments.analyses.choice.candidates import Candidate, ErrorName
from experiments.analyses.choice.entrants import Contest
from experiments.specs.decisions import ChooseSpec, LimitSpec
from experiments.stats.comparisons import BestSet, best_set
from experiments.stats.estimate import Estimate

__all__ = ["LEAST_ANSWERED", "SEED", "LimitCheck", "RuleResult", "Standing", "apply_rule", "is_answered"]

SEED = 20261130
"""The same store gives the same page."""

LEAST_ANSWERED = 0.5
"""A candidate without a verdict on more of the items than this is not compared: it would take the items from all."""

Verdict = Literal["kept", "not shown", "broken"]


@dataclass(frozen=True, slots=True)
class LimitCheck:
    """A rate held against ``limit`` plus ``margin`` by an interval that allows for all limits and candidates.

    ``estimate`` is of the verdicts that came; ``low`` and ``high`` decide, which also allow for those that did not.
    """

    rate: ErrorName
    limit: float
    margin: float
    estimate: Estimate
    low: float | None
    high: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Standing:
    """A candidate under the rule.

    ``mean`` of the rate to be lowest is over the items that all have; ``behind`` is its distance from the lowest of
    those that it was held against. ``in_set``: not distinguishable from the best. ``p_value`` is that of being the
    best, ``None`` where it was held against nobody.
    """

    name: str
    checks: tuple[LimitCheck, ...]
    limits: Verdict
    mean: float | None
    behind: float | None
    p_value: float | None
    in_set: bool


@dataclass(frozen=True, slots=True)
class RuleResult:
    """Who may be the best under the rule.

    Attributes
    ----------
    rate
        The error rate that is to be lowest.
    level, set_level, limit_level
        Of the whole promise, of the comparison, and of the intervals behind the limits.
    members
        The set, best first.
    provisional
        Where nobody is shown to keep the limits: the set among those not shown to break them, as if they kept them.
    standings
        All compared candidates, in their order.
    not_compared
        Candidates with too few verdicts, and why.
    n, clusters, left_out
        Items compared, their questions, and the items that the rate is about but that one of those compared lacks.
    without
        Each compared candidate that lacks such items, and how many it lacks.
    if_wrong
        The set, or the provisional one, on all items with every missing verdict wrong.
    """

    rate: ErrorName
    level: float
    set_level: float
    limit_level: float | None
    members: tuple[str, ...]
    provisional: tuple[str, ...]
    standings: tuple[Standing, ...]
    not_compared: Mapping[str, str]
    n: int
    clusters: int
    left_out: int
    without: Mapping[str, int]
    if_wrong: tuple[str, ...]

    @property
    def hanging(self) -> tuple[str, ...]:
        """Those of the set, or of the provisional one, that would be shown to be worse with missing verdicts wrong."""
        return tuple(name for name in self.provisional or self.members if name not in self.if_wrong)

    def find(self, name: str) -> Standing:
        """The standing of a candidate that was compared."""
        return next(standing for standing in self.standings if standing.name == name)


def is_answered(candidate: Candidate, contest: Contest, rate: ErrorName) -> str | None:
    """Why a candidate is not compared; ``None`` where it is."""
    about = is_about(contest, rate)
    wrong = candidate.wrong(contest, rate)
    n_answered, n_about = int((~np.isnan(wrong)).sum()), int(about.sum())
    if n_about and n_answered < LEAST_ANSWERED * n_about:
        return f"verdicts on {n_answered:,} of {n_about:,} items"
    return None


def apply_rule(candidates: Sequence[Candidate], contest: Contest, spec: ChooseSpec, *, level: float) -> RuleResult:
    """Judge all candidates under a rule; none is judged by the score that it gives."""
    reasons = {candidate.name: is_answered(candidate, contest, spec.lowest) for candidate in candidates}
    compared = [candidate for candidate in candidates if reasons[candidate.name] is None]
    n_tests = len(spec.limits) * len(compared)
    limit_level = 1 - (1 - level) / n_tests if n_tests else None
    set_level = 1 - (1 - level) / 2 if spec.limits else level
    checks = {one.name: _check_limits(one, contest, spec.limits, limit_level or level) for one in compared}
    verdicts = {name: _overall([check.verdict for check in own]) for name, own in checks.items()}
    field = _Field(compared, contest, spec.lowest, set_level)
    standings = _stand(field, checks, verdicts)
    members, provisional = _sets(field, standings, verdicts)
    if_wrong = provisional or members
    if any((one.counts.sum(axis=1) < one.expected).any() for one in compared):
        completed = _Field(compared, contest, spec.lowest, set_level, all_wrong=True)
        kept, open_ = _sets(completed, _stand(completed, checks, verdicts), verdicts)
        if_wrong = open_ or kept
    n_about = int(is_about(contest, spec.lowest).sum())
    return RuleResult(
        rate=spec.lowest,
        level=level,
        set_level=set_level,
        limit_level=limit_level,
        members=members,
        provisional=provisional,
        standings=standings,
        not_compared={name: reason for name, reason in reasons.items() if reason is not None},
        n=field.n,
        clusters=len(set(field.clusters)),
        left_out=n_about - field.n,
        without={name: n_about - n for name, n in field.n_each.items() if n < n_about},
        if_wrong=if_wrong,
    )


def _sets(
    field: _Field, standings: Sequence[Standing], verdicts: Mapping[str, Verdict]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The set, and the provisional one where nobody is shown to keep the limits, each with the best first."""
    members = sorted(
        (standing for standing in standings if standing.in_set),
        key=lambda standing: (standing.mean is None, standing.mean),
    )
    open_ = [name for name, verdict in verdicts.items() if verdict != "broken"]
    provisional = () if "kept" in verdicts.values() or not open_ else field.best(open_).members
    return (
        tuple(standing.name for standing in members),
        tuple(sorted(provisional, key=lambda name: field.means[name])),
    )


def _check_limits(
    candidate: Candidate, contest: Contest, limits: Mapping[ErrorName, LimitSpec], level: float
) -> tuple[LimitCheck, ...]:
    checks = []
    for rate, spec in limits.items():
        estimate = error_estimate(candidate, contest, rate, level=level)
        low, high = open_ends(candidate, contest, rate, level=level)
        bar = spec.limit + spec.margin
        verdict: Verdict = "not shown"
        if low is not None and low > bar:
            verdict = "broken"
        elif high is not None and high <= bar:
            verdict = "kept"
        checks.append(LimitCheck(rate, spec.limit, spec.margin, estimate, low, high, verdict))
    return tuple(checks)


def _overall(verdicts: Sequence[Verdict]) -> Verdict:
    if "broken" in verdicts:
        return "broken"
    return "not shown" if "not shown" in verdicts else "kept"


class _Field:
    """The compared candidates' wrong shares on the items that all of them have, or with all that is missing wrong."""

    def __init__(
        self,
        compared: Sequence[Candidate],
        contest: Contest,
        rate: ErrorName,
        level: float,
        *,
        all_wrong: bool = False,
    ) -> None:
        columns = [
            completed_wrong(candidate, contest, rate, all_wrong=True) if all_wrong else candidate.wrong(contest, rate)
            for candidate in compared
        ]
        table = np.column_stack(columns) if columns else np.zeros((len(contest.items), 0))
        used = np.asarray(~np.isnan(table).any(axis=1) & bool(columns), dtype=np.bool_)
        self._table, self._names, self._level = table[used], [candidate.name for candidate in compared], level
        self.clusters = [cluster for cluster, take in zip(contest.clusters, used, strict=True) if take]
        self.n = len(self.clusters)
        self.n_each = {name: int((~np.isnan(column)).sum()) for name, column in zip(self._names, columns, strict=True)}
        means = np.sort(self._table, axis=0).mean(axis=0) if self.n else np.zeros(0)
        self.means = dict(zip(self._names, map(float, means), strict=False))

    def best(self, names: Sequence[str]) -> BestSet:
        """The set not distinguishable from the best of some candidates."""
        places = [self._names.index(name) for name in names]
        rng = np.random.default_rng(SEED)
        return best_set(self._table[:, places], self.clusters, names=names, rng=rng, level=self._level)


def _stand(
    field: _Field, checks: Mapping[str, tuple[LimitCheck, ...]], verdicts: Mapping[str, Verdict]
) -> tuple[Standing, ...]:
    """Each candidate that is not out is held against those that keep the limits."""
    kept = [name for name, verdict in verdicts.items() if verdict == "kept"]
    among = {ranked.name: ranked for ranked in field.best(kept).graders}
    standings = []
    for name, verdict in verdicts.items():
        ranked = among.get(name)
        if ranked is None and verdict == "not shown" and field.n:
            ranked = next(one for one in field.best([*kept, name]).graders if one.name == name)
        alone = ranked is None or not [other for other in kept if other != name]
        standings.append(
            Standing(
                name,
                checks[name],
                verdict,
                field.means.get(name),
                None if ranked is None or alone else ranked.behind,
                None if ranked is None or alone else ranked.p_value,
                ranked is not None and ranked.in_set,
            )
        )
    return tuple(standings)
