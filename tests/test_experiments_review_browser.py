"""The labelling pages in a browser: by keyboard, by several raters, through crashes."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from review_browser import SETTLE, begin, item_of, open_page, press, serving, write_note
from review_pages import (
    ReviewServer,
    make_plan,
    make_set,
    open_desk,
    write_small_set,
)

from experiments.review.label_store import LabelStore
from experiments.review.labels import load_labels

pytestmark = [pytest.mark.browser, pytest.mark.slow]


LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")


def label_all(page: Any, server: ReviewServer, rater: str, keys: str, *, crash_at: int) -> None:
    """Label by keyboard; in between reload, then kill the server and go on with the same page."""
    page.goto(server.url)
    begin(page, rater)
    for place, key in enumerate(keys):
        assert item_of(page) == f"Item {place + 1} of 30"
        if place == crash_at - 3:
            page.reload()
            assert item_of(page) == f"Item {place + 1} of 30"
        if place == crash_at:
            server.kill()
            server.start()
        press(page, key)


def test_thirty_items_by_keyboard_two_raters_an_adjudication_and_crashes(tmp_path: Path, chromium: Any) -> None:
    write_small_set(tmp_path, make_set(n=30))
    server = ReviewServer(tmp_path, ("./small", "--double", "1"))
    ann_keys = "123" * 10
    ben_keys = "123" * 9 + "122"
    server.start()
    try:
        with open_page(chromium, expects="net::ERR_|Failed to fetch") as page:
            label_all(page, server, "Ann", ann_keys, crash_at=7)
            assert item_of(page) == "Nothing is open to you"
        with open_page(chromium, expects="net::ERR_|Failed to fetch") as page:
            label_all(page, server, "Ben", ben_keys, crash_at=20)
            page.goto(f"{server.url}adjudicate?rater=Cho")
            assert item_of(page) == "Decide item 30 of 30"
            page.keyboard.press("n")
            page.keyboard.type("see the range: 123 s d u")
            page.keyboard.press("Escape")
            server.kill()
            server.start()
            press(page, "3")
            assert item_of(page) == "No labels to decide between"
            page.goto(f"{server.url}progress?rater=Cho")
            assert "96.7% [" in page.locator(".agreement").inner_text()
        assert "60 of 60 labels given, 0 disagreements" in server.interrupt()
    finally:
        server.stop()
    with LabelStore(tmp_path / "labels.sqlite", must_exist=True) as store:
        found = load_labels(store)
    said = {rater: [row.label for row in found if row.rater == rater] for rater in ("Ann", "Ben", "Cho")}
    assert said["Ann"] == [LABELS[int(key) - 1] for key in ann_keys]
    assert said["Ben"] == [LABELS[int(key) - 1] for key in ben_keys]
    assert said["Cho"] == ["CORRECT"]
    assert [(row.role, row.note) for row in found if row.rater == "Cho"] == [
        ("adjudication", "see the range: 123 s d u")
    ]
    assert all(row.blind for row in found)


def test_each_key_does_its_work(tmp_path: Path, chromium: Any) -> None:
    desk = open_desk(tmp_path)
    with serving(desk) as url, open_page(chromium) as page:
        page.goto(f"{url}label?rater=Ann")
        press(page, "d")
        assert page.locator("#flag").get_attribute("aria-pressed") == "true"
        assert item_of(page).startswith("Item 1 ")
        press(page, "d")
        assert page.locator("#flag").get_attribute("aria-pressed") == "false"
        press(page, "s")
        assert item_of(page).startswith("Item 2 ")
        press(page, "u")
        assert item_of(page).startswith("Item 1 ")
        page.keyboard.press("n")
        page.keyboard.type("1 2 3")
        with page.expect_response(lambda response: response.status == 204):
            page.keyboard.press("Escape")
        assert [row.note for row in load_labels(desk._store)] == ["1 2 3"], "saved on leaving the field"
        page.keyboard.press("?")
        assert page.locator("details.keys").get_attribute("open") is not None
        page.keyboard.press("?")
        assert page.locator("details.keys").get_attribute("open") is None
        press(page, "1")
        assert item_of(page).startswith("Item 2 ")
        assert page.locator("#status").text_content() == "Item 1: INCORRECT. Now item 2; 5 open."
        assert page.evaluate("document.activeElement.tagName") == "H1"
        assert page.evaluate("location.search") == "?rater=Ann"


def test_a_key_that_is_held_or_pressed_again_makes_one_label(tmp_path: Path, chromium: Any) -> None:
    desk = open_desk(tmp_path)
    with serving(desk) as url, open_page(chromium) as page:
        page.goto(f"{url}label?rater=Ann")
        page.wait_for_timeout(SETTLE)
        for _ in range(6):
            page.keyboard.down("3")  # the first is a press, the others repeat it
        page.keyboard.up("3")
        page.keyboard.press("3")
        page.locator("h1", has_text="Item 2").wait_for()
        page.locator("[data-key='1']").dblclick(delay=5)
        page.wait_for_timeout(SETTLE)
        page.locator("[data-key='1']").dblclick(delay=5)
        page.wait_for_timeout(2 * SETTLE)
        labelled = [event.item_digest for event in desk.read().events if event.kind == "label"]
        assert len(labelled) == len(set(labelled))
        assert 1 <= len(labelled) <= 2


def test_two_raters_in_two_browsers_at_once(tmp_path: Path, chromium: Any) -> None:
    desk = open_desk(tmp_path, make_plan(make_set(n=8)))
    with serving(desk) as url, open_page(chromium) as ann, open_page(chromium) as ben:
        ann.goto(f"{url}label?rater=Ann")
        ben.goto(f"{url}label?rater=Ben")
        assert item_of(ann) != item_of(ben)
        for _ in range(4):
            press(ann, "1")
            press(ben, "3")
        ann.reload()
        ben.reload()
        assert {item_of(ann), item_of(ben)} == {"Nothing is open to you"}
    found = load_labels(desk._store)
    assert len(found) == 8
    assert {row.rater for row in found} == {"Ann", "Ben"}


def test_a_server_that_is_gone_is_said_and_the_label_can_be_sent_again(tmp_path: Path, chromium: Any) -> None:
    write_small_set(tmp_path, make_set(n=3))
    server = ReviewServer(tmp_path, ("./small", "--rater", "Ann"))
    server.start()
    try:
        with open_page(chromium, expects="net::ERR_|Failed to fetch") as page:
            page.goto(server.url)
            page.keyboard.press("n")
            page.keyboard.type("kept")
            server.kill()
            page.keyboard.press("Escape")
            page.wait_for_timeout(SETTLE)
            page.keyboard.press("3")
            page.locator("#alert", has_text="may not have been recorded").wait_for()
            server.start()
            page.locator("#alert", has_text="answers again").wait_for()
            assert page.locator("#note").input_value() == "kept"
            press(page, "3")
            assert item_of(page) == "Item 2 of 3"
            assert page.locator("#alert").inner_text() == ""
    finally:
        server.stop()
    with LabelStore(tmp_path / "labels.sqlite") as store:
        assert [(row.label, row.note) for row in load_labels(store)] == [("CORRECT", "kept")]


def test_a_kill_between_two_labels_loses_none_that_was_told(tmp_path: Path, chromium: Any) -> None:
    """What the page has moved on from is in the file at once, read by another program."""
    write_small_set(tmp_path, make_set(n=6))
    server = ReviewServer(tmp_path, ("./small", "--rater", "Ann"))
    server.start()
    try:
        with open_page(chromium, expects="net::ERR_|Failed to fetch") as page:
            page.goto(server.url)
            for place in range(1, 4):
                press(page, "3")
                server.kill()
                connection = sqlite3.connect(tmp_path / "labels.sqlite")
                assert connection.execute("SELECT count(*) FROM events").fetchone() == (place,)
                connection.close()
                server.start()
    finally:
        server.stop()


def test_a_lost_answer_is_told_and_the_page_shows_what_was_stored(tmp_path: Path, chromium: Any) -> None:
    desk = open_desk(tmp_path)

    def lose_answer(route: Any) -> None:
        if route.request.method == "POST":
            route.fetch(max_redirects=0)
        route.abort()

    with serving(desk) as url, open_page(chromium, expects="net::ERR_|Failed to fetch") as page:
        page.goto(f"{url}label?rater=Ann")
        page.route("**/label", lose_answer)
        page.wait_for_timeout(SETTLE)
        page.keyboard.press("3")
        page.locator("#alert", has_text="may not have been recorded").wait_for()
        page.unroute("**/label")
        press(page, "1")
        assert [row.label for row in load_labels(desk._store)] == ["INCORRECT"], "the second choice stands"
        page.goto(f"{url}label?rater=Ann&item=2")
        page.route("**/label", lose_answer)
        page.wait_for_timeout(SETTLE)
        page.keyboard.press("2")
        page.locator("#alert", has_text="as it is recorded: NOT_ATTEMPTED").wait_for()
        assert item_of(page) == "Item 2 of 6"
        assert "You said NOT_ATTEMPTED" in page.locator(".standing").inner_text()


def test_a_note_outlives_a_reload_and_is_saved_while_it_is_written(tmp_path: Path, chromium: Any) -> None:
    desk = open_desk(tmp_path)
    with serving(desk) as url, open_page(chromium) as page:
        page.goto(f"{url}label?rater=Ann&item=1")
        page.locator("#note").fill("half a thou")
        page.reload()
        assert page.locator("#note").input_value() == "half a thou"
        with page.expect_response(lambda response: response.status == 204):
            page.locator("#note").press_sequentially("ght")
        assert [row.note for row in load_labels(desk._store)] == ["half a thought"]
        with page.expect_response(lambda response: response.status == 204):
            page.locator("#note").fill("")
        page.reload()
        assert page.locator("#note").input_value() == ""
        page.locator("#note").fill("with the label")
        page.keyboard.press("Escape")
        press(page, "3")
        page.goto(f"{url}label?rater=Ann&item=2")
        assert page.locator("#note").input_value() == "", "of another item"
    (row,) = load_labels(desk._store)
    assert (row.label, row.note) == ("CORRECT", "with the label")


def test_a_tab_that_saved_a_note_does_not_put_it_over_a_newer_one(tmp_path: Path, chromium: Any) -> None:
    desk = open_desk(tmp_path)
    with serving(desk) as url, open_page(chromium) as one, open_page(chromium) as other:
        for page in (one, other):
            page.goto(f"{url}label?rater=Ann&item=1")
            write_note(page, "older" if page is one else "newer")
        press(one, "3")
    (row,) = load_labels(desk._store)
    assert (row.label, row.note) == ("CORRECT", "newer")


def test_what_was_written_and_taken_back_comes_back_over_nothing(tmp_path: Path, chromium: Any) -> None:
    desk = open_desk(tmp_path)
    with serving(desk) as url, open_page(chromium) as one, open_page(chromium) as other:
        for page in (one, other):
            page.goto(f"{url}label?rater=Ann&item=1")
        one.locator("#note").fill("x")
        one.locator("#note").fill("")
        write_note(other, "newer")
        one.reload()
        assert one.locator("#note").input_value() == "newer"
        one.wait_for_timeout(1500)
    assert [row.note for row in load_labels(desk._store)] == ["newer"]
