"""The labelling pages in process: what is recorded, what is shown, and that nothing of a response is more than text."""

from __future__ import annotations

import html
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from review_pages import HOST, fields_of, make_plan, make_set, open_client, open_desk, page_of, send, with_verdicts
from starlette.testclient import TestClient

from calibration_sets.scale import LabelScale
from experiments.review.desk import Desk
from experiments.review.label_store import LabelStore
from experiments.review.labels import load_labels


def undo(client: TestClient, page: str) -> str:
    form = page.partition('action="/undo"')[2].partition("</form>")[0]
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form))
    answer = client.post("/undo", data=fields)
    assert answer.status_code == 200, answer.text
    return answer.text


def number_of(page: str) -> str:
    found = re.search(r"<h1[^>]*>\s*(?:Item|Decide item) (\d+)", page)
    return found[1] if found else "none"


def rows(folder: Path) -> list[tuple[str, str, str | None]]:
    with LabelStore(folder / "labels.sqlite", must_exist=True) as store:
        return [(row.item_id, row.rater, row.label) for row in load_labels(store)]


def test_a_label_is_on_disk_and_the_next_item_comes(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path))
    first = page_of(client)
    assert number_of(first) == "1"
    second = send(client, first, label="CORRECT", note="  sure\r\nenough ")
    assert number_of(second) == "2"
    assert rows(tmp_path) == [("i00", "Ann", "CORRECT")]
    with LabelStore(tmp_path / "labels.sqlite") as store:
        (row,) = load_labels(store)
    assert (row.note, row.blind, row.role, row.part, row.probability) == ("sure\nenough", True, "label", "set", None)


def test_a_form_sent_again_makes_no_second_label(tmp_path: Path) -> None:
    desk = open_desk(tmp_path)
    client = open_client(desk)
    first = page_of(client)
    send(client, first, label="CORRECT")
    again = send(client, first, label="CORRECT")
    assert number_of(again) == "2"
    assert rows(tmp_path) == [("i00", "Ann", "CORRECT")]
    assert [event.kind for event in desk.read().events] == ["label"]


def test_another_label_from_a_page_whose_answer_was_lost_stands(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path))
    first = page_of(client)
    send(client, first, label="CORRECT")
    send(client, first, label="INCORRECT")
    assert rows(tmp_path) == [("i00", "Ann", "INCORRECT")]
    send(client, first, label="CORRECT")
    assert rows(tmp_path) == [("i00", "Ann", "CORRECT")]


def note_of(page: str) -> str:
    return html.unescape(page.partition("<textarea")[2].partition(">")[2].partition("</textarea>")[0].strip())


def save_note(client: TestClient, page: str, note: str) -> None:
    fields = {**fields_of(page), "action": "note", "note": note}
    assert client.post("/label", data=fields, headers={"hx-source": "textarea#note"}).status_code == 204


def test_the_last_note_of_a_page_stands_and_can_be_emptied(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path))
    page = page_of(client)
    for note in ("A", "B", "A", ""):
        save_note(client, page, note)
        assert note_of(page_of(client, item=1)) == note


def test_a_page_that_did_not_change_the_note_leaves_a_newer_one_alone(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path))
    save_note(client, page_of(client), "first\n\n<two> lines")
    stale, other = page_of(client, item=1), page_of(client, item=1)
    save_note(client, other, "newer")
    send(client, stale, label="CORRECT", note="first\r\n\r\n<two> lines")
    assert note_of(page_of(client, item=1)) == "newer"
    send(client, stale, label="CORRECT", note="changed here")
    assert note_of(page_of(client, item=1)) == "changed here"


def test_control_characters_do_not_get_into_notes(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path))
    save_note(client, page_of(client), "a\x00b\x1b[31m\x9b\r\n\tc\x7f")
    with LabelStore(tmp_path / "labels.sqlite") as store:
        assert [row.note for row in load_labels(store)] == ["ab[31m\n\tc"]


def test_a_range_that_the_text_of_the_reference_has_is_not_said_twice(tmp_path: Path) -> None:
    page = page_of(open_client(open_desk(tmp_path)))
    assert "acceptable range: anything between 90 and 200" in page
    assert "Acceptable range" not in page


def test_one_form_sent_from_many_threads_makes_one_label(tmp_path: Path) -> None:
    desk = open_desk(tmp_path)
    client = open_client(desk)
    fields = {**fields_of(page_of(client)), "label": "CORRECT"}
    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(lambda _: client.post("/label", data=fields).status_code, range(16)))
    assert codes == [200] * 16
    assert len(desk.read().events) == 1


def test_two_raters_at_once_lose_nothing_and_do_not_double_each_other(tmp_path: Path) -> None:
    desk = open_desk(tmp_path, make_plan(make_set(n=12)))

    def work(rater: str) -> None:
        client = open_client(desk)
        for _ in range(6):
            send(client, page_of(client, rater), label="CORRECT")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, ["Ann", "Ben"]))
    found = rows(tmp_path)
    assert len(found) == 12
    assert len({item for item, _, _ in found}) == 12


def test_two_tabs_on_one_item_keep_both_labels_and_undo_goes_back_to_the_first(tmp_path: Path) -> None:
    desk = open_desk(tmp_path)
    client = open_client(desk)
    one, other = page_of(client), page_of(client)
    send(client, one, label="CORRECT", note="seen")
    after = send(client, other, label="INCORRECT")
    assert rows(tmp_path) == [("i00", "Ann", "INCORRECT")]
    back = undo(client, after)
    assert number_of(back) == "1"
    assert "You said <b>CORRECT</b>" in back
    assert "seen</textarea>" in back, "the other page's empty field does not wipe the note out"
    undo(client, after)
    assert rows(tmp_path) == [("i00", "Ann", "CORRECT")], "undoing the same decision again changes nothing"


def test_skip_flag_and_note(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path))
    flagged = send(client, page_of(client), action="flag", note="two answers hold")
    assert number_of(flagged) == "1"
    assert 'aria-pressed="true"' in flagged
    assert "two answers hold</textarea>" in flagged
    assert 'aria-pressed="false"' in send(client, flagged, action="unflag")
    assert number_of(send(client, page_of(client), action="skip")) == "2"
    with LabelStore(tmp_path / "labels.sqlite") as store:
        (row,) = load_labels(store)
    assert (row.label, row.note, row.disputed) == (None, "two answers hold", False)


def test_a_note_that_is_saved_by_itself_does_not_use_up_the_token_of_the_label(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path))
    page = page_of(client)
    fields = {**fields_of(page), "action": "note", "note": "hm"}
    for _ in range(2):
        assert client.post("/label", data=fields, headers={"hx-source": "textarea#note"}).status_code == 204
    send(client, page, label="CORRECT", note="hm")
    assert rows(tmp_path) == [("i00", "Ann", "CORRECT")]


def test_what_was_skipped_can_be_opened_at_the_end(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path, make_plan(make_set(n=2))))
    send(client, page_of(client), action="skip")
    end = send(client, page_of(client), label="CORRECT")
    assert "Nothing is open to you" in end
    assert 'href="/label?rater=Ann&amp;item=1"' in end
    send(client, page_of(client, item=1), label="INCORRECT")
    assert rows(tmp_path) == [("i00", "Ann", "INCORRECT"), ("i01", "Ann", "CORRECT")]


def test_verdicts_are_hidden_until_labelled_and_looking_is_recorded(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path, with_verdicts(make_plan())))
    page = page_of(client)
    assert "grader/one" not in page
    refused = client.post("/reveal", data=fields_of(page))
    assert refused.status_code == 400
    assert "no label of yours" in refused.text
    send(client, page, label="CORRECT")
    labelled = page_of(client, item=1)
    assert "grader/one" not in labelled
    shown = send(client, labelled, "/reveal")
    assert "grader/one" in shown
    with LabelStore(tmp_path / "labels.sqlite") as store:
        assert [row.blind for row in load_labels(store)] == [True]
        send(client, shown, label="INCORRECT")
        assert [(row.label, row.blind) for row in load_labels(store)] == [("INCORRECT", False)]


def test_shown_verdicts_make_labels_that_are_not_blind(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path, with_verdicts(make_plan()), show_verdicts=True))
    page = page_of(client)
    assert "grader/one" in page
    send(client, page, label="CORRECT")
    with LabelStore(tmp_path / "labels.sqlite") as store:
        assert [row.blind for row in load_labels(store)] == [False]


def test_labels_that_differ_are_decided_by_somebody_who_is_recorded(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path, make_plan(make_set(n=1), double=1.0)))
    send(client, page_of(client, "Ann"), label="CORRECT", note="close enough")
    assert "No labels to decide between" in page_of(client, "Cho", "/adjudicate"), "not before both have labelled"
    send(client, page_of(client, "Ben"), label="INCORRECT")
    page = page_of(client, "Cho", "/adjudicate")
    assert "close enough" in page
    assert re.search(r"Ben.*INCORRECT", page, re.DOTALL)
    after = send(client, page, "/adjudicate", label="CORRECT", note="within the range")
    assert "No labels to decide between" in after
    with LabelStore(tmp_path / "labels.sqlite") as store:
        found = [(row.rater, row.label, row.role, row.note) for row in load_labels(store)]
    assert found == [
        ("Ann", "CORRECT", "label", "close enough"),
        ("Ben", "INCORRECT", "label", ""),
        ("Cho", "CORRECT", "adjudication", "within the range"),
    ]
    back = undo(client, after)
    assert number_of(back) == "1"
    assert "What raters said" in back


def test_labels_that_agree_cannot_be_adjudicated(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path, make_plan(make_set(n=1), double=1.0)))
    page = page_of(client)
    send(client, page, label="CORRECT")
    answer = client.post("/adjudicate", data={**fields_of(page), "label": "CORRECT"})
    assert answer.status_code == 400
    assert len(rows(tmp_path)) == 1


def test_progress_and_agreement_are_shown(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path, make_plan(make_set(n=4), double=1.0)))
    empty = page_of(client, "Ann", "/progress")
    assert empty.count("not defined") == 3
    for rater, labels in (("Ann", ("CORRECT",) * 3), ("Ben", ("CORRECT", "CORRECT", "INCORRECT"))):
        for label in labels:
            send(client, page_of(client, rater), label=label)
    shown = page_of(client, "Ann", "/progress")
    assert "6 of 8" in shown
    assert "66.7% [" in shown
    assert "1 of 1</b> disagreements" in shown


def test_scales_of_other_sizes_have_their_keys(tmp_path: Path) -> None:
    scale = LabelScale("twelve", tuple(f"L{place}" for place in range(12)), "ordinal")
    client = open_client(open_desk(tmp_path, make_plan(make_set(scale=scale))))
    page = page_of(client)
    assert re.findall(r'name="label" value="(L\d+)"[^>]*?(?:data-key="(\d)"|>)', page) == [
        (f"L{place}", str(place + 1) if place < 9 else "") for place in range(12)
    ]
    send(client, page, label="L11")
    assert rows(tmp_path) == [("i00", "Ann", "L11")]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"token": "short"}, "no token"),
        ({"token": ""}, "no token"),
        ({"item": "0" * 64}, "unknown item"),
        ({"review": "another-1"}, "another review"),
        ({"rater": "   "}, "name"),
        ({"rater": "x" * 81}, "name"),
        ({"rater": "a\x00b"}, "name"),
        ({"label": "PERHAPS"}, "PERHAPS"),
        ({"label": "CORRECT", "note": "n" * 4001}, "4,001"),
        ({"action": "delete"}, "delete"),
        ({}, "action"),
    ],
)
def test_a_form_that_is_not_one_of_ours_records_nothing(tmp_path: Path, changes: dict[str, str], said: str) -> None:
    desk = open_desk(tmp_path)
    client = open_client(desk)
    answer = client.post("/label", data={**fields_of(page_of(client)), **changes})
    assert answer.status_code == 400
    assert said in html.unescape(answer.text)
    assert not desk.read().events


@pytest.mark.parametrize("target", ["0", "-1", "1e3", "９", "9" * 18, "9" * 40, ""])
def test_only_own_decisions_can_be_undone(tmp_path: Path, target: str) -> None:
    desk = open_desk(tmp_path)
    client = open_client(desk)
    page = page_of(client)
    send(client, page, label="CORRECT")
    fields = {**fields_of(page), "token": "f" * 32}
    assert client.post("/undo", data={**fields, "target": target}).status_code == 400
    assert client.post("/undo", data={**fields, "target": "1", "rater": "Ben"}).status_code == 400
    assert rows(tmp_path) == [("i00", "Ann", "CORRECT")]


@pytest.mark.parametrize("item", ["0", "7", "-1", "x", "١", "9" * 30])
def test_a_number_that_no_item_has(tmp_path: Path, item: str) -> None:
    client = open_client(open_desk(tmp_path))
    answer = client.get("/label", params={"rater": "Ann", "item": item})
    assert answer.status_code == 400
    assert "expected a number from 1 to 6" in html.unescape(answer.text)


def test_reading_changes_nothing(tmp_path: Path) -> None:
    desk = open_desk(tmp_path)
    client = open_client(desk)
    for path in ("/", "/people", "/label", "/adjudicate", "/progress", "/undo", "/reveal"):
        client.get(path, params={"rater": "Ann", "label": "CORRECT", "action": "skip"})
    assert not desk.read().events


def test_the_start_page_asks_who_labels_and_lists_who_did(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path))
    assert "Who labels?" in client.get("/").text
    send(client, page_of(client, "Ann Lee"), label="CORRECT")
    assert 'href="/label?rater=Ann+Lee"' in client.get("/").text
    assert '<b dir="auto">Ann Lee</b>' in page_of(client, " ann   LEE "), "one person, however the name is typed"


def test_a_rater_who_was_named_goes_to_work_at_once(tmp_path: Path) -> None:
    from experiments.review.app import build_app
    from experiments.review.security import AccessRules

    app = build_app(open_desk(tmp_path), AccessRules(), rater="Ann")
    with TestClient(app, base_url=HOST) as client:
        assert number_of(client.get("/").text) == "1"


def test_a_store_that_cannot_be_written_is_said_and_nothing_pretended(tmp_path: Path) -> None:
    desk = open_desk(tmp_path)
    client = open_client(desk)
    page = page_of(client)
    with desk._store._writing() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
    answer = client.post("/label", data={**fields_of(page), "label": "CORRECT"})
    assert answer.status_code == 503
    assert "nothing was recorded" in answer.text


def test_a_second_server_on_the_same_labels_sees_them(tmp_path: Path) -> None:
    one, other = open_desk(tmp_path), open_desk(tmp_path)
    send(open_client(one), page_of(open_client(one)), label="CORRECT")
    assert number_of(page_of(open_client(other))) == "2"


def test_labels_are_shared_by_reviews_of_the_same_rubric(tmp_path: Path) -> None:
    """A review of fewer of the items, or one that doubles others, asks nobody twice."""
    all_items = make_set(n=6)
    client = open_client(open_desk(tmp_path, make_plan(all_items)))
    send(client, page_of(client), label="CORRECT")
    fewer = Desk(LabelStore(tmp_path / "labels.sqlite"), make_plan(make_set(n=3)))
    assert number_of(page_of(open_client(fewer))) == "2"
