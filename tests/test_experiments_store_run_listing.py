"""What a run did, for people: nothing where there is nothing to tell, and nothing left out where there is."""

from __future__ import annotations

from collections import Counter

from experiments.running.account import CostOutlier, GraderSummary
from experiments.running.runner import RunSummary
from experiments.store.run_listing import describe_summary
from graders.pricing import Cost
from graders.verdict import Usage


def summary(
    *,
    failures: dict[str, int] | None = None,
    attempts: dict[str, int] | None = None,
    usage: Usage | None = None,
    cost: Cost | None = None,
    served: tuple[str, ...] = ("m",),
    outliers: tuple[CostOutlier, ...] = (),
) -> RunSummary:
    used = usage or Usage(0, 0)
    grader = GraderSummary("g \x1b[31m", 3, Counter(failures), Counter(attempts), used, cost, served, outliers)
    return RunSummary("run-1", (grader,))


def test_a_run_without_trouble_or_cost_says_nothing() -> None:
    assert describe_summary(summary()) == []
    assert describe_summary(summary(cost=Cost(0.0))) == []


def test_failures_are_told_by_reason_with_what_to_do() -> None:
    assert describe_summary(summary(failures={"timeout": 2, "overloaded": 1}, attempts={"rate_limited": 4})) == [
        "calls without an answer: overloaded 1, timeout 2; the same command asks for them again",
        "attempts that failed before another succeeded: rate_limited 4",
    ]
    (line,) = describe_summary(summary(failures={"not_recorded": 5}))
    assert line.endswith("they are not in the recording")


def test_the_cost_is_told_with_its_tokens_and_as_a_lower_bound_where_it_is_one() -> None:
    usage = Usage(12_000, 300, cached_tokens=9_000)
    assert describe_summary(summary(usage=usage, cost=Cost(1.5))) == [
        "cost of this run: $1.50 (12,000 tokens in, 9,000 of them cached, 300 out)"
    ]
    (line,) = describe_summary(summary(usage=Usage(10, 1), cost=Cost(0.0, complete=False)))
    assert line == "cost of this run: at least $0.0000 (10 tokens in, 1 out)"


def test_warnings_come_last_and_cannot_act_on_the_terminal() -> None:
    lines = describe_summary(summary(served=("m", "n"), outliers=(CostOutlier("i7", 0.5, 0.01),)))
    assert [line.partition(": ")[0] for line in lines] == ["warning", "warning"]
    assert "the served model changed within the run: m, n" in lines[0]
    assert "item i7 cost $0.5000, 50 times the median" in lines[1]
    assert "\x1b" not in "".join(lines)
