"""Requests that are sent by halves: they end, and nobody waits because of them."""

from __future__ import annotations

import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from starlette.responses import PlainTextResponse

import experiments.review.connections
from experiments.review.connections import MOST_WAITING
from experiments.review.security import AccessRules, Guard
from experiments.review.serving import bind_address, serve

HEAD = b"POST /label HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
FORM = HEAD + b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 20\r\n\r\n"


@contextmanager
def listening(monkeypatch: pytest.MonkeyPatch, seconds: float) -> Iterator[tuple[str, int]]:
    """The server as it is, with pages that answer everything; requests may take so long to arrive."""
    monkeypatch.setattr(experiments.review.connections, "REQUEST_SECONDS", seconds)
    servers: list[uvicorn.Server] = []
    made = uvicorn.Server
    monkeypatch.setattr(uvicorn, "Server", lambda config: servers.append(made(config)) or servers[-1])
    address = bind_address("127.0.0.1", 0)
    place = address.listening.getsockname()
    app = Guard(PlainTextResponse("here"), AccessRules())  # type: ignore[arg-type]
    thread = threading.Thread(target=serve, args=(app, address), kwargs={"open_browser": False})
    thread.start()
    try:
        yield place
    finally:
        servers[0].should_exit = True
        thread.join()


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has ended a connection, perhaps after an answer."""
    connection.settimeout(5)
    try:
        while connection.recv(4096):
            pass
    except TimeoutError:
        return False
    except ConnectionResetError:
        pass
    return True


def ask(place: tuple[str, int]) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{place[1]}/", timeout=5) as answer:
        return bytes(answer.read())


@pytest.mark.parametrize("half", [b"", b"GET /x HTTP/1.1\r\nHost: ", HEAD])
def test_many_half_requests_take_nobodys_place(monkeypatch: pytest.MonkeyPatch, half: bytes) -> None:
    with listening(monkeypatch, 60) as place:
        others = [socket.create_connection(place) for _ in range(MOST_WAITING + 16)]
        for one in others:
            one.sendall(half)
        assert ask(place) == b"here"
        assert is_closed(others[0]), "the oldest made room"
        for one in others:
            one.close()


@pytest.mark.parametrize("half", [b"", HEAD, FORM, FORM + b"label="])
def test_a_request_that_does_not_come_whole_is_given_up(monkeypatch: pytest.MonkeyPatch, half: bytes) -> None:
    with listening(monkeypatch, 0.5) as place, socket.create_connection(place) as connection:
        begin = time.monotonic()
        connection.sendall(half)
        assert is_closed(connection)
        assert time.monotonic() - begin < 4
        assert ask(place) == b"here"


def test_a_byte_now_and_then_wins_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(monkeypatch, 0.5) as place, socket.create_connection(place) as connection:
        connection.sendall(HEAD + b"X: ")
        begin = time.monotonic()
        with pytest.raises(ConnectionError):  # noqa: PT012  # it is not known which of the bytes finds it closed
            while time.monotonic() - begin < 4:
                time.sleep(0.1)
                connection.sendall(b"x")


def test_requests_of_one_connection_each_have_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with listening(monkeypatch, 1.0) as place, socket.create_connection(place) as connection:
        for _ in range(3):
            connection.sendall(request)
            answer = b""
            while not answer.endswith(b"here"):
                answer += connection.recv(4096) or pytest.fail("closed")
            time.sleep(0.5)
