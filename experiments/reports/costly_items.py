"""Items whose calls take many times the tokens of the others: long answers, or a model that did not stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from calibration_sets.item import Item

__all__ = ["COSTLY", "costly_items"]

COSTLY = 10
"""Times the median of an item's tokens from which an item is named."""


def costly_items(tokens: Mapping[str, int], items: Sequence[Item]) -> list[dict[str, Any]]:
    """Items that take ``COSTLY`` times the median of tokens or more, most first; empty where none does.

    Parameters
    ----------
    tokens
        Item digest to the tokens of all its completions, read and written.
    items
        The items; of those with equal content the first by id is named.
    """
    named = {item.digest: item.item_id for item in sorted(items, key=lambda item: item.item_id, reverse=True)}
    known = {digest: count for digest, count in tokens.items() if digest in named and count > 0}
    if not known:
        return []
    usual, total = median(known.values()), sum(known.values())
    found = [(-count, named[digest]) for digest, count in known.items() if count >= COSTLY * usual]
    return [
        {"item_id": item_id, "tokens": -negative, "times_median": -negative / usual, "share": -negative / total}
        for negative, item_id in sorted(found)
    ]
