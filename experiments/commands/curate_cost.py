"""What the commands of a curation that ask models share: costs, what is asked, and files that a killed run left."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from calibration_sets.curation.judge import NoReply
from calibration_sets.strict import parse_json
from experiments.commands.model_address import read_endpoint
from experiments.commands.options import check_asking
from experiments.errors import BudgetError, SpecError
from experiments.respondents.text_judge import TextPlan, build_text_judge, judge_texts, plan_texts
from experiments.running.budget import Budget, estimated_worst_cost
from experiments.running.progress import open_progress
from graders.capabilities import Price
from graders.grader import Grader
from graders.providers import open_client

__all__ = [
    "BaseUrlOption",
    "KeyVariableOption",
    "MaxCostOption",
    "MaxTokensOption",
    "PaidJudge",
    "PriceOption",
    "check_dollars",
    "cut_torn_line",
    "open_judge",
    "replies_beside",
]

BaseUrlOption = Annotated[str | None, typer.Option("--base-url", help="The service's address, if not its usual.")]
KeyVariableOption = Annotated[
    str | None, typer.Option("--key-variable", help="Environment variable that holds the key.")
]
MaxCostOption = Annotated[
    float | None,
    typer.Option("--max-cost", help="Dollars, what was paid for the same file before included. Default: no limit."),
]
MaxTokensOption = Annotated[int, typer.Option("--max-tokens", min=1, help="Of a reply, its reasoning included.")]
PriceOption = Annotated[
    tuple[float, float] | None,
    typer.Option("--price", help="Dollars a million tokens, in and out; default: as 'autorater models' knows it."),
]


def check_dollars(*given: float) -> None:
    """Raise ``SpecError`` where a price is below nothing, or no number."""
    if not all(0 <= one < math.inf for one in given):
        raise SpecError(f"--price: {' '.join(f'{one:g}' for one in given)}; expected dollars, 0 or more")


def replies_beside(to: Path) -> Path:
    """Where the replies for a file of JSON lines are kept: ``flagged.replies.jsonl`` beside ``flagged.jsonl``.

    Raises
    ------
    SpecError
        If the file has another ending; what reads it would not take it for JSON lines.
    """
    if to.suffix != ".jsonl":
        raise SpecError(f"--to: {to.name!r}; expected a file of JSON lines, with the ending .jsonl")
    return to.with_name(f"{to.stem}.replies.jsonl")


@dataclass(frozen=True, slots=True)
class PaidJudge:
    """A model that reads texts: each reply is kept in the file as it comes in, within a limit on costs if there is one.

    Called with texts, it gives a reply each; see :func:`judge_texts`.
    """

    grader: Grader
    replies: Path
    max_cost: float | None

    def plan(self, texts: Sequence[str]) -> TextPlan:
        """Say on stderr what is left to ask and what it takes at most."""
        plan = plan_texts(self.grader, texts, self.replies)
        cost = "" if plan.cost is None else f", at most ${plan.cost:.4f}"
        tokens = f"{plan.input_tokens} tokens in and {plan.output_tokens} out"
        typer.echo(
            f"{self.grader.model}: {plan.n_missing} of {plan.n_texts} texts to ask, at most {tokens}{cost}", err=True
        )
        return plan

    def __call__(self, texts: Sequence[str]) -> list[str | NoReply]:
        """Ask what was not answered before, with progress on stderr."""
        with open_progress(Console(stderr=True)) as progress:
            return judge_texts(
                self.grader,
                texts,
                self.replies,
                open_client=open_client,
                budget=None if self.max_cost is None else Budget(self.max_cost, estimated_worst_cost),
                progress=progress,
            )


def open_judge(
    model: str,
    replies: Path,
    *,
    base_url: str | None,
    key_variable: str | None,
    max_tokens: int,
    max_cost: float | None,
    price: tuple[float, float] | None,
) -> PaidJudge:
    """The model that a command names, with what is there of its replies.

    Raises
    ------
    SpecError, GraderError
        If the options name no model that reads texts, or no price.
    BudgetError
        If there is a limit, and no price is known.
    """
    check_asking(max_cost, batch=False, wait=False)
    endpoint = replace(read_endpoint(model, base_url, key_variable), on_unsupported="provider-default")
    grader = build_text_judge(model, endpoint, max_tokens=max_tokens)
    if price is not None:
        check_dollars(*price)
        grader = replace(grader, capabilities=replace(grader.capabilities, price=Price(*price)))
    if max_cost is not None and grader.capabilities.price is None:
        raise BudgetError(f"--max-cost: no price is known for {model}; expected one with --price IN OUT")
    cut_torn_line(replies)
    return PaidJudge(grader, replies, max_cost)


def cut_torn_line(path: Path) -> None:
    """Take the end off a file of JSON lines whose last record was never finished, as a killed run leaves it.

    A whole record without a line end gets one; what does not begin as a record stays, for the reader to complain of.
    """
    if not path.is_file():
        return
    with path.open("r+b") as file:
        data = file.read()
        start = data.rfind(b"\n") + 1
        if start == len(data):
            return
        if _is_whole(data[start:]):
            file.write(b"\n")
        elif data[start:].startswith(b"{"):
            file.truncate(start)


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(parse_json(line.decode()), Mapping)
    except ValueError:
        return False
