"""Items of a set in Parquet: the same set as from lines of JSON, and the same complaints."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import Study

from calibration_sets import parquet_items
from calibration_sets.errors import SetFileError
from calibration_sets.loader import ITEMS, ITEMS_PARQUET, load_set
from calibration_sets.records import item_data
from calibration_sets.strict import read_json_lines
from calibration_sets.writer import stamp_labels

GOOD: dict[str, Any] = {"id": "a", "question": "Who?", "reference": "Ada", "response": "Ada"}


def write(path: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path, **options)
    return path


@pytest.fixture
def folder(study: Study) -> Path:
    return study.folder / "small"


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [line.data for line in read_json_lines(folder / ITEMS, SetFileError)]


def test_a_set_in_parquet_is_the_set_in_lines(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_items, "_ROWS", 3)
    before = load_set(folder)
    write(folder / ITEMS_PARQUET, rows_of(folder), row_group_size=2)
    (folder / ITEMS).unlink()
    after = load_set(folder)
    assert after == before
    assert stamp_labels(folder) == 0


def test_parts_in_a_folder_are_read_by_name(folder: Path) -> None:
    before, rows = load_set(folder), rows_of(folder)
    (folder / ITEMS_PARQUET).mkdir()
    (folder / ITEMS_PARQUET / "_SUCCESS").touch()
    write(folder / ITEMS_PARQUET / "part-1.parquet", rows[5:])
    write(folder / ITEMS_PARQUET / "part-0.parquet", rows[:5])
    (folder / ITEMS).unlink()
    assert load_set(folder) == before


def test_both_files_are_one_too_many(folder: Path) -> None:
    write(folder / ITEMS_PARQUET, rows_of(folder))
    with pytest.raises(SetFileError, match=r"items.jsonl and items.parquet, both present; expected one of them"):
        load_set(folder)


@pytest.mark.parametrize(
    "metadata",
    [
        pa.array([{"n": 1, "deep": {"x": "y", "z": None}}, {"n": None, "deep": None}]),
        pa.array([[("n", 1)], []], type=pa.map_(pa.string(), pa.int64())),
        pa.array(['{"n": 1, "deep": {"x": "y"}}', None]),
    ],
)
def test_nulls_are_absent_keys_and_metadata_has_three_forms(tmp_path: Path, metadata: pa.Array) -> None:
    plain = pa.Table.from_pylist([{**GOOD, "kind": "odd", "aliases": ["Ada L."]}, {**GOOD, "id": "b", "kind": None}])
    pq.write_table(plain.append_column("metadata", metadata), tmp_path / "items.parquet")
    first, second = parquet_items.read_parquet_items(tmp_path / "items.parquet")
    assert (first.kind, second.kind) == ("odd", None)
    assert first.reference.extra_aliases == ("Ada L.",)
    assert first.metadata["n"] == 1
    assert first.metadata.get("deep") in (None, {"x": "y"})
    assert item_data(second) == {**GOOD, "id": "b"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([GOOD, {**GOOD, "id": None}], "items.parquet: row 2: key 'id' is missing"),
        ([{**GOOD, "id": 3}], "items.parquet: row 1: id: number 3; expected text"),
        ([{**GOOD, "answr": "x"}], "items.parquet: row 1: unknown key 'answr'; expected id, question"),
        ([GOOD, {**GOOD, "id": "b"}, GOOD], "items.parquet: row 3: duplicate id 'a', also items.parquet: row 1"),
        ([{**GOOD, "response": "a\0b"}], "items.parquet: row 1: a null character in"),
        ([{**GOOD, "metadata": "[1]"}], "items.parquet: row 1: metadata: list [1]; expected an object"),
        ([{**GOOD, "metadata": "{"}], "items.parquet: row 1: metadata: not JSON"),
        ([{**GOOD, "question": " "}], "items.parquet: row 1: question: text ' '; expected text that is not blank"),
    ],
)
def test_malformed_rows_are_named(tmp_path: Path, rows: list[dict[str, Any]], said: str) -> None:
    # A column that is absent in the first row would be left out otherwise.
    names = list(dict.fromkeys(name for row in rows for name in row))
    path = write(tmp_path / "items.parquet", [{name: row.get(name) for name in names} for row in rows])
    with pytest.raises(SetFileError) as told:
        parquet_items.read_parquet_items(path)
    assert str(told.value).startswith(said)


def test_a_file_of_the_wrong_shape_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_items, "_ROWS", 10)
    read = []
    monkeypatch.setattr(parquet_items, "text_problem", lambda row: read.append(row))
    path = write(tmp_path / "items.parquet", [{"id": f"i{n}", "prompt": "?"} for n in range(1000)])
    with pytest.raises(SetFileError, match=r"row 1: .*unknown key 'prompt'|row 1: key 'question' is missing"):
        parquet_items.read_parquet_items(path)
    assert len(read) < 30


def test_what_is_no_parquet_or_has_no_rows_is_told(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    path.write_text("id,question\n", encoding="utf-8")
    with pytest.raises(SetFileError, match=r"^items.parquet: .*; expected a Parquet file$"):
        parquet_items.read_parquet_items(path)
    pq.write_table(pa.table({"id": pa.array([], pa.string())}), path)
    with pytest.raises(SetFileError, match=r"items.parquet: empty; expected at least one item"):
        parquet_items.read_parquet_items(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(SetFileError, match=r"items.parquet: empty"):
        parquet_items.read_parquet_items(path)


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        (
            pa.array([{"when": date(2026, 1, 2)}]),
            "metadata.when: datetime.date(2026, 1, 2); expected what JSON can hold",
        ),
        (pa.array([{"price": Decimal("1.5")}]), "metadata.price: Decimal('1.5'); expected"),
        (pa.array([{"raw": [b"x"]}]), "metadata.raw[0]: b'x'; expected"),
        (pa.array([{"deep": {"rate": float("nan")}}]), "metadata.deep.rate: nan; expected"),
        (pa.array([[("n", 1), ("n", 2)]], type=pa.map_(pa.string(), pa.int64())), "metadata: key 'n' twice; expected"),
    ],
)
def test_metadata_that_no_record_of_a_run_could_hold_is_refused(tmp_path: Path, metadata: pa.Array, said: str) -> None:
    pq.write_table(pa.Table.from_pylist([GOOD]).append_column("metadata", metadata), tmp_path / "items.parquet")
    with pytest.raises(SetFileError) as told:
        parquet_items.read_parquet_items(tmp_path / "items.parquet")
    assert str(told.value).startswith(f"items.parquet: row 1: {said}")


def test_maps_and_nulls_inside_metadata_are_objects_and_absent_keys(tmp_path: Path) -> None:
    inner = pa.map_(pa.string(), pa.int64())
    shape = pa.struct([("sizes", inner), ("seen", pa.list_(pa.struct([("x", pa.int64()), ("y", pa.int64())])))])
    metadata = pa.array([{"sizes": [("a", 1), ("b", None)], "seen": [{"x": None, "y": 2}]}], type=shape)
    pq.write_table(pa.Table.from_pylist([GOOD]).append_column("metadata", metadata), tmp_path / "items.parquet")
    (item,) = parquet_items.read_parquet_items(tmp_path / "items.parquet")
    assert item.metadata == {"sizes": {"a": 1}, "seen": [{"y": 2}]}


def test_a_column_that_is_there_twice_is_not_chosen_from(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([GOOD]).append_column("question", pa.array(["Which?"]))
    pq.write_table(table, tmp_path / "items.parquet")
    with pytest.raises(SetFileError, match=r"^items.parquet: column 'question' twice; expected it once$"):
        parquet_items.read_parquet_items(tmp_path / "items.parquet")


def test_what_writers_hide_is_left_out_and_folders_of_parts_are_not(tmp_path: Path) -> None:
    folder = tmp_path / "items.parquet"
    (folder / "_temporary").mkdir(parents=True)
    write(folder / "part-0.parquet", [GOOD])
    for name in ("._part-0.parquet", ".part-0.parquet.crc", "_metadata.parquet"):
        (folder / name).write_bytes(b"none")
    assert len(parquet_items.read_parquet_items(folder)) == 1
    (folder / "kind=odd").mkdir()
    with pytest.raises(SetFileError, match=r"^items.parquet/kind=odd: a folder; expected the parts in items.parquet"):
        parquet_items.read_parquet_items(folder)
