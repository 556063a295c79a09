"""Who may reach the labelling pages: names, origins, tokens, sizes, methods, and what a browser is told."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from review_pages import HOST, fields_of, open_client, open_desk
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Message

from experiments.review.security import HEADERS, LONGEST_FORM, AccessRules, Guard

TOKEN = "t" * 32
PASSED = "let through"
OPEN = AccessRules(names=frozenset({"box.lan"}), any_address=True, token=TOKEN)


def guarded(rules: AccessRules, **headers: str) -> TestClient:
    """Behind the guard stands a page that answers everything with that it was let through."""
    return TestClient(Guard(PlainTextResponse(PASSED), rules), base_url=HOST, headers=headers)


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8765", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:9000", "127.3.2.1", "[::1]:8765"]
)
def test_names_of_this_machine_are_answered(host: str) -> None:
    assert guarded(AccessRules()).get("/", headers={"host": host}).text == PASSED


@pytest.mark.parametrize(
    "host",
    [
        "attacker.test",
        "localhost.attacker.test",
        "127.0.0.1.nip.io",
        "localhost@attacker.test",
        "attacker.test@localhost",
        "localhost/x",
        "localhost#.attacker.test",
        "localhost:80:80",
        "[localhost]",
        "attacker.test:8765",
        "192.168.1.7",
        "0.0.0.0",
        "[2001:db8::1]",
        "2130706433",
        "0x7f.1",
        "",
        "[",
        "local host",
    ],
)
def test_a_name_that_was_rebound_to_this_machine_is_refused(host: str) -> None:
    answer = guarded(AccessRules()).get("/", headers={"host": host})
    assert answer.status_code == 421
    assert PASSED not in answer.text


def test_when_opened_addresses_and_own_names_are_answered_and_others_are_not() -> None:
    client = guarded(OPEN)
    for host in ("box.lan:8000", "192.168.1.7:8000", "[2001:db8::1]", "localhost"):
        assert client.get("/", params={"token": TOKEN}, headers={"host": host}).text == PASSED
    assert client.get("/", params={"token": TOKEN}, headers={"host": "attacker.test"}).status_code == 421


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": HOST}, 200),
        ({"origin": HOST.upper()}, 200),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"origin": "http://attacker.test"}, 403),
        ({"origin": "http://localhost:9999"}, 403),
        ({"origin": "http://localhost"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"origin": "http://attacker.test", "sec-fetch-site": "same-origin"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "none"}, 403),
        ({}, 403),
        ({"referer": f"{HOST}/label"}, 403),
    ],
)
def test_a_form_must_come_from_our_own_page(headers: dict[str, str], status: int) -> None:
    assert guarded(AccessRules()).post("/label", data={"a": "b"}, headers=headers).status_code == status


@pytest.mark.parametrize("given", ["", "wrong", TOKEN[:-1], TOKEN + "t", "é" * 32])
def test_without_the_token_nothing_is_shown_and_no_cookie_given(given: str) -> None:
    client = guarded(OPEN, origin=HOST)
    client.cookies.set(OPEN.cookie, "wrong")
    for answer in (client.get("/", params={"token": given}), client.post("/label", data={}, params={"token": given})):
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
        assert PASSED not in answer.text


def test_the_token_in_the_address_becomes_a_cookie_that_scripts_cannot_read() -> None:
    client = guarded(OPEN)
    cookie = client.get("/", params={"token": TOKEN}).headers["set-cookie"]
    assert {part.strip() for part in cookie.split(";")[1:]} == {"Path=/", "HttpOnly", "SameSite=Strict"}
    assert client.get("/label").text == PASSED, "the cookie is enough from then on"


@pytest.mark.parametrize(
    "others",
    [
        '{"theme":"dark","n":[1,2]}', 'prefs={"a": 1}', "a b=c d", "=x", "", "é=ü", '"', "x=\\073",
        f"{OPEN.cookie}=of another program", f" {OPEN.cookie} ",
    ],
)  # fmt: skip
def test_cookies_of_other_programs_lock_nobody_out(others: str) -> None:
    client = guarded(OPEN)
    own = f"{OPEN.cookie}={TOKEN}"
    for cookies in (f"{others}; {own}", f"{own};{others}", f"{others};{own} ;{others}"):
        assert client.get("/label", headers=[(b"cookie", cookies.encode())]).text == PASSED
    assert client.get("/label", headers=[(b"cookie", others.encode())]).status_code == 401
    assert client.get("/label", headers=[(b"cookie", f"x{own}".encode())]).status_code == 401


def test_cookies_of_two_reviews_on_one_host_do_not_meet() -> None:
    assert OPEN.cookie != AccessRules(token="u" * 32).cookie


def test_on_loopback_no_cookie_is_set() -> None:
    assert "set-cookie" not in guarded(AccessRules()).get("/", params={"token": "x"}).headers


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
def test_other_methods_are_refused(method: str) -> None:
    assert guarded(AccessRules()).request(method, "/label", headers={"origin": HOST}).status_code == 405


@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "application/json", "text/plain", ""])
def test_other_kinds_of_forms_are_refused(kind: str) -> None:
    answer = guarded(AccessRules()).post("/label", content=b"a=b", headers={"origin": HOST, "content-type": kind})
    assert answer.status_code == 415


def test_a_form_that_is_too_long_is_refused_by_its_header_and_by_its_bytes(tmp_path: Path) -> None:
    desk = open_desk(tmp_path)
    client = open_client(desk)
    fields = {**fields_of(client.get("/label", params={"rater": "Ann"}).text), "label": "CORRECT"}
    assert client.post("/label", data={**fields, "note": "x" * LONGEST_FORM}).status_code == 413

    def pieces() -> Iterable[bytes]:
        yield b"label=CORRECT&note="
        for _ in range(LONGEST_FORM // 1024):
            yield b"x" * 1024

    chunked = client.post(
        "/label", content=pieces(), headers={"content-type": "application/x-www-form-urlencoded", "origin": HOST}
    )
    assert chunked.status_code == 413
    assert not desk.read().events


@pytest.mark.parametrize("length", ["-1", "1e9", "٣", "99999999999999999999", "x"])
def test_a_length_that_is_none_is_refused(length: str) -> None:
    form = "application/x-www-form-urlencoded"
    headers = [(b"host", b"localhost"), (b"origin", b"http://localhost"), (b"content-type", form.encode())]
    headers.append((b"content-length", length.encode()))
    assert ask("POST", headers) == 413


def test_a_form_of_very_many_fields_is_refused(tmp_path: Path) -> None:
    desk = open_desk(tmp_path)
    answer = open_client(desk).post("/label", data={f"f{place}": "" for place in range(50)})
    assert answer.status_code == 400


def test_two_host_headers_are_refused() -> None:
    assert ask("GET", [(b"host", b"localhost"), (b"host", b"attacker.test")]) == 421
    assert ask("GET", []) == 421


def ask(method: str, headers: list[tuple[bytes, bytes]]) -> int:
    """The status of a request that no client library would send."""
    sent: list[Message] = []
    scope: dict[str, Any] = {
        "type": "http", "method": method, "path": "/label", "query_string": b"", "headers": headers,
    }  # fmt: skip

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(Guard(PlainTextResponse(PASSED), AccessRules())(scope, receive, send))
    return int(sent[0]["status"])


def test_every_answer_has_the_headers_refusals_and_files_too(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path))
    answers = [
        client.get("/"),
        client.get("/label", params={"rater": "Ann"}),
        client.get("/nothing"),
        client.get("/static/review.js"),
        client.get("/static/../app.py"),
        client.get("/", headers={"host": "attacker.test"}),
        client.post("/label", data={"rater": "Ann"}),
        client.post("/label", data={}, headers={"origin": "null"}),
    ]
    assert {answer.status_code for answer in answers} == {200, 400, 403, 404, 421}
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS


def test_the_policy_allows_our_files_and_nothing_else() -> None:
    rules = dict(part.strip().split(" ", 1) for part in HEADERS["Content-Security-Policy"].split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["frame-ancestors"] == "'none'"
    assert set(rules.values()) == {"'none'", "'self'"}


@pytest.mark.parametrize("path", ["/label", "/adjudicate", "/progress", "/people"])
def test_pages_have_no_script_or_style_of_their_own(tmp_path: Path, path: str) -> None:
    page = open_client(open_desk(tmp_path)).get(path, params={"rater": "Ann"}).text
    assert page.count("<script") == page.count('<script src="/static/') == 2
    assert "<style" not in page
    assert " style=" not in page
    assert not re.findall(r"<[^>]*\son\w+\s*=", page), "no event handler"
    assert "//" not in page.partition("<body>")[2], "no address but our own"


def test_files_of_the_program_are_not_served(tmp_path: Path) -> None:
    client = open_client(open_desk(tmp_path))
    for path in (
        "/static/",
        "/static/../desk.py",
        "/static/%2e%2e/desk.py",
        "/static/..%2fdesk.py",
        "/templates/base.html",
    ):
        assert client.get(path).status_code in (404, 405)


def test_web_sockets_are_closed() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(Guard(PlainTextResponse(PASSED), AccessRules())({"type": "websocket"}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
