"""References: answers, aliases and ranges out of published text."""

from __future__ import annotations

import csv
import re
import time
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.references.range_notes import find_range_note
from calibration_sets.references.reference_parser import parse_reference

Bounds = tuple[float | str, float | str, str | None]


def bounds(text: str) -> list[tuple[Decimal, Decimal, str | None]]:
    return [(range_.low, range_.high, range_.unit) for range_ in parse_reference(text).ranges]


# A reference, an arrow, and the ranges that it gives: low..high unit.
RANGES = """
6 (acceptable range: 5 to 7) => 5..7
6, acceptable range: 5 to 7 => 5..7
6; acceptable range 5-7 => 5..7
6 [acceptable range: 5–7] => 5..7
6 (Acceptable Range: between 5 and 7) => 5..7
6 (acceptable range: anywhere from 5 to 7) => 5..7
6 (acceptable range: from 5 to 7 inclusive) => 5..7
6 (acceptable range: ≥ 5 and ≤ 7) => 5..7
6 (acceptable range: ≥5, ≤7) => 5..7
6 (acceptable range: >= 5) => 5..Infinity
6 (acceptable range: at least 5) => 5..Infinity
6 (acceptable range: 5 or more) => 5..Infinity
6 (acceptable range: ≤ 7) => -Infinity..7
-4 °C (acceptable range: −5 to −3 °C) => -5..-3 degree Celsius
-4 °C (acceptable range: anything between -5 and -3 °C) => -5..-3 degree Celsius
-4 (acceptable range: -5--3) => -5..-3
-4 (acceptable range: -5 - -3) => -5..-3
0 (acceptable range: anything between -1 and 1) => -1..1
1.3k (acceptable range: between 1.2k and 1.4k) => 1200..1400
1.3k (acceptable range: between 1.2 and 1.4k) => 1200..1400
2.35 million (acceptable range: 2.3-2.4 million) => 2300000..2400000
$2.35 million (acceptable range: $2.3 million to $2.4 million) => 2300000..2400000 dollar
$2.35M (acceptable range: $2.3M–$2.4M) => 2300000..2400000 dollar
5th (acceptable range: anything between 4th and 6th) => 4..6
5th place (acceptable range: 4th to 6th place) => 4..6 place
1:23:45 (acceptable range: 1:23:40 to 1:23:50) => 5020..5030 second
1:23.45 (acceptable range: anything between 1:23.40 and 1:23.50) => 83.40..83.50 second
150 (acceptable range: ±2) => 148..152
150 (acceptable range: 150 ± 2) => 148..152
200 m (acceptable range: ±5%) => 190..210 metre
200 m (acceptable range: +/- 5 m) => 195..205 metre
105 (anything between 103 and 107) => 103..107
105 km (between 103 and 107 km) => 103..107 kilometre
105 km (range: 103-107 km) => 103..107 kilometre
105 km (accept 103-107 km) => 103..107 kilometre
105 km (accept anything from 103 to 107) => 103..107 kilometre
105 km (valid range 103 km - 107 km) => 103..107 kilometre
105 (acceptable range: 103–107 kilometres) => 103..107 kilometre
three (acceptable range: two to four) => 2..4
4 years 2 months (acceptable range: 4 years, anything between 1 and 3 months) => 4..4 year + 1..3 month
2 hours 30 minutes (acceptable range: 2 hours 25 minutes to 2 hours 35 minutes) => 145..155 minute
30 x 40 cm (acceptable range: [29-31] x [39-41] cm) => 29..31 centimetre + 39..41 centimetre
30 x 40 (acceptable range: 29-31 x 39-41) => 29..31 + 39..41
95 W (acceptable range: 94 W–96 W) => 94..96 watt
60 people per km2 (acceptable range: anything between 58 and 62 people per km2) => 58..62 people per km2
110 km/h (acceptable range: anything between 108 and 112 km/h) => 108..112 kilometre per hour
6'2" (acceptable range: 6'1" to 6'3") => 73..75 inch
71' (acceptable range: 70' to 72') => 70..72 minute
12,34,567 (acceptable range: anything between 12,00,000 and 12,50,000) => 1200000..1250000
€1.5bn (acceptable range: anything between €1.4bn and €1.6bn) => 1400000000..1600000000 euro
1.5 bn euros (acceptable range: anything between 1.4 and 1.6 bn euros) => 1400000000..1600000000 euro
30 cm (acceptable range: 0.29 m to 0.31 m) => 0.29..0.31 metre
1992 (acceptable range: 1990-1995) => 1990..1995
5 (acceptable range: 7 to 3) => 7..3
18 °C (acceptable range: 17 °C to 19 °C) => 17..19 degree Celsius
3.5 (acceptable range: 3.4 ≤ x ≤ 3.6) => 3.4..3.6
3.5 (acceptable range: anything between 3.4 and 3.6, inclusive) => 3.4..3.6
3.5 (acceptable range: [3.4, 3.6]) => 3.4..3.6
3.5 (acceptable range: 3.4 through 3.6) => 3.4..3.6
3.5 kg (acceptable range: 3.4kg-3.6kg) => 3.4..3.6 kilogram
45% (acceptable range: anything between 44 and 46 percent) => 44..46 percent
2.5 hours (acceptable range: anything between 2.4 and 2.6 hours) => 2.4..2.6 hour
10 days (acceptable range: anything between 9 and 11 days) => 9..11 day
150 (acceptable range: any number from 148 to 152) => 148..152
150 (acceptable range: any value between 148 and 152) => 148..152
150 (acceptable range: anything from 148 up to 152) => 148..152
150 (acceptable range is 148 to 152) => 148..152
150 acceptable range: 148 to 152 => 148..152
150 (accepted range: 148 to 152) => 148..152
150 (acceptable range: 148...152) => 148..152
150 (acceptable range: 148 - 152.) => 148..152
150 (ACCEPTABLE RANGE: ANYTHING BETWEEN 148 AND 152) => 148..152
150 (acceptable range: anything between 148 and 152 => 148..152
5 ft 10 in (acceptable range: 5 ft 9 in to 5 ft 11 in) => 69..71 inch
50.5 °N (acceptable range: 50.4 to 50.6 °N) => 50.4..50.6 degree
20 mph (acceptable range: 19 to 21 miles per hour) => 19..21 mile per hour
150 (acceptable ranges: 148 to 152) => 148..152
1st (acceptable range: anything between 1st and 3rd) => 1..3
150 (range 148 to 152) => 148..152
150 (148 to 152 acceptable) => 148..152
150 (148-152 is acceptable) => 148..152
150 (anything between 148 and 152 is acceptable) => 148..152
150 (anything between 148 and 152 is fine) => 148..152
300 K (acceptable range: 299 K to 301 K) => 299..301 kelvin
405 x 480 cm (acceptable range: [400-409] x [475-485] cm) => 400..409 centimetre + 475..485 centimetre
1 year, 161 days (acceptable range: 1 year, anything between 160 and 162 days) => 1..1 year + 160..162 day
10 years 3 months (acceptable range: 10 years and between 2-4 months) => 10..10 year + 2..4 month
410 metres (acceptable range: anything between 406 and 414 metres) => 406..414 metre
12 (acceptable range: anything between 11 and 13 degrees Fahrenheit) => 11..13 degree Fahrenheit
3.41% (acceptable range: anything between 3.38% and 3.44%) => 3.38..3.44 percent
17.05% (acceptable range: anything between 16.88 and 17.22%) => 16.88..17.22 percent
95W (acceptable range: anything between 94W and 96W) => 94..96 watt
61,200 km2 (acceptable range: anything between 58,140 and 64,260 km2) => 58140..64260 square kilometre
38:42 (acceptable range: anything between 38:41 and 38:43) => 2321..2323 second
2:07:15 (acceptable range: anything between 2:07:14 and 2:07:16) => 7634..7636 second
71st minute (acceptable range: anything between 70th and 72nd minute) => 70..72 minute
1.65 million USD (acceptable range: anything between 1.6 million and 1.7 million USD) => 1600000..1700000 dollar
14.36 (acceptable range: anything between 14.22 and 14.98) => 14.22..14.98
5000 (acceptable range: anything between 4950 and 5050 meters above sea level) => 4950..5050 metre
827 seats (acceptable range: anything between 818 and 836 seats) => 818..836 seat
1480 English guineas (acceptable range: anything between 1465 and 1495 English guineas) => 1465..1495 english guinea
"""


def _read_ranges(written: str) -> list[tuple[Decimal, Decimal, str | None]]:
    matches = re.findall(r"(\S+)\.\.(\S+)((?: [^+ ]+)*)", written)
    return [(Decimal(low), Decimal(high), unit.strip() or None) for low, high, unit in matches]


@pytest.mark.parametrize("line", RANGES.strip().splitlines())
def test_ranges(line: str) -> None:
    text, _, written = line.partition(" => ")
    assert bounds(text) == _read_ranges(written)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "30 × 40 × 5 cm (acceptable range: [29–31] × [39–41] × [4–6] cm)",
            [(29, 31, "centimetre"), (39, 41, "centimetre"), (4, 6, "centimetre")],
        ),
        (
            "£2.5 million and £1.2 million (acceptable range: £2.4-£2.6 million and £1.1-£1.3 million)",
            [(2400000, 2600000, "pound sterling"), (1100000, 1300000, "pound sterling")],
        ),
        (
            "3 minutes 20 seconds (acceptable range: 3 minutes, anything between 18 and 22 seconds)",
            [(3, 3, "minute"), (18, 22, "second")],
        ),
        (
            "150\n(acceptable range: anything between 148 and 152)\n",
            [(148, 152, None)],
        ),
        (
            "₹42.30 crores and debts of ₹6.15 crores (acceptable range: ₹41.88-₹42.72 crores and ₹6.09-₹6.21 crores)",
            [(418800000, 427200000, "rupee"), (60900000, 62100000, "rupee")],
        ),
    ],
)
def test_ranges_of_long_references(text: str, expected: list[Bounds]) -> None:
    assert bounds(text) == [(Decimal(str(low)), Decimal(str(high)), unit) for low, high, unit in expected]


@pytest.mark.parametrize(
    "text",
    [
        "1990s (acceptable range: the nineties)",
        "Summer (acceptable range: June to August)",
        "5 (acceptable range: anything but 6)",
        "5 (acceptable range: )",
        "5 (acceptable range: 5)",
        "5 (acceptable range: > 4)",
        "5 (acceptable range: between 4 and 6 but not 5.5)",
        "12 May 1994 (acceptable range: 10 May to 14 May 1994)",
        "5 kg (acceptable range: 4 to 6 litres)",
        "9:30 p.m. (acceptable range: 9:25 p.m. to 9:35 p.m.)",
        "5 (acceptable range: 4 to 6 or 8 to 9)",
    ],
)
def test_a_note_that_is_not_understood_gives_no_range(text: str) -> None:
    assert find_range_note(text) is not None
    reference = parse_reference(text)
    assert reference.ranges == ()
    assert "acceptable" not in reference.answer


@pytest.mark.parametrize(
    "text",
    [
        "John Smith (1903-1907)",
        "Heidelberg (024)",
        "The range: a story",
        "23-27",
        "2010-2013",
        "Liverpool 2 - 1 Leicester",
        "Olga (between friends)",
        "Satpura Range",
        "4.5 m (15 ft)",
        "",
        "(",
    ],
)
def test_no_note(text: str) -> None:
    assert find_range_note(text) is None
    assert parse_reference(text).ranges == ()


def test_the_text_stays_and_the_answer_loses_the_note() -> None:
    text = " 390 metres (acceptable range: anything between 386 and 394 metres)\n"
    reference = parse_reference(text)
    assert (reference.text, reference.answer, reference.aliases) == (text, "390 metres", ("390 metres",))
    assert reference.ranges[0].target == 390


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("405 x 480 cm (acceptable range: [400-409] x [475-485] cm)", [405, 480]),
        ("10 years 3 months (acceptable range: 10 years and between 2-4 months)", [10, 3]),
        ("38:42 (acceptable range: 38:41 to 38:43)", [2322]),
        ("30 cm (acceptable range: 0.29 m to 0.31 m)", ["0.3"]),
        ("53rd minute (acceptable range: anything between 52nd and 54th minute)", [53]),
        ("some (acceptable range: 5 to 7)", [None]),
    ],
)
def test_targets(text: str, targets: list[int | str | None]) -> None:
    found = [range_.target for range_ in parse_reference(text).ranges]
    assert found == [None if target is None else Decimal(target) for target in targets]


@pytest.mark.parametrize(
    ("text", "aliases"),
    [
        ("barge (or lighter)", ["barge (or lighter)", "barge", "lighter"]),
        ("skiff (or punt or dory)", ["skiff (or punt or dory)", "skiff", "punt", "dory"]),
        ("Blue / Teal", ["Blue / Teal", "Blue", "Teal"]),
        ("Blue/Teal", ["Blue/Teal", "Blue", "Teal"]),
        ("A, B, D♯, F (or E♯), G", ["A, B, D♯, F (or E♯), G", "A, B, D♯, F, G", "A, B, D♯, E♯, G"]),
        (
            'Nolan (or "Regional") Arts Council',
            ['Nolan (or "Regional") Arts Council', "Nolan Arts Council", "Regional Arts Council"],
        ),
        (
            "Carry me home (when the day is done)",
            ["Carry me home (when the day is done)", "Carry me home"],
        ),
        (
            'Whooping cough (then called "chincough")',
            ['Whooping cough (then called "chincough")', "Whooping cough", "chincough"],
        ),
        ("Harbin (formerly Pinkiang)", ["Harbin (formerly Pinkiang)", "Harbin", "Pinkiang"]),
        ("Build 4.1 (aka 4.0.9)", ["Build 4.1 (aka 4.0.9)", "Build 4.1", "4.0.9"]),
        ("Ann Lee a.k.a. Nan Low", ["Ann Lee a.k.a. Nan Low", "Ann Lee", "Nan Low"]),
        ("Old Bridge.", ["Old Bridge.", "Old Bridge"]),
        ("03/04/1996", ["03/04/1996"]),
        ("03 / 04 / 1996", ["03 / 04 / 1996"]),
        ("533 km/h", ["533 km/h"]),
        ("1/4,000 sec", ["1/4,000 sec"]),
        ("4.5/13", ["4.5/13"]),
        ("AC/DC", ["AC/DC"]),
        ("Alder/Birch University Fellowship", ["Alder/Birch University Fellowship"]),
        ("https://example.org/a/b", ["https://example.org/a/b"]),
        ("Lund \nTaipei", ["Lund \nTaipei"]),
        ("\tJuan Perez", ["Juan Perez"]),
        ("NA", ["NA"]),
        ("()", ["()"]),
    ],
)
def test_aliases(text: str, aliases: list[str]) -> None:
    assert list(parse_reference(text).aliases) == aliases


def test_extra_aliases_come_last_and_are_kept_apart() -> None:
    reference = parse_reference("barge", [" lighter ", "barge", "", "lighter"])
    assert reference.aliases == ("barge", "lighter")
    assert reference.extra_aliases == ("lighter", "barge")


def test_published_ranges_all_parse_and_nothing_else_does(calibration_data: Path) -> None:
    path = calibration_data / "simpleqa_verified" / "simpleqa_verified.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        texts = [row["answer"] for row in csv.DictReader(file)]
    ranged = [text for text in texts if parse_reference(text).ranges]
    assert len(texts) == 1000
    assert len(ranged) == 88
    assert ranged == [text for text in texts if find_range_note(text)] == [t for t in texts if "acceptable range" in t]
    for text in ranged:
        assert all(r.target is not None and r.low <= r.target <= r.high for r in parse_reference(text).ranges), text


def test_no_answer_of_the_first_edition_has_a_range(calibration_data: Path) -> None:
    path = calibration_data / "simpleqa" / "simple_qa_test_set.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        texts = [row["answer"] for row in csv.DictReader(file)]
    assert len(texts) == 4326
    assert [text for text in texts if parse_reference(text).ranges or find_range_note(text)] == []


@given(
    low=st.decimals(-(10**6), 10**6, places=2),
    width=st.decimals(0, 10**4, places=2),
    form=st.sampled_from(
        [
            "anything between {} and {}",
            "{} to {}",
            "from {} to {}",
            "anywhere from {} to {}",
            "[{}, {}]",
            "{} – {}",
            "{}-{}",
        ]
    ),
    unit=st.sampled_from(
        [("", None), (" km", "kilometre"), ("%", "percent"), (" seats", "seat"), (" °C", "degree Celsius")]
    ),
)
def test_written_ranges_read_back(low: Decimal, width: Decimal, form: str, unit: tuple[str, str | None]) -> None:
    high = low + width
    note = form.format(f"{low:f}{unit[0]}", f"{high:f}{unit[0]}")
    assert bounds(f"{low:f}{unit[0]} (acceptable range: {note})") == [(low, high, unit[1])]


@given(st.text(max_size=200))
def test_any_text_parses(text: str) -> None:
    reference = parse_reference(text)
    assert reference.text == text
    assert reference.aliases[0] == reference.answer
    parse_reference(f"5 (acceptable range: {text})")


@pytest.mark.parametrize(
    "text",
    [
        "1" * 10**6,
        "(" * 10**5,
        "(acceptable range: " * 10**4,
        " " * 10**5,
        "(or a" * 5000,
        "[1, " * 5000,
        "a / " * 5000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_long_references_take_bounded_work(text: str) -> None:
    started = time.process_time()
    parse_reference(text)
    parse_reference(f"5 (acceptable range: {text})")
    assert time.process_time() - started < 4
