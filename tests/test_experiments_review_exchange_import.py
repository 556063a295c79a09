"""Labels of a file into a store: nothing is overwritten, nothing is doubled, and what does not fit is refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from review_pages import make_plan, make_set

from calibration_sets.item import Item
from experiments.errors import ReviewError
from experiments.review.events import NewEvent
from experiments.review.exchange.file_row import FileLabels, FileRow
from experiments.review.exchange.label_import import ImportCounts, OnConflict, import_labels
from experiments.review.label_store import LabelStore
from experiments.review.labels import load_labels

REVIEW = make_plan(make_set(n=4)).review
TIME = "2026-01-02T03:04:05+00:00"


def said(place: int = 0, **changes: Any) -> FileRow:
    one = REVIEW.work[place]
    row = FileRow(
        where=f"f.csv:{place + 2}",
        item_id=one.item_id,
        item_digest=one.item_digest,
        rater="Ann",
        label="CORRECT",
        blind=True,
        labelled_at=TIME,
    )
    return replace(row, **changes)


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    made = LabelStore(tmp_path / "labels.sqlite")
    made.create_review(REVIEW)
    return made


def take(store: LabelStore, *rows: FileRow, **options: Any) -> ImportCounts:
    return import_labels(store, REVIEW, FileLabels(rows), **options)


def refusal(store: LabelStore, *rows: FileRow, **options: Any) -> str:
    with pytest.raises(ReviewError) as error:
        take(store, *rows, **options)
    assert store.events(REVIEW) == []
    return str(error.value)


def test_a_label_is_added_as_the_file_says(store: LabelStore) -> None:
    counts = take(
        store, said(note="hm", disputed=True), said(1, label=None, skipped=True), said(2, label=None, labelled_at=None)
    )
    first, second = load_labels(store)
    assert (first.label, first.note, first.disputed, first.blind, first.labelled_at) == (
        "CORRECT",
        "hm",
        True,
        True,
        TIME,
    )
    assert (second.label, second.note, second.disputed) == (None, "", False)
    assert (counts.n_rows, counts.n_added, counts.n_known, counts.n_empty) == (3, 2, 0, 1)


def test_importing_twice_adds_nothing(store: LabelStore) -> None:
    rows = (said(note="hm", disputed=True), said(1, label=None, note="doubt"), said(2, label=None, skipped=True))
    take(store, *rows)
    before = store.events(REVIEW)
    for choice in ("refuse", "keep", "replace"):
        counts = take(store, *rows, on_conflict=choice)
        assert (counts.n_added, counts.n_known, counts.conflicts) == (0, 3, ())
    assert store.events(REVIEW) == before


def test_importing_at_once_adds_once(tmp_path: Path, store: LabelStore) -> None:
    rows = [said(place, note="n", disputed=True) for place in range(4)]

    def work(_: int) -> None:
        with LabelStore(store.path) as own:
            import_labels(own, REVIEW, FileLabels(tuple(rows)))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert len(store.events(REVIEW)) == 8


@pytest.mark.parametrize(("choice", "label", "n_added"), [("keep", "CORRECT", 1), ("replace", "INCORRECT", 2)])
def test_a_persons_label_is_replaced_only_by_choice(
    store: LabelStore, choice: OnConflict, label: str, n_added: int
) -> None:
    take(store, said())
    rows = (said(label="INCORRECT"), said(1))
    with pytest.raises(ReviewError, match=r"^f\.csv:2: Ann says INCORRECT of 'i00', in the store CORRECT; expected"):
        take(store, *rows)
    assert len(store.events(REVIEW)) == 1, "the file is refused as a whole"
    counts = take(store, *rows, on_conflict=choice)
    assert (load_labels(store)[0].label, counts.n_added) == (label, n_added)
    assert counts.conflicts == ("f.csv:2: Ann says INCORRECT of 'i00', in the store CORRECT",)
    assert store.events(REVIEW)[0].label == "CORRECT", "what was said before stays in the store"


def test_what_was_taken_back_can_be_imported_again(store: LabelStore) -> None:
    take(store, said())
    label = store.events(REVIEW)[0]
    store.append(REVIEW, NewEvent(token="u", rater="Ann", item_digest=label.item_digest, kind="undo", undoes=1))
    assert take(store, said()).n_added == 1
    assert load_labels(store)[0].label == "CORRECT"


def test_replacing_back_and_forth_always_counts(store: LabelStore) -> None:
    for label in ("CORRECT", "INCORRECT", "CORRECT", "INCORRECT"):
        take(store, said(label=label), on_conflict="replace")
        assert load_labels(store)[0].label == label


def test_a_note_is_added_beside_a_label_and_another_one_is_a_conflict(store: LabelStore) -> None:
    take(store, said())
    take(store, said(note="first"))
    assert load_labels(store)[0].note == "first"
    with pytest.raises(ReviewError, match="another note"):
        take(store, said(note="second"))
    take(store, said(note="second"), on_conflict="replace")
    assert load_labels(store)[0].note == "second"


def test_a_file_that_says_less_takes_nothing_back(store: LabelStore) -> None:
    take(store, said(note="n", disputed=True))
    assert take(store, said(label=None, skipped=True), on_conflict="replace").n_added == 0
    assert (load_labels(store)[0].label, load_labels(store)[0].disputed) == ("CORRECT", True)


def test_labels_of_several_raters_and_adjudications_stand_side_by_side(store: LabelStore) -> None:
    take(store, said(), said(rater="Ben", label="INCORRECT"), said(label="INCORRECT", role="adjudication"))
    assert [(one.rater, one.label, one.role) for one in load_labels(store)] == [
        ("Ann", "CORRECT", "label"), ("Ben", "INCORRECT", "label"), ("Ann", "INCORRECT", "adjudication"),
    ]  # fmt: skip


def test_a_rater_is_the_same_person_whatever_the_capitals(store: LabelStore) -> None:
    take(store, said())
    take(store, said(rater="ANN"), said(1, rater=" ann "))
    assert {one.rater for one in load_labels(store)} == {"Ann"}


def test_a_label_may_be_spelt_in_small_letters(store: LabelStore) -> None:
    take(store, said(label="not_attempted"))
    assert load_labels(store)[0].label == "NOT_ATTEMPTED"


def test_blindness_that_nobody_knows_is_not_claimed(store: LabelStore) -> None:
    take(store, said(blind=None), said(1, blind=False))
    take(store, said(2, blind=None), said(3, blind=False), blind=True)
    assert [one.blind for one in load_labels(store)] == [False, False, True, False]


def test_a_time_of_another_zone_is_told_in_utc_and_no_time_is_now(store: LabelStore) -> None:
    take(store, said(labelled_at="2026-01-02T05:04:05+02:00"), said(1, labelled_at=None))
    first, second = load_labels(store)
    assert first.labelled_at == TIME
    assert second.labelled_at > "2026-01-03"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": "GOOD"}, "f.csv:2: label 'GOOD' is not on the scale [INCORRECT, NOT_ATTEMPTED, CORRECT]"),
        ({"item_id": "zz", "item_digest": None}, f"f.csv:2: item 'zz'; expected one of review {REVIEW.review_id}"),
        ({"item_id": None, "item_digest": "ab" * 32}, "f.csv:2: item 'abababababab'; expected one of review"),
        ({"item_digest": "ab" * 32}, "f.csv:2: item 'i00' with another digest (abababababab, it was reworded since)"),
        ({"item_id": "i03"}, "f.csv:2: item 'i03' with another digest (that of 'i00'); expected"),
        ({"rater": None}, "f.csv:2: no rater; expected one, or --rater NAME"),
        ({"rater": "x" * 81}, "f.csv:2: rater 'xxx"),
        ({"labelled_at": "2026-01-02 03:04"}, "f.csv:2: time '2026-01-02 03:04'; expected ISO 8601 with its zone"),
        ({"labelled_at": "soon"}, "f.csv:2: time 'soon'"),
        ({"texts": {"response": "another"}}, "f.csv:2: the response of item 'i00' was changed"),
        ({"texts": {"question": "Which?"}}, "f.csv:2: the question of item 'i00' was changed"),
        ({"part": "ranked"}, "f.csv:2: a label of a review queue, for the review of a set"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(store: LabelStore, changes: dict[str, Any], message: str) -> None:
    assert refusal(store, said(**changes), said(1)).startswith(message)


def test_all_bad_rows_are_told_together(store: LabelStore) -> None:
    message = refusal(store, said(label="a"), said(1), said(2, label="b"))
    assert message.splitlines()[0].endswith("(and 1 more)")
    assert message.splitlines()[1].startswith("f.csv:4: label 'b'")


def test_line_ends_that_a_program_changed_are_no_change(store: LabelStore) -> None:
    item = REVIEW.items[REVIEW.work[0].item_digest]
    take(store, said(texts={"response": f"{item.response}\r\n", "question": item.question}))
    assert len(load_labels(store)) == 1


def test_rows_of_a_file_that_contradict_each_other_are_refused(store: LabelStore) -> None:
    assert take(store, said(), said(where="f.csv:9")).n_added == 1
    message = "f.csv:9: 'Ben' says otherwise of the same text at f.csv:2; expected one of both"
    with pytest.raises(ReviewError, match=message):
        take(store, said(rater="Ben"), said(rater="Ben", label="INCORRECT", where="f.csv:9"))


def test_a_content_that_stands_twice_in_a_review_is_labelled_once(tmp_path: Path) -> None:
    made = make_set(n=2)
    twin: Item = replace(made.items[0], item_id="twin")
    review = make_plan(replace(made, items=(*made.items, twin))).review
    with LabelStore(tmp_path / "twins.sqlite") as store:
        store.create_review(review)
        rows = (said(), said(item_id="twin", where="f.csv:3"))
        assert import_labels(store, review, FileLabels(rows)).n_added == 1
        assert [(one.item_id, one.label) for one in load_labels(store)] == [("i00", "CORRECT"), ("twin", "CORRECT")]


def test_a_note_of_an_adjudication_taken_back_is_told(store: LabelStore) -> None:
    counts = take(store, said(label=None, note="why", role="adjudication"), said(1))
    assert counts.notes == ("left out, notes of adjudications that were taken back: 1",)
    assert [one.item_id for one in load_labels(store)] == ["i01"]


def test_a_note_whose_label_was_undone_keeps_a_time(store: LabelStore) -> None:
    take(store, said(note="why"))
    label = store.events(REVIEW)[0]
    store.append(REVIEW, NewEvent(token="u", rater="Ann", item_digest=label.item_digest, kind="undo", undoes=1))
    (one,) = load_labels(store)
    assert (one.label, one.note, one.labelled_at) == (None, "why", TIME)


def test_a_label_given_while_the_file_is_compared_is_not_overwritten(
    store: LabelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = REVIEW.work[0].item_digest
    read = LabelStore.events

    def read_and_label(self: LabelStore, *arguments: Any, **options: Any) -> Any:
        found = read(self, *arguments, **options)
        quick = NewEvent(token="quick", rater="Ann", item_digest=digest, kind="label", label="INCORRECT", blind=True)
        store.append(REVIEW, quick)
        return found

    monkeypatch.setattr(LabelStore, "events", read_and_label)
    with pytest.raises(ReviewError, match="Ann says CORRECT of 'i00', in the store INCORRECT"):
        take(store, said())
    monkeypatch.undo()
    assert [one.label for one in load_labels(store)] == ["INCORRECT"]
