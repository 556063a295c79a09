"""Agreement on labels that are sets: one reason or two of a list, topics of a text.

Two sets that share a member are nearer than two that share none. The distance is MASI [Passonneau 2006, Measuring
Agreement on Set-valued Items]: one less the product of their Jaccard index and of a weight that is 1 for equal sets,
2/3 where one holds the other, 1/3 where they overlap otherwise, and 0 where they share nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, sum_by_cluster
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_counts, check_labels, check_level, encode_clusters, encode_labels
from experiments.stats.raters.coefficients import Disagreement, kappa_disagreement
from experiments.stats.raters.resampled import coefficient_estimate

__all__ = ["LabelSetAgreement", "label_set_agreement", "masi_distance"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelSetAgreement:
    """Agreement of one draw with people.

    ``alpha`` is Krippendorff's with the MASI distance. ``kappas`` are Cohen's, one for each member: whether it is in
    the set; ``prevalence`` is each member's share of people's sets, empty without items.
    """

    alpha: Estimate
    kappas: dict[str, Estimate]
    prevalence: dict[str, float]


def masi_distance(one: Collection[str], two: Collection[str]) -> float:
    """MASI distance of two sets, from 0 (equal) to 1 (nothing shared); two empty sets are equal."""
    first, second = frozenset(one), frozenset(two)
    if first == second:
        return 0.0
    shared = len(first & second)
    weight = 2 / 3 if first <= second or second <= first else 1 / 3
    return 1.0 - weight * shared / len(first | second)


def label_set_agreement(
    reference: Sequence[str],
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    parts: Sequence[Collection[str]],
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 1000,
) -> LabelSetAgreement:
    """Krippendorff's alpha with the MASI distance, and Cohen's kappa of each member.

    Each item weighs 1, split over its valid verdicts, as in :func:`experiments.stats.raters.agreement`.

    Parameters
    ----------
    reference
        (n,) people's label of each item.
    counts
        (n, L) valid verdicts of each item with each label; items without one are left out.
    clusters
        (n,) the question of each item.
    labels
        (L,) the scale.
    parts
        (L,) the set that each label stands for.
    rng
        Source of the resamples; the coefficients share them.

    Returns
    -------
    LabelSetAgreement
        A coefficient is ``None`` where people and the grader used one set only, or both always or never a member.

    Raises
    ------
    ValueError
        A label off the scale, two labels for one set, a negative count, lengths that differ.
    """
    check_labels(labels)
    check_level(level)
    members = _members(parts, labels)
    people = encode_labels(reference, labels)
    table = check_counts(counts, n=len(people), n_labels=len(labels))
    codes = encode_clusters(clusters, n=len(people))
    used = table.sum(axis=1) > 0
    people, table, codes = people[used], table[used], codes[used]
    repeats = int(table.sum(axis=1).max(initial=0))
    shares = table / table.sum(axis=1, keepdims=True)
    tables = np.eye(len(labels))[people][:, :, None] * shares[:, None, :]
    holds = np.array([[member in part for part in parts] for member in members], dtype=np.float64)
    distances = np.array([[masi_distance(one, two) for two in parts] for one in parts])
    estimates = _estimates(tables, codes, distances, holds, rng=rng, repeats=repeats, level=level, resamples=resamples)
    return LabelSetAgreement(
        alpha=estimates[0],
        kappas=dict(zip(members, estimates[1:], strict=True)),
        prevalence=dict(zip(members, holds[:, people].mean(axis=1).tolist(), strict=True)) if len(people) else {},
    )


def _members(parts: Sequence[Collection[str]], labels: Sequence[str]) -> list[str]:
    sets = [frozenset(part) for part in parts]
    if len(sets) != len(labels) or len(set(sets)) != len(sets):
        raise ValueError(
            f"parts: {len(set(sets))} different sets of {len(sets)}; expected {len(labels)} different ones"
        )
    return sorted({member for part in sets for member in part})


def _estimates(
    tables: Array,
    codes: NDArray[np.int64],
    distances: Array,
    holds: Array,
    *,
    rng: np.random.Generator,
    repeats: int,
    level: float,
    resamples: int,
) -> list[Estimate]:
    n, n_labels, _ = tables.shape
    sums = sum_by_cluster(tables.reshape(n, n_labels * n_labels), codes)
    draws = bootstrap_sums(sums, rng=rng, resamples=resamples) if n else sums
    whole = _disagreements(sums.sum(axis=0).reshape(1, n_labels, n_labels), distances, holds)
    drawn = _disagreements(draws.reshape(-1, n_labels, n_labels), distances, holds)
    return [
        coefficient_estimate(one, many.coefficient, codes, value=_defined(one), repeats=repeats, level=level)
        for one, many in zip(whole, drawn, strict=True)
    ]


def _disagreements(tables: Array, distances: Array, holds: Array) -> list[Disagreement]:
    sides = np.stack([holds, 1.0 - holds], axis=1)
    collapsed = (side @ tables @ side.T for side in sides)
    return [_alpha(tables, distances), *(kappa_disagreement(two_by_two, "nominal") for two_by_two in collapsed)]


def _alpha(tables: Array, distances: Array) -> Disagreement:
    """Disagreement behind alpha with any distances [Krippendorff 2011], as for the squared ones of a scale."""
    coincidences = tables + np.swapaxes(tables, -2, -1)
    margins = coincidences.sum(axis=-1)
    total = margins.sum(axis=-1)
    observed = (coincidences * distances).sum(axis=(-2, -1)) / np.maximum(total, 1.0)
    pairs = margins[..., :, None] * margins[..., None, :]
    expected = (pairs * distances).sum(axis=(-2, -1)) / np.maximum(total * (total - 1.0), 1.0)
    return Disagreement(observed, expected)


def _defined(disagreement: Disagreement) -> float | None:
    value = float(disagreement.coefficient[0])
    return None if np.isnan(value) else value
