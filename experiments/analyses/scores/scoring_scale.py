"""The labels that occur at all in a scoring, and samples on a scale of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from experiments.analyses.scores.scoring_inputs import Benchmark, Calibration, Respondent
from experiments.reports.sample import Sample

__all__ = ["narrow_sample", "used_places"]


def used_places(benchmark: Benchmark, respondents: Sequence[Respondent], calibration: Calibration | None) -> list[int]:
    """Places of the labels that any verdict or person gave; the whole scale where fewer than two are left."""
    scale = benchmark.scale.labels
    tables = [one.sample.counts for one in respondents]
    given: set[str] = set()
    if calibration is not None:
        tables.append(calibration.sample.counts)
        given = set(calibration.sample.labels_given)
    used = np.sum([table.sum(axis=0) for table in tables], axis=0) > 0
    places = [place for place, label in enumerate(scale) if used[place] or label in given or label == benchmark.correct]
    return places if len(places) > 1 else list(range(len(scale)))


def narrow_sample(sample: Sample, places: Sequence[int]) -> Sample:
    """The sample on a scale of some of its labels, in their order; the others are nobody's verdict."""
    scale = sample.scale
    labels = tuple(scale.labels[place] for place in places)
    narrow = replace(
        scale,
        labels=labels,
        letters={label: letter for label, letter in scale.letters.items() if label in labels},
        words={label: words for label, words in scale.words.items() if label in labels},
    )
    return replace(sample, scale=narrow, counts=sample.counts[:, list(places)])
