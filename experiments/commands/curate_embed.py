"""``autorater curate embed``: vectors of a service's model, for the stage of near-duplicates by meaning."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TextIO

import typer

from calibration_sets.curation.embedders import read_vector_rows
from calibration_sets.curation.question_file import load_questions
from calibration_sets.writer import json_line
from experiments.commands.model_address import read_endpoint
from experiments.errors import SpecError
from graders.grader import Grader
from graders.providers.openai_embeddings import embed_texts
from graders.sampling import Sampling

__all__ = ["embed"]

SERVICES = ("openai/", "openai-compatible/")


def embed(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Questions: a benchmark's CSV, or JSON lines.")],
    model: Annotated[str, typer.Option("--model", help="openai/NAME or openai-compatible/NAME, an embedding model.")],
    to: Annotated[Path, typer.Option("--to", help="JSON lines for the vectors; those that are there are kept.")],
    base_url: Annotated[str | None, typer.Option("--base-url", help="The service's address, if not its usual.")] = None,
    key_variable: Annotated[
        str | None, typer.Option("--key-variable", help="Environment variable that holds the key.")
    ] = None,
) -> None:
    """Embed every question with a service's model; each vector is kept as it comes and paid for once.

    \b
    Examples:
      autorater curate embed simple_qa_test_set.csv --model openai/text-embedding-3-small --to vectors.jsonl
      autorater curate run simple_qa_test_set.csv --to curated --embeddings vectors.jsonl
    """
    if not model.startswith(SERVICES):
        raise SpecError(f"--model: {model!r}; expected an embedding model as {' or '.join(SERVICES)}NAME")
    endpoint = read_endpoint(model, base_url, key_variable)
    texts = list(dict.fromkeys(question.question for question in load_questions(file)))
    known = _known(to, model)
    missing = [text for text in texts if text not in known]
    if missing:
        grader = Grader(model=model, sampling=Sampling(), endpoint=endpoint)
        with to.open("a", encoding="utf-8", newline="\n") as out:
            for found in embed_texts(grader, missing):
                _keep(out, ({"text": text, "vector": vector, "model": model} for text, vector in found))
    typer.echo(f"{len(texts)} texts, {len(missing)} embedded now: {to}")


def _known(path: Path, model: str) -> set[str]:
    rows = read_vector_rows(path) if path.exists() else []
    others = sorted({str(row.model) for row in rows if row.model != model})
    if others:
        raise SpecError(f"{path.name}: vectors of {', '.join(others)}; expected those of {model}, or a new file")
    return {row.text for row in rows}


def _keep(out: TextIO, rows: Iterable[dict[str, object]]) -> None:
    out.writelines(f"{json_line(row, out.name)}\n" for row in rows)
    out.flush()
    os.fsync(out.fileno())
