"""McNemar's test against statsmodels and published examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from statsmodels.stats.contingency_tables import mcnemar

from experiments.stats.comparisons.mcnemar import PairedTable, mcnemar_test, paired_table

COUNT = st.integers(0, 60)


@given(COUNT, COUNT, COUNT, COUNT)
def test_exact_and_asymptotic_are_those_of_statsmodels(a: int, b: int, c: int, d: int) -> None:
    result = mcnemar_test(PairedTable(a, b, c, d))
    table = [[a, b], [c, d]]
    assert result.exact == pytest.approx(mcnemar(table, exact=True).pvalue, abs=1e-12)
    if b + c:
        asymptotic = mcnemar(table, exact=False, correction=False).pvalue
        assert result.asymptotic == pytest.approx(asymptotic, abs=1e-12)


@pytest.mark.parametrize(
    ("cells", "digits", "exact", "mid_p", "asymptotic"),
    [
        # Fagerland, Lydersen and Laake (2013), tables 1 and 2: airway hyper-responsiveness before and after stem
        # cell transplantation; complete response before and after consolidation therapy (six digits of the second
        # as the R package contingencytables prints them).
        ((1, 1, 7, 12), 3, 0.070, 0.039, 0.034),
        ((59, 6, 16, 80), 6, 0.052479, 0.034690, 0.033006),
    ],
)
def test_published_examples(
    cells: tuple[int, int, int, int], digits: int, exact: float, mid_p: float, asymptotic: float
) -> None:
    result = mcnemar_test(PairedTable(*cells))
    assert round(result.exact, digits) == exact
    assert round(result.mid_p or 0, digits) == mid_p
    assert round(result.asymptotic or 0, digits) == asymptotic


@given(st.integers(0, 40), st.integers(0, 40))
def test_mid_p_takes_half_of_what_was_observed(b: int, c: int) -> None:
    """By its definition: chance of anything less likely, and half of what is as likely as the observed."""
    result = mcnemar_test(PairedTable(0, b, c, 0))
    if b + c == 0:
        assert result == type(result)(1.0, None, None, 0, 0)
        return
    chances = binom.pmf(np.arange(b + c + 1), b + c, 0.5)
    distances = np.abs(np.arange(b + c + 1) - (b + c) / 2)
    beyond, equal = distances > abs(b - c) / 2 + 1e-9, np.abs(distances - abs(b - c) / 2) < 1e-9
    assert result.mid_p == pytest.approx(chances[beyond].sum() + chances[equal].sum() / 2, abs=1e-12)


def test_the_table_counts_each_pair_once() -> None:
    first, second = [1, 1, 0, 0, None, 1], [1, 0, 1, 0, 1, None]
    assert paired_table(first, second, "abcdef") == PairedTable(1, 1, 1, 1, left_out=2)
    assert paired_table([True, False], [False, False], "ab") == PairedTable(0, 1, 0, 1)
    assert paired_table([], [], []) == PairedTable(0, 0, 0, 0)


def test_repeats_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^second\[1\]: not a single label, got 0.3; expected 0 or 1"):
        paired_table([1, 0], [0, 0.3], "ab")


def test_several_items_of_a_question_are_refused_unless_one_is_used() -> None:
    with pytest.raises(ValueError, match=r"^clusters: items share questions, got 3 items of 2 questions"):
        paired_table([1, 0, 1], [0, 0, 1], "aab")
    assert paired_table([1, 0, 1], [0, None, 1], "aab").n == 2


@pytest.mark.parametrize(
    ("first", "second", "clusters", "message"),
    [
        ([1], [1, 0], "a", r"^second: wrong length, got 2; expected 1"),
        ([[1]], [1], "a", r"^first: wrong shape, got \(1, 1\); expected \(n,\)"),
        ([1], [1], "ab", r"^clusters: wrong length, got 2; expected 1"),
        ([np.inf], [1], "a", r"^first\[0\]: not a single label, got inf"),
    ],
)
def test_bad_input_is_refused(first: Any, second: Any, clusters: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        paired_table(first, second, clusters)


@pytest.mark.parametrize("cells", [(-1, 0, 0, 0), (1.5, 0, 0, 0)])
def test_cells_are_counts(cells: Any) -> None:
    with pytest.raises(ValueError, match=r"^PairedTable: not counts"):
        PairedTable(*cells)
