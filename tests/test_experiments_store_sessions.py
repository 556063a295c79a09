"""Times in the store: of each call with its completion, of each session by the wall clock, and none in older stores."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from store_shapes import make_old

from experiments.reports.inputs import GraderResults
from experiments.running.runner import run_experiment
from experiments.running.verdict_import import import_verdicts
from experiments.specs.experiment import load_experiment
from experiments.store.run_records import load_run_data
from experiments.store.run_store import CompletionKey, RunStore
from experiments.store.sessions import SessionTotals, add_session, sum_sessions
from graders.client import Answer, Request
from graders.errors import ServiceError
from graders.grader import Grader
from graders.providers import open_client
from graders.timing import time_answers
from graders.verdict import CallTime, Completion

REPLAYED, LEXICAL = 0, 1


@pytest.fixture
def store(study: Any) -> Iterator[RunStore]:
    with RunStore(study.folder.parent / "s.sqlite") as opened:
        yield opened


def results(store: RunStore) -> Sequence[GraderResults]:
    return load_run_data(store, "study")[0].graders


class SlowModel:
    """Takes a twentieth of a second for each request; the service breaks down at one of them, if told so."""

    def __init__(self, breaks_at: int | None = None) -> None:
        self.breaks_at = breaks_at

    def __enter__(self) -> SlowModel:
        time.sleep(0.3)  # a model that is being loaded
        return self

    def __exit__(self, *error: object) -> None: ...

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        for number, request in enumerate(requests):
            if number == self.breaks_at:
                raise ServiceError("scripted: no quota is left")
            time.sleep(0.05)
            answers = [Answer(request.item.digest, repeat, Completion("C", "m")) for repeat in request.repeats]
            yield time_answers(answers, 0.04)


def run(study: Any, store: RunStore, *, breaks_at: int | None = None) -> None:
    def opened(grader: Grader) -> Any:
        return open_client(grader) if grader.model == "baseline/lexical" else SlowModel(breaks_at)

    run_experiment(load_experiment(str(study.experiment)), store, opened)


def test_sessions_are_summed_by_grader(store: RunStore) -> None:
    assert sum_sessions(store, "g") is None
    add_session(store, "g", seconds=2.0, n_completions=10)
    add_session(store, "g", seconds=0.5, n_completions=1)
    add_session(store, "other", seconds=9.0, n_completions=9)
    assert sum_sessions(store, "g") == SessionTotals(2, 2.5, 11)
    assert sum_sessions(store, "nobody") is None


def test_a_run_keeps_the_time_of_its_calls_and_of_its_sessions(study: Any, store: RunStore) -> None:
    run(study, store)
    times = results(store)[REPLAYED].times
    n_items, n_repeats = 8, 3
    assert (times.n_timed, times.n_untimed, times.n_valid) == (n_items * n_repeats, 0, n_items * n_repeats)
    # Three repeats came of each call of 0.04 seconds.
    assert times.seconds == pytest.approx(n_items * 0.04)
    assert times.thousand == pytest.approx(1000 * 0.04 / n_repeats)
    assert (times.median, times.p95) == (0.04, 0.04)
    totals = sum_sessions(store, results(store)[REPLAYED].grader_id)
    assert totals is not None
    assert (totals.n_sessions, totals.n_completions) == (1, n_items * n_repeats)
    # Loading is not in it.
    assert n_items * 0.05 <= totals.seconds < n_items * 0.05 + 0.3
    assert times.pace == pytest.approx(totals.n_completions / totals.seconds)


def test_a_session_that_breaks_down_is_counted_with_what_it_brought(study: Any, store: RunStore) -> None:
    with pytest.raises(ServiceError):
        run(study, store, breaks_at=2)
    (grader_id,) = grader_ids(store.place.path)
    totals = sum_sessions(store, grader_id)
    assert totals is not None
    assert (totals.n_sessions, totals.n_completions) == (1, 6)
    run(study, store)
    run(study, store)  # nothing is left to ask
    totals = sum_sessions(store, grader_id)
    assert totals is not None
    assert (totals.n_sessions, totals.n_completions) == (2, 24)


def grader_ids(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {row[0] for row in connection.execute("SELECT DISTINCT grader_id FROM completions")}


def test_what_is_replayed_or_imported_has_no_time(study: Any, store: RunStore, tmp_path: Path) -> None:
    run_experiment(load_experiment(str(study.experiment)), store, open_client)
    replayed, lexical = (one.times for one in results(store))
    assert (replayed.n_timed, replayed.n_untimed, replayed.thousand, replayed.pace) == (0, 24, None, None)
    assert lexical.n_timed > 0
    assert lexical.pace is not None
    table = tmp_path / "said.jsonl"
    table.write_text(json.dumps({"item": "i1", "grader": "them", "label": "CORRECT"}) + "\n", encoding="utf-8")
    run_id = import_verdicts(table, str(study.folder / "small"), store)
    (imported,) = load_run_data(store, run_id)[0].graders
    assert (imported.times.n_timed, imported.times.n_untimed, imported.times.pace) == (0, 1, None)


def test_a_store_of_an_earlier_version_opens_and_has_no_times(study: Any, store: RunStore) -> None:
    run(study, store)
    store.close()
    with closing(sqlite3.connect(store.place.path)) as connection:
        connection.execute("UPDATE completions SET payload = json_remove(payload, '$.call_time')")
        connection.commit()
    make_old(Path(str(store.place)), without=("sessions",))
    before = store.place.path.read_bytes()
    with RunStore(store.place.path, must_exist=True) as opened:
        assert [(one.times.n_timed, one.times.thousand, one.times.pace) for one in results(opened)] == [
            (0, None, None)
        ] * 2
        assert results(opened)[REPLAYED].times.n_untimed == 24
    assert store.place.path.read_bytes() == before
    # It goes on, and what comes from now on is timed.
    grader_id = min(grader_ids(store.place.path))
    with RunStore(store.place.path) as opened:
        opened.append(grader_id, CompletionKey("f" * 64, 0), Completion("A", "m", call_time=CallTime(1.5, 2)))
        add_session(opened, grader_id, seconds=1.0, n_completions=1)
        assert opened.completions(grader_id)[CompletionKey("f" * 64, 0)].call_time == CallTime(1.5, 2)
