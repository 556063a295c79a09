"""One address of an OpenAI-shaped service, through the official SDK; the only module that imports it.

The SDK's own retries are off. Replies are taken raw (``cast_to`` the transport's response) and their
JSON is read here, so that a malformed one is an error of one call and never a crash; nothing is built
from the SDK's models. The transport is the SDK's aiohttp one where aiohttp is installed.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from graders.dispatch.http_errors import http_call_error
from graders.dispatch.secrets import hide_secrets
from graders.dispatch.service import CallError
from graders.errors import MissingDependencyError, ServiceError
from graders.grader import Grader

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

__all__ = ["OPENAI_ADDRESS", "OpenAIConnection", "addresses", "check_openai", "find_key"]

OPENAI_ADDRESS = "https://api.openai.com/v1"

_KEY_VARIABLE = "OPENAI_API_KEY"
_NO_KEY = "none"
_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 4.0
"""Idle connections are given up before usual servers (uvicorn: 5 s) do, or a call would meet a closed one."""

_LONGEST_CAUSE = 200
_LONGEST_CHAIN = 10


class OpenAIConnection:
    """The pool of connections to one address, and the calls over it."""

    def __init__(self, grader: Grader, base_url: str) -> None:
        self.base_url = base_url.rstrip("/")
        self.key = find_key(grader, base_url)
        self._endpoint = grader.endpoint
        self._client: AsyncOpenAI | None = None
        self._failures: tuple[type[Exception], ...] = ()

    async def open(self) -> None:
        """Make the pool, in the loop that will use it."""
        openai = _import_openai()
        import httpx2

        self._response_type = httpx2.Response
        self._failures = (
            openai.OpenAIError,
            httpx2.HTTPError,
            httpx2.InvalidURL,
            OSError,
            EOFError,
            *_aiohttp_errors(),
        )
        self._client = openai.AsyncOpenAI(
            api_key=self.key or _NO_KEY,
            base_url=self.base_url,
            max_retries=0,
            http_client=self._make_transport(),
        )
        if not _is_openai(self.base_url):
            # The SDK takes these from the environment; they are nobody else's business.
            self._client.organization = self._client.project = None
        self._client.admin_api_key = None

    def _make_transport(self) -> httpx2.AsyncClient:
        import httpx2
        from openai import DefaultAioHttpClient, DefaultAsyncHttpxClient

        seconds = self._endpoint.timeout_seconds
        make = DefaultAioHttpClient if _aiohttp_errors() else DefaultAsyncHttpxClient
        return make(
            timeout=httpx2.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds)),
            limits=httpx2.Limits(
                max_connections=self._endpoint.max_connections + 1,
                max_keepalive_connections=self._endpoint.max_connections + 1,
                keepalive_expiry=_IDLE_SECONDS,
            ),
            trust_env=not _is_loopback(self.base_url),
        )

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
        return _read_json(response.content, headers), headers

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
        return received, dict(response.headers.items())

    async def _send(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> httpx2.Response:
        if self._client is None:
            raise RuntimeError("connection is not open")
        # Written here, in ASCII: quicker than the SDK's writer, and lone surrogates do no harm.
        content = json.dumps(body, separators=(",", ":")).encode()
        return await self._client.post(
            path, cast_to=self._response_type, content=content, options={"headers": headers} if headers else {}
        )

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
        if _is_timeout(error):
            return self._timeout()
        cause = _chain(error)[-1]
        told = " ".join(f"{type(cause).__name__} {cause}".split())[:_LONGEST_CAUSE]
        return CallError("connection", hide_secrets(f"{self.base_url}: no reply, {told}", self.key))

    def _refusal(self, response: httpx2.Response) -> CallError:
        headers = dict(response.headers.items())
        try:
            body: object = json.loads(response.content)
        except (ValueError, RecursionError):
            body = response.content.decode(errors="replace")
        return http_call_error(response.status_code, body, headers)

    def _timeout(self) -> CallError:
        return CallError("timeout", f"{self.base_url}: no reply within {self._endpoint.timeout_seconds:g} s")


def check_openai(grader: Grader) -> None:
    """Check that the SDK is installed and the key is there.

    Raises
    ------
    MissingDependencyError
        If the SDK is not installed.
    ServiceError
        If the key is missing.
    """
    _import_openai()
    for base_url in addresses(grader):
        find_key(grader, base_url)


def addresses(grader: Grader) -> tuple[str, ...]:
    """Addresses of a grader's service.

    Raises
    ------
    ServiceError
        If there is none for a service that has no usual one.
    """
    if grader.endpoint.base_urls:
        return grader.endpoint.base_urls
    if grader.model.startswith("openai/"):
        return (OPENAI_ADDRESS,)
    raise ServiceError(f"{grader.model}: no address; expected base_url, such as http://localhost:8000/v1")


def find_key(grader: Grader, base_url: str) -> str:
    """The key for an address, from the environment; empty where none is needed.

    A variable that is named must be set. Without one, ``OPENAI_API_KEY`` is for ``openai/`` models, and
    goes to no other service.

    Raises
    ------
    ServiceError
        If the key is missing, or cannot be one; the message names the variable.
    """
    variable = grader.endpoint.key_variable
    own = grader.model.startswith("openai/")
    key = os.environ.get(variable or _KEY_VARIABLE, "").strip() if variable or own else ""
    if not key and (variable or (own and not _is_loopback(base_url))):
        host = urlsplit(base_url).hostname or base_url
        raise ServiceError(f"{variable or _KEY_VARIABLE}: not set; expected the key for {host} in this variable")
    if not (key.isascii() and key.isprintable()):
        raise ServiceError(f"{variable or _KEY_VARIABLE}: holds what is no key; expected printable ASCII characters")
    return key


def _import_openai() -> Any:
    try:
        import openai
    except ImportError as error:
        raise MissingDependencyError(
            "openai: not installed; expected it for models of OpenAI-shaped services: "
            "pip install 'autorater-calibration[openai]'"
        ) from error
    return openai


def _aiohttp_errors() -> tuple[type[Exception], ...]:
    try:
        import aiohttp
    except ImportError:
        return ()
    return (aiohttp.ClientError,)


def _read_json(content: bytes, headers: Mapping[str, str]) -> object:
    if not content.strip():
        raise CallError("unreadable_reply", "reply: empty; expected JSON", headers=headers)
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        message = f"reply: {len(content)} bytes that are no JSON; expected a whole JSON object"
        raise CallError("unreadable_reply", message, headers=headers) from error


def _is_timeout(error: BaseException) -> bool:
    """Whether time ran out; the aiohttp transport calls a lost connection a time-out too, and is not believed."""
    import openai

    if not isinstance(error, openai.APITimeoutError):
        return False
    lost = _aiohttp_errors()
    chain = _chain(error)
    return not any(isinstance(cause, lost) and not isinstance(cause, TimeoutError) for cause in chain)


def _chain(error: BaseException) -> list[BaseException]:
    """An error and its causes, the first of them last."""
    chain = [error]
    while chain[-1].__cause__ is not None and len(chain) < _LONGEST_CHAIN:
        chain.append(chain[-1].__cause__)
    return chain


def _is_openai(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    return host == "openai.com" or host.endswith(".openai.com")


def _is_loopback(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
