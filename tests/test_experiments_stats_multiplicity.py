"""Adjusted p-values against statsmodels."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from experiments.stats.comparisons.multiplicity import Adjustment, adjust_p_values

P_VALUES = st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.01, 0.02, 0.05, 0.3, 1.0]) | st.floats(0, 1), max_size=30)
METHODS = pytest.mark.parametrize(("method", "theirs"), [("holm", "holm"), ("benjamini-hochberg", "fdr_bh")])


@METHODS
@settings(max_examples=12)  # statsmodels collects garbage at each call
@given(raw=st.lists(st.sampled_from([0.0, 0.01, 0.02, 0.05, 1.0]) | st.floats(0, 1), min_size=4, max_size=30))
def test_adjusted_p_values_are_those_of_statsmodels(method: Adjustment, theirs: str, raw: list[float]) -> None:
    table = adjust_p_values(raw, method=method)
    assert [row.p_value for row in table.rows] == raw
    expected = multipletests(raw, method=theirs)[1]
    assert [row.adjusted for row in table.rows] == pytest.approx(expected.tolist(), abs=1e-12)


def test_holm_is_the_default_by_hand() -> None:
    table = adjust_p_values([0.04, 0.01, 0.03], names=["a", "b", "c"])
    assert table.method == "holm"
    assert [row.name for row in table.rows] == ["a", "b", "c"]
    assert [row.adjusted for row in table.rows] == pytest.approx([2 * 0.03, 3 * 0.01, 2 * 0.03])
    assert [row.significant for row in table.rows] == [False, True, False]


@METHODS
@given(raw=P_VALUES, gaps=st.lists(st.integers(0, 30), max_size=5))
def test_tests_that_are_not_defined_stay_so_and_are_not_counted(
    method: Adjustment, theirs: str, raw: list[float], gaps: list[int]
) -> None:
    with_gaps: list[float | None] = list(raw)
    for gap in gaps:
        with_gaps.insert(min(gap, len(with_gaps)), None)
    table, plain = adjust_p_values(with_gaps, method=method), adjust_p_values(raw, method=method)
    assert table.tested == len(raw)
    assert [row.adjusted for row in table.rows if row.p_value is not None] == [row.adjusted for row in plain.rows]
    undefined = [(row.adjusted, row.significant) for row in table.rows if row.p_value is None]
    assert undefined == [(None, None)] * len(gaps)


@METHODS
@given(raw=P_VALUES)
def test_adjusting_never_lowers_and_keeps_the_order(method: Adjustment, theirs: str, raw: list[float]) -> None:
    rows = sorted(adjust_p_values(raw, method=method).rows, key=lambda row: row.p_value or 0.0)
    adjusted = [row.adjusted or 0.0 for row in rows]
    assert adjusted == sorted(adjusted)
    assert all(row.p_value is not None and row.p_value <= (row.adjusted or 0.0) + 1e-15 <= 1 + 1e-12 for row in rows)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_rounding_of_the_level_does_not_decide(level: float) -> None:
    """1 - 0.9 is a little below 0.1 in floating point."""
    assert adjust_p_values([round(1 - level, 2)], level=level).rows[0].significant is True
    assert adjust_p_values([round(1 - level, 2) + 1e-6], level=level).rows[0].significant is False


def test_an_empty_family() -> None:
    assert adjust_p_values([]).rows == ()
    assert adjust_p_values([None]).tested == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"p_values": [1.2]}, r"^p_values\[0\]: not a p-value, got 1.2"),
        ({"p_values": [0.1, float("nan")]}, r"^p_values\[1\]: not a p-value, got nan"),
        ({"p_values": [0.1], "names": ["a", "b"]}, r"^names: wrong length, got 2; expected 1"),
        ({"p_values": [0.1], "method": "sidak"}, r"^method: unknown, got 'sidak'"),
        ({"p_values": [0.1], "level": 0}, r"^level: not a confidence level"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        adjust_p_values(**arguments)
