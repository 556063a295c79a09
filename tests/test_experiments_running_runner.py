"""Running: every answer is asked for once, kept at once, and never given to another repeat."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.errors import StoreError
from experiments.reports import build_report, render_json, render_markdown, render_text
from experiments.running.runner import RunSummary, run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.run_records import load_run_data
from experiments.store.run_store import CompletionKey, RunStore
from graders.client import Answer, ModelClient, Request
from graders.grader import Grader
from graders.providers import open_client


class Counting:
    """A client that counts what it is asked, and can fail or stop after so many answers."""

    def __init__(self, client: ModelClient, paid: Counter[tuple[str, int]], stop_after: int | None) -> None:
        self.client, self.paid, self.stop_after = client, paid, stop_after

    def __enter__(self) -> Counting:
        self.client.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.client.__exit__(*error)

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        answers = (answer for batch in self.client.complete(requests) for answer in batch)
        for done, answer in enumerate(answers):
            if done == self.stop_after:
                raise KeyboardInterrupt
            self.paid[answer.item_digest, answer.repeat] += 1
            yield [answer]


@pytest.fixture
def paid() -> Counter[tuple[str, int]]:
    return Counter()


@pytest.fixture
def store(study: Any) -> Iterator[RunStore]:
    with RunStore(study.folder / "s.sqlite") as opened:
        yield opened


def run(study: Any, store: RunStore, paid: Counter[tuple[str, int]], *, stop_after: int | None = None) -> RunSummary:
    def opener(grader: Grader) -> Counting:
        return Counting(open_client(grader), paid, stop_after)

    return run_experiment(load_experiment(str(study.experiment)), store, opener)


def only_replay(study: Any) -> None:
    study.write_experiment({'[[graders]]\nmodel = "baseline/lexical"\nsampling = { repeats = 1 }\n': ""})


def report(store: RunStore, run_id: str, render: Callable[[Any], str] = render_json) -> str:
    data, analyses = load_run_data(store, run_id)
    return render(build_report(data, level=analyses.level))


def test_a_second_run_asks_for_nothing_and_reports_the_same(study: Any, store: RunStore, paid: Counter[Any]) -> None:
    only_replay(study)
    first = run(study, store, paid)
    before = report(store, first.run_id)
    second = run(study, store, paid)
    assert (first.n_stored, second.n_stored) == (24, 0)
    assert sorted(paid.values()) == [1] * 24
    assert report(store, first.run_id) == before


@pytest.mark.parametrize("stop_after", [0, 1, 11, 23])
def test_an_interrupted_run_continues_without_paying_twice(
    study: Any, store: RunStore, paid: Counter[Any], stop_after: int
) -> None:
    only_replay(study)
    with pytest.raises(KeyboardInterrupt):
        run(study, store, paid, stop_after=stop_after)
    assert store.count_completions() == stop_after
    summary = run(study, store, paid)
    assert summary.n_stored == 24 - stop_after
    assert sorted(paid.values()) == [1] * 24
    with RunStore(study.folder / "whole.sqlite") as unbroken:
        run(study, unbroken, Counter())
        for render in (render_json, render_text, render_markdown):
            assert report(store, summary.run_id, render) == report(unbroken, summary.run_id, render)


def test_repeats_are_their_own_answers(study: Any, store: RunStore, paid: Counter[Any]) -> None:
    replies = {(place, repeat): f"{'ABC'[repeat]} by repeat {repeat}" for place in range(8) for repeat in range(3)}
    study.write_recording(replies)
    only_replay(study)
    run(study, store, paid)
    grader = load_experiment(str(study.experiment)).graders[0]
    stored = store.completions(grader.grader_id)
    for place, item in enumerate(study.items):
        for repeat in range(3):
            assert stored[CompletionKey(item.digest, repeat)].text == replies[place, repeat]


def test_a_reworded_item_is_asked_for_again_and_no_other(study: Any, store: RunStore, paid: Counter[Any]) -> None:
    only_replay(study)
    run(study, store, paid)
    reworded = replace(study.items[5], question="Which number comes after four?")
    items = (*study.items[:5], reworded, *study.items[6:])
    study.write_set(items)
    paid.clear()
    summary = run(study, store, paid)
    assert {digest for digest, _ in paid} == {reworded.digest}
    assert summary.call_failures == Counter(not_recorded=3)
    assert summary.n_stored == 0


def test_a_verdict_under_one_scale_is_not_served_under_another(study: Any, store: RunStore) -> None:
    declined = tuple(replace(item, response="I do not know.") for item in study.items)
    study.write_set(declined)
    study.write_experiment({'[[graders]]\nprompt = "simpleqa@1.0.0"\nmodel = "replay/said.jsonl"\n': ""})
    header = study.folder / "small" / "set.toml"
    text = header.read_text(encoding="utf-8")
    found = []
    for scale in ("simpleqa", "binary"):
        header.write_text(re.sub(r"(?m)^scale = .*$", f'scale = "{scale}"', text), encoding="utf-8")
        asked = load_experiment(str(study.experiment))
        assert asked.calibration_set.scale.name == scale
        run_experiment(asked, store, open_client)
        data, _ = load_run_data(store, asked.run_id)
        found.append({verdict.label for verdict in data.graders[0].verdicts})
    assert found == [{"NOT_ATTEMPTED"}, {"INCORRECT"}]


def test_failed_calls_stay_pending_and_are_counted_by_reason(study: Any, store: RunStore, paid: Counter[Any]) -> None:
    study.write_recording({(place, 0): "A" for place in range(8)})
    only_replay(study)
    for _ in range(2):
        summary = run(study, store, paid)
        assert summary.call_failures == Counter(not_recorded=16)
    assert store.count_completions() == 8


def test_the_client_is_not_opened_where_everything_is_paid(study: Any, store: RunStore, paid: Counter[Any]) -> None:
    run(study, store, paid)

    def refuse(grader: Grader) -> ModelClient:
        raise AssertionError(grader.title)

    assert run_experiment(load_experiment(str(study.experiment)), store, refuse).n_stored == 0


def test_runs_at_the_same_time_pay_once(study: Any, paid: Counter[Any]) -> None:
    only_replay(study)

    def work() -> None:
        with RunStore(study.folder / "shared.sqlite") as own:
            run(study, own, paid)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert sorted(paid.values()) == [1] * 24


def test_a_run_that_has_to_wait_says_so(study: Any, store: RunStore, paid: Counter[Any]) -> None:
    asked = load_experiment(str(study.experiment))
    waiting = threading.Event()

    class Told:
        def start(self, title: str, n_pending: int) -> None: ...
        def advance(self, n: int, *, failures: int, cost: float | None) -> None: ...
        def pass_over(self, n: int) -> None: ...
        def wait(self, title: str, holders: Sequence[str] = ()) -> None:
            assert title == asked.graders[0].title
            waiting.set()

    def second() -> None:
        with RunStore(store.place.path) as own:
            run_experiment(asked, own, open_client, Told())

    class Slow(Counting):
        def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
            thread.start()
            assert waiting.wait(timeout=30)
            yield from super().complete(requests)

    thread = threading.Thread(target=second)
    first = replace(asked, graders=asked.graders[:1])
    run_experiment(first, store, lambda grader: Slow(open_client(grader), paid, None))
    thread.join(timeout=60)
    assert sorted(paid.values()) == [1] * 24


def test_a_file_where_the_locks_belong_is_an_error(study: Any, store: RunStore, paid: Counter[Any]) -> None:
    Path(f"{store.place.path}.locks").write_text("")
    with pytest.raises(StoreError, match=r"s\.sqlite\.locks: .*; expected a folder for the locks"):
        run(study, store, paid)
