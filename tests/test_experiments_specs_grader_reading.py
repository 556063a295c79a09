"""What is read of a grader: of this run alone, once, and the same in whatever order it was stored."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.scale import SIMPLEQA
from experiments.specs.grader_reading import GraderReading, GraderRecord, read_grader
from experiments.store.run_store import CompletionKey, RunStore
from graders.verdict import CallFailure, CallTime, Completion, Usage

PRICE = {"input": 0.15, "output": 0.6, "cached_input": 0.075}
RECORD = GraderRecord(
    grader_id="g",
    model="openai/m",
    prompt=None,
    rubric=None,
    channel="word",
    scale=SIMPLEQA,
    sampling={"temperature": 2.0, "repeats": 2, "method": "sampled"},
    price=PRICE,
)
EXACT = replace(RECORD, sampling={**RECORD.sampling, "method": "exact", "repeats": 10})


@pytest.fixture
def store(tmp_path: Any) -> Iterator[RunStore]:
    with RunStore(tmp_path / "s.sqlite") as opened:
        yield opened


@pytest.fixture
def small(runs: Any) -> CalibrationSet:
    whole: CalibrationSet = runs.labelled([runs.item(number) for number in range(3)], ["C", "I", "N"])
    return whole


def put(store: RunStore, small: CalibrationSet, number: int, repeat: int, answer: Completion | CallFailure) -> None:
    store.append("g", CompletionKey(small.items[number].digest, repeat), answer)


def read(store: RunStore, small: CalibrationSet, record: GraderRecord = RECORD) -> GraderReading:
    return read_grader(store, record, small, ("robust",))


def scored(text: str = "CORRECT", *, right: float = -0.1) -> Completion:
    logprobs = dict.fromkeys(SIMPLEQA.labels, -4.0) | {"CORRECT": right}
    return Completion(text, "m-1", label_logprobs=logprobs, effective_sampling={"constrained": True})


def test_failed_calls_are_those_of_this_runs_items(store: RunStore, small: CalibrationSet) -> None:
    put(store, small, 0, 0, CallFailure("timeout", "60 s", Usage(1_000_000, 0)))
    put(store, small, 0, 0, CallFailure("rate_limited", "429"))
    for key in (CompletionKey("f" * 64, 0), CompletionKey(small.items[1].digest, 7)):
        store.append("g", key, CallFailure("overloaded", "529", Usage(1_000_000, 0)))
    found = read(store, small)
    assert found.failed_calls == {"rate_limited": 1, "timeout": 1}
    assert found.cost.amount == pytest.approx(0.15)
    assert found.usage == Usage(1_000_000, 0)
    newest = [verdict.detail for verdict in found.verdicts["robust"] if verdict.item_digest == small.items[0].digest]
    assert newest == ["rate_limited", "not_asked"]


def test_a_failure_that_a_later_call_made_good_is_counted_and_paid(store: RunStore, small: CalibrationSet) -> None:
    put(store, small, 0, 0, CallFailure("unreadable_reply", "half", Usage(2_000_000, 0)))
    put(store, small, 0, 0, Completion("CORRECT", "m-1", usage=Usage(1_000_000, 0)))
    found = read(store, small)
    assert found.failed_calls == {"unreadable_reply": 1}
    assert found.cost.amount == pytest.approx(3 * 0.15)
    assert [verdict.label for verdict in found.verdicts["robust"]].count("CORRECT") == 1


@pytest.mark.parametrize("usage", [Usage(10, None), Usage(None, 3), Usage()])
def test_a_cost_of_which_a_part_is_not_known_is_a_lower_bound(
    store: RunStore, small: CalibrationSet, usage: Usage
) -> None:
    put(store, small, 0, 0, Completion("CORRECT", "m", usage=Usage(1_000_000, 1_000_000)))
    put(store, small, 1, 0, Completion("CORRECT", "m", usage=usage))
    found = read(store, small)
    assert not found.cost.complete
    assert str(found.cost).startswith("at least $0.75")


def test_the_order_of_storing_moves_no_digit_of_the_cost(tmp_path: Any, small: CalibrationSet) -> None:
    drawn = random.Random(3)
    calls = [
        (number, repeat, CallFailure("timeout", "", Usage(drawn.randint(1, 9_999), 7, 3)))
        for number in range(3)
        for repeat in range(2)
        for _ in range(40)
    ]
    amounts = set()
    for turn in range(4):
        drawn.shuffle(calls)
        with RunStore(tmp_path / f"{turn}.sqlite") as opened:
            for number, repeat, answer in calls:
                put(opened, small, number, repeat, answer)
            amounts.add(read(opened, small).cost.amount)
    assert len(amounts) == 1


def test_times_are_of_this_runs_replies_each_call_once(store: RunStore, small: CalibrationSet) -> None:
    both = CallTime(3.0, 2)
    for repeat in range(2):
        put(store, small, 0, repeat, Completion("CORRECT", "m", call_time=both))
    put(store, small, 1, 0, Completion("neither", "m", call_time=CallTime(1.0)))
    put(store, small, 1, 1, Completion("CORRECT", "m"))
    put(store, small, 2, 0, CallFailure("timeout", "60 s"))
    store.append("g", CompletionKey("f" * 64, 0), Completion("CORRECT", "m", call_time=CallTime(50.0)))
    store.append("g", CompletionKey(small.items[0].digest, 7), Completion("CORRECT", "m", call_time=CallTime(50.0)))
    times = read(store, small).times["robust"]
    # What took a second is no usable verdict: its time counts, its verdict does not. One reply has no time.
    assert (times.n_timed, times.n_untimed, times.n_valid) == (3, 1, 2)
    assert times.seconds == pytest.approx(4.0)
    assert times.thousand == pytest.approx(1000 * 4.0 / 2)


def test_which_verdicts_took_the_time_depends_on_the_parser(store: RunStore, small: CalibrationSet) -> None:
    lettered = replace(RECORD, channel="letter")
    put(store, small, 0, 0, Completion("INCORRECT", "m", call_time=CallTime(1.0)))
    put(store, small, 1, 0, Completion("no letter here", "m", call_time=CallTime(1.0)))
    times = read_grader(store, lettered, small, ("robust", "official")).times
    assert (times["robust"].n_valid, times["robust"].thousand) == (1, 2000.0)
    # The official rule calls what it cannot read not attempted.
    assert (times["official"].n_valid, times["official"].thousand) == (2, 1000.0)


def test_a_call_whose_repeats_are_computed_is_one_verdict(store: RunStore, small: CalibrationSet) -> None:
    put(store, small, 0, 0, replace(scored(), call_time=CallTime(0.5)))
    put(store, small, 1, 0, Completion("CORRECT", "m-1", call_time=CallTime(0.5)))
    times = read(store, small, EXACT).times["robust"]
    # The second has no log-probabilities, so no distribution.
    assert (times.n_timed, times.n_valid, times.thousand) == (2, 1, 1000.0)


def test_an_exact_grader_has_one_verdict_an_item_and_its_distribution(store: RunStore, small: CalibrationSet) -> None:
    put(store, small, 0, 0, scored())
    put(store, small, 1, 0, Completion("CORRECT", "m-1"))
    put(store, small, 0, 1, scored("INCORRECT", right=-9.0))  # a draw of a sampled run is none of its own
    found = read(store, small, EXACT)
    labels = {verdict.item_digest: (verdict.label, verdict.failure) for verdict in found.verdicts["robust"]}
    assert [labels[item.digest] for item in small.items] == [
        ("CORRECT", None),
        (None, "unparsed"),
        (None, "not_answered"),
    ]
    assert len(found.verdicts["robust"]) == 3
    first = found.distributions[small.items[0].digest].probabilities
    assert first is not None
    assert max(first, key=first.__getitem__) == "CORRECT"
    # The text says CORRECT, but without log-probabilities there is no distribution to read it as.
    assert found.distributions[small.items[1].digest].failure == "unparsed"


def test_a_sampled_grader_has_no_distribution_whatever_was_listed(store: RunStore, small: CalibrationSet) -> None:
    put(store, small, 0, 0, scored())
    put(store, small, 0, 1, scored("INCORRECT", right=-0.9))
    found = read(store, small)
    assert found.distributions == {}
    assert found.label_logprobs[small.items[0].digest]["CORRECT"] == -0.1


def test_models_and_backends_are_counted_by_completion(store: RunStore, small: CalibrationSet) -> None:
    for number, (model, backend) in enumerate([("m-1", "fp-a"), ("m-1", "fp-b"), ("m-2", None)]):
        put(store, small, number, 0, Completion("CORRECT", model, fingerprint=backend, usage=Usage(5, 2)))
    found = read(store, small)
    assert found.served == {"m-1": 2, "m-2": 1}
    assert found.fingerprints == {"fp-a": 1, "fp-b": 1}
    assert set(found.item_tokens.values()) == {7}


def test_a_record_of_before_prices_loads(store: RunStore, small: CalibrationSet) -> None:
    put(store, small, 0, 0, Completion("CORRECT", "m", usage=Usage(5, 2)))
    found = read(store, small, replace(RECORD, price=None))
    assert not found.cost.complete
    assert found.usage == Usage(5, 2)
