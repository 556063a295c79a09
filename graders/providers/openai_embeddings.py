"""Embeddings of OpenAI-shaped services: texts in, one vector each out, in batches, for the curation of a set."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Mapping, Sequence

from graders.dispatch.secrets import hide_secrets
from graders.dispatch.service import CallError
from graders.errors import ServiceError
from graders.grader import Grader
from graders.providers.openai_client import OpenAIConnection, addresses, check_openai
from graders.providers.openai_form import wire_model

__all__ = ["embed_texts"]

BATCH = 128
"""Texts a call; services take at least so many."""


def embed_texts(grader: Grader, texts: Sequence[str]) -> Iterator[list[tuple[str, list[float]]]]:
    """Each text with its vector, call by call, so that the caller can keep what is paid for.

    Parameters
    ----------
    grader
        Names the model and how it is reached; its sampling says nothing here.
    texts
        What is embedded, each once.

    Raises
    ------
    ServiceError
        If a call goes wrong, or a reply is not one vector of numbers for each text. Nothing is tried again: what came
        before is the caller's, who asks for the rest.
    """
    check_openai(grader)
    connection = OpenAIConnection(grader, addresses(grader)[0])
    with asyncio.Runner() as runner:
        runner.run(connection.open())
        try:
            for start in range(0, len(texts), BATCH):
                batch = texts[start : start + BATCH]
                yield list(zip(batch, runner.run(_embed(connection, grader, batch)), strict=True))
        finally:
            runner.run(connection.close())


async def _embed(connection: OpenAIConnection, grader: Grader, texts: Sequence[str]) -> list[list[float]]:
    body = {"model": wire_model(grader), "input": list(texts), "encoding_format": "float"}
    try:
        reply, _ = await connection.post("/embeddings", body)
    except CallError as error:
        told = hide_secrets(error.message, connection.key)
        raise ServiceError(f"{grader.model}: {told}; expected vectors, the same command goes on from here") from error
    vectors = _read_vectors(reply, len(texts))
    if vectors is None:
        raise ServiceError(f"{grader.model}: a reply without a vector for each of {len(texts)} texts; expected them")
    return vectors


def _read_vectors(reply: object, n_texts: int) -> list[list[float]] | None:
    """The vectors in the order of the texts; ``None`` unless there is exactly one of finite numbers for each."""
    entries = reply.get("data") if isinstance(reply, Mapping) else None
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        return None
    by_index = {entry.get("index"): entry.get("embedding") for entry in entries}
    vectors = [by_index.get(index) for index in range(n_texts)]
    found = [vector for vector in vectors if isinstance(vector, list) and vector and all(map(_is_number, vector))]
    return [list(map(float, vector)) for vector in found] if len(found) == len(entries) == n_texts else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
