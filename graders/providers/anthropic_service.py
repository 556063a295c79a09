"""Anthropic as the dispatch sees it: one address, one key, one model.

What a model was found to refuse is learnt once in a process, whichever grader asks it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from graders.client import ModelClient, Request
from graders.dispatch.client import DispatchClient
from graders.dispatch.secrets import hide_secrets
from graders.dispatch.service import CallError, Reply
from graders.grader import Grader
from graders.providers.anthropic_client import AnthropicConnection, addresses
from graders.providers.anthropic_messages import build_messages_body, read_message

__all__ = ["AnthropicService", "RefusedCallError", "forget_refusals", "open_anthropic"]

_PATH = "/v1/messages"
_ALIASES = {"tool_choice": "tools", "structured_outputs": "response_format"}
_WITHOUT_CONSENT = frozenset({"cache_control"})
"""Left out as soon as it is refused: without it a reply means the same."""

_WITH_CONSENT = frozenset({"temperature", "reasoning_effort", "response_format", "tools"})

_LEFT_OUT: dict[tuple[Any, ...], frozenset[str]] = {}


def forget_refusals() -> None:
    """Forget what was learnt; for tests, where another server may come to stand at an address."""
    _LEFT_OUT.clear()


class RefusedCallError(CallError):
    """A call that was refused, with what had been left out of it, so that no form is sent twice."""

    def __init__(self, error: CallError, left_out: frozenset[str]) -> None:
        super().__init__(error.kind, error.message, parameter=error.parameter, usage=error.usage, headers=error.headers)
        self.left_out = left_out


class AnthropicService:
    """One address of a grader's service.

    Parameters
    ----------
    grader
        Whose model is asked.
    base_url
        The address, without ``/v1``.

    Raises
    ------
    ServiceError
        If the key is missing.
    """

    def __init__(self, grader: Grader, base_url: str) -> None:
        self._grader = grader
        self._connection = AnthropicConnection(grader, base_url)
        self._key = (grader.model, self._connection.base_url, grader.endpoint.on_unsupported)

    @property
    def name(self) -> str:
        """Model and address."""
        return f"{self._grader.model} at {self._connection.base_url}"

    @property
    def limit_key(self) -> str:
        """Address and a digest of the key."""
        digest = hashlib.sha256(self._connection.key.encode()).hexdigest()[:12]
        return f"{self._connection.base_url}#{digest}"

    async def open(self) -> None:
        """Make the connections' pool."""
        await self._connection.open()

    async def close(self) -> None:
        """Close every connection."""
        await self._connection.close()

    def choices_per_call(self, request: Request) -> int:  # noqa: ARG002 - of the protocol
        """One: a message has no alternatives."""
        return 1

    async def ask(self, request: Request) -> Reply:
        """Make one call, for the request's first repeat.

        Raises
        ------
        CallError
            If no usable reply came; a ``RefusedCallError`` tells what had been left out of it.
        """
        left_out = self._left_out
        try:
            return await self._exchange(request, left_out)
        except CallError as error:
            error.message = hide_secrets(error.message, self._connection.key)
            error.args = (error.message,)
            if error.kind == "unsupported":
                raise RefusedCallError(error, left_out) from error
            raise

    async def _exchange(self, request: Request, left_out: frozenset[str]) -> Reply:
        body, headers = await self._post(build_messages_body(request, self._grader, left_out))
        return read_message(body, request, self._grader, headers, left_out)

    async def _post(self, body: Mapping[str, Any]) -> tuple[object, Mapping[str, str]]:
        return await self._connection.post(_PATH, body)

    def adapt(self, error: CallError) -> bool:
        """Learn from a refused parameter; whether the call is to be sent again, without it."""
        if error.kind != "unsupported" or error.parameter is None:
            return False
        name = _ALIASES.get(error.parameter, error.parameter)
        consent = self._grader.endpoint.on_unsupported == "provider-default"
        if name not in _WITHOUT_CONSENT and not (consent and name in _WITH_CONSENT):
            return False
        sent = error.left_out if isinstance(error, RefusedCallError) else self._left_out
        if name in sent:
            return False  # it went out without, and was refused for it all the same
        _LEFT_OUT[self._key] = self._left_out | {name}
        return True

    @property
    def _left_out(self) -> frozenset[str]:
        return _LEFT_OUT.get(self._key, frozenset())


def open_anthropic(grader: Grader) -> ModelClient:
    """A client for a grader of Anthropic's, over all its addresses.

    Raises
    ------
    ServiceError
        If the key is missing.
    """
    return DispatchClient([AnthropicService(grader, base_url) for base_url in addresses(grader)], grader.endpoint)
