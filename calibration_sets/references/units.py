"""Units of measure: names, symbols, exact factors.

Own code, not ``pint`` or ``quantulum3``: a cross-check of graders must refuse what is uncertain
(``ton``, ``gallon``, ``m`` for million, a bare ``degree``), and those libraries choose a reading.
Factors are exact by definition of the unit; units without one certain factor convert to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

__all__ = [
    "CURRENCIES",
    "SCALES",
    "UNITS",
    "Unit",
    "canonical_noun",
    "convert",
    "dimension_of",
    "is_power_of_ten",
    "match_currency_before",
    "match_scale",
    "match_unit",
    "units_of_dimension",
]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit; ``factor`` is its size in the base unit of its dimension."""

    name: str
    dimension: str
    factor: Fraction


# dimension | canonical name | factor | symbols (case matters) | further names (case does not; plurals are added)
_TABLE = """
length|metre|1|m|meter
length|millimetre|0.001|mm|millimeter
length|centimetre|0.01|cm|centimeter
length|decimetre|0.1|dm|decimeter
length|kilometre|1000|km KM Km|kilometer,kilometre,kms
length|micrometre|0.000001|µm|micrometer,micron
length|nanometre|0.000000001|nm|nanometer
length|inch|0.0254||inches
length|foot|0.3048|ft ft.|feet
length|yard|0.9144|yd yds|
length|mile|1609.344|mi|
nautical|nautical mile|1|nmi|
area|square metre|1|m2 m² m^2|square meter,sq m,sq. m
area|square millimetre|0.000001|mm2 mm² mm^2|square millimeter,sq mm
area|square centimetre|0.0001|cm2 cm² cm^2|square centimeter,sq cm,sq. cm
area|square kilometre|1000000|km2 km² km^2|square kilometer,sq km,sq. km,sqkm
area|hectare|10000|ha|
area|acre|4046.8564224|ac|
area|square inch|0.00064516|in2 in²|square inches,sq in
area|square foot|0.09290304|ft2 ft² sqft|square feet,sq ft,sq. ft
area|square yard|0.83612736|yd2|sq yd
area|square mile|2589988.110336|mi2 mi²|sq mi,sq. mi
volume|cubic metre|1|m3 m³ m^3|cubic meter
volume|cubic centimetre|0.000001|cc cm3 cm³ cm^3|cubic centimeter
volume|cubic kilometre|1000000000|km3 km³ km^3|cubic kilometer
volume|litre|0.001|L l|liter
volume|millilitre|0.000001|ml mL|milliliter
volume|cubic foot|0.028316846592|ft3 ft³|cubic feet
mass|gram|1|g|gramme
mass|milligram|0.001|mg|
mass|kilogram|1000|kg KG Kg|kilo,kilogramme,kgs
mass|tonne|1000000|t|metric ton,metric tonne
mass|pound|453.59237|lb lbs lb. lbs.|
mass|ounce|28.349523125|oz|
mass|stone|6350.29318||stone
ton|ton|1||
gallon|gallon|1|gal|
time|second|1|s sec sec. secs|
time|millisecond|0.001|ms|
time|minute|60|min min. mins|
time|hour|3600|h hr hr. hrs|
time|day|86400|d|
time|week|604800|wk wks|
calendar|month|1||
calendar|year|12|yr yrs yr.|
calendar|decade|120||
calendar|century|1200||centuries
temperature|degree Celsius|1|°C|degrees celsius,celsius,degree c,degrees c,centigrade,degrees centigrade,° C,deg C
temperature|degree Fahrenheit|1|°F|degrees fahrenheit,fahrenheit,degree f,degrees f,° F,deg F
temperature|kelvin|1|°K|degrees kelvin
degree|degree|1|° °N °E|
percent|percent|1|% pct|per cent
speed|kilometre per hour|1|km/h kph kmh km/hr KPH KMH|kilometers per hour,kilometres per hour,kilometer per hour
speed|mile per hour|1.609344|mph mi/h MPH Mph|miles per hour
speed|metre per second|3.6|m/s|meters per second,metres per second
speed|knot|1.852|kn kt kts|
climb|foot per minute|1|ft/min fpm|feet per minute
power|watt|1|W|
power|kilowatt|1000|kW|
power|megawatt|1000000|MW|
power|gigawatt|1000000000|GW|
horsepower|horsepower|1|hp HP bhp|brake horsepower
frequency|hertz|1|Hz|hertz
frequency|kilohertz|1000|kHz KHz|kilohertz
frequency|megahertz|1000000|MHz|megahertz
frequency|gigahertz|1000000000|GHz|gigahertz
energy|joule|1|J|
energy|kilojoule|1000|kJ|
energy|megajoule|1000000|MJ|
energy|kilowatt hour|3600000|kWh|kilowatt-hour
calorie|calorie|1|cal|
calorie|kilocalorie|1000|kcal|
decibel|decibel|1|dB|
share|part per million|1|ppm|parts per million
rotation|revolution per minute|1|rpm|revolutions per minute
molar energy|kilojoule per mole|1|kJ/mol|kilojoules per mole,kj/mole
pressure|pascal|1|Pa|
pressure|hectopascal|100|hPa|
pressure|kilopascal|1000|kPa|
pressure|megapascal|1000000|MPa|
pressure|bar|100000|bar|bar
voltage|volt|1|V|
voltage|kilovolt|1000|kV|
current|ampere|1|A|amp
current|milliampere|0.001|mA|
byte|byte|1||
byte|kilobyte|1|kB KB|
megabyte|megabyte|1|MB|
gigabyte|gigabyte|1|GB|
terabyte|terabyte|1|TB|
pixel|megapixel|1|MP|
dollar|dollar|1|$ US$ USD U.S.$|us dollar,u.s. dollar,american dollar,united states dollar
euro|euro|1|€ EUR|
sterling|pound sterling|1|£ GBP|pounds sterling,british pound
rupee|rupee|1|₹ INR Rs Rs.|indian rupee
yen|yen|1|¥ JPY|yen,japanese yen
yuan|yuan|1|CNY RMB|yuan,renminbi
franc|swiss franc|1|CHF|
australian dollar|Australian dollar|1|A$ AU$ AUD|
canadian dollar|Canadian dollar|1|C$ CA$ CAD|
hong kong dollar|Hong Kong dollar|1|HK$ HKD|
"""
CURRENCIES = frozenset(
    [
        "dollar",
        "euro",
        "sterling",
        "rupee",
        "yen",
        "yuan",
        "franc",
        "australian_dollar",
        "canadian_dollar",
        "hong_kong_dollar",
    ]
)
"""Canonical names of the currencies among the units."""
SCALES = {
    "hundred": 10**2,
    "thousand": 10**3,
    "k": 10**3,
    "lakh": 10**5,
    "lakhs": 10**5,
    "lac": 10**5,
    "lacs": 10**5,
    "million": 10**6,
    "millions": 10**6,
    "mn": 10**6,
    "mln": 10**6,
    "crore": 10**7,
    "crores": 10**7,
    "cr": 10**7,
    "billion": 10**9,
    "billions": 10**9,
    "bn": 10**9,
    "b": 10**9,
    "trillion": 10**12,
    "tn": 10**12,
}
"""Word for a power of ten to its value."""
# What may follow a unit: nothing that would make it the start of another word or of a power.
_END = r"(?![^\W_]|[²³^])"


def _spellings(name: str, more: str) -> Iterator[str]:
    for spelling in (name.lower(), *(part for part in more.split(",") if part)):
        yield spelling
        yield spelling + "s"


def _load() -> tuple[dict[str, Unit], dict[str, str], dict[str, str]]:
    units: dict[str, Unit] = {}
    symbols: dict[str, str] = {}
    names: dict[str, str] = {}
    for line in _TABLE.strip().splitlines():
        dimension, name, factor, own, more = line.split("|")
        units[name] = Unit(name, dimension.replace(" ", "_"), Fraction(Decimal(factor)))
        symbols.update((symbol, name) for symbol in own.split())
        names.update((spelling.lower(), name) for spelling in _spellings(name, more))
    return units, symbols, names


UNITS, _SYMBOLS, _NAMES = _load()
"""Canonical name to unit."""


def _alternation(words: dict[str, str]) -> str:
    longest_first = sorted(words, key=len, reverse=True)
    return "|".join(re.escape(word).replace(r"\ ", r"[ ]+") for word in longest_first)


_SYMBOL = re.compile(rf"({_alternation(_SYMBOLS)}){_END}")
_NAME = re.compile(rf"({_alternation(_NAMES)}){_END}", re.IGNORECASE)
_SCALE = re.compile(rf"({'|'.join(sorted(SCALES, key=len, reverse=True))}){_END}\.?", re.IGNORECASE)
_BEFORE = re.compile(
    r"(?<![^\W\d_])(US\$|U\.S\.\$|AU?\$|CA?\$|HK\$|\$|€|£|₹|¥|Rs\.?|USD|INR|EUR|GBP|JPY|CHF|AUD|CAD|HKD|CNY|RMB)\s?$"
)


def match_unit(text: str, position: int) -> tuple[str, int] | None:
    """Return the canonical name of the unit that starts at ``position`` and where it ends, if one does."""
    by_symbol = _SYMBOL.match(text, position)
    by_name = _NAME.match(text, position)
    ends = [(match.end(), match is by_name, match) for match in (by_symbol, by_name) if match]
    if not ends:
        return None
    end, is_name, match = max(ends, key=lambda found: found[:2])
    found = " ".join(match.group(1).split())
    return (_NAMES[found.lower()] if is_name else _SYMBOLS[found]), end


def match_scale(text: str, position: int) -> tuple[int, int] | None:
    """Return the power of ten of the scale word that starts at ``position`` and where it ends, if one does."""
    match = _SCALE.match(text, position)
    return (SCALES[match.group(1).lower()], match.end()) if match else None


def match_currency_before(text: str, position: int) -> tuple[str, int] | None:
    """Return the currency whose sign ends just before ``position`` and where the sign starts, if there is one."""
    offset = max(0, position - 8)
    match = _BEFORE.search(text[offset:position])
    return (_SYMBOLS[match.group(1)], offset + match.start()) if match else None


def dimension_of(unit: str | None) -> str | None:
    """Dimension of a canonical unit; ``None`` for no unit and for a plain noun such as ``seat``."""
    return UNITS[unit].dimension if unit in UNITS else None


def units_of_dimension(dimension: str) -> list[Unit]:
    """Return all units of one dimension."""
    return [unit for unit in UNITS.values() if unit.dimension == dimension]


def convert(value: Decimal | Fraction, source: str | None, target: str | None) -> Fraction | None:
    """Express ``value`` in another unit, exactly; ``None`` where the two do not certainly convert.

    Temperatures are not converted here: a reading and a difference convert differently.
    """
    if source == target:
        return Fraction(value)
    if source not in UNITS or target not in UNITS:
        return None
    here, there = UNITS[source], UNITS[target]
    if here.dimension != there.dimension or here.dimension in {"temperature", "byte"}:
        return None
    return Fraction(value) * here.factor / there.factor


def is_power_of_ten(ratio: Fraction) -> bool:
    """Whether converting by ``ratio`` only moves the decimal point, so that no rounding is involved."""
    digits = str(max(ratio.numerator, ratio.denominator))
    return 1 in (ratio.numerator, ratio.denominator) and digits.strip("0") == "1"


def canonical_noun(words: str) -> str:
    """Fold case, white space and a plural ``s`` of a counted noun such as ``English guineas``."""
    noun = " ".join(words.lower().split())
    return noun[:-1] if len(noun) > 1 and noun.endswith("s") and not noun.endswith("ss") else noun
