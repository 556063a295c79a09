"""Commands that make a set out of other people's files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.errors import SetFileError
from calibration_sets.importers import (
    Imported,
    import_evouna,
    import_nq301,
    import_saf,
    import_table,
    load_simpleqa,
    load_simpleqa_verified,
    map_table,
    read_dataset,
)
from calibration_sets.loader import load_set
from calibration_sets.question import Question
from calibration_sets.records import SetHeader
from calibration_sets.scale import SCALES
from calibration_sets.writer import write_set

__all__ = ["READERS", "Benchmark", "echo_set", "import_app"]

import_app = typer.Typer(
    no_args_is_help=True,
    help="""Make a set out of other people's files.

\b
Example:
  autorater sets import evouna TQ.json --to evouna_tq
""",
)


class Benchmark(StrEnum):
    """Question sets without responses."""

    simpleqa = "simpleqa"
    simpleqa_verified = "simpleqa_verified"


ToOption = Annotated[Path, typer.Option("--to", help="Folder for the new set; must not hold other files.")]
ColumnsOption = Annotated[
    list[str],
    typer.Option("--column", help="FIELD=COLUMN: id, question, reference, response, label, rater, cluster, ..."),
]
RubricOption = Annotated[str, typer.Option("--rubric", help="Rules that the labels follow, as name@version.")]
LicenceOption = Annotated[str, typer.Option("--licence", help="Licence of the data.")]
ScaleOption = Annotated[str, typer.Option("--scale", help=f"Label scale: {', '.join(SCALES)}.")]
LabelOption = Annotated[
    list[str] | None, typer.Option("--label", help="TEXT=LABEL for labels that are spelt otherwise.")
]
AliasOption = Annotated[str | None, typer.Option("--alias-separator", help="What separates aliases.")]
READERS: Mapping[Benchmark, Callable[[Path], tuple[Question, ...]]] = {
    Benchmark.simpleqa: load_simpleqa,
    Benchmark.simpleqa_verified: load_simpleqa_verified,
}
"""Benchmark to what reads its questions."""


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
    columns: ColumnsOption,
    rubric: RubricOption,
    licence: LicenceOption,
    scale: ScaleOption = "simpleqa",
    labels: LabelOption = None,
    benchmark: Annotated[
        Benchmark | None, typer.Option("--benchmark", help="Take question and reference from this benchmark.")
    ] = None,
    benchmark_file: Annotated[Path | None, typer.Option("--benchmark-file", help="The benchmark's CSV.")] = None,
    alias_separator: AliasOption = None,
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
    found = import_table(
        file,
        _pairs(columns, "--column", "FIELD=COLUMN"),
        _header(to, file, rubric=rubric, scale=scale, licence=licence),
        labels=_pairs(labels or [], "--label", "TEXT=LABEL"),
        alias_separator=alias_separator,
        questions=READERS[benchmark](benchmark_file) if benchmark and benchmark_file else None,
    )
    _write(Imported(found), to)


@import_app.command("dataset")
def import_dataset_command(
    folder: Annotated[Path, typer.Argument(help="Folder that save_to_disk wrote, or of Parquet, JSON or CSV files.")],
    to: ToOption,
    columns: ColumnsOption,
    rubric: RubricOption,
    licence: LicenceOption,
    split: Annotated[str | None, typer.Option("--split", help="Name of the split, where there are several.")] = None,
    scale: ScaleOption = "simpleqa",
    labels: LabelOption = None,
    alias_separator: AliasOption = None,
) -> None:
    """A local dataset of Hugging Face's library, by saying which column is what (extra: datasets).

    Nothing is fetched. Classes (ClassLabel) are read by their names. A column of labels is taken as people's only
    where it is mapped to label.

    \b
    Example:
      autorater sets import dataset ./answers --split test --to mine --rubric simpleqa@1.0.0 --licence cc-by-4.0 \\
        --column id=id --column question=question --column reference=gold --column response=answer \\
        --column label=human --label right=CORRECT --label wrong=INCORRECT
    """
    found = map_table(
        read_dataset(folder, split=split),
        _pairs(columns, "--column", "FIELD=COLUMN"),
        _header(to, folder, rubric=rubric, scale=scale, licence=licence),
        labels=_pairs(labels or [], "--label", "TEXT=LABEL"),
        alias_separator=alias_separator,
    )
    _write(Imported(found), to)


def _header(to: Path, source: Path, *, rubric: str, scale: str, licence: str) -> SetHeader:
    if scale not in SCALES:
        raise SetFileError(f"--scale: {scale!r}; expected one of {', '.join(SCALES)}")
    name = source.resolve().name
    return SetHeader(
        name=to.resolve().name,
        version="1.0.0",
        rubric=rubric,
        scale=SCALES[scale],
        label_source="human",
        licence=licence,
        source=name,
        description=f"Imported from {name}.",
    )


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
    echo_set(load_set(to))
    for reason, count in imported.left_out.items():
        typer.echo(f"left out: {count} rows, {reason}")
    if imported.verdicts:
        typer.echo(f"wrote {len(imported.verdicts)} verdicts to {to / 'verdicts.jsonl'}")


def echo_set(found: CalibrationSet) -> None:
    """Print what a set is: provenance, digest, counts by label and kind."""
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
