"""Commands over calibration sets: list, show, validate, stamp, fetch, import, questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.errors import CalibrationSetError, SetFileError
from calibration_sets.fetch import fetch_source, list_sources
from calibration_sets.import_commands import READERS, Benchmark, echo_set, import_app
from calibration_sets.loader import list_shipped_sets, load_set
from calibration_sets.references.reference_lint import lint_reference
from calibration_sets.validation import compare_sets, validate_set
from calibration_sets.writer import stamp_labels

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="""Calibration sets: list, show, check, fetch, import.

\b
Examples:
  autorater sets show probes
  autorater sets validate ./my_set
""",
)
app.add_typer(import_app, name="import")


SetArgument = Annotated[str, typer.Argument(metavar="SET", help="Name of a shipped set, or a folder.")]


@app.command("list")
def list_command() -> None:
    """List the sets that ship with the program, and the public data that can be fetched.

    \b
    Example:
      autorater sets list
    """
    typer.echo("shipped:")
    for name in list_shipped_sets():
        found = load_set(name)
        typer.echo(f"  {name:<20} {found.version}  {len(found.items)} items, labels: {found.label_source}")
    typer.echo("to fetch (autorater sets fetch NAME):")
    for name, source in list_sources().items():
        typer.echo(f"  {name:<20} {source.title}; {source.licence}")


@app.command()
def show(set_name: SetArgument) -> None:
    """Print what a set is: provenance, digest, counts by label and kind.

    \b
    Examples:
      autorater sets show probes
      autorater sets show ./my_set
    """
    echo_set(load_set(set_name))


@app.command()
def validate(
    set_name: SetArgument,
    against: Annotated[
        str | None, typer.Option("--against", help="An earlier version: list what has changed since.")
    ] = None,
) -> None:
    """Load a set strictly and list what a person should look at.

    Asymmetric ranges, references outside their own range, contents that come twice, ties, items
    without a label, missing labels of the scale. What keeps a set from loading is an error.

    \b
    Examples:
      autorater sets validate ./my_set
      autorater sets validate ./my_set --against ./my_set_before
    """
    found = _load_listing_problems(set_name)
    findings = validate_set(found)
    if against is not None:
        findings += compare_sets(load_set(against), found)
    for finding in findings:
        typer.echo(f"{finding.code}: {finding.message}{_listing(finding.items)}")
    typer.echo(f"{found.name} {found.version} loads: {len(found.items)} items, {len(findings)} findings")


@app.command()
def stamp(folder: Annotated[Path, typer.Argument(help="Folder of a set.")]) -> None:
    """Tie hand-written labels to the content of their items: fill in missing digests.

    \b
    Example:
      autorater sets stamp ./my_set
    """
    typer.echo(f"{stamp_labels(folder)} labels stamped")


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="One of the names that 'sets list' prints.")],
    from_file: Annotated[
        Path | None, typer.Option("--from-file", help="A copy to take, where there is no network: file or folder.")
    ] = None,
) -> None:
    """Get public data from its own source into the cache, checked by hash.

    \b
    Examples:
      autorater sets fetch nq301
      autorater sets fetch simpleqa_verified --from-file simpleqa_verified.csv
    """
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    progress = Progress(*columns, console=Console(stderr=True))
    bars: dict[str, TaskID] = {}

    def tell(file: str, done: int, total: int | None) -> None:
        if not bars:
            progress.start()
        if file not in bars:
            bars[file] = progress.add_task(file, total=total)
        progress.update(bars[file], completed=done, total=total)

    try:
        path = fetch_source(name, from_file=from_file, progress=tell)
    finally:
        if bars:
            progress.stop()
    typer.echo(str(path))


@app.command()
def questions(
    benchmark: Annotated[Benchmark, typer.Argument(help="Which benchmark the file is.")],
    file: Annotated[Path, typer.Argument(help="Its CSV file.")],
) -> None:
    """Read a benchmark's questions, count references and ranges, and list odd ones.

    \b
    Example:
      autorater sets questions simpleqa_verified simpleqa_verified.csv
    """
    found = READERS[benchmark](file)
    for question in found:
        for message in lint_reference(question.reference):
            typer.echo(f"{question.question_id}: {message}")
    n_ranges = sum(bool(question.reference.ranges) for question in found)
    typer.echo(f"{len(found)} questions, {n_ranges} references with an acceptable range")


def _load_listing_problems(set_name: str) -> CalibrationSet:
    """The set; if it does not load, all problems are listed before the error that the command ends with."""
    try:
        return load_set(set_name)
    except SetFileError as error:
        _list_problems(error)


def _list_problems(error: CalibrationSetError) -> NoReturn:
    for line in str(error).splitlines()[1:]:
        typer.echo(line)
    raise error


def _listing(ids: tuple[str, ...]) -> str:
    shown = ", ".join(ids[:5])
    return f" ({shown}{', ...' if len(ids) > 5 else ''})" if ids else ""
