"""How a grader's replies are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

__all__ = ["CHANNELS", "Channel", "Sampling"]

Channel = Literal["letter", "word", "json", "tool", "logprobs"]
"""How the verdict is asked for and read."""

CHANNELS: tuple[str, ...] = get_args(Channel)


@dataclass(frozen=True, slots=True)
class Sampling:
    """Settings of a grader's calls.

    Parameters
    ----------
    temperature
        Softmax temperature, 0 to 2.
    repeats
        How many verdicts are drawn for each item, at least 1.
    seed
        Base of the seeds; each item and repeat gets its own, derived from it.
    max_tokens
        Limit on the reply's tokens.
    channel
        How the verdict is asked for and read.
    constrained
        Whether decoding is restricted to the labels where the engine can do that.

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

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature <= 2.0:
            raise ValueError(f"temperature: {self.temperature}; expected 0 to 2")
        if self.repeats < 1:
            raise ValueError(f"repeats: {self.repeats}; expected 1 or more")
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens: {self.max_tokens}; expected 1 or more")
        if self.channel not in CHANNELS:
            raise ValueError(f"channel: {self.channel!r}; expected one of {list(CHANNELS)}")

    def as_settings(self) -> Mapping[str, Any]:
        """The settings that can change a completion; the number of repeats is not one of them."""
        return {
            "temperature": float(self.temperature),
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "channel": self.channel,
            "constrained": self.constrained,
        }
