"""One address of a service through its official SDK: raw replies in, JSON out, every failure named.

The SDK's own retries are off. Replies are taken raw (``cast_to`` the transport's response) and their
JSON is read here, so that a malformed one is an error of one call and never a crash; nothing is built
from the SDK's models. The transport is the SDK's aiohttp one where aiohttp is installed.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import socket
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from graders.dispatch.http_errors import http_call_error
from graders.dispatch.secrets import HIDDEN, hide_secrets
from graders.dispatch.service import CallError
from graders.endpoint import Endpoint
from graders.errors import ServiceError

if TYPE_CHECKING:
    import httpx2

__all__ = ["SdkConnection", "is_loopback", "read_json", "read_key"]

_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 4.0
"""Idle connections are given up before usual servers (uvicorn: 5 s) do, or a call would meet a closed one."""

_LONGEST_CAUSE = 200
_LONGEST_CHAIN = 10
_SHORTEST_SECRET = 8
"""A shorter key, such as a local server's "none", may stand in a reply as a word."""


class SdkConnection(ABC):
    """The pool of connections to one address, and the calls over it; each SDK's own makes its client.

    Parameters
    ----------
    base_url
        The address.
    key
        The key, or an empty string.
    endpoint
        Connections and time-outs.
    """

    def __init__(self, base_url: str, key: str, endpoint: Endpoint) -> None:
        self.base_url = base_url.rstrip("/")
        self.key = key
        self._endpoint = endpoint
        self._client: Any = None
        self._failures: tuple[type[Exception], ...] = ()

    @abstractmethod
    def import_sdk(self) -> Any:
        """The SDK's module.

        Raises
        ------
        MissingDependencyError
            If it is not installed.
        """

    @abstractmethod
    def make_client(self, sdk: Any, transport: httpx2.AsyncClient) -> Any:
        """The SDK's client over a transport, its own retries off."""

    async def open(self) -> None:
        """Make the pool, in the loop that will use it."""
        sdk = self.import_sdk()
        import httpx2

        self._sdk = sdk
        self._response_type = httpx2.Response
        base_error = getattr(sdk, "OpenAIError", None) or sdk.AnthropicError
        self._failures = (base_error, httpx2.HTTPError, httpx2.InvalidURL, OSError, EOFError, *_aiohttp_errors())
        self._client = self.make_client(sdk, self._make_transport(sdk))

    def _make_transport(self, sdk: Any) -> httpx2.AsyncClient:
        import httpx2

        seconds = self._endpoint.timeout_seconds
        make = sdk.DefaultAioHttpClient if _aiohttp_errors() else sdk.DefaultAsyncHttpxClient
        transport: httpx2.AsyncClient = make(
            timeout=httpx2.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds)),
            limits=httpx2.Limits(
                max_connections=self._endpoint.max_connections + 1,
                max_keepalive_connections=self._endpoint.max_connections + 1,
                keepalive_expiry=_IDLE_SECONDS,
            ),
            trust_env=not is_loopback(self.base_url),
        )
        return transport

    async def close(self) -> None:
        """Close every connection."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def post(self, path: str, body: Mapping[str, Any]) -> tuple[object, Mapping[str, str]]:
        """Send a JSON body; the reply's JSON, and its headers with names in lower case.

        Raises
        ------
        CallError
            If no reply came, or an error, or what is no JSON.
        """
        async with self._mapping_failures():
            response = await self._send(path, body, {})
        headers = dict(response.headers.items())
        return read_json(self._without_key(response.content), headers), headers

    async def stream(self, path: str, body: Mapping[str, Any]) -> tuple[bytes, Mapping[str, str]]:
        """Send a JSON body; the whole of the event stream that answers it.

        Raises
        ------
        CallError
            As :meth:`post`; a stream that is cut is a failed connection.
        """
        async with self._mapping_failures():
            response = await self._send(path, body, {"X-Stainless-Raw-Response": "stream"})
            try:
                received = await response.aread()
            finally:
                await response.aclose()
        return self._without_key(received), dict(response.headers.items())

    async def _send(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> httpx2.Response:
        if self._client is None:
            raise RuntimeError("connection is not open")
        # Written here: the SDK's writer stumbles over lone surrogates, which items may hold.
        content = json.dumps(body, separators=(",", ":")).encode()
        response: httpx2.Response = await self._client.post(
            path, cast_to=self._response_type, content=content, options={"headers": headers} if headers else {}
        )
        return response

    @asynccontextmanager
    async def _mapping_failures(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._endpoint.timeout_seconds):
                yield
        except TimeoutError as error:
            raise self._timeout() from error
        except self._failures as error:
            raise self._call_error(error) from error

    def _call_error(self, error: Exception) -> CallError:
        response = getattr(error, "response", None)
        if isinstance(response, self._response_type):
            return self._refusal(response)
        if self._is_timeout(error):
            return self._timeout()
        cause = _chain(error)[-1]
        # Hidden before it is cut: half a key is no longer found.
        told = " ".join(hide_secrets(f"{type(cause).__name__} {cause}", self.key).split())[:_LONGEST_CAUSE]
        return CallError("connection" if _was_reached(error) else "unreachable", f"{self.base_url}: no reply, {told}")

    def _without_key(self, content: bytes) -> bytes:
        """A reply without our key, should the service tell it back: replies are stored."""
        is_secret = len(self.key) >= _SHORTEST_SECRET
        return content.replace(self.key.encode(), HIDDEN.encode()) if is_secret else content

    def _refusal(self, response: httpx2.Response) -> CallError:
        headers = dict(response.headers.items())
        try:
            body: object = json.loads(self._without_key(response.content))
        except (ValueError, RecursionError):
            body = self._without_key(response.content).decode(errors="replace")
        return http_call_error(response.status_code, body, headers)

    def _timeout(self) -> CallError:
        return CallError("timeout", f"{self.base_url}: no reply within {self._endpoint.timeout_seconds:g} s")

    def _is_timeout(self, error: BaseException) -> bool:
        """Whether time ran out; the aiohttp transport calls a lost connection a time-out too, and is not believed."""
        if not isinstance(error, self._sdk.APITimeoutError):
            return False
        lost = _aiohttp_errors()
        return not any(isinstance(cause, lost) and not isinstance(cause, TimeoutError) for cause in _chain(error))


def read_json(content: bytes, headers: Mapping[str, str]) -> object:
    """The JSON of a reply's body.

    Raises
    ------
    CallError
        If there is none.
    """
    if not content.strip():
        raise CallError("unreadable_reply", "reply: empty; expected JSON", headers=headers)
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        message = f"reply: {len(content)} bytes that are no JSON; expected a whole JSON object"
        raise CallError("unreadable_reply", message, headers=headers) from error


def read_key(variable: str, base_url: str, *, needed: bool) -> str:
    """The key that an environment variable holds; empty where there is none and none is needed.

    Raises
    ------
    ServiceError
        If the key is missing, or cannot be one; the message names the variable.
    """
    key = os.environ.get(variable, "").strip()
    if not key and needed:
        host = urlsplit(base_url).hostname or base_url
        raise ServiceError(f"{variable}: not set; expected the key for {host} in this variable")
    if not (key.isascii() and key.isprintable()):
        raise ServiceError(f"{variable}: holds what is no key; expected printable ASCII characters")
    return key


def is_loopback(base_url: str) -> bool:
    """Whether an address is this machine's own."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _aiohttp_errors() -> tuple[type[Exception], ...]:
    aiohttp = _aiohttp()
    return () if aiohttp is None else (aiohttp.ClientError,)


def _aiohttp() -> Any:
    try:
        import aiohttp
    except ImportError:
        return None
    return aiohttp


def _was_reached(error: Exception) -> bool:
    """Whether a connection was made; where none was, no call can have been paid for."""
    import httpx2

    chain, aiohttp = _chain(error), _aiohttp()
    if aiohttp is not None and any(isinstance(one, aiohttp.ClientConnectionError) for one in chain):
        # Anthropic's transport tells a connection that was lost as one that was not made: its cause knows better.
        return not any(isinstance(one, aiohttp.ClientConnectorError) for one in chain)
    return not any(isinstance(one, httpx2.ConnectError | ConnectionRefusedError | socket.gaierror) for one in chain)


def _chain(error: BaseException) -> list[BaseException]:
    """An error and its causes, the first of them last."""
    chain = [error]
    while chain[-1].__cause__ is not None and len(chain) < _LONGEST_CHAIN:
        chain.append(chain[-1].__cause__)
    return chain
