"""Statistics of many items take arrays: the same digits as of lists, and of the ways that were taken before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.stats.clusters import cluster_bootstrap
from experiments.stats.errors import majority
from experiments.stats.errors.majority import majority_error_rates
from experiments.stats.errors.rates import false_negative_rate, false_positive_rate
from experiments.stats.errors.score_errors import score_errors
from experiments.stats.inputs import as_clusters, encode_clusters, encode_labels
from experiments.stats.raters.rater_agreement import agreement
from experiments.stats.repeats.inconsistency import alpha_repeats, flip_rate, pairwise_disagreement

LABELS = ["0", "0.5", "1"]

tables = st.lists(
    st.tuples(st.integers(0, 2), st.integers(-3, 9), st.lists(st.integers(0, 4), min_size=3, max_size=3)), max_size=30
)


@given(st.lists(st.integers(-5, 40)))
def test_clusters_that_are_numbers_in_an_array_are_numbered_as_in_a_list(numbers: list[int]) -> None:
    found = encode_clusters(as_clusters(np.array(numbers, dtype=np.int64)), n=len(numbers))
    assert found.tolist() == encode_clusters(numbers, n=len(numbers)).tolist()
    assert found.dtype == np.int64


@given(st.lists(st.sampled_from(LABELS)))
def test_labels_in_an_array_are_encoded_as_in_a_list(given_labels: list[str]) -> None:
    expected = encode_labels(given_labels, LABELS).tolist()
    for kind in (np.object_, np.str_):
        array: Any = np.array(given_labels, dtype=kind)
        assert encode_labels(array, LABELS).tolist() == expected


def test_a_stranger_in_an_array_is_named_as_in_a_list() -> None:
    for given_labels in (["0", "1", "2"], np.array(["0", "1", "2"], dtype=np.object_)):
        with pytest.raises(ValueError, match=r"reference\[2\]: label not on the scale, got '2'; expected one of \['0'"):
            encode_labels(given_labels, LABELS)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="clusters: wrong length, got 2; expected 3"):
        encode_clusters(as_clusters(np.zeros(2, dtype=np.int64)), n=3)


def everything(reference: Sequence[str], counts: Any, clusters: Any) -> list[Any]:
    rng: Callable[[], np.random.Generator] = lambda: np.random.default_rng(1)  # noqa: E731
    scale: Any = {"labels": LABELS, "scale_level": "ordinal", "resamples": 50}
    return [
        false_negative_rate(reference, counts, clusters, labels=LABELS, positive="1"),
        false_positive_rate(reference, counts, clusters, labels=LABELS, positive="1"),
        majority_error_rates(reference, counts, clusters, labels=LABELS, positive="1", k=3),
        score_errors(reference, counts, clusters, labels=LABELS, values=[0, 0.5, 1]),
        agreement(reference, counts, clusters, rng=rng(), **scale),
        alpha_repeats(counts, clusters, rng=rng(), **scale),
        flip_rate(counts, clusters),
        pairwise_disagreement(counts, clusters),
    ]


@given(tables)
def test_every_statistic_of_a_report_is_the_same_of_arrays(rows: list[tuple[int, int, list[int]]]) -> None:
    reference, clusters = [LABELS[row[0]] for row in rows], [row[1] for row in rows]
    counts = np.array([row[2] for row in rows], dtype=np.int64).reshape(-1, 3)
    arrays: tuple[Any, Any] = np.array(reference, dtype=np.object_), np.array(clusters, dtype=np.int64)
    assert everything(reference, counts, clusters) == everything(arrays[0], counts, arrays[1])


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(st.integers(0, 12), min_size=n, max_size=n), min_size=1)))
def test_rows_of_counts_are_told_apart_as_by_sorting(rows: list[list[int]]) -> None:
    table = np.array(rows, dtype=np.int64)
    distinct, which = majority._distinct_rows(table)
    expected, places = np.unique(table, axis=0, return_inverse=True)
    assert np.array_equal(distinct, expected)
    assert np.array_equal(which, places.ravel())


def test_rows_of_counts_too_large_for_a_table_of_all() -> None:
    table = np.array([[500, 2, 1], [0, 0, 0], [500, 2, 1], [500, 1, 700]])
    assert majority.LARGEST_KEY < 701**3
    distinct, which = majority._distinct_rows(table)
    assert distinct[which].tolist() == table.tolist()
    assert len(distinct) == 3


def test_many_clusters_are_drawn_as_few_are() -> None:
    n = cluster_bootstrap.BLOCK
    found = cluster_bootstrap._draw_clusters(n, np.random.default_rng(5), 3)
    cells = np.random.default_rng(5).integers(n, size=(3, n))
    assert np.array_equal(found, [np.bincount(row, minlength=n) for row in cells])
    assert cluster_bootstrap._draw_clusters(n - 1, np.random.default_rng(5), 3).sum() == 3 * (n - 1)
