"""Whoever is named first: swapped graders turn the sign and keep the p-value; the order of raters says nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import statistics_data as made
from statistics_arguments import NAMES
from statistics_data import estimates, numbers, plain, values
from statistics_table import STATISTICS

from experiments.stats import Estimate

SMALL = made.example(resamples=3000)
LARGE = made.example(n=300, questions=120, resamples=3000)

SWAPS = {
    "corrected_differences": ("first", "second"),
    "corrected_differences bootstrap": ("first", "second"),
    "equivalence_test": ("first", "second"),
    "paired_comparison": ("first", "second"),
    "paired_score_differences": ("first", "second"),
    "paired_score_differences bootstrap": ("first", "second"),
    "paired_score_differences swap": ("first", "second"),
    "unpaired_score_differences": ("first", "second"),
    "unpaired_score_differences bootstrap": ("first", "second"),
    "wording_effects": ("baseline", "changed"),
}
RANDOM = {"bootstrap", "swap", "wording_effects"}


def swapped(name: str, data: made.Data) -> Any:
    """The statistic with its two sides exchanged."""
    first, second = SWAPS[name]
    given = STATISTICS[name].arguments(data)
    changed = {first: given[second], second: given[first]}
    if f"{first}_clusters" in given:
        changed |= {f"{first}_clusters": given[f"{second}_clusters"], f"{second}_clusters": given[f"{first}_clusters"]}
    return STATISTICS[name](data, **changed)


def p_values(result: Any, key: str = "") -> Iterator[float | None]:
    """All p-values of a plain result, in order."""
    if isinstance(result, dict):
        for name, part in result.items():
            yield from p_values(part, str(name))
    elif isinstance(result, list):
        for part in result:
            yield from p_values(part, key)
    elif "p_value" in key:
        yield result


@pytest.mark.parametrize("name", sorted(SWAPS))
@pytest.mark.parametrize("data", [SMALL, LARGE], ids=["small", "large"])
def test_swapped_graders_turn_the_sign_and_keep_the_p_value(name: str, data: made.Data) -> None:
    """To the last digits without draws, and within their error with them."""
    near = 0.03 if any(part in name for part in RANDOM) else 1e-9
    drawn = near > 1e-9 or data is LARGE
    there, back = STATISTICS[name](data), swapped(name, data)
    for where, one in estimates(there).items():
        two, unit = estimates(back)[where], 100.0 if ".index." in where else 1.0
        assert two.value == pytest.approx(-(one.value or 0.0), abs=1e-9 * unit), where
        if one.low is not None or two.high is not None:
            assert two.high == pytest.approx(-(one.low or 0.0), abs=near * unit), where
            assert two.low == pytest.approx(-(one.high or 0.0), abs=near * unit), where
    pairs = list(zip(p_values(plain(there)), p_values(plain(back)), strict=True))
    assert pairs
    for before, after in pairs:
        assert after == pytest.approx(before, abs=0.08 if drawn else 1e-9)


def test_swapped_graders_and_a_turned_aim_give_the_same_verdict() -> None:
    """That the first is no worse where more is better is that the second is no better where less is."""
    statistic = STATISTICS["non_inferiority_test"]
    given = statistic.arguments(SMALL)
    there = statistic(SMALL)
    back = statistic(SMALL, first=given["second"], second=given["first"], lower_is_better=True)
    assert back.p_value == pytest.approx(there.p_value)
    assert back.passed == there.passed
    assert back.estimate.low == pytest.approx(-there.estimate.high)


def test_swapped_people_transpose_the_table_and_keep_mcnemar() -> None:
    table = STATISTICS["paired_table"](SMALL)
    given = STATISTICS["paired_table"].arguments(SMALL)
    turned = STATISTICS["paired_table"](SMALL, first=given["second"], second=given["first"])
    assert (turned.first_only, turned.second_only) == (table.second_only, table.first_only)
    assert (turned.both, turned.neither, turned.left_out) == (table.both, table.neither, table.left_out)
    there, back = (STATISTICS["mcnemar_test"](SMALL, table=one) for one in (table, turned))
    assert (back.exact, back.mid_p, back.asymptotic) == pytest.approx((there.exact, there.mid_p, there.asymptotic))
    first, second = (STATISTICS["newcombe_interval"](SMALL, table=one) for one in (table, turned))
    assert second.value == pytest.approx(-first.value)
    assert (second.low, second.high) == pytest.approx((-first.high, -first.low))


ORDER = [2, 0, 1]


def test_the_order_of_graders_moves_no_comparison() -> None:
    """Each pair's difference is the same but for its sign, and so is who is in the set of the best."""
    means = np.asarray(STATISTICS["best_set"].arguments(LARGE)["means"])
    changed = {"means": means[:, ORDER], "names": [NAMES[place] for place in ORDER]}
    there, back = STATISTICS["best_set"](LARGE), STATISTICS["best_set"](LARGE, **changed)
    assert set(back.members) == set(there.members)
    by_name = {one.name: one for one in back.graders}
    for one in there.graders:
        assert (by_name[one.name].mean, by_name[one.name].behind) == (one.mean, one.behind)
        assert by_name[one.name].p_value == pytest.approx(one.p_value, abs=0.03)
    pairs = {frozenset((one.first, one.second)): one for one in STATISTICS["compare_all"](LARGE, **changed)}
    for one in STATISTICS["compare_all"](LARGE):
        two = pairs[frozenset((one.first, one.second))]
        sign = 1 if one.first == two.first else -1
        assert two.difference.estimate.value == pytest.approx(sign * one.difference.estimate.value)
        assert two.student_p_value == pytest.approx(one.student_p_value)
        assert two.difference.p_value == pytest.approx(one.difference.p_value, abs=0.03)
        assert two.left_out == one.left_out


OF_RATERS = sorted(name for name in STATISTICS if "ratings" in STATISTICS[name].arguments(SMALL))


@pytest.mark.parametrize("name", OF_RATERS)
def test_the_order_of_raters_does_not_matter(name: str) -> None:
    """Lists by rater are in the order of raters; all else is the same, but for draws that raters share."""
    changed: dict[str, Any] = {"ratings": [SMALL.ratings[place] for place in ORDER]}
    if name == "dawid_skene":
        changed["raters"] = [NAMES[place] for place in ORDER]
    there, back = STATISTICS[name](SMALL), STATISTICS[name](SMALL, **changed)
    if name == "human_ceiling":
        assert sorted(map(number, values(back))) == pytest.approx(sorted(map(number, values(there))), abs=1e-9)
    else:
        assert by_rater(plain(back)) == pytest.approx(by_rater(plain(there)), abs=1e-9)


def number(value: float | None) -> float:
    return -2.0 if value is None else value


def by_rater(result: Any) -> list[float]:
    """All numbers of a plain result but raters' places, by size."""

    def unnamed(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: unnamed(value) for key, value in part.items() if key != "rater"}
        return [unnamed(one) for one in part] if isinstance(part, list) else part

    return sorted(one for one in numbers(unnamed(result)) if one is not None)


@pytest.mark.parametrize("name", ["crossed_components", "crossed_correctness_components"])
def test_the_order_of_graders_moves_no_component(name: str) -> None:
    parameter = "scores" if name == "crossed_components" else "counts"
    data = replace(SMALL, resamples=3000)
    given = STATISTICS[name].arguments(data)[parameter]
    there, back = estimates(STATISTICS[name](data)), estimates(STATISTICS[name](data, **{parameter: given[::-1]}))
    for where, one in there.items():
        assert back[where].value == pytest.approx(one.value, abs=1e-9), where
        assert limits(back[where]) == pytest.approx(limits(one), abs=0.02), where


def test_grader_and_people_exchanged_keep_agreement() -> None:
    """Single verdicts and the reference are two raters: agreement does not ask which of them is which."""
    rows = [row for row in range(LARGE.n) if LARGE.ratings[0][row] is not None]
    data = replace(LARGE.take(rows), resamples=300)
    other = [str(data.ratings[0][row]) for row in range(data.n)]

    def counted(given: Sequence[str]) -> made.Counts:
        return [[int(label == one) for label in data.labels] for one in given]

    for level in ("nominal", "ordinal", "interval"):
        agreement = STATISTICS[f"agreement {level}"]
        there = agreement(replace(data, counts=counted(other)))
        back = agreement(replace(data, reference=other, counts=counted(data.reference)))
        for where, one in estimates(there).items():
            assert limits(estimates(back)[where])[0] == pytest.approx(limits(one)[0], abs=1e-9), where
            assert limits(estimates(back)[where]) == pytest.approx(limits(one), abs=0.05), where


def limits(estimate: Estimate) -> tuple[float | None, float | None, float | None]:
    return estimate.value, estimate.low, estimate.high
