"""Records of the store: any completion comes back as it was, older stores go on, failed calls keep their cost."""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from experiments.store.completion_records import dump_completion, dump_usage, load_completion, load_usage
from experiments.store.database_file import network_file_system
from experiments.store.run_store import CompletionKey, RunRecord, RunStore
from graders.verdict import CallFailure, CallTime, Completion, Usage

KEY = CompletionKey("d" * 64, 0)

texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
counts = st.one_of(st.none(), st.integers(0, 2**60))
usages = st.builds(Usage, counts, counts, counts, counts, counts)
floats = st.floats(allow_nan=True, allow_infinity=True)
plain = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), texts)
completions = st.builds(
    Completion,
    text=st.one_of(st.none(), texts),
    served_model=texts,
    stop_reason=st.sampled_from(["stop", "length", "refusal", None, "other"]),
    label_logprobs=st.one_of(st.none(), st.dictionaries(texts, floats, max_size=3)),
    usage=usages,
    effective_sampling=st.dictionaries(texts, plain, max_size=3),
    stated_label=st.one_of(st.none(), texts),
    stated_failure=st.sampled_from([None, "refused"]),
    other_logprobs=st.lists(floats, max_size=4).map(tuple),
    fingerprint=st.one_of(st.none(), texts),
    turns=st.lists(st.dictionaries(texts, plain, max_size=3), max_size=3).map(tuple),
    call_time=st.one_of(st.none(), st.builds(CallTime, st.floats(0, 1e6), st.integers(1, 1000))),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore(tmp_path / "s.sqlite") as opened:
        yield opened


@given(completions)
def test_any_completion_comes_back_as_it_was(original: Completion) -> None:
    dumped = dump_completion(original)
    assert dumped.isascii()
    assert "\x00" not in dumped
    loaded = load_completion(dumped)
    # By their spelling: a NaN is unlike itself.
    assert repr(loaded) == repr(original)
    assert loaded.call_time == original.call_time
    assert isinstance(loaded.other_logprobs, tuple)
    assert isinstance(loaded.turns, tuple)


@given(completions)
def test_a_completion_that_is_timed_is_the_same_in_all_else(original: Completion) -> None:
    timed = original.timed(CallTime(1.5, 3))
    assert timed.call_time == CallTime(1.5, 3)
    assert repr(timed) == repr(original)


@given(usages)
def test_any_usage_comes_back(usage: Usage) -> None:
    assert load_usage(dump_usage(usage)) == usage


@given(completions)
def test_records_of_the_first_version_are_read(original: Completion) -> None:
    fields = asdict(original)
    for name in ("other_logprobs", "fingerprint", "turns", "call_time"):
        del fields[name]
    for name in ("cache_write_tokens", "reasoning_tokens"):
        del fields["usage"][name]
    loaded = load_completion(json.dumps(fields, sort_keys=True))
    assert repr(loaded.effective_sampling) == repr(dict(sorted(original.effective_sampling.items())))
    assert (loaded.text, loaded.stop_reason, loaded.stated_label) == (
        original.text,
        original.stop_reason,
        original.stated_label,
    )
    assert loaded.usage.cached_tokens == original.usage.cached_tokens


def test_what_is_as_usual_takes_no_room_and_what_is_no_json_is_not_refused() -> None:
    assert json.loads(dump_completion(Completion("A", "m"))) == {"text": "A", "served_model": "m"}
    odd = load_completion(dump_completion(Completion("A", "m", effective_sampling={"path": Path("x"), "n": math.inf})))
    assert odd.effective_sampling == {"path": repr(Path("x")), "n": math.inf}


def test_turns_that_were_kept_among_the_settings_are_none_of_them() -> None:
    turns = [{"said": "I look.", "asked": ['{"number": 2}'], "opened": [2]}, {"said": None, "asked": [9], "opened": []}]
    settings = {"temperature": 1.0, "turns": turns, "opened": [2]}
    old = load_completion(json.dumps({"text": "A", "served_model": "m", "effective_sampling": settings}))
    assert old == Completion("A", "m", effective_sampling={"temperature": 1.0}, turns=tuple(turns))
    assert load_completion(dump_completion(old)) == old
    own = load_completion('{"text": "A", "served_model": "m", "effective_sampling": {"turns": 3}}')
    assert own.effective_sampling == {"turns": 3}, "a setting of that name alone is a setting"


# --- failed calls ---------------------------------------------------------------------------------------------


def test_failed_calls_are_history_with_what_they_cost(store: RunStore) -> None:
    other = CompletionKey("e", 3)
    store.append_many(
        "g",
        [
            (KEY, CallFailure("rate_limited", "429")),
            (KEY, CallFailure("unreadable_reply", "half", Usage(900, 5, 800))),
            (KEY, Completion("A", "m")),
            (other, CallFailure("timeout", "60 s", Usage(900, None))),
        ],
    )
    store.append("h", KEY, CallFailure("timeout", ""))
    assert store.call_failure_counts("g") == Counter(rate_limited=1, unreadable_reply=1, timeout=1)
    assert list(store.failed_usage("g")) == [None, Usage(900, 5, 800), Usage(900, None)]
    assert store.call_failures("g") == {
        KEY: CallFailure("unreadable_reply", "half", Usage(900, 5, 800)),
        other: CallFailure("timeout", "60 s", Usage(900, None)),
    }
    assert store.call_failure_counts("nobody") == Counter()


# --- older stores -----------------------------------------------------------------------------------------------

FIRST_VERSION = """
CREATE TABLE about ("key" VARCHAR NOT NULL, value VARCHAR NOT NULL, PRIMARY KEY ("key"));
CREATE TABLE set_snapshots (digest VARCHAR NOT NULL, payload VARCHAR NOT NULL, PRIMARY KEY (digest));
CREATE TABLE runs (run_id VARCHAR NOT NULL, snapshot VARCHAR NOT NULL, payload VARCHAR NOT NULL,
    created_at VARCHAR NOT NULL, PRIMARY KEY (run_id));
CREATE TABLE completions (grader_id VARCHAR NOT NULL, item_digest VARCHAR NOT NULL, repeat INTEGER NOT NULL,
    payload VARCHAR NOT NULL, created_at VARCHAR NOT NULL, PRIMARY KEY (grader_id, item_digest, repeat)) WITHOUT ROWID;
CREATE TABLE call_failures (failure_id INTEGER NOT NULL, grader_id VARCHAR NOT NULL, item_digest VARCHAR NOT NULL,
    repeat INTEGER NOT NULL, reason VARCHAR NOT NULL, message VARCHAR NOT NULL, created_at VARCHAR NOT NULL,
    PRIMARY KEY (failure_id));
CREATE INDEX ix_call_failures_grader_id ON call_failures (grader_id);
INSERT INTO about VALUES ('schema', 'autorater.store/1');
INSERT INTO runs VALUES ('r-1', 's', '{"name": "r"}', '2026-01-01');
INSERT INTO set_snapshots VALUES ('s', '{"items": []}');
INSERT INTO call_failures VALUES (1, 'g', 'd', 1, 'timeout', '60 s', '2026-01-01');
INSERT INTO completions VALUES ('g', 'd', 0, '{"effective_sampling": {}, "label_logprobs": null, "served_model": "m",
    "stated_failure": null, "stated_label": null, "stop_reason": "stop", "text": "A",
    "usage": {"cached_tokens": null, "input_tokens": 9, "output_tokens": 1}}', '2026-01-01');
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(FIRST_VERSION)
    return path


def columns(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[1] for row in connection.execute("pragma table_info(call_failures)")]


def test_an_older_store_is_read_and_not_changed_by_reading(old: Path) -> None:
    with RunStore(old, must_exist=True) as store:
        assert store.find_run("r").run_id == "r-1"
        assert store.completions("g") == {CompletionKey("d", 0): Completion("A", "m", usage=Usage(9, 1))}
        assert store.call_failures("g") == {CompletionKey("d", 1): CallFailure("timeout", "60 s")}
        assert list(store.failed_usage("g")) == [None]
        assert store.call_failure_counts("g") == Counter(timeout=1)
    assert "usage" not in columns(old)


@pytest.mark.parametrize("must_exist", [True, False])
def test_an_older_store_goes_on(old: Path, must_exist: bool) -> None:
    for _ in range(2):
        with RunStore(old, must_exist=must_exist) as store:
            store.append("g", CompletionKey("d", 1), CallFailure("timeout", "", Usage(5, 0)))
            store.append("g", CompletionKey("d", 2), Completion("B", "m"))
            store.create_run(RunRecord("r-2", {}), {})
    with RunStore(old) as store:
        assert store.call_failure_counts("g") == Counter(timeout=3)
        assert list(store.failed_usage("g")) == [None, Usage(5, 0), Usage(5, 0)]
        assert store.count_completions() == 2


# --- reading ---------------------------------------------------------------------------------------------------------


def test_completions_are_read_as_they_are_asked_for(store: RunStore) -> None:
    keys = [CompletionKey(f"{item:03}", repeat) for item in range(300) for repeat in range(10)]
    store.append_many("g", [(key, Completion("A", "m")) for key in reversed(keys)])
    store.append("h", KEY, Completion("B", "m"))
    found = store.iter_completions("g")
    assert next(found)[0] == keys[0]
    store.append("g", CompletionKey("zzz", 0), Completion("A", "m"))  # a reader under way holds up no writer
    assert [key for key, _ in found] == keys[1:]
    assert store.stored_repeats("g", ["000", "299", "none"]) == {"000": set(range(10)), "299": set(range(10))}


def test_own_tables_are_kept_in_the_same_file(store: RunStore) -> None:
    def make(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE jobs (name VARCHAR)")
        connection.exec_driver_sql("INSERT INTO jobs VALUES ('one')")

    def break_off(connection: Connection) -> None:
        connection.exec_driver_sql("INSERT INTO jobs VALUES ('two')")
        raise RuntimeError

    store.write(make)
    with pytest.raises(RuntimeError):
        store.write(break_off)
    with store.reading() as connection:
        assert connection.exec_driver_sql("SELECT name FROM jobs").scalars().all() == ["one"]


# --- where it lies ---------------------------------------------------------------------------------------------------

MOUNTS = r"""/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw,vers=4.2 0 0
/dev/sdb1 /home/local xfs rw 0 0
//server/share /media/my\040share cifs rw 0 0
user@host: /media/ssh fuse.sshfs rw 0 0
tmpfs /over tmpfs rw 0 0
server:/over /over nfs rw 0 0
"""


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("/data/s.sqlite", None),
        ("/home/anna/s.sqlite", "nfs4"),
        ("/homes/s.sqlite", None),
        ("/home/local/s.sqlite", None),
        ("/media/my share/s.sqlite", "cifs"),
        ("/media/ssh/deep/er/s.sqlite", "fuse.sshfs"),
        ("/over/s.sqlite", "nfs"),
    ],
)
def test_a_store_on_a_network_file_system_is_known(tmp_path: Path, place: str, kind: str | None) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    assert network_file_system(Path(place), mounts) == kind


def test_without_a_list_of_mounts_nothing_is_known(tmp_path: Path) -> None:
    assert network_file_system(tmp_path / "s.sqlite", tmp_path / "none") is None
    (tmp_path / "mounts").write_text("half\n\n")
    assert network_file_system(tmp_path / "s.sqlite", tmp_path / "mounts") is None
