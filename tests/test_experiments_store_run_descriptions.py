"""Records of runs: those of earlier versions are read in full, and a damaged one is named and in nobody's way."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from experiments.errors import RunNotFoundError, StoreError
from experiments.running.runner import run_experiment
from experiments.specs.experiment import Analyses, load_experiment
from experiments.store.run_descriptions import describe_run, describe_runs
from experiments.store.run_names import match_run
from experiments.store.run_records import load_decisions, load_run_data
from experiments.store.run_store import RunRecord, RunStore
from graders.providers import open_client

LATER = ("set", "n_items", "analyses", "decisions")
"""What a record of the first version did not have."""

LATER_OF_GRADERS = ("price", "notes")


@pytest.fixture
def path(study: Any) -> Path:
    """The store of a small run."""
    made: Path = study.folder.parent / "s.sqlite"
    with RunStore(made) as opened:
        run_experiment(load_experiment(str(study.experiment)), opened, open_client)
    return made


def _rewrite(path: Path, payload: str, *, but: str = "") -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE runs SET payload = ? WHERE run_id != ?", (payload, but))
    connection.close()


def _payload(path: Path) -> dict[str, Any]:
    with RunStore(path, must_exist=True) as store:
        return dict(store.find_run("study").payload)


def test_a_description_says_what_was_recorded(path: Path) -> None:
    with RunStore(path, must_exist=True) as store:
        record = store.find_run("study")
        found = describe_run(store, record)
        assert found.recorded_at == store.run_times()[record.run_id]
    assert (found.run_id, found.name) == (record.run_id, "study")
    assert found.n_items == record.payload["n_items"] == 8
    assert found.set_title == record.payload["set"]
    assert [grader.model for grader in found.graders] == [fields["model"] for fields in record.payload["graders"]]


def test_a_record_of_an_earlier_version_is_filled_from_its_set(path: Path) -> None:
    now = _payload(path)
    with RunStore(path, must_exist=True) as store:
        before, data_before = describe_runs(store), load_run_data(store, "study")
    old = {key: value for key, value in now.items() if key not in LATER}
    old["graders"] = [
        {key: value for key, value in fields.items() if key not in LATER_OF_GRADERS} for fields in now["graders"]
    ]
    _rewrite(path, json.dumps(old))
    with RunStore(path, must_exist=True) as store:
        after, data_after = describe_runs(store), load_run_data(store, "study")
    assert after.damaged == ()
    (first,), (second,) = before.runs, after.runs
    assert (second.set_title, second.n_items, second.n_items_in_set) == (
        first.set_title,
        first.n_items,
        first.n_items_in_set,
    )
    assert second.analyses == Analyses()
    assert [grader.price for grader in second.graders] == [None] * len(first.graders)
    assert [one.verdicts for one in data_after[0].graders] == [one.verdicts for one in data_before[0].graders]


def test_what_a_later_version_adds_is_no_damage(path: Path) -> None:
    payload = _payload(path)
    payload["weather"] = "fair"
    payload["analyses"]["colour"] = "blue"
    payload["graders"][0]["mood"] = "good"
    _rewrite(path, json.dumps(payload))
    with RunStore(path, must_exist=True) as store:
        assert len(describe_runs(store).runs) == 1
        assert load_run_data(store, "study")[1] == Analyses()


@pytest.mark.parametrize(
    "payload",
    [
        "[]", "{}", "null", "3", '"text"', "{", "", '{"graders": 3, "set_digest": "d"}',
        '{"graders": [[]], "set_digest": "d"}', '{"graders": [{"scale": {}}], "set_digest": "d"}',
        '{"graders": [], "set_digest": "d", "n_items": "many"}', '{"graders": [], "set_digest": "d", "decisions": 7}',
        '{"graders": [], "set_digest": "d", "analyses": []}', '{"graders": [], "set_digest": "d", "answering": {}}',
    ],
)  # fmt: skip
def test_a_damaged_record_is_named_in_one_line(path: Path, payload: str) -> None:
    with RunStore(path) as store:
        run_id = store.find_run("study").run_id
        store.create_run(RunRecord("whole-1", {**store.find_run("study").payload, "name": "whole"}), {"items": []})
    _rewrite(path, payload, but="whole-1")
    with RunStore(path, must_exist=True) as store:
        for read in (load_run_data, load_decisions):
            with pytest.raises(StoreError, match=f"the record of run {run_id} is damaged") as caught:
                read(store, "study")
            assert "\n" not in str(caught.value)
            assert str(caught.value).startswith(str(path))
        found = describe_runs(store)
        assert [one.run_id for one in found.runs] == ["whole-1"]
        assert len(found.damaged) == 1
        assert run_id in found.damaged[0]
        assert load_decisions(store, "whole") is not None


def test_a_damaged_set_is_named(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE set_snapshots SET payload = '[]'")
    connection.close()
    with (
        RunStore(path, must_exist=True) as store,
        pytest.raises(StoreError, match=r"the set of run study-\w+ is damaged"),
    ):
        load_run_data(store, "study")


def test_a_name_means_an_id_an_experiment_or_a_beginning() -> None:
    ids = ["fail-12", "fail2-34", "fail2-56"]
    assert match_run(ids, "fail", where="s") == "fail-12"
    assert match_run(ids, "fail2-5", where="s") == "fail2-56"
    for name, message in (
        ("fai", "3 runs begin so"),
        ("fail2", "2 runs begin so"),
        ("", "no such run"),
        ("x", "no such"),
    ):
        with pytest.raises(RunNotFoundError, match=f"s: run '{name}': {message}"):
            match_run(ids, name, where="s")
