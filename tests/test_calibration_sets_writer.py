from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.errors import SetFileError
from calibration_sets.item import HumanLabel, Item
from calibration_sets.loader import load_set
from calibration_sets.records import SetHeader
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import BINARY, SIMPLEQA, LabelScale
from calibration_sets.writer import json_line, stamp_labels, write_lines, write_set

HEADER = SetHeader("tiny", "1.0.0", "own@2.1.0", SIMPLEQA, "human", "CC0-1.0", 'a "source"\\', "Ärger\x7f\nund 😀\t.")


def item(
    item_id: str = "0012", *, reference: str = "Elbe", aliases: tuple[str, ...] = (), response: str = "x", **rest: Any
) -> Item:
    cluster = rest.pop("cluster_id", "c")
    return Item(item_id, "Which?", parse_reference(reference, aliases), response, cluster, **rest)


def labelled(*items: Item, header: SetHeader = HEADER, label: str = "CORRECT") -> CalibrationSet:
    labels = tuple(HumanLabel(one.item_id, one.digest, "anna", label, header.rubric) for one in items)
    return header.with_content(items, labels)


FULL = item(
    "full",
    aliases=("Labe",),
    kind="k",
    topic="t",
    answer_type="a",
    respondent="r",
    metadata={"n": 1, "urls": ["u"], "f": 0.5},
)


def test_a_set_reads_back_the_same(tmp_path: Path) -> None:
    written = labelled(item(), FULL)
    write_set(written, tmp_path / "set")
    loaded = load_set(tmp_path / "set")
    assert loaded == written
    assert loaded.items[1].metadata == FULL.metadata
    assert sorted(path.name for path in tmp_path.iterdir()) == ["set"]


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
filled = text.filter(str.strip)


@settings(max_examples=30, deadline=None)
@given(question=filled, reference=filled, response=text, alias=filled, key=filled.map(str.strip), extra=text)
def test_any_text_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    question: str,
    reference: str,
    response: str,
    alias: str,
    key: str,
    extra: str,
) -> None:
    one = Item(key, question, parse_reference(reference, [alias]), response, key, metadata={extra: extra})
    written = labelled(one, header=replace(HEADER, description=key))
    folder = tmp_path_factory.mktemp("sets") / "set"
    write_set(written, folder)
    assert load_set(folder) == written
    assert load_set(folder).items[0].metadata == {extra: extra}


@pytest.mark.parametrize(
    "scale",
    [
        BINARY,
        LabelScale("mine", ("bad", "fair", "good"), "ordinal", {"bad": "C"}, {"good": ("fine", "très bien")}, "good"),
        LabelScale("bare", ("0", "1")),
        LabelScale("simpleqa", ("no", "yes")),
        LabelScale("odd", ("a b", 'say "x"'), words={"a b": ("ab",)}),
    ],
)
def test_scales_read_back_the_same(tmp_path: Path, scale: LabelScale) -> None:
    write_set(labelled(item(), header=replace(HEADER, scale=scale), label=scale.labels[0]), tmp_path / "set")
    assert load_set(tmp_path / "set").scale == scale


def test_labels_under_other_rubrics_read_back_the_same(tmp_path: Path) -> None:
    one = item()
    labels = [HumanLabel(one.item_id, one.digest, "anna", "CORRECT", rubric) for rubric in ("own@2.1.0", "other@1.0.0")]
    write_set(HEADER.with_content((one,), tuple(labels)), tmp_path / "set")
    assert load_set(tmp_path / "set").human_labels == tuple(labels)


def test_a_set_without_labels_reads_back_the_same(tmp_path: Path) -> None:
    written = HEADER.with_content((item(),), ())
    write_set(written, tmp_path / "set")
    assert load_set(tmp_path / "set") == written


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x0b", "\x1c", "\r", "\x7f"])
def test_no_line_has_what_another_program_takes_for_a_line_break(tmp_path: Path, character: str) -> None:
    write_set(labelled(item(response=f"a{character}b")), tmp_path / "set")
    content = (tmp_path / "set" / "items.jsonl").read_text(encoding="utf-8")
    assert character not in content
    assert len(content.splitlines()) == 1


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    write_set(labelled(item()), tmp_path)
    before = (tmp_path / "items.jsonl").read_bytes()
    with pytest.raises(SetFileError, match="not empty; expected a new or empty folder"):
        write_set(labelled(item(response="y")), tmp_path)
    assert (tmp_path / "items.jsonl").read_bytes() == before


def test_overwriting_replaces_the_set(tmp_path: Path) -> None:
    write_set(labelled(item()), tmp_path / "set")
    after = HEADER.with_content((item(response="y"),), ())
    write_set(after, tmp_path / "set", overwrite=True)
    assert load_set(tmp_path / "set") == after
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == ["items.jsonl", "set.toml"]


def test_overwriting_never_deletes_files_of_others(tmp_path: Path) -> None:
    write_set(labelled(item()), tmp_path / "set")
    (tmp_path / "set" / "NOTES.md").write_text("mine")
    with pytest.raises(SetFileError, match=r"holds NOTES\.md; will overwrite only"):
        write_set(labelled(item()), tmp_path / "set", overwrite=True)


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "set").write_text("")
    with pytest.raises(SetFileError, match="a file; expected a folder"):
        write_set(labelled(item()), tmp_path / "set")


@pytest.mark.parametrize(
    "broken",
    [
        labelled(item("a"), item("a")),
        labelled(item(" a")),
        labelled(item(), label="MAYBE"),
        labelled(item(reference=" ")),
        labelled(item(metadata={"x": {1, 2}})),
        labelled(item(metadata={"x": float("nan")})),
        HEADER.with_content((), ()),
        labelled(item(), header=replace(HEADER, version="1")),
    ],
)
def test_a_set_that_could_not_be_read_is_not_written(tmp_path: Path, broken: CalibrationSet) -> None:
    with pytest.raises(SetFileError):
        write_set(broken, tmp_path / "set")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_overwrite_leaves_the_old_set(tmp_path: Path) -> None:
    before = labelled(item())
    write_set(before, tmp_path / "set")
    with pytest.raises(SetFileError):
        write_set(labelled(item(" a")), tmp_path / "set", overwrite=True)
    assert load_set(tmp_path / "set") == before
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_lines_replace_a_file_only_when_all_are_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_lines(path, [{"a": 1}])
    with pytest.raises(SetFileError):
        write_lines(path, [{"a": 2}, {"id": "x", "a": {3}}])
    assert path.read_text() == '{"a": 1}\n'
    assert list(tmp_path.iterdir()) == [path]


def test_json_lines_name_the_row_that_is_none() -> None:
    with pytest.raises(SetFileError, match=r"items\.jsonl: row 'x' is not JSON"):
        json_line({"id": "x", "a": float("inf")}, "items.jsonl")


# Stamping


def unstamped(tmp_path: Path, rows: list[dict[str, Any]]) -> Path:
    write_set(labelled(item(), FULL), tmp_path / "set")
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "set" / "human_labels.jsonl").write_text(text)
    return tmp_path / "set"


def test_missing_digests_are_filled_in(tmp_path: Path) -> None:
    rows = [
        {"item": "0012", "rater": "anna", "label": "CORRECT"},
        {"label": "INCORRECT", "rater": "ben", "item": "full", "digest": None},
    ]
    folder = unstamped(tmp_path, rows)
    assert stamp_labels(folder) == 2
    assert [(given.item_id, given.rater, given.label) for given in load_set(folder).human_labels] == [
        ("0012", "anna", "CORRECT"),
        ("full", "ben", "INCORRECT"),
    ]
    assert stamp_labels(folder) == 0


def test_stamped_rows_and_blank_lines_stay_as_they_are(tmp_path: Path) -> None:
    stamped = {"digest": item().digest, "item": "0012", "rater": "x", "label": "CORRECT"}
    folder = unstamped(tmp_path, [stamped, {"item": "full", "rater": "anna", "label": "CORRECT"}])
    path = folder / "human_labels.jsonl"
    path.write_text("\n" + path.read_text())
    before = path.read_text().split("\n")
    assert stamp_labels(folder) == 1
    after = path.read_text().split("\n")
    assert after[:2] == before[:2]
    assert len(after) == len(before)


def test_a_label_of_a_reworded_item_is_not_stamped_anew(tmp_path: Path) -> None:
    folder = unstamped(tmp_path, [{"item": "0012", "digest": "a" * 64, "rater": "anna", "label": "CORRECT"}])
    assert stamp_labels(folder) == 0
    with pytest.raises(SetFileError, match="was reworded since"):
        load_set(folder)


def test_labels_of_strangers_are_not_stamped(tmp_path: Path) -> None:
    folder = unstamped(
        tmp_path, [{"item": "0012", "rater": "a", "label": "CORRECT"}, {"item": "z", "rater": "a", "label": "CORRECT"}]
    )
    before = (folder / "human_labels.jsonl").read_bytes()
    with pytest.raises(SetFileError, match=r"human_labels\.jsonl:2: item 'z' is not in items\.jsonl"):
        stamp_labels(folder)
    assert (folder / "human_labels.jsonl").read_bytes() == before
