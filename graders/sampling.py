"""How a grader's replies are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

__all__ = ["CHANNELS", "METHODS", "WRITTEN_CHANNELS", "WRITTEN_TOKENS", "Channel", "Method", "Sampling"]

Channel = Literal["letter", "word", "json", "tool", "logprobs", "score", "reasons", "confidence", "concepts"]
"""How the verdict is asked for and read."""

CHANNELS: tuple[str, ...] = get_args(Channel)
"""All of :data:`Channel`."""

WRITTEN_CHANNELS: frozenset[str] = frozenset({"score", "reasons", "confidence", "concepts"})
"""Channels of a reply that is written out, its verdict at the end: decoding cannot be restricted to labels."""

WRITTEN_TOKENS = 1024
"""Limit on the tokens of such a reply where an experiment sets none."""

Method = Literal["sampled", "exact"]
"""Whether repeats are drawn, or their distribution is computed from the label log-probabilities of one call."""

METHODS: tuple[str, ...] = get_args(Method)
"""All of :data:`Method`."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Settings of a grader's calls.

    Parameters
    ----------
    temperature
        Softmax temperature, 0 to 2.
    repeats
        How many verdicts are drawn for each item, at least 1; with ``exact``, how many draws the
        computed distribution stands for.
    seed
        Base of the seeds; each item and repeat gets its own, derived from it.
    max_tokens
        Limit on the reply's tokens.
    channel
        How the verdict is asked for and read.
    constrained
        Whether decoding is restricted to the labels where the engine can do that; not for a reply that is
        written out (:data:`WRITTEN_CHANNELS`).
    method
        ``exact`` asks once for the log-probabilities of the labels instead of drawing.
    reasoning_effort
        How much a reasoning model may think, in its service's words; ``None`` leaves it to the service.

    Raises
    ------
    ValueError
        If a setting is outside its range.
    """

    temperature: float = 2.0
    repeats: int = 10
    seed: int = 0
    max_tokens: int = 64
    channel: Channel = "letter"
    constrained: bool = True
    method: Method = "sampled"
    reasoning_effort: str | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature <= 2.0:
            raise ValueError(f"temperature: {self.temperature}; expected 0 to 2")
        if self.repeats < 1:
            raise ValueError(f"repeats: {self.repeats}; expected 1 or more")
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens: {self.max_tokens}; expected 1 or more")
        if self.channel not in CHANNELS:
            raise ValueError(f"channel: {self.channel!r}; expected one of {list(CHANNELS)}")
        if self.method not in METHODS:
            raise ValueError(f"method: {self.method!r}; expected one of {list(METHODS)}")
        if self.channel in WRITTEN_CHANNELS:
            self._check_written()
        if self.method == "exact" and self.temperature == 0:
            raise ValueError("temperature: 0 with method 'exact'; expected above 0")

    def _check_written(self) -> None:
        written = f"channel {self.channel!r}, whose reply is written out"
        if self.constrained:
            raise ValueError(f"constrained: true with {written}; expected false")
        if self.method == "exact":
            raise ValueError(f"method: 'exact' with {written}; expected 'sampled'")

    @property
    def asked_repeats(self) -> int:
        """Completions to be paid for each item: the repeats, or the one that tells them all."""
        return 1 if self.method == "exact" else self.repeats

    @property
    def wants_logprobs(self) -> bool:
        """Whether the label log-probabilities are asked for."""
        return self.method == "exact" or self.channel == "logprobs"

    def as_settings(self) -> Mapping[str, Any]:
        """The settings that can change a completion; the number of repeats is not one of them."""
        settings: dict[str, Any] = {
            "temperature": float(self.temperature),
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "channel": self.channel,
            "constrained": self.constrained,
        }
        # Named only where they are chosen, so that graders without them keep their ids.
        if self.method != "sampled":
            settings["method"] = self.method
        if self.reasoning_effort is not None:
            settings["reasoning_effort"] = self.reasoning_effort
        return settings
