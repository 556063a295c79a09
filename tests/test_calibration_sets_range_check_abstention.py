"""When the cross-check must abstain: numbers that are not plainly the answer."""

from __future__ import annotations

import pytest

from calibration_sets.references.range_check import check_range
from calibration_sets.references.reference_parser import parse_reference

ENGRAVINGS = parse_reference("150 (acceptable range: anything between 148 and 152)")

# Each holds the number of the reference, and yet does not plainly give it as the answer.
TEMPTING = """
It was on Apollo 150|nearly exactly 150|not quite 150|the first 150 of them|150 of 300|Out of 150|page 150
Chapter 150|a 150-seat hall|150-year-old|150) Paris|150BC|150 BC|150 more than that|150 fewer|up to 150
increased by 150 to 300|some say 150|They claim 150|It is rumoured to be 150|It was thought to be 150|nicht 150
no es 150|150 Millionen|150 mil|150 grand|150K|150 万|15万0|150°|150 °C|150kg|150cm|150 kcal|$150/month|150x|x150
150 x 2|2 x 150|150*2|2**150|150^2|150²|150e2|150_000|150,000|150.000|150 000|1,50|1.50|150/300|+150+|<150|>150
≤150|±150|√150|150 or so|150-ish|150ish|150something|150-odd|hundred and fifty thousand|150 hundred|one fifty
150 dozen|150 pairs|150, 151 or 152|160 (not 150)|160 (150 in an older count)|150 became 160|first 150, then 160
150, later 160|from 150 to 160|150→160|150 - 10|150 less 10|The answer is 160, though 150 was reported
It isn't 150|It's definitely wrong to say 150|anything but 150|twice 150|half of 150|a quarter of 150|150 squared
minus 150|-150|150%|150 percent|150 per cent|150 km|150 minutes|150 years|version 150|150.1.2|2018-150|ABC150
150ABC|150th|#150|@150|http://x.y/150|1:50|15:0|01:50|150:00|150 AD|150 o'clock|May 150|150 May|Is it 150?
Could be 150|150 maybe|perhaps 150|I'd guess 150|150 is my guess|I doubt 150|150 per 1000|out of 150
150 each, 300 in total|１５０％|one hundred fifty percent|150 longer|150 tens|150 T|150m|150 A|150 d
The answer is 150. The answer is 160.|The answer is 160. It is 150.|150? No, 160.|160, I mean 150|Sorry, 150
Wait, 150
""".replace("\n", "|")


@pytest.mark.parametrize("response", [response for response in TEMPTING.split("|") if response])
def test_a_number_that_is_not_plainly_the_answer_is_never_in(response: str) -> None:
    assert check_range(ENGRAVINGS, response).outcome != "in"


# Each gives 150 or its neighbours in a form that a careless reader takes for another number.
DISGUISED = """
150|150.|151 of them|150 engravings or more|hundred and fifty|thousands|150 grand|0.15 thousand|0.15k|1,5 hundred
12.5 dozen|one fifty|one-fifty|one five zero|CL|150°|1.5 hundred|90 men and 60 women|100 plus 50|100 + 50|50 x 3
thrice fifty|fifty times three|seven score and ten|15 decades|1.5 × 10²|1.5x10^2|1.5E2|1.5e+2|½ of 300|300/2
√22500|In 2018 it was 151|As of 2011, 149 (census)|150,00|148,5|149.500|one hundred & fifty|a hundred fifty
1 hundred and 50|150/-|Rs. 150/-|150€|USD150|EUR 150|１５０|١٥٠|150\u00a0|\u200b150|**150**|`150`|“150”|«150»|(150)
150;|150…|150。
""".replace("\n", "|")


@pytest.mark.parametrize("response", [response for response in DISGUISED.split("|") if response])
def test_a_right_number_in_disguise_is_never_out(response: str) -> None:
    assert check_range(ENGRAVINGS, response).outcome != "out"


@pytest.mark.parametrize(
    "response",
    ["", " ", ":", ".", "。", "I don't know.", "unknown", "It depends.", "under investigation", "No such thing exists"],
)
@pytest.mark.parametrize("reference", ["150 (acceptable range: 148 to 152)", "0", "5", "38:42 (range: 38:41 to 38:43)"])
def test_no_number_is_never_zero(reference: str, response: str) -> None:
    check = check_range(parse_reference(reference), response)
    assert (check.outcome, check.found) == ("undecided", ())
