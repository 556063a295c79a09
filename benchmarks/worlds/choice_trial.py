"""Which grader: what ``choose`` leaves in its set and takes in a world, and what plain readings of a table would."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from calibration_sets.item import Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from experiments.analyses.choice.candidates import Candidate, ErrorName, read_candidates
from experiments.analyses.choice.choice_rule import RuleResult, apply_rule
from experiments.analyses.choice.entrants import Contest, Entrant
from experiments.specs.decisions import ChooseSpec
from experiments.stats.clusters import clustered_mean
from worlds.draws import REPEATS, World
from worlds.population import LABELS, LIMIT, GraderTruth

__all__ = ["LEVEL", "ChoiceTrial", "calibration_items", "make_item", "read_graders", "try_choices"]

LEVEL = 0.95
LOWEST = ChooseSpec()
WITHIN = ChooseSpec.model_validate(
    {"lowest": "false_negative_rate", "limits": {"false_positive_rate": {"limit": 0.02, "margin": LIMIT - 0.02}}}
)


@dataclass(frozen=True, slots=True)
class ChoiceTrial:
    """One way of deciding in one world.

    Attributes
    ----------
    spec
        ``lowest`` error rate, or lowest false negatives ``within`` a limit on false positives.
    rule
        ``choose``, ``unadjusted`` or ``estimates``.
    left_out
        The truly best of those that truly keep the limits is not in the set.
    broke
        One that truly breaks a limit was said to keep it.
    took_breaking
        The one with the lowest rate among those said to keep the limits truly breaks one.
    size
        Members of the set.
    excess
        By how much the true rate of the one taken is above the best's; ``None`` where none is taken.
    """

    spec: str
    rule: str
    on_limit: bool
    left_out: bool
    broke: bool
    took_breaking: bool
    size: int
    excess: float | None


def try_choices(world: World, *, on_limit: bool) -> list[ChoiceTrial]:
    """Decide by both specs, each in three ways."""
    contest = read_graders(world)
    candidates = read_candidates(contest)
    trials = []
    for name, spec in (("lowest", LOWEST), ("within", WITHIN)):
        result = apply_rule(candidates, contest, spec, level=LEVEL)
        kept = {standing.name for standing in result.standings if standing.limits == "kept"}
        looks_kept = _keep_by_estimate(candidates, contest, spec)
        first = _lowest(candidates, contest, spec.lowest, looks_kept)
        ways: dict[str, tuple[set[str], set[str], str | None]] = {
            "choose": (set(result.members), kept, _taken(result, kept)),
            "unadjusted": (_not_worse(candidates, contest, spec.lowest, looks_kept, first), looks_kept, first),
            "estimates": (set() if first is None else {first}, looks_kept, first),
        }
        trials += [
            _judge(world, spec, name, rule, members, said, taken, on_limit=on_limit)
            for rule, (members, said, taken) in ways.items()
        ]
    return trials


def read_graders(world: World) -> Contest:
    """The calibration set with all graders' verdicts, as ``choose`` reads them."""
    entrants = tuple(
        Entrant(grader.name, counts, REPEATS, {}, None)
        for grader, counts in zip(world.population.graders, world.counts, strict=True)
    )
    labels = tuple(LABELS[place] for place in world.calibration.classes)
    return Contest("world", SIMPLEQA, calibration_items(world), labels, entrants)


def calibration_items(world: World) -> tuple[Item, ...]:
    """Items that stand for labelled answers; who answered is not said, so that error rates are those of all models."""
    places = enumerate(world.calibration.questions.tolist())
    return tuple(make_item("calibration", question, place) for place, question in places)


@cache
def make_item(part: str, question: int, answer: int, respondent: str | None = None) -> Item:
    """An item whose text says no more than which answer it is."""
    name = f"{part}-{question:04}"
    return Item(
        f"{name} {respondent or ''}{answer:05}",
        f"{name}?",
        Reference("right", "right"),
        f"answer {answer}",
        name,
        respondent=respondent,
    )


def _taken(result: RuleResult, kept: set[str]) -> str | None:
    """As ``choose`` recommends where no cost is known: the lowest rate of the set among those that keep the limits."""
    return next((name for name in result.members if name in kept), None)


def _keep_by_estimate(candidates: tuple[Candidate, ...], contest: Contest, spec: ChooseSpec) -> set[str]:
    return {
        one.name
        for one in candidates
        if all(_rate(one, contest, rate) <= limit.limit + limit.margin for rate, limit in spec.limits.items())
    }


def _rate(candidate: Candidate, contest: Contest, rate: ErrorName) -> float:
    return float(np.nanmean(candidate.wrong(contest, rate)))


def _lowest(candidates: tuple[Candidate, ...], contest: Contest, rate: ErrorName, names: set[str]) -> str | None:
    known = {one.name: _rate(one, contest, rate) for one in candidates if one.name in names}
    return min(known, key=lambda name: known[name], default=None)


def _not_worse(
    candidates: tuple[Candidate, ...], contest: Contest, rate: ErrorName, names: set[str], first: str | None
) -> set[str]:
    """Those whose interval of the paired difference from the first holds 0, each pair by itself."""
    wrong = {one.name: one.wrong(contest, rate) for one in candidates if one.name in names}
    found = set()
    for name, own in wrong.items():
        used = ~np.isnan(own)
        questions = np.array(contest.clusters)[used].tolist()
        difference = clustered_mean((own - wrong[first or name])[used], questions, level=LEVEL)
        if name == first or difference.low is None or difference.low <= 0:
            found.add(name)
    return found


def _judge(
    world: World,
    spec: ChooseSpec,
    name: str,
    rule: str,
    members: set[str],
    said: set[str],
    taken: str | None,
    *,
    on_limit: bool,
) -> ChoiceTrial:
    graders = {one.name: one for one in world.population.graders}
    keeping = {one.name for one in graders.values() if _keeps(one, spec)}
    best = min(keeping, key=lambda one: graders[one].rates[spec.lowest])
    gap = None if taken is None else float(graders[taken].rates[spec.lowest] - graders[best].rates[spec.lowest])
    return ChoiceTrial(
        spec=name,
        rule=rule,
        on_limit=on_limit,
        left_out=best not in members,
        broke=bool(said - keeping),
        took_breaking=taken is not None and taken not in keeping,
        size=len(members),
        excess=gap,
    )


def _keeps(grader: GraderTruth, spec: ChooseSpec) -> bool:
    return all(grader.rates[rate] <= limit.limit + limit.margin + 1e-12 for rate, limit in spec.limits.items())
