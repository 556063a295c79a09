"""Counting verdicts: one place for each, strangers refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from calibration_sets.item import Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from experiments.reports.inputs import GraderResults
from experiments.reports.plain import content_rng, estimate_fields, plain_value
from experiments.reports.sample import build_sample
from experiments.stats.estimate import Estimate
from graders.verdict import Verdict

ITEMS = [Item(f"i{n}", f"q{n}", Reference("a", "a"), f"r{n}", f"q{n}") for n in range(3)]


def say(item: int, repeat: int, label: str | None = "CORRECT", grader_id: str = "g") -> Verdict:
    return Verdict(ITEMS[item].digest, grader_id, repeat, label, None if label else "empty", "robust")


def count(verdicts: Sequence[Verdict], *, repeats: int | None = 2, items: Sequence[Item] = ITEMS) -> Any:
    asked = {} if repeats is None else {"repeats": repeats}
    results = GraderResults("g", None, None, "replay/x", asked, [], [], verdicts)
    return build_sample(results, items, {"i0": "CORRECT", "i2": "INCORRECT"}, scale=SIMPLEQA)


def test_counts_failures_and_absent_repeats() -> None:
    sample = count([say(0, 0), say(0, 1, "INCORRECT"), say(1, 0, None)])
    assert sample.counts.tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert sample.failure_counts == {"empty": 1, "not_answered": 1 + 2}
    assert (sample.n_verdicts, sample.n_expected, sample.coverage) == (2, 6, 2 / 6)
    assert [item.item_id for item in sample.labelled.items] == ["i0", "i2"]


def test_items_are_in_the_order_of_their_ids() -> None:
    assert [item.item_id for item in count([], items=ITEMS[::-1]).items] == ["i0", "i1", "i2"]


def test_repeats_may_be_numbered_from_anywhere() -> None:
    assert count([say(0, 7), say(0, 9)]).counts[0].tolist() == [0, 0, 2]


def test_repeats_that_are_not_told_are_the_most_that_an_item_got() -> None:
    assert count([say(0, 0), say(0, 1), say(0, 2), say(1, 0)], repeats=None).expected == 3
    assert count([], repeats=None).expected == 1


def test_a_verdict_given_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="given twice"):
        count([say(0, 0), say(0, 0, "INCORRECT")])


def test_more_verdicts_than_asked_for_is_an_error() -> None:
    with pytest.raises(ValueError, match="3 verdicts of one item; expected 2 or fewer"):
        count([say(0, repeat) for repeat in range(3)])


def test_verdicts_of_another_grader_or_run_are_errors() -> None:
    with pytest.raises(ValueError, match="grader 'other'; expected 'g'"):
        count([say(0, 0, grader_id="other")])
    with pytest.raises(ValueError, match="outside the run"):
        count([say(2, 0)], items=ITEMS[:2])


def test_a_label_off_the_scale_is_an_error() -> None:
    with pytest.raises(ValueError, match="label 'MAYBE'; expected one of"):
        count([say(0, 0, "MAYBE")])


def test_labels_given_needs_a_label_for_each_item() -> None:
    sample = count([])
    assert sample.labelled.labels_given == ["CORRECT", "INCORRECT"]
    with pytest.raises(ValueError, match="1 items without a label"):
        _ = sample.labels_given


def test_estimates_become_plain_and_refuse_nan() -> None:
    estimate = Estimate(np.float64(0.5), 0.1, 0.9, 0.95, "m", n=2, clusters=2, repeats=1)
    assert type(estimate_fields(estimate)["value"]) is float
    with pytest.raises(ValueError, match="not finite"):
        estimate_fields(replace(estimate, value=float("nan")))


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ({"a": (1, 2.5, None, True)}, {"a": [1, 2.5, None, True]}),
        ({1: {"x": float("nan")}}, {"1": {"x": "nan"}}),
        ({"s": frozenset({"b", "a"})}, {"s": ["a", "b"]}),
        (np.int64(3), 3),
        (b"raw", "b'raw'"),
    ],
)
def test_plain_values(value: object, plain: object) -> None:
    assert plain_value(value) == plain


def test_generators_depend_on_content_alone() -> None:
    assert content_rng("a", "b").random() == content_rng("a", "b").random()
    assert content_rng("a", "b").random() != content_rng("ab").random()
