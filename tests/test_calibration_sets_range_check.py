"""The cross-check of ranges: what is in, what is out, and when it must abstain."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import pytest

from calibration_sets.references.range_check import check_range
from calibration_sets.references.reference import Reference
from calibration_sets.references.reference_parser import parse_reference

# Keys: "in", "out" and "undecided" are the one right outcome; "not in" and "not out" leave open
# whether the check abstains, but exclude the outcome that would accuse a right grader.
ALLOWED = {
    "in": {"in"},
    "out": {"out"},
    "undecided": {"undecided"},
    "not in": {"out", "undecided"},
    "not out": {"in", "undecided"},
}

RANGED = """
240k (acceptable range: anything between 238k and 242k)
    out: 244k | 237,999
    in: 238k | 242,000 | 241k | about 240 thousand | 0.24 million | 0.24M
    undecided: 240
3120 m (acceptable range: anything between 3089 and 3151 m)
    not in: About 3,240 m; a 2018 survey measured 3,120 m. | 2 miles | -3120 m
    not in: The answer is 3,240 m; a 2018 survey measured 3,120 m
    in: 3,120 m | 3.12 km | 3120 | 3089 | The maximum depth of the Sarn Sea is 3,120 metres. | 10,236 ft
    in: 10,236 feet (3,120 m) | The depth is about 3,100 m | 3 120 m | 3,120m below sea level
    in: three thousand one hundred and twenty metres | 3120. | **3,120 metres**
    out: 3.2 km | 3088 m | 3,240 m (10,630 ft) | 3120 km | 3120 kg | Three thousand two hundred metres
    undecided: 3.12 | 1.9 miles | not 3120 m | 3120 or 3200 | 3100-3150 m | more than 3,120 m | I don't know
    undecided: 3120 people | In 2018, 3,120 m | 3,120 m as of 2018 | 1,706 fathoms | 3.120 m | 3,12 km
2.35 million USD (acceptable range: anything between 2.3 million and 2.4 million USD)
    in: $2,350,000 | 2.35M dollars | 23.5 lakh dollars | $2.35 million | US$2.35m | 2,300,000 | 2.4 million
    in: 2350 thousand dollars | 0.235 crore dollars | 2.35e6 | 2.35 × 10^6 | USD 2.35 million
    in: two million three hundred and fifty thousand dollars | 2.35 mn USD | $23,50,000 | 2.35 million | 2.35M
    in: 2.35 m dollars
    out: 2.35 billion | 2.5 million | $2,400,001 | $2.35bn | 2.35k | 2 million | 2.35 trillion dollars
    undecided: 2.35 | 2.35 million euros | €2.35 million
    not in: $2.35
    not out: 2.35m
18,240 millimeters (acceptable range: anything between 17,328 and 19,152 millimeters)
    in: 18240 | 18.24 m | 18,240 mm | 1,824 cm | 17,328 | 19,152 mm | 18 240 mm | 718 inches | 59.84 ft
    in: 18240 millimetres of rain fell | 18,240 mm (718 in) | 18.24 metres
    not in: 18.24 | 18240 square mm | 18.240
    out: 18240 inches | 18.24 km | 18240 kg | 17,327 | 19,153 mm | 18240 m
    undecided: 18,24
12 (acceptable range: anything between 11 and 13 degrees Fahrenheit)
    in: 12 | 11 °F | 13 degrees | 12F
    out: 14 degrees Fahrenheit | 10
    not in: 12 degrees Celsius | 12 °C
    undecided: -11 °C | ±12 | within 12 degrees
3.41% (acceptable range: anything between 3.38% and 3.44%)
    in: 3.41% | 3.41 | 3.38 percent | 3.44 per cent | 3.4%
    out: 3.45% | 34.1% | 341%
    undecided: 0.0341 | 3,41%
95W (acceptable range: anything between 94W and 96W)
    in: 94 W | 96 watts | 95W | 0.095 kW | 95-watt | 95 | ninety-five watts
    out: 97W | 93
    not in: 95 V
61,200 km2 (acceptable range: anything between 58,140 and 64,260 km2)
    in: 61,200 square kilometers | 58,140 km² | 61,200 | 23,630 sq mi | 6.12 million hectares
    in: 23,630 square miles (61,200 km2) | 61.2 thousand km2 | 61,200 km^2
    out: 64,261 km2 | 58,139 sq. km
    not in: 61200 km
38:42 (acceptable range: anything between 38:41 and 38:43)
    in: 38 minutes 43 seconds | 38:41 | 38:43 | 2322 seconds | 38 min 42 s | 38m42s | 38'42"
    in: thirty-eight minutes and forty-two seconds | The time was 38:42.
    out: 38:44 | 38:40 | 38 minutes and 44 seconds
    undecided: 38 | 38.42 | 2322 | 38 hours 42 minutes | 38:42 pm
    not out: 0:38:42 | 38:42 minutes
    not in: 38 minutes | 1:38:42
2:07:15 (acceptable range: anything between 2:07:14 and 2:07:16)
    in: 2h 7m 14s | 2:07:16 | 2 hours, 7 minutes and 15 seconds | 2h07m15s | 127 minutes 15 seconds
    in: 7635 seconds | 02:07:15 | two hours seven minutes fifteen seconds
    out: 2:07:17 | 2h 7m 17s | 2 hr 7 min 13 sec
    undecided: 2:07
    not in: 2 hours 7 minutes
71st minute (acceptable range: anything between 70th and 72nd minute)
    in: 72' | the 71st | 71 | 70th minute | in the 71st minute | minute 71 | 71 minutes | seventy-first minute
    in: the seventy-second minute | 71′
    out: 73rd minute | 69' | He scored in the 73rd minute. | 74 | the seventy-third
    undecided: 90+2 | 71:30
₹42.30 crores and debts of ₹6.15 crores (acceptable range: ₹41.88-₹42.72 crores and ₹6.09-₹6.21 crores)
    in: assets 42 crore, debts 6.2 crore | 423 million and 61.5 million rupees | ₹42.30 crore and ₹6.15 crore
    in: Rs 42.3 crore in assets and Rs 6.15 crore in debts | ₹42,30,00,000 and ₹6,15,00,000
    in: INR 423,000,000 and INR 61,500,000 | 41.88 crore and 6.21 crore
    not in: assets 42 crore
    undecided: 42.3 and 6.15 | debts 6.2 crore, assets 42 crore
    out: assets 50 crore, debts 6.2 crore | assets 42 crore, debts 7 crore | 41.87 crore and 6.21 crore
    not out: 42.3 and 6.15 crore
14.36 (acceptable range: anything between 14.22 and 14.98)
    in: 14.90
2.08 m (acceptable range: anything between 2.06 m and 2.10 m)
    in: 2.10 | 2.06 m | 210 cm | 2,100 mm | 6.82 ft | 2.1 m tall | 2.08 metres tall | 2m 8cm
    not in: 2.105 | 208
    out: 2.11 m | 2.05 | 211 cm | 2.12 | 2 m
    not out: 6 ft 10 in | 6'10"
405 x 480 cm (acceptable range: [400-409] x [475-485] cm)
    in: 405 x 480 cm | 405 cm × 480 cm | 4.05 m by 4.80 m | 405 by 480 | 405x480cm | 409 cm by 475 cm
    in: 4.05 x 4.8 m | The painting measures 405 by 480 centimetres.
    undecided: 480 x 405 cm | 405 cm
    out: 410 x 480 cm | 405 x 486 cm
    not out: 159 x 189 in
1 year, 161 days (acceptable range: 1 year, anything between 160 and 162 days)
    in: 1 year and 160 days | 1 year, 162 days | one year and 161 days
    out: 1 year, 163 days | 2 years, 161 days
    undecided: 526 days | 1 year
    not in: 161 days | 1 year 5 months | 162
10 years 3 months (acceptable range: 10 years and between 2-4 months)
    in: 10 years and 3 months | 10 years, 2 months | 123 months | ten years and four months
    out: 10 years 5 months | 9 years 3 months | 11 years and 3 months
    undecided: 10 years
    not in: 3 months
1480 English guineas (acceptable range: anything between 1465 and 1495 English guineas)
    in: 1,480 guineas | 1480 English guineas | 1465
    out: 1464 guineas
    not in: £1480 | 1480 pounds
    undecided: 1480 people
6229 °F (acceptable range: anything between 6166 and 6292 °F)
    in: 6229 °F | 3443 °C | 6,229 degrees Fahrenheit | 6229 | 3,443 °C (6,229 °F) | 6229 degrees
    not out: 3716 K
    out: 6293 °F | 6229 °C | 6165
-4 °C (acceptable range: anything between -5 and -3 °C)
    in: -4 °C | −4 °C | minus four degrees | -5 | negative 4 | -3.0 °C
    out: -6 | 4 °C | −2 °C | -2.9
    undecided: 4 degrees below zero
    not out: –4 °C
150 (acceptable range: anything between 148 and 152)
    in: 148 | 152 | 150 engravings | He published 150 engravings. | one hundred and fifty | A hundred and fifty
    in: around 150 | ~150 | 150.00 | Roughly 149 of them | exactly 150 | a total of 151 | 1.5 × 10² | It is 150
    in: The answer is 151. | 151 (one hundred and fifty-one) | 150 in total | Answer: 149 engravings
    out: 147 | 153 | one hundred fifty-three | a hundred | 1810 | 147.99 | 152.01 | The final answer is **153**
    not in: 150 million | ≈ 160 | about 160 | 15 dozen
    undecided: 150 thousand | hundreds | over 150 | 150+ | 148–152 | between 148 and 152 | 150 ± 2 | 150 km
    undecided: 150/2 | 12 dozen | The number is 150, not 160. | In 1810, he published 150. | #150 | 150th
    undecided: 150 percent | 150 per day | 10^2 | one-fifty | nineteen ninety
    not out: I think it's 150 | I would say 151
67 kg (acceptable range: anything between 66 and 68 kg)
    in: 67 kilograms | 67 kilos | 67,000 g | 148 lb | 147.7 lbs | 10.5 stone | 10 stone 8 lb | 67kg.
    in: sixty-seven | 0.067 tonnes
    out: 67 pounds | 67 km | 69 kg | 67 tonnes
2.5 hours (acceptable range: anything between 2.4 and 2.6 hours)
    in: 2 hours 30 minutes | two and a half hours | 150 minutes | 2½ hours | 2.5h | 9000 seconds | 2 h 30 min
    in: 2.4
    not out: 2 1/2 hours | 2h30 | 2:30
    out: 3 hours | 160 minutes | 2.5 days | 2.5 minutes | 2 hours and 40 minutes | 2.7
    undecided: half an hour
$1.2 billion (acceptable range: anything between $1.1 billion and $1.3 billion)
    in: 1,200 million dollars | $1.2B | $1.2bn | 1.2 billion | $1,250,000,000 | USD 1.3 billion | 1.1 billion
    in: $1.2 Billion USD | 120 crore dollars | 1.2 thousand million dollars | one point two billion dollars
    in: 1200000000
    out: $1.2 million | $1.2 trillion | 1.4 billion US dollars | USD 1.31 billion
    not in: 1.2 billion pounds
    undecided: 1.2 | A$1.2 billion
12,500 (acceptable range: anything between 12,375 and 12,625)
    in: 12500 | 12.5k | 12.5 thousand | 12,500 people | 12,375 | 12,625 | 12 500 | 12'500
    in: twelve thousand five hundred | 125 hundred | approximately 12,400 inhabitants | 12,500!
    in: It had a population of 12,600 at the time. | 12,500 households
    out: 12,374 | 12,626 | 12,500,000 | 1,250 | It had a population of 13,600 at the time. | 0
    undecided: 12.5 | 12.500 | 125,00 | The village had 12,500 inhabitants in 2011. | 12–13 thousand
    undecided: 12,000 to 13,000 | 1,2500
    not out: Twelve thousand, five hundred
₹12,50,000 (acceptable range: ₹12,00,000 to ₹13,00,000)
    in: 12.5 lakh | ₹12.5 lakhs | Rs. 12,50,000 | 1.25 million rupees | 1,250,000 | 12,50,000 | 0.125 crore
    in: 12 lakh
    out: 14 lakh rupees | 11.99 lakh
    not in: $1,250,000
    undecided: 12.5
168 acres (acceptable range: anything between 166 and 170 acres)
    not out: 68 hectares | 0.68 km2
    in: 67.99 ha | 168-acre | 170 acres of land | 0.2625 square miles | 168 acre
    out: 171 acres | 168 sq km
827 seats (acceptable range: anything between 818 and 836 seats)
    in: 827 | 827 seats | an 827-seat orchestra level | 836 | It had 818 seats before the renovation.
    undecided: 827 people | 827 km
    out: 837 seats | It had 1,000 seats before the renovation.
-430 m (acceptable range: anything between -440 m and -420 m)
    in: -430 m | −421 metres | minus 430 metres | -0.43 km | -1,411 ft
    undecided: 430 m below sea level
    out: 430 m | -441 m
100 MHz (acceptable range: anything between 99 and 101 MHz)
    in: 0.1 GHz | 100,000 kHz | 100
    out: 102 MHz | 100 GHz | 100 hertz
    not out: 100 mhz
110 km/h (acceptable range: anything between 108 and 112 km/h)
    in: 110 kph | 110 kilometres per hour | 68.4 mph | 110
    not out: 68 mph | 110 km an hour
    out: 110 mph | 113 km/h
    not in: 110 km
77 (acceptable range: anything between 76 and 78)
    undecided: 77th minute | in the 80th minute | 77 minutes
    in: 77 | seventy-seven | 78.0 | seventy seven | the 77 of them
    out: 79 | Seventy-five
3,342.49 (acceptable range: anything between 3309.07 and 3375.91 square kilometers)
    in: 3342.49 sq km | 3,342 km² | 3309.07 | 3,375.91 square kilometres | 334,249 hectares
    in: 1290.54 square miles
    out: 3309.06 | 3375.92
    undecided: 3.342
1:23.45 (acceptable range: anything between 1:23.40 and 1:23.50)
    in: 1:23.45 | 83.45 seconds | 1 min 23.45 s | 1 minute and 23.4 seconds | 1'23.45"
    out: 1:23.51 | 1:24 | 83.39 s
1:02:03 (acceptable range: 1:02:02 to 1:02:04)
    in: 1 hour 2 minutes 3 seconds | one hour, two minutes and three seconds | 62 minutes 3 seconds | 1h02m04s
    in: 3723 seconds
    out: 1:02:05 | 1 h 2 min 5 s
    not out: 62:03
    undecided: 1:02
22nd minute (acceptable range: anything between 21st and 23rd minute)
    in: the 21st | 23rd minute | 23' | twenty-second minute | in the twenty-third minute | 22 | at 22 minutes
    in: 22nd minute of the match | Minute 22 | 22 min
    out: 24th | 20' | 20th minute | the 25th minute
    undecided: 45+2' | 22nd and 40th minute
₹3.2 crore and ₹45 lakh (acceptable range: ₹3.17-₹3.23 crore and ₹44-₹46 lakh)
    in: assets 3.2 crore, liabilities 45 lakh | 32 million and 4.5 million rupees | ₹3,20,00,000 and ₹45,00,000
    in: ₹3.17 crore and ₹46 lakh | about 3.2 crore and about 45 lakh | Rs 3.2 cr and Rs 0.45 cr
    not in: 3.2 crore | 45 lakh
    out: 3.3 crore and 45 lakh | 3.2 crore and 50 lakh | ₹3.16 crore and ₹46 lakh
    undecided: 3.2 and 45 | 45 lakh and 3.2 crore | 3.2 crore, 45 lakh, 7 | between 3.2 crore and 45 lakh
2 goals and 3 assists (acceptable range: 1-3 goals and 2-4 assists)
    in: 2 goals and 3 assists | 3 goals, 4 assists | 2 and 3
    undecided: 2 goals
    not out: 3 assists and 2 goals
20 x 30 inches (acceptable range: [19-21] x [29-31] inches)
    in: 20 x 30 inches | 20 by 30 in. | 20" x 30" | 20 × 30 | 50.8 x 76.2 cm | 20 inches wide and 30 inches high
    in: 1'8" x 2'6"
    out: 22 x 30 in | 20 inches by 32 inches
    undecided: 30 x 20 | 20 inches | 20 x 30 x 2 inches
    not in: 20 x 30 cm
5 feet 4 inches (acceptable range: 5 feet 3 inches to 5 feet 5 inches)
    in: 5'4" | 5 ft 4 in | 64 inches | 163 cm | 1.63 m | 5.33 feet
    out: 5'6"
    not in: 5 feet
    not out: five foot four
7,200 (acceptable range: anything between 7,128 and 7,272)
    in: 4 teams; the answer is 7,200 | 4 teams; the total is 7,250. | Final answer: 7,128 | answer = 7200
    in: So the answer is 7,200! | The answer is approximately 7,200 | 7,200. | “7,200” | 7200 people attended
    in: It was 7,200 (seven thousand two hundred). | seven thousand two hundred | 72 hundred | 7.2k
    in: 7.2 thousand | 0.0072 million | 7200.5 | 7 200 | seventy-two hundred | ٧٢٠٠
    out: 4 teams; the answer is 7,300 | Final answer: **7,127** | 7,272.01 | 7127.99
    undecided: The answer is 7,200 or 7,300 | 7,200; 7,300 | I can't say, 7,200? | 7.200 | 7,2
45.5% (acceptable range: anything between 45 and 46%)
    in: 45.5 percent | 46% | 45 | forty-five percent | forty-five and a half percent | 45.5 pct | 45½%
    out: 46.1% | 44.9
    undecided: 0.455 | 45.5 percentage points | 45.5 out of 100 | 45,5 % | nearly half
"""


def _cases(table: str) -> list[tuple[str, str, str]]:
    """Read a table: a reference, then indented lines of ``outcome: response | response``."""
    cases: list[tuple[str, str, str]] = []
    reference = ""
    for line in table.strip("\n").splitlines():
        if line.startswith("    "):
            expected, _, responses = line.strip().partition(":")
            cases += [(reference, response.strip(), expected) for response in responses.split(" | ")]
        else:
            reference = line
    return cases


@pytest.mark.parametrize(("reference", "response", "expected"), _cases(RANGED))
def test_response_against_a_range(reference: str, response: str, expected: str) -> None:
    check = check_range(parse_reference(reference), response)
    assert check.outcome in ALLOWED[expected], check


def test_the_result_says_what_was_understood() -> None:
    check = check_range(parse_reference("2.08 m (acceptable range: 2.06 m to 2.10 m)"), "It is 210 cm.")
    assert (check.outcome, [str(quantity) for quantity in check.found]) == ("in", ["210 centimetre"])
    assert check.reason == "within the range"


def test_an_empty_range_decides_nothing() -> None:
    assert check_range(parse_reference("5 (acceptable range: 7 to 3)"), "5").outcome == "undecided"


def test_a_range_that_was_not_understood_falls_back_on_the_number() -> None:
    reference = parse_reference("5 (acceptable range: anything but 6)")
    assert check_range(reference, "5").outcome == "in"


@pytest.mark.parametrize(("bound", "right", "wrong"), [("at least 5", "5", "4"), ("at most 7", "-100", "8")])
def test_open_bounds(bound: str, right: str, wrong: str) -> None:
    reference = parse_reference(f"6 (acceptable range: {bound})")
    assert check_range(reference, right).outcome == "in"
    assert check_range(reference, wrong).outcome == "out"


def _published(calibration_data: Path) -> list[Reference]:
    path = calibration_data / "simpleqa_verified" / "simpleqa_verified.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [parse_reference(row["answer"]) for row in csv.DictReader(file)]


def test_published_answers_lie_in_their_own_ranges(calibration_data: Path) -> None:
    with (calibration_data / "simpleqa_verified" / "simpleqa_verified.csv").open(
        encoding="utf-8-sig", newline=""
    ) as file:
        references = [parse_reference(row["answer"]) for row in csv.DictReader(file)]
    ranged = [reference for reference in references if reference.ranges]
    checks = {reference.text: check_range(reference, reference.answer).outcome for reference in ranged}
    assert checks == dict.fromkeys(checks, "in")
    for reference in references:
        if not reference.ranges:
            assert check_range(reference, reference.answer).outcome != "out", reference.text


def test_bounds_of_published_ranges_and_one_step_past_them(calibration_data: Path) -> None:
    with (calibration_data / "simpleqa_verified" / "simpleqa_verified.csv").open(
        encoding="utf-8-sig", newline=""
    ) as file:
        references = [parse_reference(row["answer"]) for row in csv.DictReader(file)]
    checked = 0
    for reference in references:
        if len(reference.ranges) != 1 or ":" in reference.answer:
            continue
        bounds, checked = reference.ranges[0], checked + 1
        step = Decimal(1).scaleb(min(Decimal(str(bounds.low)).as_tuple().exponent, 0))
        outcomes = [
            check_range(reference, f"{value:f}").outcome
            for value in (bounds.low - step, bounds.low, bounds.high, bounds.high + step)
        ]
        assert outcomes == ["out", "in", "in", "out"], reference.text
    assert checked == 81
