"""Error rates from people's labels of a review queue, weighted by one over the chance of each item to be in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.graded_samples import GradedSample, positive_of, positive_shares
from experiments.analyses.queues.queue_file import LabelledQueue
from experiments.errors import ImportFileError
from experiments.reports.exact_sample import ExactSample
from experiments.stats.errors import kish_size, weighted_rate
from experiments.stats.estimate import Estimate

__all__ = ["QueueRates", "WeightedRates", "estimate_queue_rates"]


@dataclass(frozen=True, slots=True)
class WeightedRates:
    """One grader: weighted rates, and the verdicts that it gave on the queue of those asked for.

    ``refused`` says by the name of a rate why there is none, though the queue has items of its class.
    """

    name: str
    false_negative_rate: Estimate
    false_positive_rate: Estimate
    n_expected: int
    n_verdicts: int
    refused: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class QueueRates:
    """Rates of all items of a run, from a queue.

    ``positive_share`` is the weighted share of items that people call right; ``effective`` Kish's number of items.
    """

    run_id: str
    queue_id: str
    level: float
    n_items: int
    n_rows: int
    n_random: int
    labels: Mapping[str, int]
    effective: float
    positive_share: Estimate
    graders: tuple[WeightedRates, ...]


def estimate_queue_rates(graded: Sequence[GradedSample], queue: LabelledQueue, *, level: float) -> QueueRates:
    """Weighted false negative and positive rates of the graders of the queue's run.

    Raises
    ------
    ImportFileError
        If the run has no item of a row's content.
    SpecError
        If the scale names no label as right.
    """
    sample = graded[0].sample
    places = {item.digest: row for row, item in enumerate(sample.items)}
    strangers = [row.item_digest for row in queue.rows if row.item_digest not in places]
    if strangers:
        raise ImportFileError(
            f"{queue.queue_id}: item {strangers[0][:12]} is not in run {queue.run_id}; expected a row of that run"
        )
    rows = np.array([places[row.item_digest] for row in queue.rows], dtype=np.int64)
    chances = np.array([row.probability for row in queue.rows])
    right = np.array([row.label == positive_of(sample) for row in queue.rows])
    clusters = [sample.clusters[row] for row in rows]
    return QueueRates(
        run_id=queue.run_id,
        queue_id=queue.queue_id,
        level=level,
        n_items=sample.n_items,
        n_rows=len(queue.rows),
        n_random=sum(row.part == "random" for row in queue.rows),
        labels=dict(sorted(Counter(row.label for row in queue.rows).items())),
        effective=kish_size(chances),
        positive_share=weighted_rate(right, chances, clusters, repeats=1, level=level),
        graders=tuple(_rates(one, rows, chances, right, level=level) for one in graded),
    )


def _rates(
    graded: GradedSample,
    rows: NDArray[np.int64],
    chances: NDArray[np.float64],
    right: NDArray[np.bool_],
    *,
    level: float,
) -> WeightedRates:
    sample = graded.sample
    passed = positive_shares(sample)[rows]
    clusters = np.array(sample.clusters, dtype=object)[rows]

    refused: dict[str, str] = {}

    def rate(name: str, wrong: NDArray[np.float64], kept: NDArray[np.bool_]) -> Estimate:
        used = kept & ~np.isnan(wrong)
        if _only_ranked(chances, used):
            refused[name] = (
                f"none of the {int(used.sum()):,} labelled items of its class was drawn at random, so that nothing "
                "stands for those that are not in the queue"
            )
            used = np.zeros_like(used)
        repeats = sample.draws if isinstance(sample, ExactSample) else int(sample.valid[rows][used].max(initial=0))
        return weighted_rate(wrong[used], chances[used], clusters[used].tolist(), repeats=repeats, level=level)

    return WeightedRates(
        name=graded.name,
        false_negative_rate=rate("false_negative_rate", 1 - passed, right),
        false_positive_rate=rate("false_positive_rate", passed, ~right),
        n_expected=sample.expected * len(rows),
        n_verdicts=int(sample.valid[rows].sum()),
        refused=refused,
    )


def _only_ranked(chances: NDArray[np.float64], used: NDArray[np.bool_]) -> bool:
    """Whether all items of a class are in the queue for certain, while others could have been drawn and were not.

    Their weights are then equal, and a weighted rate would be the plain one over the items that graders find hard.
    """
    return bool(used.any() and chances.min() < 1 and (chances[used] == 1).all())
