"""``autorater curate traits``: which questions take reasoning or several steps, as a model says."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from calibration_sets.curation.question_file import load_questions, question_data
from calibration_sets.curation.question_traits import add_traits, classify_questions, load_traits_prompt
from calibration_sets.writer import write_lines
from experiments.commands.curate_cost import MaxCostOption, cut_torn_line
from experiments.commands.model_address import read_endpoint
from experiments.commands.options import check_asking
from experiments.errors import BudgetError, SpecError
from experiments.respondents.text_judge import build_text_judge, judge_texts
from experiments.running.budget import Budget, estimated_worst_cost
from graders.capabilities import Price
from graders.grader import Grader
from graders.providers import open_client

__all__ = ["traits"]


def traits(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Questions: a benchmark's CSV, or JSON lines.")],
    model: Annotated[str, typer.Option("--model", help="provider/name, such as local/smollm2.")],
    to: Annotated[Path, typer.Option("--to", help="JSON lines for the questions with their flags.")],
    base_url: Annotated[str | None, typer.Option("--base-url", help="The service's address, if not its usual.")] = None,
    key_variable: Annotated[
        str | None, typer.Option("--key-variable", help="Environment variable that holds the key.")
    ] = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Of a reply, its reasoning included.")] = 1024,
    max_cost: MaxCostOption = None,
    price: Annotated[
        tuple[float, float] | None,
        typer.Option("--price", help="Dollars a million tokens, in and out; default: as 'autorater models' knows it."),
    ] = None,
) -> None:
    """Ask a model about each question, by a versioned prompt, and write its flags into the metadata.

    Replies are kept beside the file (.replies.jsonl), so each is paid for once. What cannot be used is counted by its
    reason, and its question gets no flag. It is one short call a question; --max-cost sets a limit.

    \b
    Examples:
      autorater curate traits curated/9_hardest/kept.jsonl --model openai/gpt-4.1-mini --to flagged.jsonl --max-cost 1
      autorater curate traits questions.jsonl --model local/smollm2 --to flagged.jsonl
    """
    check_asking(max_cost, batch=False, wait=False)
    questions, prompt = load_questions(file), load_traits_prompt()
    endpoint = replace(read_endpoint(model, base_url, key_variable), on_unsupported="provider-default")
    grader = build_text_judge(model, endpoint, max_tokens=max_tokens)
    if price is not None:
        grader = replace(grader, capabilities=replace(grader.capabilities, price=_price(*price)))
    budget = None if max_cost is None else _budget(max_cost, grader)
    replies = to.with_name(f"{to.name.removesuffix('.jsonl')}.replies.jsonl")
    cut_torn_line(replies)
    found = classify_questions(
        questions, lambda texts: judge_texts(grader, texts, replies, open_client=open_client, budget=budget), prompt
    )
    write_lines(to, map(question_data, add_traits(questions, found, prompt)))
    n_reasoning = sum(one.requires_reasoning is True for one in found)
    n_steps = sum(one.multi_step is True for one in found)
    failures = Counter(one.failure for one in found if one.failure)
    typer.echo(f"{prompt.title} {model}: {len(found) - failures.total()} of {len(found)} questions flagged")
    typer.echo(f"requires_reasoning {n_reasoning}, multi_step {n_steps}")
    for reason, count in sorted(failures.items()):
        typer.echo(f"no flag: {count}, {reason}")


def _price(given: float, written: float) -> Price:
    if not (0 <= given < math.inf and 0 <= written < math.inf):
        raise SpecError(f"--price: {given:g} {written:g}; expected dollars, 0 or more")
    return Price(given, written)


def _budget(limit: float, grader: Grader) -> Budget:
    if grader.capabilities.price is None:
        raise BudgetError(f"--max-cost: no price is known for {grader.model}; expected one with --price IN OUT")
    return Budget(limit, estimated_worst_cost)
