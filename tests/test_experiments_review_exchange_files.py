"""Labels in files of other programs: what goes out comes back, and what others say is read for what it is."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from review_pages import HOSTILE, make_plan, make_set

from calibration_sets.defused_cells import defuse, restore
from calibration_sets.errors import SetFileError
from calibration_sets.scale import LabelScale
from experiments.errors import ReviewError
from experiments.review.events import Event, NewEvent
from experiments.review.exchange.argilla import render_settings, user_id, write_records
from experiments.review.exchange.argilla_export import read_argilla
from experiments.review.exchange.file_row import FileLabels, ReadOptions
from experiments.review.exchange.label_import import import_labels
from experiments.review.exchange.label_studio import DISPUTED, render_config, write_tasks
from experiments.review.exchange.label_studio_export import read_label_studio
from experiments.review.exchange.row_tables import (
    read_csv_labels,
    read_json_labels,
    write_csv_labels,
    write_json_labels,
)
from experiments.review.exchange.verdict_hints import Hint
from experiments.review.label_row import LabelRow
from experiments.review.label_store import LabelStore
from experiments.review.labels import label_rows, load_labels

PLAN = make_plan(make_set(HOSTILE[:4]))
REVIEW = PLAN.review
LABELS = REVIEW.scale.labels
OPTIONS = ReadOptions()

FORMATS: Mapping[str, tuple[Callable[[Sequence[LabelRow]], str], Callable[[Path], FileLabels]]] = {
    "csv": (lambda rows: write_csv_labels(REVIEW, rows), read_csv_labels),
    "jsonl": (write_json_labels, read_json_labels),
    "label-studio": (
        lambda rows: write_tasks(REVIEW, rows, {}, {"Ann": 7}),
        lambda path: read_label_studio(path, OPTIONS),
    ),
    "argilla": (lambda rows: write_records(REVIEW, rows, {}, {}), lambda path: read_argilla(path, OPTIONS)),
}

texts = st.text(
    st.one_of(
        st.sampled_from("=+-@'\"\t\r\n,;＝\ufeff\x1b{} "),
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    ),
    max_size=12,
)


@st.composite
def new_events(draw: st.DrawFn) -> list[NewEvent]:
    """What three raters, one with a name like a formula, may do to four items."""
    events = []
    for number in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(["label", "adjudicate", "note", "flag", "skip", "reveal"]))
        decides = kind in ("label", "adjudicate")
        events.append(
            NewEvent(
                token=f"t{number}",
                rater=draw(st.sampled_from(["Ann", "=Ben+1", '@Cho, "C"'])),
                item_digest=draw(st.sampled_from([one.item_digest for one in REVIEW.work])),
                kind=kind,  # type: ignore[arg-type]
                label=draw(st.sampled_from(LABELS)) if decides else None,
                note=draw(texts) if kind == "note" or draw(st.booleans()) else None,
                disputed=draw(st.booleans()) if kind == "flag" else None,
                blind=draw(st.booleans()) if decides else None,
                created_at=f"2026-01-02T03:04:{number:02}.5+00:00",
            )
        )
    return events


def rows_of(events: Sequence[NewEvent]) -> list[LabelRow]:
    """The labels as they stand after events, without a store."""
    stored = []
    for number, one in enumerate(events, start=1):
        fields = asdict(one)
        del fields["token"]
        stored.append(Event(event_id=number, review_id=REVIEW.review_id, **fields))
    return label_rows(REVIEW, stored)


def row(place: int = 0, **changes: Any) -> LabelRow:
    one = REVIEW.work[place]
    made = LabelRow(
        one.item_id,
        one.item_digest,
        "Ann",
        "CORRECT",
        "",
        False,
        True,
        "2026-01-02T03:04:05+00:00",
        "label",
        None,
        "set",
    )
    return replace(made, **changes)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=30)
@given(events=new_events())
def test_what_is_exported_comes_back_and_nothing_else(name: str, events: list[NewEvent]) -> None:
    write, read = FORMATS[name]
    rows = rows_of(events)
    with tempfile.TemporaryDirectory() as folder, LabelStore(Path(folder, "other.sqlite")) as store:
        file = Path(folder, "file")
        file.write_bytes(write(rows).encode())
        store.create_review(REVIEW)
        import_labels(store, REVIEW, read(file))
        back = load_labels(store)
        before = store.events(REVIEW)
        again = import_labels(store, REVIEW, read(file), on_conflict="refuse")
        assert (again.n_added, store.events(REVIEW)) == (0, before)
    order = (
        list if name != "argilla" else lambda found: sorted(found, key=lambda one: (one.item_id, one.role, one.rater))
    )
    assert order(back) == order(rows)


@example("'=1")
@example("''=1")
@example("' @x")
@given(texts)
def test_a_defused_cell_is_no_formula_and_comes_back(text: str) -> None:
    cell = defuse(text)
    assert not cell.lstrip().startswith(("=", "+", "-", "@", "＝"))
    assert not cell.startswith(("\t", "\r"))
    assert restore(cell) == text


@pytest.mark.parametrize("text", ["plain", "'quoted'", "a=b", "", "'", "'' x", "1 - 1"])
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert defuse(text) == restore(text) == text


def test_no_cell_of_an_export_is_a_formula(tmp_path: Path) -> None:
    review = make_plan(make_set([*HOSTILE, "=1+1", "\t=1", "\r@x", "-2", "＝1"])).review
    rows = [
        replace(row(), item_id=one.item_id, item_digest=one.item_digest, rater="=A1", note="+1\r\n=2")
        for one in review.work
    ]
    cells = [cell for record in csv.reader(io.StringIO(write_csv_labels(review, rows), newline="")) for cell in record]
    assert len(cells) == 14 * (len(rows) + 1)
    assert not [cell for cell in cells if cell.lstrip(" \n").startswith(("=", "+", "-", "@", "\t", "\r", "＝"))]


def test_what_is_only_to_be_read_drives_no_terminal_and_is_importable(tmp_path: Path) -> None:
    review = make_plan(make_set(["\x1b]0;taken\x07 \x00 \u202e", "plain\nlines"])).review
    text = write_csv_labels(review, [row(item_id="i00", item_digest=review.work[0].item_digest)])
    assert not set("\x1b\x07\x00\u202e") & set(text)
    assert r"\x1b]0;taken\x07 \x00 \u202e" in text
    (tmp_path / "labels.csv").write_text(text, newline="")
    assert read_csv_labels(tmp_path / "labels.csv").rows[0].label == "CORRECT"


def test_a_csv_from_a_spreadsheet_is_read(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    text = 'item_id,label,disputed,my column\r\ni00,correct,TRUE,x\r\ni01,,,\r\ni02, INCORRECT ,"",\r\n'
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    found = read_csv_labels(path)
    assert [(one.item_id, one.label, one.disputed, one.blind) for one in found.rows] == [
        ("i00", "correct", True, None), ("i01", None, False, None), ("i02", "INCORRECT", False, None),
    ]  # fmt: skip
    assert [one.says_nothing for one in found.rows] == [False, True, False]
    assert found.notes == ("columns not read: 'my column'",)


def test_a_long_note_with_line_breaks_and_quotes_comes_back(tmp_path: Path) -> None:
    note = 'a "b"\r\n,c\n' + "x" * 200_000
    (tmp_path / "l.csv").write_bytes(write_csv_labels(REVIEW, [row(note=note)]).encode())
    assert read_csv_labels(tmp_path / "l.csv").rows[0].note == note


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("i00,,maybe,label", "l.csv:3: disputed 'maybe'; expected true, false or nothing"),
        ("i00,CORRECT,,judge", "l.csv:3: role 'judge'; expected label or adjudication"),
    ],
)
def test_a_bad_cell_is_named_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "l.csv").write_text(f"item_id,label,disputed,role\ni01,CORRECT,,\n{line}\n")
    with pytest.raises(ReviewError) as error:
        read_csv_labels(tmp_path / "l.csv")
    assert str(error.value) == message


def test_a_csv_without_items_or_labels_is_refused(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("rater,label\nAnn,CORRECT\n")
    with pytest.raises(SetFileError, match="no column 'item_id'"):
        read_csv_labels(tmp_path / "l.csv")


def test_json_lines_are_read_strictly(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    path.write_text('{"item_id": "i00", "label": "CORRECT"}\n{"item_id": "i00", "label": 1, "colour": "red"}\n')
    with pytest.raises(ReviewError, match=r"l\.jsonl:2: .*colour") as error:
        read_json_labels(path)
    assert "label" in str(error.value)
    assert asdict(row()) == json.loads(write_json_labels([row()]))


# Label Studio


def exported(**annotation: Any) -> dict[str, Any]:
    """A task as Label Studio 1.13 exports it, with one annotation."""
    item = REVIEW.items[REVIEW.work[0].item_digest]
    data = {"item_id": item.item_id, "item_digest": item.digest, "response": item.response}
    whole = {
        "id": 12, "completed_by": 3, "result": [region("label", "choices", choices=["CORRECT"])],
        "was_cancelled": False, "ground_truth": False, "created_at": "2026-03-09T22:16:08.728353Z",
        "updated_at": "2026-03-10T22:16:08.728353Z", "lead_time": 4.2, "prediction": {}, "result_count": 1,
        "unique_id": "b4", "import_id": None, "last_action": None, "task": 1, "project": 8, "updated_by": 3,
        "parent_prediction": None, "parent_annotation": None, "last_created_by": None, **annotation,
    }  # fmt: skip
    return {"id": 1, "data": data, "annotations": [whole], "drafts": [], "predictions": [], "meta": {}}


def region(name: str, kind: str, **value: Any) -> dict[str, Any]:
    return {"id": "x", "from_name": name, "to_name": "response", "type": kind, "origin": "manual", "value": value}


def read_tasks(tmp_path: Path, *tasks: Any, **options: Any) -> FileLabels:
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    return read_label_studio(tmp_path / "export.json", ReadOptions(**options))


def test_the_configuration_has_the_labels_and_every_field_of_a_task() -> None:
    odd = LabelScale("odd", ('<"a"&>', "b"))
    review = make_plan(make_set(["", "x"], scale=odd)).review
    config = ElementTree.fromstring(render_config(review))
    choices = config.find("Choices[@name='label']")
    assert choices is not None
    assert [choice.get("value") for choice in choices] == list(odd.labels)
    task = json.loads(write_tasks(review, [], {}, {}))[0]
    assert {str(text.get("value")).removeprefix("$") for text in config.iter("Text")} <= set(task["data"])
    names = {tag.get("name") for tag in config.iter()}
    assert {tag.get("toName") for tag in config.iter() if tag.get("toName")} <= names


def test_an_annotation_of_label_studio_is_a_label(tmp_path: Path) -> None:
    note = region("note", "textarea", text=["first", "second"])
    label = region("label", "choices", choices=["CORRECT"])
    task = exported(result=[label, note, region("disputed", "choices", choices=[DISPUTED])])
    found = read_tasks(tmp_path, task)
    (one,) = found.rows
    assert (one.rater, one.label, one.note, one.disputed) == ("label-studio:3", "CORRECT", "first\nsecond", True)
    assert (one.blind, one.labelled_at, one.role) == (True, "2026-03-09T22:16:08.728353Z", "label")
    assert found.notes == ("user 3 has no name here; 'label-studio:3' stands for it, or give --rater 3=NAME",)


@pytest.mark.parametrize(
    ("who", "name"),
    [
        (3, "Ann"),
        ({"id": 3, "email": "a@x.test", "first_name": "A", "last_name": ""}, "Ann"),
        ({"id": 4, "email": "b@x.test"}, "b@x.test"),
        ("c@x.test", "c@x.test"),
        ({"email": "d@x.test"}, "Dee"),
    ],
)
def test_users_have_their_names(tmp_path: Path, who: Any, name: str) -> None:
    found = read_tasks(tmp_path, exported(completed_by=who), raters={"3": "Ann", "d@x.test": "Dee"})
    assert (found.rows[0].rater, found.notes) == (name, ())


def test_a_cancelled_annotation_is_a_skip_whatever_it_holds(tmp_path: Path) -> None:
    (one,) = read_tasks(tmp_path, exported(was_cancelled=True)).rows
    assert (one.label, one.skipped) == (None, True)


def test_a_prediction_in_sight_makes_a_label_not_blind(tmp_path: Path) -> None:
    beside = exported()
    beside["predictions"] = [{"model_version": "g", "result": []}]
    rows = read_tasks(tmp_path, beside, exported(parent_prediction=5)).rows
    assert [one.blind for one in rows] == [False, False]


def test_drafts_other_controls_and_ground_truth_are_told(tmp_path: Path) -> None:
    label = region("label", "choices", choices=["CORRECT"])
    task = exported(ground_truth=True, result=[label, region("mood", "rating", rating=3)])
    task["drafts"] = [{"result": []}]
    found = read_tasks(tmp_path, task, raters={"3": "Ann"})
    assert [one.role for one in found.rows] == ["label"]
    assert found.notes == (
        "not read, results of the control 'mood': 1",
        "left out, drafts that nobody has submitted: 1",
        "annotations marked as ground truth, which count as labels and not as adjudications: 1",
    )


def test_a_copied_annotation_is_of_who_copied_and_a_changed_one_of_the_change(tmp_path: Path) -> None:
    mine = json.loads(write_tasks(REVIEW, [row(blind=False)], {}, {}))[0]["annotations"][0]["result"]
    changed = [region("label", "choices", choices=["INCORRECT"]), mine[1]]
    rows = read_tasks(
        tmp_path, exported(result=mine), exported(result=mine, parent_annotation=1), exported(result=changed),
        raters={"3": "Cho"},
    ).rows  # fmt: skip
    assert [(one.rater, one.label, one.labelled_at, one.blind) for one in rows] == [
        ("Ann", "CORRECT", "2026-01-02T03:04:05+00:00", False),
        ("Cho", "CORRECT", "2026-03-09T22:16:08.728353Z", True),
        ("Ann", "INCORRECT", "2026-03-10T22:16:08.728353Z", True),
    ]


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({"id": 1, "label": "CORRECT", "annotator": 1}, "task 1: .*expected a task with data"),
        (exported(result=[region("label", "choices", choices=["a", "b"])]), "task 1, annotation 1: 2 values of label"),
        (exported(result=[region("label", "rating", rating=3)]), "task 1, annotation 1: label "),
        (exported(result=[region("autorater", "textarea", text=["{"])]), "task 1, annotation 1: autorater: not JSON"),
        (exported(result=[region("autorater", "textarea", text=["{}"])]), "task 1, annotation 1: autorater: "),
        (exported(completed_by=[1]), "task 1, annotation 1: completed_by"),
    ],
)
def test_what_is_no_export_is_named_with_its_task(tmp_path: Path, task: Any, message: str) -> None:
    with pytest.raises(ReviewError, match=rf"export\.json:{message}"):
        read_tasks(tmp_path, task)


def test_predictions_carry_the_graders_majorities() -> None:
    digest = REVIEW.work[1].item_digest
    task = json.loads(write_tasks(REVIEW, [], {digest: [Hint("g@1", "INCORRECT", 0.75)]}, {}))[1]
    (prediction,) = task["predictions"]
    assert (prediction["model_version"], prediction["score"]) == ("g@1", 0.75)
    assert prediction["result"][0]["value"] == {"choices": ["INCORRECT"]}


def test_nobody_is_given_the_number_of_somebody_else() -> None:
    rows = [row(), row(rater="Ben")]
    annotations = json.loads(write_tasks(REVIEW, rows, {}, {"Ann": 7}))[0]["annotations"]
    assert [one.get("completed_by") for one in annotations] == [7, None]


# Argilla


def record(**changes: Any) -> dict[str, Any]:
    """A record of ``records.to_list(flatten=True)`` of argilla 2.8, as JSON: two users, one without a note."""
    item = REVIEW.items[REVIEW.work[0].item_digest]
    return {
        "id": item.item_id, "status": "completed", "_server_id": "5f", "question": item.question,
        "reference": item.reference.text, "range": "", "response": item.response, "item_id": item.item_id,
        "item_digest": item.digest, "label.responses": ["CORRECT", "INCORRECT"], "label.responses.users": ["u1", "u2"],
        "label.responses.status": ["submitted", "draft"], "note.responses": ["hm"], "note.responses.users": ["u1"],
        "note.responses.status": ["submitted"], "disputed.responses": None, "label.suggestion": None, **changes,
    }  # fmt: skip


def read_records(tmp_path: Path, *records: Any, **options: Any) -> FileLabels:
    (tmp_path / "records.json").write_text(json.dumps(records))
    return read_argilla(tmp_path / "records.json", ReadOptions(**options))


def test_responses_of_argilla_are_labels_and_drafts_are_not(tmp_path: Path) -> None:
    found = read_records(tmp_path, record(), raters={"u2": "Ben"})
    (one,) = found.rows
    assert (one.rater, one.label, one.note, one.blind, one.labelled_at) == ("argilla:u1", "CORRECT", "hm", True, None)
    assert found.notes == (
        "left out, drafts that nobody has submitted: 1",
        "user u1 has no name here; 'argilla:u1' stands for it, or give --rater u1=NAME",
    )


def test_a_discarded_response_is_a_skip_and_a_suggestion_in_sight_is_recorded(tmp_path: Path) -> None:
    statuses = {"label.responses.status": ["discarded", "submitted"], "note.responses.status": ["discarded"]}
    changes = {**statuses, "label.suggestion": "CORRECT"}
    rows = read_records(tmp_path, record(**changes)).rows
    assert [(one.label, one.note, one.skipped, one.blind) for one in rows] == [
        (None, "hm", True, False), ("INCORRECT", "", False, False),
    ]  # fmt: skip


def test_a_response_without_a_status_may_be_a_draft(tmp_path: Path) -> None:
    answer = {"label": [{"value": "CORRECT", "user_id": "u1"}]}
    nested = {"id": "i00", "fields": {}, "metadata": {"item_id": "i00"}, "suggestions": {}, "responses": answer}
    with pytest.raises(ReviewError, match=r"records\.json:record 1: a response without a status"):
        read_records(tmp_path, nested)
    (one,) = read_records(tmp_path, nested, assume_submitted=True).rows
    assert (one.label, one.item_id) == ("CORRECT", "i00")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label.responses.users": ["u1"]}, "unequal lengths"),
        ({"label.responses.status": ["pending", "draft"]}, "status"),
        ({"label.responses": [1, 2]}, "answers"),
        ({"autorater": "[1]"}, "metadata autorater"),
        ({"item_digest": 5}, "item_digest 5"),
    ],
)
def test_what_is_no_record_is_named_with_its_number(tmp_path: Path, changes: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ReviewError, match=rf"records\.json:record 2: .*{message}"):
        read_records(tmp_path, record(), record(**changes))


def test_other_questions_are_named(tmp_path: Path) -> None:
    more = {"mood.responses": [1, 2], "mood.responses.users": ["u1", "u2"], "mood.responses.status": ["draft"] * 2}
    assert "not read, responses to the question 'mood': 2" in read_records(tmp_path, record(**more)).notes


def test_a_changed_response_keeps_its_rater_and_loses_its_time(tmp_path: Path) -> None:
    data = json.loads(write_records(REVIEW, [row(blind=False)], {}, {"Ann": "u1"}))[0]
    data["responses"]["label"][0]["value"] = "INCORRECT"
    (one,) = read_records(tmp_path, data).rows
    assert (one.rater, one.label, one.labelled_at, one.blind) == ("Ann", "INCORRECT", None, True)


def test_the_settings_ask_for_a_label_of_the_scale_and_know_every_field() -> None:
    settings_data = json.loads(render_settings(REVIEW))
    label = next(one for one in settings_data["questions"] if one["name"] == "label")
    assert [option["value"] for option in label["settings"]["options"]] == list(LABELS)
    assert label["required"]
    data = json.loads(write_records(REVIEW, [], {}, {}))[0]
    assert [one["name"] for one in settings_data["fields"]] == list(data["fields"])
    assert settings_data["distribution"] == {"strategy": "overlap", "min_submitted": 1}


def test_ids_of_unknown_raters_differ_and_stay() -> None:
    assert user_id("Ann", {}) == user_id("Ann", {"Ben": "u"}) != user_id("Ben", {})
    assert user_id("Ann", {"Ann": "u9"}) == "u9"


def test_of_several_suggestions_the_least_divided_is_shown() -> None:
    hints = [Hint("a", "CORRECT", 0.6), Hint("b", "INCORRECT", 0.9)]
    data = json.loads(write_records(REVIEW, [], {REVIEW.work[0].item_digest: hints}, {}))[0]
    assert data["suggestions"] == {"label": {"value": "INCORRECT", "score": 0.9, "agent": "b"}}


def test_reading_options_are_names_and_ids() -> None:
    assert ReadOptions.parse(["Ann"]) == ReadOptions(rater="Ann")
    assert ReadOptions.parse(["3=Ann", "4 = Ben"]).raters == {"3": "Ann", "4": "Ben"}
    for bad in (["Ann", "Ben"], ["3=Ann", "3=Ben"], ["=Ann"], ["3="]):
        with pytest.raises(ReviewError, match="--rater"):
            ReadOptions.parse(bad)
