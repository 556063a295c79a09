"""Where a store may lie: files that are none are refused and left as they are."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from experiments.errors import RunNotFoundError, StoreError
from experiments.store import database_file as store_file
from experiments.store.database_file import expected_state
from experiments.store.run_store import CompletionKey, RunRecord, RunStore
from graders.verdict import Completion

KEY = CompletionKey("d", 0)


def fill(path: Path) -> None:
    with RunStore(path) as store:
        store.create_run(RunRecord("r-1", {"name": "r"}), {"items": []})
        store.append("g", KEY, Completion("A", "m"))


def read_all(path: Path) -> None:
    with RunStore(path) as store:
        store.find_run("r")
        store.load_set_snapshot("r-1")
        store.completions("g")


def alter(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("must_exist", [True, False])
def test_a_database_of_something_else_is_refused_and_not_touched(tmp_path: Path, must_exist: bool) -> None:
    path = tmp_path / "photos.sqlite"
    alter(path, "create table about (key, value)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"photos\.sqlite: a database of something else; expected an autorater store"):
        RunStore(path, must_exist=must_exist)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["photos.sqlite"]


def test_an_empty_file_becomes_a_store_but_is_none_to_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    path.touch()
    with pytest.raises(StoreError, match="an empty file; expected the store of an earlier run"):
        RunStore(path, must_exist=True)
    assert path.read_bytes() == b""
    fill(path)
    with RunStore(path, must_exist=True) as store:
        assert store.count_completions() == 1


@pytest.mark.parametrize("must_exist", [True, False])
def test_a_folder_a_device_or_an_impossible_name_is_an_error(tmp_path: Path, must_exist: bool) -> None:
    for path, told in [
        (tmp_path, "a folder"),
        (Path(), "a folder"),
        (Path(os.devnull), "not a plain file"),
        (tmp_path / ("x" * 300), "too long"),
    ]:
        with pytest.raises(StoreError, match=rf"{told}; expected the path of a store"):
            RunStore(path, must_exist=must_exist)


@pytest.mark.parametrize("name", [":memory:", "file:s.sqlite?mode=ro", "with space é?#%.sqlite", "s"])
def test_every_name_is_the_name_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    fill(Path(name))
    assert (tmp_path / name).is_file()
    with RunStore(Path(name), must_exist=True) as store:
        assert store.count_completions() == 1


@pytest.mark.parametrize(
    ("table", "payload"),
    [
        ("completions", "{"),
        ("completions", "[1]"),
        ("completions", '{"text": "A"}'),
        ("completions", '{"usage": {}, "colour": 1}'),
        ("runs", "{"),
        ("set_snapshots", "{"),
    ],
)
def test_a_damaged_record_is_an_error_and_no_crash(tmp_path: Path, table: str, payload: str) -> None:
    path = tmp_path / "s.sqlite"
    fill(path)
    alter(path, f"update {table} set payload = '{payload}'")
    damaged = r"the completion of item d, repeat 0, by grader g|a record|the (record|set) of run r-1"
    with pytest.raises(StoreError, match=rf"s\.sqlite: ({damaged}) is damaged .*; expected"):
        read_all(path)


def test_half_a_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    fill(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with (
        pytest.raises(StoreError, match=r"s\.sqlite: .*; expected a writable autorater store"),
        RunStore(path) as store,
    ):
        store.completions("g")


def test_a_store_held_by_another_program_is_waited_for_and_then_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.sqlite"
    fill(path)
    monkeypatch.setattr(store_file, "BUSY_SECONDS", 0.2)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin exclusive")
    with RunStore(path) as store:
        with pytest.raises(StoreError, match="locked; expected no other program to hold it"):
            store.append("g", CompletionKey("d", 1), Completion("B", "m"))
        other.execute("commit")
        other.close()
        store.append("g", CompletionKey("d", 1), Completion("B", "m"))
        assert store.count_completions() == 2


def test_a_store_on_a_read_only_medium_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s #1.sqlite"
    fill(path)
    before = sorted(entry.name for entry in tmp_path.iterdir())
    monkeypatch.setattr(os, "access", lambda *_: False)
    with RunStore(path, must_exist=True) as store:
        assert store.find_run("r").run_id == "r-1"
        with pytest.raises(StoreError, match="readonly"):
            store.append("g", CompletionKey("d", 1), Completion("B", "m"))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == before


def test_what_sqlite_says_of_a_full_disk_is_told_with_what_to_do() -> None:
    assert "room on its disk" in expected_state("database or disk is full")
    assert "the same command continues" in expected_state("disk I/O error")
    assert expected_state("attempt to write a readonly database") == "a writable autorater store"


def test_the_names_that_a_run_can_be_found_by(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    RunStore(path).close()
    with RunStore(path) as store:
        with pytest.raises(RunNotFoundError, match="expected a store with runs, this one has none"):
            store.find_run("r")
        for run_id in ("a-1", "a-2", "b-1"):
            store.create_run(RunRecord(run_id, {}), {})
        with pytest.raises(
            RunNotFoundError,
            match=r"2 runs begin so \(autorater runs tells them apart\); expected one of \['a-1', 'a-2'\]",
        ):
            store.find_run("a")
        with pytest.raises(RunNotFoundError, match=r"no such run; expected one of \['a-1', 'a-2', 'b-1'\]"):
            store.find_run("")
