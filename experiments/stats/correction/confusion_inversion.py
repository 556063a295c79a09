"""True class shares from a grader's verdicts, by inverting its confusion matrix.

With pi the true shares, q the observed ones and ``M[a, b] = P(grader says b | people say a)``, ``q = M' pi``. For two
classes the solution is that of Rogan and Gladen 1978. Sampling error can push it outside the simplex; then the nearest
point of the simplex is taken, with a flag and the raw value beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["CorrectedShares", "NotIdentifiedError", "correct_shares", "invert_confusion", "project_to_simplex"]

_ROUNDING = 1e-12
_SINGULAR = 1e-10

Array = NDArray[np.float64]


class NotIdentifiedError(ValueError):
    """The error rates do not allow a correction; the message says why in one line."""


@dataclass(frozen=True, slots=True)
class CorrectedShares:
    """True class shares, in the order of ``labels``.

    ``observed`` are the grader's shares q, ``raw`` the solution of ``q = M' pi``, which sums to one but can leave
    [0, 1]; ``shares`` is the nearest point of the simplex and ``projected`` says whether it differs. ``message`` says
    in one line what is amiss; it is empty where nothing is.
    """

    labels: tuple[str, ...]
    observed: tuple[float, ...]
    matrix: tuple[tuple[float, ...], ...]
    raw: tuple[float, ...]
    shares: tuple[float, ...]
    projected: bool
    message: str


def correct_shares(observed: ArrayLike, matrix: ArrayLike, *, labels: tuple[str, ...]) -> CorrectedShares:
    """Invert one confusion matrix and bring the result to the simplex.

    Parameters
    ----------
    observed
        (L,) shares of the grader's labels.
    matrix
        (L, L) people in rows, each row summing to one.
    labels
        (L,) the scale. With two labels the last is the one whose apparent rate the message speaks of.

    Raises
    ------
    NotIdentifiedError
        A matrix that cannot be inverted, or that has a row without items (NaN).
    ValueError
        Other shapes, or numbers that are no shares.
    """
    shares, rates = _check(observed, matrix, len(labels))
    raw = invert_confusion(shares, rates)
    if np.isnan(raw).any():
        raise NotIdentifiedError("not identified: the confusion matrix cannot be inverted")
    nearest = project_to_simplex(raw)
    projected = bool(np.abs(nearest - raw).max() > _ROUNDING)
    return CorrectedShares(
        labels=tuple(labels),
        observed=tuple(shares.tolist()),
        matrix=tuple(tuple(row) for row in rates.tolist()),
        raw=tuple(raw.tolist()),
        shares=tuple((nearest if projected else raw).tolist()),
        projected=projected,
        message=_message(raw, labels) if projected else "",
    )


def invert_confusion(observed: Array, matrices: Array) -> Array:
    """Solve ``q = M' pi`` for whole stacks: observed (..., L), matrices (..., L, L), people in rows.

    Returns
    -------
    (..., L), not confined to the simplex, NaN where the matrix is singular or not known.
    """
    known = np.asarray(np.isfinite(matrices).all(axis=(-2, -1)) & np.isfinite(observed).all(axis=-1))
    safe = np.where(known[..., None, None], matrices, np.eye(matrices.shape[-1]))
    solvable = np.asarray(known & (np.abs(np.linalg.det(safe)) > _SINGULAR))
    safe = np.where(solvable[..., None, None], safe, np.eye(matrices.shape[-1]))
    solution = np.linalg.solve(np.swapaxes(safe, -1, -2), np.where(known[..., None], observed, 0.0)[..., None])[..., 0]
    return np.where(solvable[..., None], solution, np.nan)


def project_to_simplex(points: Array) -> Array:
    """Nearest points of the probability simplex, shape (..., L) [Michelot 1986; Wang and Carreira-Perpinan 2013].

    With the coordinates sorted downwards, u, the threshold is ``t = (sum(u[:k]) - 1) / k`` for the largest k with
    ``u[k - 1] > t``, and the projection ``max(x - t, 0)``. NaN stays NaN.
    """
    ordered = -np.sort(-points, axis=-1)
    ranks = np.arange(1, points.shape[-1] + 1)
    thresholds = (np.cumsum(ordered, axis=-1) - 1.0) / ranks
    kept = np.maximum((ordered > thresholds).sum(axis=-1, keepdims=True), 1)
    nearest = np.maximum(points - np.take_along_axis(thresholds, kept - 1, axis=-1), 0.0)
    return np.asarray(nearest, dtype=np.float64)


def _check(observed: ArrayLike, matrix: ArrayLike, n_labels: int) -> tuple[Array, Array]:
    shares, rates = np.asarray(observed, dtype=np.float64), np.asarray(matrix, dtype=np.float64)
    if shares.shape != (n_labels,) or rates.shape != (n_labels, n_labels):
        raise ValueError(
            f"matrix: wrong shape, got {shares.shape} and {rates.shape}; "
            f"expected ({n_labels},) and ({n_labels}, {n_labels})"
        )
    if np.isnan(rates).any():
        raise NotIdentifiedError("not identified: people gave some label to no calibration item")
    for where, row in [("observed", shares), *((f"matrix[{place}]", row) for place, row in enumerate(rates))]:
        if not (np.all(row >= -_ROUNDING) and abs(row.sum() - 1.0) < 1e-9):
            raise ValueError(f"{where}: not shares, got {row.tolist()}; expected numbers from 0 to 1 that sum to 1")
    return shares, rates


def _message(raw: Array, labels: tuple[str, ...]) -> str:
    if len(labels) == 2:
        return "apparent rate is below 1 - specificity" if raw[1] < 0 else "apparent rate is above sensitivity"
    below = ", ".join(f"{label} {share:.4f}" for label, share in zip(labels, raw, strict=True) if share < 0)
    return f"raw shares are outside the simplex ({below}): moved to its nearest point"
