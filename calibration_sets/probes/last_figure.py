"""The first SimpleQA rubric's rule for numbers: right to the last significant figure."""

from __future__ import annotations

from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

__all__ = ["agrees_to_last_figure"]


def agrees_to_last_figure(target: str, value: str) -> bool | None:
    """Whether ``value``, rounded to the last significant figure of ``target``, is ``target``.

    Both are plain decimals, thousands separators allowed. ``None`` where the rule does not
    decide: where it matters if the target's trailing zeros are significant, or where the value
    lies half-way between two roundings.

    Raises
    ------
    decimal.InvalidOperation
        If one of them is no decimal number.
    """
    wanted, given = (Decimal(text.replace(",", "")) for text in (target, value))
    places = {Decimal(1).scaleb(exponent) for exponent in _last_places(wanted)}
    outcomes = {
        (given / place).quantize(Decimal(1), rounding) * place == wanted
        for place in places
        for rounding in (ROUND_HALF_UP, ROUND_HALF_DOWN)
    }
    return outcomes.pop() if len(outcomes) == 1 else None


def _last_places(number: Decimal) -> set[int]:
    """Exponents of ten that may be the last significant one: as written, and without trailing zeros."""
    written, bare = number.as_tuple().exponent, number.normalize().as_tuple().exponent
    return {exponent for exponent in (written, bare) if isinstance(exponent, int)}
