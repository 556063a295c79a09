"""In which order an experiment asks: that of the set, or that of the looks that may be taken while it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from calibration_sets.item import Item
from experiments.specs.experiment import Experiment
from experiments.stats.comparisons.anytime import random_order

__all__ = ["asked_items", "question_ranks", "split_waves", "wave_size"]

_N_WAVES, _LEAST = 20, 8
"""Waves of a run at most, and questions in each at least: an engine that changes its prompt reads it anew."""


def asked_items(experiment: Experiment) -> Sequence[Item]:
    """Items in the order of asking; those of a question stay together where the experiment is looked at."""
    items = experiment.calibration_set.items
    if not experiment.is_looked_at:
        return items
    ranks = question_ranks(experiment)
    return sorted(items, key=lambda item: ranks[item.cluster_id])


def question_ranks(experiment: Experiment) -> Mapping[str, int]:
    """Question to its place in the order of the looks."""
    order = random_order([item.cluster_id for item in experiment.calibration_set.items])
    return {question: rank for rank, question in enumerate(order)}


def wave_size(n_questions: int) -> int:
    """Questions of a wave, and so many that a grader may be before the others: a twentieth, and eight at least."""
    return max(_LEAST, -(-n_questions // _N_WAVES))


def split_waves(experiment: Experiment) -> Iterator[Experiment]:
    """The experiment on the first questions of its order, on the next, and so on."""
    ranks = question_ranks(experiment)
    size = wave_size(len(ranks))
    for first in range(0, len(ranks), size):
        items = [item for item in experiment.calibration_set.items if first <= ranks[item.cluster_id] < first + size]
        part = replace(experiment.calibration_set, items=tuple(items), human_labels=())
        yield replace(experiment, calibration_set=part)
