from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.item import Item, content_digest
from calibration_sets.references.reference import Reference

ITEM = Item("a", "Q?", Reference("A", "A", ("A",), ("B",)), "R", "c")


def test_the_digest_is_that_of_what_a_grader_sees() -> None:
    text = '{"aliases":["B"],"question":"Q?","reference":"A","response":"R"}'
    assert ITEM.digest == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"question": "Q"},
        {"response": "R "},
        {"response": ""},
        {"reference": Reference("A.", "A", ("A",), ("B",))},
        {"reference": Reference("A", "A", ("A",), ("C",))},
    ],
)
def test_other_content_has_another_digest(change: dict[str, Any]) -> None:
    assert replace(ITEM, **change).digest != ITEM.digest


@pytest.mark.parametrize(
    "change",
    [{"item_id": "b"}, {"cluster_id": "d"}, {"kind": "k"}, {"topic": "t"}, {"respondent": "r"}, {"metadata": {"x": 1}}],
)
def test_what_a_grader_does_not_see_does_not_change_the_digest(change: dict[str, Any]) -> None:
    assert replace(ITEM, **change).digest == ITEM.digest


def test_what_is_derived_from_the_reference_does_not_change_the_digest() -> None:
    assert replace(ITEM, reference=Reference("A", "other", ("x", "y"), ("B",))).digest == ITEM.digest


def test_text_cannot_move_from_one_field_to_the_next_unseen() -> None:
    one = replace(ITEM, question="Q", response="xR")
    assert one.digest != replace(ITEM, question="Qx", response="R").digest


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])), st.lists
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), plain))
def test_the_order_of_keys_does_not_change_a_digest(content: dict[str, Any]) -> None:
    assert content_digest(content) == content_digest(dict(reversed(content.items())))


def test_not_a_number_has_no_digest() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        content_digest({"a": float("nan")})
