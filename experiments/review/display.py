"""Text of others as the pages show it, and what an item says beside its texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from decimal import Decimal

from calibration_sets.references.reference import AcceptableRange, Reference
from experiments.stats.estimate import Estimate

__all__ = ["estimate_text", "range_texts", "shown_text"]

_JOINERS = "\u200c\u200d"
"""Zero-width joiners: several scripts and most emoji cannot be written without them."""
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def shown_text(text: str) -> str:
    r"""Text with what cannot be seen spelt out, such as ``\x1b``, ``\u202e`` or ``\u200b``; line breaks and tabs stay.

    A response must not turn its line around, hide words, or contain what no page can carry, and whoever labels it
    should see that it tries. This is no escaping for HTML: templates do that.
    """
    plain = text.replace("\r\n", "\n")
    return "".join(char.encode("unicode_escape").decode("ascii") if _is_hidden(char) else char for char in plain)


def _is_hidden(char: str) -> bool:
    return char not in "\n\t" and char not in _JOINERS and unicodedata.category(char) in _HIDDEN


def range_texts(reference: Reference) -> Sequence[str]:
    """The acceptable ranges in words: ``118 to 122 (seat)``."""
    return [_range_text(one) for one in reference.ranges]


def _range_text(one: AcceptableRange) -> str:
    unit = f" ({one.unit})" if one.unit else ""
    if not one.high.is_finite():
        return f"{_number(one.low)} or more{unit}"
    if not one.low.is_finite():
        return f"{_number(one.high)} or less{unit}"
    return f"{_number(one.low)} to {_number(one.high)}{unit}"


def _number(value: Decimal) -> str:
    return f"{value:,f}" if value.is_finite() else "any number"


def estimate_text(estimate: Estimate, *, percent: bool = False) -> str:
    """A value with its interval, or that there is none."""
    if estimate.value is None:
        return "not defined"
    scale, digits, sign = (100, 1, "%") if percent else (1, 2, "")
    value = f"{scale * estimate.value:.{digits}f}{sign}"
    if estimate.low is None or estimate.high is None:
        return f"{value} [no interval]"
    return f"{value} [{scale * estimate.low:.{digits}f}, {scale * estimate.high:.{digits}f}]"
