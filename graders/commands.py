"""Commands over grader prompts."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from graders.errors import PromptError
from graders.official import OfficialText, as_grader_prompt, extract_official
from graders.prompt import GraderPrompt
from graders.prompt_diff import diff_prompts, render_diff
from graders.prompt_file import write_prompt
from graders.prompt_library import SHIPPED, list_prompts, load_prompt, user_prompts, write_lock
from graders.prompt_lint import lint_prompt

__all__ = ["graders_app"]

graders_app = typer.Typer(
    no_args_is_help=True,
    help="""Grader prompts: list, show, compare, check, add.

\b
Examples:
  autorater graders list
  autorater graders show simpleqa_verified
""",
)


class Official(StrEnum):
    """Kinds of official text."""

    simpleqa = "simpleqa"
    simpleqa_verified = "simpleqa_verified"


PromptArgument = Annotated[str, typer.Argument(metavar="PROMPT", help="name, name@version, or a .md file.")]


@graders_app.command("list")
def list_command() -> None:
    """List the grader prompts, shipped ones and your own.

    \b
    Example:
      autorater graders list
    """
    for entry in list_prompts():
        prompt = entry.load()
        own = "" if entry.origin == "shipped" else f"  ({entry.path})"
        typer.echo(f"{prompt.title}  {prompt.channel}, {prompt.form}{own}\n    {prompt.description}")


@graders_app.command()
def show(prompt: PromptArgument) -> None:
    """Print a prompt: what it is, and the text that a model reads.

    \b
    Examples:
      autorater graders show simpleqa_verified
      autorater graders show simpleqa@1.0.0
    """
    shown = load_prompt(prompt)
    typer.echo(_describe(shown))
    typer.echo(f"\n{shown.text}")


@graders_app.command()
def diff(
    first: PromptArgument,
    second: PromptArgument,
) -> None:
    """Show what moved between two prompts, section by section and in words.

    \b
    Example:
      autorater graders diff simpleqa simpleqa_verified
    """
    typer.echo(render_diff(diff_prompts(load_prompt(first), load_prompt(second))))


@graders_app.command()
def lint(
    prompt: Annotated[str, typer.Argument(metavar="PATH", help="A .md file, or the name of a prompt.")],
) -> None:
    """Look for examples that contradict their rule, labels without an example, wrong placeholders.

    The exit code is 1 if there is an error among the findings.

    \b
    Examples:
      autorater graders lint my_grader/0.1.0.md
      autorater graders lint simpleqa
    """
    findings = lint_prompt(Path(prompt) if prompt.endswith(".md") else load_prompt(prompt))
    for finding in findings:
        typer.echo(str(finding))
    n_findings = len(findings)
    typer.echo(f"{n_findings} finding{'s' if n_findings > 1 else ''}" if findings else "nothing found")
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(1)


@graders_app.command("add-official")
def add_official(
    kind: Annotated[Official, typer.Argument(help="Which of the published rubrics.")],
    source: Annotated[
        str, typer.Option("--from", help="An installed package, a wheel, a Python or text file, or a URL.")
    ],
) -> None:
    """Take an official grader text out of a package, without importing it, into your own prompts.

    Only texts whose digest is known as published are called official.

    \b
    Examples:
      autorater graders add-official simpleqa --from nvidia-simple-evals
      autorater graders add-official simpleqa_verified --from inspect-evals
    """
    official = extract_official(kind.value, source)
    prompt = as_grader_prompt(official)
    path = user_prompts() / prompt.name / f"{prompt.version}.md"
    write_prompt(prompt, path)
    typer.echo(_describe_official(official))
    typer.echo(f"added {prompt.title} as {path}")


@graders_app.command()
def lock(
    folder: Annotated[Path, typer.Argument(help="A folder of prompts.", show_default="the shipped ones")] = SHIPPED,
) -> None:
    """Record the digests of new prompt versions; a published version that changed is an error.

    \b
    Example:
      autorater graders lock
    """
    if not folder.is_dir():
        raise PromptError(f"{folder}: no such folder; expected a folder of <name>/<version>.md")
    if not any(folder.glob("*/*.md")):
        raise PromptError(f"{folder}: no prompts in it; expected a folder of <name>/<version>.md")
    typer.echo(f"wrote {write_lock(folder)}")


def _describe(prompt: GraderPrompt) -> str:
    letters = ", ".join(f"{letter} = {label}" for label, letter in prompt.scale.letters.items())
    lines = [
        f"{prompt.title}",
        f"rubric {prompt.rubric}; labels {', '.join(prompt.scale.labels)}{f' ({letters})' if letters else ''}",
        f"channel {prompt.channel}, form {prompt.form}; "
        f"{len(prompt.text.split())} words, {len(prompt.text)} characters",
        f"sha256 {prompt.digest}",
        prompt.description,
    ]
    return "\n".join(line for line in lines if line)


def _describe_official(official: OfficialText) -> str:
    return f"{official.name}: {official.characters} characters, {official.words} words, sha256 {official.digest}"
