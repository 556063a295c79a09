"""Embedders: callables from texts to one vector each. One is built in; vectors of any model can come from a file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from calibration_sets.errors import SetFileError
from calibration_sets.records import Filled, StrictRecord
from calibration_sets.strict_models import read_rows

__all__ = ["Embed", "Embedder", "check_vectors", "latent_semantic_embedder", "read_embeddings", "read_vector_rows"]

Embed = Callable[[Sequence[str]], NDArray[Any]]
"""Texts in, an array of n x d out, row by row; called once with all texts."""


@dataclass(frozen=True, slots=True)
class Embedder:
    """``name`` stands for all that can change a vector: a stage is done again when it changes."""

    name: str
    embed: Embed


def latent_semantic_embedder(dimensions: int) -> Embedder:
    """TF-IDF of words, reduced by truncated SVD: latent semantic analysis, not a neural model.

    It is fitted on the very texts that it embeds, needs no network and no weights, and knows no synonym that the
    texts do not teach it. A threshold that was chosen for a neural model means something else here.
    """

    def embed(texts: Sequence[str]) -> NDArray[Any]:
        # Slow to import, and needed by this one embedder.
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        words = TfidfVectorizer(sublinear_tf=True, strip_accents="unicode", dtype=np.float32)
        try:
            weighted = words.fit_transform(texts)
        except ValueError:
            # Texts without a single word of two letters: nothing is near anything.
            return np.zeros((len(texts), 1), dtype=np.float32)
        if min(weighted.shape) <= dimensions:
            return np.asarray(weighted.todense())
        return np.asarray(TruncatedSVD(dimensions, algorithm="randomized", random_state=0).fit_transform(weighted))

    return Embedder(f"latent-semantic-{dimensions}@1", embed)


class VectorRow(StrictRecord):
    """One text's vector, and the model that made it where that is told."""

    text: Filled
    vector: list[float] = Field(min_length=1)
    model: str | None = None


def read_vector_rows(path: Path) -> list[VectorRow]:
    """The rows of a file of vectors; ``SetFileError`` if it is malformed."""
    return [record for _, record in read_rows(VectorRow, path, SetFileError)]


def read_embeddings(path: Path) -> Embedder:
    """Vectors that any model made, as JSON lines ``{"text": ..., "vector": [...]}``; the text is the question's.

    Raises
    ------
    SetFileError
        For a malformed file or vectors of different lengths; when embedding, for a text that has no vector.
    """
    rows = read_vector_rows(path)
    if len({(len(row.vector), row.model) for row in rows}) > 1:
        raise SetFileError(f"{path.name}: vectors of different lengths or models; expected those of one model")
    vectors = {row.text: row.vector for row in rows}

    def embed(texts: Sequence[str]) -> NDArray[Any]:
        missing = [text for text in texts if text not in vectors]
        if missing:
            raise SetFileError(f"{path.name}: no vector for {len(missing)} questions, such as {missing[0]!r}")
        return np.asarray([vectors[text] for text in texts], dtype=np.float32)

    return Embedder(f"file-{hashlib.sha256(path.read_bytes()).hexdigest()}", embed)


def check_vectors(vectors: Any, n_texts: int, name: str) -> NDArray[Any]:
    """The vectors, if there is one of finite numbers for each text; ``SetFileError`` otherwise."""
    found = np.asarray(vectors)
    if found.ndim != 2 or found.shape[0] != n_texts or not np.isfinite(found).all():
        raise SetFileError(
            f"embedder {name!r}: {found.shape} for {n_texts} texts; expected one vector of finite numbers each"
        )
    return found
