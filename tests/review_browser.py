"""The labelling pages in a browser, for tests: served, opened, and worked by keyboard."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import uvicorn

from experiments.review.app import build_app
from experiments.review.desk import Desk
from experiments.review.serving import bind_address

SETTLE = 300
"""Milliseconds after which a page takes the next decision."""


@contextmanager
def serving(desk: Desk) -> Iterator[str]:
    """The pages of a desk at an address of their own."""
    address = bind_address("127.0.0.1", 0)
    config = uvicorn.Config(build_app(desk, address.rules), log_level="warning", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [address.listening]})
    thread.start()
    try:
        yield address.url
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def open_page(
    browser: Any, *, width: int = 1280, height: int = 900, expects: str = "(?!)", **options: Any
) -> Iterator[Any]:
    """A page of which any message in the console, error or dialog fails the test, but for those that match."""
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    context.set_default_timeout(20_000)
    page = context.new_page()
    told: list[str] = []
    page.on("console", lambda message: told.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: told.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (told.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    try:
        yield page
    finally:
        context.close()
    assert [line for line in told if not re.search(expects, line)] == []


def item_of(page: Any) -> str:
    return str(page.locator("h1").inner_text())


def press(page: Any, key: str) -> None:
    """Press a key once the page takes it, and wait for what comes of it."""
    page.wait_for_timeout(SETTLE)
    with page.expect_response(lambda response: response.request.method == "POST"):
        page.keyboard.press(key)
    page.locator("#page:not([aria-busy])").wait_for()


def begin(page: Any, rater: str) -> None:
    """Say who labels."""
    page.get_by_label("Your name").fill(rater)
    page.keyboard.press("Enter")
    page.wait_for_url("**/label?*")


def write_note(page: Any, text: str) -> None:
    """Write into the field and leave it."""
    page.locator("#note").fill(text)
    with page.expect_response(lambda response: response.status == 204) if text else nullcontext():
        page.keyboard.press("Escape")
