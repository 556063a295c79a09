"""A store on a server whose connections break, and which goes away: what was paid for is stored once, or kept."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import autorater
from cutting_proxy import CuttingProxy
from fault_server import FaultServer
from service_runs import asked_of
from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url

from experiments.errors import StoreError, UnsavedError
from experiments.running import sharing
from experiments.running.runner import run_experiment
from experiments.running.sharing import WorkerTerms
from experiments.store import postgres_database, postgres_locks
from experiments.store.run_store import CompletionKey, RunStore
from experiments.store.sessions import add_session, sum_sessions
from graders.providers import open_client
from graders.verdict import CallFailure, Completion, Usage

KEY, OTHER = CompletionKey("d", 0), CompletionKey("d", 1)
ANSWERS = [(KEY, Completion("A", "m")), (OTHER, CallFailure("timeout", "60 s", Usage(5, 0)))]


@pytest.fixture
def address(postgres: Any) -> str:
    return str(postgres.new_database())


@pytest.fixture
def store(address: str) -> Iterator[RunStore]:
    with RunStore(address) as opened:
        yield opened


@pytest.fixture
def stopped(postgres: Any) -> Iterator[Any]:
    """The server, which a test may stop."""
    yield postgres
    if not postgres_runs(postgres):
        postgres.start()


def postgres_runs(postgres: Any) -> bool:
    try:
        postgres.psql("postgres", "SELECT 1")
    except RuntimeError:
        return False
    return True


def cut_all(postgres: Any) -> None:
    """End all connections, as an administrator can."""
    postgres.psql(
        "postgres",
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    )


def holds_once(store: RunStore) -> bool:
    return (
        store.completions("g") == {KEY: Completion("A", "m")}
        and list(store.iter_call_failures("g")) == [ANSWERS[1]]
        and store.call_failure_counts("g") == Counter(timeout=1)
    )


@pytest.mark.parametrize("lets_through", [True, False])
@pytest.mark.parametrize("n_cuts", [1, 3])
def test_a_connection_that_is_cut_in_a_commit_doubles_nothing_and_loses_nothing(
    postgres: Any, address: str, lets_through: bool, n_cuts: int
) -> None:
    with CuttingProxy(postgres.port, lets_through=lets_through) as proxy:
        far = make_url(address).set(port=proxy.port).render_as_string(hide_password=False)
        with RunStore(far) as store:
            proxy.n_cuts = n_cuts
            store.append_many("g", ANSWERS)
            assert proxy.n_cuts == 0
            proxy.n_cuts = n_cuts
            add_session(store, "g", seconds=1.0, n_completions=1)
            assert proxy.n_cuts == 0
    with RunStore(address) as store:
        assert holds_once(store)
        totals = sum_sessions(store, "g")
        assert totals is not None
        assert totals.n_sessions == 1


def test_the_same_without_a_key_of_its_own_would_be_doubled(postgres: Any, address: str) -> None:
    """The proxy does what it is for: what it cuts is stored, and the writer is not told."""
    RunStore(address).close()
    with CuttingProxy(postgres.port) as proxy:
        far = make_url(address).set(port=proxy.port).render_as_string(hide_password=False)
        with RunStore(far) as store:
            proxy.n_cuts = 1

            def work(connection: Connection) -> None:
                connection.execute(
                    text("INSERT INTO call_failures (grader_id, item_digest, repeat, reason, message, created_at) "
                         "VALUES ('g', 'd', 0, 'timeout', '', '')")
                )  # fmt: skip

            store.write(work)
    with RunStore(address) as store:
        assert store.call_failure_counts("g") == Counter(timeout=2)


def test_connections_that_were_ended_are_made_anew(postgres: Any, store: RunStore) -> None:
    for _ in range(3):
        cut_all(postgres)
        store.append_many("g", ANSWERS[:1])
        cut_all(postgres)
        assert store.stored_keys("g") == {KEY}


def test_a_transaction_that_is_ended_from_outside_is_done_again(store: RunStore) -> None:
    n_called = 0

    def work(connection: Connection) -> int:
        nonlocal n_called
        n_called += 1
        if n_called == 1:
            connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return n_called

    assert store.write(work) == 2
    n_called = 0
    assert store.read(work) == 2


def test_a_mistake_is_not_repeated(store: RunStore) -> None:
    began = time.monotonic()
    with pytest.raises(StoreError, match=r'relation "nothing" does not exist .*; expected an autorater store'):
        store.write(lambda connection: connection.execute(text("SELECT * FROM nothing")))
    assert time.monotonic() - began < 5


def test_a_server_that_comes_back_is_waited_for(
    stopped: Any, store: RunStore, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_database, "_FIRST_WAIT", 0.5)  # told from the second time on
    stopped.stop()
    back = threading.Timer(0.8, stopped.start)
    back.start()
    with caplog.at_level(logging.WARNING, logger="autorater.store"):
        store.append_many("g", ANSWERS)
    back.join()
    assert holds_once(store)
    assert "trying again for" in caplog.text


def test_what_a_server_that_stays_away_does_not_take_is_kept_and_brought_in(
    stopped: Any, store: RunStore, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(postgres_database, "PATIENCE_SECONDS", 0.5)
    with RunStore(address) as writer:
        stopped.stop()
        with pytest.raises(StoreError) as told:
            writer.append_many("g", ANSWERS[:1])
        began = time.monotonic()
        with pytest.raises(StoreError):
            writer.append_many("g", ANSWERS[1:])
        assert time.monotonic() - began < 0.5  # who has waited once does not wait again
    (kept,) = tmp_path.glob("autorater-unsaved-*.sqlite")
    command = f"autorater store copy {kept} {store.place}"
    assert f"{kept}: {command} brings it in" in str(told.value)
    stopped.start()
    ran = autorater(tmp_path, *command.split()[1:])
    assert ran.code == 0, ran.err
    assert holds_once(store)
    assert autorater(tmp_path, *command.split()[1:]).code == 0
    assert holds_once(store)


def test_stopping_while_a_server_is_waited_for_keeps_what_was_paid(
    stopped: Any, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with RunStore(address) as writer:
        stopped.stop()
        monkeypatch.setattr(postgres_database.time, "sleep", interrupt)
        with pytest.raises(StoreError, match="stopped while the server was away; what was paid for"):
            writer.append_many("g", ANSWERS)
        monkeypatch.undo()
    (kept,) = tmp_path.glob("autorater-unsaved-*.sqlite")
    with RunStore(kept, must_exist=True) as local:
        assert holds_once(local)


def test_a_folder_that_cannot_be_written_has_a_substitute(
    stopped: Any, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.setattr(postgres_database, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with RunStore(address) as writer:
        gone.rmdir()
        stopped.stop()
        with pytest.raises(StoreError, match="what was paid for"):
            writer.append_many("g", ANSWERS)
    assert len(list(tmp_path.glob("autorater-unsaved-*.sqlite"))) == 1


# --- locks -----------------------------------------------------------------------------------------------------------


def test_a_lock_is_held_by_one_and_waited_for_by_others(address: str, store: RunStore) -> None:
    order: list[str] = []

    def second() -> None:
        with RunStore(address) as other, other.hold_lock("g", lambda: order.append("waits")):
            order.append("second")

    waiting = threading.Thread(target=second)
    with store.hold_lock("g", lambda: None), store.hold_lock("h", lambda: None):
        waiting.start()
        end = time.monotonic() + 10
        while not order and time.monotonic() < end:
            time.sleep(0.01)
        order.append("first")
    waiting.join(10)
    assert order == ["waits", "first", "second"]


def test_a_lock_goes_with_its_process(address: str, store: RunStore) -> None:
    lost = RunStore(address)
    lost.hold_lock("g", lambda: None).__enter__()
    lost.close()
    with store.hold_lock("g", lambda: pytest.fail("nobody holds it")):
        pass


def test_a_lock_that_is_lost_is_taken_again(postgres: Any, store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_locks, "_CHECK_SECONDS", 0.0)
    with store.hold_lock("g", lambda: None):
        cut_all(postgres)
        assert count_locks(postgres, store) == 0
        store.append("g", KEY, Completion("A", "m"))
        assert count_locks(postgres, store) == 1
    assert count_locks(postgres, store) == 0


def test_a_lock_that_another_took_meanwhile_stops_the_work_after_storing_it(
    postgres: Any, address: str, store: RunStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(postgres_locks, "_CHECK_SECONDS", 0.0)
    monkeypatch.chdir(tmp_path)
    with RunStore(address) as other:
        first = store.hold_lock("g", lambda: None)
        first.__enter__()
        cut_all(postgres)
        with other.hold_lock("g", lambda: pytest.fail("nobody holds it")):
            with pytest.raises(StoreError, match="held the lock g was cut, and another process took it; expected"):
                store.append("g", KEY, Completion("A", "m"))
            first.__exit__(None, None, None)
        assert other.stored_keys("g") == {KEY}
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - nothing was unsaved


def count_locks(postgres: Any, store: RunStore) -> int:
    assert store.place.address is not None
    query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
    return int(postgres.psql(str(store.place.address.database), query))


# --- a run -----------------------------------------------------------------------------------------------------------


def after_calls(service: FaultServer, act: Callable[[], None]) -> threading.Thread:
    """Does something once the service has had ten calls."""

    def watch() -> None:
        while len(service.requests) < 10:
            time.sleep(0.005)
        act()

    watching = threading.Thread(target=watch)
    watching.start()
    return watching


def test_a_run_whose_server_stays_away_keeps_all_that_was_under_way(
    stopped: Any, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUTS_KEY", "none")
    monkeypatch.setattr(postgres_database, "PATIENCE_SECONDS", 0.5)
    with FaultServer(latency=0.1) as service:
        asked = asked_of(str(service.openai_url))
        (grader,) = asked.graders
        with RunStore(address) as store:
            killer = after_calls(service, stopped.stop)
            with pytest.raises(UnsavedError, match="autorater store copy"):
                run_experiment(asked, store, open_client, terms=WorkerTerms(asked.run_id, lease_seconds=4.0))
            killer.join()
        n_paid = sum(service.paid.values())
        (kept,) = tmp_path.glob("autorater-unsaved-*.sqlite")
        stopped.start()
        assert autorater(tmp_path, "store", "copy", str(kept), address).code == 0
        with RunStore(address) as store:
            assert 10 <= len(store.stored_keys(grader.grader_id)) == n_paid < 60
            run_experiment(asked, store, open_client)
            assert len(store.stored_keys(grader.grader_id)) == sum(service.paid.values()) == 60


def test_what_is_under_way_is_stored_when_claims_cannot_be_ended_any_more(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the server goes away between the storing of some answers and the end of their claims."""
    monkeypatch.setenv("CUTS_KEY", "none")
    with FaultServer(latency=0.1) as service:

        def settle(*_: Any) -> None:
            if len(service.requests) >= 10:
                raise StoreError("the server is away")

        monkeypatch.setattr(sharing, "settle", settle)
        asked = asked_of(str(service.openai_url))
        with RunStore(address) as store:
            with pytest.raises(StoreError, match="the server is away"):
                run_experiment(asked, store, open_client)
            n_stored = len(store.stored_keys(asked.graders[0].grader_id))
        assert 10 <= n_stored == sum(service.paid.values()) == len(service.requests) < 60


def test_a_run_goes_on_over_a_restart_of_its_server(
    stopped: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUTS_KEY", "none")

    def restart() -> None:
        stopped.stop()
        stopped.start()

    with FaultServer(latency=0.1) as service:
        asked = asked_of(str(service.openai_url))
        with RunStore(address) as store:
            restarting = after_calls(service, restart)
            run_experiment(asked, store, open_client)
            restarting.join()
            assert len(store.stored_keys(asked.graders[0].grader_id)) == sum(service.paid.values()) == 60
