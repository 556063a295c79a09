"""The shipped facts from the SimpleQA Verified paper and from an audit of it."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.loader import load_set
from calibration_sets.references.range_check import check_range
from calibration_sets.writer import write_set

VERIFIED, FIRST = "simpleqa_verified@1.0.0", "simpleqa@1.0.0"


@pytest.fixture(scope="module")
def examples() -> CalibrationSet:
    return load_set("published_examples")


def test_header(examples: CalibrationSet) -> None:
    assert (examples.label_source, examples.rubric, examples.rubrics) == ("published", VERIFIED, (VERIFIED, FIRST))
    assert "2509.07968" in examples.source


def test_four_quantities_and_five_audited_questions(examples: CalibrationSet) -> None:
    clusters = {item.cluster_id: item.kind for item in examples.items}
    assert Counter(clusters.values()) == {"in_range": 4, "audited_reference": 5}
    assert len(examples.items) == 11


@pytest.mark.parametrize(
    ("item_id", "reference", "answer"),
    [
        ("un-volunteers", "8,282 (acceptable range: anything between 8199 and 8365)", "8,333"),
        ("edinburgh-castle", "2,111,578 (acceptable range: anything between 2,006,000 and 2,217,157)", "2,111,532"),
        ("bhagwati", "1 year, 161 days (acceptable range: 1 year, anything between 160 and 162 days)", "162 days"),
        ("cape-town-tour", "105 km (acceptable range: anything between 103 and 107 km)", "103 km"),
        ("norlund-1", "1925", "1926"),
        ("norlund-2", "1925", "1927"),
        ("meir-kissinger", "February 1973", "March 1973"),
        ("rosie-perez-1", "segment producer", "segment director"),
        ("rosie-perez-2", "segment producer", "talent coordinator"),
        ("koeln-frankfurter-strasse", "13 June 2004", "12 June 2004"),
        ("saint-jean-post-office", "J. E. H. Benoît", "J. E. A. Benoît"),
    ],
)
def test_printed_facts(examples: CalibrationSet, item_id: str, reference: str, answer: str) -> None:
    item = next(item for item in examples.items if item.item_id == item_id)
    assert item.reference.text == reference
    assert answer in item.response
    assert item.reference.answer not in item.response
    assert examples.consensus().labels[item_id] == "CORRECT"


def test_the_first_rubric_refuses_the_quantities_and_is_silent_on_the_rest(examples: CalibrationSet) -> None:
    in_range = {item.item_id for item in examples.items if item.kind == "in_range"}
    assert examples.consensus(FIRST).labels == dict.fromkeys(in_range, "INCORRECT")


def test_no_label_is_lost_to_a_tie(examples: CalibrationSet) -> None:
    consensus = examples.consensus()
    assert not consensus.tied
    assert not consensus.unlabelled


def test_the_quantities_are_in_range(examples: CalibrationSet) -> None:
    for item in examples.items:
        if item.kind == "in_range":
            assert item.reference.ranges
            assert check_range(item.reference, item.response).outcome in ("in", "undecided"), item.item_id


def test_audited_items_are_marked_as_disputed(examples: CalibrationSet) -> None:
    for item in examples.items:
        audited = item.kind == "audited_reference"
        assert item.metadata.get("disputed", False) is audited
        assert item.metadata.get("published_reference_says", item.reference.text) == item.reference.text
        assert "2509.07968" in item.metadata["source"]


def test_files_are_as_the_writer_writes_them(examples: CalibrationSet, tmp_path: Path) -> None:
    write_set(examples, tmp_path / "copy")
    shipped = Path(__file__).resolve().parent.parent / "calibration_sets" / "data" / "published_examples"
    for path in sorted((tmp_path / "copy").iterdir()):
        assert (shipped / path.name).read_bytes() == path.read_bytes(), path.name


def test_references_are_the_published_ones_and_wording_is_ours(
    examples: CalibrationSet, calibration_data: Path
) -> None:
    with (calibration_data / "simpleqa_verified" / "simpleqa_verified.csv").open(encoding="utf-8", newline="") as file:
        rows = {int(row["original_index"]): row for row in csv.DictReader(file)}
    for item in examples.items:
        row = rows[item.metadata["original_index"]]
        assert item.reference.text == row["answer"].strip()
        assert item.question != row["problem"]
