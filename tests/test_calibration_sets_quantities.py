"""Numbers in running text: digits, words, units, clock times, and what must not be read at all."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.references.compounds import merge_compounds
from calibration_sets.references.numerals import normalise, read_numeral
from calibration_sets.references.quantities import read_quantities
from calibration_sets.references.units import UNITS, canonical_noun, convert, is_power_of_ten, match_unit


def read(text: str, dimension: str | None = None) -> list[tuple[str, str | None]]:
    """Values and units (or nouns) of what is read without a doubt."""
    text = normalise(text)
    found = merge_compounds(text, read_quantities(text, dimension))
    return [(f"{q.value.normalize():f}", q.unit or q.noun or None) for q in found if not q.doubt]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", "42"),
        ("42!", "42"),
        ("(42).", "42"),
        ("[42]", "42"),
        ("16.00", "16"),
        (".5", "0.5"),
        ("1,234,567", "1234567"),
        ("12,34,567", "1234567"),
        ("1\u2009234\u2009567", "1234567"),
        ("1'234'567", "1234567"),
        ("1 234 567", "1234567"),
        ("−5", "-5"),
        ("-5", "-5"),
        ("minus five", "-5"),
        ("1.2k", "1200"),
        ("1.2 million", "1200000"),
        ("1.5 lakh crore", "1500000000000"),
        ("hundred thousand 7", "7"),
        ("2.35 × 10^6", "2350000"),
        ("2.35e6", "2350000"),
        ("4½", "4.5"),
        ("４２", "42"),
        ("٤٢", "42"),
        (r"\boxed{42}", "42"),
        ("$42$", "42"),
        ("three hundred and five", "305"),
        ("four and a half", "4.5"),
        ("Two", "2"),
        ("nineteen hundred", "1900"),
        ("two and a half million", "2500000"),
        ("one point two five", "1.25"),
        ("two lakh thirty thousand", "230000"),
        ("the seventy-first", "71"),
        ("71st", "71"),
        ("38:42", "2322"),
        ("3:11:22", "11482"),
    ],
)
def test_one_number(text: str, value: str) -> None:
    assert [number for number, _ in read(text)] == [value]


DOUBTFUL = """
42abc|abc42|F-16|1.234.567|1.234,5|1,5|12,3456|007|3:75|12 May|May 12|1994 BC|9:30 p.m.|half past 9 o'clock|10^6|x^2
nineteen ninety-four|two three|one two hundred|1/4|3/4/1996|5m|5 M
"""


@pytest.mark.parametrize("text", DOUBTFUL.strip().replace("\n", "|").split("|"))
def test_what_is_not_certainly_a_number_is_doubted(text: str) -> None:
    assert read(text) == []
    assert read_quantities(normalise(text))


@pytest.mark.parametrize("text", ["", "under investigation", "often", "no one", "the one", "bone", "tense", "weight"])
def test_no_number(text: str) -> None:
    assert read_quantities(normalise(text)) == []


@pytest.mark.parametrize(
    ("text", "dimension", "expected"),
    [
        ("390 metres", None, ("390", "metre")),
        ("390 m", "length", ("390", "metre")),
        ("17.2-meter", None, ("17.2", "metre")),
        ("61,200 km2", None, ("61200", "square kilometre")),
        ("61,200 km²", None, ("61200", "square kilometre")),
        ("61,200 sq. km", None, ("61200", "square kilometre")),
        ("65W", None, ("65", "watt")),
        ("100 MHz", None, ("100", "megahertz")),
        ("6229 °F", None, ("6229", "degree Fahrenheit")),
        ("20 ° C", None, ("20", "degree Celsius")),
        ("20 C", "temperature", ("20", "degree Celsius")),
        ("11 degrees Fahrenheit", None, ("11", "degree Fahrenheit")),
        ("55%", None, ("55", "percent")),
        ("55 per cent", None, ("55", "percent")),
        ("₹55.10 crores", None, ("551000000", "rupee")),
        ("$16.00", None, ("16", "dollar")),
        ("-$5", None, ("-5", "dollar")),
        ("US$2.35m", None, ("2350000", "dollar")),
        ("1480 English guineas", None, ("1480", "English guineas")),
        ("5050 meters above sea level", None, ("5050", "metre")),
        ("24 in.", None, ("24", "inch")),
        ("24 in 1810 words", None, ("24", None)),
        ("79 people per km2", None, ("79", "people per km2")),
        ("72'", "time", ("72", "minute")),
        ("6'2\"", "length", ("74", "inch")),
        ("5 ft 10 in", None, ("70", "inch")),
        ("2h 7m 14s", "time", ("7634", "second")),
        ("2h07m14s", "time", ("7634", "second")),
        ("38 minutes and 43 seconds", None, ("2323", "second")),
        ("10 years 3 months", None, ("123", "month")),
        ("minute 71", None, ("71", "minute")),
    ],
)
def test_units(text: str, dimension: str | None, expected: tuple[str, str | None]) -> None:
    assert read(text, dimension)[0] == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1 year and 161 days", 2),
        ("9 years 15 months", 2),
        ("3 m 5 ft", 2),
        ("2.5 hours 10 minutes", 2),
        ("5 m, 3 km", 2),
    ],
)
def test_parts_that_do_not_certainly_add_up_stay_apart(text: str, count: int) -> None:
    assert len(read(text, "length")) == count


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        ("210", "centimetre", "metre", Fraction(21, 10)),
        ("1", "mile", "kilometre", Fraction(1609344, 1000000)),
        ("1", "acre", "square metre", Fraction(40468564224, 10**7)),
        ("2", "hour", "minute", Fraction(120)),
        ("1", "year", "day", None),
        ("1", "dollar", "euro", None),
        ("1", "ton", "kilogram", None),
        ("1", "degree Celsius", "kelvin", None),
        ("1", "seat", "seat", Fraction(1)),
    ],
)
def test_conversion_is_exact_or_refused(value: str, source: str, target: str, expected: Fraction | None) -> None:
    assert convert(Decimal(value), source, target) == expected


def test_every_unit_reads_back_under_its_own_name() -> None:
    for name in UNITS:
        assert match_unit(f"{name} of it", 0) == (name, len(name))


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (Fraction(1), True),
        (Fraction(1000), True),
        (Fraction(1, 100), True),
        (Fraction(60), False),
        (Fraction(11, 10), False),
    ],
)
def test_powers_of_ten(ratio: Fraction, expected: bool) -> None:
    assert is_power_of_ten(ratio) is expected


def test_nouns_fold_case_and_number() -> None:
    assert canonical_noun("English  Guineas") == "english guinea"
    assert canonical_noun("glass") == "glass"


def test_second_readings_of_commas_and_stops() -> None:
    assert read_numeral("1.234").other == 1234
    assert read_numeral("1,234").other == Decimal("1.234")
    assert read_numeral("12.34").other is None
    assert read_numeral("1" * 25).value is None


@given(st.decimals(-(10**9), 10**9, places=3))
def test_plain_decimals_read_back(value: Decimal) -> None:
    found = read_quantities(normalise(f"{value:f}"))
    assert [quantity.value for quantity in found] == [value]


@given(st.integers(0, 10**12), st.sampled_from(["km", "kg", "%", "acres", "°F", "hours", "euros"]))
def test_grouped_integers_with_units_read_back(value: int, unit: str) -> None:
    found = read_quantities(normalise(f"{value:,} {unit}"))
    assert [(quantity.value, quantity.unit is None, quantity.doubt) for quantity in found] == [(value, False, None)]


@given(st.text(max_size=100), st.sampled_from([None, "length", "time", "temperature"]))
def test_any_text_is_read_in_order(text: str, dimension: str | None) -> None:
    text = normalise(text)
    found = merge_compounds(text, read_quantities(text, dimension))
    places = [place for quantity in found for place in (quantity.start, quantity.end)]
    assert places == sorted(places)
