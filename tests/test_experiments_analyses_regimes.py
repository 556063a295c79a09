"""Losses and groups from scores that are given: arithmetic, what is missing, and what may be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.analyses.regimes.comparing import RegimeComparison
from experiments.analyses.regimes.losses import ALL_MODELS, Loss, measure_losses
from experiments.analyses.regimes.regime_scores import RegimeCell, RegimeScores
from experiments.analyses.regimes.regimes_words import decision_text
from experiments.analyses.regimes.trait_groups import group_by_traits
from experiments.analyses.regimes.trait_slopes import measure_slopes
from experiments.regimes.regime_names import REGIMES, RegimeName
from experiments.respondents.grid import GridCell
from experiments.stats.comparisons.paired_comparison import paired_comparison

Column = Sequence[float | None]


def cell(values: Column) -> RegimeCell:
    """A score a question, ``None`` where nothing is there."""
    scores = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    lost = np.isnan(scores)
    counts = GridCell("m", "p", (), np.zeros((0, 2)), np.zeros(0), 0, 0)
    return RegimeCell(scores, np.nan_to_num(scores), np.where(lost, 1.0, scores), counts)


def scores_of(columns: Mapping[str, Mapping[RegimeName, Column]], **traits: Column) -> RegimeScores:
    first = next(iter(columns.values()))
    n = len(next(iter(first.values())))
    return RegimeScores(
        run_id="r",
        grader="g",
        repeats=2,
        clusters=tuple(f"c{place}" for place in range(n)),
        models=tuple(columns),
        regimes=tuple(regime for regime in REGIMES if regime in first),
        cells={(model, regime): cell(values) for model, own in columns.items() for regime, values in own.items()},
        traits={name: cell(values).scores for name, values in traits.items()},
    )


def by_name(found: Sequence[Loss], model: str = "m") -> dict[str, Loss]:
    return {loss.name: loss for loss in found if loss.model == model}


ONE: Mapping[RegimeName, Column] = {
    "instruction_only": [0, 0, 0.25, 0, 0, 0.25, 0, 0],
    "concepts_only": [1, 1, 1, 0.75, 1, 1, 1, 1],
    "related_documents": [1, 0.75, 0.75, 0.75, 1, 0.75, 0.5, 1],
    "full_set": [1, 0.5, 0.75, 0.5, 0.75, 0.75, 0.5, 0.75],
}


def test_losses_are_mean_differences_and_the_two_retrieval_losses_differ_by_the_noise() -> None:
    found = by_name(measure_losses(scores_of({"m": ONE}), level=0.95))
    value = {name: loss.difference.estimate.value for name, loss in found.items()}
    assert value["knowledge"] == pytest.approx((7.75 - 0.5) / 8)
    assert value["retrieval, related"] == pytest.approx((7.75 - 6.5) / 8)
    assert value["noise"] == pytest.approx((6.5 - 5.5) / 8)
    assert value["retrieval, full set"] == pytest.approx((7.75 - 5.5) / 8)
    # All eight differences are positive: two of 2**8 signs are as extreme; Holm's first of four.
    assert found["knowledge"].difference.p_value == pytest.approx(2 / 2**8)
    assert found["knowledge"].adjusted == pytest.approx(4 * 2 / 2**8)
    assert found["knowledge"].outcome == "loss"
    assert found["noise"].outcome == "undecided"


def test_a_loss_is_the_paired_comparison_of_its_two_columns() -> None:
    scores = scores_of({"m": ONE})
    alone = paired_comparison(
        ONE["concepts_only"], ONE["full_set"], scores.clusters, rng=np.random.default_rng(0), repeats=2
    )
    found = by_name(measure_losses(scores, level=0.95))["retrieval, full set"]
    assert found.difference == alone.difference


def test_the_average_weighs_models_alike() -> None:
    other = {**ONE, "concepts_only": [0.0] * 8}
    found = measure_losses(scores_of({"m": ONE, "n": other}), level=0.95)
    assert len(found) == 4 * 3
    one, two, both = (by_name(found, model)["knowledge"] for model in ("m", "n", ALL_MODELS))
    assert both.difference.estimate.value == pytest.approx(
        ((one.difference.estimate.value or 0) + (two.difference.estimate.value or 0)) / 2
    )


def test_what_is_missing_is_left_out_of_its_pairs_and_can_hold_a_loss_back() -> None:
    columns = {**ONE, "instruction_only": [None] * 3 + [0.0] * 5, "concepts_only": [1.0] * 8}
    scores = scores_of({"m": {**columns, "concepts_only": [*[1.0] * 7, None]}})
    loss = by_name(measure_losses(scores, level=0.5))["knowledge"]
    assert (loss.left_out, loss.difference.estimate.n, loss.difference.estimate.value) == (4, 4, 1.0)
    assert loss.worst is not None
    # Three questions could be 1 - 1, one 0 - 0; or all 1 - 0.
    assert [one.value for one in loss.worst] == [pytest.approx(4 / 8), pytest.approx(1.0)]
    complete = by_name(measure_losses(scores_of({"m": {**columns, "instruction_only": [0.0] * 8}}), level=0.95))
    assert complete["knowledge"].worst is None
    assert complete["knowledge"].left_out == 0


def test_a_loss_that_the_missing_could_overturn_is_not_shown_and_is_told_so() -> None:
    given: Mapping[RegimeName, Column] = {
        "related_documents": [*[1.0] * 8, *[None] * 9],
        "full_set": [*[0.75] * 7, 0.5, *[0.5] * 9],
    }
    scores = scores_of({"m": given})
    (loss,) = measure_losses(scores, level=0.95)
    assert (loss.adjusted or 1) < 0.05
    assert loss.outcome == "undecided"
    text = decision_text(RegimeComparison(scores, 0.95, (), (loss,), ()))
    assert "Shown:" not in text
    assert "Not decided, as what is missing could overturn it: noise loss of m (related - full set +0.281" in text


def test_a_gain_is_told_as_the_opposite() -> None:
    scores = scores_of({"m": {"related_documents": [0.0] * 9 + [0.25], "full_set": [1.0] * 10}})
    found = measure_losses(scores, level=0.95)
    assert [loss.outcome for loss in found] == ["gain"]
    assert "The opposite is shown, a gain: noise loss of m" in decision_text(
        RegimeComparison(scores, 0.95, (), found, ())
    )


def test_a_model_without_any_score_has_no_difference_beside_one_with_all() -> None:
    nothing: Mapping[RegimeName, Column] = dict.fromkeys(ONE, [None] * 8)
    found = measure_losses(scores_of({"m": ONE, "n": nothing}), level=0.95)
    silent = by_name(found, "n")["knowledge"]
    assert (silent.difference.estimate.value, silent.difference.p_value, silent.adjusted) == (None, None, None)
    assert (silent.left_out, silent.outcome) == (8, "undecided")
    alone = measure_losses(scores_of({"n": nothing}), level=0.95)
    assert all(loss.difference.estimate.value is None for loss in alone)


@given(st.permutations(range(8)))
def test_the_order_of_questions_changes_nothing(order: list[int]) -> None:
    turned = {regime: [values[place] for place in order] for regime, values in ONE.items()}
    before, after = (measure_losses(scores_of({"m": one}), level=0.95) for one in (ONE, turned))
    assert [loss.difference for loss in before] == [loss.difference for loss in after]


def test_groups_are_single_numbers_up_to_four_and_thirds_beyond() -> None:
    few = group_by_traits(scores_of({"m": ONE}, distractors=[0, 0, 1, 1, 2, 2, 3, 3]), level=0.95)
    assert [(one.low, one.high, one.n_questions) for one in few] == [(n, n, 2) for n in range(4)]
    assert few[0].means["full_set"].value == pytest.approx(0.75)
    assert few[0].noise is not None
    assert few[0].noise.value == pytest.approx(0.125)
    many = group_by_traits(scores_of({"m": ONE}, steps=[1, 2, 3, 4, 5, 6, 7, None]), level=0.95)
    assert sum(one.n_questions for one in many) == 7
    assert [(one.low, one.high) for one in many] == [(1, 3), (4, 5), (6, 7)]


def test_a_number_that_is_the_same_everywhere_makes_no_groups() -> None:
    assert group_by_traits(scores_of({"m": ONE}, concepts=[2] * 8, steps=[None] * 8), level=0.95) == ()


def test_a_group_without_scores_has_no_mean() -> None:
    columns = {**ONE, "full_set": [None, None, 1, 1, 1, 1, 1, 1]}
    first, _ = group_by_traits(scores_of({"m": columns}, concepts=[1, 1, 2, 2, 2, 2, 2, 2]), level=0.95)
    assert (first.means["full_set"].value, first.means["full_set"].n) == (None, 0)
    assert first.noise is not None
    assert first.noise.value is None


def test_slopes_are_least_squares_over_the_questions_that_have_a_score() -> None:
    numbers = [0, 0, 1, 1, 2, 2, 3, 3]
    columns = {**ONE, "full_set": [1, None, 0.75, 0.5, 0.75, 0.75, 0.5, 0.75]}
    found = {one.of: one for one in measure_slopes(scores_of({"m": columns}, distractors=numbers), level=0.95)}
    assert set(found) == {*REGIMES, "noise loss"}
    whole = found["related_documents"]
    assert whole.slope.estimate.value == pytest.approx(np.polyfit(numbers, ONE["related_documents"], 1)[0])
    assert (whole.left_out, whole.bounds) == (0, None)
    lacking = found["full_set"]
    kept = [place for place in range(8) if place != 1]
    full = [columns["full_set"][place] for place in kept]
    assert lacking.slope.estimate.value == pytest.approx(np.polyfit([numbers[place] for place in kept], full, 1)[0])
    assert lacking.left_out == 1
    # The missing score could be 0 or 1: a low one at the low end makes the slope larger.
    ends = [np.polyfit(numbers, [1, value, *columns["full_set"][2:]], 1)[0] for value in (1, 0)]
    assert lacking.bounds == (pytest.approx(ends[0]), pytest.approx(ends[1]))
    assert found["noise loss"].left_out == 1
    raw = [one.slope.p_value for one in found.values()]
    assert all((one.adjusted or 0) >= (p or 0) for one, p in zip(found.values(), raw, strict=True))


def test_a_number_that_is_the_same_everywhere_or_told_of_none_has_no_slope() -> None:
    assert measure_slopes(scores_of({"m": ONE}, concepts=[2] * 8, steps=[None] * 8), level=0.95) == ()


def test_questions_without_the_number_are_no_part_of_its_slope() -> None:
    scores = scores_of({"m": ONE}, steps=[1, 2, 3, 4, None, None, None, None])
    found = measure_slopes(scores, level=0.95)
    assert all(one.slope.estimate.n == 4 and one.left_out == 0 for one in found)
    assert {one.of for one in found} == set(REGIMES)
