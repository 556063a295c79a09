"""Numbers that have been misjudged against a reference, each with variants of its kind.

Expectations are ``in``, ``out`` and ``undecided``; two of them joined by a stroke are both defensible.
"""

from __future__ import annotations

from decimal import Decimal

import pytest

from calibration_sets import check_range, parse_reference
from calibration_sets.references.reference_lint import lint_reference

IN, OUT, ASK = "in", "out", "undecided"
IN_OR_ASK, OUT_OR_ASK = "in|undecided", "out|undecided"
Table = dict[str, str]


def between(answer: str, low: str, high: str) -> str:
    return f"{answer} (acceptable range: anything between {low} and {high})"


COUNT: Table = {
    IN: "5|5.0|five|Five.|got 5 here|It's 5.|(5)|[5]|**5**|\\boxed{5}|Answer: 5|=5|5!",
    OUT: "The answer is 25|50 it is|15|52|twenty-five|five hundred",
    ASK: "5-6|5 or 6|not 5|between 4 and 6|more than 5|at least 5|1 in 5|a 5 to 4 vote|V||none|I don't know|5?",
    OUT_OR_ASK: "5x|42abc|0.5|5.5|-5|5 thousand",
}
PERCENT: Table = {
    IN: "20%|20 percent|twenty per cent|20.0%|20",
    ASK: "0.2|20 percentage points|1 in 5|20 of 100",
    OUT_OR_ASK: "21%|100",
}
SHARE: Table = {
    IN_OR_ASK: "Out of 100 shops, the share was 20%|20%|20 pct",
    ASK: "0.2|20 out of 100",
    OUT_OR_ASK: "100",
}
ANSWER: Table = {
    IN: 'The answer is 42!|(42).|[42]|"42"|42…|= 42|42。|４２|forty-two|42.00|<b>42</b>|$42$|42 (forty-two)',
    OUT: "421|142",
    ASK: "42th|42, not 43|4 or 42|42?",
    OUT_OR_ASK: "42abc|abc42|#42|4.2|42k|4 2",
}
DECIMALS: Table = {
    IN: "4 boxes; the answer is 16.00|$16.00|16.|16.0|sixteen",
    OUT: "1600",
    ASK: "16,00|4 boxes of 16|4 boxes of 4|4 rows with 4 each",
    OUT_OR_ASK: "16.01|16.5",
}
MONEY: Table = {
    IN: "$2,350,000|2.35M dollars|23.5 lakh dollars|2.35 million|US$2.35 million|2350 thousand dollars|$2.3 million"
    "|0.235 crore dollars|two million three hundred fifty thousand dollars|$2.35m|2.35e6",
    OUT: "2.35 billion|235 million|$2.41 million|2.35 trillion dollars",
    ASK: "€2.35 million|2.35 million euros|2.35mm|2.35MM USD|over 2.3 million",
    OUT_OR_ASK: "2.35|$235",
}
RAIN: Table = {
    IN: "18240|18.24 m|18,240 mm|1824 centimetres|0.01824 km|17328|19152|18240 millimetres of rain",
    OUT: "18240 inches|18240 kg|18.24 km|19,153|17,327|$18,240",
    ASK: "18.240|18240 or so, I guess",
    OUT_OR_ASK: "18.24|1824",
}
CLOCK: Table = {
    IN: "38 minutes 43 seconds|38:41|38m42s|38'42\"|2322 seconds|thirty-eight minutes and forty-two seconds",
    OUT: "38:44|38 minutes 44 seconds|37:42",
    ASK: "38|38 hours 42 minutes|38h42",
    OUT_OR_ASK: "38.42|3842|38 minutes",
}
MARATHON: Table = {
    IN: "2h 7m 14s|2h7m14s|2:07:16|2 hours, 7 minutes, and 15 seconds|7635 seconds|02:07:15|127 minutes 15 seconds",
    OUT: "2:07:17|2 hours, 7 minutes and 20 seconds",
    ASK: "2:07|2.07.15",
}
MINUTE: Table = {
    IN: "72'|the 71st|71|minute 71|in the 72nd minute|seventy-first minute|71 min",
    OUT: "69'|73rd minute|74th",
    ASK: "90+1|45'+2|71:00",
}
RUPEES: Table = {
    IN: "assets 42 crore, debts 6.2 crore|423 million and 61.5 million rupees|Rs 42.30 crore and Rs 6.15 crore",
    ASK: "assets 42 crore|$42.3 crore and $6.15 crore|₹48.45 crore",
    OUT_OR_ASK: "₹45 crore and ₹6.15 crore|₹42.3 crore and ₹7 crore",
}
HEIGHT: Table = {
    IN: "2.10|2.06 m|210 cm|206cm|2100 mm|2.08 meters tall|two point zero eight metres|0.00208 km",
    OUT: "2.105|2.1000001|2.0599|211 cm|205 cm|2.08 km|2.08 kg",
    ASK: "2,08 m|2.06 to 2.10 m|taller than 2.06 m",
}
THREE: Table = {
    IN: "3|about 3|three|approximately 3|3 (three)|There were 3.",
    OUT: "4|2|30|33",
    ASK: "three or four|3-4|nearly 3|over 3|a trio|3rd",
}
DEPTH: Table = {
    IN: "3120|3.12 km|3120 m (10,236 ft)|10,236 feet|3151.0|312,000 cm",
    OUT: "3152 m|3 km|3.2 km|Its maximum depth is 3,300 metres (10,827 ft).",
    ASK: "3120 m, not 3240|3100–3150 m|deeper than 3000 m|3.120 m|First I thought 3120 m but it's 3240 m",
    OUT_OR_ASK: "About 3,240 m; a 2018 survey measured 3,120 m.",
}
STERLING: Table = {
    IN: "£1250|1250 pounds|1,250 GBP|£1.25k|1,250 pounds sterling",
    OUT: "£1350|£12.50",
    ASK: "$1250|£1,250 per year",
    OUT_OR_ASK: "1250 lb|1250 lbs|1250 kg",
}
HOURS: Table = {
    IN: "60 minutes|120 minutes|1 hour|2 hours|90 min|1.5 hours|7200 seconds",
    OUT: "59 minutes|121 minutes|3 hours",
    ASK: "an hour or two|1-2 hours",
}
LATITUDE: Table = {
    IN: "40.7128|40.7128° N|40.71 degrees north|40.71°",
    OUT: "40.9° N",
    ASK: "40.71 S|40.71° S|40.71 degrees south|40.71° W|40°42'46\"N",
}
SPEED: Table = {
    IN: "75|75 miles per hour|75 MPH|120.7 km/h|33.5 m/s|65.2 knots",
    OUT: "80 mph|75 km/h|40 m/s",
    OUT_OR_ASK: "75 miles|75 miles per minute",
}
YEN: Table = {
    IN: "1.2 trillion yen|¥1.2 trillion|￥1,200 billion|1,200,000 million yen|1.2 trillion",
    OUT: "1.4 trillion yen|¥1 trillion",
    ASK: "$1.2 trillion|1.2 trillion yuan|₩1.2 trillion|1.2",
}
DOLLARS: Table = {
    IN: "$5 million|5 million US dollars|US$5,000,000",
    ASK: "NZ$5 million|R$5 million|₩5 million|5 million pesos|A$5 million|5 million₩",
}
MILLION: Table = {
    IN: "1.5 million|1,500,000|15 lakh|one and a half million|1½ million|1.5×10⁶|1500k|1.5M",
    OUT: "1.5 billion|1.5 thousand|1.7 million",
    ASK: "1.5|a million and a half|1.5 mil|150万|1.500.000|over 1.5 million",
}
NOBODY: Table = {IN: "0|zero|one", ASK: "none|unknown||N/A|under investigation|no casualties|null"}

TABLES = {
    "5": COUNT,
    "20%": PERCENT,
    "20": SHARE,
    "42": ANSWER,
    "16": DECIMALS,
    between("2.35 million USD", "2.3 million", "2.4 million USD"): MONEY,
    between("18,240 millimeters", "17,328", "19,152 millimeters"): RAIN,
    between("38:42", "38:41", "38:43"): CLOCK,
    between("2:07:15", "2:07:14", "2:07:16"): MARATHON,
    between("71st minute", "70th", "72nd minute"): MINUTE,
    "₹42.30 crores and debts of ₹6.15 crores (acceptable range: ₹41.88-₹42.72 crores and ₹6.09-₹6.21 crores)": RUPEES,
    between("2.08 m", "2.06 m", "2.10 m"): HEIGHT,
    "3": THREE,
    between("3120 m", "3089", "3151 m"): DEPTH,
    between("£1,250", "£1,200", "£1,300"): STERLING,
    between("90 minutes", "1 hour", "2 hours"): HOURS,
    between("0", "0", "1"): NOBODY,
    between("40.7128° N", "40.70", "40.72"): LATITUDE,
    between("75 mph", "74", "76 mph"): SPEED,
    between("¥1.2 trillion", "¥1.1 trillion", "¥1.3 trillion"): YEN,
    between("$5 million", "$4 million", "$6 million"): DOLLARS,
    between("1.5 million", "1.4", "1.6 million"): MILLION,
}
CASES = [
    (reference, response, expected)
    for reference, table in TABLES.items()
    for expected, responses in table.items()
    for response in responses.split("|")
]


@pytest.mark.parametrize(("reference", "response", "expected"), CASES)
def test_response_against_reference(reference: str, response: str, expected: str) -> None:
    check = check_range(parse_reference(reference), response)
    assert check.outcome in expected.split("|"), check.reason


@pytest.mark.parametrize(
    ("reference", "response", "expected"),
    [
        ("three", "3", IN), ("Two", "2", IN), ("ten to eleven", "10-11", IN), ("10-11", "ten to eleven", IN),
        ("21", "twenty-one", IN), ("a hundred", "100", IN), ("250", "two hundred and fifty", IN),
     ("12", "a dozen", ASK),
        ("2 dozen", "24", ASK), ("2 pairs", "4", ASK), ("3 score", "60", ASK), ("2", "a couple", ASK),
     ("2", "twice", ASK),
        ("80", "more than eighty", ASK), ("0", "under investigation", ASK), ("0", "none", ASK), ("several", "3", ASK),
        ("Two", "three", OUT), ("seventy", "17", OUT),
        ("0.004", "0.00354", ASK), ("0.004", "0.004", IN), ("0.004", ".004", IN), ("0.004", "0.4%", ASK),
        ("300", "Four and a half a minute, which makes 270 per hour.", ASK),
        ("1 hour", "60 minutes", IN), ("90 minutes", "1.5 hours", IN), ("6 feet", "72 inches", IN),
     ("7 km", "7000 m", IN),
        ("6 feet", "1.83 m", ASK), ("7 km", "8 km", OUT), ("1 hour", "61 minutes", ASK), ("2 m", "200 cm", IN),
    ],
)  # fmt: skip
def test_words_rounding_and_units_without_a_range(reference: str, response: str, expected: str) -> None:
    check = check_range(parse_reference(reference), response)
    assert check.outcome == expected, check.reason


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("410 metres (acceptable range: anything between 406 and 414 metres)", "406", "414"),
        ("12 (acceptable range: anything between 11 and 13 degrees Fahrenheit)", "11", "13"),
        ("3.41% (acceptable range: anything between 3.38% and 3.44%)", "3.38", "3.44"),
        ("17.05% (acceptable range: anything between 16.88 and 17.22%)", "16.88", "17.22"),
        ("95W (acceptable range: anything between 94W and 96W)", "94", "96"),
        ("61,200 km2 (acceptable range: anything between 58,140 and 64,260 km2)", "58140", "64260"),
        ("5 (acceptable range: 4-6)", "4", "6"), ("5 (acceptable range: 4 to 6)", "4", "6"),
        ("5 (acceptable range: [4, 6])", "4", "6"), ("5 (acceptable range: ±1)", "4", "6"),
        ("100 (acceptable range: ±5%)", "95", "105"), ("5 (acceptable range: between four and six)", "4", "6"),
        ("-5 (acceptable range: anything between −6 and −4)", "-6", "-4"),
     ("5 (acceptable range: -1 to 11)", "-1", "11"),
        ("12 (acceptable answers: between 11 and 13)", "11", "13"), ("12 (acceptable values: 11-13)", "11", "13"),
        ("€1.2bn (acceptable range: anything between €1.19bn and €1.21bn)", "1190000000", "1210000000"),
        ("240k (acceptable range: anything between 238k and 242k)", "238000", "242000"),
        ("5 million (acceptable range: anything between 4.9 and 5.1 million)", "4900000", "5100000"),
        ("1,23,456 (acceptable range: anything between 1,22,000 and 1,25,000)", "122000", "125000"),
        ("3rd (acceptable range: anything between 2nd and 4th)", "2", "4"),
        ("12:34 (acceptable range: anything between 12:33 and 12:35)", "753", "755"),
        ("5 (acceptable range: anything between 4 and 6", "4", "6"),
    ],
)  # fmt: skip
def test_bounds_of_a_range(text: str, low: str, high: str) -> None:
    (found,) = parse_reference(text).ranges
    assert (found.low, found.high) == (Decimal(low), Decimal(high))


@pytest.mark.parametrize(
    "body",
    ["anything", "none", "see above", "anything between 4 and 6 or 8", "4.4/5 to 4.6/5", "a few", "14 to 16 March"],
)
def test_a_note_that_is_not_understood_is_said_to_be(body: str) -> None:
    reference = parse_reference(f"5 (acceptable range: {body})")
    assert reference.ranges == ()
    assert any(finding.startswith("range not understood") for finding in lint_reference(reference))


@pytest.mark.parametrize(
    ("low", "high", "finding"),
    [("14.22", "14.98", "asymmetric"), ("13.90", "14.50", "asymmetric"), ("14.40", "14.98", "outside"),
     ("14.98", "14.22", "above"), ("14.22", "14.50", None)],
)  # fmt: skip
def test_a_range_that_looks_like_a_slip_is_followed_and_reported(low: str, high: str, finding: str | None) -> None:
    reference = parse_reference(between("14.36", low, high))
    findings = lint_reference(reference)
    assert len(findings) == (finding is not None)
    assert (finding or "") in "".join(findings)
    if low == "14.22" and high == "14.98":
        assert check_range(reference, "14.90").outcome == IN


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [("6,061", "6061", IN), ("204816", "204,816", IN), ("31.2", "31.20", ASK), ("3.10", "3.1", ASK), ("007", "7", ASK),
     ("v2.0", "2.0", ASK), ("1e3", "NA", ASK), ("1,000", "1.000", ASK)],
)  # fmt: skip
def test_an_identifier_is_not_rounded_into_another(first: str, second: str, outcome: str) -> None:
    assert check_range(parse_reference(first), second).outcome == outcome


@pytest.mark.parametrize(
    ("response", "outcome"),
    [("The race was 105 km (65 miles) long in 1989.", IN), ("It was 110 km in 1989", OUT), ("105 km [1]", IN_OR_ASK),
     ("105 km.[1][2]", IN), ("105[1] km", IN), ("103 km (64 miles)", IN), ("105 km (110 km)", ASK),
     ("105 km (68 miles)", ASK), ("105 km in 1989, 110 km in 1999", ASK), ("105.000 m", ASK), (">=105 km", ASK),
     ("105‰", ASK), ("12 [105]", ASK), ("see [105]", ASK), ("[105] km", IN_OR_ASK)],
)  # fmt: skip
def test_years_footnotes_and_restatements_beside_the_answer(response: str, outcome: str) -> None:
    reference = parse_reference(between("105 km", "103", "107 km"))
    check = check_range(reference, response)
    assert check.outcome in outcome.split("|"), check.reason


@pytest.mark.parametrize(
    ("response", "outcome"),
    [("eight thousand, two hundred and eighty-two", IN), ("eight thousand, three hundred", IN),
     ("two thousand, eight hundred", OUT), ("eight thousand, two hundred of them women", ASK), ("8282 [2]", IN),
     ("8,282 people.[3]", IN), ("[8282]", IN), ("see [1]", ASK)],
)  # fmt: skip
def test_commas_between_number_words_and_footnotes_behind_counts(response: str, outcome: str) -> None:
    check = check_range(parse_reference(between("8,282", "8199", "8365")), response)
    assert check.outcome == outcome, check.reason


@pytest.mark.parametrize(
    ("response", "outcome"),
    [("12 years", OUT), ("9 years", OUT), ("11 years", ASK), ("10 years", ASK), ("about 12 years", ASK)],
)
def test_a_duration_without_its_smaller_part(response: str, outcome: str) -> None:
    reference = parse_reference("10 years 3 months (acceptable range: 10 years and between 2-4 months)")
    assert check_range(reference, response).outcome == outcome


@pytest.mark.parametrize(
    ("reference", "response", "outcome"),
    [("1.5 million", "1,500,000", IN), ("1.5 million", "15 lakh", IN),
     (between("50.16", "49.65", "50.67"), "0.5016", ASK), (between("50.16", "49.65", "50.67"), "0.6", OUT),
     (between("3.41%", "3.38%", "3.44%"), "3.41‰", ASK)],
)  # fmt: skip
def test_one_value_in_two_writings(reference: str, response: str, outcome: str) -> None:
    assert check_range(parse_reference(reference), response).outcome == outcome
