"""A limit on cost holds at every moment, whatever is under way, and across runs."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from experiments.errors import BudgetError
from experiments.running.budget import Budget, CostMeter, check_prices
from experiments.running.runner import run_experiment
from experiments.specs.experiment import Experiment
from experiments.store.run_store import CompletionKey, RunStore
from graders.capabilities import Capabilities, Price
from graders.client import Answer, Request
from graders.errors import ServiceError
from graders.grader import Grader
from graders.sampling import Sampling
from graders.verdict import CallFailure, Completion, Usage

DOLLAR = Price(input=1e6, output=1e6)
"""A dollar a token."""

Rule = Callable[[Item, int], "Completion | CallFailure"]


def said(tokens: int | None) -> Completion:
    return Completion("A", "m", usage=Usage(0, tokens))


class Concurrent:
    """Takes as many requests as it has room for before it answers the first."""

    def __init__(self, rule: Rule, room: int, attempts: tuple[CallFailure, ...] = ()) -> None:
        self.rule, self.room, self.attempts = rule, room, attempts
        self.asked: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        source, under_way = iter(requests), list[Request]()
        while True:
            while len(under_way) < self.room and (request := next(source, None)) is not None:
                under_way.append(request)
                self.asked.append(request.item.item_id)
            if not under_way:
                return
            done = under_way.pop(0)
            yield [Answer(done.item.digest, r, self.rule(done.item, r), self.attempts) for r in done.repeats]


def make_experiment(n_items: int, n_graders: int = 1, repeats: int = 1, price: Price | None = DOLLAR) -> Experiment:
    items = tuple(Item(str(n), f"Q {n}?", Reference("r", "r"), f"answer {n}", f"c{n}") for n in range(n_items))
    labels = tuple(HumanLabel(item.item_id, item.digest, "anna", "CORRECT", "rules@1.0.0") for item in items)
    whole = CalibrationSet("s", "1.0.0", "rules@1.0.0", SIMPLEQA, "human", "CC0", "us", "", items, labels)
    able = Capabilities(price=price)
    graders = tuple(Grader(f"openai/m{n}", Sampling(repeats=repeats), capabilities=able) for n in range(n_graders))
    return Experiment("e", "", whole, n_items, whole.digest, graders)


def worst(request: Request, _grader: Grader) -> float:
    return 10.0 * len(request.repeats)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore(tmp_path / "s.sqlite") as opened:
        yield opened


def spent(store: RunStore, experiment: Experiment) -> int:
    return sum(
        completion.usage.output_tokens or 0
        for grader in experiment.graders
        for _, completion in store.iter_completions(grader.grader_id)
    )


@pytest.mark.parametrize("room", [1, 7, 64])
@pytest.mark.parametrize("tokens", [1, 9, 10])
def test_the_limit_is_never_passed_and_nothing_that_fits_is_left_out(store: RunStore, room: int, tokens: int) -> None:
    experiment = make_experiment(100)
    client = Concurrent(lambda _item, _repeat: said(tokens), room)
    with pytest.raises(BudgetError, match=r"verdicts not asked for.*expected a larger --max-cost \(the same command"):
        run_experiment(experiment, store, lambda _: client, max_cost=50.0, worst_cost=worst)
    paid = spent(store, experiment)
    assert 50 - 10 < paid <= 50
    assert paid == tokens * len(client.asked)


def test_a_model_that_thinks_without_end_stays_within_the_limit_and_is_named(store: RunStore) -> None:
    experiment = make_experiment(200)
    runaway = {"17"}
    client = Concurrent(lambda item, _: said(900 if item.item_id in runaway else 1), 50)
    summary = run_experiment(
        experiment,
        store,
        lambda _: client,
        max_cost=250_000,
        worst_cost=lambda request, _: 1000.0 * len(request.repeats),
    )
    (outlier,) = summary.graders[0].outliers
    assert (outlier.item_id, outlier.amount, outlier.median) == ("17", 900.0, 1.0)
    assert any("item 17 cost $900" in line for line in summary.warnings())
    assert summary.cost is not None
    assert (summary.cost.amount, summary.cost.complete) == (199 + 900, True)


def test_the_same_command_does_not_spend_the_limit_twice_and_a_larger_one_goes_on(store: RunStore) -> None:
    experiment = make_experiment(30)
    for _ in range(3):
        with pytest.raises(BudgetError, match=r"\$50\.0000 spent, 20 verdicts not asked for"):
            run_experiment(
                experiment, store, lambda _: Concurrent(lambda *_: said(5), 8), max_cost=50.0, worst_cost=lambda *_: 5.0
            )
        assert spent(store, experiment) == 50
    run_experiment(
        experiment, store, lambda _: Concurrent(lambda *_: said(5), 8), max_cost=150.0, worst_cost=lambda *_: 5.0
    )
    assert spent(store, experiment) == 150


def test_the_limit_is_one_for_all_graders(store: RunStore) -> None:
    experiment = make_experiment(10, n_graders=3)
    with pytest.raises(BudgetError, match="15 verdicts not asked for"):
        run_experiment(
            experiment, store, lambda _: Concurrent(lambda *_: said(1), 4), max_cost=15.0, worst_cost=lambda *_: 1.0
        )
    assert spent(store, experiment) == 15


def test_what_does_not_fit_is_passed_over_for_what_does(store: RunStore) -> None:
    experiment = make_experiment(6)
    client = Concurrent(lambda *_: said(1), 1)
    with pytest.raises(BudgetError, match="1 verdicts not asked for"):
        run_experiment(
            experiment,
            store,
            lambda _: client,
            max_cost=20.0,
            worst_cost=lambda request, _: 100.0 if request.item.item_id == "0" else 1.0,
        )
    assert client.asked == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("reason", "n_asked"), [("timeout", 5), ("connection", 5), ("rate_limited", 40), ("overloaded", 40)]
)
def test_a_failed_call_that_may_have_been_billed_keeps_its_reservation(
    store: RunStore, reason: str, n_asked: int
) -> None:
    experiment = make_experiment(40)
    client = Concurrent(lambda *_: CallFailure(reason, ""), 3)

    def run() -> None:
        run_experiment(experiment, store, lambda _: client, max_cost=50.0, worst_cost=worst)

    if n_asked == 40:
        run()
        run()
        assert len(client.asked) == 80
        return
    for _ in range(2):
        with pytest.raises(BudgetError, match=r"\$0\.0000 spent and up to \$50\.0000 for calls whose cost was never"):
            run()
        assert len(client.asked) == n_asked


def test_failed_attempts_are_on_the_bill(store: RunStore) -> None:
    experiment = make_experiment(40)
    cut = CallFailure("unreadable_reply", "", Usage(2, 2))
    client = Concurrent(lambda *_: said(1), 1, (cut,))
    with pytest.raises(BudgetError, match=r"\$45\.0000 spent"):
        run_experiment(experiment, store, lambda _: client, max_cost=50.0, worst_cost=worst)
    assert len(client.asked) == 9
    assert list(store.failed_usage(experiment.graders[0].grader_id)) == [Usage(2, 2)] * 9


def test_a_completion_without_counts_is_not_taken_as_free(store: RunStore) -> None:
    experiment = make_experiment(40)
    client = Concurrent(lambda *_: Completion("A", "m"), 2)
    with pytest.raises(BudgetError, match="35 verdicts not asked for"):
        run_experiment(experiment, store, lambda _: client, max_cost=50.0, worst_cost=worst)


def test_without_a_price_there_is_no_budget(store: RunStore) -> None:
    experiment = make_experiment(2, price=None)
    with pytest.raises(BudgetError, match=r"no price is known for openai/m0; expected one .*capabilities = \{ price"):
        run_experiment(experiment, store, lambda _: Concurrent(lambda *_: said(1), 1), max_cost=5.0, worst_cost=worst)
    assert store.list_runs() == []
    summary = run_experiment(experiment, store, lambda _: Concurrent(lambda *_: said(1), 1))
    assert summary.cost is None
    with pytest.raises(BudgetError, match="price"):
        check_prices(experiment.graders)


def test_batch_completions_count_at_their_price(store: RunStore) -> None:
    from experiments.batch.records import BatchRecords

    experiment = make_experiment(10, price=replace(DOLLAR, batch=0.5))
    (grader,) = experiment.graders
    key = CompletionKey(experiment.calibration_set.items[0].digest, 0)
    BatchRecords(store).claim(grader.grader_id, "job", [key])
    store.append(grader.grader_id, key, said(10))
    client = Concurrent(lambda *_: said(1), 1)
    with pytest.raises(BudgetError, match=r"\$8\.0000 spent, 6 verdicts"):
        run_experiment(experiment, store, lambda _: client, max_cost=8.0, worst_cost=lambda *_: 1.0)


def test_answers_before_a_service_gives_up_are_stored(store: RunStore) -> None:
    experiment = make_experiment(5)

    def rule(item: Item, _repeat: int) -> Completion:
        if item.item_id == "3":
            raise ServiceError("openai/m0: no quota")
        return said(1)

    with pytest.raises(ServiceError, match="no quota"):
        run_experiment(experiment, store, lambda _: Concurrent(rule, 2), max_cost=99.0, worst_cost=worst)
    assert store.count_completions() == 3


@given(st.lists(st.tuples(st.integers(1, 10), st.integers(0, 10)), max_size=30), st.integers(0, 60), st.integers(1, 9))
def test_a_meter_keeps_the_limit_in_any_order_of_answers(calls: list[tuple[int, int]], limit: int, step: int) -> None:
    experiment = make_experiment(len(calls) or 1)
    budget = Budget(limit, lambda request, _: float(calls[int(request.item.item_id)][0]))
    meter = CostMeter(budget, experiment.graders[0])
    open_items: list[tuple[Item, int]] = []
    real = 0
    for place, (worst_case, cost) in enumerate(calls):
        item = experiment.calibration_set.items[place]
        if meter.admit(Request(item, (0,), None, Sampling(), SIMPLEQA)):
            open_items.append((item, min(worst_case, cost)))
        while len(open_items) >= step:
            done, tokens = open_items.pop(place % len(open_items))
            real += tokens
            meter.settle([Answer(done.digest, 0, said(tokens))])
        assert budget.spent == pytest.approx(real)
        assert budget.spent + budget.reserved <= limit + 1e-6
    meter.close()
    assert budget.reserved == 0
    assert meter.idle


def test_two_runs_at_once_share_one_limit(tmp_path: Path) -> None:
    experiment = make_experiment(40, n_graders=2)

    def slow(_item: Item, _repeat: int) -> Completion:
        time.sleep(0.01)
        return said(5)

    def spend() -> None:
        with RunStore(tmp_path / "s.sqlite") as own, contextlib.suppress(BudgetError):
            run_experiment(experiment, own, lambda _: Concurrent(slow, 4), max_cost=100.0, worst_cost=lambda *_: 5.0)

    with RunStore(tmp_path / "s.sqlite") as store:
        runs = [threading.Thread(target=spend) for _ in range(3)]
        for run in runs:
            run.start()
        for run in runs:
            run.join()
        assert spent(store, experiment) == 100
