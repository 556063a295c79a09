"""Many cells of one benchmark, corrected by the same labelled items.

Wordings and models whose responses one grader judged share its error rates: what is known of these is the same for all
cells, and so is what is not. :class:`SharedCalibration` holds the labelled items beside the numbered questions of the
benchmark, and gives each cell its corrected scores; :mod:`experiments.stats.comparisons.corrected_effects` gives the
differences of cells, with what the shared error rates add to all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.correction.confusion_inversion import NotIdentifiedError
from experiments.stats.correction.corrected_scores import solve_samples
from experiments.stats.correction.identification import check_identification
from experiments.stats.correction.samples import GradedItems, LabelledItems, Samples, assemble_samples
from experiments.stats.correction.score_choice import ScoreChoice
from experiments.stats.correction.uncertainty import delta_estimate
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import encode_clusters
from experiments.stats.scores.benchmark_scores import check_item_shares
from experiments.stats.scores.score_covariance import missing_question_bounds

__all__ = ["SharedCalibration", "share_calibration"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SharedCalibration:
    """Labelled items for the cells of a benchmark.

    ``known`` holds them without benchmark items; ``codes`` (n,) numbers the benchmark's questions, and ``choice`` says
    which label means what.
    """

    known: Samples
    codes: NDArray[np.int64]
    choice: ScoreChoice

    def join(self, shares: ArrayLike, *, repeats: int = 1) -> Samples:
        """The labelled items with a cell's (n, L) shares of labels; a row of zeros where there are none.

        Raises
        ------
        ValueError
            If there is not one row a question.
        """
        rows, used = check_item_shares(shares, n_labels=len(self.choice.labels))
        if len(rows) != len(self.codes):
            raise ValueError(f"shares: wrong length, got {len(rows)}; expected {len(self.codes)}, a row a question")
        many = np.full(int(used.sum()), repeats, dtype=np.int64)
        return replace(self.known, shares=rows[used], codes=self.codes[used], repeats=many)

    def solve(self, samples: Samples) -> Array:
        """(L,) corrected shares of a cell; NaN where it has no item."""
        if not len(samples.shares):
            return np.full(len(self.choice.labels), np.nan)
        return np.array(solve_samples(samples, correct=self.choice.correct).shares)

    def scores(self, shares: ArrayLike, *, level: float = 0.95, repeats: int = 1) -> dict[str, Estimate]:
        """Corrected scores of one cell, as those of :func:`experiments.stats.correction.correct_scores`."""
        samples = self.join(shares, repeats=repeats)
        pi = self.solve(samples)
        return {name: delta_estimate(name, pi, samples, self.choice, level=level) for name in self.choice.names}

    def bounds(self, shares: ArrayLike, present: ArrayLike) -> dict[str, tuple[float, float] | None]:
        """Lowest and highest corrected score if all that is missing truly were of any one class.

        ``present`` (n,) is the part of each question's verdicts that is there.
        """
        rows, parts = np.asarray(shares, dtype=np.float64), np.asarray(present, dtype=np.float64)
        weighted = (rows * parts[:, None]).sum(axis=0)
        share = float(weighted.sum())
        pi = np.zeros(len(self.choice.labels))
        if share > 0:
            whole = replace(
                self.known, shares=weighted[None] / share, codes=self.codes[:1], repeats=np.ones(1, np.int64)
            )
            pi = self.solve(whole)
        return missing_question_bounds(
            pi[None],
            present=[share / len(parts)],
            labels=self.choice.labels,
            correct=self.choice.correct,
            not_attempted=self.choice.not_attempted,
            penalty=self.choice.penalty,
        )


def share_calibration(
    clusters: Sequence[Hashable],
    calibration: LabelledItems,
    *,
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
    penalty: float = 1.0,
    level: float = 0.95,
    shared_clusters: bool = False,
) -> SharedCalibration:
    """Set labelled items beside the questions of a benchmark whose cells they are to correct.

    Parameters
    ----------
    clusters
        (n,) what questions of the benchmark depend on each other.
    calibration
        Labelled items with the verdicts of the grader that judged all cells.
    labels, correct, not_attempted, penalty
        As in :func:`experiments.stats.correction.correct_scores`.
    level
        Of the check that the error rates identify the true shares.
    shared_clusters
        Whether a question of the same name in benchmark and calibration is the same question.

    Raises
    ------
    NotIdentifiedError
        There is no labelled item with a verdict, or the error rates do not identify the true shares.
    ValueError
        As in :func:`experiments.stats.correction.correct_scores`.
    """
    choice = ScoreChoice(tuple(labels), correct, not_attempted, penalty)
    known = calibration.clusters if shared_clusters else [("calibration", name) for name in calibration.clusters]
    names: list[Hashable] = [*clusters, *known]
    codes, labelled_codes = np.split(encode_clusters(names, n=len(names)), [len(clusters)])
    nothing = GradedItems(np.zeros((len(clusters), len(labels)), dtype=np.int64), clusters)
    samples = assemble_samples(
        nothing, calibration, codes, labelled_codes, labels=labels, shared_clusters=shared_clusters
    )
    if not len(samples.people):
        raise NotIdentifiedError("no labelled item has a verdict of the grader")
    found = check_identification(samples, level=level)
    if not found.identified:
        raise NotIdentifiedError(found.reason)
    return SharedCalibration(samples, codes, choice)
