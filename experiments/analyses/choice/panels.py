"""Several graders as one: panels and cascades, from the verdicts that are stored, unpaid.

A panel's verdict is the label with the most votes when each member is asked once. Repeat r of the panel takes repeat r
of each member, so it has as many repeats as the member with the fewest; a member with a single verdict, such as a
baseline in which nothing varies, casts it in every repeat. A member without a verdict does not vote, and a tie is no
verdict.

A cascade asks its first grader as often as it was asked in the run. Where all these verdicts came and agree, theirs is
the cascade's; elsewhere it is one verdict of the second grader. So a verdict of a cascade costs all repeats of the
first, and one verdict of the second for the share of items that is passed on. It takes the time of the same calls, one
after another, as a panel's verdict takes that of its members'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.choice.candidates import Candidate
from experiments.analyses.choice.entrants import Contest, Entrant
from experiments.specs.decisions import CascadeSpec, ChooseSpec, PanelSpec
from experiments.specs.joint_graders import resolve_joint_graders
from graders.pricing import Cost

__all__ = ["build_joint_candidates"]

NO_LABEL = -1


def build_joint_candidates(contest: Contest, singles: Sequence[Candidate], spec: ChooseSpec) -> tuple[Candidate, ...]:
    """Panels, then cascades, in the order of the experiment.

    Parameters
    ----------
    contest
        The graders of the run.
    singles
        A candidate for each, in the same order.
    spec
        The rule with its panels and cascades.

    Raises
    ------
    SpecError
        If they cannot be made of the run's graders (:func:`experiments.specs.joint_graders.resolve_joint_graders`).
    """
    by_name = {candidate.name: candidate for candidate in singles}
    computed = {candidate.name for candidate in singles if candidate.is_exact}
    whole = resolve_joint_graders(spec, list(by_name), computed=computed)
    entrants = {entrant.name: entrant for entrant in contest.entrants}
    panels = [_panel(panel, contest, entrants, by_name) for panel in whole.panels]
    cascades = [_cascade(cascade, contest, entrants, by_name) for cascade in whole.cascades]
    return (*panels, *cascades)


def _panel(
    spec: PanelSpec, contest: Contest, entrants: Mapping[str, Entrant], singles: Mapping[str, Candidate]
) -> Candidate:
    drawn = [_drawn_labels(entrants[name], contest) for name in spec.members]
    repeats = min((labels.shape[1] for labels in drawn if labels.shape[1] > 1), default=1)
    votes = np.stack([_cast(labels, repeats) for labels in drawn])
    counts, failures = _count_votes(votes, len(contest.scale.labels))
    return Candidate(
        name=spec.name,
        form="panel",
        shares=_shares(counts),
        counts=counts,
        expected=repeats,
        failures=failures,
        thousand=_total([singles[name].thousand for name in spec.members]),
        thousand_seconds=_add_up([singles[name].thousand_seconds for name in spec.members]),
        notes=(f"majority of {', '.join(spec.members)}",),
    )


def _cast(labels: NDArray[np.int64], repeats: int) -> NDArray[np.int64]:
    """A member's votes in each repeat; a single verdict is cast in all."""
    return np.repeat(labels, repeats, axis=1) if labels.shape[1] == 1 else labels[:, :repeats]


def _count_votes(votes: NDArray[np.int64], n_labels: int) -> tuple[NDArray[np.int64], dict[str, int]]:
    """Labels that win, (n, L), and repeats in which none does; ``votes`` is (members, n, R)."""
    cast = np.stack([(votes == label).sum(axis=0) for label in range(n_labels)], axis=-1)
    most = cast.max(axis=-1, keepdims=True)
    wins = (cast == most) & (most > 0)
    tied = wins.sum(axis=-1) > 1
    counts = (wins & ~tied[..., None]).sum(axis=1).astype(np.int64)
    failures = {"no_vote": int((most == 0).sum()), "tie": int(tied.sum())}
    return counts, {reason: number for reason, number in failures.items() if number}


def _cascade(
    spec: CascadeSpec, contest: Contest, entrants: Mapping[str, Entrant], singles: Mapping[str, Candidate]
) -> Candidate:
    first, cheap, second = entrants[spec.first], singles[spec.first], singles[spec.then]
    labels = _drawn_labels(first, contest)
    sure = (labels != NO_LABEL).all(axis=1) & (labels == labels[:, :1]).all(axis=1)
    one = np.eye(len(contest.scale.labels), dtype=np.int64)[np.where(sure, labels[:, 0], 0)]
    missing = int((second.expected - second.counts[~sure].sum(axis=1)).sum())
    n_passed = int((~sure).sum())
    passed = n_passed / len(sure) if len(sure) else 0.0
    once = f"; {first.name} was asked once, so only its failures are passed on" if first.expected == 1 else ""
    return Candidate(
        name=spec.name,
        form="cascade",
        shares=np.where(sure[:, None], one, second.shares),
        counts=np.where(sure[:, None], one * second.expected, second.counts),
        expected=second.expected,
        failures={"not_given_by_second": missing} if missing else {},
        thousand=_cascade_cost(cheap, second, passed),
        thousand_seconds=_cascade_seconds(cheap, second, passed),
        draws=1,
        repeats=False,
        notes=(
            f"{first.name} where its {first.expected} verdicts agree, else {spec.then}: "
            f"{n_passed:,} of {len(sure):,} items passed on{once}",
        ),
    )


def _cascade_cost(first: Candidate, second: Candidate, passed: float) -> Cost | None:
    each = None if first.thousand is None else _times(first.thousand, first.expected)
    rest = Cost(0.0) if not passed else None if second.thousand is None else _times(second.thousand, passed)
    return _total([each, rest])


def _cascade_seconds(first: Candidate, second: Candidate, passed: float) -> float | None:
    each = None if first.thousand_seconds is None else first.thousand_seconds * first.expected
    rest = 0.0 if not passed else None if second.thousand_seconds is None else second.thousand_seconds * passed
    return _add_up([each, rest])


def _add_up(seconds: Sequence[float | None]) -> float | None:
    """The sum; not known as soon as one is not."""
    known = [one for one in seconds if one is not None]
    return sum(known) if len(known) == len(seconds) else None


def _times(cost: Cost, factor: float) -> Cost:
    return replace(cost, amount=cost.amount * factor)


def _total(costs: Sequence[Cost | None]) -> Cost | None:
    """The sum; not known as soon as one is not."""
    total = Cost(0.0)
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total


def _drawn_labels(entrant: Entrant, contest: Contest) -> NDArray[np.int64]:
    """(n, R) position of each verdict's label on the scale, ``NO_LABEL`` where there is none."""
    place = {label: position for position, label in enumerate(contest.scale.labels)}
    table = np.full((len(contest.items), entrant.expected), NO_LABEL, dtype=np.int64)
    if entrant.results is None:
        raise ValueError(f"entrant {entrant.name!r}: no verdicts of its own; expected a grader of the run")
    groups: dict[str, dict[int, str | None]] = {}
    for verdict in entrant.results.verdicts:
        groups.setdefault(verdict.item_digest, {})[verdict.repeat] = verdict.label
    for row, item in enumerate(contest.items):
        for repeat, label in groups.get(item.digest, {}).items():
            if label is not None and repeat < entrant.expected:
                table[row, repeat] = place[label]
    return table


def _shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    valid = counts.sum(axis=1, keepdims=True)
    return np.where(valid > 0, counts / np.maximum(valid, 1), np.nan)
