"""Addresses of a part of the items on the report's page: what a mark of a figure leads to."""

from __future__ import annotations

from urllib.parse import quote, urlencode

__all__ = ["ANY_FAILURE", "FILTERS", "item_link"]

FILTERS = (
    "agreement_high",
    "agreement_low",
    "answer_type",
    "error",
    "failure",
    "grader",
    "kind",
    "reference",
    "topic",
    "verdict",
)
"""What items can be filtered by, all that are given at once.

``grader`` is a number from 1, and the others but those of the item itself are about its verdicts; ``reference`` and
``verdict`` are labels, ``failure`` a reason, ``error`` is ``false_negative`` or ``false_positive``. An empty ``kind``
is that of items without one. Both ends of ``agreement_low`` and ``agreement_high`` belong to the part, and are numbers
to be compared as they are.
"""

ANY_FAILURE = "any"
"""A ``failure`` of whatever reason."""


def item_link(**filters: str | int | float | None) -> str:
    """``#items?`` and the filters in the order of their names; ``None`` is no filter.

    Raises
    ------
    ValueError
        For a filter that there is not.
    """
    strange = sorted(set(filters) - set(FILTERS))
    if strange:
        raise ValueError(f"item_link: no filter {strange[0]!r}; expected one of {list(FILTERS)}")
    given = {name: str(value) for name, value in sorted(filters.items()) if value is not None}
    return f"#items?{urlencode(given, quote_via=quote, safe='', errors='backslashreplace')}"
