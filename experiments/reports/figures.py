"""Numbers in words: percentages, coefficients, intervals, and what is not defined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "DASH",
    "NOT_DEFINED",
    "basis",
    "bounds_text",
    "brief",
    "coefficient_text",
    "count_of",
    "count_text",
    "listing",
    "percent",
    "rate_text",
    "short_coefficient",
    "short_percent",
    "signed_text",
]

NOT_DEFINED = "not defined"
"""What stands where an estimate has no value."""
DASH = "-"
"""What stands in a narrow table where there is no figure."""

Fields = Mapping[str, Any]


def percent(share: float | None) -> str:
    """A share in percent with one decimal; a share that is not 0 or 1 is never rounded to look like it."""
    if share is None:
        return NOT_DEFINED
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 <= share < 1:
        return ">99.9%"
    return f"{100 * share:.1f}%"


def rate_text(estimate: Fields, reason: str | None = None) -> str:
    """``12.3% [10.1, 15.0]``, or why there is none."""
    if estimate["value"] is None:
        return _undefined(reason)
    if estimate["low"] is None:
        return f"{percent(estimate['value'])} [no interval]"
    return f"{percent(estimate['value'])} [{100 * estimate['low']:.1f}, {100 * estimate['high']:.1f}]"


def coefficient_text(estimate: Fields, reason: str | None = None) -> str:
    """``0.534 [0.410, 0.630]``, or why there is none."""
    if estimate["value"] is None:
        return _undefined(reason)
    if estimate["low"] is None:
        return f"{estimate['value']:.3f} [no interval]"
    return f"{estimate['value']:.3f} [{estimate['low']:.3f}, {estimate['high']:.3f}]"


def signed_text(estimate: Fields, reason: str | None = None, *, digits: int = 3) -> str:
    """``+0.053 [-0.010, +0.116]``, a number that may lie on either side of 0, or why there is none."""
    if estimate["value"] is None:
        return _undefined(reason)
    shown = f"{estimate['value']:+.{digits}f}"
    if estimate["low"] is None:
        return f"{shown} [no interval]"
    return f"{shown} [{estimate['low']:+.{digits}f}, {estimate['high']:+.{digits}f}]"


def short_percent(estimate: Fields) -> str:
    """The value alone, in percent."""
    return percent(estimate["value"])


def short_coefficient(estimate: Fields) -> str:
    """The value alone, as a coefficient."""
    return NOT_DEFINED if estimate["value"] is None else f"{estimate['value']:.3f}"


def brief(shown: str) -> str:
    """A figure as a narrow table shows it: a dash where it is not defined."""
    return DASH if shown == NOT_DEFINED else shown


def bounds_text(bounds: list[float] | None) -> str:
    """Lowest and highest rate that missing verdicts allow; a dash where none is missing."""
    return f"{percent(bounds[0])} to {percent(bounds[1])}" if bounds else DASH


def basis(estimate: Fields) -> tuple[str, str, str]:
    """Items, questions and verdicts an item that an estimate rests on."""
    return f"{estimate['n']:,}", f"{estimate['clusters']:,}", str(estimate["repeats"])


def count_of(n: int, noun: str) -> str:
    """``1 model``, ``3 models``; a noun that takes an s."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def count_text(counts: Mapping[str, int], *, empty: str = "none") -> str:
    """``CORRECT 7, INCORRECT 3``; counts of zero are left out."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count) or empty


def listing(values: list[str], *, empty: str = "not known") -> str:
    """Values with commas between."""
    return ", ".join(values) or empty


def _undefined(reason: str | None) -> str:
    """``not defined (one class), agreement 100%, n = 5``: the cause in brackets, then what there is instead."""
    cause, comma, rest = (reason or "").partition(", ")
    return f"{NOT_DEFINED} ({cause}){comma}{rest}" if cause else NOT_DEFINED
