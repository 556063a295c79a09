"""The shipped set of probes: what the code builds, in the files and in the documentation."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.loader import load_set
from calibration_sets.probes import KINDS, build_probes
from calibration_sets.probes.__main__ import main
from calibration_sets.probes.kind_table import render_kind_table
from calibration_sets.writer import write_set

ROOT = Path(__file__).resolve().parent.parent
FILES = ("set.toml", "items.jsonl", "human_labels.jsonl")
VERIFIED, FIRST = "simpleqa_verified@1.0.0", "simpleqa@1.0.0"
ASKED_FOR = {
    *("exact", "paraphrase", "right_extra_true", "right_extra_wrong", "other_answer", "near_miss"),
    *("range_bound", "range_step_past", "number_words", "units", "hedge_committed", "hedge_uncommitted"),
    *("decline", "nonexistent", "empty", "content_free", "injection", "fence", "scripts", "long"),
    *("special_tokens", "premise_correction"),
}


@pytest.fixture(scope="module")
def probes() -> CalibrationSet:
    return build_probes()


def shipped(name: str) -> Path:
    return ROOT / "calibration_sets" / "data" / "probes" / name


def test_shipped_files_are_what_the_code_builds(probes: CalibrationSet, tmp_path: Path) -> None:
    write_set(probes, tmp_path / "probes")
    for name in FILES:
        built = (tmp_path / "probes" / name).read_bytes()
        assert shipped(name).read_bytes() == built, f"{name} is stale; run python -m calibration_sets.probes"


def test_loaded_set_is_the_built_set(probes: CalibrationSet) -> None:
    loaded = load_set("probes")
    assert loaded.digest == probes.digest
    assert loaded.items == probes.items
    assert loaded.human_labels == probes.human_labels


def test_the_code_builds_the_same_set_every_time(probes: CalibrationSet) -> None:
    assert build_probes() == probes


def test_a_changed_item_is_another_set(probes: CalibrationSet) -> None:
    changed = replace(probes, items=(replace(probes.items[0], response="another"), *probes.items[1:]))
    assert changed.digest != probes.digest


def test_header(probes: CalibrationSet) -> None:
    assert (probes.name, probes.label_source, probes.rubric) == ("probes", "construction", VERIFIED)
    assert probes.rubrics == (VERIFIED, FIRST)
    assert {label.rater for label in probes.human_labels} == {"construction"}
    assert "docs/probes.md" in probes.description


def test_at_least_four_hundred_items_and_every_kind(probes: CalibrationSet) -> None:
    counts = Counter(item.kind for item in probes.items)
    assert len(probes.items) >= 400
    assert set(counts) == set(KINDS) >= ASKED_FOR
    assert min(counts.values()) >= 8


def test_every_item_has_one_label_under_the_sets_rubric(probes: CalibrationSet) -> None:
    consensus = probes.consensus()
    assert len(consensus.labels) == len(probes.items)
    assert not consensus.tied
    assert not consensus.disputed


def test_labels_are_balanced(probes: CalibrationSet) -> None:
    counts = Counter(probes.consensus().labels.values())
    assert min(counts.values()) / len(probes.items) > 0.28
    assert max(counts.values()) / len(probes.items) < 0.40


def test_no_content_comes_twice(probes: CalibrationSet) -> None:
    digests = Counter(item.digest for item in probes.items)
    assert [digest for digest, count in digests.items() if count > 1] == []


def test_ids_say_kind_and_number(probes: CalibrationSet) -> None:
    expected = []
    for kind in KINDS:
        n_items = sum(item.kind == kind for item in probes.items)
        expected += [f"{kind}-{number:03d}" for number in range(1, n_items + 1)]
    assert [item.item_id for item in probes.items] == expected


def test_clusters_are_questions(probes: CalibrationSet) -> None:
    pairs = {(item.cluster_id, item.question, item.reference.text) for item in probes.items}
    assert len(pairs) == len({cluster for cluster, _, _ in pairs}) == len({question for _, question, _ in pairs})
    assert len(pairs) >= 40
    assert len(pairs) < len(probes.items) / 4


def test_invented_questions_say_so(probes: CalibrationSet) -> None:
    invented = {item.cluster_id for item in probes.items if item.metadata.get("invented")}
    assert "ostervik-tower" in invented
    assert "capital-japan" not in invented


def test_only_the_long_kind_is_long(probes: CalibrationSet) -> None:
    long = [item for item in probes.items if item.kind == "long"]
    assert all(4_500 < len(item.response) < 20_000 for item in long)
    assert max(len(item.response) for item in probes.items if item.kind != "long") < 200


def test_the_files_are_small() -> None:
    assert sum(shipped(name).stat().st_size for name in FILES) < 400_000


def test_the_files_have_one_record_a_line(probes: CalibrationSet) -> None:
    lines = shipped("items.jsonl").read_text(encoding="utf-8").split("\n")
    assert lines[-1] == ""
    assert [json.loads(line)["id"] for line in lines[:-1]] == [item.item_id for item in probes.items]


def test_the_guide_shows_the_table_of_kinds(probes: CalibrationSet) -> None:
    guide = (ROOT / "docs" / "probes.md").read_text(encoding="utf-8")
    table = render_kind_table(probes)
    assert table in guide, f"docs/probes.md is stale; the table is now\n{table}"


def test_the_table_counts_right(probes: CalibrationSet) -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in render_kind_table(probes).splitlines()]
    totals = dict(zip(rows[0][2:], map(int, rows[-1][2:]), strict=True))
    first = Counter(label.label for label in probes.human_labels if label.rubric == FIRST)
    assert totals["items"] == len(probes.items)
    assert totals["NOT_ATTEMPTED (simpleqa)"] == first["NOT_ATTEMPTED"]
    assert totals["INCORRECT (simpleqa)"] == first["INCORRECT"]
    columns = zip(*(map(int, row[2:]) for row in rows[2:-1]), strict=True)
    assert [sum(column) for column in columns] == list(totals.values())


def test_the_command_writes_the_set_over_an_older_one(
    probes: CalibrationSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "probes"
    assert main([str(folder)]) == 0
    (folder / "items.jsonl").write_text("", encoding="utf-8")
    assert main([str(folder)]) == 0
    assert load_set(folder).digest == probes.digest
    assert render_kind_table(probes) in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--help"], ["one", "two"]])
def test_the_command_explains_itself(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "python -m calibration_sets.probes" in capsys.readouterr().err
