"""Waits that services ask for in their headers."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders.dispatch.headers import parse_duration, parse_reset_wait, parse_retry_after

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("6m0s", 360), ("1h2m3s", 3723), ("20ms", 0.02), ("1.5s", 1.5), ("60", 60), ("0", 0), ("1d", 86400)],
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "soon", "-5", "6m0", "1s2x", "nan", "inf", "1e400"])
def test_what_is_no_duration_is_none(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "60"}, 60),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Mon, 30 Nov 2026 12:01:30 GMT"}, 90),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "later"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert parse_retry_after(headers, NOW) == seconds


def test_only_a_spent_allowance_is_waited_for() -> None:
    headers = {"x-ratelimit-remaining-requests": "12", "x-ratelimit-reset-requests": "6m0s"}
    assert parse_reset_wait(headers, NOW) is None
    spent = {**headers, "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}
    assert parse_reset_wait(spent, NOW) == pytest.approx(0.02)
    anthropic = {
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": "2026-11-30T12:00:30Z",
    }
    assert parse_reset_wait(anthropic, NOW) == 30


@given(
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"]),
        st.text(max_size=40),
    )
)
def test_garbage_asks_for_nothing_impossible(headers: dict[str, str]) -> None:
    for wait in (parse_retry_after(headers, NOW), parse_reset_wait(headers, NOW)):
        assert wait is None or (wait >= 0 and math.isfinite(wait))


@pytest.mark.parametrize(("moment", "seconds"), [("1796040000", 20.0), ("1796040000000", 20.0), ("1796039900", 0.001)])
def test_a_moment_since_1970_is_no_duration(moment: str, seconds: float) -> None:
    now = datetime.fromtimestamp(1796039980, UTC)
    spent = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": moment}
    assert parse_reset_wait(spent, now) == pytest.approx(seconds)
    assert parse_retry_after({"retry-after": moment}, now) == pytest.approx(seconds)
