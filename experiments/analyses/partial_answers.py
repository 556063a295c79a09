"""Partial answers in scores of benchmarks, which know right, wrong and not attempted."""

from __future__ import annotations

from dataclasses import replace

from calibration_sets.scale import OMNISCIENCE, LabelScale
from experiments.reports.inputs import GraderResults, RunData
from graders.exact import VerdictDistribution
from graders.verdict import Verdict

__all__ = ["PARTIAL_NOTE", "THREE_CLASSES", "merge_partial_answers"]

_PARTIAL, _NOTHING = "PARTIAL_ANSWER", "NOT_ATTEMPTED"

THREE_CLASSES = LabelScale(
    name="omniscience, partial answers as not attempted",
    labels=tuple(label for label in OMNISCIENCE.labels if label != _PARTIAL),
    positive=OMNISCIENCE.positive,
)
"""The scale of a run whose partial answers have been merged."""

PARTIAL_NOTE = (
    "Partial answers count as not attempted, as neither right nor wrong: so the index is that of the report, and F1 "
    "does not take them for attempts."
)
"""What a page says where partial answers were counted."""


def merge_partial_answers(data: RunData) -> RunData:
    """The run with each partial answer not attempted, of people's labels and verdicts; others are as they were."""
    chosen = data.calibration_set
    if chosen.scale.labels != OMNISCIENCE.labels:
        return data
    given = tuple(replace(one, label=_NOTHING) if one.label == _PARTIAL else one for one in chosen.human_labels)
    return replace(
        data,
        calibration_set=replace(chosen, scale=THREE_CLASSES, human_labels=given),
        graders=[_merge_results(one) for one in data.graders],
    )


def _merge_results(results: GraderResults) -> GraderResults:
    known = results.distributions
    return replace(
        results,
        verdicts=[_merge_verdict(one) for one in results.verdicts],
        distributions=None if known is None else {name: _merge_chances(one) for name, one in known.items()},
    )


def _merge_verdict(verdict: Verdict) -> Verdict:
    return replace(verdict, label=_NOTHING) if verdict.label == _PARTIAL else verdict


def _merge_chances(found: VerdictDistribution) -> VerdictDistribution:
    chances = found.probabilities
    if chances is None:
        return found
    merged = {label: chance for label, chance in chances.items() if label != _PARTIAL}
    return replace(found, probabilities=merged | {_NOTHING: chances[_NOTHING] + chances[_PARTIAL]})
