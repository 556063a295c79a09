"""What a model can be asked for, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Api", "Capabilities", "Price", "TokenLimit"]

Api = Literal["chat", "responses", "messages", "engine"]
"""The wire format: OpenAI's Chat Completions or Responses, Anthropic's Messages, or an engine in process."""

TokenLimit = Literal["max_tokens", "max_completion_tokens", "max_output_tokens"]
"""What a service calls the limit on a reply's tokens."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a million tokens.

    ``cached_input`` and ``cache_write`` are ``None`` where the service does not price them apart
    (such tokens cost what other input costs). ``batch`` is the factor of a batch job's price.
    """

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None
    batch: float = 1.0


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model takes and gives.

    Attributes
    ----------
    api
        The wire format that the model wants.
    temperature
        Lowest and highest temperature, or ``None`` where no temperature is accepted.
    zero_temperature
        Whether the lowest temperature may be zero itself, where the range begins there.
    max_choices
        Most choices in one request; 1 where ``n`` is not honoured.
    top_logprobs
        Most alternatives listed with a token; 0 where log-probabilities are not given.
    label_logprobs
        Whether named tokens can be scored directly (vLLM's ``logprob_token_ids``).
    json_schema, tool_call, choice
        Whether the reply can be held to a JSON schema, to a tool call, to a list of strings.
    seed
        Whether a seed is honoured.
    completions
        Whether plain text can be continued, not only a chat.
    efforts
        Reasoning efforts that the model takes; empty where it does not reason.
    sampling_efforts
        The efforts under which temperature and log-probabilities are accepted; ``None`` for all.
    token_limit
        Name of the field that limits the reply.
    default_max_tokens
        Limit on the reply where the experiment names none; ``None`` for the usual one.
    batch
        Whether the service takes batch jobs for this model.
    context_tokens
        Longest prompt and reply together, where known.
    pinned
        Whether the name stands for one unchanging version; ``None`` where that is not known.
    price
        ``None`` where it is not known.
    """

    api: Api = "chat"
    temperature: tuple[float, float] | None = (0.0, 2.0)
    zero_temperature: bool = True
    max_choices: int = 1
    top_logprobs: int = 0
    label_logprobs: bool = False
    json_schema: bool = False
    tool_call: bool = False
    choice: bool = False
    seed: bool = False
    completions: bool = False
    efforts: tuple[str, ...] = ()
    sampling_efforts: tuple[str, ...] | None = None
    token_limit: TokenLimit = "max_tokens"
    default_max_tokens: int | None = None
    batch: bool = False
    context_tokens: int | None = None
    pinned: bool | None = None
    price: Price | None = None
