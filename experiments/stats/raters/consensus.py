"""One reference label an item from several people's labels: by strict majority, or as Dawid and Skene infer it."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from experiments.stats.inputs import check_labels
from experiments.stats.raters.rater_agreement import code_ratings, count_ratings

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DawidSkeneConsensus", "HumanConsensus", "Stratum", "dawid_skene", "human_consensus"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Stratum = Literal["unlabelled", "single", "unanimous", "disputed"]
"""Items by how many people labelled them, and whether they agree."""

_FIRST_ITERATIONS = 25
_SAME = 1e-4
"""Two labels whose probabilities differ by less are tied: neither is the consensus."""


@dataclass(frozen=True, slots=True)
class HumanConsensus:
    """Reference label of each item by strict majority.

    ``labels`` holds ``None`` where no label has more than half of the votes. ``agreement`` is the share of an item's
    raters who gave its most frequent label, ``None`` without raters. ``strata`` says for each item whether nobody, one
    person, or several people labelled it, and whether those were of one mind. A tied item is disputed too.
    """

    labels: tuple[str | None, ...]
    agreement: tuple[float | None, ...]
    strata: tuple[Stratum, ...]
    n_labelled: int
    n_tied: int
    n_unlabelled: int
    n_disputed: int


@dataclass(frozen=True, slots=True)
class DawidSkeneConsensus:
    """What the model of Dawid and Skene (1979) infers.

    ``labels`` (n,) hold the most probable label of each item, ``None`` for an item without ratings and where two are
    equally probable. ``posteriors`` (n, L) are the probabilities of each label; all ``None`` without ratings.
    ``confusion`` holds for each person a matrix (L, L), inferred label in rows and the person's own in columns; rows
    sum to 1. ``prevalence`` (L,) are the shares of the inferred labels. Labels that nobody gave have probability 0
    and a row of ``None``, people without ratings a matrix of ``None``; who met no item of a label has a flat row.
    ``converged`` is false where the iterations ran out.
    """

    labels: tuple[str | None, ...]
    posteriors: tuple[tuple[float | None, ...], ...]
    raters: tuple[Hashable, ...]
    confusion: tuple[tuple[tuple[float | None, ...], ...], ...]
    prevalence: tuple[float, ...]
    iterations: int
    converged: bool


def human_consensus(ratings: Sequence[Sequence[str | None]], *, labels: Sequence[str]) -> HumanConsensus:
    """Reference label of each item by strict majority of its raters.

    Parameters
    ----------
    ratings
        (raters, n) each rater's label of each item, ``None`` where there is none.
    labels
        (L,) the scale.

    Returns
    -------
    HumanConsensus
        One rater's label is the label. Ties, and pluralities of half or less, are unresolved.

    Raises
    ------
    ValueError
        A label off the scale, raters with unequal numbers of entries.
    """
    check_labels(labels)
    counts = count_ratings(code_ratings(ratings, labels, n=_n_items(ratings)), n_labels=len(labels))
    votes, most = counts.sum(axis=1), counts.max(axis=1)
    resolved = 2 * most > votes
    named = [labels[place] if done else None for place, done in zip(counts.argmax(axis=1), resolved, strict=True)]
    strata = tuple(_stratum(int(given), int(top)) for given, top in zip(votes, most, strict=True))
    return HumanConsensus(
        labels=tuple(named),
        agreement=tuple(int(top) / int(given) if given else None for given, top in zip(votes, most, strict=True)),
        strata=strata,
        n_labelled=int(resolved.sum()),
        n_tied=int(((votes > 0) & ~resolved).sum()),
        n_unlabelled=strata.count("unlabelled"),
        n_disputed=strata.count("disputed"),
    )


def dawid_skene(
    ratings: Sequence[Sequence[str | None]],
    *,
    labels: Sequence[str],
    raters: Sequence[Hashable] | None = None,
    max_iterations: int = 400,
    tolerance: float = 1e-6,
) -> DawidSkeneConsensus:
    """Consensus that weighs each person by an estimated confusion matrix [Dawid and Skene 1979], through crowd-kit.

    The expectation-maximisation starts from the shares of votes, so it is deterministic. It finds a local maximum;
    with few items or few raters its matrices are poorly determined, and the majority is the safer consensus.

    Parameters
    ----------
    ratings
        (rows, n) labels of each item, ``None`` where there is none.
    labels
        (L,) the scale.
    raters
        (rows,) the person behind each row, the rows' numbers by default. Who labelled items repeatedly has several.
    max_iterations
        Most iterations, 1 or more. Runs of 25, 50, 100 ... are made until two agree.
    tolerance
        Largest change of a probability between two such runs.

    Returns
    -------
    DawidSkeneConsensus

    Raises
    ------
    ImportError
        crowd-kit is not installed.
    ValueError
        A label off the scale, raters with unequal numbers of entries, options out of range.
    """
    check_labels(labels)
    if max_iterations < 1 or not tolerance >= 0:
        got = f"max_iterations={max_iterations!r}, tolerance={tolerance!r}"
        raise ValueError(f"dawid_skene: option out of range, got {got}; expected 1 or more, and 0 or more")
    names = list(range(len(ratings))) if raters is None else list(raters)
    if len(names) != len(ratings):
        raise ValueError(f"raters: wrong length, got {len(names)}; expected {len(ratings)}, one a row of ratings")
    codes = code_ratings(ratings, labels, n=_n_items(ratings))
    people = list(dict.fromkeys(names))
    rows = np.array([people.index(name) for name in names], dtype=np.int64)
    shape = (codes.shape[1], len(people), len(labels))
    if (codes < 0).all():
        nothing = np.full((shape[0], shape[2]), np.nan)
        fit = _Fit(nothing, np.full((shape[1], shape[2], shape[2]), np.nan), np.zeros(shape[2]), 0, True)
        return _result(fit, labels, people)
    fit = _fit(codes, rows, shape, max_iterations=max_iterations, tolerance=tolerance)
    return _result(fit, labels, people)


@dataclass(frozen=True, slots=True)
class _Fit:
    """Posteriors (n, L), errors (people, inferred label, own label) and prevalence (L,); NaN for what nobody gave."""

    posteriors: Array
    errors: Array
    prevalence: Array
    iterations: int
    converged: bool


def _fit(codes: Codes, rows: Codes, shape: tuple[int, int, int], *, max_iterations: int, tolerance: float) -> _Fit:
    """The model of ``shape`` (items, people, labels), run for 25, 50, 100 ... iterations until two runs agree."""
    # Items in an order of their own ratings: the sums over items must not hang on the order given.
    order = np.lexsort(codes)
    places, lines = np.nonzero(codes[:, order].T >= 0)
    given = (order[places], rows[lines], codes[lines, order[places]])
    fit = _iterate(given, shape, min(_FIRST_ITERATIONS, max_iterations), before=None, tolerance=tolerance)
    while not fit.converged and fit.iterations < max_iterations:
        iterations = min(2 * fit.iterations, max_iterations)
        fit = _iterate(given, shape, iterations, before=fit.posteriors, tolerance=tolerance)
    return fit


def _iterate(
    given: tuple[Codes, Codes, Codes],
    shape: tuple[int, int, int],
    iterations: int,
    *,
    before: Array | None,
    tolerance: float,
) -> _Fit:
    """A run of just so many iterations, converged where the probabilities are those of the run before.

    crowd-kit's own rule (1.4) is not used: its bound counts the prevalence once a rating, not once an item, so that it
    need not grow and the rule may stop long before the maximum.
    """
    import pandas as pd

    try:
        from crowdkit.aggregation import DawidSkene
    except ImportError as error:
        raise ImportError(
            'dawid_skene: crowd-kit is not installed; expected it: pip install "autorater-calibration[crowd]"'
        ) from error
    model: Any = DawidSkene(n_iter=iterations, tol=-np.inf)
    with warnings.catch_warnings():
        # crowd-kit 1.4 calls pandas in ways that pandas 3 deprecates.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        model.fit(pd.DataFrame(dict(zip(("task", "worker", "label"), given, strict=True))))
    n, n_people, n_labels = shape
    used = model.probas_.columns.to_numpy(dtype=np.int64)
    posteriors, prevalence = np.full((n, n_labels), np.nan), np.zeros(n_labels)
    posteriors[np.ix_(model.probas_.index.to_numpy(dtype=np.int64), used)] = model.probas_.to_numpy()
    prevalence[used] = model.priors_.loc[used].to_numpy()
    change = np.inf if before is None else float(np.nanmax(np.abs(posteriors - before)))
    errors = _errors(model.errors_, used, n_people=n_people, n_labels=n_labels)
    return _Fit(posteriors, errors, prevalence, iterations, change <= tolerance)


def _errors(table: pd.DataFrame, used: Codes, *, n_people: int, n_labels: int) -> Array:
    """crowd-kit's errors, a row for a person's own label and a column for an inferred one, as (people, L, L)."""
    errors = np.full((n_people, n_labels, n_labels), np.nan)
    people, own = np.array(table.index.tolist(), dtype=np.int64).T
    errors[np.ix_(np.unique(people), used)] = 0.0
    errors[people[:, None], used, own[:, None]] = table[used].to_numpy()
    return errors


def _result(fit: _Fit, labels: Sequence[str], people: list[Hashable]) -> DawidSkeneConsensus:
    rated = np.asarray(~np.isnan(fit.posteriors).all(axis=1), dtype=np.bool_)
    posteriors = np.where(rated[:, None], np.nan_to_num(fit.posteriors), np.nan)
    return DawidSkeneConsensus(
        labels=tuple(
            _most_probable(row, labels) if seen else None for row, seen in zip(posteriors, rated, strict=True)
        ),
        posteriors=tuple(_row(row) for row in posteriors),
        raters=tuple(people),
        confusion=tuple(tuple(_row(row) for row in matrix) for matrix in fit.errors),
        prevalence=tuple(float(share) for share in fit.prevalence),
        iterations=fit.iterations,
        converged=fit.converged,
    )


def _row(values: Array) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(value) else float(value) for value in values)


def _most_probable(row: Array, labels: Sequence[str]) -> str | None:
    best = int(row.argmax())
    return labels[best] if (row > row[best] - _SAME).sum() == 1 else None


def _stratum(votes: int, most: int) -> Stratum:
    if votes < 2:
        return "single" if votes else "unlabelled"
    return "unanimous" if most == votes else "disputed"


def _n_items(ratings: Sequence[Sequence[str | None]]) -> int:
    return len(ratings[0]) if len(ratings) else 0
