"""The order of asking: that of the set, or, where a comparison is looked at while it runs, that of the looks."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("openai")
pytest.importorskip("aiohttp")

from fault_replies import Ok, Status, asked_text
from fault_server import FaultServer, at_calls

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from calibration_sets.writer import write_set
from experiments.analyses.wordings.grader_wordings import GraderWordings, read_grader_wordings
from experiments.analyses.wordings.wording_comparison import WordingResult, compare_wordings
from experiments.errors import BudgetError, SpecError
from experiments.running.control import RunControl
from experiments.running.convoy import Convoy
from experiments.running.plan import pending_requests
from experiments.running.progress_reports import SilentProgress
from experiments.running.question_order import asked_items, split_waves, wave_size
from experiments.running.runner import run_experiment
from experiments.specs.experiment import Experiment, load_experiment
from experiments.stats.comparisons.anytime import random_order
from experiments.store.run_records import load_decisions, load_run_data
from experiments.store.run_store import RunStore
from graders.client import Answer, Request
from graders.errors import ServiceError
from graders.grader import Grader
from graders.providers import open_client, openai_service, share_engine
from graders.verdict import Completion

N = 100
WORDINGS = ("simpleqa@1.0.0", "simpleqa_guessing_was_free@1.0.0")
CONNECTIONS = 4
AB = '[ab]\ncontrol = "simpleqa@1.0.0"\nraise = "accuracy"\n'
ANYTIME = AB + 'stopping = "anytime"\n'
# Some questions have two items.
ITEMS = tuple(
    Item(
        f"i{place}",
        f"Which number is number {place}?",
        parse_reference(f"n{place}"),
        f"n{place}",
        f"c{place if place % 3 else place + 1}",
    )
    for place in range(N)
)
QUESTIONS = random_order([item.cluster_id for item in ITEMS])
LABELS = tuple(
    HumanLabel(item.item_id, item.digest, "rater", "CORRECT" if place % 2 else "INCORRECT", "simpleqa@1.0.0")
    for place, item in enumerate(ITEMS)
)


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ORDER_TEST_KEY", "sk-test")
    openai_service.forget_refusals()
    yield
    openai_service.forget_refusals()


def write_experiment(folder: Path, urls: Sequence[str], rule: str, *, model: str = "openai-compatible/judge") -> Path:
    """Each wording at its own address."""
    if not (folder / "small").exists():
        write_set(
            CalibrationSet(
                "small", "1.0.0", "simpleqa@1.0.0", SIMPLEQA, "human", "CC0-1.0", "made up", "Made up.", ITEMS, LABELS
            ),
            folder / "small",
        )
    text = f'name = "order"\nset = "small"\nmax_connections = {CONNECTIONS}\nsampling = {{ repeats = 1 }}\n{rule}'
    for wording, url in zip(WORDINGS, urls, strict=True):
        text += f'[[graders]]\nprompt = "{wording}"\nmodel = "{model}"\n'
        if url:
            text += f'base_url = "{url}"\nkey_variable = "ORDER_TEST_KEY"\n'
            text += "capabilities = { price = { input = 1.0, output = 1.0 } }\n"
    path = folder / "order.toml"
    path.write_text(text, encoding="utf-8")
    return path


def look(store: RunStore, run_id: str) -> tuple[GraderWordings, WordingResult]:
    data, analyses = load_run_data(store, run_id)
    grid = read_grader_wordings(data)
    return grid, compare_wordings(grid, load_decisions(store, run_id).ab, level=analyses.level)


def asked_places(requests: Sequence[Any]) -> list[int]:
    """Numbers of the items, as the calls came in."""
    return [int(asked_text(call.body).split("Which number is number ")[-1].split("?")[0]) for call in requests]


def same_as_truncated(stopped: WordingResult, full: GraderWordings) -> bool:
    """Whether a look is what the whole run says of the same questions."""
    assert stopped.looks is not None
    assert stopped.rule is not None
    kept = full.take(frozenset(QUESTIONS[: stopped.looks.n_seen]))
    truncated = compare_wordings(kept, stopped.rule, level=stopped.level)
    assert truncated.looks is not None
    return stopped.looks.wordings == truncated.looks.wordings and stopped.cells == truncated.cells


class StopAfter(SilentProgress):
    """Ctrl-C after so many answers."""

    def __init__(self, control: RunControl, n: int) -> None:
        self.control, self.n = control, n

    def advance(self, n: int, *, failures: int, cost: float | None) -> None:
        self.n -= n
        if self.n <= 0 and not self.control.stopping:
            self.control.stop()


def run_full(folder: Path, experiment: Experiment) -> GraderWordings:
    with RunStore(folder / "full.sqlite") as store:
        run_experiment(experiment, store, open_client)
        return look(store, experiment.run_id)[0]


def test_a_run_stopped_by_its_budget_leaves_a_look_on_what_was_paid_for(tmp_path: Path) -> None:
    with FaultServer() as server, RunStore(tmp_path / "s.sqlite") as store:
        experiment = load_experiment(str(write_experiment(tmp_path, [server.openai_url] * 2, ANYTIME)))
        full = run_full(tmp_path, experiment)
        n_all = len(server.requests)
        with RunStore(tmp_path / "full.sqlite") as paid:
            data, _ = load_run_data(paid, experiment.run_id)
            whole = sum(grader.cost.amount for grader in data.graders if grader.cost)

        def worst(_request: Request, _grader: Grader) -> float:
            return 1.5 * whole / n_all

        with pytest.raises(BudgetError):
            run_experiment(experiment, store, open_client, max_cost=0.4 * whole, worst_cost=worst)
        share = (len(server.requests) - n_all) / n_all
        _, result = look(store, experiment.run_id)
        assert result.looks is not None
        assert 0.33 <= share <= 0.4
        assert share - 0.1 <= result.looks.n_seen / result.looks.n_questions <= 0.42
        assert same_as_truncated(result, full)
        run_experiment(experiment, store, open_client, max_cost=2 * whole, worst_cost=worst)
        assert len(server.requests) == 2 * n_all
        assert look(store, experiment.run_id)[0].pending == frozenset()


def test_ctrl_c_leaves_a_look_and_the_run_continues_without_paying_twice(tmp_path: Path) -> None:
    with FaultServer() as server, RunStore(tmp_path / "s.sqlite") as store:
        experiment = load_experiment(str(write_experiment(tmp_path, [server.openai_url] * 2, ANYTIME)))
        control = RunControl(lambda _: None)
        with pytest.raises(KeyboardInterrupt):
            run_experiment(experiment, store, open_client, StopAfter(control, 80), control=control)
        _, result = look(store, experiment.run_id)
        assert result.looks is not None
        n_paid = store.count_completions()
        assert 80 <= n_paid < 2 * N
        assert result.looks.n_seen / len(QUESTIONS) >= n_paid / (2 * N) - 0.1
        assert len(server.requests) == n_paid  # what was under way was waited for
        summary = run_experiment(experiment, store, open_client)
        assert summary.n_stored == 2 * N - n_paid
        assert set(server.paid.values()) == {1}
        after, _ = look(store, experiment.run_id)
        assert same_as_truncated(result, after)


def test_questions_go_to_all_graders_in_the_order_of_the_looks(tmp_path: Path) -> None:
    ranks = {question: rank for rank, question in enumerate(QUESTIONS)}
    with FaultServer() as server, RunStore(tmp_path / "s.sqlite") as store:
        experiment = load_experiment(str(write_experiment(tmp_path, [server.openai_url] * 2, ANYTIME)))
        run_experiment(experiment, store, open_client)
        asked = [ranks[ITEMS[place].cluster_id] for place in asked_places(server.requests)]
    slack = wave_size(len(QUESTIONS)) + 2 * CONNECTIONS
    assert all(later > earlier - slack for place, earlier in enumerate(asked) for later in asked[place:])
    assert len(asked) == 2 * N


@pytest.mark.parametrize("rule", [AB, ""])
def test_a_fixed_size_is_asked_grader_by_grader_in_the_order_of_the_set(tmp_path: Path, rule: str) -> None:
    with FaultServer() as server, RunStore(tmp_path / "s.sqlite") as store:
        file = write_experiment(tmp_path, [server.openai_url] * 2, rule)
        file.write_text(file.read_text().replace(f"max_connections = {CONNECTIONS}", "max_connections = 1"))
        run_experiment(load_experiment(str(file), limit=20), store, open_client)
        assert asked_places(server.requests) == [*range(20), *range(20)]
        lengths = [len(asked_text(call.body)) for call in server.requests]
    assert min(lengths[:20]) > max(lengths[20:]) or max(lengths[:20]) < min(lengths[20:])


def test_a_fixed_size_that_was_stopped_is_not_looked_at(tmp_path: Path) -> None:
    with FaultServer() as server, RunStore(tmp_path / "s.sqlite") as store:
        experiment = load_experiment(str(write_experiment(tmp_path, [server.openai_url] * 2, AB)))
        control = RunControl(lambda _: None)
        with pytest.raises(KeyboardInterrupt):
            run_experiment(experiment, store, open_client, StopAfter(control, 80), control=control)
        with pytest.raises(SpecError, match="is not looked at before its end"):
            look(store, experiment.run_id)
        run_experiment(experiment, store, open_client)
        assert look(store, experiment.run_id)[1].looks is None


def test_a_fast_service_waits_for_a_slow_one_and_costs_it_no_time(tmp_path: Path) -> None:
    latency = 0.02
    with ExitStack() as stack:
        fast = stack.enter_context(FaultServer())
        slow = stack.enter_context(FaultServer(latency=latency))
        store = stack.enter_context(RunStore(tmp_path / "s.sqlite"))
        file = write_experiment(tmp_path, [fast.openai_url, slow.openai_url], ANYTIME)
        leads: list[int] = []

        class Watching(SilentProgress):
            def advance(self, n: int, *, failures: int, cost: float | None) -> None:
                leads.append(len(fast.requests) - len(slow.requests))

        began = time.monotonic()
        run_experiment(load_experiment(str(file)), store, open_client, Watching())
        seconds = time.monotonic() - began
    # Two items of some questions, and what is in flight.
    assert max(leads) <= 2 * wave_size(len(QUESTIONS)) + 2 * CONNECTIONS
    assert len(slow.requests) == len(fast.requests) == N
    assert seconds < 4 * latency * N / CONNECTIONS + 3


def test_an_error_of_one_service_stops_all_and_keeps_what_was_answered(tmp_path: Path) -> None:
    with ExitStack() as stack:
        broken = stack.enter_context(FaultServer(at_calls({20: Status(401)}, Ok())))
        sound = stack.enter_context(FaultServer())
        store = stack.enter_context(RunStore(tmp_path / "s.sqlite"))
        experiment = load_experiment(str(write_experiment(tmp_path, [sound.openai_url, broken.openai_url], ANYTIME)))
        with pytest.raises(ServiceError, match="key"):
            run_experiment(experiment, store, open_client)
        n_paid = store.count_completions()
        assert n_paid == sum(sound.paid.values()) + sum(broken.paid.values()) < 2 * N
        broken.script = at_calls({}, Ok())
        assert run_experiment(experiment, store, open_client).n_stored == 2 * N - n_paid
        assert set((sound.paid + broken.paid).values()) == {1}


class Engine:
    """A model in this process that says A to everything; notes who was asked what."""

    def __init__(self, grader: Grader, asked: list[tuple[str, str]], opened: list[str]) -> None:
        self.grader, self.asked, self.opened = grader, asked, opened

    def __enter__(self) -> Self:
        self.opened.append(self.grader.model)
        return self

    def __exit__(self, *error: object) -> None:
        self.opened.append("closed")

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        for request in requests:
            assert request.prompt is not None
            self.asked.append((request.prompt.title, request.item.cluster_id))
            yield [Answer(request.item.digest, repeat, Completion("A", "tiny")) for repeat in request.repeats]


def run_engines(folder: Path, rule: str) -> tuple[list[tuple[str, str]], list[str]]:
    asked: list[tuple[str, str]] = []
    opened: list[str] = []
    experiment = load_experiment(str(write_experiment(folder, ["", ""], rule, model="local/smollm2")))
    with RunStore(folder / f"{len(rule)}.sqlite") as store:
        run_experiment(experiment, store, lambda grader: Engine(grader, asked, opened))  # type: ignore[arg-type, return-value]
    return asked, opened


def test_an_engine_is_loaded_once_and_changes_its_prompt_once_a_wave(tmp_path: Path) -> None:
    asked, opened = run_engines(tmp_path, ANYTIME)
    assert opened == ["local/smollm2", "closed"]
    assert len(asked) == 2 * N
    changes = sum(one[0] != other[0] for one, other in pairwise(asked))
    n_waves = -(-len(QUESTIONS) // wave_size(len(QUESTIONS)))
    assert changes == n_waves
    own = [question for title, question in asked if title == asked[0][0]]
    assert list(dict.fromkeys(own)) == QUESTIONS


def test_an_engine_of_a_fixed_size_is_asked_grader_by_grader_and_loaded_once(tmp_path: Path) -> None:
    asked, opened = run_engines(tmp_path, AB)
    assert opened == ["local/smollm2", "closed"]
    assert [question for _, question in asked] == 2 * [item.cluster_id for item in ITEMS]


def test_an_engine_is_shared_by_graders_of_its_model_alone(tmp_path: Path) -> None:
    one, other = load_experiment(str(write_experiment(tmp_path, ["", ""], AB, model="local/smollm2"))).graders
    assert share_engine(one, other)
    assert not share_engine(one, replace(other, model_digest="another"))
    assert not share_engine(one, replace(other, model="local/another"))
    assert not share_engine(*(replace(grader, model="openai-compatible/judge") for grader in (one, other)))


def test_waves_hold_every_item_once_in_the_order_of_the_looks(tmp_path: Path) -> None:
    experiment = load_experiment(str(write_experiment(tmp_path, ["", ""], ANYTIME, model="local/smollm2")))
    waves = [[item.cluster_id for item in wave.calibration_set.items] for wave in split_waves(experiment)]
    assert sorted(question for wave in waves for question in wave) == sorted(item.cluster_id for item in ITEMS)
    size = wave_size(len(QUESTIONS))
    assert [set(wave) for wave in waves] == [
        set(QUESTIONS[first : first + size]) for first in range(0, len(QUESTIONS), size)
    ]
    assert [item.cluster_id for item in asked_items(experiment)] == [
        question for question in QUESTIONS for item in ITEMS if item.cluster_id == question
    ]
    asked = [request.item.cluster_id for request in pending_requests(experiment, experiment.graders[0], None)]
    assert asked == [item.cluster_id for item in asked_items(experiment)]


@given(
    lengths=st.lists(st.integers(0, 40), min_size=1, max_size=5),
    turns=st.lists(st.integers(0, 4), max_size=300),
    ahead=st.integers(1, 10),
)
def test_a_convoy_never_stands_still_and_never_spreads(lengths: list[int], turns: list[int], ahead: int) -> None:
    ranks = {f"c{place}": place for place in range(40)}
    convoy = Convoy(ranks, len(lengths), ahead=ahead)
    streams = [
        convoy.follow(place, iter([request_of(f"c{rank}") for rank in range(length)]))
        for place, length in enumerate(lengths)
    ]
    at = [0] * len(lengths)
    left = set(range(len(lengths)))
    for turn in [*turns, *(place for _ in range(80) for place in range(len(lengths)))]:
        place = turn % len(lengths)
        assert not left or any(convoy.may_take(one) for one in left)
        if place not in left or not convoy.may_take(place):
            continue
        if next(streams[place], None) is None:
            left.discard(place)
        else:
            at[place] += 1
            assert at[place] - min(at[one] for one in left) <= ahead + 1
    assert not left
    assert at == lengths


def request_of(question: str) -> Request:
    item = replace(ITEMS[0], cluster_id=question)
    return Request(item, (0,), None, None, SIMPLEQA)  # type: ignore[arg-type]
