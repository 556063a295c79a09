"""What an answering run holds, in numbers alone, as sections of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.reports.document import Paragraph, Section, Table
from experiments.reports.figures import count_text
from experiments.reports.inputs import RunData
from experiments.respondents.counts_page import counts_as_data

__all__ = ["answer_sections"]


def answer_sections(data: RunData) -> tuple[Section, ...]:
    """Answers by model and wording or regime, and how they were judged; ``ValueError`` of a run that asked for none."""
    counts = counts_as_data(data)
    asked = counts["n_questions"] * counts["repeats"]
    rows = tuple(
        (
            one["model"],
            one["prompt"],
            f"{asked:,}",
            f"{one['n_responses']:,}",
            f"{one['n_truncated']:,}",
            count_text(one["missing"]),
        )
        for one in counts["respondents"]
    )
    prompt = "regime" if data.answering is not None and data.answering.has_regimes else "wording"
    answers = Table(("model", prompt, "asked", "answers", "cut off", "missing"), rows, n_text=2)
    note = Paragraph("Nobody has labelled these answers: counts of verdicts are not the grader's errors.")
    labels = data.calibration_set.scale.labels
    return (Section("Answers", 3, (answers, note)), *(_graded(grader, labels, prompt) for grader in counts["graders"]))


def _graded(grader: Mapping[str, Any], labels: Sequence[str], prompt: str) -> Section:
    name = " ".join(filter(None, (grader["prompt"], grader["model"])))
    rows = tuple(
        (
            one["model"],
            one["prompt"],
            *(f"{one['counts'][label]:,}" for label in labels),
            f"{one['no_verdict']:,}",
        )
        for one in grader["verdicts"]
    )
    return Section(f"Verdicts of {name}", 3, (Table(("model", prompt, *labels, "no verdict"), rows, n_text=2),))
