"""SAF: students' answers with people's scores, on the five steps alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calibration_sets.errors import SetFileError
from calibration_sets.importers import import_saf
from calibration_sets.loader import load_set
from calibration_sets.writer import write_set

ROW = {
    "id": "a",
    "question": "Why?",
    "target": ["Because.", "So."],
    "response": "It is.",
    "score": 0.75,
    "split": "train",
}


def write(folder: Path, *changes: dict[str, Any]) -> Path:
    path = folder / "saf.jsonl"
    path.write_text("".join(json.dumps({**ROW, **change}) + "\n" for change in changes), encoding="utf-8")
    return path


def test_scores_on_a_step_are_labels_and_the_others_are_left_out(tmp_path: Path) -> None:
    scores = [0.0, 0.25, 0.5, 0.75, 1.0, 0.875, 0.8, 0.1]
    path = write(tmp_path, *({"id": f"a{place}", "score": score} for place, score in enumerate(scores)))
    imported = import_saf(path)
    found = imported.calibration_set
    assert [label.label for label in found.human_labels] == ["0", "0.25", "0.5", "0.75", "1"]
    assert imported.left_out == {"score between two of the five steps": 3}
    assert {item.item_id for item in found.items} == {f"a{place}" for place in range(5)}
    assert found.scale.values == (0, 0.25, 0.5, 0.75, 1)


def test_answers_to_one_question_are_one_cluster(tmp_path: Path) -> None:
    path = write(tmp_path, {"id": "a"}, {"id": "b", "response": ""}, {"id": "c", "question": "Who?"})
    items = import_saf(path).calibration_set.items
    assert items[0].cluster_id == items[1].cluster_id != items[2].cluster_id
    assert items[0].reference.extra_aliases == ("So.",)
    assert items[1].response == ""
    assert items[0].kind == "train"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (({}, {}), r"^saf.jsonl:2: id 'a' comes twice; expected each once$"),
        (({"score": 1.5},), r"^saf.jsonl:1: score 1.5; expected a number from 0 to 1$"),
        (({"score": 0.6},), r"^saf.jsonl: no score on the steps 0, 0.25, 0.5, 0.75, 1; expected at least one$"),
        (({"target": []},), r"^saf.jsonl:1: .*target"),
        (({"mark": 3},), r"^saf.jsonl:1: .*mark"),
    ],
)
def test_malformed_files_are_named(tmp_path: Path, changes: Any, message: str) -> None:
    with pytest.raises(SetFileError, match=message):
        import_saf(write(tmp_path, *changes))


def test_the_real_data(calibration_data: Path, tmp_path: Path) -> None:
    imported = import_saf(calibration_data / "saf" / "saf_english.jsonl")
    found = imported.calibration_set
    assert (len(found.items), len({item.cluster_id for item in found.items})) == (1995, 22)
    assert imported.left_out == {"score between two of the five steps": 117}
    counts = [sum(label.label == step for label in found.human_labels) for step in found.scale.labels]
    assert counts == [363, 46, 171, 271, 1144]
    write_set(found, tmp_path / "saf")
    again = load_set(str(tmp_path / "saf"))
    assert (again.digest, again.scale) == (found.digest, found.scale)
