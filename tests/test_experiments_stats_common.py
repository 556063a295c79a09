"""Checks that every statistic must pass: order, names, copies, strangers, and the edges, over one table of all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

import experiments.stats as stats

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")


@dataclass(frozen=True)
class Data:
    """Arguments of any statistic."""

    reference: list[str]
    counts: list[list[int]]
    clusters: list[Hashable]
    other: list[str | None]
    labels: tuple[str, ...] = LABELS
    positive: str = "CORRECT"
    expected: int = 6

    def take(self, rows: Sequence[int]) -> Data:
        return replace(
            self,
            reference=[self.reference[row] for row in rows],
            counts=[self.counts[row] for row in rows],
            clusters=[self.clusters[row] for row in rows],
            other=[self.other[row] for row in rows],
        )

    @property
    def ratings(self) -> list[list[str | None]]:
        """Two people: the reference, and another who left gaps."""
        return [list(self.reference), list(self.other)]


def example(n: int = 45, seed: int = 4) -> Data:
    rng = np.random.default_rng(seed)
    reference = rng.choice(LABELS, n, p=[0.3, 0.2, 0.5])
    valid = rng.integers(0, 7, size=n)
    counts = [rng.multinomial(size, rng.dirichlet([1, 1, 2])).tolist() for size in valid]
    other = [None if row % 5 == 0 else str(rng.choice([label, *LABELS])) for row, label in enumerate(reference)]
    return Data(reference.tolist(), counts, [f"q{row % 17}" for row in range(n)], other)


def fresh() -> np.random.Generator:
    return np.random.default_rng(11)


def rated(function: Callable[..., Any]) -> Callable[[Data], Any]:
    return lambda d: function(d.reference, d.counts, d.clusters, labels=d.labels, positive=d.positive)


def scaled(level: str) -> dict[str, Callable[[Data], Any]]:
    return {
        f"agreement {level}": lambda d: stats.agreement(
            d.reference, d.counts, d.clusters, labels=d.labels, scale_level=level, rng=fresh(), resamples=100
        ),
        f"alpha_repeats {level}": lambda d: stats.alpha_repeats(
            d.counts, d.clusters, labels=d.labels, scale_level=level, rng=fresh(), resamples=100
        ),
        f"human_agreement {level}": lambda d: stats.human_agreement(
            d.ratings, d.clusters, labels=d.labels, scale_level=level, rng=fresh(), resamples=100
        ),
    }


STATISTICS: dict[str, Callable[[Data], Any]] = {
    "false_negative_rate": rated(stats.false_negative_rate),
    "false_positive_rate": rated(stats.false_positive_rate),
    "error_rate_bounds": lambda d: stats.error_rate_bounds(
        d.reference, d.counts, d.expected, labels=d.labels, positive=d.positive
    ),
    "coverage": lambda d: stats.coverage(d.counts, d.expected),
    "confusion_matrix": lambda d: stats.confusion_matrix(d.reference, d.counts, labels=d.labels),
    "flip_rate": lambda d: stats.flip_rate(d.counts, d.clusters),
    "pairwise_disagreement": lambda d: stats.pairwise_disagreement(d.counts, d.clusters),
    "item_entropy": lambda d: stats.item_entropy(d.counts),
    "clustered_wilson": lambda d: stats.clustered_wilson(
        [(row[2] + 0.1) / (sum(row) + 1) for row in d.counts], d.clusters, repeats=6
    ),
    "clustered_standard_error": lambda d: stats.clustered_standard_error(
        [(row[2] + 0.1) / (sum(row) + 1) for row in d.counts], d.clusters
    ),
    "majority_error_rates": lambda d: stats.majority_error_rates(
        d.reference, d.counts, d.clusters, labels=d.labels, positive=d.positive, k=3
    ),
    **scaled("nominal"),
    **scaled("ordinal"),
    **scaled("interval"),
}
NOT_FOR_ITEMS = {"wilson", "few_clusters"}
WITHOUT_LABELS = {"coverage", "flip_rate", "pairwise_disagreement", "item_entropy"}
OF_MEANS = {"clustered_wilson", "clustered_standard_error"}
WITH_REFERENCE = {name for name in STATISTICS if name not in WITHOUT_LABELS | OF_MEANS and "alpha_repeats" not in name}

every = pytest.mark.parametrize("name", STATISTICS)


def plain(result: Any) -> Any:
    return asdict(result) if is_dataclass(result) and not isinstance(result, type) else result


def values(result: Any) -> list[float | None]:
    """The values of all estimates in a result, without their intervals."""
    if isinstance(result, stats.Estimate):
        return [result.value]
    if is_dataclass(result) and not isinstance(result, type):
        return [value for field in fields(result) for value in values(getattr(result, field.name))]
    return [result] if isinstance(result, float) or result is None else []


def test_the_table_holds_every_public_statistic() -> None:
    public = {name for name in stats.__all__ if name[0].islower()}
    assert public == {name.split()[0] for name in STATISTICS} | NOT_FOR_ITEMS


def test_public_names_exist_once() -> None:
    assert len(set(stats.__all__)) == len(stats.__all__)
    assert all(hasattr(stats, name) for name in stats.__all__)


@every
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_items_does_not_matter(name: str, seed: int) -> None:
    """Not even in the last bit, and not in a bootstrap."""
    data = example()
    order = np.random.default_rng(seed).permutation(len(data.reference)).tolist()
    result, shuffled = STATISTICS[name](data), STATISTICS[name](data.take(order))
    if name == "item_entropy":
        result = [result[row] for row in order]
    assert plain(shuffled) == plain(result)


@every
def test_the_names_of_questions_do_not_matter(name: str) -> None:
    data = example()
    renamed = replace(data, clusters=[(97 - len(cluster), cluster[::-1]) for cluster in map(str, data.clusters)])
    assert plain(STATISTICS[name](renamed)) == plain(STATISTICS[name](data))


@every
def test_the_names_of_labels_do_not_matter(name: str) -> None:
    data = example()
    new = dict(zip(LABELS, ("schlecht", "", "✓"), strict=True))
    renamed = replace(
        data,
        labels=tuple(new[label] for label in data.labels),
        reference=[new[label] for label in data.reference],
        other=[None if label is None else new[label] for label in data.other],
        positive=new[data.positive],
    )
    before, after = STATISTICS[name](data), STATISTICS[name](renamed)
    if name == "confusion_matrix":
        assert (after.counts, after.rates) == (before.counts, before.rates)
    elif name.startswith("agreement"):
        assert after.prevalence == {new[label]: share for label, share in before.prevalence.items()}
        assert plain(replace(after, prevalence={})) == plain(replace(before, prevalence={}))
    else:
        assert plain(after) == plain(before)


@every
def test_a_scale_turned_round_gives_the_same_values(name: str) -> None:
    """Worst first or best first: distances are the same, and so is every rate."""
    data = example()
    turned = replace(data, labels=data.labels[::-1], counts=[row[::-1] for row in data.counts])
    if name in OF_MEANS:
        turned = data
    before, after = STATISTICS[name](data), STATISTICS[name](turned)
    if name == "confusion_matrix":
        assert after.counts == tuple(row[::-1] for row in before.counts[::-1])
    elif name == "item_entropy":
        assert after == pytest.approx(before)
    else:
        assert values(after) == pytest.approx(values(before))


@every
def test_copies_of_the_data_leave_values_alone(name: str) -> None:
    """Copied questions leave rates alone; alpha, whose chance term counts labels, moves by little."""
    data = example(n=200)
    copied = data.take([*range(200), *range(200)])
    copied = replace(copied, clusters=[*data.clusters, *(f"copy {cluster}" for cluster in data.clusters)])
    once, twice = STATISTICS[name](data), STATISTICS[name](copied)
    if name == "item_entropy":
        assert twice == once + once
    elif name == "clustered_standard_error":
        assert twice == pytest.approx(once / np.sqrt(2), rel=0.05)
    else:
        assert values(twice) == pytest.approx(values(once), abs=0.01 if " " in name else 1e-9)


@every
def test_copies_inside_a_question_add_no_information(name: str) -> None:
    data = example()
    doubled = STATISTICS[name](data.take([*range(45), *range(45)]))
    once = STATISTICS[name](data)
    for first, second in zip(estimates(once), estimates(doubled), strict=True):
        if first.low is not None and second.low is not None:
            width, copied = (first.high or 0) - first.low, (second.high or 0) - second.low
            assert copied == pytest.approx(width, rel=0.05)
            assert second.clusters == first.clusters


def estimates(result: Any) -> list[stats.Estimate]:
    if isinstance(result, stats.Estimate):
        return [result]
    if is_dataclass(result) and not isinstance(result, type):
        return [estimate for field in fields(result) for estimate in estimates(getattr(result, field.name))]
    return []


def edge(reference: list[str], counts: list[list[int]], clusters: Sequence[Hashable]) -> Data:
    return Data(reference, counts, list(clusters), list(reference))


EDGES = {
    "none": edge([], [], []),
    "one": edge(["CORRECT"], [[0, 0, 1]], "q"),
    "one of six": edge(["INCORRECT"], [[1, 2, 3]], "q"),
    "one without verdict": edge(["CORRECT"], [[0, 0, 0]], "q"),
    "all the same": edge(["CORRECT"] * 8, [[0, 0, 6]] * 8, range(8)),
    "all wrong": edge(["CORRECT"] * 8, [[6, 0, 0]] * 8, range(8)),
    "all wrong both ways": edge(["CORRECT", "INCORRECT"] * 4, [[6, 0, 0], [0, 0, 6]] * 4, range(8)),
    "unequal repeats": edge(["CORRECT", "INCORRECT"] * 2, [[0, 0, 6], [1, 0, 0], [0, 0, 0], [1, 1, 1]], "aabb"),
    "one question": edge(["CORRECT", "INCORRECT"] * 3, [[1, 0, 2]] * 6, "qqqqqq"),
    "no verdict at all": edge(list(LABELS), [[0, 0, 0]] * 3, [1, 2, 3]),
}


@every
@pytest.mark.parametrize("which", EDGES)
def test_edges_give_a_value_or_none_and_never_nan_or_certainty(name: str, which: str) -> None:
    result = STATISTICS[name](EDGES[which])
    assert "nan" not in repr(result)
    assert "inf" not in repr(result)
    for estimate in estimates(result):
        assert (estimate.low is None) == (estimate.high is None)
        assert estimate.value is not None or estimate.low is None
        assert estimate.value is not None or estimate.n == 0 or estimate.method == "cluster-bootstrap"
        if estimate.low is not None and estimate.high is not None and estimate.value is not None:
            assert estimate.high - estimate.low > 1e-6
            assert estimate.low <= estimate.value <= estimate.high


@pytest.mark.parametrize("name", sorted(WITH_REFERENCE))
@pytest.mark.parametrize("stranger", ["correct", "CORRECT ", "", "Richtig"])
def test_strangers_to_the_scale_are_refused(name: str, stranger: str) -> None:
    data = example()
    odd = replace(data, reference=[*data.reference[:-1], stranger])
    with pytest.raises(ValueError, match=r"\[\d+\]: label not on the scale, got .*; expected one of \["):
        STATISTICS[name](odd)


@pytest.mark.parametrize("name", sorted(set(STATISTICS) - OF_MEANS - {n for n in STATISTICS if "human" in n}))
@pytest.mark.parametrize("bad", [-1, 0.5, float("nan"), float("inf"), "2"])
def test_impossible_and_ragged_counts_are_refused(name: str, bad: Any) -> None:
    data = example()
    odd = replace(data, counts=[*data.counts[:-1], [bad, 0, 0]])
    with pytest.raises(ValueError, match=r"^counts: .*, got .*; expected "):
        STATISTICS[name](odd)
    ragged = replace(data, counts=[*data.counts[:-1], [0, 1]])
    with pytest.raises(ValueError, match=r"^counts: .*, got .*; expected "):
        STATISTICS[name](ragged)


@pytest.mark.parametrize("name", sorted(set(STATISTICS) - {"coverage", "item_entropy", "error_rate_bounds"}))
def test_lengths_that_differ_are_refused(name: str) -> None:
    data = example()
    odd = (
        replace(data, clusters=data.clusters[:-1])
        if name != "confusion_matrix"
        else replace(data, reference=data.reference[:-1])
    )
    with pytest.raises(ValueError, match=r"^(clusters|counts|ratings\[0\]): wrong (length|shape), got .*; expected "):
        STATISTICS[name](odd)


@pytest.mark.parametrize(
    ("labels", "positive", "message"),
    [
        (("CORRECT", "CORRECT"), "CORRECT", r"^labels: a label stands twice, got .*; expected "),
        ((), "CORRECT", r"^labels: not a scale, got .*; expected "),
        ("CORRECT", "CORRECT", r"^labels: not a scale, got .*; expected "),
        (LABELS, "RIGHT", r"^positive: label not on the scale, got 'RIGHT'; expected one of "),
    ],
)
def test_bad_scales_are_refused(labels: tuple[str, ...], positive: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stats.false_negative_rate([], [], [], labels=labels, positive=positive)


@pytest.mark.parametrize("name", ["agreement ratio", "alpha_repeats ratio", "human_agreement ratio"])
def test_unknown_levels_of_measurement_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"^scale_level: unknown, got 'ratio'; expected one of "):
        scaled("ratio")[name](example())
