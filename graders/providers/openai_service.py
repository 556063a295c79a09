"""OpenAI-shaped services as the dispatch sees them: one address, one key, one model.

What a model at an address was found to refuse is learnt once in a process, whichever grader asks it.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graders.client import Answer, ModelClient, Request
from graders.dispatch.client import DispatchClient
from graders.dispatch.secrets import hide_secrets
from graders.dispatch.service import CallError, Reply
from graders.grader import Grader
from graders.providers.openai_chat import build_chat_body, chat_path, read_chat
from graders.providers.openai_client import OpenAIConnection, addresses
from graders.providers.openai_form import CallForm, first_form, wire_model
from graders.providers.openai_label_tokens import find_label_ids
from graders.providers.openai_responses import build_responses_body, read_responses
from graders.providers.openai_stream import read_stream
from graders.verdict_form import spoken_labels

__all__ = ["OpenAIService", "RefusedFormError", "forget_refusals", "open_openai"]


class RefusedFormError(CallError):
    """A call that was refused, with the form it had, so that no form is sent twice."""

    def __init__(self, error: CallError, form: CallForm) -> None:
        super().__init__(
            error.kind,
            error.message,
            retry_after=error.retry_after,
            parameter=error.parameter,
            usage=error.usage,
            headers=error.headers,
        )
        self.form = form


@dataclass(slots=True)
class _Learnt:
    """What calls to one model at one address have shown so far."""

    form: CallForm
    several_came: bool = False
    label_ids: dict[tuple[str, ...], tuple[int, ...] | None] = field(default_factory=dict)


_LEARNT: dict[tuple[Any, ...], _Learnt] = {}


def forget_refusals() -> None:
    """Forget what was learnt; for tests, where another server may come to stand at an address."""
    _LEARNT.clear()


class OpenAIService:
    """One address of a grader's service.

    Parameters
    ----------
    grader
        Whose model is asked.
    base_url
        The address, up to and with ``/v1``.

    Raises
    ------
    ServiceError
        If the key is missing.
    """

    def __init__(self, grader: Grader, base_url: str) -> None:
        self._grader = grader
        self._connection = OpenAIConnection(grader, base_url)
        # Graders whose consent or ledger entry differs do not share what was learnt.
        key = (grader.model, self._connection.base_url, grader.endpoint.on_unsupported, grader.capabilities)
        self._learnt = _LEARNT.setdefault(key, _Learnt(first_form(grader)))
        self._lock = asyncio.Lock()

    @property
    def name(self) -> str:
        """Model and address."""
        return f"{self._grader.model} at {self._connection.base_url}"

    @property
    def limit_key(self) -> str:
        """Address and a digest of the key."""
        digest = hashlib.sha256(self._connection.key.encode()).hexdigest()[:12]
        return f"{self._connection.base_url}#{digest}"

    @property
    def form(self) -> CallForm:
        """What is sent by now."""
        return self._learnt.form

    async def open(self) -> None:
        """Make the connections' pool."""
        self._lock = asyncio.Lock()
        await self._connection.open()

    async def close(self) -> None:
        """Close every connection."""
        await self._connection.close()

    def choices_per_call(self, request: Request) -> int:
        """How many of a request's repeats, from its first, one call asks for."""
        return self._learnt.form.choices(request)

    async def ask(self, request: Request) -> Reply:
        """Make one call, for as many of the request's repeats as one call may ask for.

        Raises
        ------
        CallError
            If no usable reply came; a ``RefusedFormError`` tells the form it had.
        """
        form = self._learnt.form
        repeats = request.repeats[: form.choices(request)]
        try:
            answers, headers = await self._ask(request, form, repeats)
        except CallError as error:
            error.message = hide_secrets(error.message, self._connection.key)
            error.args = (error.message,)
            if error.kind == "unsupported":
                raise RefusedFormError(error, form) from error
            raise
        self._note_choices(len(repeats), len(answers))
        return Reply(answers, headers)

    async def _ask(
        self, request: Request, form: CallForm, repeats: Sequence[int]
    ) -> tuple[list[Answer], Mapping[str, str]]:
        if form.grader.capabilities.api == "responses":
            reply, headers = await self._post("/responses", build_responses_body(request, form), form)
            return read_responses(reply, request, form, repeats, headers), headers
        ids = await self._label_ids(request) if form.scores_labels(request.sampling) else None
        body = build_chat_body(request, form, repeats, ids)
        reply, headers = await self._post(chat_path(request, form), body, form)
        return read_chat(reply, request, form, repeats, headers, labels_scored=bool(ids)), headers

    async def _post(self, path: str, body: dict[str, Any], form: CallForm) -> tuple[object, Mapping[str, str]]:
        if not self._grader.endpoint.stream:
            return await self._connection.post(path, body)
        body["stream"] = True
        if form.grader.capabilities.api != "responses" and "stream_options" not in form.left_out:
            body["stream_options"] = {"include_usage": True}
        received, headers = await self._connection.stream(path, body)
        return read_stream(received, headers), headers

    async def _label_ids(self, request: Request) -> tuple[int, ...] | None:
        spoken, known = tuple(spoken_labels(request).values()), self._learnt.label_ids
        if spoken not in known:
            async with self._lock:
                if spoken not in known:
                    known[spoken] = await find_label_ids(self._connection, wire_model(self._grader), spoken)
        return known[spoken]

    def _note_choices(self, asked: int, came: int) -> None:
        """A service that has only ever sent one choice of several ignores ``n``: single calls are no dearer."""
        learnt = self._learnt
        learnt.several_came = learnt.several_came or came > 1
        if asked > 1 and came == 1 and not learnt.several_came:
            learnt.form = replace(learnt.form, max_choices=1)

    def adapt(self, error: CallError) -> bool:
        """Learn from a refused parameter; whether the call is to be sent again, in a form it has not had."""
        if error.kind != "unsupported" or error.parameter is None:
            return False
        now = self._learnt.form
        sent = error.form if isinstance(error, RefusedFormError) else now
        after = sent.without(error.parameter, error.message)
        if after is None:
            return False
        # Calls in flight are refused for the same reason as the first: it is learnt once, and they go out as it says.
        if now == sent:
            self._learnt.form = after
        return True


def open_openai(grader: Grader) -> ModelClient:
    """A client for a grader of an OpenAI-shaped service, over all its addresses.

    Raises
    ------
    ServiceError
        If the key, or the address, is missing.
    """
    services = [OpenAIService(grader, base_url) for base_url in addresses(grader)]
    return DispatchClient(services, grader.endpoint)
