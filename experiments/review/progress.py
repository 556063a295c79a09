"""How far a review is, and how far its raters agree, by counts and with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.review.review_state import ReviewState
from experiments.stats.estimate import Estimate
from experiments.stats.raters import human_agreement, multi_rater_agreement
from experiments.stats.raters.rater_agreement import code_ratings, count_ratings

__all__ = ["Progress", "RaterAgreement", "RaterProgress", "measure_agreement", "measure_progress"]

_RESAMPLES = 500
"""Enough for intervals that are looked at while they still move; frozen sets have their own reports."""


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """One rater's counts; ``n_open`` is what the rater may still be asked for."""

    rater: str
    n_labelled: int
    n_skipped: int
    n_flagged: int
    n_not_blind: int
    n_open: int


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts over contents of a review.

    ``n_given`` of ``n_wanted`` labels are there, those beyond what an item needs not counted; of an adjudicated item no
    more are wanted than there are. ``n_labelled`` items have a label or an adjudication, ``n_adjudicated`` the latter.
    ``n_double`` items have two raters or more; ``n_open_disagreements`` of the ``n_disagreements`` wait for somebody to
    decide.
    """

    n_items: int
    n_labelled: int
    n_wanted: int
    n_given: int
    n_adjudicated: int
    n_double: int
    n_disagreements: int
    n_open_disagreements: int
    n_disputed: int
    raters: tuple[RaterProgress, ...]


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Agreement of raters, over items with two labels or more; adjudications are no labels here."""

    alpha: Estimate
    kappa: Estimate
    raw: Estimate


def measure_progress(state: ReviewState) -> Progress:
    """Count what is done and what is open."""
    given = {digest: len(state.labels.get(digest, ())) for digest in state.places}
    decided = state.adjudications.keys() & given.keys()
    wanted = {
        digest: min(state.raters_wanted(digest), count) if digest in decided else state.raters_wanted(digest)
        for digest, count in given.items()
    }
    return Progress(
        n_items=len(wanted),
        n_labelled=sum(count > 0 or digest in decided for digest, count in given.items()),
        n_wanted=sum(wanted.values()),
        n_given=sum(min(count, wanted[digest]) for digest, count in given.items()),
        n_adjudicated=len(decided),
        n_double=sum(count >= 2 for count in given.values()),
        n_disagreements=sum(map(state.differs, wanted)),
        n_open_disagreements=len(state.disagreements()),
        n_disputed=len({key.item_digest for key, standing in state.standings.items() if standing.disputed}),
        raters=tuple(_rater_progress(state, rater) for rater in state.raters),
    )


def _rater_progress(state: ReviewState, rater: str) -> RaterProgress:
    own = [standing for digest in state.places if (standing := state.standing(digest, rater)).event_id]
    labelled = [standing for standing in own if standing.label is not None]
    return RaterProgress(
        rater=rater,
        n_labelled=len(labelled),
        n_skipped=sum(standing.skipped for standing in own),
        n_flagged=sum(standing.disputed for standing in own),
        n_not_blind=sum(not standing.blind for standing in labelled),
        n_open=len(state.open_to(rater)),
    )


def measure_agreement(state: ReviewState, *, level: float = 0.95) -> RaterAgreement:
    """Krippendorff's alpha, Fleiss' kappa and the raw agreement of pairs, with intervals clustered by question."""
    scale, digests = state.review.scale, list(state.places)
    clusters = [state.review.items[digest].cluster_id for digest in digests]
    ratings = _ratings(state, digests)
    people = human_agreement(
        ratings,
        clusters,
        labels=scale.labels,
        scale_level=scale.level,
        rng=np.random.default_rng(0),
        level=level,
        resamples=_RESAMPLES,
    )
    counts = count_ratings(code_ratings(ratings, scale.labels, n=len(digests)), n_labels=len(scale.labels))
    many = multi_rater_agreement(
        counts[counts.sum(axis=1) >= 2],
        [one for one, row in zip(clusters, counts, strict=True) if row.sum() >= 2],
        labels=scale.labels,
        scale_level=scale.level,
        rng=np.random.default_rng(0),
        level=level,
        resamples=_RESAMPLES,
    )
    return RaterAgreement(alpha=people.alpha, kappa=many.fleiss_kappa, raw=people.pairwise_raw)


def _ratings(state: ReviewState, digests: Sequence[str]) -> list[list[str | None]]:
    """Each rater's label of each content."""
    raters = sorted({rater for given in state.labels.values() for rater in given})
    return [
        [one.label if (one := state.labels.get(digest, {}).get(rater)) else None for digest in digests]
        for rater in raters
    ]
