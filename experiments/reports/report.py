"""From a run's data to its report: a pure function, the same bytes for the same content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calibration_sets.calibration_set import CalibrationSet
from experiments.reports.call_times import time_fields
from experiments.reports.cautions import grader_cautions, set_cautions
from experiments.reports.exact_sample import with_distributions
from experiments.reports.grader_section import build_grader_section
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.item_listings import human_range_disagreements, range_outcomes
from experiments.reports.parser_comparison import comparison_fields
from experiments.reports.reference_labels import ReferenceLabels, drop_stale_labels, join_labels
from experiments.reports.sample import build_sample
from experiments.reports.set_section import human_agreement_fields, set_fields

__all__ = ["SCHEMA", "build_report"]

SCHEMA = "autorater.report/1"
"""Name and version of the JSON form."""


def build_report(data: RunData, *, level: float = 0.95, times: bool = False) -> dict[str, Any]:
    """Build the report of a run as plain JSON values.

    Neither a clock, a path, a latency nor the order of items and verdicts moves a byte of it, unless
    ``times`` are asked for; intervals that need random draws are seeded from the content.

    Parameters
    ----------
    data
        The run.
    level
        Confidence level of all intervals.
    times
        Whether to tell how long calls took, which is another in each run of the same content.

    Returns
    -------
    dict
        See ``docs/report.md``. Estimates that are not defined have a value of ``None``, and their
        reason stands under ``not_defined``.

    Raises
    ------
    ValueError
        If verdicts do not fit the run: another grader's, an item outside it, a label off the scale,
        one given twice.
    """
    chosen, n_stale = drop_stale_labels(data.calibration_set)
    outcomes = range_outcomes(chosen.items)
    about = set_fields(chosen, digest=data.set_digest or data.calibration_set.digest)
    labels = join_labels(chosen, [results.rubric for results in data.graders])
    graders = [
        _grader(data, results, chosen, joined, outcomes, number=number, level=level)
        for number, (results, joined) in enumerate(zip(data.graders, labels, strict=True), start=1)
    ]
    warnings = set_cautions(about, n_items_in_set=data.n_items_in_set, n_stale=n_stale)
    if times:
        for section, results in zip(graders, data.graders, strict=True):
            section["time"] = time_fields(results.times)
    return {
        "schema": SCHEMA,
        "run": _run_fields(data, level=level),
        "set": about,
        "human_agreement": human_agreement_fields(chosen, level=level),
        "range_check": _range_fields(labels, chosen, outcomes),
        "warnings": warnings
        + [caution for section in graders for caution in grader_cautions(section, parser_rule=data.parser_rule)],
        "graders": graders,
    }


def _run_fields(data: RunData, *, level: float) -> dict[str, Any]:
    return {
        "run_id": data.run_id,
        "experiment": data.experiment,
        "parser_rule": data.parser_rule,
        "level": level,
        "n_items": len(data.calibration_set.items),
        "n_items_in_set": data.n_items_in_set,
    }


def _grader(
    data: RunData,
    results: GraderResults,
    chosen: CalibrationSet,
    labels: ReferenceLabels,
    outcomes: dict[str, str],
    *,
    number: int,
    level: float,
) -> dict[str, Any]:
    sample = build_sample(results, chosen.items, labels.consensus.labels, scale=chosen.scale)
    if results.distributions is not None:
        sample = with_distributions(sample, results.distributions, draws=int(results.sampling["repeats"]))
    seed = f"{chosen.digest} {results.grader_id}"
    section = build_grader_section(results, sample, labels, outcomes, number=number, seed=seed, level=level)
    others = (data.compare_rule or {}).get(results.grader_id)
    section["parser_rule"] = ", ".join(sorted({verdict.rule for verdict in results.verdicts})) or data.parser_rule
    section["parser_comparison"] = (
        None
        if others is None
        else comparison_fields(results, others, sample, parser_rule=data.parser_rule, level=level)
    )
    return section


def _range_fields(
    labels: Sequence[ReferenceLabels], chosen: CalibrationSet, outcomes: dict[str, str]
) -> dict[str, Any]:
    """What the range check decided, and where people said otherwise, under each rubric that a grader is held to."""
    rubrics = {joined.rubric: joined.consensus for joined in labels}
    decided = list(outcomes.values())
    return {
        "n_items": len(outcomes),
        "outcomes": {outcome: decided.count(outcome) for outcome in ("in", "out", "undecided")},
        "human_disagreements": [
            entry | {"rubric": rubric}
            for rubric, consensus in sorted(rubrics.items(), key=lambda pair: pair[0])
            for entry in human_range_disagreements(
                chosen.items, consensus.labels, outcomes, positive=chosen.scale.positive
            )
        ],
    }
