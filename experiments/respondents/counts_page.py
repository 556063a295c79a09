"""What an answering run holds, in numbers alone: responses by model and wording, and how they were graded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from experiments.reports.escaping import visible
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.sample import Sample, build_sample
from experiments.respondents.records import AnsweringRecord, RespondentRecord

__all__ = ["counts_as_data", "describe_counts"]

_GAP = "  "


def describe_counts(data: RunData) -> str:
    """Tables for a terminal or a file: one of the answers, one a grader of its verdicts.

    Raises
    ------
    ValueError
        If the run did not ask for responses.
    """
    answering = _answering(data)
    noun = "regime" if answering.has_regimes else "wording"
    lines = [
        f"run {data.run_id}",
        f"{len(answering.models)} models x {len(answering.prompts)} {noun}s x {len(answering.questions)} questions, "
        f"{answering.repeats} {'answer' if answering.repeats == 1 else 'answers'} each",
        "",
        "Answers",
        *_table(["model", noun, "asked", "answers", "cut off", "missing"], _answer_rows(answering), n_text=2),
    ]
    reasons = _reasons(answering)
    if reasons:
        lines.append(f"missing: {reasons}")
    labels = data.calibration_set.scale.labels
    for results in data.graders:
        heads = ["model", noun, *labels, "no verdict"]
        rows = [
            [one.model, one.prompt, *map(str, counts), str(none)]
            for one, counts, none in _verdict_counts(data, results, answering)
        ]
        lines += ["", f"Verdicts of {_grader_name(results)}", *_table(heads, rows, n_text=2)]
    lines += [
        "",
        "Nobody has labelled these answers, so there is no report of the grader's errors here.",
        *_next_commands(data.run_id, has_regimes=answering.has_regimes),
    ]
    return "\n".join(map(visible, lines)) + "\n"


def _next_commands(run_id: str, *, has_regimes: bool) -> list[str]:
    if has_regimes:
        return [f"autorater regimes {run_id}  compares the regimes"]
    return [
        f"autorater ab {run_id}     compares the wordings",
        f"autorater score {run_id}  gives scores, corrected for the grader's errors where a calibration is given",
    ]


def counts_as_data(data: RunData) -> Mapping[str, Any]:
    """The same as plain data, schema ``autorater.answering/1``; a cost is ``null`` where no price is known."""
    answering = _answering(data)
    return {
        "schema": "autorater.answering/1",
        "run": data.run_id,
        "experiment": data.experiment,
        "n_questions": len(answering.questions),
        "repeats": answering.repeats,
        "respondents": [asdict(respondent) for respondent in answering.respondents],
        "graders": [
            {
                "grader_id": results.grader_id,
                "model": results.model,
                "prompt": results.prompt,
                "verdicts": [
                    {
                        "model": one.model,
                        "prompt": one.prompt,
                        "counts": dict(zip(data.calibration_set.scale.labels, counts, strict=True)),
                        "no_verdict": none,
                    }
                    for one, counts, none in _verdict_counts(data, results, answering)
                ],
            }
            for results in data.graders
        ],
    }


def _answering(data: RunData) -> AnsweringRecord:
    if data.answering is None:
        raise ValueError(f"{data.run_id}: it asked for no responses; expected a run with [answering]")
    return data.answering


def _answer_rows(answering: AnsweringRecord) -> list[list[str]]:
    asked = len(answering.questions) * answering.repeats
    return [
        [
            one.model,
            one.prompt,
            str(asked),
            str(one.n_responses),
            str(one.n_truncated),
            str(sum(one.missing.values())),
        ]
        for one in answering.respondents
    ]


def _reasons(answering: AnsweringRecord) -> str:
    """Reasons with their number over the whole grid."""
    total: dict[str, int] = {}
    for respondent in answering.respondents:
        for reason, n in respondent.missing.items():
            total[reason] = total.get(reason, 0) + n
    return ", ".join(f"{reason} {n}" for reason, n in sorted(total.items()))


def _verdict_counts(
    data: RunData, results: GraderResults, answering: AnsweringRecord
) -> Iterator[tuple[RespondentRecord, list[int], int]]:
    """For each respondent its number of verdicts with each label, and of those without one."""
    whole = build_sample(results, data.calibration_set.items, {}, scale=data.calibration_set.scale)
    owners = np.array([item.respondent for item in whole.items], dtype=object)
    for respondent in answering.respondents:
        own: Sample = whole.take([owner == respondent.name for owner in owners])
        counts = [int(count) for count in own.counts.sum(axis=0)]
        yield respondent, counts, own.n_expected - sum(counts)


def _grader_name(results: GraderResults) -> str:
    return f"{results.prompt} {results.model}" if results.prompt else results.model


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, n_text: int) -> list[str]:
    """Columns as wide as they need to be; the first ones are words, the others numbers."""
    shown = [[visible(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(len(row[place]) for row in shown) for place in range(len(heads))]
    return [
        _GAP.join(
            cell.ljust(width) if place < n_text else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in shown
    ]
