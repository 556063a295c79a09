"""Precision, recall and F1 of lists against scikit-learn's multi-label form, and where they are not defined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support

from experiments.stats.scores import concept_scores

FIELDS = ("precision", "recall", "f1")


def test_single_verdicts_give_the_figures_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    wanted, used = rng.random((80, 6)) < 0.5, rng.random((80, 6)) < 0.5
    wanted[:, 0] = used[:, 0] = True  # so that every item has its own scores
    tallies = [
        [(int((one & two).sum()), int((~one & two).sum()), int((one & ~two).sum()))]
        for one, two in zip(wanted, used, strict=True)
    ]
    found = concept_scores(tallies, range(80))
    for kind, average in (("micro", "micro"), ("macro", "samples")):
        expected = precision_recall_fscore_support(wanted, used, average=average)
        shown = [getattr(found, f"{kind}_{field}") for field in FIELDS]
        assert [one.value for one in shown] == pytest.approx(list(expected[:3]))
        assert all(one.low < one.value < one.high for one in shown)


def test_what_cannot_be_divided_is_left_out_and_not_0() -> None:
    found = concept_scores([[(0, 0, 2)], [(1, 1, 0)], []], "abc")
    assert (found.macro_precision.value, found.macro_precision.n) == (1 / 2, 1)
    assert (found.macro_recall.value, found.macro_recall.n) == ((0 + 1) / 2, 2)
    assert found.micro_recall.value == pytest.approx(1 / 3)
    assert found.micro_f1.value == pytest.approx(2 / (2 + 1 + 2))
    nothing = concept_scores([[], [(0, 0, 0)]], "ab")
    assert {getattr(nothing, f"{kind}_{field}").value for kind in ("micro", "macro") for field in FIELDS} == {None}


def test_several_verdicts_of_an_item_count_as_one() -> None:
    found = concept_scores([[(2, 0, 0), (0, 0, 2)], [(1, 0, 0)]], "ab")
    assert found.macro_recall.value == pytest.approx((1 / 2 + 1) / 2)
    assert found.micro_recall.value == pytest.approx((1 + 1) / (2 + 1))
    assert found.macro_recall.repeats == 2


def test_big_items_weigh_more_in_micro_alone() -> None:
    found = concept_scores([[(9, 0, 1)], [(0, 0, 1)]], "ab")
    assert found.micro_recall.value == pytest.approx(9 / 11)
    assert found.macro_recall.value == pytest.approx((9 / 10 + 0) / 2)


@pytest.mark.parametrize("tallies", [[[(1, 2)]], [[(1, -1, 0)]], [[(0.5, 0, 0)]]])
def test_what_are_no_tallies_is_refused(tallies: Any) -> None:
    with pytest.raises(ValueError, match=r"^tallies\[0\]: "):
        concept_scores(tallies, "a")
