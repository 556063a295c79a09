"""``autorater answers``: the wordings in which questions are put to models."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.respondents.answer_prompts import list_answer_prompts, load_answer_prompt, read_entry

__all__ = ["answers_app"]

answers_app = typer.Typer(
    no_args_is_help=True,
    help="""Answer prompts: the wordings in which [answering] puts questions to models.

\b
Examples:
  autorater answers list
  autorater answers show guess_is_free
""",
)


@answers_app.command("list")
def list_command() -> None:
    """List the answer prompts that ship with the program.

    \b
    Example:
      autorater answers list
    """
    for entry in list_answer_prompts():
        prompt = read_entry(entry)
        typer.echo(f"{prompt.title}\n    {prompt.description}")


@answers_app.command()
def show(prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="name, name@version, or a .md file.")]) -> None:
    """Print an answer prompt: what it is, and the text that a model reads.

    \b
    Examples:
      autorater answers show guess_is_free
      autorater answers show question_only@1.0.0
      autorater answers show mine/0.1.0.md
    """
    shown = load_answer_prompt(prompt)
    typer.echo(f"{shown.title}\nsha256 {shown.digest}\n{shown.description}".rstrip())
    typer.echo(f"\n{shown.text}")
