"""A grader beside people: what it has less what they have, on the same items and the same references.

Wherever a rater faces the majority of the others (:mod:`human_ceiling`), the grader is held against
that same reference: the difference is of one verdict of the grader and one label of that rater. A grader that is one
more person of the same kind has a difference of 0 on average. To hold the grader against a consensus of all people,
and people against each other, would not have that property.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from experiments.stats.clusters.clustered_mean import clustered_covariance, clustered_mean
from experiments.stats.estimate import Difference
from experiments.stats.inputs import check_counts, check_labels, check_level, encode_clusters
from experiments.stats.raters.human_ceiling import label_measures, leave_one_out_references
from experiments.stats.raters.rater_agreement import code_ratings

__all__ = ["GraderBesidePeople", "grader_beside_people"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GraderBesidePeople:
    """Grader less people.

    Positive in ``raw``: the grader agrees more with people than they do with each other. Positive in an error rate:
    the grader errs more.
    """

    raw: Difference
    false_negative_rate: Difference
    false_positive_rate: Difference


def grader_beside_people(
    ratings: Sequence[Sequence[str | None]],
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    positive: str,
    level: float = 0.95,
) -> GraderBesidePeople:
    """Grader less people in agreement and error rates, paired by label and by reference.

    Parameters
    ----------
    ratings
        (raters, n) each rater's label of each item, ``None`` where there is none.
    counts
        (n, L) the grader's valid verdicts of each item with each label; items without one are left out.
    clusters
        (n,) the question of each item.
    labels
        (L,) the scale.
    positive
        The label that counts as right.

    Returns
    -------
    GraderBesidePeople
        Each a mean difference with Student's interval on the cluster-robust variance (CR2), and its two-sided p-value,
        ``None`` where no question differs from another or there is but one. ``n`` counts items.

    Raises
    ------
    ValueError
        A label off the scale, a rater with too few or too many entries, a negative count.
    """
    check_labels(labels, positive)
    check_level(level)
    codes = code_ratings(ratings, labels, n=len(clusters))
    table = check_counts(counts, n=len(clusters), n_labels=len(labels))
    groups = encode_clusters(clusters, n=len(table))
    verdicts = table.sum(axis=1)
    references = np.where(verdicts > 0, leave_one_out_references(codes, n_labels=len(labels)), -1)
    shares = np.broadcast_to(table / np.maximum(verdicts, 1)[:, None], (len(codes), *table.shape))
    place = list(labels).index(positive)
    people = label_measures(np.eye(len(labels))[codes], references, positive=place)
    grader = label_measures(shares, references, positive=place)
    repeats = int(verdicts.max(initial=0))
    raw, missed, passed = (
        _difference(values, people.items, groups, repeats=repeats, level=level)
        for values in (grader.right - people.right, grader.missed - people.missed, grader.passed - people.passed)
    )
    return GraderBesidePeople(raw=raw, false_negative_rate=missed, false_positive_rate=passed)


def _difference(values: Array, items: Codes, groups: Codes, *, repeats: int, level: float) -> Difference:
    used = ~np.isnan(values)
    kept, codes = values[used], np.unique(groups[items[used]], return_inverse=True)[1]
    widest = 1.0 + abs(float(np.sort(kept).mean())) if len(kept) else 1.0
    found = clustered_mean(kept, codes.tolist(), repeats=repeats, level=level, bound=widest)
    estimate = replace(found, n=len(np.unique(items[used])))
    if estimate.method != "student-clustered" or estimate.value is None:
        return Difference(estimate, None, "none")
    error = float(clustered_covariance(kept[:, None], codes)[0, 0]) ** 0.5
    tail = float(special.stdtr(estimate.clusters - 1, -abs(estimate.value) / error))
    return Difference(estimate, 2 * tail, "student-clustered")
