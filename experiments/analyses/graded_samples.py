"""Each grader of a run with its verdicts counted, held against people's labels as the report holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.choice.entrants import read_contest
from experiments.analyses.right_label import right_label
from experiments.errors import SpecError
from experiments.reports.exact_sample import ExactSample, with_distributions
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.reference_labels import ReferenceLabels, drop_stale_labels, join_labels
from experiments.reports.sample import Sample, build_sample
from experiments.specs.joint_graders import find_name

__all__ = [
    "GradedSample",
    "find_graded",
    "match_samples",
    "positive_of",
    "positive_shares",
    "read_graded_samples",
    "wrong_shares",
]


@dataclass(frozen=True)
class GradedSample:
    """One grader on the items of a run.

    ``name`` is prompt and model, unique in the run. ``labels`` are those under its rubric, or under the set's own
    where nobody labelled under that. ``seed`` stands for the content and fixes bootstraps, as in the report.
    """

    run_id: str
    name: str
    results: GraderResults
    sample: Sample
    labels: ReferenceLabels
    seed: str


def read_graded_samples(data: RunData) -> tuple[GradedSample, ...]:
    """All graders of a run, in its order; labels of items that have changed since are left out."""
    chosen, _ = drop_stale_labels(data.calibration_set)
    joined = join_labels(chosen, [results.rubric for results in data.graders])
    names = [entrant.name for entrant in read_contest(data).entrants]
    graded = []
    for name, results, labels in zip(names, data.graders, joined, strict=True):
        sample = build_sample(results, chosen.items, labels.consensus.labels, scale=chosen.scale)
        if results.distributions is not None:
            sample = with_distributions(sample, results.distributions, draws=int(results.sampling["repeats"]))
        seed = f"{chosen.digest} {results.grader_id}"
        graded.append(GradedSample(data.run_id, name, results, sample, labels, seed))
    return tuple(graded)


def find_graded(graded: Sequence[GradedSample], name: str | None, *, option: str = "--grader") -> GradedSample:
    """The grader of a name; without a name, the run's only grader.

    A name may also be a part of it, or an id, as :func:`experiments.specs.joint_graders.find_name` takes them.

    Raises
    ------
    SpecError
        If there is none, or more than one; the message lists the names.
    """
    names = [one.name for one in graded]
    if name is None:
        if len(graded) == 1:
            return graded[0]
        run = graded[0].run_id if graded else "run"
        raise SpecError(f"{option}: {len(names)} graders in run {run}; expected one of {names}")
    try:
        return graded[find_name(names, name, grader_ids=[one.results.grader_id for one in graded])]
    except LookupError as error:
        raise SpecError(f"{option}: {error.args[0]}") from error


def match_samples(first: Sample, second: Sample) -> tuple[Sample, Sample]:
    """The items whose content both have, in the first one's order, as the first and as the second judged them."""
    places = {item.digest: row for row, item in reversed(list(enumerate(second.items)))}
    shared = [row for row, item in enumerate(first.items) if item.digest in places]
    return _pick(first, shared), _pick(second, [places[first.items[row].digest] for row in shared])


def _pick(sample: Sample, rows: Sequence[int]) -> Sample:
    places = np.asarray(rows, dtype=np.int64)
    picked = replace(
        sample,
        items=tuple(sample.items[row] for row in rows),
        reference=tuple(sample.reference[row] for row in rows),
        counts=sample.counts[places],
        failures=tuple(sample.failures[row] for row in rows),
    )
    if isinstance(picked, ExactSample):
        return replace(picked, shares=picked.shares[places], outside=picked.outside[places])
    return picked


def positive_of(sample: Sample, where: str = "error rates") -> str:
    """The label that counts as right; a message without one begins with ``where``.

    Raises
    ------
    SpecError
        If the scale names none.
    """
    return right_label(sample.scale, where)


def positive_shares(sample: Sample) -> NDArray[np.float64]:
    """(n,) share of an item's valid verdicts that pass it, computed or drawn; NaN where it has none."""
    place = sample.scale.index(positive_of(sample))
    if isinstance(sample, ExactSample):
        return np.asarray(sample.shares[:, place], dtype=np.float64)
    shares = sample.counts[:, place] / np.maximum(sample.valid, 1)
    return np.asarray(np.where(sample.valid > 0, shares, np.nan), dtype=np.float64)


def wrong_shares(sample: Sample, reference: Sequence[str | None]) -> NDArray[np.float64]:
    """(n,) share of verdicts on the other side of ``positive`` than people; NaN without a label or a verdict."""
    passed, positive = positive_shares(sample), positive_of(sample)
    right = np.array([label == positive for label in reference], dtype=bool)
    known = np.array([label is not None for label in reference], dtype=bool)
    return np.asarray(np.where(known, np.where(right, 1 - passed, passed), np.nan), dtype=np.float64)
