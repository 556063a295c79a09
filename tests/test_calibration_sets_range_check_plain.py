"""The cross-check where the reference has no range: only one plain number is compared."""

from __future__ import annotations

import pytest

from calibration_sets.references.range_check import check_range
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

PLAIN = """
300
    not in: Four and a half a minute, which makes 270 per hour.
5
    out: The answer is 25 | 50 it is | 6 | 15 | 55 | fifty
    in: got 5 here | 5 | five | Five. | 5.0 | I got 5 | It's 5! | 5 apples | about 5
    undecided: 5.5 | 5 or 6 | 5th | 5% | 5 km | V
    not in: -5
20
    not out: Out of 100 shops, the share was 20%
42
    in: The answer is 42! | (42). | [42] | 42 | '42' | "42" | 42; | *42* | $42$ | \\boxed{42} | 42… | =42 | 42。
    in: Answer: 42 | Answer:42 | forty-two
    not in: 42abc
    undecided: abc42 | 42? | 4.2
    out: 43 | 41. | (43) | 420 | 142
    not out: 42.000
16
    in: 4 boxes; the answer is 16.00 | $16.00 | 16.0 | 16. | sixteen
    out: 17.00 | $17 | 4 boxes; the answer is 17
    undecided: 16.01
3
    in: three | 3 | about 3 | There were 3 of them | 3.0
    out: 4 | There were 4 of them
    undecided: about 4 | 2 or 3
    not out: three times
2
    in: Two
10-11
    in: ten to eleven | 10-11 | 10–11
    not in: ten to twelve
0
    undecided: under investigation | more than eighty | none
    in: zero | 0.0
    out: 1
80
    undecided: more than eighty
1
    undecided: no
0.004
    not out: 0.00354
6,061
    in: 6061
    out: 6,062
31.2
    undecided: 31.20 | 31.3
    in: 31.2
112
    not out: 112.0
204816
    in: 204,816
6061
    in: 6,061
    out: 6,062
    undecided: 6.061
1994
    undecided: 1995 | March 1994
    in: 1994 | In 1994
March 1994
    undecided: in March 1994
    not out: March 1994
12
    undecided: 0012 | a dozen | XII | 1 2 | 12th | 12 and 13 | 012 | 1.2 | 12 million | 12 dozen | 12?
    undecided: It wasn't 12 | 12 is incorrect | 12°
    in: 12 | 12 apostles | twelve | 12.0 | 12, | 12: | Twelve. | She had 12 children. | 12 (twelve)
    in: twelve (12) | $12
    out: 13 apostles | She had 11 children. | 120 | 112
120
    not in: 121
119
    undecided: 120
4.86
    undecided: 4.86 m
4.86 m
    in: 4.86 | 486 cm
    undecided: 4.9 m
18 episodes
    in: 18
    out: 19 episodes
14 years old
    in: 14
14 years
    in: fourteen years
    out: 15 years
$155 million
    in: 155 million dollars | $155,000,000
    undecided: $150 million
5q14.1
    in: 5q14.1
    undecided: 5
1.2.3
    undecided: 1.2
1994-033A
    undecided: 1994
10 August 843
    undecided: 843
61. 53 male, 8 female.
    undecided: 61
Ines Okafor
    undecided: 42 | Ines Okafor
41:18
    in: 41:18
    undecided: 41:19
9:30 p.m.
    undecided: 9:30
65daysofstatic
    undecided: 65
7
    in: 7 faces
7 faces
    in: 7
    out: 8
    undecided: 7 sides
1,000
    in: 1000
    undecided: 1001
#3
    not out: 3
    in: #3
53rd minute
    in: 53
    undecided: 54th minute
-2
    in: -2 | minus two
    not in: 2
three
    in: 3
Three.
    in: three
Three
    out: Four
one hundred
    in: 100
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


@pytest.mark.parametrize(("reference", "response", "expected"), _cases(PLAIN))
def test_response_against_a_reference_without_a_range(reference: str, response: str, expected: str) -> None:
    check = check_range(parse_reference(reference), response)
    assert check.outcome in ALLOWED[expected], check
