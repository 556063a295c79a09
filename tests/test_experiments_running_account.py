"""What a run counts while it goes, in memory that does not grow with it."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from experiments.running.account import RunAccount, RunSummary
from graders.capabilities import Capabilities, Price
from graders.client import Answer
from graders.grader import Grader
from graders.pricing import Cost
from graders.sampling import Sampling
from graders.verdict import CallFailure, Completion, Usage

PRICE = Price(input=1e6, output=1e6)


def account(price: Price | None = PRICE, model: str = "openai/m") -> RunAccount:
    return RunAccount(Grader(model, Sampling(), capabilities=Capabilities(price=price)))


def said(digest: str, tokens: int | None, served: str = "m", *failed: CallFailure) -> Answer:
    return Answer(digest, 0, Completion("A", served, usage=Usage(0, tokens, 0)), failed)


def test_everything_is_counted_failed_attempts_included() -> None:
    counted = account()
    n_failures = counted.record(
        [
            said("a", 2, "m", CallFailure("rate_limited", ""), CallFailure("unreadable_reply", "", Usage(3, 1))),
            said("b", 4),
            Answer("c", 0, CallFailure("timeout", "")),
        ]
    )
    summary = counted.summary()
    assert n_failures == 1
    assert (summary.n_stored, summary.call_failures) == (2, Counter(timeout=1))
    assert summary.failed_attempts == Counter(rate_limited=1, unreadable_reply=1)
    assert summary.usage == Usage(3, 2 + 1 + 4, 0)
    assert summary.cost == Cost(10.0, complete=False)
    assert counted.amount == 10.0


def test_a_rate_limit_costs_nothing_and_a_time_out_may() -> None:
    for reason, complete in (("rate_limited", True), ("timeout", False)):
        counted = account()
        counted.record([said("a", 1, "m", CallFailure(reason, ""))])
        assert counted.summary().cost == Cost(1.0, complete=complete)


def test_a_changed_model_is_told() -> None:
    counted = account()
    counted.record([said("a", 1, "m-1"), said("b", 1, "m-2"), said("c", 1, "m-1")])
    summary = counted.summary()
    assert (summary.served_models, summary.model_changed) == (("m-1", "m-2"), True)
    assert summary.warnings() == ["openai/m: the served model changed within the run: m-1, m-2"]


def test_costs_of_graders_are_added_and_an_unknown_one_makes_them_at_least() -> None:
    one, two, idle = account(), account(price=None), account(price=None)
    one.record([said("a", 2)])
    summary = RunSummary("r", (one.summary(), idle.summary()))
    assert summary.cost == Cost(2.0)
    two.record([said("a", 2)])
    summary = RunSummary("r", (one.summary(), two.summary()))
    assert summary.cost == Cost(2.0, complete=False)
    assert summary.usage == Usage(0, 4, 0)
    assert RunSummary("r", (two.summary(),)).cost is None
    assert two.amount is None


@pytest.mark.parametrize(
    ("costs", "named"),
    [
        (dict.fromkeys(range(100), 1), []),
        ({**dict.fromkeys(range(100), 1), 7: 50}, ["7"]),
        ({**dict.fromkeys(range(100), 1), 7: 19}, []),  # not twenty times the median
        ({**dict.fromkeys(range(5000), 1), 7: 50}, []),  # not a tenth of everything
        ({**dict.fromkeys(range(100), 1), 3: 40, 90: 60}, ["90", "3"]),
        (dict.fromkeys(range(10), 0), []),
    ],
)
def test_items_that_cost_far_more_than_others_are_named(costs: dict[int, int], named: list[str]) -> None:
    counted = account()
    for number, tokens in costs.items():
        counted.begin(f"digest {number}", str(number), 1)
        counted.record([said(f"digest {number}", tokens)])
    assert [outlier.item_id for outlier in counted.summary().outliers] == named


def test_the_repeats_of_an_item_count_together() -> None:
    counted = account()
    for number in range(50):
        counted.begin(str(number), str(number), 10)
        for repeat in range(10):
            usage = Usage(0, 5 if number == 3 and repeat else 0 if number == 3 else 0 if repeat else 1)
            counted.record([Answer(str(number), repeat, Completion("A", "m", usage=usage))])
    (outlier,) = counted.summary().outliers
    assert (outlier.item_id, outlier.amount) == ("3", 45.0)


MEMORY = """
import sys, tracemalloc
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_experiments_running_budget import Concurrent, make_experiment, said
from experiments.running import runner
from experiments.store.run_store import RunStore

class Forgetful(Concurrent):
    def complete(self, requests):
        for answers in super().complete(requests):
            self.asked.clear()
            yield answers

record = runner.record_run
def record_untraced(*arguments):  # writing down the set takes memory for a moment, whatever is asked
    record(*arguments)
    tracemalloc.start()
runner.record_run = record_untraced

n_items = int(sys.argv[3])
experiment = make_experiment(n_items, repeats=10)
with RunStore(Path(sys.argv[1])) as store:
    summary = runner.run_experiment(experiment, store, lambda _: Forgetful(lambda *_: said(1), 50))
    assert summary.n_stored == 10 * n_items
    print(tracemalloc.get_traced_memory()[1])
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_verdicts(tmp_path: Path) -> None:
    peaks = []
    for n_items in (100, 10_000):
        arguments = [str(tmp_path / f"{n_items}.sqlite"), str(Path(__file__).parent), str(n_items)]
        told = subprocess.run([sys.executable, "-c", MEMORY, *arguments], capture_output=True, text=True, check=True)
        peaks.append(int(told.stdout))
    assert peaks[1] - peaks[0] < 2_000_000, peaks
