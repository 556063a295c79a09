"""Tables come by migrations: every old store goes on, several processes at once are safe, a newer one is refused."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from ready_processes import ready_processes
from sqlalchemy import Connection, inspect
from store_shapes import columns_of, make_old, tables_of

from experiments import store as store_room
from experiments.batch.records import BatchRecords, batch_keys, held_keys
from experiments.errors import StoreError
from experiments.store import schema
from experiments.store.run_store import CompletionKey, RunRecord, RunStore
from experiments.store.sessions import SessionTotals, add_session, sum_sessions
from experiments.store.tables import metadata
from graders.verdict import CallFailure, Completion, Usage

KEY = CompletionKey("d", 0)
SHAPES = [
    (),
    ("sessions",),
    ("batch_jobs", "batch_calls", "batch_completions"),
    ("call_failures.usage",),
    ("call_failures.usage", "sessions", "batch_jobs", "batch_calls", "batch_completions"),
]
MIGRATIONS = str(Path(str(store_room.__file__)).parent / "migrations")


def fill(store: RunStore) -> None:
    store.create_run(RunRecord("r-1", {"name": "r"}), {"items": []})
    store.append("g", KEY, Completion("A", "m"))
    for _ in range(3):
        store.append("g", CompletionKey("d", 1), CallFailure("timeout", "60 s"))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.sqlite"
    with RunStore(path) as store:
        fill(store)
    return path


@pytest.fixture
def empty(postgres: Any) -> str:
    return str(postgres.new_database())


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("without", SHAPES)
def test_every_earlier_shape_is_read_without_being_changed_and_goes_on(old: Path, without: tuple[str, ...]) -> None:
    make_old(old, without=without)
    before = digest(old)
    with RunStore(old, must_exist=True) as store:
        assert store.call_failure_counts("g") == Counter(timeout=3)
        assert list(store.failed_usage("g")) == [None, None, None]
        assert store.find_run("r").run_id == "r-1"
        assert (sum_sessions(store, "g"), batch_keys(store, "g"), held_keys(store, "g")) == (None, set(), set())
        assert BatchRecords(store).jobs("g") == []
    assert digest(old) == before
    for _ in range(2):
        with RunStore(old) as store:
            assert store.completions("g") == {KEY: Completion("A", "m")}
            store.append("g", CompletionKey("d", 1), CallFailure("timeout", "", Usage(1, 2)))
            add_session(store, "g", seconds=1.0, n_completions=1)
    with RunStore(old) as store:
        assert list(store.failed_usage("g")) == [None, None, None, Usage(1, 2), Usage(1, 2)]
        assert sum_sessions(store, "g") == SessionTotals(2, 2.0, 2)
    assert tables_of(old) == set(metadata.tables)


def test_a_store_that_is_opened_to_be_read_is_brought_up_to_date_by_the_first_row(old: Path) -> None:
    make_old(old)
    with RunStore(old, must_exist=True) as store:
        assert "alembic_version" not in tables_of(old)
        add_session(store, "g", seconds=1.0, n_completions=1)
        assert "alembic_version" in tables_of(old)
        assert store.has_row_keys


def test_rows_of_an_old_store_get_keys_that_differ(old: Path) -> None:
    make_old(old)
    RunStore(old).close()
    with closing(sqlite3.connect(old)) as connection:
        keys = connection.execute("SELECT failure_key FROM call_failures").fetchall()
    assert len(set(keys)) == 3
    assert (None,) not in keys


def test_an_upgrade_that_breaks_off_leaves_the_store_as_it_was(old: Path) -> None:
    make_old(old)
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("CREATE INDEX ix_sessions_session_key ON sessions (seconds)")
        connection.commit()
    before = tables_of(old), columns_of(old, "call_failures")
    with pytest.raises(StoreError, match=r"old\.sqlite: .*already exists"):
        RunStore(old)
    assert (tables_of(old), columns_of(old, "call_failures")) == before


def test_the_revisions_that_are_listed_are_those_that_there_are() -> None:
    config = Config()
    config.set_main_option("script_location", MIGRATIONS)
    script = ScriptDirectory.from_config(config)
    assert tuple(found.revision for found in script.walk_revisions())[::-1] == schema.REVISIONS


@pytest.mark.parametrize("kind", ["file", "server"])
def test_migrations_from_nothing_make_the_tables_that_a_new_store_has(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    places = [tmp_path / "a.sqlite", tmp_path / "b.sqlite"]
    if kind == "server":
        server = request.getfixturevalue("postgres")
        places = [server.new_database(), server.new_database()]

    def rebuild(connection: Connection) -> None:
        """All tables anew, by the migrations alone."""
        from alembic import command

        metadata.drop_all(connection)
        config = Config()
        config.set_main_option("script_location", MIGRATIONS)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")

    def differences(connection: Connection) -> list[Any]:
        return compare_metadata(MigrationContext.configure(connection), metadata)

    def looks(connection: Connection) -> Any:
        found = inspect(connection)
        return {
            name: (
                sorted((column["name"], str(column["type"]), column["nullable"]) for column in found.get_columns(name)),
                sorted(
                    (str(index["name"]), index["column_names"], index["unique"]) for index in found.get_indexes(name)
                ),
                found.get_pk_constraint(name)["constrained_columns"],
            )
            for name in found.get_table_names()
        }

    with RunStore(places[0]) as new, RunStore(places[1]) as other:
        other.write(rebuild)
        assert other.read(looks) == new.read(looks)
        assert other.read(differences) == []


@pytest.mark.parametrize("must_exist", [True, False])
def test_a_store_of_a_newer_version_is_refused(old: Path, must_exist: bool) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9000'")
        connection.commit()
    with pytest.raises(StoreError, match=r"revision '9000', of a newer version of autorater; expected at most"):
        RunStore(old, must_exist=must_exist)


def test_a_store_of_a_newer_version_on_a_server_is_refused(postgres: Any, empty: str) -> None:
    RunStore(empty).close()
    postgres.psql(empty.rpartition("/")[2], "UPDATE alembic_version SET version_num = '9000'")
    with pytest.raises(StoreError, match=r"revision '9000', of a newer version of autorater"):
        RunStore(empty, must_exist=True)


def open_store(place: str, go: Any) -> None:
    go.wait()
    with RunStore(place) as store:
        fill(store)


@pytest.mark.parametrize("kind", ["new file", "old file", "new database", "old database"])
def test_processes_that_open_a_store_at_once_make_or_upgrade_it_once(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = str(tmp_path / "old.sqlite")
    if kind.endswith("database"):
        place = request.getfixturevalue("postgres").new_database()
    if kind == "old file":
        RunStore(place).close()
        make_old(Path(place), without=("call_failures.usage",))
    if kind == "old database":
        make_old_database(place)
    context = ready_processes()
    go = context.Event()
    openers = [context.Process(target=open_store, args=(place, go)) for _ in range(3)]
    for opener in openers:
        opener.start()
    go.set()
    for opener in openers:
        opener.join(60)
    assert [opener.exitcode for opener in openers] == [0, 0, 0]
    with RunStore(place, must_exist=True) as store:
        assert store.has_row_keys
        assert store.call_failure_counts("g") == Counter(timeout=9)
        assert store.count_completions() == 1


def make_old_database(place: str) -> None:
    def work(connection: Connection) -> None:
        connection.exec_driver_sql("ALTER TABLE call_failures DROP COLUMN failure_key")
        connection.exec_driver_sql("ALTER TABLE sessions DROP COLUMN session_key")
        for name in ("alembic_version", "work_sessions", "workers", "worker_shares", "claims"):
            connection.exec_driver_sql(f"DROP TABLE {name}")

    with RunStore(place) as store:
        store.write(work)


def test_a_store_that_is_up_to_date_opens_without_the_machinery_of_migrations(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom experiments.store.run_store import RunStore\n"
        "for must_exist in (False, False, True):\n    RunStore(Path(sys.argv[1]), must_exist=must_exist).close()\n"
        "slow = {'alembic', 'psycopg', 'mako', 'sqlalchemy.dialects.postgresql'}\n"
        "assert not slow & set(sys.modules), slow & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "s.sqlite")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
