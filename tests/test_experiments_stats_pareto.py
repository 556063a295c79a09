"""The Pareto front, against a plain double loop."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.stats.comparisons.pareto import pareto_front

VALUE = st.none() | st.integers(0, 4)


def test_cheap_and_right_beat_dear_and_wrong() -> None:
    result = pareto_front(
        {"cost": [1.0, 2.0, 3.0, 3.0], "errors": [0.2, 0.1, 0.1, 0.3]}, names=["small", "large", "dear", "bad"]
    )
    assert result.front == ("small", "large")
    assert [point.dominated_by for point in result.points] == [(), (), ("large",), ("small", "large", "dear")]


def test_equals_stay_beside_each_other() -> None:
    assert pareto_front({"cost": [1, 1, 1], "errors": [0.1, 0.1, 0.2]}, names="abc").front == ("a", "b")


def test_an_unknown_cost_is_reported_apart_and_beats_nobody() -> None:
    result = pareto_front({"cost": [None, 2.0, None], "errors": [0.0, 0.5, 0.4]}, names="abc")
    assert result.front == ("b",)
    assert result.unknown == ("a", "c")
    assert [point.name for point in result.points] == ["b"]


def test_more_is_better_where_it_is_said() -> None:
    criteria = {"cost": [1, 2], "accuracy": [0.9, 0.8]}
    assert pareto_front(criteria, names="ab", maximise=["accuracy"]).front == ("a",)
    assert pareto_front(criteria, names="ab").front == ("a", "b")


@given(st.lists(st.tuples(VALUE, VALUE, VALUE), max_size=12))
def test_the_front_is_that_of_a_double_loop(rows: list[tuple[int | None, int | None, int | None]]) -> None:
    names = [f"g{place}" for place in range(len(rows))]
    criteria = {key: [row[place] for row in rows] for place, key in enumerate("xyz")}
    known = {
        name: (row[0], row[1], -row[2])
        for name, row in zip(names, rows, strict=True)
        if row[0] is not None and row[1] is not None and row[2] is not None
    }
    expected = {
        name: tuple(
            rival
            for rival, other in known.items()
            if other != row and all(a <= b for a, b in zip(other, row, strict=True))
        )
        for name, row in known.items()
    }
    result = pareto_front(criteria, names=names, maximise={"z"})
    assert {point.name: point.dominated_by for point in result.points} == expected
    assert result.front == tuple(name for name, rivals in expected.items() if not rivals)
    assert result.unknown == tuple(name for name in names if name not in known)


def test_one_criterion_keeps_the_least_and_nobody_gives_an_empty_front() -> None:
    assert pareto_front({"errors": [0.3, 0.1, 0.1]}, names="abc").front == ("b", "c")
    assert pareto_front({"errors": []}, names=[]).front == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"criteria": {}, "names": []}, r"^criteria: none"),
        ({"criteria": {"x": [1]}, "names": "ab"}, r"^criteria\['x'\]: wrong length, got 1; expected 2"),
        ({"criteria": {"x": [1, 2]}, "names": "aa"}, r"^names: a name stands twice"),
        ({"criteria": {"x": [float("nan")]}, "names": "a"}, r"^criteria\['x'\]: not a number, got nan"),
        ({"criteria": {"x": [1]}, "names": "a", "maximise": ["y"]}, r"^maximise: unknown criterion, got 'y'"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pareto_front(**arguments)
