"""Tokens before a request is made."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from graders.client import Request
from graders.grader import Grader
from graders.ledger import find_model
from graders.prompt_library import load_prompt
from graders.sampling import Sampling
from graders.token_estimate import estimate_request, estimate_tokens

PROMPT = load_prompt("simpleqa_verified")
ITEM = Item("i", "Who?", parse_reference("Ada"), "It was Ada.", "c")


def request(repeats: int, *, prompt: bool = True, sampling: Sampling | None = None) -> Request:
    used = PROMPT if prompt else None
    return Request(ITEM, tuple(range(repeats)), used, sampling or Sampling(), SIMPLEQA)


def grader(model: str = "anthropic/claude-opus-5", **sampling: object) -> Grader:
    chosen = replace(Sampling(), **sampling)  # type: ignore[arg-type]
    return Grader(model, chosen, PROMPT, capabilities=find_model(model).capabilities)


@given(st.text(max_size=300))
def test_expected_is_never_above_the_most(text: str) -> None:
    told = estimate_tokens(text, "anthropic/m")
    assert 0 <= told.expected <= told.most
    assert told.most >= len(text.encode("utf-8", "surrogatepass")) / 2


def test_lone_surrogates_are_counted() -> None:
    assert estimate_tokens("\ud800", "anthropic/m").most > 0


def test_each_call_bills_the_prompt_once_and_each_repeat_its_reply() -> None:
    one, ten = (estimate_request(request(10), grader(), choices) for choices in (10, 1))
    assert one[0].input_tokens is not None
    assert ten[0].input_tokens == 10 * one[0].input_tokens
    assert ten[0].output_tokens == one[0].output_tokens
    assert one[1].output_tokens == 10 * Sampling().max_tokens


def test_a_grader_without_a_prompt_takes_no_tokens() -> None:
    expected, most = estimate_request(request(3, prompt=False), grader(), 1)
    assert (expected.input_tokens, most.output_tokens) == (0, 0)


@pytest.mark.parametrize(
    ("model", "effort", "thinks"),
    [
        ("openai/o3-2025-04-16", None, True),
        ("openai/gpt-5.2-2025-12-11", "none", False),
        ("anthropic/claude-opus-5", None, True),
        ("anthropic/claude-opus-5", "high", True),
        ("openai/gpt-4.1-2025-04-14", None, False),
    ],
)
def test_thinking_is_expected_of_models_that_think(model: str, effort: str | None, thinks: bool) -> None:
    expected, _ = estimate_request(request(1), grader(model, reasoning_effort=effort, max_tokens=4096), 1)
    assert expected.output_tokens is not None
    assert (expected.output_tokens > 100) == thinks
