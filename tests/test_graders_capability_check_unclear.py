"""What a check must not hold against the ledger, and when it must not give the all-clear."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from fault_replies import DropConnection, EmptyContent, Fault, HalfJson, Ok, Status
from fault_server import FaultServer, at_calls

from graders.capability_check import CheckResult, check_capabilities
from graders.endpoint import Endpoint
from graders.errors import ServiceError
from graders.grader import Grader
from graders.ledger import find_model
from graders.providers.openai_service import forget_refusals
from graders.sampling import Sampling

REFUSED_EFFORT = Status(
    400, body='{"error": {"message": "tools with it are not supported", "param": "reasoning_effort"}}'
)


@pytest.fixture(autouse=True)
def _nothing_learnt() -> None:
    forget_refusals()


def check(server: FaultServer, model: str) -> CheckResult:
    endpoint = Endpoint(base_urls=(server.openai_url,))
    return check_capabilities(Grader(model, Sampling(), endpoint=endpoint, capabilities=find_model(model).capabilities))


def wrong(result: CheckResult) -> list[str]:
    return [finding.capability for finding in result.wrong]


def test_fields_that_a_server_passes_over_are_not_held_against_the_ledger() -> None:
    with FaultServer() as server:
        assert wrong(check(server, "vllm-server/x")) == []


def test_a_seed_that_is_taken_is_not_yet_honoured() -> None:
    with FaultServer() as server:
        assert "seed" not in wrong(check(server, "openai/gpt-5.1"))


@pytest.mark.parametrize(
    "fault", [Status(503), Status(429), DropConnection(), HalfJson()], ids=lambda f: type(f).__name__
)
def test_a_service_that_never_answers_is_no_all_clear(fault: Fault) -> None:
    with FaultServer([fault]) as server, pytest.raises(ServiceError, match="expected a reply to a plain request"):
        check(server, "openai/gpt-4.1")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "calls"), [(EmptyContent(), (3, 4, 5)), (REFUSED_EFFORT, (4,))], ids=["empty", "effort"]
)
def test_an_empty_reply_or_another_refusal_is_unclear(fault: Fault, calls: Sequence[int]) -> None:
    with FaultServer(at_calls(dict.fromkeys(calls, fault), Ok())) as server:
        result = check(server, "openai/gpt-5.1")
    assert wrong(result) == []
    assert sum(finding.service.startswith("unclear") for finding in result.findings) >= len(calls)


def test_no_seed_goes_out_where_something_else_is_asked() -> None:
    with FaultServer() as server:
        check(server, "openai/gpt-4.1")
    assert [place for place, call in enumerate(server.requests) if "seed" in call.body] == [7]


def test_a_reply_that_may_have_been_paid_makes_the_cost_a_lower_bound() -> None:
    with FaultServer(at_calls({3: HalfJson()})) as server:
        assert str(check(server, "openai/gpt-4.1").cost).startswith("at least ")
