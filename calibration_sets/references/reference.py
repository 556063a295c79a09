"""Target answers: text, aliases, acceptable ranges."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

__all__ = ["AcceptableRange", "Reference"]


@dataclass(frozen=True, slots=True)
class AcceptableRange:
    """Inclusive bounds on one quantity of an answer, in exact decimals.

    ``target`` is the value that the reference itself gives for the quantity. ``unit`` is a
    canonical unit name of :mod:`calibration_sets.references.units`, a noun in the singular (``seat``), or
    ``None`` where the reference names none (a bare count). Clock times are in seconds; a bound that
    the reference leaves open is infinite.
    """

    low: Decimal
    high: Decimal
    target: Decimal | None
    unit: str | None


@dataclass(frozen=True, slots=True)
class Reference:
    """A target answer.

    ``text`` is the reference as published, unchanged. ``answer`` is the text without the note on
    its acceptable range and without outer white space. ``aliases`` are all strings that are the
    answer (``answer`` first); ``extra_aliases`` those of them that were given beside the text and
    not derived from it. ``ranges`` has one entry a quantity that the reference gives a range for
    (several must all hold); empty where it gives none.
    """

    text: str
    answer: str
    aliases: tuple[str, ...] = ()
    extra_aliases: tuple[str, ...] = ()
    ranges: tuple[AcceptableRange, ...] = ()
