"""Several respondents' samples side by side, row by row the same question: what moves several scores at once.

A row holds the sums of one question: of every respondent's benchmark items, then of every respondent's calibration
items. The made-up questions (:mod:`experiments.stats.correction.samples`) come last; those of one set of calibration
items are the same questions for all who are corrected by it, however it is weighed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums
from experiments.stats.correction.samples import GradedItems, LabelledItems, Samples, assemble_samples
from experiments.stats.correction.uncertainty import SharesDraws, solve_draws
from experiments.stats.inputs import encode_clusters

__all__ = ["build_sides", "draw_sides", "group_calibrations", "joint_blocks", "split_sides"]

_MADE_UP = 0.5

Array = NDArray[np.float64]


def build_sides(
    graded: Sequence[GradedItems], known: Sequence[LabelledItems], *, labels: Sequence[str], shared_clusters: bool
) -> list[Samples]:
    """Samples of R respondents, their questions numbered alike."""
    names: list[Hashable] = [name for items in graded for name in items.clusters]
    for labelled in known:
        names += labelled.clusters if shared_clusters else [("calibration", name) for name in labelled.clusters]
    sizes = [*(len(items.clusters) for items in graded), *(len(items.clusters) for items in known)]
    codes = np.split(encode_clusters(names, n=len(names)), np.cumsum(sizes)[:-1])
    n = len(graded)
    return [
        assemble_samples(graded[k], known[k], codes[k], codes[n + k], labels=labels, shared_clusters=shared_clusters)
        for k in range(n)
    ]


def group_calibrations(known: Sequence[LabelledItems]) -> list[int]:
    """The place of the first respondent that is corrected by the same items."""
    return [next(k for k, other in enumerate(known) if _same_items(one, other)) for one in known]


def draw_sides(
    sides: Sequence[Samples],
    groups: Sequence[int],
    shares: Sequence[Array],
    *,
    rng: np.random.Generator,
    resamples: int,
) -> list[SharesDraws]:
    """Corrected shares of all respondents in the same resamples of questions, laid around their ``shares`` (K,)."""
    n_labels = len(sides[0].labels)
    blocks = joint_blocks(sides, groups)
    totals = np.sum([bootstrap_sums(block, rng=rng, resamples=resamples) for block in blocks], axis=0)
    whole = np.sum([block.sum(axis=0) for block in blocks], axis=0)
    drawn = split_sides(totals, n_labels), split_sides(whole[None], n_labels)
    return [solve_draws(one, two[0], pi) for one, two, pi in zip(*drawn, shares, strict=True)]


def joint_blocks(sides: Sequence[Samples], groups: Sequence[int]) -> list[Array]:
    """Sums by question, (G, R K + R K * K): one array for each sample that is resampled by itself.

    These are benchmark and calibration, or both in one where they share questions.
    """
    n, n_labels = len(sides), len(sides[0].labels)
    cells = n_labels * n_labels
    parts = [*((side.shares, side.codes) for side in sides), *((_cells(side), side.labelled_codes) for side in sides)]
    starts = [*range(0, n * n_labels, n_labels), *range(n * n_labels, n * (n_labels + cells), cells)]
    width = n * (n_labels + cells)
    extra = [
        _placed(_MADE_UP * np.eye(part.shape[1]), start, width) for (part, _), start in zip(parts, starts, strict=True)
    ]
    one_each = [np.sum([extra[n + k] for k in range(n) if groups[k] == group], axis=0) for group in sorted({*groups})]
    made_up = [np.concatenate(extra[:n]), np.concatenate(one_each)]
    slices = [slice(0, 2 * n)] if sides[0].shared else [slice(0, n), slice(n, 2 * n)]
    tables = [_sum_side_by_side(parts[part], starts[part], width) for part in slices]
    made_up = [np.concatenate(made_up)] if sides[0].shared else made_up
    return [np.concatenate([table, rows]) for table, rows in zip(tables, made_up, strict=True)]


def split_sides(sums: Array, n_labels: int) -> list[Array]:
    """Columns of :func:`joint_blocks` as those of each respondent, (G, K + K * K) each."""
    cells = n_labels * n_labels
    n = sums.shape[1] // (n_labels + cells)
    benchmark, calibration = sums[:, : n * n_labels], sums[:, n * n_labels :]
    return [
        np.hstack([benchmark[:, k * n_labels : (k + 1) * n_labels], calibration[:, k * cells : (k + 1) * cells]])
        for k in range(n)
    ]


def _sum_side_by_side(parts: Sequence[tuple[Array, NDArray[np.int64]]], starts: Sequence[int], width: int) -> Array:
    """One row a question that is in any part, each part's sums in its own columns; rows sorted by what they hold."""
    questions = np.unique(np.concatenate([codes for _, codes in parts]))
    table = np.zeros((len(questions), width))
    for (part, codes), start in zip(parts, starts, strict=True):
        if not len(codes):
            continue
        # Sorted by what is added, so that the order of items cannot move the last bit.
        order = np.lexsort((*part.T, codes))
        firsts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        rows = np.searchsorted(questions, codes[order][firsts])
        table[rows, start : start + part.shape[1]] = np.add.reduceat(part[order], firsts, axis=0)
    return np.asarray(table[np.lexsort(table.T)], dtype=np.float64)


def _cells(side: Samples) -> Array:
    return np.asarray((side.people[:, :, None] * side.verdicts[:, None, :]).reshape(len(side.people), -1))


def _placed(part: Array, start: int, width: int) -> Array:
    return np.pad(part, ((0, 0), (start, width - start - part.shape[1])))


def _same_items(first: LabelledItems, second: LabelledItems) -> bool:
    """Whether two calibrations use the same items, however they weigh them."""
    if first is second:
        return True
    return (
        list(first.reference) == list(second.reference)
        and list(first.clusters) == list(second.clusters)
        and np.array_equal(np.asarray(first.counts), np.asarray(second.counts))
        and np.array_equal(_used(first), _used(second))
    )


def _used(items: LabelledItems) -> NDArray[np.bool_]:
    """Which items have a weight."""
    if items.weights is None:
        return np.ones(len(items.reference), dtype=bool)
    return np.asarray(items.weights, dtype=np.float64) > 0
