"""Seeds of repeated draws, one for each item and repeat.

Engines that answer several children in one request give child ``i`` the seed ``seed + i``. Two
requests whose seeds lie closer together than their number of children would share draws, so each
group of children gets a block of its own.
"""

from __future__ import annotations

import hashlib

__all__ = ["CHILDREN", "SPACING", "draw_seed"]

SPACING = 16
"""Distance between the first seeds of two groups of children."""

CHILDREN = 10
"""Most children of one group; fewer than ``SPACING``, so that groups never touch."""

_BLOCKS = 2**32 // SPACING


def draw_seed(base: int, item_digest: str, repeat: int) -> int:
    """Seed of one repeat of one item, 32 bits.

    It depends on nothing else, so a repeat is drawn alike whichever others are asked for with it.
    Repeats ``10 k`` to ``10 k + 9`` have consecutive seeds, as children of one request; the first
    of them is a multiple of 16. Repeats of one item never share a seed. Two items share a block
    with probability ``2 ** -28``, about one chance in five that any two of 10,000 items do, in
    which case those two items see the same random numbers. ``0xFFFFFFFF``, which llama.cpp reads
    as "choose one yourself", is never returned.

    Parameters
    ----------
    base
        Base seed of the grader's sampling, any integer.
    item_digest
        Content digest of the item.
    repeat
        Which repeat, from 0.

    Raises
    ------
    ValueError
        If ``repeat`` is negative.
    """
    if repeat < 0:
        raise ValueError(f"repeat: {repeat}; expected 0 or more")
    hashed = hashlib.sha256(f"{base}:{item_digest}".encode()).digest()
    group, child = divmod(repeat, CHILDREN)
    block = (int.from_bytes(hashed[:8], "big") + group) % _BLOCKS
    return block * SPACING + child
