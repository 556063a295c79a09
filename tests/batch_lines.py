"""Lines of the results of batch jobs, as two services write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["anthropic_line", "openai_line"]


def openai_line(fate: str, body: Mapping[str, Any], answer: str) -> Mapping[str, Any]:
    if fate in ("expired", "canceled"):
        return {"id": "r", "response": None, "error": {"code": f"batch_{fate}", "message": f"it was {fate}"}}
    if fate.startswith("http:"):
        status = int(fate.removeprefix("http:"))
        error = {"error": {"message": f"refused with {status}", "type": "invalid_request_error"}}
        return {"id": "r", "response": {"status_code": status, "request_id": "q", "body": error}, "error": None}
    good: Mapping[str, Any] = _responses_body(body, answer) if "input" in body else _chat_body(body, answer)
    sent = ["half", "a"] if fate == "garbage" else good
    return {"id": "r", "response": {"status_code": 200, "request_id": "q", "body": sent}, "error": None}


def _chat_body(body: Mapping[str, Any], answer: str) -> Mapping[str, Any]:
    message = {"role": "assistant", "content": answer, "refusal": None}
    choices = [{"index": i, "message": message, "finish_reason": "stop"} for i in range(int(body.get("n") or 1))]
    usage = {"prompt_tokens": 300, "completion_tokens": len(choices), "total_tokens": 300 + len(choices)}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": f"{body['model']}-2026",
        "choices": choices,
        "usage": usage,
    }


def _responses_body(body: Mapping[str, Any], answer: str) -> Mapping[str, Any]:
    content = [{"type": "output_text", "text": answer, "annotations": []}]
    output = [{"type": "message", "id": "m", "status": "completed", "role": "assistant", "content": content}]
    usage = {"input_tokens": 300, "output_tokens": 2, "total_tokens": 302}
    return {
        "id": "s",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "error": None,
        "model": f"{body['model']}-2026",
        "output": output,
        "usage": usage,
    }


def anthropic_line(fate: str, body: Mapping[str, Any], answer: str) -> Mapping[str, Any]:
    if fate in ("expired", "canceled"):
        return {"result": {"type": fate}}
    if fate.startswith("http:"):
        kinds = {"400": "invalid_request_error", "500": "api_error", "529": "overloaded_error"}
        inner = {"type": kinds[fate.removeprefix("http:")], "message": f"refused with {fate}"}
        return {"result": {"type": "errored", "error": {"type": "error", "error": inner, "request_id": "q"}}}
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": f"{body['model']}-2026",
        "content": [{"type": "text", "text": answer}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 300, "output_tokens": 2},
    }
    return {"result": {"type": "succeeded", "message": "half a" if fate == "garbage" else message}}
