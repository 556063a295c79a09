"""The labelling pages in a browser: for everybody, on every screen, with and without script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from review_browser import item_of, open_page, press, serving
from review_pages import (
    make_plan,
    make_set,
    open_desk,
    with_verdicts,
)

from experiments.review.desk import Desk
from experiments.review.events import NewEvent
from experiments.review.labels import load_labels

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_without_script_the_forms_do_the_work(tmp_path: Path, chromium: Any) -> None:
    desk = open_desk(tmp_path, make_plan(make_set(n=2)))
    with serving(desk) as url, open_page(chromium, java_script_enabled=False) as page:
        page.goto(url)
        page.get_by_label("Your name").fill("Ann")
        page.get_by_role("button", name="Begin").click()
        page.locator("#note").fill("by hand")
        page.get_by_role("button", name="Save the note").click()
        page.get_by_role("button", name="Dispute the reference").click()
        page.get_by_role("button", name="INCORRECT").click()
        assert item_of(page) == "Item 2 of 2"
        page.get_by_role("button", name="Undo").click()
        assert item_of(page) == "Item 1 of 2"
        page.get_by_role("button", name="CORRECT", exact=True).click()
        page.get_by_role("button", name="Skip").click()
        assert item_of(page) == "Nothing is open to you"
    found = [(row.label, row.note, row.disputed) for row in load_labels(desk._store)]
    assert found == [("CORRECT", "by hand", True), (None, "", False)]


def test_what_others_do_is_seen_live(tmp_path: Path, chromium: Any) -> None:
    desk = open_desk(tmp_path)
    with serving(desk) as url, open_page(chromium) as page:
        page.goto(f"{url}progress?rater=Ann")
        assert "0 of 6" in page.locator(".facts").inner_text()
        digest = desk.review.work[0].item_digest
        desk.record(NewEvent(token="t", rater="Ben", item_digest=digest, kind="label", label="CORRECT"))
        page.locator(".facts", has_text="1 of 6").wait_for()
        assert "Ben" in page.locator("table").inner_text()


def fill(desk: Desk) -> None:
    """Labels of two raters, one item of which differs, and a decision."""
    digests = list(desk.review.items)
    for place, digest in enumerate(digests[:5]):
        for rater in ("Ben", "Cho"):
            label = "CORRECT" if rater == "Ben" or place > 1 else "INCORRECT"
            desk.record(
                NewEvent(
                    token=f"{rater}{place}", rater=rater, item_digest=digest, kind="label", label=label, note="why"
                )
            )
    desk.record(NewEvent(token="d", rater="Dee", item_digest=digests[0], kind="adjudicate", label="CORRECT"))


PAGES = {
    "people": "",
    "label": "label?rater=Ann",
    "labelled": "label?rater=Ben&item=1",
    "done": "label?rater=Eve",
    "adjudicate": "adjudicate?rater=Ann",
    "progress": "progress?rater=Ann",
    "problem": "label?rater=Ann&item=99",
}


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_for_everybody(tmp_path: Path, chromium: Any, width: int, scheme: Any) -> None:
    """No serious finding of axe, nothing wider than the page."""
    from axe_playwright_python.sync_playwright import Axe

    texts = ["A long answer. " * 300, "word" * 200, "short", "x", "y", "z", "w"]
    desk = open_desk(tmp_path, with_verdicts(make_plan(make_set(texts), double=1.0)), show_verdicts=True)
    fill(desk)
    for digest in desk.review.items:
        desk.record(NewEvent(token=f"e{digest}", rater="Eve", item_digest=digest, kind="skip"))
    with serving(desk) as url, open_page(chromium, width=width, color_scheme=scheme, expects="status of 400") as page:
        for name, path in PAGES.items():
            page.goto(f"{url}{path}")
            if page.locator("details.keys").count():
                page.keyboard.press("?")
            found = [
                (name, one["id"], [node["target"] for node in one["nodes"]])
                for one in Axe().run(page).response["violations"]
                if one["impact"] in ("serious", "critical")
            ]
            assert found == []
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name


def test_nothing_moves_when_the_next_item_comes(tmp_path: Path, chromium: Any) -> None:
    desk = open_desk(tmp_path)
    with serving(desk) as url, open_page(chromium, width=400, height=800) as page:
        page.goto(f"{url}label?rater=Ann")
        page.evaluate(
            "window.moved = 0; new PerformanceObserver(list => list.getEntries().forEach(one => {"
            "if (!one.hadRecentInput) window.moved += one.value })).observe({type: 'layout-shift', buffered: true})"
        )
        before = page.locator(".labels").bounding_box()
        press(page, "1")
        press(page, "2")
        assert page.locator(".labels").bounding_box() == before
        assert page.evaluate("window.moved") < 0.05
