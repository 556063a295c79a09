"""The review queue: which items people should label next, with the chance of each to be in it.

Two parts. The *ranked* part is chosen by a fixed rule from what the store holds, and by nothing else, so these items
are in the queue for certain: probability 1. The *random* part is a simple random sample, without replacement, of all
other items of the run: each of them had the same chance. As every item's chance is known and above 0, rates can be
estimated from labels of the queue for the run as a whole, weighted by one over the chance; a plain mean over the queue
says nothing, as its items are in it because graders were unsure of them.

The rule of the ranked part is that of :mod:`experiments.analyses.queues.ranking`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from calibration_sets.item import Item, content_digest
from experiments.analyses.graded_samples import GradedSample
from experiments.analyses.queues.ranking import TIERS, rank_items
from experiments.errors import SpecError
from experiments.reports.exact_sample import ExactSample
from experiments.reports.sample import Sample

__all__ = ["Queue", "QueueRow", "draw_queue", "probability_text", "queue_id"]


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One item of a queue. ``part`` is ``ranked`` or ``random``, ``verdicts`` grader to what it said."""

    item: Item
    part: str
    probability: float
    reason: str
    verdicts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue of ``rows`` from the ``n_items`` of a run.

    ``n_flagged`` items had a reason; ``n_ranked`` and ``n_random`` are in the queue. ``queue_id`` covers the run, the
    items and their chances, so that a queue from which rows were taken, or in which a chance was changed, is known.
    """

    run_id: str
    queue_id: str
    n_items: int
    n_flagged: int
    n_ranked: int
    n_random: int
    random_probability: float | None
    seed: int
    tiers: Mapping[str, int]
    rows: tuple[QueueRow, ...]


def draw_queue(graded: Sequence[GradedSample], *, most: int, random_share: float = 0.2, seed: int = 0) -> Queue:
    """Draw a queue from the items of a run.

    Parameters
    ----------
    graded
        The graders whose verdicts count, one or more, of one run.
    most
        Items that the queue may have.
    random_share
        Share of the queue that is drawn at random, above 0 and at most 1; what the ranked part leaves is drawn too.
    seed
        Of the random part and of where its items stand.

    Raises
    ------
    SpecError
        Fewer than one item, a share out of its range.
    """
    if most < 1:
        raise SpecError(f"--most: {most}; expected 1 or more")
    if not 0 < random_share <= 1:
        raise SpecError(
            f"--random-share: {random_share:g}; expected above 0 and at most 1, as rates need a random part"
        )
    items = graded[0].sample.items
    flagged = rank_items(graded)
    ranked = flagged[: most - min(most, max(1, math.ceil(random_share * most - 1e-9)))]
    chosen = {suspicion.item.item_id for suspicion in ranked}
    others = [item for item in items if item.item_id not in chosen]
    n_random = min(most - len(ranked), len(others))
    rng = np.random.default_rng(seed)
    drawn = [others[place] for place in sorted(rng.choice(len(others), n_random, replace=False))] if others else []
    chance = n_random / len(others) if others else None
    why = {suspicion.item.item_id: suspicion.reason for suspicion in flagged}
    first = [(one.item, "ranked", 1.0, one.reason) for one in ranked]
    second = [(item, "random", chance or 0.0, _random_reason(why.get(item.item_id))) for item in drawn]
    rows = _with_verdicts(graded, _mix(first, second, rng))
    return Queue(
        run_id=graded[0].run_id,
        queue_id=queue_id(
            graded[0].run_id, [(row.item.digest, row.part, probability_text(row.probability)) for row in rows]
        ),
        n_items=len(items),
        n_flagged=len(flagged),
        n_ranked=len(ranked),
        n_random=n_random,
        random_probability=chance,
        seed=seed,
        tiers={name: sum(one.tier == tier for one in flagged) for tier, name in enumerate(TIERS)},
        rows=rows,
    )


def queue_id(run_id: str, rows: Sequence[tuple[str, str, str]]) -> str:
    """Name of a queue: a digest of its run and of the (digest, part, probability) of its rows, in any order."""
    return f"queue-{content_digest([run_id, sorted(map(list, rows))])[:12]}"


def probability_text(probability: float) -> str:
    """A chance with the digits that every spreadsheet keeps."""
    return f"{probability:.10g}"


def _random_reason(reason: str | None) -> str:
    return "drawn at random" if reason is None else f"drawn at random (beyond the ranked part: {reason})"


_Drawn = tuple[Item, str, float, str]


def _mix(ranked: Sequence[_Drawn], random: Sequence[_Drawn], rng: np.random.Generator) -> list[_Drawn]:
    """The ranked items in their order, the random ones in any order at places drawn among them."""
    places = set(rng.choice(len(ranked) + len(random), len(random), replace=False).tolist())
    first, second = iter(ranked), iter([random[place] for place in rng.permutation(len(random))])
    return [next(second) if place in places else next(first) for place in range(len(ranked) + len(random))]


def _with_verdicts(graded: Sequence[GradedSample], drawn: Sequence[_Drawn]) -> tuple[QueueRow, ...]:
    rows = {item.item_id: row for row, item in enumerate(graded[0].sample.items)}
    return tuple(
        QueueRow(
            item, part, chance, reason, {one.name: _verdict_text(one.sample, rows[item.item_id]) for one in graded}
        )
        for item, part, chance, reason in drawn
    )


def _verdict_text(sample: Sample, row: int) -> str:
    labels = sample.scale.labels
    if isinstance(sample, ExactSample):
        shares = zip(labels, sample.shares[row], strict=True)
        said = [f"{label} {100 * share:.0f}%" for label, share in shares if share >= 0.005]
    else:
        said = [f"{label} {count}" for label, count in zip(labels, sample.counts[row], strict=True) if count]
    failed = [f"{reason} {count}" for reason, count in sample.failures[row].items()]
    return ", ".join([*said, *failed]) or "nothing"
