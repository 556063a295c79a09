"""Items whose most frequent label moved between two graders."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.analyses.choice.candidates import read_candidates, read_labelled
from experiments.analyses.choice.moved_items import DIRECTIONS, MovedItems, find_moved
from experiments.analyses.choice.moved_page import moved_document, moved_fields, moved_text
from experiments.reports import RunData
from experiments.reports.render_text import render_document
from experiments.stats.comparisons import paired_comparison


def moved_of(
    runs: Any, people: str, first: list[str], second: list[str], *, kinds: list[str | None] | None = None
) -> MovedItems:
    items = [
        runs.item(number, kind=kinds[number] if kinds else None, response=f"said {number}\x1b[2J")
        for number in range(len(people))
    ]
    results = [
        replace(
            runs.grader(runs.verdicts(items, letters, name), max(map(len, letters), default=1), grader_id=name),
            model=name,
            prompt=None,
        )
        for name, letters in (("first", first), ("second", second))
    ]
    data = RunData("run-1", "exp", runs.labelled(items, list(people)), len(items), "robust", results)
    contest = read_labelled(data).contest
    ours, theirs = read_candidates(contest)
    return find_moved(ours, theirs, contest, level=0.95)


def test_directions_are_told_against_people_s_label(runs: Any) -> None:
    moved = moved_of(runs, "CIICN", ["C", "C", "C", "C", "N"], ["I", "I", "N", "C", "I"])
    assert {one.item.item_id: one.direction for one in moved.items} == {
        "item-000": "right to wrong",
        "item-001": "wrong to right",
        "item-002": "wrong to wrong",
        "item-004": "right to wrong",
    }
    assert [moved.count(direction) for direction in DIRECTIONS] == [2, 1, 1]
    assert (moved.n_items, moved.n_compared) == (5, 5)


def test_ties_and_missing_verdicts_move_nothing_and_are_counted(runs: Any) -> None:
    moved = moved_of(runs, "CCCC", ["CI", "--", "CC", "C-"], ["II", "II", "??", "II"])
    assert [one.item.item_id for one in moved.items] == ["item-003"]
    assert (moved.first_without, moved.second_without, moved.n_compared) == (2, 1, 1)


def test_the_most_certain_stand_first_then_those_with_more_verdicts(runs: Any) -> None:
    moved = moved_of(runs, "CCCC", ["CCI", "CCC", "C", "CCC"], ["III", "III", "III", "IIC"])
    assert [one.item.item_id for one in moved.items] == ["item-001", "item-002", "item-000", "item-003"]
    assert [one.certainty for one in moved.items] == pytest.approx([1, 1, 2 / 3, 2 / 3])
    assert moved.items[0].before_counts["CORRECT"] == 3


def test_kinds_are_counted_by_direction(runs: Any) -> None:
    moved = moved_of(runs, "CCI", ["C", "C", "C"], ["I", "I", "I"], kinds=["b", None, "a"])
    assert list(moved.by_kind) == ["a", "b", None]
    assert moved.by_kind["a"] == {"right to wrong": 0, "wrong to right": 1, "wrong to wrong": 0}
    assert moved.by_kind[None]["right to wrong"] == 1


def test_the_difference_is_the_paired_one_of_the_error_rates(runs: Any) -> None:
    first, second = ["CI", "II", "NN", "CC"], ["CC", "II", "CI", "C-"]
    moved = moved_of(runs, "CCCI", first, second)
    people = "CCCI"
    wrong = [
        [sum(letter != label for letter in row if letter != "-") / len(row.replace("-", "")) for row, label in pairs]
        for pairs in (zip(first, people, strict=True), zip(second, people, strict=True))
    ]
    expected = paired_comparison(
        wrong[0], wrong[1], list("abcd"), rng=np.random.default_rng(20261130), names=("first", "second")
    )
    assert moved.difference == expected


def test_the_page_shows_texts_made_harmless_and_ends_in_what_follows(runs: Any) -> None:
    moved = moved_of(runs, "CCI", ["C", "C", "C"], ["I", "I", "I"], kinds=["b", None, "a"])
    text = render_document(moved_document(moved, run_id="run-1", most=2))
    assert "\x1b" not in text
    assert r'"said 0\x1b[2J"' in text
    assert '"Question 0?"' in text
    assert "Right to wrong (2 of 2 shown)" in text
    assert "Wrong to right" not in text
    flat = " ".join(text.split())
    assert flat.endswith("the most certain stand first.")
    assert "it is not decided which is better" in flat
    fields = json.loads(json.dumps(moved_fields(moved, run_id="run-1", most=2), allow_nan=False))
    assert len(fields["items"]) == 2
    assert fields["n_moved"] == {"right to wrong": 2, "wrong to right": 1, "wrong to wrong": 0}
    assert fields["schema"] == "autorater.moved/1"


def test_a_clear_difference_is_said_to_be_one(runs: Any) -> None:
    moved = moved_of(runs, "C" * 20, ["I"] * 20, ["C"] * 20)
    assert "second makes fewer errors here" in moved_text(moved)
    assert "mends 20 items and spoils 0" in moved_text(moved)


def test_without_verdicts_of_both_nothing_is_said(runs: Any) -> None:
    moved = moved_of(runs, "CC", ["-", "C"], ["C", "-"])
    assert moved.items == ()
    assert "nothing can be said" in moved_text(moved)
    assert "nan" not in render_document(moved_document(moved, run_id="run-1", most=5))


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from("CIN"), *[st.text("CIN-", min_size=1, max_size=3)] * 2), min_size=1, max_size=8)
)
def test_turned_round_the_same_items_move_the_other_way(runs: Any, rows: list[tuple[str, str, str]]) -> None:
    people, first, second = "".join(row[0] for row in rows), [row[1] for row in rows], [row[2] for row in rows]
    there, back = moved_of(runs, people, first, second), moved_of(runs, people, second, first)
    assert there.count("right to wrong") == back.count("wrong to right")
    assert there.count("wrong to right") == back.count("right to wrong")
    assert {one.item.item_id for one in there.items} == {one.item.item_id for one in back.items}
    assert sum(sum(counts.values()) for counts in there.by_kind.values()) == len(there.items)
