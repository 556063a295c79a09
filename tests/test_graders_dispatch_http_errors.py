"""What errors of services mean, in the words of several of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders.dispatch.http_errors import LONGEST_MESSAGE, http_call_error
from graders.dispatch.service import CALL_ERROR_KINDS


def said(message: str, **more: object) -> object:
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, said("Rate limit reached"), "rate_limited"),
        (429, said("Rate limit reached. Add a payment method under account/billing to raise it"), "rate_limited"),
        (429, said("Rate limit reached", code="rate_limit_exceeded", type="billing"), "rate_limited"),
        (429, said("You exceeded your current quota", code="insufficient_quota"), "quota_exhausted"),
        (400, said("Your credit balance is too low to access the API"), "quota_exhausted"),
        (402, "", "quota_exhausted"),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded"),
        (500, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded"),
        (503, "<html>busy</html>", "overloaded"),
        (401, said("Incorrect API key"), "bad_key"),
        (403, said("forbidden region"), "bad_key"),
        (403, said("You are not allowed to request logprobs from this model"), "unsupported"),
        (404, said("The model `x` does not exist", code="model_not_found"), "not_found"),
        (408, None, "timeout"),
        (500, [], "server_error"),
        (502, "Bad gateway", "server_error"),
        (504, "", "timeout"),
        (413, "", "context_overflow"),
        (400, said("x", code="context_length_exceeded"), "context_overflow"),
        (400, said("prompt is too long: 210000 tokens > 200000 maximum"), "context_overflow"),
        (400, said("This model's maximum context length is 4096 tokens"), "context_overflow"),
        (400, said("The response was filtered", code="content_filter"), "content_filter"),
        (400, said("messages: at least one message is required"), "bad_request"),
        (418, {"nothing": "known"}, "bad_request"),
    ],
)
def test_a_status_and_its_body_are_told_apart(status: int, body: object, kind: str) -> None:
    assert http_call_error(status, body, {}).kind == kind


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        (said("x", param="temperature", code="unsupported_value"), "temperature"),
        (said("use max_completion_tokens", param="max_tokens"), "max_tokens"),
        (said("x", param="temperature", code="unsupported_parameter"), "temperature"),
        (
            said("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
            "max_tokens",
        ),
        (said("Unrecognized request argument: max_completion_tokens. Use max_tokens instead"), "max_completion_tokens"),
        (said("temperature: Extra inputs are not permitted"), "temperature"),
        (said("`temperature` and `top_p` cannot both be specified for this model"), "temperature"),
        (said("logprobs are not supported with this model", param="logprobs"), "logprobs"),
        ({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}, "seed"),
        (said("output_config: Extra inputs are not permitted"), "reasoning_effort"),
        (said("This model does not support the effort parameter."), "reasoning_effort"),
        (said("Only one completion choice is allowed", param="n"), "n"),
    ],
)
def test_a_refused_parameter_is_named(body: object, parameter: str) -> None:
    error = http_call_error(400, body, {})
    assert (error.kind, error.parameter) == ("unsupported", parameter)


def test_the_wait_that_is_asked_for_is_told() -> None:
    assert http_call_error(429, "", {"retry-after": "60"}).retry_after == 60
    assert http_call_error(503, "", {"retry-after-ms": "1500"}).retry_after == 1.5
    spent = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}
    assert http_call_error(429, "", spent).retry_after == 360


def test_no_part_of_a_key_is_left_where_a_message_is_cut() -> None:
    key = "Zq" * 18
    for filler in range(200, 300):
        assert "ZqZq" not in http_call_error(400, said("x" * filler + " " + key), {}).message.replace(key, "")


@given(
    status=st.integers(400, 599),
    body=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["error", "message", "detail", "loc"]), inner),
    ),
)
def test_no_body_is_too_odd(status: int, body: object) -> None:
    error = http_call_error(status, body, {})
    assert error.kind in CALL_ERROR_KINDS
    assert len(error.message) <= LONGEST_MESSAGE
    assert "\n" not in error.message
