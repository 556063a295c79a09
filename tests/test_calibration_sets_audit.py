"""Auditing a set: the sample, its labels, and two versions compared by content."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from curation_samples import ids, make_question
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.audit.audit_folder import count_labels, label_question, read_audit, start_audit
from calibration_sets.audit.audit_sample import draw_sample, extend_sample
from calibration_sets.audit.version_comparison import compare_versions
from calibration_sets.curation.question_file import load_questions
from calibration_sets.errors import SetFileError
from calibration_sets.question import Question
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.tables import read_csv


def _set(sizes: dict[str, int]) -> list[Question]:
    return [make_question(f"{topic}{place}", topic=topic) for topic, n in sizes.items() for place in range(n)]


def test_topics_have_their_share_by_largest_remainders() -> None:
    sample = draw_sample(_set({"Art": 52, "Music": 31, "Sports": 17}), size=10, seed=0)
    assert Counter(one.topic for one in sample) == {"Art": 5, "Music": 3, "Sports": 2}


@pytest.mark.parametrize("n", [1, 49, 50])
def test_all_are_drawn_where_there_are_no_more(n: int) -> None:
    questions = _set({"Art": n})
    assert set(ids(draw_sample(questions, size=50, seed=3))) == set(ids(questions))


@given(st.lists(st.integers(0, 40), min_size=1, max_size=5), st.integers(1, 60), st.integers(1, 60), st.randoms())
def test_an_extension_keeps_what_was_drawn_and_order_does_not_matter(
    sizes: list[int], first: int, more: int, shuffle: random.Random
) -> None:
    questions = _set({f"t{place}": n for place, n in enumerate(sizes)})
    drawn = draw_sample(questions, size=first, seed=1)
    assert len(drawn) == min(first, len(questions))
    shuffled = list(questions)
    shuffle.shuffle(shuffled)
    assert set(draw_sample(shuffled, size=first, seed=1)) == set(drawn)
    if len(questions) > first:
        extended = extend_sample(shuffled, drawn, size=first + more, seed=1)
        assert set(drawn) <= set(extended)
        assert len(set(extended)) == len(extended) == min(first + more, len(questions))
        for topic, n in Counter(one.topic for one in questions).items():
            had = sum(one.topic == topic for one in extended)
            assert abs(had - min(n, (first + more) * n / len(questions))) < 2


def test_every_question_is_as_likely_as_any_other() -> None:
    questions = _set({"Art": 12, "Music": 4})
    drawn = Counter(one.question_id for seed in range(400) for one in draw_sample(questions, size=4, seed=seed))
    assert all(60 < drawn[name] < 140 for name in ids(questions)), "100 each are expected"


def test_an_audit_is_recorded_extended_and_keeps_its_labels(tmp_path: Path) -> None:
    questions = _set({"Art": 80, "Music": 40})
    record = start_audit(questions, tmp_path / "audit", source="set.csv", size=30, seed=7)
    assert read_audit(tmp_path / "audit") == record
    assert record.by_topic == {"Art": 20, "Music": 10}
    first = read_csv(tmp_path / "audit" / "labels.csv").rows[0].cells["question_id"]
    label_question(tmp_path / "audit", first, label="unanswerable", evidence="https://a.example/", note="=both")
    again = start_audit(list(reversed(questions)), tmp_path / "audit", source="set.csv", size=30, seed=7)
    assert again == record
    larger = start_audit(questions, tmp_path / "audit", source="set.csv", size=60, seed=7)
    assert set(record.questions) < set(larger.questions)
    counts = count_labels(tmp_path / "audit")
    assert (counts.labels["unanswerable"], counts.n_open, counts.n_population) == (1, 59, 120)
    for words, told in (
        ({"size": 60, "seed": 8}, "drawn with seed 7, got 8"),
        ({"size": 50, "seed": 7}, "a sample of 60, got 50"),
    ):
        with pytest.raises(SetFileError, match=told):
            start_audit(questions, tmp_path / "audit", source="set.csv", **words)
    with pytest.raises(SetFileError, match=r"an audit of other questions \(set.csv\)"):
        start_audit(questions[1:], tmp_path / "audit", source="other.csv", size=60, seed=7)


def test_labels_are_of_the_sample_and_of_the_list(tmp_path: Path) -> None:
    start_audit(_set({"Art": 3}), tmp_path, source="set.csv", size=50, seed=0)
    with pytest.raises(SetFileError, match="label 'fine'; expected one of OK"):
        label_question(tmp_path, "Art0", label="fine", evidence="", note="")
    with pytest.raises(SetFileError, match=r"labels.csv: question 'Art9' is not in the sample"):
        label_question(tmp_path, "Art9", label="OK", evidence="", note="")
    label_question(tmp_path, "Art0", label="OK", evidence="", note="")
    label_question(tmp_path, "Art1", label="false_positive_possible", evidence="", note="")
    label_question(tmp_path, "Art1", label="false_negative_possible", evidence="", note="")
    counts = count_labels(tmp_path)
    assert counts.labels == {"OK": 1, "unanswerable": 0, "false_negative_possible": 1, "false_positive_possible": 0}
    assert (counts.n_open, counts.n_without_evidence) == (1, 1)
    with pytest.raises(SetFileError, match=r"audit.json: no such file"):
        count_labels(tmp_path / "none")


BEFORE = [
    make_question("a", "Who drew  the map?", "Mary"),
    make_question("b", "How long is it?", "120"),
    make_question("c", "When?", "1865"),
    make_question("d", "Where?", "Ullenby"),
]


def test_a_set_is_the_same_in_another_order_with_other_ids_and_spaces() -> None:
    other = [replace(one, question_id=f"x{one.question_id}", question=f" {one.question} ") for one in reversed(BEFORE)]
    found = compare_versions(BEFORE, other)
    assert found.is_same
    assert found.n_matched == 4


def test_what_changed_is_listed_by_kind() -> None:
    ranged = parse_reference("120 (acceptable range: anything between 118 and 122)")
    after = [
        BEFORE[0],
        replace(BEFORE[1], reference=ranged),
        replace(BEFORE[2], question="In which year?"),
        make_question("e", "Why?", "Because"),
        make_question("f", "How long is it?", "9"),
    ]
    found = compare_versions(BEFORE, after)
    assert [change.question_id for change in found.reworded] == ["c"]
    assert [(change.question_id, change.after) for change in found.changed_ranges] == [("b", ranged.text)]
    assert found.changed_answers == ()
    assert (found.added, found.removed) == (("e", "f"), ("d",))
    assert compare_versions(after, BEFORE).added == ("d",)


@given(st.permutations(BEFORE), st.integers(0, 4))
def test_a_comparison_loses_no_question(order: list[Question], n: int) -> None:
    found = compare_versions(BEFORE, order[:n])
    assert (found.n_matched, len(found.removed), found.added) == (n, 4 - n, ())


def test_simpleqa_and_its_verified_subset(calibration_data: Path) -> None:
    before = load_questions(calibration_data / "simpleqa" / "simple_qa_test_set.csv")
    after = load_questions(calibration_data / "simpleqa_verified" / "simpleqa_verified.csv")
    found = compare_versions(before, after)
    assert (found.n_matched, found.added, len(found.removed)) == (1000, (), 3326)
    assert len(found.reworded) == 56
    assert len(found.changed_ranges) == 88
    verbatim = sum(one.reference.text != before[one.original_index or 0].reference.text for one in after)
    assert verbatim == 210
    assert len(found.changed_answers) == 104
