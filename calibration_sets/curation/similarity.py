"""Pairs of rows that are nearer than a threshold, block by block, so that no n x n matrix is ever held."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["SimilarPair", "TooManyPairsError", "choose_apart", "choose_survivors", "find_similar_pairs"]

BLOCK_ROWS = 512
"""Rows compared with all others at once: 512 x 4,326 cosines of four bytes are 9 MB."""

ROUNDING = 1e-6
"""By which cosines of single precision may be off: one that is the threshold itself is not above it."""


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two rows, ``first < second``, and their cosine."""

    first: int
    second: int
    cosine: float


class TooManyPairsError(ValueError):
    """More pairs are near than were asked for."""


def find_similar_pairs(
    vectors: Any, *, threshold: float, most: int | None = None, block_rows: int = BLOCK_ROWS
) -> list[SimilarPair]:
    """All pairs of rows whose cosine is above the threshold, in order.

    Parameters
    ----------
    vectors
        n x d, dense or scipy-sparse, of any length a row; a row of zeros is near nothing.
    threshold
        Cosine that a pair must exceed.
    most
        Pairs that are wanted at most; by default any number, which grows with the square of the rows.

    Raises
    ------
    TooManyPairsError
        As soon as there are more, before they are held.
    """
    unit = _unit_rows(vectors)
    pairs: list[SimilarPair] = []
    for start in range(0, unit.shape[0], block_rows):
        block = unit[start : start + block_rows] @ unit[start:].T
        rows, columns, cosines = _above(block, threshold)
        upper = columns > rows
        if most is not None and len(pairs) + int(upper.sum()) > most:
            raise TooManyPairsError
        pairs += [
            SimilarPair(start + int(row), start + int(column), float(cosine))
            for row, column, cosine in zip(rows[upper], columns[upper], cosines[upper], strict=True)
        ]
    return sorted(pairs, key=lambda pair: (pair.first, pair.second))


def _unit_rows(vectors: Any) -> Any:
    return _unit_sparse(vectors) if sparse.issparse(vectors) else _unit_dense(vectors)


def _unit_sparse(vectors: Any) -> Any:
    rows = vectors.tocsr()
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), dtype=float).ravel())
    return sparse.diags_array(_inverse(lengths)) @ rows


def _unit_dense(vectors: Any) -> Any:
    rows = np.asarray(vectors, dtype=np.float32)
    return rows * _inverse(np.linalg.norm(rows, axis=1))[:, None]


def _inverse(lengths: NDArray[Any]) -> NDArray[Any]:
    inverse = np.zeros_like(lengths)
    np.divide(1, lengths, out=inverse, where=lengths > 0)
    return inverse


def _above(block: Any, threshold: float) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    return _above_sparse(block, threshold) if sparse.issparse(block) else _above_dense(block, threshold)


def _above_sparse(block: Any, threshold: float) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    entries = block.tocoo()
    near = entries.data > threshold + ROUNDING
    return entries.row[near], entries.col[near], entries.data[near]


def _above_dense(block: Any, threshold: float) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    rows, columns = np.nonzero(block > threshold + ROUNDING)
    return rows, columns, block[rows, columns]


def choose_apart(
    vectors: NDArray[Any], order: Sequence[int], *, threshold: float, block_rows: int = BLOCK_ROWS
) -> dict[int, SimilarPair]:
    """As :func:`choose_survivors` with :func:`find_similar_pairs`, without a list of the pairs.

    Where an embedder puts all texts close together, nearly all pairs are near: what is held here grows with the rows,
    never with the pairs.
    """
    unit = _unit_dense(vectors)[list(order)]
    kept: list[int] = []
    dropped: dict[int, SimilarPair] = {}
    for start in range(0, len(order), block_rows):
        block = unit[start : start + block_rows]
        before = np.asarray(kept, dtype=int)
        to_kept, within = block @ unit[before].T, block @ block.T
        for place in range(len(block)):
            inside = [one - start for one in kept[len(before) :]]
            cosines = np.concatenate([to_kept[place], within[place, inside]])
            nearest = int(cosines.argmax()) if len(cosines) else 0
            if len(cosines) and cosines[nearest] > threshold + ROUNDING:
                rows = sorted((order[start + place], order[kept[nearest]]))
                dropped[order[start + place]] = SimilarPair(rows[0], rows[1], min(1.0, float(cosines[nearest])))
            else:
                kept.append(start + place)
    return dropped


def choose_survivors(pairs: Iterable[SimilarPair], order: Sequence[int]) -> dict[int, SimilarPair]:
    """Keep rows in this order, and none that is near one that is kept; the pair that each dropped row fell by."""
    near: dict[int, list[SimilarPair]] = {}
    for pair in pairs:
        near.setdefault(pair.first, []).append(pair)
        near.setdefault(pair.second, []).append(pair)
    kept: set[int] = set()
    dropped: dict[int, SimilarPair] = {}
    for row in order:
        rivals = [pair for pair in near.get(row, []) if (pair.second if pair.first == row else pair.first) in kept]
        if rivals:
            dropped[row] = max(rivals, key=lambda pair: pair.cosine)
        else:
            kept.add(row)
    return dropped
