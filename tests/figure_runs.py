"""Made-up runs for the tests of the figures: few graders or many, with all that a run can have or with little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA, LabelScale
from experiments.reports.inputs import GraderResults, RunData
from experiments.respondents.records import AnsweringRecord, QuestionRecord, RespondentRecord
from graders.pricing import Cost
from graders.verdict import Verdict

RUBRIC = "rules@1.0.0"
HOSTILE = '=cmd|"<script>alert(1)</script>"&\x1b[31m{{7*7}}\'><svg onload=alert(1)>'
"""A name that is a formula, markup, an escape and a template at once."""

WITHOUT_LABEL = "unparsed", "empty", "not_answered"


def make_items(n: int, *, n_kinds: int = 0, n_topics: int = 0, n_types: int = 0) -> tuple[Item, ...]:
    """n items of n / 2 questions, kinds, topics and answer types in turn."""

    def turn(name: str, place: int, number: int) -> str | None:
        return f"{name} {place // 3 % number:02} of the items" if number else None

    return tuple(
        Item(
            f"i{place:04}",
            f"Question {place // 2}?",
            Reference("right", "right"),
            f"response {place}",
            f"q{place // 2}",
            kind=turn("kind", place, n_kinds),
            topic=turn("topic", place, n_topics),
            answer_type=turn("type", place, n_types),
        )
        for place in range(n)
    )


def make_grader(
    prompt: str | None,
    model: str,
    items: Sequence[Item],
    truths: Sequence[str],
    *,
    repeats: int = 1,
    accuracy: float = 0.9,
    missing: float = 0.0,
    dollars: float | None = None,
    seed: int = 1,
    scale: LabelScale = SIMPLEQA,
) -> GraderResults:
    """A grader that gives people's label at this rate, easier and harder items among them, and sometimes none."""
    rng = np.random.default_rng(seed)
    grader_id = f"{abs(hash_text(f'{prompt} {model} {seed}')):016x}"
    verdicts = []
    for item, truth in zip(items, truths, strict=True):
        right = np.clip(accuracy + rng.normal(0, 0.15), 0.02, 1)
        others = [label for label in scale.labels if label != truth]
        for repeat in range(repeats):
            label: str | None = truth if rng.random() < right else str(rng.choice(others))
            failure: Any = None
            if rng.random() < missing:
                label, failure = None, str(rng.choice(WITHOUT_LABEL))
            detail = "timeout" if failure == "not_answered" else ""
            verdicts.append(Verdict(item.digest, grader_id, repeat, label, failure, "robust", detail))
    return GraderResults(
        grader_id,
        prompt,
        RUBRIC,
        model,
        {"repeats": repeats, "temperature": 1.0},
        [{"temperature": 1.0}],
        [model],
        verdicts,
        cost=None if dollars is None else Cost(dollars),
    )


def hash_text(text: str) -> int:
    """A number for a text, the same in every process."""
    return sum((place + 1) * ord(char) * 7919 for place, char in enumerate(text))


def make_run(items: Sequence[Item], truths: Sequence[str | None], graders: Sequence[GraderResults]) -> RunData:
    """A run over items with people's labels."""
    labels = tuple(
        HumanLabel(item.item_id, item.digest, "rater", truth, RUBRIC)
        for item, truth in zip(items, truths, strict=True)
        if truth is not None
    )
    made = CalibrationSet("made", "1.0.0", RUBRIC, SIMPLEQA, "human", "CC0", "us", "", tuple(items), labels)
    return RunData("made-run", "made", made, len(items), "robust", tuple(graders))


def make_truths(items: Sequence[Item], scale: LabelScale = SIMPLEQA) -> list[str]:
    """People's labels, all of the scale in turn, the label that counts as right every second time."""
    labels = scale.labels
    return [labels[-1] if place % 2 else labels[place // 2 % (len(labels) - 1)] for place in range(len(items))]


def small_run(*, repeats: int = 1, n: int = 24, **given: Any) -> RunData:
    """One grader, no price, no kinds."""
    items = make_items(n)
    truths = make_truths(items)
    return make_run(items, truths, [make_grader("plain@1.0.0#aa", "made/one", items, truths, repeats=repeats, **given)])


def full_run(
    *, n: int = 60, n_graders: int = 4, repeats: int = 5, n_kinds: int = 3, n_topics: int = 2, n_types: int = 2
) -> RunData:
    """Graders of all qualities with prices, failures and a hostile name, on items with kinds, topics and types."""
    items = make_items(n, n_kinds=n_kinds, n_topics=n_topics, n_types=n_types)
    truths = make_truths(items)
    graders = [
        make_grader(
            f"wording_number_{place}@1.{place}.0#aa",
            HOSTILE if place == 1 else f"provider/a-model-with-a-long-name-{place}",
            items,
            truths,
            repeats=repeats,
            accuracy=0.97 - 0.4 * place / max(n_graders, 2),
            missing=0.0 if place % 3 else 0.04 * (1 + place % 4),
            dollars=None if place == 2 else 0.02 * 2.1 ** ((7 * place + 5) % n_graders),
            seed=place,
        )
        for place in range(n_graders)
    ]
    return make_run(items, truths, graders)


def wordings_run(*, n: int = 40, n_wordings: int = 3, n_models: int = 2, repeats: int = 1) -> RunData:
    """Every wording in every model."""
    items = make_items(n)
    truths = make_truths(items)
    graders = [
        make_grader(
            f"wording_{wording}@1.0.0#aa",
            f"provider/model-{model}",
            items,
            truths,
            repeats=repeats,
            accuracy=0.75 + 0.15 * np.sin(wording) + 0.01 * model,
            seed=100 * wording + model,
        )
        for wording in range(n_wordings)
        for model in range(n_models)
    ]
    return make_run(items, truths, graders)


def without_labels(data: RunData) -> RunData:
    """The same run before anybody labelled it."""
    return replace(data, calibration_set=replace(data.calibration_set, human_labels=()))


def only_failures(*, n: int = 6) -> RunData:
    """One grader that never gave a label."""
    items = make_items(n)
    truths = make_truths(items)
    return make_run(items, truths, [make_grader("plain@1.0.0#aa", "made/one", items, truths, missing=1.0)])


def answering_run(wordings: Sequence[str] = ("old@1.0.0", "new@1.0.0"), *, n: int = 40) -> RunData:
    """Two models that answered the same questions under each wording, and a grader that judged them."""
    questions = tuple(QuestionRecord(f"question-{place}", f"q{place}") for place in range(n))
    cells = [(model, wording) for model in ("made/a", "made/b") for wording in wordings]
    items = [
        Item(
            f"{model} {wording} {place}",
            f"Question {place}?",
            Reference("right", "right"),
            f"{model} under {wording} answers {place}",
            f"q{place}",
            respondent=f"{model} | {wording}",
            metadata={"question": f"question-{place}"},
        )
        for model, wording in cells
        for place in range(n)
    ]
    judge = make_grader("judge@1.0.0#a", "made/judge", items, make_truths(items), accuracy=0.8)
    respondents = tuple(RespondentRecord("r", model, wording, n) for model, wording in cells)
    judged = without_labels(make_run(items, make_truths(items), [judge]))
    return replace(judged, answering=AnsweringRecord(questions, 1, respondents))
