"""Which items an experiment judges: by kind, by seed, in the set's order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import BINARY
from experiments.errors import SpecError
from experiments.specs.selection import Selection, select_items


def build_set(kinds: str) -> CalibrationSet:
    """One item a letter, whose kind is the letter."""
    items = tuple(
        Item(f"i{n}", f"question {n}", Reference("r", "r"), "response", f"c{n}", kind=kind)
        for n, kind in enumerate(kinds)
    )
    labels = tuple(HumanLabel(item.item_id, item.digest, "rater", "CORRECT", "r@1.0.0") for item in items)
    return CalibrationSet("s", "1.0.0", "r@1.0.0", BINARY, "human", "MIT", "here", "", items, labels)


def kinds_of(calibration_set: CalibrationSet) -> Counter[str | None]:
    return Counter(item.kind for item in calibration_set.items)


def test_without_a_selection_all_is_kept() -> None:
    whole = build_set("aabbc")
    assert select_items(whole, Selection(), where="x") == whole


def test_a_stratified_sample_is_even_over_kinds_as_far_as_they_go() -> None:
    drawn = select_items(build_set("a" * 50 + "b" * 50 + "c" * 2), Selection(sample=12, stratify="kind"), where="x")
    assert kinds_of(drawn) == {"a": 5, "b": 5, "c": 2}


def test_a_limited_sample_is_even_too_and_part_of_the_whole_sample() -> None:
    whole = build_set("a" * 50 + "b" * 50)
    limited = select_items(whole, Selection(sample=20, stratify="kind", limit=6), where="x")
    sample = select_items(whole, Selection(sample=20, stratify="kind"), where="x")
    assert kinds_of(limited) == {"a": 3, "b": 3}
    assert set(limited.items) <= set(sample.items)


def test_labels_of_items_that_are_left_out_are_left_out() -> None:
    drawn = select_items(build_set("abc"), Selection(limit=2), where="x")
    assert [label.item_id for label in drawn.human_labels] == ["i0", "i1"]


@given(order=st.permutations(range(12)), seed=st.integers(0, 5))
def test_the_draw_does_not_depend_on_the_order_in_the_file(order: list[int], seed: int) -> None:
    whole = build_set("aaaabbbbcccc")
    shuffled = replace(whole, items=tuple(whole.items[n] for n in order))
    selection = Selection(sample=5, stratify="kind", seed=seed)
    drawn = {item.item_id for item in select_items(whole, selection, where="x").items}
    assert drawn == {item.item_id for item in select_items(shuffled, selection, where="x").items}


def test_another_seed_draws_other_items() -> None:
    whole = build_set("a" * 100)
    draws = {
        tuple(item.item_id for item in select_items(whole, Selection(sample=10, seed=seed), where="x").items)
        for seed in range(5)
    }
    assert len(draws) == 5


def test_an_excluded_kind_that_does_not_occur_is_an_error() -> None:
    with pytest.raises(SpecError, match=r"x: items.exclude_kinds: \['lnog'\] not in the set; expected some of \['a'\]"):
        select_items(build_set("aa"), Selection(exclude_kinds=("lnog",)), where="x")


def test_a_selection_that_leaves_nothing_is_an_error() -> None:
    with pytest.raises(SpecError, match="none of 2 is left"):
        select_items(build_set("aa"), Selection(exclude_kinds=("a",)), where="x")
