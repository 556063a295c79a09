"""Embeddings by the local engine: the mean of a small language model's last hidden states, of length 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from graders.errors import WeightsError
from graders.providers.local_start import import_engine, interruptions_held

__all__ = ["LOCAL_BATCH", "embed_locally"]

LOCAL_BATCH = 16
"""Texts a call: small, so that little is done again after an interruption."""

_TOKENS = 2048
"""Room for one text; a longer one is refused by the engine."""


def embed_locally(path: Path, texts: Sequence[str], *, threads: int) -> Iterator[list[tuple[str, list[float]]]]:
    """Each text with its vector, some texts at a time, so that the caller can keep them.

    The model was trained to go on with a text, not to tell texts apart: any two vectors lie close together, and a
    threshold that was chosen for an embedding model means something else here.

    Parameters
    ----------
    path
        Weights that llama.cpp can load.
    texts
        What is embedded, each once.
    threads
        Of the engine.

    Raises
    ------
    MissingDependencyError
        If the engine is not installed.
    WeightsError
        If it cannot load the weights, or gives no vector for a text.
    """
    server = _open(path, threads)
    for start in range(0, len(texts), LOCAL_BATCH):
        batch = texts[start : start + LOCAL_BATCH]
        yield list(zip(batch, _embed(server, batch, path), strict=True))


def _open(path: Path, threads: int) -> Any:
    xllamacpp = import_engine()
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.embedding, params.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    # One text at a time, whole in one batch: its vector then depends on nothing else.
    params.n_parallel, params.n_ctx, params.n_batch, params.n_ubatch = 1, _TOKENS, _TOKENS, _TOKENS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_gpu_layers, params.verbosity, params.warmup, params.ui = 0, -1, False, False
    try:
        with interruptions_held():
            server = xllamacpp.Server(params)
            # A server that is ended before its loop turns never ends.
            server.handle_embeddings({"input": ["a"]})
            return server
    except (RuntimeError, ValueError, OSError) as error:
        raise WeightsError(f"{path}: {error}; expected weights that llama.cpp can load") from error


def _embed(server: Any, texts: Sequence[str], path: Path) -> list[list[float]]:
    try:
        reply = server.handle_embeddings({"input": list(texts)})
    except (RuntimeError, ValueError, OSError) as error:
        raise WeightsError(f"{path.name}: {error}; expected texts of fewer than {_TOKENS} tokens") from error
    entries = reply.get("data") if isinstance(reply, Mapping) else None
    if not isinstance(entries, list) or len(entries) != len(texts):
        told = repr(reply)[:200]
        raise WeightsError(
            f"{path.name}: {told}; expected a vector for each of {len(texts)} texts, none over {_TOKENS} tokens"
        )
    return [entry["embedding"] for entry in sorted(entries, key=lambda entry: entry["index"])]
