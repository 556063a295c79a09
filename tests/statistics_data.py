"""Made-up data for the checks that every statistic must pass, and what can be done to them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.stats import Estimate

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")

Counts = list[list[int]]
Ratings = list[list[str | None]]


@dataclass(frozen=True)
class Data:
    """Items with people's label, the verdicts of two graders, the labels of three people, and their questions."""

    reference: list[str]
    counts: Counts
    second: Counts
    ratings: Ratings
    clusters: list[Hashable]
    labels: tuple[str, ...] = LABELS
    positive: str = "CORRECT"
    not_attempted: str | None = "NOT_ATTEMPTED"
    expected: int = 6
    level: float = 0.95
    resamples: int = 70

    @property
    def n(self) -> int:
        return len(self.reference)

    @property
    def position(self) -> int:
        """Place of the label that counts as right."""
        return self.labels.index(self.positive)

    def take(self, rows: Sequence[int]) -> Data:
        return replace(
            self,
            reference=[self.reference[row] for row in rows],
            counts=[self.counts[row] for row in rows],
            second=[self.second[row] for row in rows],
            ratings=[[given[row] for row in rows] for given in self.ratings],
            clusters=[self.clusters[row] for row in rows],
        )


def example(n: int = 60, questions: int = 24, seed: int = 3, resamples: int = 70) -> Data:
    """Two graders who are mostly right, with none to six verdicts an item, and people who leave gaps."""
    rng = np.random.default_rng(seed)
    clusters: list[Hashable] = [f"q{row % questions}" for row in range(n)]
    hard = np.minimum(rng.beta(1.5, 6.0, questions), 0.5)
    reference = rng.choice(3, n, p=[0.35, 0.25, 0.4])

    def verdicts(error: float) -> Counts:
        rows = []
        for row, label in enumerate(reference):
            chance = np.full(3, error * hard[row % questions])
            chance[label] = 1 - 2 * error * hard[row % questions]
            rows.append(rng.multinomial(rng.integers(0, 7), chance).tolist())
        return rows

    def person(error: float) -> list[str | None]:
        given = np.where(rng.random(n) < error, rng.integers(0, 3, n), reference)
        return [None if rng.random() < 0.15 else LABELS[label] for label in given]

    counts, second = verdicts(0.5), verdicts(0.9)
    return Data(
        [LABELS[label] for label in reference],
        counts,
        second,
        [person(0.1), person(0.2), person(0.3)],
        clusters,
        resamples=resamples,
    )


def edge(reference: list[str], counts: Counts, clusters: Sequence[Hashable]) -> Data:
    """Data on which the two graders say the same and three people say what the reference does."""
    return Data(reference, counts, counts, [list(reference) for _ in range(3)], list(clusters))


EDGES = {
    "none": edge([], [], []),
    "one": edge(["CORRECT"], [[0, 0, 1]], "q"),
    "one of six": edge(["INCORRECT"], [[1, 2, 3]], "q"),
    "one without verdict": edge(["CORRECT"], [[0, 0, 0]], "q"),
    "all the same": edge(["CORRECT"] * 8, [[0, 0, 6]] * 8, range(8)),
    "all right": edge([*LABELS] * 3, [[6, 0, 0], [0, 6, 0], [0, 0, 6]] * 3, range(9)),
    "all wrong": edge(["CORRECT"] * 8, [[6, 0, 0]] * 8, range(8)),
    "all wrong both ways": edge(["CORRECT", "INCORRECT"] * 4, [[6, 0, 0], [0, 0, 6]] * 4, range(8)),
    "unequal repeats": edge(["CORRECT", "INCORRECT"] * 2, [[0, 0, 6], [1, 0, 0], [0, 0, 0], [1, 1, 1]], "aabb"),
    "one question": edge(["CORRECT", "INCORRECT"] * 3, [[1, 0, 2]] * 6, "qqqqqq"),
    "two questions": edge(["CORRECT", "INCORRECT"] * 3, [[1, 0, 2], [4, 0, 1]] * 3, "ababab"),
    "no verdict at all": edge(list(LABELS), [[0, 0, 0]] * 3, [1, 2, 3]),
}


def shares(counts: Counts, *, missing: float = 0.0) -> list[list[float]]:
    """Each item's shares of verdicts; ``missing`` in every column of an item without one."""
    return [[one / sum(row) for one in row] if sum(row) else [missing] * len(row) for row in counts]


def right(data: Data, counts: Counts) -> list[float]:
    """Each item's share of verdicts on people's side of the positive label, NaN without one."""
    found = []
    for label, row in zip(data.reference, shares(counts, missing=float("nan")), strict=True):
        passed = row[data.position]
        found.append(passed if label == data.positive else 1 - passed)
    return found


def known(data: Data) -> list[int]:
    """Items with a verdict of both graders."""
    return [row for row in range(data.n) if sum(data.counts[row]) and sum(data.second[row])]


def single(data: Data, rater: int) -> list[float]:
    """Whether a person called each item positive, NaN where there is no label."""
    return [float("nan") if one is None else float(one == data.positive) for one in data.ratings[rater]]


def rater_counts(data: Data) -> Counts:
    """How many people gave each item each label; a stranger to the scale is in no column."""
    return [[column.count(label) for label in data.labels] for column in map(list, zip(*data.ratings, strict=True))]


def scores(data: Data, counts: Counts) -> list[list[float]]:
    """Verdicts as scores (n, expected): 1 where right, NaN where there is none."""
    rows = []
    for label, row in zip(data.reference, counts, strict=True):
        passed, others = row[data.position], sum(row) - row[data.position]
        good, bad = (passed, others) if label == data.positive else (others, passed)
        rows.append([1.0] * good + [0.0] * bad + [float("nan")] * (data.expected - good - bad))
    return rows


def plain(result: Any) -> Any:
    """A result as nested dicts, lists and scalars, NaN as a word, so that two can be held against each other."""
    if is_dataclass(result) and not isinstance(result, type):
        return {field.name: plain(getattr(result, field.name)) for field in fields(result)}
    if isinstance(result, Mapping):
        return {key: plain(value) for key, value in result.items()}
    if isinstance(result, np.ndarray):
        return plain(result.tolist())
    if isinstance(result, list | tuple):
        return [plain(value) for value in result]
    return "nan" if isinstance(result, float) and np.isnan(result) else result


def mapped(result: Any, change: Callable[[Any], Any]) -> Any:
    """A plain result with every scalar and key changed."""
    if isinstance(result, dict):
        return {change(key): mapped(value, change) for key, value in result.items()}
    return [mapped(value, change) for value in result] if isinstance(result, list) else change(result)


def reordered(result: Any, order: Sequence[int]) -> Any:
    """A plain result with all lists of as many entries as ``order`` put in that order."""
    if isinstance(result, dict):
        return {key: reordered(value, order) for key, value in result.items()}
    if isinstance(result, list):
        return [result[row] for row in order] if len(result) == len(order) else [reordered(v, order) for v in result]
    return result


def estimates(result: Any, where: str = "") -> dict[str, Estimate]:
    """All estimates in a result, by where they stand."""
    if isinstance(result, Estimate):
        return {where: result}
    if is_dataclass(result) and not isinstance(result, type):
        parts: list[tuple[str, Any]] = [(field.name, getattr(result, field.name)) for field in fields(result)]
    elif isinstance(result, Mapping):
        parts = [(str(key), value) for key, value in result.items()]
    elif isinstance(result, list | tuple):
        parts = [(str(place), value) for place, value in enumerate(result)]
    else:
        return {}
    return {path: found for name, part in parts for path, found in estimates(part, f"{where}.{name}").items()}


def values(result: Any) -> list[float | None]:
    """Values of all estimates, or else all numbers, of a result."""
    found = estimates(result)
    return [one.value for one in found.values()] if found else numbers(plain(result))


def numbers(result: Any) -> list[float | None]:
    if isinstance(result, dict | list):
        parts = result.values() if isinstance(result, dict) else result
        return [one for part in parts for one in numbers(part)]
    return [result] if result is None or (isinstance(result, int | float) and not isinstance(result, bool)) else []


def width(estimate: Estimate) -> float | None:
    return None if estimate.low is None or estimate.high is None else estimate.high - estimate.low


def array(values: Any) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)
