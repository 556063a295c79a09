"""The store keeps what was paid for: once, at once, for several processes, whatever the reply holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ready_processes import ready_processes

from experiments.errors import RunNotFoundError, StoreError
from experiments.store.run_store import CompletionKey, RunRecord, RunStore
from graders.verdict import CallFailure, Completion, Usage

KEY = CompletionKey("d" * 64, 0)


def completion(text: str | None = "CORRECT") -> Completion:
    return Completion(text=text, served_model="m", usage=Usage(1, 2, None), effective_sampling={"temperature": 2.0})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore(tmp_path / "s.sqlite") as opened:
        yield opened


def test_a_completion_is_there_for_another_process_as_soon_as_append_returns(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "s.sqlite")
    store.append("g", KEY, completion())
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as other:
        assert other.execute("select count(*) from completions").fetchone() == (1,)
    store.close()


def test_a_completion_comes_back_as_it_was(store: RunStore) -> None:
    original = Completion(
        text="B",
        served_model="served",
        stop_reason="length",
        label_logprobs={"CORRECT": -0.25, "INCORRECT": float("-inf")},
        usage=Usage(900, 1, 800),
        effective_sampling={"temperature": 2.0, "top_k": 0},
        stated_label="INCORRECT",
    )
    store.append("g", KEY, original)
    assert store.completions("g") == {KEY: original}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(text=st.text(st.characters(codec=None, exclude_categories=())))
def test_any_text_is_kept_to_the_letter(store: RunStore, text: str) -> None:
    key = CompletionKey(repr(text), 0)
    store.append("g", key, completion(text))
    assert store.completions("g")[key].text == text


def test_the_first_completion_of_a_key_stands(store: RunStore) -> None:
    store.append("g", KEY, completion("CORRECT"))
    store.append("g", KEY, completion("INCORRECT"))
    assert store.completions("g")[KEY].text == "CORRECT"
    assert store.count_completions() == 1


def test_repeats_graders_and_items_never_share_a_completion(store: RunStore) -> None:
    keys = [CompletionKey(digest, repeat) for digest in ("a", "b") for repeat in range(3)]
    for grader_id in ("g1", "g2"):
        for key in keys:
            store.append(grader_id, key, completion(f"{grader_id} {key.item_digest} {key.repeat}"))
    texts = [found.text for grader_id in ("g1", "g2") for found in store.completions(grader_id).values()]
    assert len(set(texts)) == 2 * len(keys)


def test_a_failed_call_leaves_its_key_pending_and_is_kept_as_history(store: RunStore) -> None:
    store.append("g", KEY, CallFailure("rate_limited", "429"))
    store.append("g", KEY, CallFailure("timeout", "60 s"))
    assert store.stored_keys("g") == set()
    assert store.call_failures("g") == {KEY: CallFailure("timeout", "60 s")}
    store.append("g", KEY, completion())
    assert store.stored_keys("g") == {KEY}


def test_a_failure_message_with_a_stray_surrogate_is_kept(store: RunStore) -> None:
    store.append("g", KEY, CallFailure("api_error", "bad \ud800 bytes"))
    assert store.call_failures("g")[KEY].message == "bad ? bytes"


def test_append_many_is_one_transaction(store: RunStore) -> None:
    def answers():  # type: ignore[no-untyped-def]
        yield KEY, completion()
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError, match="broke"):
        store.append_many("g", answers())
    assert store.stored_keys("g") == set()


def _write(path: Path, writer: int, n: int) -> None:
    with RunStore(path) as store:
        for repeat in range(n):
            store.append(f"g{writer}", CompletionKey("item", repeat), completion(f"{writer}-{repeat}"))


def test_eight_processes_write_at_once_and_no_row_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    context = ready_processes()
    writers = [context.Process(target=_write, args=(path, writer, 40)) for writer in range(8)]
    for process in writers:
        process.start()
    for process in writers:
        process.join(timeout=120)
    assert [process.exitcode for process in writers] == [0] * 8
    with RunStore(path) as store:
        assert store.count_completions() == 8 * 40


def test_a_run_is_found_by_the_beginning_of_its_id(store: RunStore) -> None:
    for run_id in ("quick-1a", "quick-2b", "slow-3c"):
        store.create_run(RunRecord(run_id, {"name": run_id}), {"items": []})
    assert store.find_run("slow").run_id == "slow-3c"
    assert store.find_run("quick-1a").payload == {"name": "quick-1a"}
    with pytest.raises(RunNotFoundError, match="2 runs"):
        store.find_run("quick")
    with pytest.raises(RunNotFoundError, match=r"no such run; expected one of \['quick-1a'"):
        store.find_run("absent")


def test_recording_a_run_again_changes_nothing(store: RunStore) -> None:
    store.create_run(RunRecord("r", {"name": "first"}), {"items": [1]})
    store.create_run(RunRecord("r", {"name": "second"}), {"items": [2]})
    assert store.find_run("r").payload == {"name": "first"}
    assert store.load_set_snapshot("r") == {"items": [1]}


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"this is no database, it is prose that is long enough to be read as a header page" * 9, "not a database")],
)
def test_a_file_that_is_no_store_is_an_error_that_names_it(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "s.sqlite"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=rf"s\.sqlite: .*{message}.*; expected"):
        RunStore(path)


def test_a_store_of_another_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    RunStore(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("update about set value = 'autorater.store/9'")
    connection.close()
    with pytest.raises(StoreError, match=r"schema 'autorater.store/9'; expected 'autorater.store/1'"):
        RunStore(path)


def test_a_missing_store_is_not_created_by_a_reader(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such store"):
        RunStore(tmp_path / "none.sqlite", must_exist=True)
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="folder does not exist"):
        RunStore(tmp_path / "no" / "s.sqlite")


def test_the_store_uses_a_write_ahead_log_and_full_synchronisation(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with RunStore(path) as store, store.reading() as connection:
        assert connection.exec_driver_sql("pragma journal_mode").scalar_one() == "wal"
        assert connection.exec_driver_sql("pragma synchronous").scalar_one() == 2


def test_an_experiments_whole_name_is_its_run_and_not_a_longer_ones(tmp_path: Path) -> None:
    with RunStore(tmp_path / "s.sqlite") as store:
        for run_id in ("fail-12345678", "fail2-12345678", "fail-more-12345678"):
            store.create_run(RunRecord(run_id, {"name": run_id}), {"items": []})
        assert store.find_run("fail").run_id == "fail-12345678"
        assert store.find_run("fail2").run_id == "fail2-12345678"
        with pytest.raises(RunNotFoundError, match="3 runs begin so"):
            store.find_run("fai")
