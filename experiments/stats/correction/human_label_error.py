"""The third source of error: which people labelled the calibration items.

One person's slip on one item is part of what items differ by, and so is in the variance by questions already. What
that leaves out is that a person can be strict or lenient on all items. With ``u[i, r]`` what item i adds to a result
through the label of person r, and ``d`` its distance from the item's mean over people, the added variance is that
between people, less what item by person noise alone would make of it: ``H / (H - 1) (sum_r (sum_i d[i, r])**2 -
sum_cr (sum_{i in c} d[i, r])**2)``, the two-way clustering of Cameron, Gelbach and Miller 2011; 0 if it is negative.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.stats.clusters.cluster_bootstrap import sum_by_cluster
from experiments.stats.correction.influence import score_direction
from experiments.stats.correction.samples import Samples

__all__ = ["human_label_variance"]

Array = NDArray[np.float64]


def human_label_variance(samples: Samples, pi: Array, gradient: Array) -> float | None:
    """Variance that people who are a sample of people add to a score; ``None`` where fewer than two labelled.

    Parameters
    ----------
    samples
        Both samples; the calibration items rated by several people.
    pi
        (K,) true shares.
    gradient
        (K,) gradient of the score there.
    """
    if samples.ratings is None or len(samples.ratings) < 2:
        return None
    distances = _distances(samples, samples.ratings, pi, gradient)
    by_question = sum_by_cluster(distances.T, samples.labelled_codes)
    n_people = len(samples.ratings)
    between = np.sort(by_question.sum(axis=0) ** 2).sum() - np.sort((by_question**2).ravel()).sum()
    return max(0.0, float(between) * n_people / (n_people - 1))


def _distances(samples: Samples, ratings: Array, pi: Array, gradient: Array) -> Array:
    """Influence of each person's label of each item, less the item's mean; 0 where there is no label. (H, n)."""
    totals = samples.totals()
    direction = score_direction(samples, gradient, made_up=False)
    # What an item adds if people call it a, for each a: (n, K).
    by_label = -(pi / totals.row_sizes) * (samples.verdicts @ direction[:, None] - totals.matrix @ direction)
    given = ratings.sum(axis=2)
    n_given = given.sum(axis=0)
    added = (ratings * by_label).sum(axis=2) / n_given
    mean = added.sum(axis=0) / n_given
    return np.where(given > 0, added - mean, 0.0)
