"""The label store: nothing acknowledged is lost, nothing is counted twice, and what holds follows from the events."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from review_pages import make_plan, make_set

from calibration_sets.scale import LabelScale
from experiments.errors import ReviewError, StoreError
from experiments.review.events import Event, NewEvent
from experiments.review.label_state import ItemKey, fold_events, last_undoable
from experiments.review.label_store import LabelStore
from experiments.review.labels import load_labels
from experiments.review.review_record import Review, dump_review, load_review

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")


def make_event(review: Review, place: int = 0, **changes: Any) -> NewEvent:
    digest = review.work[place].item_digest
    return replace(
        NewEvent(token="t1", rater="Ann", item_digest=digest, kind="label", label="CORRECT", blind=True), **changes
    )


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    return LabelStore(tmp_path / "labels.sqlite")


@pytest.fixture
def review(store: LabelStore) -> Review:
    made = make_plan().review
    store.create_review(made)
    return made


def test_a_label_comes_back_with_all_that_it_needs(store: LabelStore, review: Review) -> None:
    store.append(review, make_event(review, note="sure", created_at="2026-01-02T03:04:05+00:00"))
    (row,) = load_labels(store)
    assert (row.item_id, row.item_digest, row.rater, row.label) == ("i00", review.work[0].item_digest, "Ann", "CORRECT")
    assert (row.note, row.disputed, row.blind, row.labelled_at) == ("sure", False, True, "2026-01-02T03:04:05+00:00")
    assert (row.role, row.probability, row.part) == ("label", None, "set")


def test_a_token_counts_once(store: LabelStore, review: Review) -> None:
    first = store.append(review, make_event(review))
    again = store.append(review, make_event(review, created_at="2026-01-02T03:04:05+00:00"))
    assert (first.repeated, again.repeated) == (False, True)
    assert again.event == first.event
    assert len(store.events(review)) == 1


@pytest.mark.parametrize("changes", [{"label": "INCORRECT"}, {"note": "x"}, {"blind": False}, {"rater": "Ben"}])
def test_something_else_with_a_known_token_is_an_event_of_its_own(
    store: LabelStore, review: Review, changes: dict[str, Any]
) -> None:
    """Its page may never have learnt that the first was stored, and must not lose the second in silence."""
    said = [make_event(review), make_event(review, **changes), make_event(review)]
    for one in said:
        assert not store.append(review, one).repeated
        assert store.append(review, one).repeated, "the newest of the page, sent again"
    events = store.events(review)
    assert [(event.label, event.rater) for event in events] == [(one.label, one.rater) for one in said]
    assert store.append(review, make_event(review, token="t")).repeated is False, "another page's token begins alike"


def test_an_undo_of_a_page_whose_label_was_stored_is_no_repetition(store: LabelStore, review: Review) -> None:
    first = store.append(review, make_event(review)).event
    undo = make_event(review, kind="undo", label=None, undoes=first.event_id)
    assert not store.append(review, undo).repeated
    assert not load_labels(store)


def test_many_writers_at_once_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    path, plan = tmp_path / "labels.sqlite", make_plan(make_set(n=20))

    def write(rater: str) -> None:
        with LabelStore(path) as store:
            store.create_review(plan.review)
            for place in range(20):
                for _ in range(2):
                    store.append(plan.review, make_event(plan.review, place, rater=rater, token=f"{rater}{place}"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, ["Ann", "Ben", "Cho", "Dee"]))
    with LabelStore(path) as store:
        assert len(store.list_reviews()) == 1
        assert len(load_labels(store)) == len(store.events(plan.review)) == 80


def test_several_events_are_stored_together_or_not_at_all(store: LabelStore, review: Review) -> None:
    with pytest.raises(ReviewError, match="PERHAPS"):
        store.append_many(review, [make_event(review), make_event(review, 1, token="t2", label="PERHAPS")])
    assert not store.events(review)
    undo = make_event(review, 1, token="t3", kind="undo", label=None, undoes=99)
    with pytest.raises(ReviewError, match="event 99"):
        store.append_many(review, [make_event(review), undo])
    assert not store.events(review)


def test_events_are_never_changed(store: LabelStore, review: Review) -> None:
    store.append(review, make_event(review))
    connection = sqlite3.connect(store.path)
    for change in ("UPDATE events SET label = 'INCORRECT'", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError, match="only ever added"):
            connection.execute(change)
    connection.close()
    assert load_labels(store)[0].label == "CORRECT"


def test_the_file_waits_for_the_disk(store: LabelStore) -> None:
    with store._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 3, "EXTRA"


def test_a_copy_of_the_one_file_has_every_label_while_others_write(store: LabelStore, review: Review) -> None:
    for place in range(3):
        store.append(review, make_event(review, place, token=f"t{place}"))
        copy = store.path.with_name(f"copy{place}.sqlite")
        copy.write_bytes(store.path.read_bytes())
        assert [path.name for path in store.path.parent.glob("labels.sqlite*")] == ["labels.sqlite"]
        with LabelStore(copy, must_exist=True) as copied:
            assert len(load_labels(copied)) == place + 1


def test_a_file_of_an_earlier_version_loses_its_log_once_nobody_else_has_it_open(
    store: LabelStore, review: Review
) -> None:
    store.append(review, make_event(review))
    store.close()
    other = sqlite3.connect(store.path)
    assert other.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
    other.execute("SELECT * FROM events").fetchall()
    with LabelStore(store.path) as opened:
        opened.append(review, make_event(review, 1, token="t2"))
        assert opened.path.with_name("labels.sqlite-wal").exists(), "somebody else has it open"
    other.close()
    with LabelStore(store.path) as opened:
        opened.append(review, make_event(review, 2, token="t3"))
        assert not opened.path.with_name("labels.sqlite-wal").exists()
        assert len(load_labels(opened)) == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"rater": "Ben"},
        {"undoes": 2},
        {"undoes": 99},
    ],
)
def test_a_rater_takes_back_own_decisions_alone(store: LabelStore, review: Review, changes: dict[str, Any]) -> None:
    store.append(review, make_event(review))
    store.append(review, make_event(review, token="n", kind="note", label=None, note="x"))
    undo = make_event(review, token="t2", kind="undo", label=None, undoes=1)
    with pytest.raises(ReviewError, match="undo"):
        store.append(review, replace(undo, **changes))
    assert not store.append(review, undo).repeated
    assert store.append(review, replace(undo, token="t3")).repeated, "what is undone stays undone"


def test_names_and_notes_with_what_no_database_takes(store: LabelStore, review: Review) -> None:
    store.append(review, make_event(review, rater="A\ud800", note="\udfffx\x00"))
    (row,) = load_labels(store)
    assert (row.rater, row.note) == ("A?", "?x")


@pytest.mark.parametrize("text", ["", "not a database", "x" * 5000])
def test_another_file_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other"
    path.write_text(text)
    with pytest.raises(StoreError):
        LabelStore(path, must_exist=True)
    assert path.read_text() == text


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE completions (x)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="something else"):
        LabelStore(path)


def test_a_missing_file_is_not_made_for_a_reader(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no such store.*--labels PATH"):
        LabelStore(tmp_path / "labels.sqlite", must_exist=True)
    assert not list(tmp_path.iterdir())


def test_reviews_are_found_by_id_name_and_beginning(store: LabelStore, review: Review) -> None:
    assert store.find_review().review_id == review.review_id
    other = make_plan(make_set(n=2, name="smaller")).review
    store.create_review(other)
    assert store.find_review("small").review_id == review.review_id
    assert store.find_review(other.review_id[:9]).review_id == other.review_id
    for name in (None, "sm", "nothing", ""):
        with pytest.raises(ReviewError, match="expected one of"):
            store.find_review(name)


def test_a_review_comes_back_as_it_was(review: Review) -> None:
    again = load_review(dump_review(review))
    assert (again.review_id, again.work, again.protocol) == (review.review_id, review.work, review.protocol)
    assert again.items == review.items


def test_another_rubric_or_scale_has_labels_of_its_own(store: LabelStore, review: Review) -> None:
    store.append(review, make_event(review))
    scale = LabelScale("other", ("INCORRECT", "CORRECT"))
    other = make_plan(make_set(scale=scale)).review
    store.create_review(other)
    assert not store.events(other)


def test_an_item_that_stands_twice_has_its_label_in_both_places(tmp_path: Path) -> None:
    made = make_set(n=2)
    twin = replace(made.items[0], item_id="twin")
    plan = make_plan(replace(made, items=(*made.items, twin)))
    with LabelStore(tmp_path / "labels.sqlite") as store:
        store.create_review(plan.review)
        store.append(plan.review, make_event(plan.review))
        assert [row.item_id for row in load_labels(store)] == ["i00", "twin"]


class LabelMachine(RuleBasedStateMachine):
    """Two raters press whatever they like; a plain model of stacks of decisions says what must hold."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []
        self.decisions: list[tuple[int, str, str, str, str | None]] = []
        self.notes: dict[tuple[str, str], str] = {}

    def add(self, rater: str, item: str, kind: Any, **values: Any) -> int:
        fields = {"label": None, "note": None, "disputed": None, "blind": True, "undoes": None, **values}
        number = len(self.events) + 1
        self.events.append(Event(number, "r", rater, item, kind, **fields, created_at=f"{number:04}"))
        return number

    @initialize()
    def begin(self) -> None:
        self.events.clear()

    @rule(rater=st.sampled_from("AB"), item=st.sampled_from("xyz"), label=st.sampled_from(LABELS))
    def label(self, rater: str, item: str, label: str) -> None:
        self.decisions.append((self.add(rater, item, "label", label=label), rater, item, "label", label))

    @rule(rater=st.sampled_from("AB"), item=st.sampled_from("xyz"), disputed=st.booleans())
    def flag(self, rater: str, item: str, disputed: bool) -> None:
        number = self.add(rater, item, "flag", disputed=disputed)
        self.decisions.append((number, rater, item, "flag", str(disputed)))

    @rule(rater=st.sampled_from("AB"), item=st.sampled_from("xyz"))
    def skip(self, rater: str, item: str) -> None:
        self.decisions.append((self.add(rater, item, "skip"), rater, item, "skip", None))

    @rule(rater=st.sampled_from("AB"), item=st.sampled_from("xyz"), text=st.text(max_size=3))
    def note(self, rater: str, item: str, text: str) -> None:
        self.add(rater, item, "note", note=text)
        self.notes[item, rater] = text

    @precondition(lambda self: self.decisions)
    @rule(rater=st.sampled_from("AB"))
    def undo(self, rater: str) -> None:
        own = [decision for decision in self.decisions if decision[1] == rater]
        target = last_undoable(self.events, rater, "xyz")
        assert (target.event_id if target else None) == (own[-1][0] if own else None)
        if target is not None:
            self.add(rater, target.item_digest, "undo", undoes=target.event_id)
            self.decisions.remove(own[-1])

    @invariant()
    def what_holds_is_the_last_decision_that_was_not_undone(self) -> None:
        standings = fold_events(self.events)
        for item in "xyz":
            for rater in "AB":
                mine = [one for one in self.decisions if one[1] == rater and one[2] == item]
                labels = [value for *_, kind, value in mine if kind == "label"]
                flags = [value for *_, kind, value in mine if kind == "flag"]
                found = standings.get(ItemKey(item, rater))
                assert (found.label if found else None) == (labels[-1] if labels else None)
                assert (found.disputed if found else False) == (flags[-1:] == ["True"])
                assert (found.note if found else "") == self.notes.get((item, rater), "")
                skipped = bool([one for one in mine if one[3] == "skip"]) and not labels
                assert (found.skipped if found else False) == skipped


LabelMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
TestLabelMachine = LabelMachine.TestCase


def test_what_was_seen_before_a_label_is_not_blind_even_if_the_label_before_is_undone() -> None:
    def event(number: int, kind: Any, **values: Any) -> Event:
        fields = {"label": None, "note": None, "disputed": None, "blind": True, "undoes": None, **values}
        return Event(number, "r", "A", "x", kind, **fields, created_at=str(number))

    events = [event(1, "label", label="CORRECT"), event(2, "reveal"), event(3, "undo", undoes=1)]
    assert fold_events(events)[ItemKey("x", "A")].label is None
    events.append(event(4, "label", label="INCORRECT"))
    assert not fold_events(events)[ItemKey("x", "A")].blind
    events.append(event(5, "undo", undoes=4))
    events.append(event(6, "adjudicate", label="CORRECT"))
    assert not fold_events(events)[ItemKey("x", "A", adjudicates=True)].blind
