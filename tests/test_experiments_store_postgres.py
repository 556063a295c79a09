"""A store in a PostgreSQL database does what one in a file does, and says what is wrong with a server."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from command_line import autorater
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import make_url

from experiments.errors import StoreError
from experiments.store.planned_store import open_planned
from experiments.store.run_store import CompletionKey, RunRecord, RunStore
from experiments.store.store_place import parse_place
from graders.verdict import CallFailure, Completion, Usage

KEY = CompletionKey("d" * 64, 0)
SECRET = "pa55word"


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new store of either kind goes."""
    return str(
        request.getfixturevalue("postgres").new_database() if request.param == "server" else tmp_path / "s.sqlite"
    )


@pytest.fixture
def address(postgres: Any) -> str:
    return str(postgres.new_database())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(text=st.text(st.characters(codec=None, exclude_categories=())), message=st.text(st.characters(codec=None)))
def test_any_reply_is_kept_to_the_letter_and_any_message_can_be_read(place: str, text: str, message: str) -> None:
    with RunStore(place) as store:
        store.append_many("g", [(CompletionKey(ascii(text), 0), Completion(text, "m"))])
        assert store.completions("g")[CompletionKey(ascii(text), 0)].text == text
        store.append(ascii(message), KEY, CallFailure("api_error", message))
        (found,) = store.call_failures(ascii(message)).values()
        assert "\0" not in found.message
        assert found.message.replace("\N{SYMBOL FOR NULL}", "\0") == message.encode(
            "utf-8", "replace"
        ).decode().replace("\N{SYMBOL FOR NULL}", "\0")


def test_the_first_completion_stands_and_failures_are_history(place: str) -> None:
    with RunStore(place) as store, RunStore(place) as other:
        store.append("g", KEY, CallFailure("timeout", "1"))
        other.append("g", KEY, CallFailure("rate_limited", "2", Usage(3, 4)))
        store.append_many("g", [(KEY, Completion("first", "m")), (KEY, Completion("second", "m"))])
        other.append("g", KEY, Completion("third", "m"))
        assert {key: found.text for key, found in store.completions("g").items()} == {KEY: "first"}
        assert [failure.message for _, failure in other.iter_call_failures("g")] == ["1", "2"]
        assert store.call_failure_counts("g") == Counter(timeout=1, rate_limited=1)
        assert list(store.failed_usage("g")) == [None, Usage(3, 4)]


def test_rows_come_in_the_order_of_their_bytes(place: str) -> None:
    digests = ["b", "B", "a-b", "ab", "a b", "Ä", "z", "_", "\N{GRINNING FACE}", "\N{FULLWIDTH LATIN SMALL LETTER A}"]
    with RunStore(place) as store:
        store.append_many("g", [(CompletionKey(digest, 0), Completion("A", "m")) for digest in digests])
        assert [key.item_digest for key, _ in store.iter_completions("g")] == sorted(digests)
        assert store.stored_repeats("g", ["ab", "Ä", "none"]) == {"ab": {0}, "Ä": {0}}


def test_a_reader_under_way_sees_one_state_and_holds_up_no_writer(place: str) -> None:
    keys = [CompletionKey(f"{item:04}", 0) for item in range(1500)]
    with RunStore(place) as store:
        store.append_many("g", [(key, Completion("A", "m")) for key in keys])
        found = store.iter_completions("g")
        assert next(found)[0] == keys[0]
        store.append("g", CompletionKey("9999", 0), Completion("A", "m"))
        assert [key for key, _ in found] == keys[1:]
        assert store.count_completions() == 1501


def test_runs_are_found_and_recorded_once(place: str) -> None:
    with RunStore(place) as store:
        for name in ("first", "second"):
            store.create_run(RunRecord("r-1", {"name": name}), {"items": [name]})
        assert store.find_run("r").payload == {"name": "first"}
        assert store.load_set_snapshot("r-1") == {"items": ["first"]}
        assert list(store.run_times()) == ["r-1"]


# --- what can be wrong with a server ---------------------------------------------------------------------------------


def test_a_database_of_something_else_is_refused_and_not_touched(postgres: Any, address: str) -> None:
    database = address.rpartition("/")[2]
    postgres.psql(database, "CREATE TABLE about (key text, value text)")
    for must_exist in (True, False):
        with pytest.raises(
            StoreError, match="a database of something else; expected an autorater store, or a new data"
        ):
            RunStore(address, must_exist=must_exist)
    assert postgres.psql(database, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == "1\n"


def test_an_empty_database_becomes_a_store_but_is_none_to_a_reader(address: str) -> None:
    with pytest.raises(StoreError, match="an empty database; expected the store of an earlier run"):
        RunStore(address, must_exist=True)
    with open_planned(parse_place(address)) as none:
        assert none is None
    RunStore(address).close()
    RunStore(address, must_exist=True).close()
    with open_planned(parse_place(address)) as opened:
        assert opened is not None


def test_what_is_wrong_with_a_server_is_told_in_one_line_without_a_password(
    postgres: Any, address: str, tmp_path: Path
) -> None:
    postgres.psql("postgres", f"DROP ROLE IF EXISTS secretive; CREATE ROLE secretive LOGIN PASSWORD '{SECRET}'")
    hba = postgres._data / "pg_hba.conf"
    before = hba.read_text()
    url = make_url(address).set(password=SECRET)
    try:
        hba.write_text(f"host all secretive 127.0.0.1/32 scram-sha-256\n{before}")
        postgres.psql("postgres", "SELECT pg_reload_conf()")
        for wrong, message in (
            (url.set(username="secretive", password="wrong"), "the user's password: in the address, in PGPASSWORD or"),
            (url.set(database="nothing"), "a database that exists, such as one that createdb nothing makes"),
            (url.set(port=1), "a PostgreSQL server that can be reached there"),
            (url.set(host="no.such.host.invalid"), "a PostgreSQL server that can be reached there"),
        ):
            text = wrong.render_as_string(hide_password=False)
            ran = autorater(tmp_path, "runs", "list", "--store", text)
            assert ran.code == 2
            assert ran.err.startswith(f"error: {parse_place(text).title}: ")
            assert message in ran.err
            assert len(ran.err.splitlines()) == 1
            assert SECRET not in ran.err
        # And with the right one all is well.
        with RunStore(url.set(username="autorater").render_as_string(hide_password=False)) as store:
            assert SECRET not in repr(store.place)
    finally:
        hba.write_text(before)
        postgres.psql("postgres", "SELECT pg_reload_conf()")


def test_without_the_driver_the_command_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        StoreError, match=r"psycopg is not installed; expected pip install 'autorater-calib.*\[postgres"
    ):
        RunStore("postgresql://anna@host/db")


def test_a_user_who_may_only_read_can_read(postgres: Any, address: str) -> None:
    database = address.rpartition("/")[2]
    with RunStore(address) as store:
        store.append("g", KEY, Completion("A", "m"))
    postgres.psql(
        database,
        "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
    )
    reader = make_url(address).set(username="reader").render_as_string(hide_password=False)
    with RunStore(reader, must_exist=True) as store:
        assert store.stored_keys("g") == {KEY}
        with pytest.raises(StoreError, match=r"permission denied .*; expected a user that may do this there"):
            store.write(lambda connection: connection.exec_driver_sql("DELETE FROM completions"))
    postgres.psql(database, "DROP OWNED BY reader")


def test_a_user_who_may_make_no_tables_or_no_more_connections_is_told_so(postgres: Any, address: str) -> None:
    database = address.rpartition("/")[2]
    postgres.psql(database, "DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN")
    guest = make_url(address).set(username="guest").render_as_string(hide_password=False)
    with pytest.raises(StoreError, match=r"permission denied for schema .*; expected a user that may do this there"):
        RunStore(guest)
    postgres.psql("postgres", f"ALTER DATABASE {database} CONNECTION LIMIT 0")
    with pytest.raises(StoreError, match=r"too many connections .*; expected a free connection: a process takes up to"):
        RunStore(guest)


# --- commands --------------------------------------------------------------------------------------------------------


def test_commands_work_on_a_server_as_on_a_file(study: Any, address: str) -> None:
    folder = study.folder
    ran = autorater(folder, "run", "study.toml", "--dry-run", "--store", address)
    assert ran.code == 0, ran.err
    ran = autorater(folder, "run", "study.toml", "--store", address)
    assert ran.code == 0, ran.err
    assert autorater(folder, "run", "study.toml").out == ran.out
    for words in (["runs", "show", "study"], ["choose", "study"], ["runs", "list"], ["probe", "--run", "study"]):
        there, here = autorater(folder, *words, "--store", address), autorater(folder, *words)
        assert (there.code, there.err.partition(":")[0]) == (here.code, here.err.partition(":")[0])
        assert there.out.partition(" ")[0] == here.out.partition(" ")[0]
    compared = autorater(folder, "runs", "compare", "study", "study", "--other-store", address)
    assert compared.code == 0, compared.err
    again = autorater(folder, "runs", "compare", "study", "study", "--store", address, "--other-store", address)
    assert again.code == 2
    assert "both runs are one" in again.err
    assert [path.name for path in folder.iterdir() if "postgres" in path.name] == []


def test_the_pytest_plugin_takes_an_address(study: Any, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    from experiments import pytest_plugin

    assert autorater(study.folder, "run", "study.toml", "--store", address).code == 0
    monkeypatch.setenv("AUTORATER_STORE", address)
    config: Any = SimpleNamespace(rootpath=study.folder, getoption=lambda _: None)
    run = pytest_plugin._open(config, "study", None, "baseline/lexical", None)
    assert run.grader == "baseline/lexical"
