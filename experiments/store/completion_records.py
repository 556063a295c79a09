"""Completions and usage as the store writes them: JSON in ASCII, without what is as usual."""

from __future__ import annotations

import json
from typing import Any

from graders.verdict import CallTime, Completion, Usage

__all__ = ["dump_completion", "dump_usage", "load_completion", "load_usage", "plain_text"]

# ASCII, so that stray surrogates and NUL characters survive. Infinite log-probabilities are kept as they
# are, and what is no JSON as its repr: nothing that was paid for may be refused here.
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), default=repr).encode

_NO_USAGE = Usage()


def dump_completion(completion: Completion) -> str:
    """A completion as a JSON object; fields that have their default are left out."""
    fields: dict[str, Any] = {"text": completion.text, "served_model": completion.served_model}
    if completion.stop_reason != "stop":
        fields["stop_reason"] = completion.stop_reason
    if completion.label_logprobs is not None:
        fields["label_logprobs"] = dict(completion.label_logprobs)
    if completion.usage != _NO_USAGE:
        fields["usage"] = _usage_counts(completion.usage)
    if completion.effective_sampling:
        fields["effective_sampling"] = dict(completion.effective_sampling)
    if completion.stated_label is not None:
        fields["stated_label"] = completion.stated_label
    if completion.stated_failure is not None:
        fields["stated_failure"] = completion.stated_failure
    if completion.other_logprobs:
        fields["other_logprobs"] = completion.other_logprobs
    if completion.fingerprint is not None:
        fields["fingerprint"] = completion.fingerprint
    if completion.turns:
        fields["turns"] = completion.turns
    if completion.call_time is not None:
        fields["call_time"] = [completion.call_time.seconds, completion.call_time.n_completions]
    return _encode(fields)


def load_completion(payload: str) -> Completion:
    """The completion of a record, of this or an earlier form; ``ValueError``, ``TypeError`` or the like if damaged."""
    fields = json.loads(payload)
    fields["usage"] = _read_usage(fields.get("usage"))
    if "other_logprobs" in fields:
        fields["other_logprobs"] = tuple(fields["other_logprobs"])
    _read_turns(fields)
    if "call_time" in fields:
        fields["call_time"] = CallTime(*fields["call_time"])
    return Completion(**fields)


def dump_usage(usage: Usage) -> str:
    """Token counts as JSON."""
    return _encode(_usage_counts(usage))


def load_usage(payload: str) -> Usage:
    """The token counts of a record."""
    return _read_usage(json.loads(payload))


def plain_text(text: str) -> str:
    """Text that every database takes: a stray surrogate becomes ``?``, a NUL character its picture."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{SYMBOL FOR NULL}")


def _usage_counts(usage: Usage) -> list[int | None]:
    """The counts in the order of the fields, without those at the end that are not known."""
    counts = [
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_tokens,
        usage.cache_write_tokens,
        usage.reasoning_tokens,
    ]
    while counts and counts[-1] is None:
        counts.pop()
    return counts


def _read_turns(fields: dict[str, Any]) -> None:
    settings = fields.get("effective_sampling", {})
    if "opened" in settings and "turns" in settings:
        # Earlier versions wrote turns among the settings, and again what was opened, which stands in each of them.
        del settings["opened"]
        fields["turns"] = settings.pop("turns")
    if "turns" in fields:
        fields["turns"] = tuple(fields["turns"])


def _read_usage(stored: Any) -> Usage:
    if stored is None:
        return Usage()
    # Earlier versions wrote the counts by name.
    return Usage(**stored) if isinstance(stored, dict) else Usage(*stored)
