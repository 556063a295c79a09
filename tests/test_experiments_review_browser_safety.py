"""The labelling pages in a browser: hostile texts, other sites, and the token."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from review_browser import begin, item_of, open_page, press, serving, write_note
from review_pages import (
    HOSTILE,
    make_plan,
    make_set,
    open_desk,
)

import experiments.review.app
from experiments.review.app import build_app
from experiments.review.events import NewEvent
from experiments.review.serving import bind_address

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_hostile_texts_are_shown_as_text_and_nothing_runs(tmp_path: Path, chromium: Any) -> None:
    desk = open_desk(tmp_path, make_plan(make_set(HOSTILE), double=1.0))
    with serving(desk) as url, open_page(chromium) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        for place, text in enumerate(HOSTILE, start=1):
            page.goto(f"{url}label?rater=Ann&item={place}")
            assert page.title().startswith(f"Item {place} ")
            assert page.locator(".response *:not(i)").count() == 0, "text alone"
            if text and text.isprintable():
                assert page.locator(".response").text_content() == text
            write_note(page, text[:4000])
            press(page, "1")
        assert item_of(page) == "Nothing is open to you"
        for digest in list(desk.review.items)[:20]:
            note = desk.review.items[digest].response
            desk.record(
                NewEvent(
                    token=f"b{digest}", rater="<b>Ben", item_digest=digest, kind="label", label="CORRECT", note=note
                )
            )
        for place in range(1, 21):
            page.goto(f"{url}adjudicate?rater=Ann&item={place}")
            assert page.locator(".votes .text *").count() == 0
        page.goto(f"{url}progress?rater=Ann")
        page.wait_for_timeout(3500)
        assert "<b>Ben" in page.locator("table").inner_text()
        assert all(address.startswith(url) for address in asked)


def test_were_it_not_escaped_nothing_would_run_either(
    tmp_path: Path, chromium: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second wall: templates that escape nothing, and the browser still runs no script of a response."""
    made = experiments.review.app.Environment
    monkeypatch.setattr(
        experiments.review.app, "Environment", lambda **options: made(**{**options, "autoescape": False})
    )
    texts = [text for text in HOSTILE if "alert" in text]
    desk = open_desk(tmp_path, make_plan(make_set(texts)))
    refused = "Content Security Policy|ERR_BLOCKED_BY_RESPONSE|status of 404|Autofocus"
    with serving(desk) as url, open_page(chromium, expects=refused) as page:
        for place in range(1, len(texts) + 1):
            page.goto(f"{url}label?rater=Ann&item={place}")
            page.locator(".response").first.hover()
            page.wait_for_timeout(150)
            assert page.title() != "ran"
    assert not desk.read().events


def test_a_form_on_another_site_records_nothing(tmp_path: Path, chromium: Any) -> None:
    desk = open_desk(tmp_path)
    digest = desk.review.work[0].item_digest
    fields = {"review": desk.review.review_id, "rater": "Ann", "token": "a" * 32, "item": digest, "label": "CORRECT"}
    inputs = "".join(f'<input name="{name}" value="{value}">' for name, value in fields.items())
    with serving(desk) as url, open_page(chromium, expects="status of 403") as page:
        page.route("http://attacker.test/*", lambda route: route.fulfill(
            body=f'<form method=post action="{url}label">{inputs}<button>x</button></form>', content_type="text/html"
        ))  # fmt: skip
        page.goto("http://attacker.test/x")
        with page.expect_response(f"{url}label") as answered:
            page.locator("button").click()
        assert answered.value.status == 403
    assert not desk.read().events


def test_a_token_does_not_stay_in_the_address(tmp_path: Path, chromium: Any) -> None:
    desk = open_desk(tmp_path)
    address = bind_address("0.0.0.0", 0)
    server = uvicorn.Server(
        uvicorn.Config(build_app(desk, address.rules), log_level="warning", lifespan="off", ws="none")
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [address.listening]})
    thread.start()
    base = f"http://127.0.0.1:{address.listening.getsockname()[1]}/"
    try:
        with open_page(chromium, expects="status of 401") as page:
            assert page.goto(base).status == 401
            page.goto(f"{base}?token={address.rules.token}")
            assert page.url == base
            begin(page, "Ann")
            press(page, "1")
            assert item_of(page) == "Item 2 of 6"
    finally:
        server.should_exit = True
        thread.join()
