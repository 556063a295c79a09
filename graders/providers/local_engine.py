"""One embedded llama.cpp server: tokens in, drawn tokens out.

The server object lives in this process. Completions go to it directly; tokenising and the chat
template, which its Python binding does not offer, go to the port that it opens on the loopback
interface, under a key that only this process knows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from typing import Any, Protocol
from urllib.parse import urlsplit

from graders.providers.local_prompt import PromptTokens, shared_length

__all__ = ["PLAIN_SAMPLING", "Engine", "EngineCallError", "Server"]

_WAIT_SECONDS = 60.0

PLAIN_SAMPLING: Mapping[str, Any] = {"top_k": 0, "top_p": 1.0, "min_p": 0.0, "samplers": ["temperature"]}
"""Nothing but the temperature: llama.cpp cuts the distribution by its defaults at any temperature."""


class EngineCallError(Exception):
    """The engine refused or broke off one call."""


class Server(Protocol):
    """What is used of ``xllamacpp.Server``."""

    listening_address: str

    def handle_completions(self, prompt: Mapping[str, Any]) -> Any:
        """Answer one request for completions."""
        ...


class Engine:
    """A server with one prompt kept at hand.

    Parameters
    ----------
    server
        The embedded server; it ends when its last reference goes.
    key
        The key that the server's port asks for.
    """

    def __init__(self, server: Server, key: str) -> None:
        self._server: Server | None = server
        self._address = urlsplit(server.listening_address).netloc
        self._key = key
        self._held: list[int] = []

    def wait_until_running(self) -> None:
        """Return when the server's own loop turns: a server that is ended before that never ends.

        Raises
        ------
        EngineCallError
            If the engine refuses or fails.
        """
        self._complete({"prompt": [0], "n_predict": 0, "cache_prompt": False})

    def close(self) -> None:
        """End the server; it cannot be used again."""
        self._server = None

    def tokenize(self, text: str, *, special: bool = False, start: bool = False) -> list[int]:
        """Text to token ids.

        ``special`` reads the spellings of special tokens as these tokens; without it they are
        plain text. ``start`` adds what the model wants at the beginning of a text, if anything.
        """
        if not text and not start:
            return []
        tokens: list[int] = self._post(
            "/tokenize", {"content": text, "add_special": start, "parse_special": special}, "tokens"
        )
        return tokens

    def apply_chat_template(self, content: str) -> str:
        """The model's text of a chat with one user message, up to where the answer begins."""
        return str(self._post("/apply-template", {"messages": [{"role": "user", "content": content}]}, "prompt"))

    def draw(self, prompt: PromptTokens, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Draw replies to a prompt from probabilities that do not depend on earlier calls.

        A token's probabilities differ in their last digits with the batch that it was computed in.
        So the shared part is computed in one way only, and whatever the last prompt has in common
        with this one beyond it is computed again.

        Raises
        ------
        EngineCallError
            If the engine refuses or fails.
        """
        self._wind_to(prompt)
        answer = self._complete({"prompt": prompt.all, "cache_prompt": bool(prompt.shared), **settings})
        self._held = prompt.all
        return answer

    def _wind_to(self, prompt: PromptTokens) -> None:
        shared = list(prompt.shared)
        if not shared:
            return
        if self._held[: len(shared)] != shared:
            self._compute(shared, reuse=False)
            self._compute(shared, reuse=True)
        elif shared_length(self._held, prompt.all) > len(shared):
            self._compute(shared, reuse=True)

    def _compute(self, tokens: list[int], *, reuse: bool) -> None:
        # With reuse the last token alone is computed again: after a cold start this is done once on
        # purpose, so that its state is the same as after every later return to this place.
        self._complete({"prompt": tokens, "n_predict": 0, "cache_prompt": reuse})
        self._held = tokens

    def _complete(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._server is None:
            raise EngineCallError("the engine is closed")
        self._held, held = [], self._held
        try:
            answer = self._server.handle_completions({**PLAIN_SAMPLING, "id_slot": 0, **request})
        except (RuntimeError, ValueError, OSError) as error:
            raise EngineCallError(f"{type(error).__name__}: {error}") from error
        _check_answer(answer)
        self._held = held
        return answer  # type: ignore[no-any-return]  # checked to be a mapping

    def _post(self, path: str, content: Mapping[str, Any], field: str) -> Any:
        connection = HTTPConnection(self._address, timeout=_WAIT_SECONDS)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        try:
            connection.request("POST", path, json.dumps(content), headers)
            answer = json.loads(connection.getresponse().read())
        except (OSError, HTTPException, ValueError) as error:
            raise EngineCallError(f"{path}: {type(error).__name__}: {error}") from error
        finally:
            connection.close()
        if not isinstance(answer, Mapping) or field not in answer:
            raise EngineCallError(f"{path}: {_excerpt(answer)}")
        return answer[field]


def _check_answer(answer: object) -> None:
    if not isinstance(answer, Mapping):
        raise EngineCallError(f"completions: {_excerpt(answer)}; expected an object")
    error = answer.get("error")
    if error is not None:
        raise EngineCallError(str(error.get("message", error)) if isinstance(error, Mapping) else str(error))
    choices = answer.get("choices")
    if not isinstance(choices, Sequence) or not choices:
        raise EngineCallError(f"completions: {_excerpt(answer)}; expected choices")


def _excerpt(answer: object) -> str:
    return repr(answer)[:200]
