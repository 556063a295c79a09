"""What is sent to Anthropic's Messages, and what is read in their replies. No network."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from graders.capabilities import Capabilities
from graders.client import Request
from graders.dispatch.service import CallError
from graders.endpoint import Endpoint
from graders.errors import GraderError, UnsupportedError
from graders.grader import Grader
from graders.prompt_library import load_prompt
from graders.providers.anthropic_messages import build_messages_body, read_message
from graders.sampling import Sampling
from graders.verdict import Completion, Usage

PROMPT = load_prompt("simpleqa@1.0.0")
ITEM = Item("i1", "Where is Paris?", parse_reference("France"), "In France.", "q1")
COLD = Capabilities(api="messages", temperature=None, json_schema=True, tool_call=True, efforts=("low", "high"))
WARM = replace(COLD, temperature=(0.0, 1.0))


def make(
    capabilities: Capabilities = COLD, endpoint: Endpoint | None = None, **sampling: Any
) -> tuple[Request, Grader]:
    endpoint = endpoint or Endpoint(("http://127.0.0.1:1",))
    grader = Grader("anthropic/m", Sampling(**sampling), PROMPT, endpoint=endpoint, capabilities=capabilities)
    return Request(ITEM, (3,), PROMPT, grader.sampling, SIMPLEQA), grader


def body_of(capabilities: Capabilities = COLD, **sampling: Any) -> dict[str, Any]:
    return build_messages_body(*make(capabilities, **sampling))


def said(content: object, stop: object = "end_turn", **more: Any) -> dict[str, Any]:
    return {"type": "message", "model": "m-1", "content": content, "stop_reason": stop, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def read(reply: object, **sampling: Any) -> Completion:
    request, grader = make(**sampling)
    (answer,) = read_message(reply, request, grader, {}).answers
    assert (answer.item_digest, answer.repeat) == (ITEM.digest, 3)
    assert isinstance(answer.outcome, Completion)
    return answer.outcome


def test_only_what_was_asked_is_sent() -> None:
    body = body_of(max_tokens=9)
    assert set(body) == {"model", "max_tokens", "messages"}
    assert (body["model"], body["max_tokens"]) == ("m", 9)


def test_what_items_share_is_a_block_of_its_own_that_is_kept() -> None:
    shared, own = body_of()["messages"][0]["content"]
    assert shared == {"type": "text", "text": PROMPT.shared_text, "cache_control": {"type": "ephemeral"}}
    assert set(own) == {"type", "text"}
    assert shared["text"] + own["text"] == PROMPT.render(ITEM)


def test_a_refused_cache_mark_is_left_out_and_the_text_stays() -> None:
    request, grader = make()
    content = build_messages_body(request, grader, frozenset({"cache_control"}))["messages"][0]["content"]
    assert "cache_control" not in json.dumps(content)
    assert "".join(part["text"] for part in content) == PROMPT.render(ITEM)


@pytest.mark.parametrize("channel", ["letter", "word", "json", "tool"])
def test_no_sampling_parameter_is_sent_to_a_model_that_takes_none(channel: str) -> None:
    assert not {"temperature", "top_p", "top_k", "seed", "n"} & set(body_of(channel=channel, temperature=0.5, seed=4))


def test_temperature_is_sent_where_it_is_taken() -> None:
    assert body_of(WARM, temperature=0.5)["temperature"] == 0.5


def test_a_temperature_out_of_range_is_left_to_the_service_only_with_consent() -> None:
    assert body_of(WARM, temperature=2.0)["temperature"] == 2.0
    consenting = Endpoint(("http://127.0.0.1:1",), on_unsupported="provider-default")
    request, grader = make(WARM, consenting, temperature=2.0)
    assert "temperature" not in build_messages_body(request, grader)
    (answer,) = read_message(said([text("A")]), request, grader, {}).answers
    assert isinstance(answer.outcome, Completion)
    assert answer.outcome.effective_sampling["temperature"] is None


def test_json_is_held_to_a_schema_of_the_spoken_labels() -> None:
    output = body_of(channel="json")["output_config"]["format"]
    assert output["type"] == "json_schema"
    assert sorted(output["schema"]["properties"]["verdict"]["enum"]) == ["A", "B", "C"]


def test_a_tool_is_forced_and_called_once() -> None:
    body = body_of(channel="tool")
    assert [tool["name"] for tool in body["tools"]] == ["give_verdict"]
    assert sorted(body["tools"][0]["input_schema"]["properties"]["verdict"]["enum"]) == ["A", "B", "C"]
    assert body["tool_choice"] == {"type": "tool", "name": "give_verdict", "disable_parallel_tool_use": True}


def test_effort_goes_beside_the_format() -> None:
    assert body_of(reasoning_effort="low", channel="json")["output_config"].keys() == {"effort", "format"}


@pytest.mark.parametrize("sampling", [{"channel": "logprobs"}, {"method": "exact"}])
def test_log_probabilities_are_not_to_be_had(sampling: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedError, match="log-probabilities"):
        body_of(**sampling)


def test_a_prompt_that_is_continued_is_not_taken() -> None:
    request, grader = make()
    continued = replace(request, prompt=replace(PROMPT, form="completion"))
    with pytest.raises(UnsupportedError, match="plain text"):
        build_messages_body(continued, grader)


def test_without_a_prompt_nothing_can_be_asked() -> None:
    request, grader = make()
    with pytest.raises(GraderError, match="no prompt"):
        build_messages_body(replace(request, prompt=None), grader)


def test_thinking_is_never_the_verdict() -> None:
    thoughts = [{"type": "thinking", "thinking": "A", "signature": "s"}, {"type": "redacted_thinking", "data": "A"}]
    assert read(said([*thoughts, text("B")])).text == "B"
    assert read(said(thoughts)).text is None


def test_text_blocks_are_joined() -> None:
    assert read(said([text("CORR"), text("ECT")])).text == "CORRECT"


def test_a_tools_input_is_the_text() -> None:
    call = {"type": "tool_use", "id": "t", "name": "give_verdict", "input": {"verdict": "B"}}
    completion = read(said([text("I take A."), call], "tool_use"), channel="tool")
    assert json.loads(completion.text or "") == {"verdict": "B"}
    assert completion.stop_reason == "stop"


@pytest.mark.parametrize(
    ("stop", "normal"),
    [
        ("end_turn", "stop"),
        ("tool_use", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("Pause_Turn", "pause_turn"),
        (None, None),
        (7, None),
    ],
)
def test_reasons_to_stop(stop: object, normal: str | None) -> None:
    assert read(said([text("A")], stop)).stop_reason == normal


def test_input_tokens_include_what_was_cached() -> None:
    counts = {
        "input_tokens": 4,
        "cache_read_input_tokens": 10,
        "cache_creation_input_tokens": 6,
        "output_tokens": 2,
        "output_tokens_details": {"thinking_tokens": 1},
    }
    assert read(said([text("A")], usage=counts)).usage == Usage(20, 2, 10, 6, 1)


@pytest.mark.parametrize("counts", [None, 7, [], {"input_tokens": "x", "output_tokens": -1}, {"output_tokens": True}])
def test_counts_that_are_none_are_unknown(counts: object) -> None:
    usage = read(said([text("A")], usage=counts)).usage
    assert (usage.input_tokens, usage.output_tokens) == (None, None)


def test_what_was_in_force_is_said() -> None:
    completion = read(said([text("A")]), channel="json", temperature=0.5, max_tokens=9, reasoning_effort="low")
    assert completion.effective_sampling == {
        "temperature": None,
        "seed": None,
        "max_tokens": 9,
        "constrained": True,
        "reasoning_effort": "low",
    }


@pytest.mark.parametrize("reply", [None, 7, "A", [], {}, {"content": None}, said(7), said({"text": "A"})])
def test_what_is_no_message_cannot_be_read(reply: object) -> None:
    request, grader = make()
    with pytest.raises(CallError) as raised:
        read_message(reply, request, grader, {})
    assert raised.value.kind == "unreadable_reply"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("overloaded_error", "overloaded"),
        ("rate_limit_error", "rate_limited"),
        ("authentication_error", "bad_key"),
        ("api_error", "server_error"),
    ],
)
def test_an_error_that_came_as_a_success(kind: str, expected: str) -> None:
    request, grader = make()
    with pytest.raises(CallError) as raised:
        read_message({"type": "error", "error": {"type": kind, "message": "no"}}, request, grader, {})
    assert raised.value.kind == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
BLOCK = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use", "thinking", "image"]) | JSON},
    optional={"text": JSON, "thinking": JSON, "name": JSON, "input": JSON},
)
MESSAGE = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("type", "model", "usage", "stop_reason", "error", "content"), JSON)
) | st.builds(said, st.lists(BLOCK | JSON, max_size=3), JSON, usage=JSON)


@given(JSON | MESSAGE)
def test_any_json_is_a_completion_or_an_error_of_the_call(reply: object) -> None:
    request, grader = make()
    try:
        (answer,) = read_message(reply, request, grader, {}).answers
    except CallError:
        return
    assert isinstance(answer.outcome, Completion)
    assert answer.outcome.text is None or isinstance(answer.outcome.text, str)
