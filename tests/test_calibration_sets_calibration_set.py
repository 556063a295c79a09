from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.calibration_set import CalibrationSet, strict_majority
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import BINARY

ITEMS = tuple(Item(name, f"{name}?", Reference("A", "A"), "R", name) for name in "abcd")


def label(item_id: str, rater: str, given: str, rubric: str = "own@1.0.0") -> HumanLabel:
    digest = next(item.digest for item in ITEMS if item.item_id == item_id)
    return HumanLabel(item_id, digest, rater, given, rubric)


LABELS = (
    label("a", "x", "CORRECT"),
    label("a", "y", "CORRECT"),
    label("b", "x", "CORRECT"),
    label("b", "y", "INCORRECT"),
    label("c", "x", "INCORRECT"),
    label("c", "y", "CORRECT"),
    label("c", "z", "INCORRECT"),
    label("a", "x", "INCORRECT", "other@1.0.0"),
)
SET = CalibrationSet("s", "1.0.0", "own@1.0.0", BINARY, "human", "CC0", "here", "S.", ITEMS, LABELS)


@pytest.mark.parametrize(
    ("labels", "majority"),
    [
        ([], None),
        (["a"], "a"),
        (["a", "b"], None),
        (["a", "a", "b"], "a"),
        (["a", "a", "b", "b"], None),
        (["a", "a", "b", "c"], None),
    ],
)
def test_a_majority_is_more_than_half(labels: list[str], majority: str | None) -> None:
    assert strict_majority(labels) == majority


@given(st.lists(st.sampled_from("abc")), st.randoms())
def test_the_order_of_raters_does_not_matter(labels: list[str], random: object) -> None:
    assert strict_majority(labels) == strict_majority(sorted(labels))


def test_ties_and_unlabelled_items_are_not_resolved() -> None:
    consensus = SET.consensus()
    assert consensus.labels == {"a": "CORRECT", "c": "INCORRECT"}
    assert (consensus.tied, consensus.unlabelled, consensus.disputed) == (("b",), ("d",), ("b", "c"))


def test_each_rubric_has_its_own_consensus() -> None:
    assert SET.rubrics == ("own@1.0.0", "other@1.0.0")
    assert SET.consensus("other@1.0.0").labels == {"a": "INCORRECT"}
    assert SET.consensus("none@1.0.0").unlabelled == ("a", "b", "c", "d")


def test_order_does_not_change_the_digest() -> None:
    assert replace(SET, items=ITEMS[::-1], human_labels=LABELS[::-1]).digest == SET.digest


@pytest.mark.parametrize(
    "changed",
    [
        replace(SET, items=ITEMS[:3]),
        replace(SET, human_labels=LABELS[:-1]),
        replace(SET, human_labels=(*LABELS[:-1], replace(LABELS[-1], rubric="own@2.0.0"))),
        replace(SET, human_labels=(*LABELS[:-1], replace(LABELS[-1], rater="q"))),
        replace(SET, items=(*ITEMS[:3], replace(ITEMS[3], reference=Reference("B", "B")))),
        replace(SET, items=(*ITEMS[:3], replace(ITEMS[3], cluster_id="a"))),
        replace(SET, scale=replace(BINARY, labels=("CORRECT", "INCORRECT"))),
    ],
)
def test_what_statistics_depend_on_changes_the_digest(changed: CalibrationSet) -> None:
    assert changed.digest != SET.digest


def test_provenance_does_not_change_the_digest() -> None:
    assert replace(SET, name="t", version="2.0.0", description="T.", source="there").digest == SET.digest
