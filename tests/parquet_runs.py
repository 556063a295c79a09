"""Runs in stores, made of labels and failures, for tests of exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import LabelScale
from experiments.parquet.export_report import LEFT_OUT, report_export
from experiments.parquet.run_export import export_run
from experiments.reports import build_report, render_json
from experiments.specs.experiment import Analyses
from experiments.store.run_records import GraderRecord, load_run_data, write_run
from experiments.store.run_store import CompletionKey, RunStore
from graders.verdict import FAILURES, CallFailure, Completion, Usage

__all__ = ["made_set", "ran_report", "random_run", "record"]

OTHER_RUBRIC = "other@1.0.0"
READ_FAILURES = [reason for reason in FAILURES if reason != "not_answered"]

Said = Mapping[tuple[str, int], str]
"""Item digest and repeat to a label, a reason that a reply has none, or ``!reason`` of a call without a reply."""


def made_set(scale: LabelScale, rng: np.random.Generator, *, n_items: int, raters: int) -> CalibrationSet:
    """Items that share questions and, some of them, their content; raters who dispute, tie, and leave some out."""
    items = tuple(
        Item(
            f"i{number:04}",
            f"question {number // 3}",
            parse_reference("12 (acceptable range: anything between 11 and 13)" if number % 5 == 0 else "right"),
            str(number - number % 11 // 10),
            f"q{number // 3}",
            kind=[None, "short", "long"][number % 3],
            topic="history" if number % 2 else None,
            respondent=["first", "second"][number % 2],
        )
        for number in range(n_items)
    )
    labels = []
    for item in items:
        truth = rng.integers(len(scale.labels))
        for rater in range(raters if rng.random() < 0.9 else 0):
            if rng.random() < 0.75:
                given = truth if rng.random() < 0.7 else rng.integers(len(scale.labels))
                labels.append(HumanLabel(item.item_id, item.digest, f"r{rater}", scale.labels[given], "own@1.0.0"))
        if rng.random() < 0.5:
            labels.append(HumanLabel(item.item_id, item.digest, "r0", scale.labels[truth], OTHER_RUBRIC))
        if rng.random() < 0.1:
            labels.append(HumanLabel(item.item_id, "0" * 64, "r9", scale.labels[truth], "own@1.0.0"))
    return CalibrationSet(
        "made", "1.0.0", "own@1.0.0", scale, "human", "CC0", "made up", "Made up.", items, tuple(labels)
    )


def record(
    store: RunStore, found: CalibrationSet, graders: Mapping[str, Said], *, repeats: int, rubrics: Sequence[Any] = ()
) -> str:
    """A run of graders with what they said; its id."""
    records = []
    for place, (grader_id, said) in enumerate(graders.items()):
        sampling = {"temperature": 1.0, "repeats": repeats, "seed": 0, "max_tokens": 64, "channel": "word"}
        rubric = rubrics[place] if place < len(rubrics) else None
        records.append(GraderRecord(grader_id, f"imported/{grader_id}", None, rubric, "word", found.scale, sampling))
        store.append_many(
            grader_id,
            [(CompletionKey(*key), _answer(key[0], word, grader_id, found.scale)) for key, word in said.items()],
        )
    write_run(
        store,
        run_id=f"{found.name}-1",
        name=found.name,
        calibration_set=found,
        n_items_in_set=len(found.items) + 1,
        set_digest=found.digest,
        graders=records,
        analyses=Analyses(level=0.9),
    )
    return f"{found.name}-1"


def _answer(digest: str, word: str, grader_id: str, scale: LabelScale) -> Completion | CallFailure:
    if word.startswith("!"):
        return CallFailure(word[1:], "no answer")
    usage = Usage(input_tokens=900 if digest < "2" else 9, output_tokens=1)
    settings = {"temperature": 0.5}
    if word in scale.labels:
        return Completion(None, f"served-{grader_id}", usage=usage, effective_sampling=settings, stated_label=word)
    return Completion(None, f"served-{grader_id}", usage=usage, stated_failure=word)  # type: ignore[arg-type]


def random_said(found: CalibrationSet, rng: np.random.Generator, *, repeats: int, failing: float) -> dict[Any, str]:
    """Labels that depend on the item, some failures of every sort, and some repeats that were never asked."""
    said = {}
    for digest in sorted({item.digest for item in found.items}):
        usual = int(rng.integers(len(found.scale.labels)))
        for repeat in range(repeats):
            drawn = usual if rng.random() < 0.8 else int(rng.integers(len(found.scale.labels)))
            word = found.scale.labels[drawn]
            if rng.random() < failing:
                word = str(rng.choice([*READ_FAILURES, "!timeout", "!rate_limit", ""]))
            if word:
                said[digest, repeat] = word
    return said


def random_run(
    path: Path, scale: LabelScale, *, seed: int, n_items: int = 60, raters: int = 3, graders: int = 2, repeats: int = 4
) -> str:
    """A store with one run, whose graders differ in how often they fail, one of them under another rubric."""
    rng = np.random.default_rng(seed)
    found = made_set(scale, rng, n_items=n_items, raters=raters)
    said = {
        f"g{number}": random_said(found, rng, repeats=repeats, failing=0.15 * number / graders)
        for number in range(graders)
    }
    with RunStore(path) as store:
        return record(store, found, said, repeats=repeats, rubrics=(None, OTHER_RUBRIC))


def ran_report(path: Path, run_id: str) -> dict[str, Any]:
    """The report of the store."""
    with RunStore(path) as store:
        data, analyses = load_run_data(store, run_id)
    return build_report(data, level=analyses.level)


def exported(store: Path, run_id: str, folder: Path, **options: Any) -> dict[str, Any]:
    """The report of an export of the store."""
    with RunStore(store) as opened:
        export_run(opened, run_id, folder, **options)
    return report_export(folder)


def check_same(of_export: dict[str, Any], of_store: dict[str, Any]) -> None:
    """Every field of the store's report is there, and equal, but for those that are named as left out."""
    left_out = of_export.pop("left_out")
    assert set(left_out) == set(LEFT_OUT)
    assert of_export.keys() == of_store.keys()
    for here, there in zip(of_export["graders"], of_store["graders"], strict=True):
        assert here.keys() == there.keys()
        for name in there:
            expected = None if f"graders.{name}" in left_out else there[name]
            assert here[name] == expected, name
    for name in of_store.keys() - {"graders"}:
        assert of_export[name] == (None if name in left_out else of_store[name]), name
    # The same digits, not only equal numbers.
    for report in (of_export, of_store):
        for section in [report, *report["graders"]]:
            for name in left_out:
                section.pop(name.removeprefix("graders."), None)
    assert render_json(of_export) == render_json(of_store)
