"""The one number that an answer gives, where it plainly gives one."""

from __future__ import annotations

from calibration_sets.references.quantities import normalise, read_quantities
from calibration_sets.references.quantity import Quantity

__all__ = ["read_single_number"]

LONGEST = 500


def read_single_number(answer: str) -> Quantity | None:
    """The quantity in an answer; ``None`` where there is none, there are several, or the reading is in doubt.

    Thousands are read as such (``8,282``), and an ``m`` as metres, which in a reference is never a million.
    """
    text = normalise(answer[:LONGEST])
    for dimension in (None, "length"):
        found = read_quantities(text, dimension)
        if len(found) == 1 and not found[0].doubt and found[0].kind != "clock":
            return found[0]
    return None
