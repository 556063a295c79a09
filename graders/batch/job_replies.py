"""Replies of services that take jobs: raw JSON in, parts or a :class:`CallError` out, nowhere the key."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from types import ModuleType
from typing import Any

from graders.dispatch.http_errors import http_call_error
from graders.dispatch.secrets import HIDDEN, hide_secrets
from graders.dispatch.service import CallError
from graders.verdict import Usage

__all__ = ["NOT_BILLED", "NO_CALL", "STRAY_LINE", "JobReplies", "count_at", "mapping_at", "text_at", "told_reason"]

NOT_BILLED = Usage(0, 0, 0, 0, 0)
"""What a call costs that its service never ran."""

NO_CALL = ""
"""The id under which a line of results comes that is of none of a job's calls."""

STRAY_LINE = CallError("unreadable_reply", "a line of the results is no JSON object, or of none of the job's calls")
"""What becomes of a line of results that belongs to no call."""

_SHORTEST_SECRET = 8
"""A shorter key, such as a local server's "none", may stand in a reply as a word."""

_LONGEST_REASON = 200


class JobReplies:
    """Reads what a service sends, whose SDK is ``openai`` or ``anthropic``: their exceptions bear the same names.

    Parameters
    ----------
    sdk
        The SDK's module.
    key
        The key, or an empty string. Should the service tell it back, it is hidden before anything is read:
        replies are stored, and errors are shown.
    """

    def __init__(self, sdk: ModuleType, key: str) -> None:
        self._sdk = sdk
        self._key = key.encode()

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """Raise the errors of the SDK, and of the connection below it, as :class:`CallError`."""
        import httpx2

        sdk = self._sdk
        try:
            yield
        except sdk.APIStatusError as error:
            raise self._refusal(error) from error
        except (sdk.APIConnectionError, httpx2.HTTPError) as error:
            raise _lost(error, isinstance(error, (sdk.APITimeoutError, httpx2.TimeoutException))) from error
        except (sdk.APIError, ValueError) as error:
            # The SDK's own trouble with a reply, such as JSON that breaks off.
            raise CallError("unreadable_reply", f"the reply could not be read ({type(error).__name__})") from error

    def parse_object(self, content: bytes) -> Mapping[str, Any]:
        """A JSON object.

        Raises
        ------
        CallError
            If it is none.
        """
        value = self._load(content)
        if not isinstance(value, dict):
            raise CallError("unreadable_reply", "reply: no JSON object; expected one")
        return value

    def parse_lines(self, fetch: Callable[[], Generator[bytes]]) -> Iterator[Mapping[str, Any] | None]:
        """The JSON objects of a file of lines, empty ones left out; ``None`` for a line that is no object.

        Only a line feed ends a line: a reply may hold the other characters that Unicode counts as line ends.

        Parameters
        ----------
        fetch
            Begins to receive the file. A file that ends in the middle of a line is received a second time:
            if it is no longer then, that is how it is, and not the connection's fault.

        Raises
        ------
        CallError
            If the file broke off on its way.
        """
        rest, n_bytes = b"", 0
        with closing(fetch()) as chunks:
            for chunk in chunks:
                n_bytes += len(chunk)
                *lines, rest = (rest + chunk).split(b"\n")
                yield from (self._line(line) for line in lines if line.strip())
        if not rest.strip():
            return
        last = self._line(rest)
        if last is None and _measure(fetch) != n_bytes:
            raise CallError("connection", f"the results broke off after {n_bytes} bytes")
        yield last

    def _line(self, line: bytes) -> Mapping[str, Any] | None:
        value = self._load(line)
        return value if isinstance(value, dict) else None

    def _load(self, content: bytes) -> object:
        try:
            return json.loads(self._without_key(content))
        except (ValueError, RecursionError):
            return None

    def _without_key(self, content: bytes) -> bytes:
        is_secret = len(self._key) >= _SHORTEST_SECRET
        return content.replace(self._key, HIDDEN.encode()) if is_secret else content

    def _refusal(self, error: Any) -> CallError:
        response = error.response
        headers = {name.lower(): value for name, value in response.headers.items()}
        content = self._without_key(response.content)
        try:
            body: object = json.loads(content)
        except (ValueError, RecursionError):
            body = content.decode(errors="replace")
        return http_call_error(error.status_code, body, headers)


def _measure(fetch: Callable[[], Generator[bytes]]) -> int:
    with closing(fetch()) as chunks:
        return sum(len(chunk) for chunk in chunks)


def _lost(error: Exception, is_timeout: bool) -> CallError:
    """No reply came: the server was never reached, or took too long, or the connection failed meanwhile."""
    import httpx2

    cause = error.__cause__ or error
    chain: list[BaseException] = [cause]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    no_connection = (httpx2.ConnectError, httpx2.ConnectTimeout, ConnectionRefusedError, socket.gaierror)
    if any(isinstance(one, no_connection) for one in chain):
        return CallError("unreachable", f"no connection was made ({type(cause).__name__})")
    if is_timeout:
        return CallError("timeout", f"no answer in time ({type(error).__name__})")
    return CallError("connection", f"the connection failed ({type(cause).__name__})")


def told_reason(error: Mapping[str, Any], otherwise: str) -> str:
    """Code and message of an error in one line, without anything that looks like a key."""
    told = hide_secrets(f"{error.get('code')}: {error.get('message') or otherwise}")
    line = " ".join("".join(char if char.isprintable() else " " for char in told).split())
    if len(line) <= _LONGEST_REASON:
        return line
    # Cut between words: half a key is recognised by nobody who looks for a whole one.
    return f"{line[: _LONGEST_REASON - 1].rpartition(' ')[0]}…"


def mapping_at(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object of that name; an empty one where there is none."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def count_at(value: Mapping[str, Any], name: str) -> int:
    """The number of that name; 0 where there is none."""
    found = value.get(name)
    return found if isinstance(found, int) else 0


def text_at(value: Mapping[str, Any], name: str) -> str:
    """The text of that name.

    Raises
    ------
    CallError
        If there is none.
    """
    found = value.get(name)
    if not isinstance(found, str) or not found:
        raise CallError("unreadable_reply", f"reply: {name} missing; expected a text")
    return found
