"""The report of an export: the figures of a run's report that rest on counts, under the same names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from calibration_sets.scale import LabelScale
from experiments.errors import ExportError
from experiments.parquet.counted_items import ItemColumns, LabelColumns, read_items, read_labels
from experiments.parquet.counting import count_verdicts
from experiments.parquet.description import ExportDescription, ExportedGrader, load_description
from experiments.parquet.export_files import check_listed
from experiments.reports.breakdown import by_dispute, by_kind
from experiments.reports.cautions import grader_cautions, set_cautions
from experiments.reports.counted_fields import counted_fields
from experiments.reports.report import SCHEMA
from experiments.reports.rubric_measures import omniscience_fields

__all__ = ["LEFT_OUT", "report_export"]

Fields = dict[str, Any]

LEFT_OUT: Mapping[str, str] = {
    "range_check": "needs the texts of items",
    "graders.range_disagreements": "needs the texts of items",
    "graders.most_inconsistent": "needs the texts of items",
    "graders.label_bias": "needs the log-probabilities of replies",
    "graders.confidence": "needs what replies say beside a label",
    "graders.concepts": "needs what replies say beside a label",
    "graders.parser_comparison": "needs replies",
}
"""Fields of a run's report that are ``null`` in that of its export, and why."""

EXACT = "repeats are computed from log-probabilities, which an export does not hold"


def report_export(folder: Path) -> Fields:
    """Report what a folder holds; graders are counted one after the other.

    Returns
    -------
    dict
        The fields of :func:`experiments.reports.build_report`; those that need more than counts are ``None`` and
        named under ``left_out``, as are graders whose repeats are computed.

    Raises
    ------
    ExportError
        If the folder is no whole export; the message names the file, and the row.
    """
    try:
        return _report(folder)
    except OSError as error:
        where = error.filename or folder
        raise ExportError(f"{where}: {error.strerror or error}; expected a file that can be read") from error


def _report(folder: Path) -> Fields:
    description = load_description(folder)
    check_listed(folder, description)
    about = description.set_fields
    items = read_items(folder, description)
    sections = [
        _section(folder, description, grader, items) for grader in description.graders if grader.method == "draws"
    ]
    exact = [grader for grader in description.graders if grader.method == "exact"]
    run = description.run
    warnings = set_cautions(about, n_items_in_set=run.n_items_in_set, n_stale=description.n_stale)
    return {
        "schema": SCHEMA,
        "run": run.model_dump() | {"n_items": items.n_items},
        "set": dict(about),
        "human_agreement": description.human_agreement,
        "range_check": None,
        "warnings": warnings
        + [caution for section in sections for caution in grader_cautions(section, parser_rule=run.parser_rule)],
        "graders": sections,
        "left_out": dict(LEFT_OUT) | {f"graders.{grader.identity['number']}": EXACT for grader in exact},
    }


def _section(folder: Path, description: ExportDescription, grader: ExportedGrader, items: ItemColumns) -> Fields:
    level, scale = description.run.level, LabelScale(**description.scale.model_dump())
    labels: LabelColumns = read_labels(folder, description, grader.labels["rubric"], n_items=items.n_items)
    items_of = np.bincount(items.content, minlength=description.n_contents)
    counts = count_verdicts(folder, grader, labels=scale.labels, items_of=items_of)
    sample = items.tally(counts, labels, scale=scale, expected=grader.expected)
    return {
        **grader.identity,
        "costly_items": list(grader.costly_items),
        **counted_fields(sample, level=level, seed=f"{description.content_digest} {grader.grader_id}"),
        "exact": None,
        "labels": dict(grader.labels),
        "not_answered": dict(counts.not_answered),
        "parser_rule": grader.parser_rule,
        "omniscience": omniscience_fields(sample, items.respondents, level=level),
        "by_kind": by_kind(sample, items.kinds, level=level),
        "by_dispute": by_dispute(sample, disputed=labels.disputed, unlabelled=labels.unlabelled, level=level),
        **{name.removeprefix("graders."): None for name in LEFT_OUT if name.startswith("graders.")},
    }
