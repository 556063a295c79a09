"""Costs: tokens times prices, lower bounds where something is not known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders.capabilities import Price
from graders.pricing import NO_COST, Cost, cost
from graders.verdict import Usage

PRICE = Price(2.0, 8.0, cached_input=0.5, cache_write=2.5, batch=0.5)
COUNT = st.integers(0, 10**7)


def test_cached_and_written_tokens_are_priced_apart() -> None:
    usage = Usage(1_000_000, 100_000, cached_tokens=400_000, cache_write_tokens=100_000)
    assert cost(usage, PRICE).amount == pytest.approx(0.5 * 2 + 0.4 * 0.5 + 0.1 * 2.5 + 0.1 * 8)
    assert cost(usage, PRICE, batch=True).amount == pytest.approx(cost(usage, PRICE).amount / 2)


def test_tokens_that_are_not_priced_apart_cost_what_input_costs() -> None:
    plain = Price(2.0, 8.0)
    assert cost(Usage(1000, 10, cached_tokens=900), plain) == cost(Usage(1000, 10), plain)


@pytest.mark.parametrize("usage", [Usage(), Usage(10, None), Usage(None, 10)])
def test_a_missing_count_makes_a_lower_bound(usage: Usage) -> None:
    assert not cost(usage, PRICE).complete


def test_an_unknown_price_is_a_lower_bound_except_for_nothing() -> None:
    assert cost(Usage(10, 1), None) == Cost(0.0, complete=False)
    assert str(cost(Usage(10, 1), None)) == "at least $0.0000"
    assert cost(Usage(0, 0), None) == NO_COST


def test_one_incomplete_part_makes_a_sum_incomplete() -> None:
    assert Cost(1.0) + Cost(2.0, complete=False) == Cost(3.0, complete=False)
    assert str(Cost(1234.5)) == "$1,234.50"


@given(COUNT, COUNT, COUNT)
def test_cache_reads_never_make_a_call_dearer(tokens: int, cached: int, out: int) -> None:
    usage = Usage(tokens, out, cached_tokens=min(tokens, cached))
    assert 0 <= cost(usage, PRICE).amount <= cost(Usage(tokens, out), PRICE).amount + 1e-9


def test_what_costs_nothing_is_known_to_cost_nothing() -> None:
    free = Price(input=0.0, output=0.0)
    assert cost(Usage(), free) == Cost(0.0, complete=True)
