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

from calibration_sets.audit.audit_counts import count_labels
from calibration_sets.audit.audit_folder import label_question, read_audit, start_audit
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
    with pytest.raises(SetFileError, match=r"question 'Art9' is not in the sample; expected a question_id"):
        label_question(tmp_path, "Art9", label="OK", evidence="", note="")
    label_question(tmp_path, "Art0", label="OK", evidence="", note="")
    label_question(tmp_path, "Art1", label="false_positive_possible", evidence="", note="")
    label_question(tmp_path, "Art1", label="false_negative_possible", evidence="", note="")
    counts = count_labels(tmp_path)
    assert counts.labels == {"OK": 1, "unanswerable": 0, "false_negative_possible": 1, "false_positive_possible": 0}
    assert (counts.n_open, counts.n_without_evidence) == (1, 1)
    with pytest.raises(SetFileError, match=r"audit.json: no such file"):
        count_labels(tmp_path / "none")


def test_many_small_topics_are_drawn_by_lot_and_not_by_name() -> None:
    questions = _set({f"t{place:03}": 1 for place in range(200)})
    drawn = Counter(name for seed in range(80) for name in ids(draw_sample(questions, size=50, seed=seed)))
    assert len(drawn) == 200
    assert max(drawn.values()) < 45, "20 each are expected"


def test_topics_without_a_place_and_repeated_questions_are_told(tmp_path: Path) -> None:
    questions = _set({"Art": 40, "Music": 1})
    repeated = [replace(one, question_id=f"x{one.question_id}") for one in questions[:10]]
    record = start_audit([*questions, *repeated], tmp_path / "a", source="set.csv", size=20)
    assert (record.n_population, record.n_repeated, record.n_unreached) == (41, 10, 1)
    assert count_labels(tmp_path / "a").n_unreached == 1
    whole = start_audit([*questions, *repeated], tmp_path / "b", source="set.csv")
    assert (len(whole.questions), whole.n_population, whole.n_unreached) == (41, 41, 0)


def test_size_and_seed_are_those_of_the_folder_where_they_are_not_given(tmp_path: Path) -> None:
    questions = _set({"Art": 80})
    assert start_audit(questions, tmp_path / "new", source="s").size == 50
    drawn = start_audit(questions, tmp_path / "a", source="s", size=60, seed=7)
    assert start_audit(questions, tmp_path / "a", source="s") == drawn
    assert start_audit(questions, tmp_path / "a", source="s", size=70).seed == 7


@pytest.mark.parametrize("name", ["questions.jsonl", "labels.csv"])
def test_files_that_are_no_audits_are_never_written_over(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(SetFileError, match=f"holds {name} and no audit.json; expected a new folder"):
        start_audit(_set({"Art": 3}), tmp_path, source="s")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_what_was_cut_off_is_made_good_by_the_same_call(tmp_path: Path) -> None:
    questions = _set({"Art": 60})
    record = start_audit(questions, tmp_path, source="s")
    for name in ("questions.jsonl", "labels.csv"):
        (tmp_path / name).unlink()
    assert start_audit(questions, tmp_path, source="s") == record
    assert count_labels(tmp_path).n_open == 50


def test_rows_that_are_gone_come_back_and_rows_of_others_do_not_count(tmp_path: Path) -> None:
    start_audit(_set({"Art": 3}), tmp_path / "a", source="s")
    start_audit(_set({"Music": 4}), tmp_path / "b", source="s")
    label_question(tmp_path / "b", "Music1", label="unanswerable", evidence="", note="")
    (tmp_path / "a" / "labels.csv").write_text((tmp_path / "b" / "labels.csv").read_text())
    label_question(tmp_path / "a", "Art1", label="OK", evidence="", note="")
    counts = count_labels(tmp_path / "a")
    assert (counts.labels["OK"], counts.n_open, counts.n_strange, counts.faults) == (1, 2, 1, ())


def test_evidence_is_a_link_and_the_question_is_that_of_the_sample(tmp_path: Path) -> None:
    start_audit(_set({"Art": 2}), tmp_path, source="s")
    for name, evidence in (("Art0", "page 3"), ("Art1", "see https://a.example/")):
        label_question(tmp_path, name, label="unanswerable", evidence=evidence, note="")
    path = tmp_path / "labels.csv"
    path.write_text(path.read_text().replace(",Art0,", ",mangled,"))
    counts = count_labels(tmp_path)
    assert {one.question_id for one in counts.faults} == {"Art0", "Art1"}
    assert counts.n_without_evidence == 1


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            '"n_population": 60',
            '"n_population": 10',
            "expected n_population, 10, to be no less than the questions",
        ),
        ('"version": 1', '"version": 2', "version: number 2; expected 1"),
        ('"seed": 0', '"seed": 3', "audit.json names questions that its seed does not draw"),
    ],
)
def test_a_record_that_was_changed_is_refused(tmp_path: Path, old: str, new: str, told: str) -> None:
    questions = _set({"Art": 60})
    start_audit(questions, tmp_path, source="s")
    path = tmp_path / "audit.json"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(SetFileError, match=told):
        start_audit(questions, tmp_path, source="s")


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


def test_one_question_with_two_answers_is_matched_by_all_it_says() -> None:
    two = [make_question("a", "Q?", "1"), make_question("b", "Q?", "2")]
    assert compare_versions(two, list(reversed(two))).is_same
    assert compare_versions(two, [replace(two[0], question_id="b"), replace(two[1], question_id="a")]).is_same
    found = compare_versions(two, [make_question("a", "Q?", "2"), make_question("b", "Q?", "9")])
    assert [(one.question_id, one.before, one.after) for one in found.changed_answers] == [("b", "1", "9")]


def test_the_composition_of_characters_and_the_kind_of_space_make_no_difference() -> None:
    composed = make_question("a", "V kter\u00e9m roce?", "Ji\u0159\u00ed")
    decomposed = make_question("a", "V\u00a0ktere\u0301m roce?", "Jir\u030ci\u0301")
    assert compare_versions([composed], [decomposed]).is_same
    assert not compare_versions([composed], [make_question("a", "V kterem roce?", "Ji\u0159\u00ed")]).is_same


def test_changed_aliases_are_shown() -> None:
    old, new = (Question("a", "Q?", parse_reference("2", [one])) for one in ("two", "zwei"))
    (change,) = compare_versions([old], [new]).changed_answers
    assert (change.before, change.after) == ("2 | two", "2 | zwei")


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
