"""Properties of the cross-check: it never accuses a right number, and its work is bounded."""

from __future__ import annotations

import re
import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration_sets.references.range_check import RangeCheck, check_range
from calibration_sets.references.reference_parser import parse_reference

ENGRAVINGS = parse_reference("150 (acceptable range: anything between 148 and 152)")

WORDS_BELOW_20 = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen",
)
WORDS_TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spell(number: int) -> str:
    """Write an integer below one thousand million in words."""
    for size, name in ((10**6, "million"), (10**3, "thousand"), (100, "hundred")):
        if number >= size:
            rest = number % size
            joint = " and " if rest < 100 else " "
            return f"{spell(number // size)} {name}" + (joint + spell(rest) if rest else "")
    if number < 20:
        return WORDS_BELOW_20[number]
    return WORDS_TENS[number // 10] + (f"-{WORDS_BELOW_20[number % 10]}" if number % 10 else "")


def group_indian(number: int) -> str:
    digits = str(number)
    head, tail = digits[:-3], digits[-3:]
    pairs = []
    while head:
        head, pairs = head[:-2], [head[-2:], *pairs]
    return ",".join([*pairs, tail])


SENTENCES = [
    "{}",
    "{}.",
    "It is {}.",
    "The answer is {}!",
    "({})",
    "**{}**",
    "exactly {}",
    "Answer: {}",
    "{} engravings",
]


def renderings(number: int) -> list[str]:
    forms = [f"{number}", f"{number:,}", f"{number:,}".replace(",", "\u2009"), group_indian(number), f"{number}.0"]
    return [*forms, spell(number), f"{Decimal(number) / 1000:f} thousand", f"{number}.00"]


@given(
    low=st.integers(0, 10**6),
    width=st.integers(0, 10**5),
    offset=st.integers(-(10**5), 2 * 10**5),
    sentence=st.sampled_from(SENTENCES),
    data=st.data(),
)
@settings(max_examples=200, deadline=None)
def test_inside_is_never_out_and_outside_is_never_in(
    low: int, width: int, offset: int, sentence: str, data: st.DataObject
) -> None:
    number = max(0, low + offset)
    high = low + width
    reference = parse_reference(f"{low} (acceptable range: anything between {low:,} and {high:,})")
    rendered = data.draw(st.sampled_from(renderings(number)))
    outcome = check_range(reference, sentence.format(rendered)).outcome
    assert outcome != ("out" if low <= number <= high else "in")


@given(centimetres=st.integers(1, 10**6), offset=st.integers(-50, 50))
@settings(max_examples=100, deadline=None)
def test_metric_conversion_is_exact_at_the_bounds(centimetres: int, offset: int) -> None:
    reference = parse_reference(f"{centimetres} cm (acceptable range: {centimetres} cm to {centimetres + 20} cm)")
    value = Decimal(max(1, centimetres + offset))
    expected = "in" if centimetres <= value <= centimetres + 20 else "out"
    for response in (f"{value} cm", f"{value / 100:f} metres", f"{value * 10:f} mm", f"{value / 100000:f} km"):
        if not response.startswith("0.00000"):
            assert check_range(reference, response).outcome in {expected, "undecided"}, response
    assert check_range(reference, f"{value} cm").outcome == expected


@given(seconds=st.integers(60, 3599), offset=st.integers(-3, 3))
@settings(max_examples=100, deadline=None)
def test_clock_times_in_all_forms(seconds: int, offset: int) -> None:
    def clock(total: int) -> str:
        return f"{total // 60}:{total % 60:02d}"

    reference = parse_reference(f"{clock(seconds)} (acceptable range: {clock(seconds - 1)} to {clock(seconds + 1)})")
    minutes, rest = divmod(seconds + offset, 60)
    expected = "in" if abs(offset) <= 1 else "out"
    assert check_range(reference, clock(seconds + offset)).outcome == expected
    for response in (f"{minutes} minutes and {rest} seconds", f"{minutes} min {rest} s", f"{minutes}m {rest}s"):
        assert check_range(reference, response).outcome == expected, response


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_text_is_checked_without_an_error(text: str) -> None:
    for reference in (ENGRAVINGS, parse_reference("38:42 (range: 38:41 to 38:43)"), parse_reference(text)):
        assert isinstance(check_range(reference, text), RangeCheck)


@given(st.text(alphabet="0123456789.,:-–−±$%°'\"()x*/^ \n½²eEkMm\ud800andone", max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_mixture_of_digits_and_marks_is_checked_without_an_error(text: str) -> None:
    for reference in (
        ENGRAVINGS,
        parse_reference("405 x 480 cm (range: [400-409] x [475-485] cm)"),
        parse_reference(text),
    ):
        assert isinstance(check_range(reference, text), RangeCheck)


LONG = ["1" * 10**5, "1," * 10**5, "9" * 10**6, "a" * 10**6, "one hundred " * 10**5, "5 " * 10**5, "5-" * 9000]
LONG += [
    "\n" * 19_000 + "5",
    " " * 19_000 + "5",
    "5" + " " * 19_000,
    "one " * 4900,
    '"5"' * 4000,
    "*a" * 9000,
    "1:" * 9000,
]


@pytest.mark.parametrize("response", LONG, ids=lambda response: repr(response[:8]))
def test_long_responses_take_bounded_work(response: str) -> None:
    started = time.process_time()
    outcome = check_range(ENGRAVINGS, response).outcome
    assert time.process_time() - started < 4
    assert outcome in {"undecided", "out"}


def test_a_thousand_checks_take_bounded_work() -> None:
    started = time.process_time()
    for number in range(1000):
        check_range(ENGRAVINGS, f"The artist published a collection of {number} engravings on the journey.")
    assert time.process_time() - started < 8
