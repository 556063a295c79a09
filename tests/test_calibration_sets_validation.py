from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.records import SetHeader
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import BINARY
from calibration_sets.validation import Finding, compare_sets, validate_set

HEADER = SetHeader("tiny", "1.0.0", "own@1.0.0", BINARY, "human", "CC0-1.0", "here", "Tiny.")


def item(
    item_id: str,
    *,
    question: str | None = None,
    reference: str = "Elbe",
    response: str = "x",
    cluster: str | None = None,
) -> Item:
    question = question or f"Question {item_id}?"
    return Item(item_id, question, parse_reference(reference), response, cluster or question)


def labelled(items: Sequence[Item], labels: Sequence[str], header: SetHeader = HEADER) -> CalibrationSet:
    """``labels`` has one text an item, a letter C or I for each rater."""
    words = {"C": "CORRECT", "I": "INCORRECT"}
    given = [
        HumanLabel(one.item_id, one.digest, f"rater{n}", words[letter], header.rubric)
        for one, letters in zip(items, labels, strict=True)
        for n, letter in enumerate(letters)
    ]
    return header.with_content(tuple(items), tuple(given))


def codes(calibration_set: CalibrationSet) -> list[str]:
    return [finding.code for finding in validate_set(calibration_set)]


def finding(calibration_set: CalibrationSet, code: str) -> Finding:
    (found,) = [one for one in validate_set(calibration_set) if one.code == code]
    return found


SOUND = labelled([item("a"), item("b")], ["CC", "II"])


def test_a_sound_set_has_no_findings() -> None:
    assert validate_set(SOUND) == []


def test_asymmetric_ranges_are_found_once_a_reference() -> None:
    text = "10 km (acceptable range: anything between 9 km and 15 km)"
    items = [item("a", question="Q", reference=text), item("b", question="Q", reference=text, response="y")]
    found = [one for one in validate_set(labelled(items, ["CC", "II"])) if one.code == "reference"]
    assert [one.items for one in found] == [("a", "b")]


def test_targets_outside_their_range_are_found() -> None:
    text = "10 km (acceptable range: anything between 11 km and 15 km)"
    assert "reference" in codes(labelled([item("a", reference=text), item("b")], ["CC", "II"]))


def test_duplicates_that_agree() -> None:
    items = [item("a", question="Q"), item("b", question="Q"), item("c")]
    assert finding(labelled(items, ["CC", "CC", "II"]), "duplicate-content").items == ("a", "b")


def test_duplicates_that_contradict_each_other() -> None:
    items = [item("a", question="Q"), item("b", question="Q")]
    found = finding(labelled(items, ["CC", "II"]), "contradicting-duplicates")
    assert found.message == "same question, reference and response, but labels CORRECT, INCORRECT"


def test_one_question_with_two_references() -> None:
    items = [item("a", question="Q"), item("b", question="Q", reference="Labe")]
    assert finding(labelled(items, ["CC", "II"]), "several-references").items == ("a", "b")


def test_one_question_in_two_clusters() -> None:
    items = [item("a", question="Q", cluster="1"), item("b", question="Q ", response="y", cluster="2")]
    assert finding(labelled(items, ["CC", "II"]), "split-question").message.startswith("one question in clusters 1, 2")


def test_unlabelled_items_and_ties() -> None:
    items = [item(name) for name in "abcd"]
    found = labelled(items, ["CC", "II", "CI", ""])
    assert finding(found, "tie").items == ("c",)
    assert finding(found, "unlabelled").items == ("d",)


def test_no_labels_at_all_is_one_finding() -> None:
    assert codes(HEADER.with_content((item("a"),), ())) == ["no-labels"]


def test_one_rater_an_item() -> None:
    items = [item("a"), item("b")]
    assert codes(labelled(items, ["C", "I"])) == ["single-rater"]
    assert codes(labelled(items, ["CC", "I"])) == []
    assert codes(labelled(items, ["C", "I"], replace(HEADER, label_source="construction"))) == []


def test_labels_that_never_come() -> None:
    assert finding(labelled([item("a")], ["CC"]), "absent-label").message.startswith("no item is INCORRECT")


@pytest.mark.parametrize(("n_rare", "expected"), [(1, ["rare-label"]), (2, ["rare-label"]), (3, [])])
def test_labels_that_come_rarely(n_rare: int, expected: list[str]) -> None:
    items = [item(str(n)) for n in range(27 + n_rare)]
    assert codes(labelled(items, ["CC"] * 27 + ["II"] * n_rare)) == expected


def test_scales_without_a_positive_label() -> None:
    assert codes(labelled(SOUND.items, ["CC", "II"], replace(HEADER, scale=replace(BINARY, positive=None)))) == [
        "no-positive-label"
    ]


def test_labels_under_another_rubric() -> None:
    one = SOUND.items[0]
    more = (*SOUND.human_labels, HumanLabel(one.item_id, one.digest, "x", "INCORRECT", "other@1.0.0"))
    found = HEADER.with_content(SOUND.items, more)
    assert finding(found, "other-rubric").message == "1 labels under other@1.0.0, not the set's own@1.0.0"


def test_equal_sets_do_not_differ() -> None:
    assert compare_sets(SOUND, SOUND) == []


def test_corrected_references_are_named_with_both_texts() -> None:
    before, after = (labelled([item("a", reference=text)], ["CC"]) for text in ("12 May 1994", "19 May 1994"))
    assert compare_sets(before, after) == [
        Finding("reference-changed", "reference was '12 May 1994', is '19 May 1994'", ("a",))
    ]


def test_changed_aliases_are_a_changed_reference() -> None:
    one = item("a")
    other = replace(one, reference=parse_reference("Elbe", ["Labe"]))
    (found,) = compare_sets(labelled([one], ["CC"]), labelled([other], ["CC"]))
    assert found.message == "aliases were [], are ['Labe']"


def test_all_changes_between_two_versions() -> None:
    before = labelled([item("gone"), item("q"), item("r"), item("l")], ["CC"] * 4)
    after = labelled(
        [item("q", question="New?"), item("r", response="y"), item("l"), item("new")], ["CC", "CC", "II", "CC"]
    )
    assert [(found.code, found.items) for found in compare_sets(before, after)] == [
        ("added", ("new",)),
        ("removed", ("gone",)),
        ("question-changed", ("q",)),
        ("response-changed", ("r",)),
        ("label-changed", ("l",)),
    ]
