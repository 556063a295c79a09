"""What each statistic is given of the same made-up data: by the names of its parameters, or as it asks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import statistics_data as made
from statistics_data import Data

from experiments.stats import clusters, comparisons
from experiments.stats.correction import GradedItems, LabelledItems
from experiments.stats.inputs import encode_clusters

NAMES = ("first grader", "second grader", "person")

ARGUMENTS: dict[str, Callable[[Data], Any]] = {
    "reference": lambda d: d.reference,
    "counts": lambda d: d.counts,
    "clusters": lambda d: d.clusters,
    "ratings": lambda d: d.ratings,
    "expected": lambda d: d.expected,
    "labels": lambda d: d.labels,
    "positive": lambda d: d.positive,
    "correct": lambda d: d.positive,
    "not_attempted": lambda d: d.not_attempted,
    "scale_level": lambda _: "ordinal",
    "level": lambda d: d.level,
    "resamples": lambda d: d.resamples,
    "rng": lambda _: np.random.default_rng(11),
    "k": lambda _: 3,
    "draws": lambda _: 6,
    "repeats": lambda _: 6,
    "margin": lambda _: 0.1,
    "lower_is_better": lambda _: False,
    "epsilon": lambda _: 0.1,
    "names": lambda _: NAMES,
    "models": lambda _: NAMES[:2],
    "shares": lambda d: made.shares(d.counts, missing=float("nan")),
    "benchmark": lambda d: GradedItems(d.second, d.clusters),
    "calibration": lambda d: LabelledItems(d.reference, d.counts, d.clusters),
    "delta": lambda _: 0.05,
    "steps": lambda _: 3,
    "labelled_at_random": lambda _: True,
    "labelled": lambda d: LabelledItems(d.reference, d.counts, d.clusters),
    "unlabelled": lambda d: GradedItems(d.second, d.clusters),
}
"""What a parameter of that name is given, unless a statistic says otherwise."""


@dataclass(frozen=True)
class Statistic:
    """A public function with the arguments that it takes of :class:`Data`."""

    function: Callable[..., Any]
    given: dict[str, Callable[[Data], Any]] = field(default_factory=dict)

    def arguments(self, data: Data) -> dict[str, Any]:
        parameters = inspect.signature(self.function).parameters.values()
        sources = {one.name: self.given.get(one.name, ARGUMENTS.get(one.name)) for one in parameters}
        needed = {one.name for one in parameters if one.default is one.empty}
        assert all(sources[name] is not None for name in needed), f"no argument for {needed} of {self.function}"
        return {name: source(data) for name, source in sources.items() if source is not None}

    def __call__(self, data: Data, **changed: Any) -> Any:
        return self.function(**{**self.arguments(data), **changed})


def of(function: Callable[..., Any], **given: Callable[[Data], Any]) -> Statistic:
    return Statistic(function, given)


def right_of(data: Data) -> list[float]:
    return [made.right(data, data.counts)[row] for row in made.known(data)]


def gains(data: Data) -> list[float]:
    one, two = made.right(data, data.counts), made.right(data, data.second)
    return [one[row] - two[row] for row in made.known(data)]


def kept(data: Data) -> list[Any]:
    return [data.clusters[row] for row in made.known(data)]


def chances(data: Data) -> list[float]:
    """Chances to be drawn: of items that the second person left out, and of all others."""
    return [0.4 if data.ratings[1][row] is None else 1.0 for row in made.known(data)]


def sums(data: Data) -> Any:
    columns = made.array([right_of(data), gains(data), np.ones(len(kept(data)))]).T
    return clusters.sum_by_cluster(columns, encode_clusters(kept(data), n=len(columns)))


def drawn(data: Data) -> Any:
    draws = clusters.bootstrap_sums(sums(data), rng=np.random.default_rng(5), resamples=data.resamples)
    return draws[:, 0] / draws[:, 2]


def without_each(data: Data) -> Any:
    rest = sums(data).sum(axis=0) - sums(data)
    return rest[:, 0] / rest[:, 2]


def three(data: Data) -> Any:
    """Both graders and a person, a column each, NaN where there is none."""
    one, two, person = made.right(data, data.counts), made.right(data, data.second), made.single(data, 0)
    return made.array([one, two, person]).T.reshape(data.n, 3)


def gain(data: Data) -> Any:
    return clusters.clustered_mean(gains(data), kept(data), level=data.level)


def table(data: Data) -> comparisons.PairedTable:
    return comparisons.paired_table(made.single(data, 0), made.single(data, 1), range(data.n))


def wrong(data: Data) -> list[int]:
    return [
        sum(row) - row[data.position] if label == data.positive else row[data.position]
        for label, row in zip(data.reference, data.counts, strict=True)
    ]


def both(data: Data) -> list[Any]:
    return [data.counts, data.second]


def distance(data: Data, place: int) -> int:
    """Steps of a label from the one that counts as right, also on a scale turned round."""
    return abs(place - data.position)


def steps_from_positive(data: Data) -> list[float]:
    numbers = [1.0 - 0.5 * distance(data, place) for place in range(len(data.labels))]
    return [0.25 if label == "PERFECT" else one for label, one in zip(data.labels, numbers, strict=True)]


def sets_of_labels(data: Data) -> list[set[str]]:
    sets = [({"x"}, {"y"}, {"x", "y"})[distance(data, place)] for place in range(len(data.labels))]
    return [set() if label == "PERFECT" else one for label, one in zip(data.labels, sets, strict=True)]


def third_label(data: Data) -> str:
    return next(label for label in data.labels if label not in (data.positive, data.not_attempted))


def verdicts_right(data: Data) -> list[list[bool]]:
    return [
        [label == given for given, count in zip(data.labels, row, strict=True) for _ in range(count)]
        for label, row in zip(data.reference, data.counts, strict=True)
    ]


def verdicts_confidence(data: Data) -> list[list[float]]:
    sure = [(0.9, 0.55, 0.75)[distance(data, place)] for place in range(len(data.labels))]
    return [[one for one, count in zip(sure, row, strict=True) for _ in range(count)] for row in data.counts]


def tallies(data: Data) -> list[list[tuple[int, int, int]]]:
    """What each verdict might have found: a tally by the steps of its label from the right one."""
    found = [((3, 0, 1), (2, 1, 1), (0, 2, 3))[distance(data, place)] for place in range(len(data.labels))]
    return [[one for one, count in zip(found, row, strict=True) for _ in range(count)] for row in data.counts]


VALUES = {"values": gains, "clusters": kept}
MEANS = {"item_means": right_of, "clusters": kept}
PAIR = {
    "first": lambda d: made.right(d, d.counts),
    "second": lambda d: made.right(d, d.second),
    "names": lambda _: NAMES[:2],
}
SINGLE = {
    "first": lambda d: made.single(d, 0),
    "second": lambda d: made.single(d, 1),
    "clusters": lambda d: range(d.n),
}
SHARES = {"shares": lambda d: made.shares(d.counts)}
TWO_SETS = {
    "first": SHARES["shares"],
    "first_clusters": ARGUMENTS["clusters"],
    "second": lambda d: made.shares(d.second),
    "second_clusters": ARGUMENTS["clusters"],
}
WORDINGS = {"baseline": lambda d: three(d)[:, [0, 2]], "changed": lambda d: three(d)[:, [1, 0]]}
POWERED = {
    "truth": lambda d: [1.0 if d.reference[row] == d.positive else 0.0 for row in made.known(d)],
    "predicted": lambda d: [made.shares(d.counts)[row][d.position] for row in made.known(d)],
    "clusters": kept,
    "unlabelled": lambda d: [made.shares(d.second)[row][d.position] for row in made.known(d)],
    "unlabelled_clusters": kept,
}
RATERS = {"counts": made.rater_counts}
NAMED_SCORE = {
    "name": lambda _: "f1",
    "shares": lambda d: made.array(made.shares(d.counts)).reshape(d.n, len(d.labels)),
}


def always(value: Any) -> Callable[[Data], Any]:
    return lambda _: value
