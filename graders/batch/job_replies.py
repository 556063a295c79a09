"""Replies of services that take jobs: raw JSON in, parts or a :class:`CallError` out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from graders.dispatch.http_errors import http_call_error
from graders.dispatch.service import CallError
from graders.verdict import Usage

__all__ = ["NOT_BILLED", "mapping_at", "parse_lines", "parse_object", "sdk_errors_named", "text_at"]

NOT_BILLED = Usage(0, 0, 0, 0, 0)
"""What a call costs that its service never ran."""


@contextmanager
def sdk_errors_named(sdk: ModuleType) -> Iterator[None]:
    """Raise the errors of a service's SDK, and of the connection below it, as :class:`CallError`.

    ``sdk`` is ``openai`` or ``anthropic``: their exceptions bear the same names.
    """
    import httpx2

    try:
        yield
    except sdk.APIStatusError as error:
        raise _of_status(error) from error
    except (sdk.APITimeoutError, httpx2.TimeoutException) as error:
        raise CallError("timeout", f"no answer in time ({type(error).__name__})") from error
    except (sdk.APIConnectionError, httpx2.HTTPError) as error:
        raise CallError("connection", f"the connection failed ({_cause(error)})") from error
    except (sdk.APIError, ValueError) as error:
        # The SDK's own trouble with a reply, such as JSON that breaks off.
        raise CallError("unreadable_reply", f"the reply could not be read ({type(error).__name__})") from error


def _of_status(error: Any) -> CallError:
    response = error.response
    headers = {name.lower(): value for name, value in response.headers.items()}
    try:
        body = json.loads(response.text)
    except ValueError:
        body = response.text
    return http_call_error(error.status_code, body, headers)


def _cause(error: Exception) -> str:
    return type(error.__cause__ or error).__name__


def parse_object(text: str | bytes) -> Mapping[str, Any]:
    """A JSON object.

    Raises
    ------
    CallError
        If it is none.
    """
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise CallError("unreadable_reply", "reply: no JSON object; expected one")
    return value


def parse_lines(chunks: Iterable[bytes]) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of a file of lines, empty ones left out.

    Only a line feed ends a line: a reply may hold the other characters that Unicode counts as line ends.

    Raises
    ------
    CallError
        If a line is no object, as where the file breaks off.
    """
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (parse_object(line) for line in lines if line.strip())
    if rest.strip():
        yield parse_object(rest)


def mapping_at(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object of that name; an empty one where there is none."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


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
