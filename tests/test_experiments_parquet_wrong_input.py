"""Folders that are no whole export: one line says where, what, and what was expected."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from parquet_runs import random_run

import cli
from calibration_sets.scale import SIMPLEQA
from experiments.errors import ExportError
from experiments.parquet.export_report import report_export
from experiments.parquet.run_export import export_run
from experiments.store.run_store import RunStore

Change = Callable[[list[dict[str, Any]]], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    run_id = random_run(folder / "s.sqlite", SIMPLEQA, seed=8)
    with RunStore(folder / "s.sqlite") as store:
        export_run(store, run_id, folder / "x", rows_a_part=80)
    return folder


@pytest.fixture
def export(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made / "x", tmp_path / "x")
    return tmp_path / "x"


def refused(folder: Path) -> str:
    with pytest.raises(ExportError) as caught:
        report_export(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert "; expected " in message
    assert str(folder) in message
    return message


def describe(export: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = export / "run.json"
    fields = json.loads(path.read_text(encoding="utf-8"))
    del fields["sha256"]
    change(fields)
    signed = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(fields | {"sha256": signed}), encoding="utf-8")


def first_part(export: Path) -> Path:
    return min((export / "verdicts").rglob("part-00000.parquet"))


def rewrite(export: Path, path: Path, change: Change) -> None:
    """Change rows of a file, and its record too, as if it had been written so."""
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    nullable = pa.schema([field.with_nullable(True) for field in table.schema])
    pq.write_table(pa.Table.from_pylist(rows, schema=nullable), path)
    record = {
        "file": path.relative_to(export).as_posix(),
        "rows": len(rows),
        "bytes": path.stat().st_size,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }

    def put(fields: dict[str, Any]) -> None:
        for holder in (fields, *fields["graders"]):
            for name, value in holder.items():
                if isinstance(value, Mapping) and value.get("file") == record["file"]:
                    holder[name] = record
                if name == "parts":
                    holder[name] = [record if part["file"] == record["file"] else part for part in value]

    describe(export, put)


def test_the_copy_is_whole(export: Path) -> None:
    assert len(report_export(export)["graders"]) == 2


def test_rows_written_anew_are_read(export: Path) -> None:
    rewrite(export, first_part(export), lambda rows: rows.sort(key=lambda row: (row["content"], row["repeat"])))
    assert len(report_export(export)["graders"]) == 2


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    assert refused(tmp_path) == (
        f"{tmp_path}: no run.json, so no export; expected a folder that `autorater export` wrote"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ("[]", "schema None; expected 'autorater.export/1'"),
        ('{"schema": "autorater.export/2"}', "schema 'autorater.export/2'; expected 'autorater.export/1'"),
        ('{"schema": "autorater.export/1"}', "run.json: changed, SHA-256 "),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_a_description_of_something_else(export: Path, text: str, said: str) -> None:
    (export / "run.json").write_text(text, encoding="utf-8")
    assert said in refused(export)


def test_a_description_without_its_fields(export: Path) -> None:
    describe(export, lambda fields: fields.pop("run"))
    assert "run.json: run: Field required; expected the description of an export" in refused(export)


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: fields["scale"]["labels"].reverse(),
        lambda fields: fields["run"].update(level=0.5),
        lambda fields: fields["graders"].pop(),
        lambda fields: fields["graders"][0]["identity"].update(model="openai/gpt-9"),
        lambda fields: fields["items"].update(file="../items.parquet"),
        lambda fields: fields.pop("sha256"),
    ],
)
def test_a_description_that_was_changed(export: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = export / "run.json"
    fields = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(fields), encoding="utf-8")  # spelt in another way, it says the same
    assert len(report_export(export)["graders"]) == 2
    change(fields)
    path.write_text(json.dumps(fields), encoding="utf-8")
    assert "run.json: changed, SHA-256 " in refused(export)


def test_a_description_with_a_field_of_another_sort(export: Path) -> None:
    describe(export, lambda fields: fields["graders"][1].update(expected=0))
    assert "run.json: graders.1.expected: " in refused(export)


@pytest.mark.parametrize("name", ["items.parquet", "labels.parquet", "texts.parquet"])
def test_a_missing_file(export: Path, name: str) -> None:
    (export / name).unlink()
    assert f"{name}: missing; expected a file of " in refused(export)


def test_a_missing_part(export: Path) -> None:
    first_part(export).unlink()
    assert "part-00000.parquet: missing; expected a file of 80 rows" in refused(export)


@pytest.mark.parametrize("name", ["run.json", "items.parquet", "verdicts/grader=g0/part-00000.parquet"])
def test_a_file_that_cannot_be_read(export: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open

    def fail(path: Path, *args: Any, **options: Any) -> Any:
        if path == export / name:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *args, **options)

    monkeypatch.setattr(Path, "open", fail)
    assert refused(export) == f"{export / name}: Permission denied; expected a file that can be read"


def test_a_part_too_many(export: Path) -> None:
    shutil.copy(first_part(export), first_part(export).parent / "part-00099.parquet")
    assert "part-00099.parquet: not in run.json; expected only the files that it lists" in refused(export)


def test_a_part_that_was_cut_and_one_that_was_changed(export: Path) -> None:
    part = first_part(export)
    content = part.read_bytes()
    part.write_bytes(content[:-1])
    assert f"changed, {len(content) - 1} bytes; expected {len(content)} as written" in refused(export)
    part.write_bytes(content[:50] + bytes([content[50] ^ 1]) + content[51:])
    assert "part-00000.parquet: changed, SHA-256 " in refused(export)


def test_a_part_that_is_another_file_or_has_other_columns_or_rows(export: Path) -> None:
    part = first_part(export)

    def record(path: Path, rows: int) -> None:
        found = {"rows": rows, "bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        describe(export, lambda fields: fields["graders"][0]["parts"][0].update(found))

    record(part, 79)
    assert "80 rows; expected 79" in refused(export)
    pq.write_table(pa.table({"a": [1]}), part)
    record(part, 1)
    assert "columns ['a']; expected ['content', 'repeat', 'label', 'failure', 'detail']" in refused(export)
    part.write_bytes(b"no such thing")
    record(part, 1)
    assert "no Parquet file (" in refused(export)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"label": "PASS", "failure": None}, "row 5: label 'PASS'; expected one of ['INCORRECT', "),
        ({"label": None, "failure": "tired"}, "row 5: failure 'tired'; expected one of ['empty', "),
        ({"label": "CORRECT", "failure": "empty"}, "row 5: a label and a failure, or neither; expected one of them"),
        ({"label": None, "failure": None}, "row 5: a label and a failure, or neither; expected one of them"),
        ({"content": 1_000}, "row 5: content 1000; expected 0 to "),
        ({"content": None}, "row 5: content None; expected 0 to "),
        ({"content": -1}, "row 5: content -1; expected 0 to "),
        ({"repeat": 4}, "row 5: repeat 4; expected 0 to 3"),
    ],
)
def test_a_row_that_cannot_be(export: Path, row: dict[str, Any], said: str) -> None:
    rewrite(export, first_part(export), lambda rows: rows[5].update(row))
    assert said in refused(export)


@pytest.mark.parametrize("sorted_", [True, False])
def test_a_verdict_that_is_there_twice(export: Path, sorted_: bool) -> None:
    def repeat(rows: list[dict[str, Any]]) -> None:
        if not sorted_:
            rows.reverse()
        rows[7] = dict(rows[6])

    rewrite(export, first_part(export), repeat)
    assert "row 7: a verdict that is there twice; expected each content and repeat once" in refused(export)


def test_a_verdict_that_is_there_twice_in_two_parts(export: Path) -> None:
    first = pq.read_table(first_part(export)).to_pylist()[3]
    second = first_part(export).with_name("part-00001.parquet")
    rewrite(export, second, lambda rows: rows.__setitem__(2, first))
    assert "part-00001.parquet: row 2: a verdict that is there twice" in refused(export)


def test_rows_in_another_order_say_the_same_and_absent_ones_were_not_asked(export: Path) -> None:
    before = report_export(export)
    rewrite(export, first_part(export), lambda rows: rows.reverse())
    assert report_export(export) == before
    grader = before["graders"][0]
    dropped = pq.read_table(first_part(export)).to_pylist()[10]
    assert dropped["label"] is not None
    rewrite(export, first_part(export), lambda rows: rows.pop(10))
    after = report_export(export)["graders"][0]
    n_lost = grader["n_verdicts"] - after["n_verdicts"]
    assert n_lost >= 1
    assert after["failures"]["not_answered"] == grader["failures"].get("not_answered", 0) + n_lost
    assert after["not_answered"]["not_asked"] == grader["not_answered"].get("not_asked", 0) + n_lost


def test_people_off_the_scale_and_items_out_of_place(export: Path) -> None:
    rewrite(export, export / "labels.parquet", lambda rows: rows[0].update(label="FINE"))
    assert "labels.parquet: label 'FINE'; expected one of " in refused(export)
    rewrite(export, export / "items.parquet", lambda rows: rows.reverse())
    assert "items.parquet: items out of order; expected the number of its row in each" in refused(export)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--parser", "both"], "--parser: given with the folder "),
        (["--times"], "--times: given with the folder "),
        (["--figures", "f"], "--figures: given with the folder "),
        (["--format", "html"], "--format html: given with the folder "),
    ],
)
def test_what_needs_a_store_is_refused(
    export: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["autorater", "report", str(export), *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert f"error: {said}" in capsys.readouterr().err


@pytest.mark.parametrize("inside", [".", "nowhere"])
def test_the_command_refuses_a_folder_of_something_else_and_none(
    tmp_path: Path, inside: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path /= inside
    monkeypatch.setattr("sys.argv", ["autorater", "report", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path}: no run.json, so no export; expected ")
