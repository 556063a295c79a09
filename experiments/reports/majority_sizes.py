"""The numbers of draws whose majority is reported."""

from __future__ import annotations

__all__ = ["majority_sizes"]

ODD_SIZES = (1, 3, 5)


def majority_sizes(repeats: int) -> list[int]:
    """Small odd numbers, and all repeats."""
    return sorted({size for size in ODD_SIZES if size <= repeats} | {repeats})
