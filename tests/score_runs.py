"""Made-up benchmark and calibration runs of one grader, for the tests of ``autorater score``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA, LabelScale
from experiments.analyses.scores.scoring import score_benchmark
from experiments.analyses.scores.scoring_inputs import GraderChoice, read_scoring
from experiments.analyses.scores.scoring_page import build_scoring_page
from experiments.analyses.scores.scoring_results import Scoring, ScoringChoice
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.render_text import render_document
from graders.verdict import Verdict

RUBRIC = "rules@1.0.0"
MATRIX: Mapping[str, Sequence[float]] = {
    "INCORRECT": (0.92, 0.02, 0.06),
    "NOT_ATTEMPTED": (0.04, 0.94, 0.02),
    "CORRECT": (0.09, 0.01, 0.90),
}
"""Chance of each verdict, in the order of the scale, where people say the key."""


@dataclass(frozen=True)
class Answer:
    """One response: who answered which question, what people say of it, and the grader's verdicts."""

    question: str
    respondent: str | None
    truth: str | None
    verdicts: tuple[str, ...]
    topic: str | None = None


def run(
    name: str,
    answers: Sequence[Answer],
    *,
    scale: LabelScale = SIMPLEQA,
    grader_id: str = "g1",
    model: str = "made/grader",
    repeats: int | None = None,
    labels: bool = True,
) -> RunData:
    """A run over the answers, with people's labels or without."""
    items = [
        Item(
            f"{name}-{place:05}",
            f"{answer.question}?",
            Reference("right", "right"),
            f"response {place} of {name}",
            answer.question,
            topic=answer.topic,
            respondent=answer.respondent,
        )
        for place, answer in enumerate(answers)
    ]
    given = tuple(
        HumanLabel(item.item_id, item.digest, "rater", answer.truth, RUBRIC)
        for item, answer in zip(items, answers, strict=True)
        if labels and answer.truth is not None
    )
    verdicts = [
        Verdict(item.digest, grader_id, repeat, label, None, "robust", "")
        for item, answer in zip(items, answers, strict=True)
        for repeat, label in enumerate(answer.verdicts)
    ]
    asked = repeats or max((len(answer.verdicts) for answer in answers), default=1)
    results = GraderResults(grader_id, None, None, model, {"repeats": asked}, [], [], verdicts)
    made = CalibrationSet(name, "1.0.0", RUBRIC, scale, "human", "CC0", "us", "", tuple(items), given)
    return RunData(f"{name}-run", name, made, len(items), "robust", [results])


def draw(
    seed: int,
    n: int,
    respondents: Mapping[str | None, Sequence[float]],
    *,
    prefix: str = "q",
    repeats: int = 1,
    matrix: Mapping[str, Sequence[float]] = MATRIX,
    topics: Sequence[str | None] = (None,),
    scale: LabelScale = SIMPLEQA,
) -> list[Answer]:
    """Each respondent's answers to n questions: true shares in the order of the scale, verdicts from the matrix."""
    rng = np.random.default_rng(seed)
    answers = []
    for place in range(n):
        topic = topics[place % len(topics)]
        for name, shares in respondents.items():
            truth = scale.labels[rng.choice(len(scale.labels), p=shares)]
            chance = np.asarray(matrix[truth][: len(scale.labels)] if scale is SIMPLEQA else _binary(matrix[truth]))
            said = tuple(scale.labels[label] for label in rng.choice(len(chance), p=chance, size=repeats))
            answers.append(Answer(f"{prefix}{place}", name, truth, said, topic))
    return answers


def with_grader(data: RunData, **changed: Any) -> RunData:
    """The run with its only grader under another id or name."""
    (results,) = data.graders
    grader_id = changed.get("grader_id", results.grader_id)
    verdicts = [replace(verdict, grader_id=grader_id) for verdict in results.verdicts]
    return replace(data, graders=[replace(results, **changed, verdicts=verdicts)])


def _binary(chances: Sequence[float]) -> tuple[float, float]:
    return (chances[0] + chances[1], chances[2])


def scored(
    benchmark: RunData, calibration: RunData | None, *, grader: GraderChoice | None = None, **choice: Any
) -> Scoring:
    read, labelled = read_scoring([benchmark], calibration, grader or GraderChoice())
    return score_benchmark(read[0], labelled, ScoringChoice(**choice))


def page(scoring: Scoring, width: int = 100) -> str:
    return render_document(build_scoring_page(scoring), width=width)


def decision(scoring: Scoring) -> str:
    return " ".join(page(scoring).rpartition("Decision\n")[2].split("\n", 1)[1].split())
