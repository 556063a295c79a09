"""The form that calls to one model at one address take: what it can do, and what it was found to refuse."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from graders.capabilities import TokenLimit
from graders.client import Request
from graders.grader import Grader
from graders.providers.seeds import CHILDREN
from graders.sampling import Sampling

__all__ = ["LABEL_CHANNELS", "CallForm", "first_form", "wire_model"]

LABEL_CHANNELS = ("letter", "word", "logprobs")
"""Channels whose reply is what is said for a label, and nothing around it."""

_RENAMED: dict[str, TokenLimit] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
_ALIASES = {
    "reasoning": "reasoning_effort",
    "reasoning.effort": "reasoning_effort",
    "text": "response_format",
    "text.format": "response_format",
    "tool_choice": "tools",
    "include": "logprobs",
    "stream_options.include_usage": "stream_options",
}
_WITHOUT_CONSENT = frozenset({"seed", "logprob_token_ids", "stream_options"})
"""Left out as soon as they are refused: without them a reply means the same."""

_WITH_CONSENT = frozenset({"temperature", "reasoning_effort", "response_format", "tools", "structured_outputs"})
_ABOVE_LIMIT = re.compile(r"max|at most|less than|greater than|between|<=|up to|exceed", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CallForm:
    """What is sent to one model at one address.

    Attributes
    ----------
    grader
        Whose calls these are.
    token_limit
        Name of the field that limits the reply.
    max_choices
        Most choices in one call.
    top_logprobs
        Most alternatives asked for with a token.
    left_out
        Parameters that were refused and are not sent any more.
    """

    grader: Grader
    token_limit: TokenLimit
    max_choices: int
    top_logprobs: int
    left_out: frozenset[str] = frozenset()

    @property
    def is_vllm(self) -> bool:
        """Whether the server is vLLM, with its own request fields."""
        return self.grader.model.startswith("vllm-server/")

    @property
    def sends_seed(self) -> bool:
        """Whether seeds go out; the Responses API knows none."""
        known = self.grader.capabilities
        return known.seed and known.api != "responses" and "seed" not in self.left_out

    def temperature(self, sampling: Sampling) -> float | None:
        """The temperature that goes out, or ``None`` where the model takes none, or not this one."""
        known = self.grader.capabilities
        if known.temperature is None or "temperature" in self.left_out:
            return None
        if known.sampling_efforts is not None and sampling.reasoning_effort not in known.sampling_efforts:
            return None
        low, high = known.temperature
        if self._may_leave_out and not low <= sampling.temperature <= high:
            return None
        if self._may_leave_out and sampling.temperature == 0 and not known.zero_temperature:
            return None
        return sampling.temperature

    def effort(self, sampling: Sampling) -> str | None:
        """The reasoning effort that goes out."""
        return None if "reasoning_effort" in self.left_out else sampling.reasoning_effort

    def holds_to_schema(self, sampling: Sampling) -> bool:
        """Whether a JSON schema goes out."""
        return sampling.channel == "json" and self._has("response_format", self.grader.capabilities.json_schema)

    def forces_tool(self, sampling: Sampling) -> bool:
        """Whether a forced tool call goes out."""
        return sampling.channel == "tool" and self._has("tools", self.grader.capabilities.tool_call)

    def holds_to_choice(self, sampling: Sampling) -> bool:
        """Whether the reply is held to the labels by vLLM's ``structured_outputs.choice``."""
        asked = self.is_vllm and sampling.constrained and sampling.channel in LABEL_CHANNELS
        return asked and self.grader.capabilities.choice and "structured_outputs" not in self.left_out

    def scores_labels(self, sampling: Sampling) -> bool:
        """Whether the label tokens are scored by name (vLLM's ``logprob_token_ids``).

        Not under a choice: there the allowed tokens are few, and an ordinary list names them all.
        """
        asked = sampling.wants_logprobs and self.is_vllm and self.grader.capabilities.label_logprobs
        able = asked and "logprob_token_ids" not in self.left_out
        return able and sampling.channel in LABEL_CHANNELS and not self.holds_to_choice(sampling)

    def choices(self, request: Request) -> int:
        """How many of a request's repeats, from its first, go into one call.

        Choice ``i`` of a seeded call has the seed of its first repeat plus ``i``, so such a call asks for
        consecutive repeats of one block of seeds. vLLM refuses several choices of greedy decoding.
        """
        most = min(self.max_choices, len(request.repeats))
        if self.grader.capabilities.api == "responses" or (self.is_vllm and request.sampling.temperature == 0):
            most = 1
        if not self.sends_seed or most <= 1:
            return max(1, most)
        first = request.repeats[0]
        run = 1
        while run < most and request.repeats[run] == first + run and (first + run) % CHILDREN:
            run += 1
        return run

    def without(self, parameter: str, message: str) -> CallForm | None:
        """The form after a parameter was refused, or ``None`` where there is none that may be used.

        The field of the token limit gets its other name, several choices become single calls, a seed
        is left out; what changes the meaning of a reply is left out only with the experiment's consent.
        """
        name = _ALIASES.get(parameter.removeprefix("body."), parameter.removeprefix("body."))
        if name == self.token_limit and name in _RENAMED and name not in self.left_out:
            other = _RENAMED[name]
            # A field that was refused before is not tried again.
            return None if other in self.left_out else replace(self._leaving(name), token_limit=other)
        if name == "n":
            return replace(self, max_choices=1) if self.max_choices > 1 else None
        if name in ("logprobs", "top_logprobs"):
            return self._with_fewer_logprobs(name, message)
        if name in self.left_out:
            return None
        may = name in _WITHOUT_CONSENT or (name in _WITH_CONSENT and self._may_leave_out)
        return self._leaving(name) if may else None

    def _with_fewer_logprobs(self, name: str, message: str) -> CallForm | None:
        about_number = name == "top_logprobs" or (_ABOVE_LIMIT.search(message) and re.search(r"\d", message))
        if not about_number or self.top_logprobs <= 1 or not self._may_leave_out:
            return None
        named = [int(digits) for digits in re.findall(r"\d{1,4}", message)]
        allowed = [number for number in named if 0 < number < self.top_logprobs]
        return replace(self, top_logprobs=max(allowed, default=self.top_logprobs // 2))

    def _leaving(self, name: str) -> CallForm:
        return replace(self, left_out=self.left_out | {name})

    def _has(self, name: str, able: bool) -> bool:
        # Where the experiment does not put up with less, the service is asked all the same: it refuses aloud.
        return (able or not self._may_leave_out) and name not in self.left_out

    @property
    def _may_leave_out(self) -> bool:
        return self.grader.endpoint.on_unsupported == "provider-default"


def first_form(grader: Grader) -> CallForm:
    """The form before anything was refused, from what is known of the model."""
    known = grader.capabilities
    return CallForm(grader, known.token_limit, known.max_choices, known.top_logprobs)


def wire_model(grader: Grader) -> str:
    """The model's name as its service knows it."""
    return grader.model.split("/", 1)[1]
