"""`autorater labels export` and `import`: labels into files of other programs and back."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from experiments.analyses.graded_samples import read_graded_samples
from experiments.commands.options import DEFAULT_STORE, StoreOption
from experiments.commands.review import DEFAULT_LABELS, LabelsOption
from experiments.errors import ReviewError
from experiments.reports.escaping import visible
from experiments.reports.report_file import check_report_file, write_report_file
from experiments.review.exchange.argilla import render_settings, write_records
from experiments.review.exchange.argilla_export import read_argilla
from experiments.review.exchange.file_row import FileLabels, ReadOptions
from experiments.review.exchange.label_import import ImportCounts, import_labels
from experiments.review.exchange.label_studio import render_config, write_tasks
from experiments.review.exchange.label_studio_export import read_label_studio
from experiments.review.exchange.queue_labels import write_labelled_queue
from experiments.review.exchange.row_tables import (
    read_csv_labels,
    read_json_labels,
    write_csv_labels,
    write_json_labels,
)
from experiments.review.exchange.verdict_hints import Hint, read_hints
from experiments.review.label_store import LabelStore
from experiments.review.labels import label_rows
from experiments.review.review_record import Review
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from experiments.store.store_place import StorePlace

__all__ = ["ReviewArgument", "export_labels", "import_file"]


class LabelFormat(StrEnum):
    """Files that labels come from."""

    csv = "csv"
    jsonl = "jsonl"
    label_studio = "label-studio"
    argilla = "argilla"


class ExportFormat(StrEnum):
    """Files that labels go to."""

    csv = "csv"
    jsonl = "jsonl"
    label_studio = "label-studio"
    argilla = "argilla"
    queue = "queue"


class OnConflict(StrEnum):
    """What becomes of a label that contradicts the rater's own in the store."""

    refuse = "refuse"
    keep = "keep"
    take = "replace"


ReviewArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[REVIEW]", help="Run or set that is labelled, or a review's id; needed if there are several."
    ),
]


def export_labels(
    review: ReviewArgument = None,
    file_format: Annotated[ExportFormat, typer.Option("--format", help="Form of the file.")] = ExportFormat.csv,
    out: Annotated[Path | None, typer.Option("--out", help="The file.")] = None,
    users: Annotated[
        list[str] | None,
        typer.Option("--user", help="NAME=ID of a rater's user in Label Studio or Argilla; may be repeated."),
    ] = None,
    verdicts: Annotated[
        str | None,
        typer.Option("--verdicts", metavar="RUN", help="Show its graders' majorities as predictions; not blind then."),
    ] = None,
    no_labels: Annotated[
        bool, typer.Option("--no-labels", help="Items alone, for raters who should not see what others said.")
    ] = False,
    labels: LabelsOption = DEFAULT_LABELS,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Write a review's labels, and for the labelling programs all of its items, to a file.

    csv and jsonl have a row for each rater, item and role. label-studio writes tasks, and a labelling
    configuration beside them; argilla records, and the settings of the dataset. queue writes one
    row an item with its probability, for 'autorater queue rates'. All but queue can be imported
    again without loss.

    \b
    Examples:
      autorater labels export --format csv --out labels.csv
      autorater labels export quickstart --format label-studio --out tasks.json --user Ann=3
      autorater labels export --format queue --out queue_labelled.csv
    """
    if out is None:
        raise ReviewError("--out: missing; expected a file")
    check_report_file(out)
    _check_export(file_format, for_programs=bool(users or verdicts or no_labels))
    with LabelStore(labels, must_exist=True) as opened:
        found = opened.find_review(review)
        rows = [] if no_labels else label_rows(found, opened.events(found))
    given = _users(users or [])
    hints = _hints(verdicts, store) if verdicts else {}
    if file_format is ExportFormat.csv:
        _write(out, write_csv_labels(found, rows), f"{len(rows):,} labels, skips and notes")
    elif file_format is ExportFormat.jsonl:
        _write(out, write_json_labels(rows), f"{len(rows):,} labels, skips and notes")
    elif file_format is ExportFormat.queue:
        queue = write_labelled_queue(found, rows)
        left = f", {queue.n_open:,} of them without a label, with which no rates are estimated" if queue.n_open else ""
        _write(out, queue.text, f"{len(found.work):,} rows{left}")
    elif file_format is ExportFormat.label_studio:
        _write(out, write_tasks(found, rows, hints, _numbers(given)), _items_text(found, len(rows)))
        _write(_beside(out, ".config.xml"), render_config(found), "the labelling configuration")
        _note_users({row.rater for row in rows} - set(given), "Label Studio counts their labels as the importer's")
    else:
        _write(out, write_records(found, rows, hints, given), _items_text(found, len(rows)))
        _write(_beside(out, ".settings.json"), render_settings(found), "the settings of the dataset")
        _note_users({row.rater for row in rows} - set(given), "Argilla refuses the responses of users it does not know")


def _check_export(file_format: ExportFormat, *, for_programs: bool) -> None:
    if file_format not in (ExportFormat.label_studio, ExportFormat.argilla) and for_programs:
        raise ReviewError(
            f"--format {file_format}: with --user, --verdicts or --no-labels; expected label-studio or argilla"
        )


def _users(given: list[str]) -> dict[str, str]:
    pairs = [text.rpartition("=") for text in given]
    if not all(name and user for name, _, user in pairs):
        raise ReviewError(f"--user: {given}; expected NAME=ID")
    return {name: user for name, _, user in pairs}


def _numbers(users: dict[str, str]) -> dict[str, int]:
    strangers = [user for user in users.values() if not user.isdecimal()]
    if strangers:
        raise ReviewError(f"--user: {strangers[0]!r}; expected the number of a user of Label Studio")
    return {name: int(user) for name, user in users.items()}


def _hints(run: str, store: StorePlace) -> dict[str, list[Hint]]:
    with RunStore(store, must_exist=True) as opened:
        graded = read_graded_samples(load_run_data(opened, run)[0])
    return {digest: list(hints) for digest, hints in read_hints(graded).items()}


def _beside(out: Path, ending: str) -> Path:
    return out.with_name(f"{out.stem}{ending}")


def _write(out: Path, text: str, what: str) -> None:
    write_report_file(out, text)
    typer.echo(visible(f"wrote {what} to {out}"), err=True)


def _items_text(review: Review, n_rows: int) -> str:
    return f"{len(review.work):,} items with {n_rows:,} labels, skips and notes"


def _note_users(raters: set[str], why: str) -> None:
    if raters:
        typer.echo(visible(f"note: no --user for {', '.join(sorted(raters))}: {why}"), err=True)


def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What was exported, or filled in.")],
    review: Annotated[
        str | None, typer.Option("--review", help="Where the labels go; needed if the store has several reviews.")
    ] = None,
    file_format: Annotated[LabelFormat, typer.Option("--format", help="Form of the file.")] = LabelFormat.csv,
    raters: Annotated[
        list[str] | None,
        typer.Option("--rater", help="NAME if the file names nobody, or ID=NAME of a user; may be repeated."),
    ] = None,
    blind: Annotated[
        bool, typer.Option("--blind", help="Verdicts were hidden from the raters, where the file does not say.")
    ] = False,
    on_conflict: Annotated[
        OnConflict, typer.Option("--on-conflict", help="Where a rater's label in the store is another one.")
    ] = OnConflict.refuse,
    assume_submitted: Annotated[
        bool, typer.Option("--assume-submitted", help="Of Argilla: responses without a status count as submitted.")
    ] = False,
    labels: LabelsOption = DEFAULT_LABELS,
) -> None:
    """Add the labels of a file to a review. What is in the store stays there; importing twice adds nothing.

    Rows are matched by the content that was judged: changed items, unknown ones, and labels off the
    scale are refused, each with its line. A CSV file needs the columns label and item_digest or
    item_id, so that a filled-in file of 'autorater queue' will do.

    \b
    Examples:
      autorater labels import labels.jsonl --format jsonl
      autorater labels import queue_filled.csv --rater Ann
      autorater labels import export.json --format label-studio --rater 3=Ann --rater 4=Ben
      autorater labels import records.json --format argilla --on-conflict keep
    """
    options = ReadOptions.parse(raters or [], assume_submitted=assume_submitted)
    read = _read(file, file_format, options)
    with LabelStore(labels, must_exist=True) as opened:
        found = opened.find_review(review)
        counts = import_labels(opened, found, read, rater=options.rater, blind=blind, on_conflict=on_conflict.value)
    _tell_import(counts, found, on_conflict)


def _read(file: Path, file_format: LabelFormat, options: ReadOptions) -> FileLabels:
    if file_format is LabelFormat.csv:
        return read_csv_labels(file)
    if file_format is LabelFormat.jsonl:
        return read_json_labels(file)
    if file_format is LabelFormat.label_studio:
        return read_label_studio(file, options)
    return read_argilla(file, options)


def _tell_import(counts: ImportCounts, review: Review, on_conflict: OnConflict) -> None:
    for note in counts.notes:
        typer.echo(visible(f"note: {note}"), err=True)
    done = "kept as in the store" if on_conflict is OnConflict.keep else "replaced"
    for conflict in counts.conflicts:
        typer.echo(visible(f"conflict, {done}: {conflict}"), err=True)
    kept = f", {len(counts.conflicts):,} conflicts {done}" if counts.conflicts else ""
    empty = f", {counts.n_empty:,} rows say nothing" if counts.n_empty else ""
    typer.echo(
        visible(f"review {review.review_id}: {counts.n_added:,} rows added, {counts.n_known:,} known{kept}{empty}")
    )
