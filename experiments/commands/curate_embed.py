"""``autorater curate embed``: vectors of a model, for the stage of near-duplicates by meaning."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, TextIO

import typer

from calibration_sets.curation.embedders import read_vector_rows
from calibration_sets.curation.question_file import load_questions
from calibration_sets.writer import json_line
from experiments.commands.curate_cost import (
    BaseUrlOption,
    KeyVariableOption,
    MaxCostOption,
    check_dollars,
    cut_torn_line,
)
from experiments.commands.model_address import read_endpoint
from experiments.commands.options import check_asking
from experiments.errors import BudgetError, SpecError
from graders.grader import Grader
from graders.providers.local_embeddings import embed_locally
from graders.providers.openai_embeddings import embed_texts
from graders.providers.weights import ensure_weights
from graders.sampling import Sampling
from graders.token_estimate import estimate_tokens

__all__ = ["embed"]

SERVICES = ("openai/", "openai-compatible/")
LOCAL = "local/smollm2"

Batches = Iterator[list[tuple[str, list[float]]]]


def embed(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Questions: a benchmark's CSV, or JSON lines.")],
    model: Annotated[
        str, typer.Option("--model", help=f"openai/NAME or openai-compatible/NAME, an embedding model, or {LOCAL}.")
    ],
    to: Annotated[Path, typer.Option("--to", help="JSON lines for the vectors; those that are there are kept.")],
    base_url: BaseUrlOption = None,
    key_variable: KeyVariableOption = None,
    max_cost: MaxCostOption = None,
    price: Annotated[
        float | None, typer.Option("--price", help="Dollars a million tokens, for --max-cost and the plan.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be embedded, and stop.")] = False,
) -> None:
    """Embed every question with a model; each vector is kept as it comes and paid for once.

    \b
    Examples:
      autorater curate embed simple_qa_test_set.csv --model openai/text-embedding-3-small --to vectors.jsonl \\
          --price 0.02 --max-cost 0.05
      autorater curate embed simple_qa_test_set.csv --model local/smollm2 --to vectors.jsonl
      autorater curate run simple_qa_test_set.csv --to curated --embeddings vectors.jsonl
    """
    check_asking(max_cost, batch=False, wait=False)
    if price is not None:
        check_dollars(price)
    if model != LOCAL and not model.startswith(SERVICES):
        raise SpecError(f"--model: {model!r}; expected {LOCAL}, or an embedding model as {' or '.join(SERVICES)}NAME")
    endpoint = None if model == LOCAL else read_endpoint(model, base_url, key_variable)
    texts = list(dict.fromkeys(question.question for question in load_questions(file)))
    cut_torn_line(to)
    known = _known(to, model)
    missing = [text for text in texts if text not in known]
    _tell_plan(texts, missing, model, price=0.0 if model == LOCAL else price, max_cost=max_cost)
    if dry_run:
        return
    if missing:
        local = endpoint is None
        grader = Grader(model=model, sampling=Sampling(), endpoint=endpoint) if endpoint else None
        _keep_all(to, model, _local(missing) if local or grader is None else embed_texts(grader, missing))
    typer.echo(f"{len(texts)} texts, {len(missing)} embedded now: {to}")


def _local(texts: Sequence[str]) -> Batches:
    return embed_locally(ensure_weights("smollm2"), texts, threads=os.cpu_count() or 1)


def _tell_plan(
    texts: Sequence[str], missing: Sequence[str], model: str, *, price: float | None, max_cost: float | None
) -> None:
    """Say what is asked for and what it can cost at most; refuse where that, with what is there, passes the limit.

    Raises
    ------
    BudgetError
        Before anything is asked.
    """
    n_tokens = _most_tokens(missing, model)
    cost = "" if price is None else f", at most ${n_tokens * price / 1e6:.4f}"
    typer.echo(f"{model}: {len(missing)} of {len(texts)} texts to embed, at most {n_tokens} tokens{cost}", err=True)
    if max_cost is None:
        return
    if price is None:
        raise BudgetError(f"--max-cost: no price is known for {model}; expected one with --price, a million tokens")
    whole = _most_tokens(texts, model) * price / 1e6
    if whole > max_cost:
        raise BudgetError(
            f"--max-cost: all {len(texts)} texts can cost ${whole:.4f}, those that are there included; "
            f"expected no more than ${max_cost:.4f}, or a larger --max-cost"
        )


def _most_tokens(texts: Sequence[str], model: str) -> int:
    return sum(estimate_tokens(text, model).most for text in texts)


def _known(path: Path, model: str) -> set[str]:
    rows = read_vector_rows(path) if path.exists() else []
    others = sorted({str(row.model) for row in rows if row.model != model})
    if others:
        raise SpecError(f"{path.name}: vectors of {', '.join(others)}; expected those of {model}, or a new file")
    return {row.text for row in rows}


def _keep_all(to: Path, model: str, batches: Batches) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    with to.open("a", encoding="utf-8", newline="\n") as out:
        for found in batches:
            _keep(out, ({"text": text, "vector": vector, "model": model} for text, vector in found))


def _keep(out: TextIO, rows: Iterable[dict[str, object]]) -> None:
    out.writelines(f"{json_line(row, out.name)}\n" for row in rows)
    out.flush()
    os.fsync(out.fileno())
