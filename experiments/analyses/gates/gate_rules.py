"""The rules of a gate, read from text by a pattern: nothing in them is ever evaluated.

upper(false_negative_rate) <= 3%
lower(kappa) >= 0.6
value(coverage) >= 99%
false_negative_rate by 0.01          (not worse than the baseline by that margin)
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Literal, cast

from calibration_sets.strict import shorten
from experiments.analyses.score_values import SCORE_MEASURES, SCORE_SIZES
from experiments.errors import SpecError

__all__ = ["COMPARED", "MEASURES", "NotWorse", "Rule", "check_measure", "keeps", "parse_not_worse", "parse_rule"]

End = Literal["value", "lower", "upper"]
Sign = Literal["<=", ">=", "<", ">"]

MEASURES = (
    "false_negative_rate",
    "false_positive_rate",
    "error_rate",
    "flip_rate",
    "pairwise_disagreement",
    "coverage",
    "failure_rate",
    "alpha_repeats",
    "kappa",
    *SCORE_MEASURES,
)
"""What a rule can be about."""

COEFFICIENTS = ("alpha_repeats", "kappa")
"""The measures that may be negative."""

COMPARED = (
    "false_negative_rate",
    "false_positive_rate",
    "error_rate",
    "pairwise_disagreement",
    "failure_rate",
    *(name for name in SCORE_MEASURES if name != "bias"),
)
"""What can be held against a baseline: means over items in which less is better."""

_NUMBER = r"(?P<number>-?(?:\d{1,12}(?:\.\d{0,18})?|\.\d{1,18}))\s*(?P<percent>%?)"
_RULE = re.compile(r"\s*(?P<end>\w+)\s*\(\s*(?P<name>\w+)\s*\)\s*(?P<sign><=|>=|<|>)\s*" + _NUMBER + r"\s*", re.ASCII)
_NOT_WORSE = re.compile(r"\s*(?P<name>\w+)\s+by\s+" + _NUMBER + r"\s*", re.ASCII)
_SIGNS: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
)
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Rule:
    """``end(name) sign limit``: the value of a measure, or an end of its interval, against a limit."""

    end: End
    name: str
    sign: Sign
    limit: float

    @property
    def text(self) -> str:
        """The rule as it is printed."""
        return f"{self.end}({self.name}) {self.sign} {self.limit:.12g}"


@dataclass(frozen=True, slots=True)
class NotWorse:
    """The measure may be worse than the baseline's by less than the margin."""

    name: str
    margin: float

    @property
    def text(self) -> str:
        """The rule as it is printed."""
        return f"{self.name} not worse by {self.margin:.12g}"


def parse_rule(text: str, *, option: str = "--rule") -> Rule:
    """Read ``value|lower|upper(NAME) <=|>=|<|> NUMBER``; the number may end in a percent sign.

    Raises
    ------
    SpecError
        If it is anything else, of an unknown measure, or the limit is one that the measure cannot reach; the message
        begins with ``option``, the word under which the text was given.
    """
    where = f"{option} {shorten(text)}"
    found = _RULE.fullmatch(text)
    if found is None or found["end"] not in ("value", "lower", "upper"):
        raise SpecError(f"{where}: not a rule; expected such as 'upper(false_negative_rate) <= 3%'")
    name = _check_name(where, found["name"], MEASURES)
    limit = _limit(found)
    lowest = -math.inf if name == "bias" else -1 if name in COEFFICIENTS else 0
    if name in SCORE_SIZES:
        _check_size(where, found, lowest)
    elif not lowest <= limit <= 1:
        raise SpecError(f"{where}: limit {limit:g}; expected a number from {lowest} to 1 (3% is 0.03)")
    return Rule(cast("End", found["end"]), name, cast("Sign", found["sign"]), limit)


def parse_not_worse(text: str) -> NotWorse:
    """Read ``NAME by MARGIN``; the margin may end in a percent sign, for points.

    Raises
    ------
    SpecError
        If it is anything else, of a measure that is no mean over items, or the margin is not between 0 and 1
        (in the scale's units: not above 0).
    """
    where = f"--not-worse {shorten(text)}"
    found = _NOT_WORSE.fullmatch(text)
    if found is None:
        raise SpecError(f"{where}: not a margin; expected such as 'false_negative_rate by 0.01'")
    name, margin = _check_name(where, found["name"], COMPARED), _limit(found)
    if name in SCORE_SIZES and margin > 0:
        _check_size(where, found, 0)
    elif not 0 < margin < 1:
        raise SpecError(f"{where}: margin {margin:g}; expected a number between 0 and 1 (1 point is 0.01)")
    return NotWorse(name, margin)


def check_measure(where: str, name: str) -> str:
    """The name of a measure that a rule can be about; ``SpecError`` for another, beginning with ``where``."""
    return _check_name(where, name, MEASURES)


def keeps(sign: Sign, number: float, limit: float) -> bool:
    """Whether ``number sign limit`` holds; numbers equal to within rounding are equal."""
    return _SIGNS[sign](limit if abs(number - limit) <= _ROUNDING else number, limit)


def _check_size(where: str, found: re.Match[str], lowest: float) -> None:
    if found["percent"] or _limit(found) < lowest:
        wanted = "a number" if lowest < 0 else "a number, 0 or more,"
        raise SpecError(f"{where}: {found['number']}{found['percent']}; expected {wanted} in the scale's units")


def _limit(found: re.Match[str]) -> float:
    return float(Decimal(found["number"]) / (100 if found["percent"] else 1))


def _check_name(where: str, name: str, known: tuple[str, ...]) -> str:
    if name not in known:
        raise SpecError(f"{where}: {shorten(name)}; expected one of {list(known)}")
    return name
