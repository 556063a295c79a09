"""Commands over calibration sets: list, show, validate, stamp, fetch, import, questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.errors import CalibrationSetError, SetFileError
from calibration_sets.fetch import fetch_source, list_sources
from calibration_sets.importers import (
    Imported,
    import_evouna,
    import_nq301,
    import_saf,
    import_table,
    load_simpleqa,
    load_simpleqa_verified,
)
from calibration_sets.loader import list_shipped_sets, load_set
from calibration_sets.question import Question
from calibration_sets.records import SetHeader
from calibration_sets.references.reference_lint import lint_reference
from calibration_sets.scale import SCALES
from calibration_sets.validation import compare_sets, validate_set
from calibration_sets.writer import stamp_labels, write_set

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
import_app = typer.Typer(
    no_args_is_help=True,
    help="""Make a set out of other people's files.

\b
Example:
  autorater sets import evouna TQ.json --to evouna_tq
""",
)
app.add_typer(import_app, name="import")


class Benchmark(StrEnum):
    """Question sets without responses."""

    simpleqa = "simpleqa"
    simpleqa_verified = "simpleqa_verified"


SetArgument = Annotated[str, typer.Argument(metavar="SET", help="Name of a shipped set, or a folder.")]
ToOption = Annotated[Path, typer.Option("--to", help="Folder for the new set; must not hold other files.")]
_READERS: Mapping[Benchmark, Callable[[Path], tuple[Question, ...]]] = {
    Benchmark.simpleqa: load_simpleqa,
    Benchmark.simpleqa_verified: load_simpleqa_verified,
}


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
    _describe(load_set(set_name))


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
    found = _READERS[benchmark](file)
    for question in found:
        for message in lint_reference(question.reference):
            typer.echo(f"{question.question_id}: {message}")
    n_ranges = sum(bool(question.reference.ranges) for question in found)
    typer.echo(f"{len(found)} questions, {n_ranges} references with an acceptable range")


@import_app.command("nq301")
def import_nq301_command(
    source: Annotated[Path, typer.Argument(help="Folder of the TSV files, or a joined nq301.jsonl.")],
    to: ToOption,
) -> None:
    """NQ301: people's labels, and the verdicts of three graders into verdicts.jsonl beside the set.

    \b
    Example:
      autorater sets import nq301 "$(autorater sets fetch nq301)" --to nq301
      autorater import verdicts nq301/verdicts.jsonl --set ./nq301
    """
    _write(import_nq301(source), to)


@import_app.command("evouna")
def import_evouna_command(source: Annotated[Path, typer.Argument(help="TQ.json.")], to: ToOption) -> None:
    """EVOUNA-TQ: answers of five systems with people's labels.

    \b
    Example:
      autorater sets import evouna TQ.json --to evouna_tq
    """
    _write(import_evouna(source), to)


@import_app.command("saf")
def import_saf_command(source: Annotated[Path, typer.Argument(help="saf_english.jsonl.")], to: ToOption) -> None:
    """SAF: short answers of students with people's scores, on five steps from 0 to 1.

    Scores between two steps are left out and counted, never rounded.

    \b
    Example:
      autorater sets import saf saf_english.jsonl --to saf
    """
    _write(import_saf(source), to)


@import_app.command("table")
def import_table_command(
    file: Annotated[Path, typer.Argument(help="CSV, TSV, JSONL or Parquet.")],
    to: ToOption,
    columns: Annotated[
        list[str],
        typer.Option("--column", help="FIELD=COLUMN: id, question, reference, response, label, rater, cluster, ..."),
    ],
    rubric: Annotated[str, typer.Option("--rubric", help="Rules that the labels follow, as name@version.")],
    licence: Annotated[str, typer.Option("--licence", help="Licence of the data.")],
    scale: Annotated[str, typer.Option("--scale", help=f"Label scale: {', '.join(SCALES)}.")] = "simpleqa",
    labels: Annotated[
        list[str] | None, typer.Option("--label", help="TEXT=LABEL for labels that are spelt otherwise.")
    ] = None,
    benchmark: Annotated[
        Benchmark | None, typer.Option("--benchmark", help="Take question and reference from this benchmark.")
    ] = None,
    benchmark_file: Annotated[Path | None, typer.Option("--benchmark-file", help="The benchmark's CSV.")] = None,
    alias_separator: Annotated[str | None, typer.Option("--alias-separator", help="What separates aliases.")] = None,
) -> None:
    """Any table, by saying which column is what.

    \b
    Examples:
      autorater sets import table graded.csv --to mine --rubric simpleqa@1.0.0 --licence internal \\
        --column id=qid --column question=problem --column reference=gold --column response=answer \\
        --column label=human --label yes=CORRECT --label no=INCORRECT
      autorater sets import table run.jsonl --to mine --rubric simpleqa_verified@1.0.0 --licence internal \\
        --benchmark simpleqa_verified --benchmark-file simpleqa_verified.csv \\
        --column question=problem --column response=output --column label=human
    """
    if (benchmark is None) != (benchmark_file is None):
        raise SetFileError("--benchmark and --benchmark-file: one of them is missing; expected both or neither")
    if scale not in SCALES:
        raise SetFileError(f"--scale: {scale!r}; expected one of {', '.join(SCALES)}")
    header = SetHeader(
        name=to.resolve().name,
        version="1.0.0",
        rubric=rubric,
        scale=SCALES[scale],
        label_source="human",
        licence=licence,
        source=file.name,
        description=f"Imported from {file.name}.",
    )
    found = import_table(
        file,
        _pairs(columns, "--column", "FIELD=COLUMN"),
        header,
        labels=_pairs(labels or [], "--label", "TEXT=LABEL"),
        alias_separator=alias_separator,
        questions=_READERS[benchmark](benchmark_file) if benchmark and benchmark_file else None,
    )
    _write(Imported(found), to)


def _pairs(entries: list[str], option: str, form: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for entry in entries:
        key, equals, value = entry.partition("=")
        if not (key and equals and value) or key in pairs:
            raise SetFileError(f"{option}: {entry!r}; expected {form}, each once")
        pairs[key] = value
    return pairs


def _write(imported: Imported, to: Path) -> None:
    write_set(imported.calibration_set, to)
    if imported.verdicts:
        imported.write_verdicts(to / "verdicts.jsonl")
    _describe(load_set(to))
    for reason, count in imported.left_out.items():
        typer.echo(f"left out: {count} rows, {reason}")
    if imported.verdicts:
        typer.echo(f"wrote {len(imported.verdicts)} verdicts to {to / 'verdicts.jsonl'}")


def _describe(found: CalibrationSet) -> None:
    consensus = found.consensus()
    typer.echo(f"{found.name} {found.version}  sha256 {found.digest}")
    typer.echo(f"{found.description}\nsource: {found.source}\nlicence: {found.licence}")
    typer.echo(f"labels: {found.label_source}, under {', '.join(found.rubrics)}")
    clusters = len({item.cluster_id for item in found.items})
    raters = len({label.rater for label in found.human_labels})
    typer.echo(f"{len(found.items)} items on {clusters} questions, {len(found.human_labels)} labels by {raters} raters")
    counts = Counter(consensus.labels.values())
    by_label = ", ".join(f"{label} {counts[label]}" for label in found.scale.labels)
    typer.echo(f"consensus: {by_label}; {len(consensus.tied)} tied, {len(consensus.unlabelled)} unlabelled")
    kinds = Counter(item.kind for item in found.items if item.kind)
    if kinds:
        typer.echo("kinds: " + ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))


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
