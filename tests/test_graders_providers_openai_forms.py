"""Bodies of calls and the reading of replies, without any server."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
from graders.grader import Grader
from graders.parsing import parse_completion
from graders.prompt_library import load_prompt
from graders.providers.openai_chat import build_chat_body, chat_path, effective_sampling, read_chat
from graders.providers.openai_form import CallForm, first_form
from graders.providers.openai_responses import build_responses_body, read_responses
from graders.providers.openai_stream import read_stream
from graders.providers.seeds import draw_seed
from graders.sampling import Sampling
from graders.verdict import Completion, Usage

FULL = Capabilities(
    max_choices=10,
    top_logprobs=20,
    label_logprobs=True,
    json_schema=True,
    tool_call=True,
    choice=True,
    seed=True,
    completions=True,
    efforts=("low",),
)
ITEM = Item("i1", "Where is Paris?", parse_reference("France"), "In France.", "q1")
LENIENT = Endpoint(on_unsupported="provider-default")


def make(
    model: str = "vllm-server/m",
    *,
    known: Capabilities = FULL,
    endpoint: Endpoint | None = None,
    prompt: str = "simpleqa@1.0.0",
    repeats: Sequence[int] = (0,),
    **sampling: Any,
) -> tuple[Request, CallForm]:
    text = load_prompt(prompt)
    grader = Grader(model, Sampling(**sampling), text, endpoint=endpoint or Endpoint(), capabilities=known)
    return Request(ITEM, tuple(repeats), text, grader.sampling, SIMPLEQA), first_form(grader)


def body_of(request: Request, form: CallForm, label_ids: Sequence[int] | None = None) -> dict[str, Any]:
    return build_chat_body(request, form, request.repeats[: form.choices(request)], label_ids)


def read(body: object, *, repeats: Sequence[int] = (0,), **sampling: Any) -> list[Completion]:
    request, form = make(repeats=repeats, **sampling)
    outcomes = [answer.outcome for answer in read_chat(body, request, form, request.repeats, {})]
    return [outcome for outcome in outcomes if isinstance(outcome, Completion)]


def reply(*choices: object, **more: Any) -> dict[str, Any]:
    return {"model": "m-1", "choices": list(choices), **more}


def says(text: object, **message: Any) -> dict[str, Any]:
    return {"index": 0, "finish_reason": "stop", "message": {"content": text, **message}}


# bodies


def test_vllm_is_held_to_the_labels_by_a_choice() -> None:
    body = body_of(*make())
    assert body["structured_outputs"] == {"choice": ["B", "C", "A"]}
    assert "guided_choice" not in body


@pytest.mark.parametrize(
    ("model", "more"), [("openai/m", {}), ("openai-compatible/m", {}), ("vllm-server/m", {"constrained": False})]
)
def test_others_get_no_choice(model: str, more: dict[str, Any]) -> None:
    request, form = make(model, **more)
    assert "structured_outputs" not in body_of(request, form)
    assert effective_sampling(request, form, 0)["constrained"] is False


def test_json_and_tool_hold_the_reply_to_what_the_prompt_says() -> None:
    schema = body_of(*make(channel="json"))["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["properties"]["verdict"]["enum"] == ["B", "C", "A"]
    body = body_of(*make(channel="tool"))
    assert body["tool_choice"] == {"type": "function", "function": {"name": "give_verdict"}}
    assert body["tools"][0]["function"]["parameters"]["properties"]["verdict"]["enum"] == ["B", "C", "A"]


def test_rubric_first_and_item_last() -> None:
    request, form = make()
    [message] = body_of(request, form)["messages"]
    assert request.prompt is not None
    assert message["role"] == "user"
    assert message["content"].startswith(request.prompt.shared_text)


def test_completion_prompts_are_continued_where_the_service_can() -> None:
    request, form = make(prompt="simpleqa_short@1.0.0", channel="word")
    assert chat_path(request, form) == "/completions"
    body = body_of(request, form)
    assert "messages" not in body
    assert not body["prompt"].endswith(" ")
    unable = replace(form, grader=replace(form.grader, capabilities=replace(FULL, completions=False)))
    assert chat_path(request, unable) == "/chat/completions"


def test_label_tokens_are_scored_by_name_only_where_nothing_holds_the_reply() -> None:
    request, form = make(method="exact", constrained=False)
    assert form.scores_labels(request.sampling)
    body = body_of(request, form, (49, 50))
    assert (body["logprobs"], body["logprob_token_ids"], "top_logprobs" in body) == (True, [49, 50], False)
    request, form = make(method="exact")
    assert not form.scores_labels(request.sampling)
    assert body_of(request, form)["top_logprobs"] == 20


@pytest.mark.parametrize(
    ("repeats", "n_first"),
    [
        ((0,), 1),
        (range(10), 10),
        (range(3, 10), 7),
        (range(8, 14), 2),
        ((2, 3, 7), 2),
        ((0, 2), 1),
        (range(10, 30), 10),
    ],
)
def test_seeded_calls_ask_for_consecutive_repeats_of_one_block(repeats: Sequence[int], n_first: int) -> None:
    request, form = make(repeats=tuple(repeats))
    assert form.choices(request) == n_first
    assert body_of(request, form)["seed"] == draw_seed(0, ITEM.digest, request.repeats[0])


@given(st.sets(st.integers(0, 40), min_size=1), st.integers(1, 12))
def test_each_choice_has_the_seed_of_its_repeat(repeats: set[int], most: int) -> None:
    request, form = make(known=replace(FULL, max_choices=most), repeats=sorted(repeats))
    asked = request.repeats[: form.choices(request)]
    first = draw_seed(0, ITEM.digest, asked[0])
    assert [first + place for place in range(len(asked))] == [draw_seed(0, ITEM.digest, one) for one in asked]


def test_greedy_choices_are_single_on_vllm() -> None:
    assert make(temperature=0.0, repeats=(0, 1))[1].choices(make(temperature=0.0, repeats=(0, 1))[0]) == 1


def test_no_temperature_where_none_is_accepted() -> None:
    request, form = make("openai/o", known=Capabilities(temperature=None))
    assert "temperature" not in body_of(request, form)
    assert effective_sampling(request, form, 0)["temperature"] is None


@pytest.mark.parametrize(("effort", "sent"), [("none", True), ("low", False), (None, False)])
def test_temperature_only_under_the_efforts_that_accept_it(effort: str | None, sent: bool) -> None:
    known = Capabilities(efforts=("none", "low"), sampling_efforts=("none",), token_limit="max_completion_tokens")
    request, form = make("openai/o", known=known, reasoning_effort=effort, temperature=1.0)
    body = body_of(request, form)
    assert ("temperature" in body) is sent
    assert body.get("reasoning_effort") == effort
    assert "max_completion_tokens" in body
    assert "max_tokens" not in body


# learning


@pytest.mark.parametrize("name", ["temperature", "reasoning_effort", "response_format", "tools", "structured_outputs"])
def test_what_changes_a_reply_is_left_out_only_with_consent(name: str) -> None:
    assert make()[1].without(name, "") is None
    changed = make(endpoint=LENIENT)[1].without(name, "")
    assert changed is not None
    assert changed.without(name, "") is None


def test_token_limit_is_renamed_only_once() -> None:
    renamed = make()[1].without("body.max_tokens", "")
    assert renamed is not None
    assert renamed.token_limit == "max_completion_tokens"
    assert renamed.without("max_completion_tokens", "") is None


@pytest.mark.parametrize(
    ("name", "message", "expected"),
    [
        ("top_logprobs", "must be <= 5", 5),
        ("logprobs", "Requested sample logprobs of 20, which is greater than max allowed: 8", 8),
        ("top_logprobs", "no", 10),
        ("logprobs", "logprobs are not supported", None),
    ],
)
def test_fewer_alternatives_but_never_none(name: str, message: str, expected: int | None) -> None:
    changed = make(endpoint=LENIENT, method="exact")[1].without(name, message)
    assert (changed.top_logprobs if changed else None) == expected
    assert make(method="exact")[1].without(name, message) is None


# replies


@pytest.mark.parametrize(
    ("choice", "text", "stop"),
    [
        (says("A"), "A", "stop"),
        (says(""), "", "stop"),
        (says(None), None, "stop"),
        (says(None, reasoning_content="A"), None, "stop"),
        (says("", reasoning="I think A", reasoning_content="A"), "", "stop"),
        (says([{"type": "text", "text": "A"}]), "A", "stop"),
        (says([{"type": "thinking", "text": "B"}, {"type": "text", "text": "A"}]), "A", "stop"),
        (says([{"type": "reasoning", "text": "B"}]), None, "stop"),
        (says([{"type": "output_text", "text": {"value": "A"}}, 7, None]), "A", "stop"),
        (says([{"type": "refusal", "refusal": "No."}]), "No.", "refusal"),
        (says(None, refusal="I will not."), "I will not.", "refusal"),
        (says(7), None, "stop"),
        ({**says(None), "finish_reason": "content_filter"}, None, "content_filter"),
        ({"index": 0, "finish_reason": "content_filter"}, None, "content_filter"),
        ({**says("A"), "finish_reason": "length"}, "A", "length"),
        ({**says("A"), "finish_reason": None}, "A", None),
        ({**says("A"), "finish_reason": "eos"}, "A", "stop"),
        ({**says("A"), "finish_reason": "Weird"}, "A", "weird"),
        ({**says("A"), "finish_reason": ["stop"]}, "A", None),
        ({"index": 0, "text": " A", "finish_reason": "stop"}, " A", "stop"),
    ],
)
def test_text_and_reason_to_stop(choice: dict[str, Any], text: str | None, stop: str | None) -> None:
    [found] = read(reply(choice))
    assert (found.text, found.stop_reason) == (text, stop)


def call(arguments: object, name: str = "give_verdict") -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("calls", "text", "label"),
    [
        ([call('{"verdict": "A"}')], '{"verdict": "A"}', "CORRECT"),
        ([call({"verdict": "A"})], '{"verdict": "A"}', "CORRECT"),
        ([call('{"verdict": "A"}'), call('{"verdict": "B"}')], '{"verdict": "A"}\n{"verdict": "B"}', None),
        ([call('{"x": 1}', "other"), call('{"verdict": "B"}')], '{"verdict": "B"}', "INCORRECT"),
        ([call('{"verdict": "A"}', "other")], '{"verdict": "A"}', "CORRECT"),
        ([call('{"verdict": ')], '{"verdict": ', None),
        ([call(None)], None, None),
        (["x", {"function": None}], None, None),
        ("x", None, None),
    ],
)
def test_a_tool_calls_arguments_are_the_text(calls: object, text: str | None, label: str | None) -> None:
    [found] = read(reply({**says(None, tool_calls=calls), "finish_reason": "tool_calls"}), channel="tool")
    assert (found.text, found.stop_reason) == (text, "stop")
    assert parse_completion(found, SIMPLEQA, "tool").label == label


def at(index: object, text: str = "A") -> dict[str, Any]:
    return {**says(text), "index": index}


@pytest.mark.parametrize(
    ("choices", "texts"),
    [
        ([at(1, "B"), at(0, "A")], ["A", "B"]),
        ([at(1, "B")], ["B"]),
        ([at(0, "A"), at(1, "B"), at(2, "C")], ["A", "B"]),
        ([at(0, "A"), at(0, "B")], ["A", "B"]),
        ([at(None, "A"), at("x", "B")], ["A", "B"]),
        ([at(0, "A"), {"index": 1}], ["A"]),
        ([None, at(1, "B")], ["B"]),
        ([at(1, "A"), at(2, "B")], ["A", "B"]),
        ([at(7, "B"), at(5, "A")], ["A", "B"]),
    ],
)
def test_choices_are_matched_by_index_and_counted(choices: list[Any], texts: list[str]) -> None:
    assert [found.text for found in read(reply(*choices), repeats=(0, 1))] == texts


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ("many", Usage()),
        ({}, Usage()),
        ({"prompt_tokens": -1, "completion_tokens": True}, Usage()),
        ({"prompt_tokens": 10**400, "completion_tokens": 1}, Usage(None, 1)),
        ({"prompt_tokens": "9", "completion_tokens": 2.5, "prompt_tokens_details": None}, Usage()),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 1},
                "completion_tokens_details": {"reasoning_tokens": 4},
            },
            Usage(9, 5, 8, 1, 4),
        ),
    ],
)
def test_usage_is_what_are_counts(usage: object, expected: Usage) -> None:
    first, second = read(reply(at(0), at(1), usage=usage), repeats=(0, 1))
    assert first.usage == expected
    assert second.usage == Usage(0, 0, 0, 0, 0)


def token(text: str, value: float, **top: float) -> dict[str, Any]:
    listed = [{"token": name, "logprob": logprob} for name, logprob in top.items()]
    return {"token": text, "logprob": value, "top_logprobs": listed}


def test_label_logprobs_are_those_of_the_first_token() -> None:
    logprobs = {"content": [token("C", -3.0, A=-0.5, B=-1.5, x=-2.0), token("A", -0.1, B=-0.2)]}
    [found] = read(reply({**says("C"), "logprobs": logprobs}), method="exact")
    assert found.label_logprobs == {"CORRECT": -0.5, "INCORRECT": -1.5, "NOT_ATTEMPTED": -3.0}
    assert found.other_logprobs == (-2.0,)


def test_blank_tokens_before_the_label_are_passed_over() -> None:
    logprobs = {"content": [token("\n", -0.01, A=-6.0, B=-7.0), token("A", -0.5, B=-1.5, C=-3.0)]}
    [found] = read(reply({**says("\nA"), "logprobs": logprobs}), method="exact")
    assert found.label_logprobs == {"CORRECT": -0.5, "INCORRECT": -1.5, "NOT_ATTEMPTED": -3.0}


def test_a_logprob_that_is_no_number_is_left_out() -> None:
    logprobs = {"content": [token("A", -0.5, B=-1.5, C=-(10**400))]}
    [found] = read(reply({**says("A"), "logprobs": logprobs}), method="exact")
    assert found.label_logprobs == {"CORRECT": -0.5, "INCORRECT": -1.5}


@pytest.mark.parametrize("code", ["\u00b2", "\u0664\u0662\u0669", "", "x", None, 10**400])
def test_an_error_with_a_strange_code_is_still_an_error(code: object) -> None:
    with pytest.raises(CallError):
        read({"error": {"code": code, "message": "no"}})


def test_in_a_json_reply_they_are_those_of_the_value() -> None:
    tokens = [
        token('{"', -0.1),
        token("verdict", -0.1),
        token('":"A', -0.5, **{'":"A': -0.5, '":"B': -1.5}),
        token('"}', 0),
    ]
    [found] = read(reply({**says('{"verdict":"A"}'), "logprobs": {"content": tokens}}), method="exact", channel="json")
    assert found.label_logprobs == {"CORRECT": -0.5, "INCORRECT": -1.5}


@pytest.mark.parametrize("logprobs", [None, {}, {"content": None}, {"content": []}, "x", {"content": [None, {}]}])
@pytest.mark.parametrize("asked", [{"method": "exact"}, {"channel": "logprobs"}])
def test_missing_logprobs_are_no_silent_fallback(logprobs: object, asked: dict[str, str]) -> None:
    with pytest.raises(CallError) as raised:
        read(reply({**says("A"), "logprobs": logprobs}), **asked)
    assert (raised.value.kind, raised.value.parameter) == ("unsupported", "logprobs")


KEYS = (
    *("choices", "message", "content", "error", "code", "output", "usage", "index", "logprobs", "tool_calls"),
    *("function", "arguments", "text", "delta", "status", "top_logprobs", "token", "logprob", "finish_reason"),
    *("model", "refusal", "type"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 600) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=25,
)


def repeats_or_error(body: object, reader: Any, **sampling: Any) -> set[int] | CallError:
    request, form = make(repeats=(0, 1), **sampling)
    try:
        return {answer.repeat for answer in reader(body, request, form, request.repeats, {})}
    except CallError as error:
        return error


@given(JSON, st.sampled_from([read_chat, read_responses]), st.sampled_from(["sampled", "exact"]))
def test_no_reply_crashes_the_reading(body: object, reader: Any, method: str) -> None:
    found = repeats_or_error(body, reader, method=method)
    assert "\n" not in found.message if isinstance(found, CallError) else found <= {0, 1}


@given(st.lists(JSON, max_size=4), st.booleans())
def test_no_stream_crashes_the_reading(events: list[object], ended: bool) -> None:
    received = stream(*events, end="data: [DONE]\n\n" if ended else "")

    def read_events(body: object, *rest: Any) -> Any:
        return read_chat(read_stream(received, {}), *rest)

    found = repeats_or_error(None, read_events)
    assert found.kind if isinstance(found, CallError) else found <= {0, 1}


# streams


def stream(*events: object, end: str = "data: [DONE]\n\n", line: str = "\n") -> bytes:
    told = ": ping\n\n" + "".join(f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events) + end
    return told.replace("\n", line).encode()


def delta(text: str, index: int = 0, **more: Any) -> dict[str, Any]:
    return {"model": "m-1", "choices": [{"index": index, "delta": {"content": text}, **more}]}


@pytest.mark.parametrize("line", ["\n", "\r\n", "\r"])
def test_chunks_without_choices_are_passed_over_and_usage_taken(line: str) -> None:
    received = stream(
        {"choices": []},
        delta("A\u2028"),
        delta("B", 1, finish_reason="stop"),
        delta("A", finish_reason="length"),
        {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 5}},
        line=line,
    )
    first, second = read(read_stream(received, {}), repeats=(0, 1))
    assert (first.text, first.stop_reason, second.text, second.stop_reason) == ("A\u2028A", "length", "B", "stop")
    assert (first.usage.input_tokens, first.usage.output_tokens) == (4, 5)


def test_streamed_tool_calls_and_logprobs_are_put_together() -> None:
    pieces = (
        [{"index": 0, "function": {"name": "give_verdict", "arguments": '{"verdict"'}}],
        [{"index": 0, "function": {"arguments": ': "B"}'}}],
    )
    received = stream(*({"choices": [{"index": 0, "delta": {"tool_calls": piece}}]} for piece in pieces))
    [found] = read(read_stream(received, {}), channel="tool")
    assert found.text == '{"verdict": "B"}'
    received = stream(delta("", logprobs=None), delta("A", logprobs={"content": [token("A", -0.5, A=-0.5)]}))
    [found] = read(read_stream(received, {}), method="exact")
    assert found.label_logprobs == {"CORRECT": -0.5}


def test_a_stream_that_needs_no_end_mark_and_a_reply_that_is_no_stream() -> None:
    [found] = read(read_stream(stream(delta("A", finish_reason="stop"), end=""), {}))
    assert found.text == "A"
    [found] = read(read_stream(json.dumps(reply(says("A"))).encode(), {}))
    assert found.text == "A"


@pytest.mark.parametrize(
    ("received", "kind"),
    [
        (stream(delta("A"), end=""), "connection"),
        (stream(delta("A"), end='data: {"choices": [{"ind'), "connection"),
        (b"", "connection"),
        (stream({"choices": []}, end=""), "connection"),
        (stream(delta("A"), {"error": {"message": "overloaded", "code": 503}}), "overloaded"),
        (stream({"type": "error", "code": "rate_limit_exceeded", "message": "Rate limit"}), "rate_limited"),
    ],
)
def test_cut_and_failed_streams(received: bytes, kind: str) -> None:
    with pytest.raises(CallError) as raised:
        read_stream(received, {})
    assert raised.value.kind == kind


# the Responses API


RESPONSES = replace(FULL, api="responses", token_limit="max_output_tokens", completions=False, choice=False)


def read_one(body: object, **sampling: Any) -> Completion:
    request, form = make("openai/o", known=RESPONSES, **sampling)
    [answer] = read_responses(body, request, form, (0,), {})
    assert isinstance(answer.outcome, Completion)
    return answer.outcome


def output(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "B"}]}
    message = {"type": "message", "content": list(parts)}
    return {"status": "completed", "model": "o-1", "output": [thought, message], **more}


def test_responses_bodies() -> None:
    request, form = make("openai/o", known=RESPONSES, repeats=(0, 1), reasoning_effort="low", channel="json")
    body = build_responses_body(request, form)
    assert set(body) == {"model", "input", "max_output_tokens", "temperature", "reasoning", "text"}
    assert body["reasoning"] == {"effort": "low"}
    assert body["text"]["format"]["strict"] is True
    assert form.choices(request) == 1
    body = build_responses_body(*make("openai/o", known=RESPONSES, channel="tool"))
    assert body["tool_choice"] == {"type": "function", "name": "give_verdict"}
    body = build_responses_body(*make("openai/o", known=RESPONSES, method="exact"))
    assert (body["include"], body["top_logprobs"]) == (["message.output_text.logprobs"], 20)


def test_responses_replies() -> None:
    usage = {"input_tokens": 9, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 4}}
    found = read_one(output({"type": "output_text", "text": "A"}, usage=usage))
    assert (found.text, found.stop_reason, found.served_model) == ("A", "stop", "o-1")
    assert found.usage == Usage(9, 5, None, None, 4)
    assert found.effective_sampling["seed"] is None
    found = read_one(output({"type": "refusal", "refusal": "No."}))
    assert (found.text, found.stop_reason) == ("No.", "refusal")
    tool = {"type": "function_call", "name": "give_verdict", "arguments": '{"verdict": "A"}'}
    assert read_one({"status": "completed", "output": [tool]}, channel="tool").text == '{"verdict": "A"}'
    part = {"type": "output_text", "text": "A", "logprobs": [token("A", -0.5, A=-0.5, B=-1.5)]}
    assert read_one(output(part), method="exact").label_logprobs == {"CORRECT": -0.5, "INCORRECT": -1.5}


@pytest.mark.parametrize(("reason", "stop"), [("max_output_tokens", "length"), ("content_filter", "content_filter")])
def test_incomplete_responses(reason: str, stop: str) -> None:
    found = read_one({"status": "incomplete", "incomplete_details": {"reason": reason}, "output": []})
    assert (found.text, found.stop_reason) == (None, stop)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"status": "failed", "error": {"code": "server_error", "message": "x"}, "output": []}, "server_error"),
        ({"status": "cancelled", "output": []}, "server_error"),
        ({"status": "completed"}, "unreadable_reply"),
        (None, "unreadable_reply"),
    ],
)
def test_failed_responses(body: object, kind: str) -> None:
    with pytest.raises(CallError) as raised:
        read_one(body)
    assert raised.value.kind == kind


def test_a_stream_of_a_response_is_its_last_event() -> None:
    events = {"type": "response.created"}, {"type": "response.completed", "response": output({"text": "A"})}
    assert read_one(read_stream(stream(*events, end=""), {})).text == "A"
