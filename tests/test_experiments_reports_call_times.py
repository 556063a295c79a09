"""Times of calls, summed up: each call once, nothing made up where none is known."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.reports.call_times import (
    GraderTimes,
    pace_text,
    seconds_text,
    sum_call_times,
    time_fields,
    times_text,
    untimed_text,
)

calls = st.lists(st.tuples(st.floats(0, 1e4), st.integers(1, 10)), min_size=1, max_size=30)


def spread(calls: list[tuple[float, int]]) -> tuple[list[float], list[int]]:
    """What the completions of such calls say: each tells the seconds of its call, and how many came with it."""
    return (
        [seconds for seconds, size in calls for _ in range(size)],
        [size for _, size in calls for _ in range(size)],
    )


@given(calls)
def test_each_call_counts_once_however_many_completions_it_brought(calls: list[tuple[float, int]]) -> None:
    times = sum_call_times(*spread(calls), n_untimed=0)
    assert times.n_timed == sum(size for _, size in calls)
    assert times.seconds == pytest.approx(sum(seconds for seconds, _ in calls))
    assert times.median in [seconds for seconds, _ in calls]
    alone = sum_call_times([seconds for seconds, _ in calls], [1] * len(calls), n_untimed=0)
    assert times.seconds == pytest.approx(alone.seconds)


@given(calls, st.randoms())
def test_the_order_of_completions_moves_no_digit(calls: list[tuple[float, int]], choose: random.Random) -> None:
    seconds, sizes = spread(calls)
    order = list(range(len(seconds)))
    choose.shuffle(order)
    turned = sum_call_times([seconds[place] for place in order], [sizes[place] for place in order], n_untimed=1)
    assert turned == sum_call_times(seconds, sizes, n_untimed=1)


def test_quantiles_are_of_calls_not_of_completions() -> None:
    # One slow call brought ten completions, three fast ones brought one each: the median call is fast.
    times = sum_call_times([9.0] * 10 + [1.0, 2.0, 3.0], [10] * 10 + [1, 1, 1], n_untimed=0)
    assert (times.median, times.p95) == (2.0, 9.0)
    assert times.seconds == pytest.approx(9 + 1 + 2 + 3)
    hundred = sum_call_times([float(number) for number in range(1, 101)], [1] * 100, n_untimed=0)
    assert (hundred.median, hundred.p95) == (50.0, 95.0)


def test_a_call_of_which_a_part_belongs_to_the_run_counts_in_part() -> None:
    assert sum_call_times([8.0], [4], n_untimed=0).seconds == 2.0


def test_a_thousand_verdicts_are_valid_ones_that_were_timed() -> None:
    times = replace(sum_call_times([2.0, 2.0, 4.0], [2, 2, 1], n_untimed=5), n_valid=2)
    # Six seconds of calls brought two usable verdicts; the five replies without a time say nothing.
    assert times.thousand == 1000 * 6 / 2
    assert GraderTimes(n_timed=3, seconds=6.0, median=2.0, p95=2.0).thousand is None


def test_where_nothing_was_timed_nothing_is_told() -> None:
    times = sum_call_times([], [], n_untimed=7)
    assert times == GraderTimes(n_untimed=7)
    assert time_fields(times) == {
        "seconds_of_a_thousand": None,
        "n_timed": 0,
        "n_untimed": 7,
        "n_valid": 0,
        "seconds": 0.0,
        "median": None,
        "p95": None,
        "pace": None,
    }
    assert times_text(time_fields(times)) == "not recorded"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (0.0, "0.00 ms"),
        (3e-6, "<0.01 ms"),
        (0.00012, "0.12 ms"),
        (0.0594, "59.4 ms"),
        (0.5936, "594 ms"),
        (1.268, "1.27 s"),
        (119.0, "119 s"),
        (237.86, "3.96 min"),
        (3600.0, "60.0 min"),
        (9000.0, "2.5 h"),
        (36_000_000.0, "10,000.0 h"),
    ],
)
def test_times_are_told_in_the_unit_that_people_would_take(seconds: float | None, text: str) -> None:
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("pace", "text"), [(None, "-"), (0.0123, "0.012"), (4.14, "4.1"), (254.04, "254"), (1234.5, "1,234")]
)
def test_paces_are_told_to_two_digits_or_more(pace: float | None, text: str) -> None:
    assert pace_text(pace) == text


def test_one_line_holds_what_is_known_and_how_much_of_it() -> None:
    times = replace(sum_call_times([0.5, 1.5], [1, 1], n_untimed=38), n_valid=2, pace=12.4)
    assert times_text(time_fields(times)) == (
        "16.7 min of calls for 1,000 verdicts; a call's median 500 ms, 95% within 1.50 s; "
        "12 replies a second by the wall clock; 38 of 40 replies without a time"
    )
    assert untimed_text(n_timed=1_000, n_untimed=2_000) == "2,000 of 3,000"
