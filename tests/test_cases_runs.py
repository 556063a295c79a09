"""What has been lost, doubled or dressed up by resuming, caching and counting, each with variants of its kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from calibration_sets import SIMPLEQA, CalibrationSet, Item, LabelScale, parse_reference
from calibration_sets.item import HumanLabel
from experiments.reports import build_report, render_text
from experiments.running.plan import build_plan, pending_requests
from experiments.running.runner import run_experiment
from experiments.specs.experiment import Experiment
from experiments.store.run_records import load_run_data
from experiments.store.run_store import CompletionKey, RunStore
from graders.client import Answer, Request
from graders.grader import Grader
from graders.sampling import Sampling
from graders.verdict import CallFailure, Completion

RUBRIC = "rules@1.0.0"
Rule = Callable[[Request], "str | CallFailure"]
"""What is said to a request for one repeat."""


class Scripted:
    """A client that answers by a rule and keeps an account of what it was asked."""

    def __init__(self, answer: Rule) -> None:
        self.answer = answer
        self.asked: list[tuple[str, int]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        for request in requests:
            for repeat in request.repeats:
                self.asked.append((request.item.item_id, repeat))
                said = self.answer(replace(request, repeats=(repeat,)))
                outcome = said if isinstance(said, CallFailure) else Completion(said, "scripted")
                yield [Answer(request.item.digest, repeat, outcome)]


def make_set(
    n_items: int, *, scale: LabelScale = SIMPLEQA, changes: Mapping[int, Mapping[str, Any]] = {}
) -> CalibrationSet:
    items = [
        Item(str(n), f"Question {n}?", parse_reference(f"gold {n}"), f"answer {n}", f"c{n}") for n in range(n_items)
    ]
    items = [replace(item, **changes.get(number, {})) for number, item in enumerate(items)]
    labels = tuple(HumanLabel(item.item_id, item.digest, "anna", "CORRECT", RUBRIC) for item in items)
    return CalibrationSet("s", "1.0.0", RUBRIC, scale, "human", "CC0", "us", "", tuple(items), labels)


def make_experiment(
    calibration_set: CalibrationSet, repeats: int = 1, *, model: str = "local/x", sampling: Sampling | None = None
) -> Experiment:
    grader = Grader(model, sampling or Sampling(repeats=repeats))
    return Experiment("e", "", calibration_set, len(calibration_set.items), calibration_set.digest, (grader,))


def run(experiment: Experiment, store: RunStore, answer: Rule = lambda _: "A") -> list[tuple[str, int]]:
    client = Scripted(answer)
    run_experiment(experiment, store, lambda _: client)
    return client.asked


def report_of(experiment: Experiment, store: RunStore) -> dict[str, Any]:
    data, analyses = load_run_data(store, experiment.run_id)
    return build_report(data, level=analyses.level)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore(tmp_path / "s.sqlite") as opened:
        yield opened


# --- resuming -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("done", "failed"),
    [([0, 1, 3, 4, 5, 6, 7, 8, 9], [2]), ([11], [0, 1]), ([], [5]), (list(range(12)), []), ([1, 3, 5], [1, 3, 5])],
)  # fmt: skip
def test_what_is_pending_is_what_has_no_success_by_content(store: RunStore, done: list[int], failed: list[int]) -> None:
    calibration_set = make_set(12)
    experiment = make_experiment(calibration_set)
    (grader,) = experiment.graders
    for number in failed:
        store.append(
            grader.grader_id, CompletionKey(calibration_set.items[number].digest, 0), CallFailure("timeout", "")
        )
    for number in done:
        store.append(grader.grader_id, CompletionKey(calibration_set.items[number].digest, 0), Completion("A", "m"))
    expected = [str(number) for number in range(12) if number not in done]
    assert [request.item.item_id for request in pending_requests(experiment, grader, store)] == expected
    assert build_plan(experiment, store).n_pending == len(expected)
    assert [item_id for item_id, _ in run(experiment, store)] == expected
    assert store.count_completions() == 12
    assert run(experiment, store) == []


def test_a_failure_then_a_success_counts_once_and_the_failure_stays_as_history(store: RunStore) -> None:
    experiment = make_experiment(make_set(20))
    failing = run(
        experiment, store, lambda request: CallFailure("overloaded", "529") if request.item.item_id == "7" else "A"
    )
    assert len(failing) == 20
    assert run(experiment, store) == [("7", 0)]
    (grader,) = report_of(experiment, store)["graders"]
    assert (grader["n_expected"], grader["n_verdicts"], grader["coverage"]) == (20, 20, 1.0)
    assert len(store.call_failures(experiment.graders[0].grader_id)) == 1


def test_a_failed_item_stays_pending_and_in_the_denominator(store: RunStore) -> None:
    experiment = make_experiment(make_set(2))
    for _ in range(3):
        run(experiment, store, lambda request: CallFailure("timeout", "") if request.item.item_id == "1" else "A")
    pending = pending_requests(experiment, experiment.graders[0], store)
    assert [request.item.item_id for request in pending] == ["1"]
    (grader,) = report_of(experiment, store)["graders"]
    assert (grader["n_expected"], grader["n_verdicts"], grader["coverage"]) == (2, 1, 0.5)
    assert grader["failures"] == {"not_answered": 1}


def test_an_interruption_in_the_middle_keeps_what_was_answered(store: RunStore) -> None:
    experiment = make_experiment(make_set(6), repeats=3)

    def stop_at_four(request: Request) -> str:
        if request.item.item_id == "4":
            raise KeyboardInterrupt
        return "A"

    with pytest.raises(KeyboardInterrupt):
        run(experiment, store, stop_at_four)
    assert run(experiment, store) == [(item_id, repeat) for item_id in "45" for repeat in range(3)]


CHANGES: Mapping[str, Callable[[], Experiment]] = {
    "question": lambda: make_experiment(make_set(3, changes={1: {"question": "Another?"}})),
    "response": lambda: make_experiment(make_set(3, changes={1: {"response": "another"}})),
    "reference": lambda: make_experiment(make_set(3, changes={1: {"reference": parse_reference("another")}})),
}
ALL_CHANGED: Mapping[str, Callable[[], Experiment]] = {
    "model": lambda: make_experiment(make_set(3), model="local/y"),
    "temperature": lambda: make_experiment(make_set(3), sampling=Sampling(0.0, 1)),
    "seed": lambda: make_experiment(make_set(3), sampling=Sampling(repeats=1, seed=1)),
    "max_tokens": lambda: make_experiment(make_set(3), sampling=Sampling(repeats=1, max_tokens=8)),
    "channel": lambda: make_experiment(make_set(3), sampling=Sampling(repeats=1, channel="json")),
    "constrained": lambda: make_experiment(make_set(3), sampling=Sampling(repeats=1, constrained=False)),
    "method": lambda: make_experiment(make_set(3), sampling=Sampling(repeats=1, method="exact")),
    "reasoning_effort": lambda: make_experiment(make_set(3), sampling=Sampling(repeats=1, reasoning_effort="low")),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_item_is_asked_again_and_no_other(store: RunStore, what: str) -> None:
    run(make_experiment(make_set(3)), store)
    assert run(CHANGES[what](), store) == [("1", 0)]


@pytest.mark.parametrize("what", ALL_CHANGED)
def test_nothing_is_reused_under_another_setting(store: RunStore, what: str) -> None:
    first, second = make_experiment(make_set(3)), ALL_CHANGED[what]()
    run(first, store)
    assert len(run(second, store)) == 3
    assert first.run_id != second.run_id


def test_names_and_order_are_no_reason_to_pay_again(store: RunStore) -> None:
    calibration_set = make_set(3)
    run(make_experiment(calibration_set), store)
    other = replace(calibration_set, name="renamed", version="1.0.1", items=calibration_set.items[::-1])
    assert run(make_experiment(other), store) == []


def test_a_limit_runs_first_and_the_rest_later(store: RunStore) -> None:
    whole = make_set(5)
    part = replace(whole, items=whole.items[:2], human_labels=whole.human_labels[:2])
    assert len(run(make_experiment(part), store)) == 2
    assert [item_id for item_id, _ in run(make_experiment(whole), store)] == ["2", "3", "4"]


def test_a_message_of_a_service_is_no_verdict_and_no_other_run_s_evidence(store: RunStore) -> None:
    old, new = make_experiment(make_set(2)), make_experiment(make_set(2), sampling=Sampling(repeats=1, seed=1))
    run(old, store)
    run(new, store, lambda _: "You have reached your session limit")
    (grader,) = report_of(new, store)["graders"]
    assert (grader["n_verdicts"], grader["failures"]) == (0, {"unparsed": 2})
    assert report_of(old, store)["graders"][0]["n_verdicts"] == 2


# --- repeats and what is paid ------------------------------------------------------------------------------


@pytest.mark.parametrize("repeats", [1, 5, 10])
def test_repeats_are_calls_of_their_own_and_are_replayed_as_they_were(store: RunStore, repeats: int) -> None:
    experiment = make_experiment(make_set(2), repeats)
    asked = run(experiment, store, lambda request: "ABC"[request.repeats[0] % 3])
    assert Counter(asked) == {(item_id, repeat): 1 for item_id in "01" for repeat in range(repeats)}
    first = report_of(experiment, store)
    assert run(experiment, store, lambda _: "B") == []
    assert report_of(experiment, store) == first
    labels = first["graders"][0]["confusion"]["counts"][2]
    assert sum(labels) == 2 * repeats
    assert (min(labels) > 0) == (repeats > 2)


def test_more_repeats_pay_for_the_new_ones_only(store: RunStore) -> None:
    calibration_set = make_set(1)
    run(make_experiment(calibration_set, 3), store)
    assert run(make_experiment(calibration_set, 5), store) == [("0", 3), ("0", 4)]
    assert run(make_experiment(calibration_set, 2), store) == []


def test_items_of_one_content_are_asked_once(store: RunStore) -> None:
    same = {"question": "Same?", "reference": parse_reference("same"), "response": "same"}
    experiment = make_experiment(make_set(3, changes={0: same, 2: same}), 2)
    assert len(run(experiment, store)) == 4
    assert report_of(experiment, store)["graders"][0]["n_expected"] == 6


# --- the denominator -----------------------------------------------------------------------------------------


FATES: Mapping[str, Rule] = {
    "timeout": lambda _: CallFailure("timeout", "60 s"),
    "no text": lambda _: "",
    "unreadable": lambda _: "%%%",
    "refused": lambda _: "I cannot grade this.",
    "off the scale": lambda _: "D",
    "two labels": lambda _: "A or B",
}


@pytest.mark.parametrize("fate", FATES)
def test_five_of_ten_that_fail_stay_in_every_count(store: RunStore, fate: str) -> None:
    experiment = make_experiment(make_set(10))
    run(experiment, store, lambda request: "A" if int(request.item.item_id) < 5 else FATES[fate](request))
    report = report_of(experiment, store)
    (grader,) = report["graders"]
    assert (grader["n_items"], grader["n_expected"], grader["n_verdicts"], grader["coverage"]) == (10, 10, 5, 0.5)
    assert sum(grader["failures"].values()) == 5
    assert grader["false_negative_rate"]["value"] == 0.0
    assert grader["false_negative_rate_bounds"] == [0.0, 0.5]
    assert "0.0% to 50.0%" in render_text(report)


def test_one_failure_among_four_is_the_same_n_everywhere(store: RunStore) -> None:
    experiment = make_experiment(make_set(4))
    replies = {"0": "A", "1": "A", "2": "B"}
    run(experiment, store, lambda request: replies.get(request.item.item_id) or CallFailure("crashed", ""))
    report = report_of(experiment, store)
    (grader,) = report["graders"]
    assert grader["n_items"] == grader["n_expected"] == 4
    assert grader["n_verdicts"] + sum(grader["failures"].values()) == 4
    assert grader["false_negative_rate"]["value"] == pytest.approx(1 / 3)
    assert grader["false_negative_rate_bounds"] == [1 / 4, 2 / 4]
    assert "3 valid verdicts of 4 asked for" in render_text(report)


def test_items_that_were_never_asked_are_missing_and_not_gone(store: RunStore) -> None:
    experiment = make_experiment(make_set(4), repeats=2)

    def break_off(request: Request) -> str:
        if request.item.item_id == "2":
            raise RuntimeError("the engine is gone")
        return "A"

    with pytest.raises(RuntimeError):
        run(experiment, store, break_off)
    (grader,) = report_of(experiment, store)["graders"]
    assert (grader["n_expected"], grader["n_verdicts"], grader["not_answered"]) == (8, 4, {"not_asked": 4})
    assert grader["false_negative_rate_bounds"] == [0.0, 0.5]
