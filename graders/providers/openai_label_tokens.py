"""Which tokens of a vLLM server's model stand for the labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graders.dispatch.service import CallError
from graders.providers.openai_client import OpenAIConnection

__all__ = ["find_label_ids", "tokenize_address"]


def tokenize_address(base_url: str) -> str:
    """Where vLLM tokenises: beside its OpenAI-shaped interface, not under it."""
    return f"{base_url.rstrip('/').removesuffix('/v1')}/tokenize"


async def find_label_ids(connection: OpenAIConnection, model: str, spoken: Sequence[str]) -> tuple[int, ...] | None:
    """Ids of the tokens that are what is said for a label, with and without a blank before it.

    ``None`` if some label is no single token, or the server does not tell: then the most probable
    tokens have to do.
    """
    ids: list[int] = []
    for said in spoken:
        found = [await _one_token(connection, model, text) for text in (said, f" {said}")]
        if all(token is None for token in found):
            return None
        ids += [token for token in found if token is not None]
    return tuple(dict.fromkeys(ids))


async def _one_token(connection: OpenAIConnection, model: str, text: str) -> int | None:
    body: dict[str, Any] = {"model": model, "prompt": text, "add_special_tokens": False}
    try:
        reply, _ = await connection.post(tokenize_address(connection.base_url), body)
    except CallError as error:
        if error.kind in ("not_found", "bad_request", "unsupported", "unreadable_reply"):
            return None
        raise
    tokens = reply.get("tokens") if isinstance(reply, dict) else None
    one = tokens[0] if isinstance(tokens, list) and len(tokens) == 1 else None
    return one if isinstance(one, int) and not isinstance(one, bool) else None
