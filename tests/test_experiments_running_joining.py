"""Joining a run from its record alone, and what stands in the way."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from command_line import autorater
from postgres_server import PostgresServer

from experiments.errors import RunNotFoundError, SpecError
from experiments.running.joining import join_run
from experiments.specs.experiment import load_experiment
from experiments.store.run_records import record_run
from experiments.store.run_store import RunStore

pytestmark = pytest.mark.postgres


@pytest.fixture
def address(postgres: PostgresServer, study: Any) -> str:
    """A store that has the run of the study, of which nothing is asked yet."""
    address = postgres.new_database()
    with RunStore(address) as store:
        record_run(load_experiment(str(study.experiment)), store)
    return address


def forget_sources(postgres: PostgresServer, address: str) -> None:
    """Make the record one of an earlier version."""
    postgres.psql(address.rpartition("/")[2], "UPDATE runs SET payload = (payload::jsonb - 'grader_sources')::text")


def test_a_run_is_joined_with_nothing_but_the_address(address: str, study: Any) -> None:
    made = load_experiment(str(study.experiment))
    study.experiment.unlink()
    with RunStore(address, must_exist=True) as store:
        joined = join_run(store, "study", file=None, graders=())
    assert joined.run_id == made.run_id == joined.experiment.run_id
    assert joined.left == ()
    assert joined.experiment.calibration_set.items == made.calibration_set.items


def test_a_grader_that_is_not_here_is_left_and_one_that_is_named_must_be_here(address: str, study: Any) -> None:
    study.recording.unlink()
    with RunStore(address, must_exist=True) as store:
        joined = join_run(store, "study", file=None, graders=())
        assert [grader.model for grader in joined.experiment.graders] == ["baseline/lexical"]
        assert "left to others" in joined.left[0]
        assert "said.jsonl" in joined.left[0]
        with pytest.raises(SpecError, match=r"said\.jsonl"):
            join_run(store, "study", file=None, graders=["said.jsonl"])
        with pytest.raises(SpecError, match="--graders: 'nobody', 0 graders of that name"):
            join_run(store, "study", file=None, graders=["nobody"])


def test_a_record_of_an_earlier_version_needs_the_file_of_the_same_run(
    address: str, study: Any, postgres: PostgresServer
) -> None:
    forget_sources(postgres, address)
    with RunStore(address, must_exist=True) as store:
        with pytest.raises(SpecError, match=r"none of its graders can be asked here: .* --experiment FILE"):
            join_run(store, "study", file=None, graders=())
        joined = join_run(store, "study", file=str(study.experiment), graders=())
        assert len(joined.experiment.graders) == 2
        other = study.write_experiment({"seed = 1": "seed = 2"})
        with pytest.raises(SpecError, match=r"--experiment: it makes study-.* expected the file of study-"):
            join_run(store, "study", file=str(other), graders=())


def test_the_command_fills_the_run_and_says_who_did_it(address: str, study: Any) -> None:
    before = autorater(study.folder, "runs", "show", "study", "--format", "json", "--store", address).out
    (step,) = (step["command"] for step in json.loads(before)["next"] if "worker" in step["command"])
    assert re.fullmatch(r"autorater worker study-\w+ --store postgresql://autorater@127\.0\.0\.1:\d+/test_\d+", step)
    ran = autorater(study.folder, "worker", "study", "--name", "helper", "--no-wait", "--store", address)
    assert ran.code == 0, ran.err
    assert "helper works for run study-" in ran.err
    shown = autorater(study.folder, "runs", "show", "study", "--format", "json", "--store", address)
    (worker,) = json.loads(shown.out)["workers"]
    assert sum(worker["verdicts_delivered"].values()) == 3 * 8 + 8
    assert (worker["name"], worker["state"], worker["items_claimed"]) == ("helper", "ended", {})
    text = autorater(study.folder, "runs", "show", "study", "--store", address).out
    assert "Who is at work" in text
    assert "helper" in text
    assert "autorater worker" not in text, "there is nothing left to help with"
    again = autorater(study.folder, "worker", "study", "--store", address)
    assert again.code == 0


def test_a_file_is_no_store_to_share(study: Any) -> None:
    ran = autorater(study.folder, "worker", "study")
    assert ran.code == 2
    assert "expected --store postgresql://" in ran.err
    assert not (study.folder / "autorater.sqlite").exists()


def test_a_run_that_is_not_there_is_named(address: str) -> None:
    with RunStore(address, must_exist=True) as store, pytest.raises(RunNotFoundError, match="no such run"):
        join_run(store, "another", file=None, graders=())


@pytest.mark.parametrize("seconds", ["0", "soon", "-3", "nan"])
def test_a_lease_that_is_none_is_named(address: str, study: Any, seconds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTORATER_LEASE_SECONDS", seconds)
    ran = autorater(study.folder, "worker", "study", "--store", address)
    assert ran.code == 2
    assert f"AUTORATER_LEASE_SECONDS: '{seconds}'" in ran.err
