"""A run of a store as a folder of Parquet files; verdicts are read, written and forgotten one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from calibration_sets.calibration_set import CalibrationSet
from experiments.errors import ExportError
from experiments.parquet.columns import ITEMS_FILE, LABELS_FILE, TEXTS_FILE
from experiments.parquet.description import (
    DESCRIPTION_FILE,
    SCHEMA,
    ExportDescription,
    ExportedGrader,
    ExportedScale,
    RunFields,
)
from experiments.parquet.export_folder import new_folder
from experiments.parquet.item_tables import item_table, label_table, number_contents, text_table
from experiments.parquet.part_writer import ROWS_A_PART, VerdictWriter, write_table
from experiments.reports.costly_items import costly_items
from experiments.reports.grader_section import identity_fields, label_fields
from experiments.reports.reference_labels import ReferenceLabels, drop_stale_labels, join_labels
from experiments.reports.set_section import human_agreement_fields, set_fields
from experiments.specs.grader_reading import GraderRecord, read_grader
from experiments.store.run_descriptions import RunDescription, describe_run
from experiments.store.run_records import results_of, rule_of
from experiments.store.run_store import RunStore
from experiments.store.set_snapshot import load_set
from graders.verdict import Verdict

__all__ = ["export_run"]


@dataclass(frozen=True, slots=True)
class _Export:
    """Where a run goes: its folder, its fresh labels, and the number of each content."""

    store: RunStore
    about: RunDescription
    folder: Path
    chosen: CalibrationSet
    contents: Mapping[str, int]
    rows_a_part: int


def export_run(
    store: RunStore, run: str, folder: Path, *, replace: bool = False, rows_a_part: int = ROWS_A_PART
) -> ExportDescription:
    """Write a run's verdicts, items and description; no model is called.

    Parameters
    ----------
    run
        Run id, or enough of its beginning.
    folder
        A new folder; it appears when all is written.
    replace
        Whether an export that is there is replaced.
    rows_a_part
        Verdicts of a file, at most.

    Raises
    ------
    ExperimentError
        If there is no such run, it has no verdicts of graders, or the folder cannot be written.
    """
    about = describe_run(store, store.find_run(run))
    if about.answering is not None:
        raise ExportError(f"run {about.run_id}: its replies are respondents' answers; expected a run of graders")
    with store.damage_named(f"the set of run {about.run_id}"):
        whole = load_set(store.load_set_snapshot(about.run_id))
    chosen, n_stale = drop_stale_labels(whole)
    with new_folder(folder, replace=replace) as partial:
        export = _Export(store, about, partial, chosen, number_contents(chosen.items), rows_a_part)
        description = _write(export, n_stale=n_stale)
        (partial / DESCRIPTION_FILE).write_text(description.dump(), encoding="utf-8")
    return description


def _write(export: _Export, *, n_stale: int) -> ExportDescription:
    about, chosen, folder = export.about, export.chosen, export.folder
    items = sorted(chosen.items, key=lambda item: (item.item_id, item.digest))
    joined = join_labels(chosen, [grader.rubric for grader in about.graders])
    level = about.analyses.level
    return ExportDescription(
        schema=SCHEMA,
        run=RunFields(
            run_id=about.run_id,
            experiment=about.name,
            parser_rule=about.analyses.parser,
            level=level,
            n_items_in_set=about.n_items_in_set,
        ),
        scale=ExportedScale.model_validate(chosen.scale, from_attributes=True),
        set=set_fields(chosen, digest=about.set_digest),
        human_agreement=human_agreement_fields(chosen, level=level),
        n_stale=n_stale,
        content_digest=chosen.digest,
        n_contents=len(export.contents),
        items=write_table(folder, ITEMS_FILE, item_table(items, export.contents)),
        labels=write_table(folder, LABELS_FILE, label_table(chosen, items)),
        texts=write_table(folder, TEXTS_FILE, text_table(items)),
        graders=tuple(
            _write_grader(export, grader, labels, number=number)
            for number, (grader, labels) in enumerate(zip(about.graders, joined, strict=True), start=1)
        ),
    )


def _write_grader(export: _Export, grader: GraderRecord, labels: ReferenceLabels, *, number: int) -> ExportedGrader:
    rule = rule_of(grader, export.about.analyses.parser)
    rules: set[str] = set()
    with VerdictWriter(export.folder, grader.grader_id, rows_a_part=export.rows_a_part) as writer:
        take = _taker(export, writer, rules)
        reading = read_grader(export.store, grader, export.chosen, (rule,), take=take)
    return ExportedGrader(
        method="exact" if grader.is_exact else "draws",
        expected=1 if grader.is_exact else int(grader.sampling["repeats"]),
        parser_rule=", ".join(sorted(rules)) or export.about.analyses.parser,
        identity=identity_fields(results_of(grader, reading, rule), labels, number=number),
        labels=label_fields(labels),
        costly_items=tuple(costly_items(reading.item_tokens, export.chosen.items)),
        parts=tuple(writer.records),
    )


def _taker(export: _Export, writer: VerdictWriter, rules: set[str]) -> Callable[[Verdict], None]:
    contents, scale = export.contents, export.chosen.scale

    def take(verdict: Verdict) -> None:
        if verdict.label is not None and verdict.label not in scale:
            expected = f"expected one of {list(scale.labels)}"
            raise ExportError(f"run {export.about.run_id}: verdict with label {verdict.label!r}; {expected}")
        rules.add(verdict.rule)
        writer.add(contents[verdict.item_digest], verdict)

    return take
