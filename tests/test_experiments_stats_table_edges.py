"""The edges, bad input and confidence levels, over one table of all statistics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import statistics_data as made
from statistics_data import EDGES, estimates, plain
from statistics_table import STATISTICS, WITH_ESTIMATES

from experiments.stats.correction import GradedItems, LabelledItems, NotIdentifiedError

SMALL = made.example()
FORM = re.compile(r"^[^:]+: .+, got .+; expected .+", re.DOTALL)

OF_DRAWS = {"bca_interval", "bootstrap_sums", "clustered_covariance", "percentile_interval", "sign_flip_tests"}
OF_DRAWS |= {"sum_by_cluster", "tune_power"}
"""Parts of other statistics, which have two questions or more when they are called."""

NAN_IS_UNDEFINED = {"build_samples", "score_gradient", "score_value"}
"""Arrays for other statistics, in which NaN is what None is elsewhere."""

REFUSE = {"box_ranges", "error_budget", "powered_mean", "powered_scores"}
"""Raise where there is nothing to estimate or to correct."""


def leaves(result: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(result, dict):
        for name, part in result.items():
            yield from leaves(part, str(name))
    elif isinstance(result, list):
        for part in result:
            yield from leaves(part, key)
    else:
        yield key, result


@pytest.mark.parametrize("name", sorted(set(STATISTICS) - OF_DRAWS))
@pytest.mark.parametrize("which", EDGES)
def test_edges_give_a_value_or_none_and_never_nan_or_certainty(name: str, which: str) -> None:
    try:
        result = STATISTICS[name](EDGES[which])
    except ValueError as error:
        assert name in REFUSE
        form_holds = isinstance(error, NotIdentifiedError) or FORM.match(str(error))
        assert form_holds, error  # noqa: PT017
        return
    for key, leaf in leaves(plain(result)):
        assert leaf != "nan" or name in NAN_IS_UNDEFINED, key
        assert not (isinstance(leaf, float) and np.isinf(leaf)), key
        if "p_value" in key and leaf is not None:
            assert 0 <= leaf <= 1, key
    for where, one in estimates(result).items():
        assert (one.low is None) == (one.high is None), (where, one)
        assert one.value is not None or one.low is None, (where, one)
        assert one.value is None or (one.n > 0 and one.clusters > 0), (where, one)
        if one.value is not None and one.low is not None and one.high is not None:
            assert one.low <= one.value <= one.high, (where, one)
            assert one.high - one.low > 1e-6, (where, one)


WITH_LEVEL = sorted(name for name in STATISTICS if "level" in STATISTICS[name].arguments(SMALL))


@pytest.mark.parametrize("name", WITH_LEVEL)
@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 1.5, 95, float("nan"), float("inf")])
def test_levels_that_are_none_are_refused(name: str, level: float) -> None:
    with pytest.raises(ValueError, match=r"^level: .+, got .+; expected .+"):
        STATISTICS[name](SMALL, level=level)


@pytest.mark.parametrize("name", sorted(WITH_ESTIMATES))
@pytest.mark.parametrize("which", ["example", "all right", "two questions", "all the same"])
def test_a_higher_level_gives_a_wider_interval(name: str, which: str) -> None:
    """No narrower where one question or two say all there is, or the interval is all of the scale."""
    data = SMALL if which == "example" else EDGES[which]
    try:
        found = [estimates(STATISTICS[name](replace(data, level=level))) for level in (0.8, 0.95, 0.99)]
    except ValueError:
        assert name in REFUSE
        return
    for narrow, wide in pairwise(found):
        for where in narrow.keys() & wide.keys():
            one, two = narrow[where], wide[where]
            assert two.value == pytest.approx(one.value), where
            assert one.level < two.level, where
            if one.low is not None and two.low is not None and one.high is not None and two.high is not None:
                assert two.low <= one.low + 1e-12, (where, one, two)
                assert two.high >= one.high - 1e-12, (where, one, two)
                held = one.clusters < 2 or (one.low, one.high) == (0.0, 1.0) or which == "two questions"
                assert held or two.high - two.low > one.high - one.low, (where, one, two)


def taking(*parameters: str) -> list[tuple[str, str]]:
    """Statistics and which of these parameters each takes."""
    return [(name, one) for name in STATISTICS for one in STATISTICS[name].arguments(SMALL) if one in parameters]


@pytest.mark.parametrize(("name", "parameter"), taking("reference", "ratings", "calibration", "labelled"))
@pytest.mark.parametrize("stranger", ["correct", "CORRECT ", "", "Richtig"])
def test_strangers_to_the_scale_are_refused(name: str, parameter: str, stranger: str) -> None:
    odd: Any = [*SMALL.reference[:-1], stranger]
    if parameter == "ratings":
        odd = [*SMALL.ratings[:-1], [*SMALL.ratings[-1][:-1], stranger]]
    elif parameter != "reference":
        odd = LabelledItems(odd, SMALL.counts, SMALL.clusters)
    with pytest.raises(ValueError, match=r"\[\d+\]: label not on the scale, got .*; expected one of \["):
        STATISTICS[name](SMALL, **{parameter: odd})


def with_counts(name: str, parameter: str, row: list[Any]) -> Any:
    """The argument with this row of counts as its last."""
    given = STATISTICS[name].arguments(SMALL)[parameter]
    if parameter == "counts":
        return [given[0], [*given[1][:-1], row]] if name.startswith("crossed") else [*given[:-1], row]
    rows = [*given.counts[:-1], row]
    if isinstance(given, GradedItems):
        return GradedItems(rows, given.clusters)
    return LabelledItems(given.reference, rows, given.clusters)


OF_COUNTS = taking("counts", "benchmark", "calibration", "labelled", "unlabelled")
OF_COUNTS = [pair for pair in OF_COUNTS if pair not in {("powered_mean", "unlabelled"), ("tune_power", "unlabelled")}]


@pytest.mark.parametrize(("name", "parameter"), OF_COUNTS)
@pytest.mark.parametrize(
    "row", [[-1, 0, 0], [0.5, 0, 0], [float("nan"), 0, 0], [float("inf"), 0, 0], ["2", 0, 0], [0, 1]]
)
def test_impossible_and_ragged_counts_are_refused(name: str, parameter: str, row: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"^counts: .*, got .*; expected "):
        STATISTICS[name](SMALL, **{parameter: with_counts(name, parameter, row)})


PROPORTIONS = {"score_gradient", "score_value"}
"""Take any proportions over any axes, unchecked: draws of shares, and sums."""

OF_SHARES = [pair for pair in taking("shares") if pair[0] not in PROPORTIONS]
OF_SHARES += [(name, one) for name, one in taking("first", "second") if "score" in name]


@pytest.mark.parametrize(("name", "parameter"), OF_SHARES)
@pytest.mark.parametrize(
    "row", [[-0.5, 0.5, 1.0], [0.5, 0.2, 0.2], [1.5, -0.5, 0.0], [float("inf"), 0, 0], [float("nan"), 0.5, 0.5]]
)
def test_rows_that_are_no_shares_are_refused(name: str, parameter: str, row: list[float]) -> None:
    given = np.asarray(STATISTICS[name].arguments(SMALL)[parameter]).tolist()
    with pytest.raises(ValueError, match=FORM):
        STATISTICS[name](SMALL, **{parameter: [*given[:-1], row]})


def of_numbers() -> list[tuple[str, str]]:
    pairs = taking("values", "item_means", "first", "second", "truth", "predicted", "unlabelled", "shares", "scores")
    pairs += taking("means", "baseline", "changed")
    return [
        (name, one)
        for name, one in pairs
        if name not in OF_DRAWS | PROPORTIONS
        and not name.startswith("corrected_differences")
        and (name, one) != ("powered_scores", "unlabelled")
    ]


@pytest.mark.parametrize(("name", "parameter"), of_numbers())
@pytest.mark.parametrize("kind", ["infinite", "text", "ragged"])
def test_what_are_no_numbers_is_refused(name: str, parameter: str, kind: str) -> None:
    """Text and rows of unequal length are refused as arrays are made, in numpy's words."""
    given = np.asarray(STATISTICS[name].arguments(SMALL)[parameter], dtype=object).tolist()
    one: Any = {"infinite": float("inf"), "text": "much", "ragged": [0.5, [0.5]]}[kind]
    rows = given[0] if name == "crossed_components" else given
    rows[-1] = [*rows[-1][:-1], one] if isinstance(rows[-1], list) else one
    words = FORM if kind == "infinite" else "could not convert|inhomogeneous|array element with a sequence|expected"
    with pytest.raises(ValueError, match=words):
        STATISTICS[name](SMALL, **{parameter: given})


@pytest.mark.parametrize(
    ("name", "parameter"), taking("clusters", "first_clusters", "second_clusters", "unlabelled_clusters", "strata")
)
@pytest.mark.parametrize("by", [-1, 1])
def test_lengths_that_differ_are_refused(name: str, parameter: str, by: int) -> None:
    given = list(STATISTICS[name].arguments(SMALL)[parameter])
    with pytest.raises(ValueError, match=FORM):
        STATISTICS[name](SMALL, **{parameter: given[:-1] if by < 0 else [*given, "q1"]})


@pytest.mark.parametrize(("name", "parameter"), taking("reference", "ratings"))
def test_labels_that_are_too_few_are_refused(name: str, parameter: str) -> None:
    few: Any = SMALL.reference[:-1] if parameter == "reference" else [*SMALL.ratings[:-1], SMALL.ratings[-1][:-1]]
    with pytest.raises(ValueError, match=FORM):
        STATISTICS[name](SMALL, **{parameter: few})


def test_lengths_that_differ_by_as_much_in_two_samples_are_refused() -> None:
    """One question too few in the first and one too many in the second would move every question by one."""
    for name, first, second in (
        ("powered_mean", "clusters", "unlabelled_clusters"),
        ("paired_score_differences", "first_clusters", "second_clusters"),
    ):
        given = STATISTICS[name].arguments(SMALL)
        with pytest.raises(ValueError, match=FORM):
            STATISTICS[name](SMALL, **{first: given[first][:-1], second: ["q1", *given[second]]})


@pytest.mark.parametrize(("name", "_"), taking("labels"))
@pytest.mark.parametrize("labels", [("CORRECT", "CORRECT", "INCORRECT"), (), "CORRECT"])
def test_scales_that_are_none_are_refused(name: str, _: str, labels: Any) -> None:
    """Some first see that there are not as many labels as columns."""
    with pytest.raises(ValueError, match=FORM):
        STATISTICS[name](SMALL, labels=labels)


@pytest.mark.parametrize(("name", "parameter"), taking("positive", "correct", "scale_level", "not_attempted"))
def test_roles_that_are_not_on_the_scale_are_refused(name: str, parameter: str) -> None:
    with pytest.raises(ValueError, match=rf"^{parameter}: .+, got 'RIGHT'; expected one of "):
        STATISTICS[name](SMALL, **{parameter: "RIGHT"})


DRAW_NOTHING = {"benchmark_scores", "correct_scores", "corrected_differences", "corrected_pairs"}
DRAW_NOTHING |= {"paired_score_differences", "unpaired_score_differences"}
DRAW_NOTHING |= {name for name in STATISTICS if name.startswith("rate_interval") and "bootstrap" not in name}
"""Have resamples for another method than the one in the table."""


@pytest.mark.parametrize("name", [name for name, _ in taking("resamples") if name not in DRAW_NOTHING])
def test_no_resamples_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"^resamples: .+, got 0; expected "):
        STATISTICS[name](SMALL, resamples=0)
