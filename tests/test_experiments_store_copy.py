"""Runs move between stores of either kind: all of it, once, and nothing that was there before is lost."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from batch_study import make_grader, make_items
from command_line import autorater
from store_shapes import make_old

from calibration_sets.scale import SIMPLEQA
from experiments.batch.records import BatchRecords, batch_keys, held_keys
from experiments.errors import RunNotFoundError, StoreError
from experiments.store import copied_tables
from experiments.store.run_store import CompletionKey, RunRecord, RunStore
from experiments.store.sessions import SessionTotals, add_session, sum_sessions
from experiments.store.store_copy import copy_store, open_source
from graders.batch.calls import BatchLimits, split_calls
from graders.client import Request
from graders.providers.replay import Recorded, write_recording
from graders.verdict import CallFailure, Completion, Usage

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
NewPlace = Callable[[], str]


def tell_nobody(doing: str, grader_id: str | None, n_rows: int) -> None: ...


@pytest.fixture(params=["file", "server"])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> NewPlace:
    """Makes places for new stores of one kind."""
    if request.param == "server":
        server = request.getfixturevalue("postgres")
        return lambda: str(server.new_database())
    made: list[Path] = []

    def new_file() -> str:
        made.append(tmp_path / f"other{len(made)}.sqlite")
        return str(made[-1])

    return new_file


def copy(source: RunStore, target: RunStore, *runs: str) -> Any:
    return copy_store(source, target, runs or None, tell_nobody)


def fill(store: RunStore) -> None:
    """Two runs that share a grader, with all that a store can hold of them."""
    for run_id, graders in (("one-1", ["g", "h"]), ("two-2", ["h", "i"])):
        records = [dict(GRADER, grader_id=grader_id) for grader_id in graders]
        payload = {"name": run_id, "graders": records, "set": "s 1", "n_items": 1, "n_items_in_set": 1}
        store.create_run(RunRecord(run_id, payload | {"set_digest": "d", "analyses": {}}), {"items": [run_id]})
    for grader_id in ("g", "h", "i", "no run's"):
        for place in range(5):
            store.append(grader_id, CompletionKey(f"{place}", 0), CallFailure("timeout", f"\0 {place}", Usage(1, 0)))
        store.append_many(
            grader_id, [(CompletionKey(f"{place}", 0), Completion(f"{place} \0 \ud800", "m")) for place in range(5)]
        )
        add_session(store, grader_id, seconds=0.1, n_completions=5)
    intend(store, "h")


def intend(store: RunStore, grader_id: str) -> None:
    grader = make_grader("http://localhost", "chat")
    requests = [Request(item, (0, 2), grader.prompt, grader.sampling, SIMPLEQA) for item in make_items(3)]
    (job,) = split_calls(requests, lambda _: {}, BatchLimits(10, 10**6), lambda: "autorater-1")
    records = BatchRecords(store)
    records.intend(job, grader_id=grader_id, run_id="r", service="s", now=NOW)
    records.claim(grader_id, "autorater-1", [CompletionKey("0", 0)])


GRADER = {
    "grader_id": "g",
    "model": "m",
    "prompt": None,
    "rubric": None,
    "channel": "letter",
    "scale": asdict(SIMPLEQA),
    "sampling": {"repeats": 1},
    "price": None,
    "notes": [],
}


def everything(store: RunStore, grader_id: str) -> Any:
    return (
        store.completions(grader_id),
        list(store.iter_call_failures(grader_id)),
        sum_sessions(store, grader_id),
        held_keys(store, grader_id),
        batch_keys(store, grader_id),
        BatchRecords(store).jobs(grader_id),
    )


@pytest.fixture
def source(tmp_path: Path) -> Any:
    with RunStore(tmp_path / "source.sqlite") as store:
        fill(store)
        yield store


def test_a_whole_store_goes_there_and_back(source: RunStore, new_place: NewPlace, tmp_path: Path) -> None:
    with RunStore(new_place()) as other, RunStore(tmp_path / "back.sqlite") as back:
        there, again = copy(source, other), copy(other, back)
        assert [(part.table, part.grader_id, part.source_digest) for part in there.parts] == [
            (part.table, part.grader_id, part.target_digest) for part in again.parts
        ]
        for store in (other, back):
            assert store.list_runs() == source.list_runs()
            assert store.load_set_snapshot("two-2") == {"items": ["two-2"]}
            for grader_id in ("g", "h", "i", "no run's"):
                assert everything(store, grader_id) == everything(source, grader_id)
        for part in (*there.parts, *again.parts):
            assert part.source_digest == part.target_digest
            assert part.n_source == part.n_target > 0
            assert part.n_besides == part.n_others == part.n_other_times == 0


def test_copying_again_adds_nothing(source: RunStore, new_place: NewPlace) -> None:
    with RunStore(new_place()) as other:
        first = copy(source, other)
        assert copy(source, other) == first
        assert sum_sessions(other, "g") == SessionTotals(1, 0.1, 5)
        assert other.call_failure_counts("g") == {"timeout": 5}


def test_one_run_comes_with_its_graders_and_its_set_alone(source: RunStore, new_place: NewPlace) -> None:
    with RunStore(new_place()) as other:
        copied = copy(source, other, "two")
        assert copied.run_ids == ("two-2",)
        assert list(other.run_times()) == ["two-2"]
        assert other.completions("h") == source.completions("h")
        assert other.completions("g") == other.completions("no run's") == {}
        assert [part.n_source for part in copied.parts if part.table == "set_snapshots"] == [1]
        copy(source, other, "one-1")
        assert set(other.run_times()) == {"one-1", "two-2"}
        with pytest.raises(RunNotFoundError, match="no such run"):
            copy(source, other, "three")


def test_what_is_there_stays_and_another_completion_is_named(source: RunStore, new_place: NewPlace) -> None:
    with RunStore(new_place()) as other:
        other.append("g", CompletionKey("3", 0), Completion("said before", "m"))
        other.append("g", CompletionKey("new", 7), Completion("besides", "m"))
        other.append("g", CompletionKey("4", 0), source.completions("g")[CompletionKey("4", 0)])
        copied = copy(source, other)
        (part,) = (part for part in copied.parts if (part.table, part.grader_id) == ("completions", "g"))
        assert (part.n_source, part.n_target, part.n_besides, part.n_others) == (5, 5, 1, 1)
        assert part.others == ["3 0"]
        assert part.n_other_times == 1
        assert part.source_digest != part.target_digest
        assert copied.n_others == 1
        assert other.completions("g")[CompletionKey("3", 0)].text == "said before"
        assert other.count_completions() == source.count_completions() + 1


def test_a_job_that_went_on_is_renewed_and_a_newer_one_stays(source: RunStore, new_place: NewPlace) -> None:
    with RunStore(new_place()) as other:
        copy(source, other)
        records = BatchRecords(source)
        records.change("autorater-1", "in_progress", now=NOW + timedelta(hours=1), job_id="b1")
        copy(source, other)
        assert BatchRecords(other).jobs("h") == records.jobs("h")
        BatchRecords(other).change("autorater-1", "collected", now=NOW + timedelta(hours=2))
        copied = copy(source, other)
        assert [job.state for job in BatchRecords(other).jobs("h")] == ["collected"]
        assert copied.n_others == 0


def test_a_copy_that_was_stopped_goes_on(
    source: RunStore, new_place: NewPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copied_tables, "ROWS_AT_A_TIME", 2)
    n_told = 0

    def stop(doing: str, grader_id: str | None, n_rows: int) -> None:
        nonlocal n_told
        n_told += 1
        if n_told == 9:
            raise KeyboardInterrupt

    with RunStore(new_place()) as other:
        with pytest.raises(KeyboardInterrupt):
            copy_store(source, other, None, stop)
        # A run is listed once all of it is there.
        assert other.run_times() == {}
        assert 0 < other.count_completions() < source.count_completions()
        copy(source, other)
        assert other.list_runs() == source.list_runs()
        assert everything(other, "h") == everything(source, "h")


def test_what_is_written_meanwhile_is_not_missed(source: RunStore, new_place: NewPlace) -> None:
    def write(doing: str, grader_id: str | None, n_rows: int) -> None:
        source.append("g", CompletionKey(doing, 0), Completion("later", "m"))

    with RunStore(new_place()) as other:
        copied = copy_store(source, other, None, write)
        assert all(part.source_digest == part.target_digest for part in copied.parts)
        assert other.count_completions() == 20


def test_rows_that_vanish_are_an_error(source: RunStore, tmp_path: Path) -> None:
    def delete(doing: str, grader_id: str | None, n_rows: int) -> None:
        if doing == "copying runs":
            with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
                connection.execute("DELETE FROM completions WHERE item_digest = '2'")
                connection.commit()

    with RunStore(tmp_path / "other.sqlite") as other, pytest.raises(StoreError, match="completions: 1 rows are not"):
        copy_store(source, other, None, delete)


def test_an_old_store_is_copied_and_not_changed(source: RunStore, new_place: NewPlace, tmp_path: Path) -> None:
    expected = everything(source, "g")
    source.close()
    old = Path(str(source.place))
    make_old(old)
    before = old.read_bytes()
    with RunStore(new_place()) as other:
        for _ in range(2):
            with open_source(source.place) as opened:
                copied = copy(opened, other)
            assert all(part.source_digest == part.target_digest for part in copied.parts)
        assert everything(other, "g") == expected
        assert old.read_bytes() == before
        # Once it has been brought up to date itself, its rows have the keys that they were copied under.
        with RunStore(old) as current:
            copy(current, other)
            copy(other, current)
            assert everything(current, "g") == everything(other, "g") == expected


# --- the command -----------------------------------------------------------------------------------------------------


def write_twelve(study: Any) -> None:
    """The study with twelve graders, which differ in what they say, and miss some replies."""
    graders = []
    for number in range(12):
        replies = {
            (place, repeat): "AB"[(place + (repeat * number + place // 3) % 5 == 0) % 2]
            for place in range(8)
            for repeat in range(3)
            if (place, repeat) != (number, 1)
        }
        name = f"said{number}.jsonl"
        write_recording(
            study.folder / name,
            [
                Recorded(study.items[place].digest, repeat, Completion(text, f"served-{number}", usage=Usage(9, 1)))
                for (place, repeat), text in replies.items()
            ],
        )
        graders.append(f'[[graders]]\nprompt = "simpleqa@1.0.0"\nmodel = "replay/{name}"\n')
    head, _, _ = study.experiment.read_text(encoding="utf-8").partition("[[graders]]")
    study.experiment.write_text(head + "\n".join(graders), encoding="utf-8")


def test_reports_of_a_run_with_twelve_graders_are_the_same_from_every_store(study: Any, postgres: Any) -> None:
    write_twelve(study)
    folder, address = study.folder, postgres.new_database()
    ran = autorater(folder, "run", "study.toml", "--store", "first.sqlite")
    assert ran.code == 0, ran.err
    for source, target in (("first.sqlite", address), (address, "back.sqlite")):
        ran = autorater(folder, "store", "copy", source, target)
        assert ran.code == 0, ran.err
        assert "All rows are there, and equal." in ran.out
    for words in (["--format", "json"], ["--parser", "both"]):
        first, there, back = (
            autorater(folder, "report", "study", *words, "--store", store)
            for store in ("first.sqlite", address, "back.sqlite")
        )
        assert first.code == 0, first.err
        assert len(first.out) > 1000
        assert first.out == there.out == back.out
    assert (
        len(json.loads(autorater(folder, "report", "study", "--format", "json", "--store", address).out)["graders"])
        == 12
    )
    # And run on the server from the beginning, it says the same too; who worked at it there is not copied.
    other = postgres.new_database()
    ran = autorater(folder, "run", "study.toml", "--store", other)
    assert ran.code == 0, ran.err
    assert int(postgres.psql(other.rpartition("/")[2], "SELECT count(*) FROM workers")) == 1
    assert autorater(folder, "store", "copy", other, "worked.sqlite").code == 0
    with closing(sqlite3.connect(folder / "worked.sqlite")) as connection:
        for table in ("work_sessions", "workers", "worker_shares", "claims"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    assert (
        autorater(folder, "report", "study", "--store", other).out
        == autorater(folder, "report", "study", "--store", address).out
    )


def test_the_command_names_what_another_store_holds_and_ends_with_1(source: RunStore, tmp_path: Path) -> None:
    with RunStore(tmp_path / "b.sqlite") as other:
        other.append("g", CompletionKey("3", 0), Completion("said before", "m"))
    ran = autorater(tmp_path, "store", "copy", "source.sqlite", "b.sqlite")
    assert ran.code == 1
    assert "completions of g: under 1 keys something else was there already, and stands: 3 0" in " ".join(
        ran.out.split()
    )
    ran = autorater(tmp_path, "store", "copy", "source.sqlite", "b.sqlite", "--run", "two", "--format", "json")
    assert ran.code == 0
    fields = json.loads(ran.out)
    assert (fields["schema"], fields["runs"], fields["n_others"]) == ("autorater.store_copy/1", ["two-2"], 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("source.sqlite", "./source.sqlite"), "source.sqlite: both stores are one; expected two"),
        (("none.sqlite", "b.sqlite"), "none.sqlite: no such store; expected the file of an earlier run (or another A)"),
        (("source.sqlite", "no/b.sqlite"), "no/b.sqlite: its folder does not exist"),
        (("source.sqlite", "mysql://me:secret@host/db"), "mysql://...: a kind of store that is not known"),
        (("source.sqlite", "b.sqlite", "--run", "x"), "source.sqlite: run 'x': no such run"),
    ],
)
def test_what_cannot_be_copied_is_an_error(
    source: RunStore, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    ran = autorater(tmp_path, "store", "copy", *words)
    assert ran.code == 2
    assert ran.err.startswith(f"error: {message}")
    assert "secret" not in ran.err
    assert not (tmp_path / "none.sqlite").exists()


def test_an_empty_store_is_copied_as_such(tmp_path: Path) -> None:
    RunStore(tmp_path / "a.sqlite").close()
    ran = autorater(tmp_path, "store", "copy", "a.sqlite", "b.sqlite")
    assert ran.code == 0
    assert "there is nothing in it" in ran.out
    shutil.copy(tmp_path / "b.sqlite", tmp_path / "c.sqlite")
