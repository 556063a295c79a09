"""Several processes fill one run in a store on a server: killed, frozen, cut off, short of money, and with failures."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from command_processes import CommandProcess
from cutting_proxy import CuttingProxy
from fault_replies import Fault, Status, asked_text
from fault_server import FaultServer
from postgres_server import PostgresServer
from test_experiments_interruption import write_small_set
from test_experiments_running_question_order import ANYTIME, ITEMS, QUESTIONS, asked_places
from test_experiments_running_question_order import write_experiment as write_ordered_experiment

from experiments.errors import StoreError
from experiments.reports import build_report, render_json
from experiments.reports.call_times import sum_call_times
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from experiments.store.worker_listing import WorkerState, list_workers

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

N_ITEMS = 60
CONNECTIONS = 2
LEASE = 2.0
PROMPT = (
    '+++\nrubric = "simpleqa@1.0.0"\nscale = "simpleqa"\nchannel = "letter"\n+++\n'
    "$question $reference $response A, B or C?"
)


@dataclass
class Place:
    """A run that processes work at together: its experiment, its database, and the service that it asks."""

    folder: Path
    store: str
    server: FaultServer
    processes: list[CommandProcess] = field(default_factory=list)

    @property
    def experiment(self) -> Path:
        return self.folder / "shared.toml"

    def write_experiment(self, *, repeats: int = 4, price: str = "", others: str = "") -> None:
        (self.folder / "brief").mkdir(exist_ok=True)
        (self.folder / "brief" / "1.0.0.md").write_text(PROMPT)
        self.experiment.write_text(
            f'name = "shared"\nset = "set"\nmax_connections = {CONNECTIONS}\n'
            f"sampling = {{ temperature = 1.0, repeats = {repeats}, seed = 3, max_tokens = 2 }}\n"
            f'[[graders]]\nprompt = "brief/1.0.0.md"\nmodel = "openai-compatible/m"\n'
            f'base_url = "{self.server.openai_url}"\ncapabilities = {{ max_choices = 1{price} }}\n{others}'
        )

    def start(self, *words: str, store: str | None = None, **variables: str) -> CommandProcess:
        environment = {"AUTORATER_LEASE_SECONDS": str(LEASE), **variables}
        process = CommandProcess(self.folder, *words, "--store", store or self.store, variables=environment)
        self.processes.append(process)
        return process

    def run(self, *words: str, store: str | None = None) -> CommandProcess:
        return self.start("run", str(self.experiment), "--format", "json", *words, store=store)

    def worker(self, name: str, *words: str, store: str | None = None, **variables: str) -> CommandProcess:
        return self.start("worker", "shared", "--name", name, *words, store=store, **variables)

    def workers(self) -> dict[str, WorkerState]:
        with RunStore(self.store, must_exist=True) as store:
            runs = list(store.run_times())
            found = list_workers(store, runs[0]) if runs else ()
            return {worker.name: worker for worker in found or ()}

    def delivered(self, name: str) -> int:
        found = self.workers().get(name)
        return 0 if found is None else sum(found.n_delivered.values())

    def await_run(self) -> None:
        def is_recorded() -> bool:
            try:
                return bool(self.workers())
            except StoreError:
                return False

        await_truth(is_recorded)

    def n_completions(self) -> int:
        with RunStore(self.store, must_exist=True) as store:
            return store.count_completions()

    def report(self, store: str | Path | None = None) -> str:
        """The report, without the times that no two runs have in common."""
        with RunStore(store or self.store, must_exist=True) as opened:
            data, analyses = load_run_data(opened, "shared")
        untimed = sum_call_times([], [], n_untimed=0)
        graders = tuple(replace(grader, times=untimed) for grader in data.graders)
        return render_json(build_report(replace(data, graders=graders), level=analyses.level))

    def stop(self) -> None:
        for process in self.processes:
            process.kill()


def await_truth(is_true: Callable[[], bool], *, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.1)


def build_place(folder: Path, postgres: PostgresServer, server: FaultServer) -> Generator[Place, None, None]:
    write_small_set(folder / "set")
    made = Place(folder, postgres.new_database(), server)
    made.write_experiment()
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture
def place(tmp_path: Path, postgres: PostgresServer) -> Iterator[Place]:
    with FaultServer(latency=0.15) as server:
        yield from build_place(tmp_path, postgres, server)


def test_three_workers_one_killed_one_frozen_and_thawed_and_one_cut_off_in_its_commits(
    place: Place, postgres: PostgresServer
) -> None:
    n_verdicts = 4 * N_ITEMS
    with CuttingProxy(postgres.port) as proxy:
        cut_off = place.run(store=re.sub(r":\d+/", f":{proxy.port}/", place.store))
        place.await_run()
        killed, frozen = place.worker("killed"), place.worker("frozen")
        await_truth(lambda: place.delivered("killed") >= 4 and place.delivered("frozen") >= 4)
        killed.kill()
        frozen.send_signal(signal.SIGSTOP)
        n_by_then = place.delivered("frozen")
        for _ in range(3):
            proxy.n_cuts = 1
            await_truth(lambda: proxy.n_cuts == 0)
        await_truth(lambda: {place.workers()[name].status for name in ("killed", "frozen")} == {"lost"})
        assert not place.workers()["frozen"].n_claimed, "its claims were given back"
        assert place.n_completions() < n_verdicts, "there must be work left for the thawed one"
        frozen.send_signal(signal.SIGCONT)
        # More than what was under way: it goes on with new claims.
        await_truth(lambda: place.delivered("frozen") >= n_by_then + CONNECTIONS + 1)
        place.server.latency = 0.02
        frozen.end()
        cut_off.end()
    assert place.n_completions() == n_verdicts, "nothing is lost"
    assert sum(len(worker.n_claimed) for worker in place.workers().values()) == 0
    paid = place.server.paid
    assert len(paid) == N_ITEMS
    assert min(paid.values()) == 4
    twice = sum(paid.values()) - n_verdicts
    # In flight, or answered and not yet stored: of the latter there are never more than connections.
    assert twice <= 2 * 2 * CONNECTIONS, "more was paid twice than the killed and the frozen one had in flight"
    alone = place.folder / "alone.sqlite"
    place.server.latency = 0.0
    place.run(store=str(alone)).end()
    assert place.report() == place.report(alone), "the report is that of one process with a file"


def test_a_server_that_is_away_for_longer_than_a_lease_costs_nothing_but_time(
    place: Place, postgres: PostgresServer
) -> None:
    place.write_experiment(repeats=1)
    first = place.run()
    place.await_run()
    second = place.worker("second")
    await_truth(lambda: place.delivered("second") >= 4)
    postgres.stop()
    time.sleep(1.5 * LEASE)
    postgres.start()
    place.server.latency = 0.02
    first.end()
    second.end()
    assert place.n_completions() == sum(place.server.paid.values()) == N_ITEMS, "nobody was taken for lost"


def test_what_may_be_looked_at_is_asked_question_by_question_by_all_workers(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    store = postgres.new_database()
    with FaultServer(latency=0.15) as one, FaultServer(latency=0.15) as other:
        path = write_ordered_experiment(tmp_path, [one.openai_url, other.openai_url], ANYTIME)
        words = (["run", str(path), "--out", str(tmp_path / "report")], ["worker", "order"], ["worker", "order"])
        processes = []
        for number, command in enumerate(words):
            variables = {"ORDER_TEST_KEY": "k"}
            processes.append(CommandProcess(tmp_path, *command, "--store", store, variables=variables))
            if number == 0:
                await_truth(lambda: len(one.requests) >= 4)
        for process in processes:
            process.end()
        for server in (one, other):
            ranks = [QUESTIONS.index(ITEMS[place].cluster_id) for place in asked_places(server.requests)]
            assert sorted(ranks) == sorted(QUESTIONS.index(item.cluster_id) for item in ITEMS), "each is asked once"
            leads = [rank - min(ranks[number:]) for number, rank in enumerate(ranks)]
            assert max(leads) <= len(QUESTIONS) / 3, "no worker runs ahead of the others"


def test_ctrl_c_gives_claims_back_and_another_worker_ends_the_run(place: Place) -> None:
    first = place.run()
    place.await_run()
    await_truth(lambda: place.n_completions() >= 4)
    first.send_signal(signal.SIGINT)
    told = first.end(code=130)
    assert "the same command continues" in told
    (state,) = place.workers().values()
    assert (state.status, state.n_claimed) == ("ended", {})
    second = place.worker("second")
    await_truth(lambda: place.delivered("second") >= 4)
    second.send_signal(signal.SIGTERM)
    second.end(code=130)
    place.server.latency = 0.02
    assert not place.workers()["second"].n_claimed
    place.worker("third").end()
    assert place.n_completions() == sum(place.server.paid.values()) == 4 * N_ITEMS


def test_a_limit_of_cost_holds_for_all_workers_together(place: Place) -> None:
    # Dollars a million tokens: each call has 20 tokens in and 1 out, and may take many more.
    place.write_experiment(price=", price = { input = 1000.0, output = 1000.0 }")
    each, limit = 0.021, 3.0
    first = place.run("--max-cost", str(limit))
    place.await_run()
    second = place.worker("second")
    third = place.worker("third")
    await_truth(lambda: place.delivered("second") + place.delivered("third") > 0)
    place.server.latency = 0.02
    for process in (first, second, third):
        told = process.end(code=2)
        assert "--max-cost" in told
    # As a machine does that starts again what has ended: without anybody at the run, its limit holds all the same.
    assert f"could pass ${limit:.4f}" in place.worker("started again").end(code=2)
    n_paid = sum(place.server.paid.values())
    assert n_paid * each <= limit, "the limit was passed"
    assert n_paid * each >= 0.4 * limit, "hardly anything was asked"


class Strict(FaultServer):
    """Refuses to grade six items, always."""

    n_refused = 0

    async def _meet(self, request: web.Request, body: dict[str, Any], fault: Fault) -> web.StreamResponse:
        if re.search(r"Question \d*7\?", asked_text(body)):
            self.n_refused += 1
            fault = Status(400, body=json.dumps({"error": {"code": "content_filter", "message": "refused"}}))
        return await super()._meet(request, body, fault)


def test_what_failed_for_good_is_not_asked_by_every_worker_and_is_asked_when_the_run_is_given_again(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    with Strict(latency=0.3) as server, closing(build_place(tmp_path, postgres, server)) as places:
        place = next(places)
        place.write_experiment(repeats=1)
        first = place.run()
        place.await_run()
        workers = [place.worker("second"), place.worker("third")]
        await_truth(lambda: len(place.workers()) == 3)
        server.latency = 0.02
        for process in (first, *workers):
            process.end()
        assert place.n_completions() == N_ITEMS - 6
        assert server.n_refused == 6
        place.worker("again").end()
        assert server.n_refused == 12


def test_graders_that_a_machine_cannot_ask_are_left_to_others(place: Place) -> None:
    place.write_experiment(
        repeats=1,
        others='[[graders]]\nmodel = "baseline/lexical"\n'
        '[[graders]]\nprompt = "simpleqa_verified@1.0.0"\nmodel = "openai-compatible/other"\n'
        f'base_url = "{place.server.openai_url}"\nkey_variable = "KEY_OF_THE_OTHER"\n',
    )
    environment = {"KEY_OF_THE_OTHER": "k"}
    first = place.start("run", str(place.experiment), **environment)
    place.await_run()
    first.send_signal(signal.SIGINT)
    first.end(code=130)
    place.server.latency = 0.02
    told = place.worker("keyless").end()
    assert "left to others" in told
    assert "KEY_OF_THE_OTHER" in told
    assert place.n_completions() < 3 * N_ITEMS
    told = place.worker("keyless", "--graders", "other").end(code=2)
    assert "KEY_OF_THE_OTHER" in told
    place.worker("with key", "--graders", "other", **environment).end()
    assert place.n_completions() == 3 * N_ITEMS
    shown = place.start("runs", "show", "shared", "--format", "json")
    shown.end()
    (worker,) = json.loads(shown.printed)["workers"]
    assert (worker["name"], worker["state"]) == ("with key", "ended")
    assert sum(worker["verdicts_delivered"].values()) > 0
