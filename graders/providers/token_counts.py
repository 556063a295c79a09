"""Token counts as services write them."""

from __future__ import annotations

__all__ = ["token_count"]

_MOST = 10**12
"""No call has so many tokens: a larger number is no count."""


def token_count(value: object) -> int | None:
    """A count as it is, anything else as not known."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST else None
