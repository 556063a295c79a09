"""How wide text is in the font that figures are laid out in, so that it is as wide in a reader's own font."""

from __future__ import annotations

__all__ = ["text_width"]

_ASCII = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
)  # fmt: skip
"""Advance widths from the space to the tilde, in thousandths of the font's size: Helvetica's, which Arial and
Liberation Sans share."""

_WIDTHS = {chr(32 + place): width for place, width in enumerate(_ASCII)} | {"…": 1000, "–": 556}


def text_width(text: str, size: float) -> float | None:
    """Width at a font size, in its unit; ``None`` where a character's is not known."""
    widths = [_WIDTHS.get(char) for char in text]
    known = [width for width in widths if width is not None]
    return size * sum(known) / 1000 if len(known) == len(widths) else None
