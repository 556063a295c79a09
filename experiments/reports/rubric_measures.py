"""What some rubrics measure beyond errors: scores, sets of reasons, an index with its hallucinations, findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibration_sets.scale import OMNISCIENCE, PART_SEPARATOR
from experiments.reports.exact_sample import ExactSample
from experiments.reports.finding_measures import concept_fields, confidence_fields
from experiments.reports.inputs import GraderResults
from experiments.reports.plain import content_rng, estimate_fields
from experiments.reports.sample import Sample
from experiments.reports.tally import Tally
from experiments.stats.raters.label_sets import label_set_agreement
from experiments.stats.scores.benchmark_scores import benchmark_scores, score_bounds
from experiments.stats.scores.hallucination import hallucination_bounds, hallucination_rate
from experiments.stats.scores.score_functions import item_shares

__all__ = ["label_set_fields", "omniscience_fields", "rubric_fields"]

Fields = dict[str, Any]

ALL_RESPONSES = "all responses"
THREE = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
SHOWN = ("index", "correct", "incorrect", "not_attempted")


def rubric_fields(results: GraderResults, sample: Sample, *, level: float, seed: str) -> Fields:
    """What rests on more than counts, ``None`` where the scale and the verdicts are not of that sort."""
    return {
        "omniscience": omniscience_fields(sample, [item.respondent for item in sample.items], level=level),
        "confidence": confidence_fields(results, sample, level=level, seed=seed),
        "concepts": concept_fields(results, sample, level=level),
    }


def label_set_fields(sample: Tally, *, level: float, seed: str) -> Fields | None:
    """Agreement with people on labels that are sets; ``None`` on other scales."""
    if sample.scale.parts is None or isinstance(sample, ExactSample):
        return None
    labelled = sample.labelled
    found = label_set_agreement(
        labelled.labels_given,
        labelled.counts,
        labelled.clusters,
        labels=sample.scale.labels,
        parts=[label.split(PART_SEPARATOR) for label in sample.scale.labels],
        rng=content_rng(seed, "label_sets"),
        level=level,
    )
    return {
        "alpha_masi": estimate_fields(found.alpha),
        "kappas": {part: estimate_fields(found.kappas[part]) for part in sample.scale.parts},
        "prevalence": {part: found.prevalence.get(part) for part in sample.scale.parts},
        "coverage": labelled.coverage,
    }


def omniscience_fields(sample: Tally, respondents: Sequence[str | None], *, level: float) -> Fields | None:
    """Index and hallucination rate of each respondent, by the grader and by people; ``None`` on other scales.

    ``respondents`` are those of the sample's items.
    """
    if sample.scale.labels != OMNISCIENCE.labels or isinstance(sample, ExactSample):
        return None
    names = [name or ALL_RESPONSES for name in respondents]
    return {name: _respondent(sample.take([one == name for one in names]), level=level) for name in sorted(set(names))}


def _respondent(sample: Tally, *, level: float) -> Fields:
    labelled = sample.labelled
    people = np.eye(len(sample.scale.labels))[[sample.scale.index(label) for label in labelled.labels_given]]
    return {
        "n_items": sample.n_items,
        "coverage": sample.coverage,
        "grader": _scores(item_shares(sample.counts), sample, repeats=sample.most_repeats, level=level)
        | {"bounds": _bounds(sample)},
        "people": _scores(people, labelled, repeats=1, level=level) if labelled.n_items else None,
    }


def _scores(shares: NDArray[np.float64], sample: Tally, *, repeats: int, level: float) -> Fields:
    scores = benchmark_scores(
        _of_three(shares),
        sample.clusters,
        labels=THREE,
        correct="CORRECT",
        not_attempted="NOT_ATTEMPTED",
        repeats=max(repeats, 1),
        level=level,
    )
    rate = hallucination_rate(
        shares,
        sample.clusters,
        labels=sample.scale.labels,
        correct="CORRECT",
        incorrect="INCORRECT",
        repeats=max(repeats, 1),
        level=level,
    )
    named = {"partial_or_not_attempted" if name == "not_attempted" else name: scores[name] for name in SHOWN}
    return {name: estimate_fields(one) for name, one in (named | {"hallucination_rate": rate}).items()}


def _bounds(sample: Tally) -> Fields | None:
    """What the missing verdicts could make of index and hallucination rate; ``None`` where none is missing."""
    if sample.n_verdicts == sample.n_expected:
        return None
    index = score_bounds(
        _of_three(sample.counts), sample.expected, labels=THREE, correct="CORRECT", not_attempted="NOT_ATTEMPTED"
    )["index"]
    rate = hallucination_bounds(
        sample.counts, sample.expected, labels=sample.scale.labels, correct="CORRECT", incorrect="INCORRECT"
    )
    return {"index": index and list(index), "hallucination_rate": rate and list(rate)}


def _of_three(table: NDArray[Any]) -> NDArray[Any]:
    """Columns of the three labels of a benchmark; a partial answer stands with what is not attempted."""
    wrong, declined, partial, right = (OMNISCIENCE.index(label) for label in OMNISCIENCE.labels)
    return np.stack([table[:, wrong], table[:, declined] + table[:, partial], table[:, right]], axis=1)
