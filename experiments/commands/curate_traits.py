"""``autorater curate traits``: which questions take reasoning or several steps, as a model says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from calibration_sets.curation.question_file import load_questions, question_data
from calibration_sets.curation.question_traits import add_traits, classify_questions, load_traits_prompt
from calibration_sets.writer import write_lines
from experiments.commands.curate_cost import (
    BaseUrlOption,
    KeyVariableOption,
    MaxCostOption,
    MaxTokensOption,
    PriceOption,
    open_judge,
    replies_beside,
)

__all__ = ["traits"]


def traits(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Questions: a benchmark's CSV, or JSON lines.")],
    model: Annotated[str, typer.Option("--model", help="provider/name, such as local/smollm2.")],
    to: Annotated[Path, typer.Option("--to", help="JSON lines for the questions with their flags.")],
    base_url: BaseUrlOption = None,
    key_variable: KeyVariableOption = None,
    max_tokens: MaxTokensOption = 1024,
    max_cost: MaxCostOption = None,
    price: PriceOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be asked, and stop.")] = False,
) -> None:
    """Ask a model about each question, by a versioned prompt, and write its flags into the metadata.

    Replies are kept beside the file (.replies.jsonl), so each is paid for once. What cannot be used is counted by its
    reason, and its question gets no flag. It is one short call a question; --max-cost sets a limit.

    \b
    Examples:
      autorater curate traits curated/9_hardest/kept.jsonl --model openai/gpt-4.1-mini --to flagged.jsonl --max-cost 1
      autorater curate traits questions.jsonl --model local/smollm2 --to flagged.jsonl
    """
    questions, prompt = load_questions(file), load_traits_prompt()
    judge = open_judge(
        model,
        replies_beside(to),
        base_url=base_url,
        key_variable=key_variable,
        max_tokens=max_tokens,
        max_cost=max_cost,
        price=price,
    )
    judge.plan([prompt.render(question) for question in questions])
    if dry_run:
        return
    found = classify_questions(questions, judge, prompt)
    write_lines(to, map(question_data, add_traits(questions, found, prompt)))
    n_reasoning = sum(one.requires_reasoning is True for one in found)
    n_steps = sum(one.multi_step is True for one in found)
    failures = Counter(one.failure for one in found if one.failure)
    typer.echo(f"{prompt.title} {model}: {len(found) - failures.total()} of {len(found)} questions flagged")
    typer.echo(f"requires_reasoning {n_reasoning}, multi_step {n_steps}")
    for reason, count in sorted(failures.items()):
        typer.echo(f"no flag: {count}, {reason}")
