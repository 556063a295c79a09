"""What the lint says about references, and what it keeps quiet about."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.references.reference_lint import lint_reference
from calibration_sets.references.reference_parser import parse_reference


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("14.36 (acceptable range: anything between 14.22 and 14.98)", "asymmetric range"),
        ("100 (acceptable range: 90 to 150)", "asymmetric range"),
        ("100 (acceptable range: 100 to 110)", "asymmetric range"),
        ("405 x 480 cm (acceptable range: [400-409] x [475-585] cm)", "asymmetric range"),
        ("9 (acceptable range: 5 to 7)", "target outside its own range"),
        ("210 cm (acceptable range: 1.9 m to 2.0 m)", "target outside its own range"),
        ("5 (acceptable range: 7 to 3)", "low bound above high bound"),
        ("5 (acceptable range: a few either way)", "range not understood"),
        ("Summer (acceptable range: June to August)", "range not understood"),
        ("03/04/1996", "ambiguous numeric date"),
        ("on 3-4-1996", "ambiguous numeric date"),
        ("3/4/96", "ambiguous numeric date"),
    ],
)
def test_findings(text: str, finding: str) -> None:
    findings = lint_reference(parse_reference(text))
    assert len(findings) == 1
    assert findings[0].startswith(finding)


@pytest.mark.parametrize(
    "text",
    [
        "100 (acceptable range: 98 to 102)",
        "263 (acceptable range: anything between 259 and 266)",  # 4 below, 3 above: rounding
        "3 (acceptable range: 2 to 4)",
        "6 (acceptable range: ≥ 5)",
        "some (acceptable range: 5 to 7)",
        "13/04/1996",
        "04/04/1996",
        "3.2.6827",
        "1996-03-04",
        "3/4",
        "Ines Okafor",
        "",
    ],
)
def test_sound_references(text: str) -> None:
    assert lint_reference(parse_reference(text)) == []


def test_published_references_that_look_wrong(calibration_data: Path) -> None:
    path = calibration_data / "simpleqa_verified" / "simpleqa_verified.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    flagged = {row["original_index"]: lint_reference(parse_reference(row["answer"])) for row in rows}
    found = {index: findings for index, findings in flagged.items() if findings}
    assert set(found) == {"55", "2897"}
    assert all(findings[0].startswith("asymmetric range") for findings in found.values())


@given(target=st.integers(-(10**6), 10**6), side=st.integers(1, 10**4), slip=st.integers(-1, 1))
def test_rounding_of_a_symmetric_range_is_never_flagged(target: int, side: int, slip: int) -> None:
    text = f"{target} (acceptable range: from {target - side} to {target + max(1, side + slip)})"
    assert lint_reference(parse_reference(text)) == []


@given(st.text(max_size=200))
def test_any_text_is_linted(text: str) -> None:
    assert isinstance(lint_reference(parse_reference(text)), list)
    lint_reference(parse_reference(f"5 (acceptable range: {text})"))
