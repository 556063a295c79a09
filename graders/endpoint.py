"""Where a service is, and how it is dealt with; nothing of it changes a completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Endpoint", "OnUnsupported"]

OnUnsupported = Literal["stop", "provider-default"]
"""What happens where a model refuses a setting: stop, or leave the setting to the service and say so."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How a grader's model is reached.

    Attributes
    ----------
    base_urls
        Addresses of the service; empty for its usual one. Several servers share the work.
    key_variable
        Name of the environment variable that holds the key; ``None`` for the service's usual one.
    on_unsupported
        What happens where the model cannot do what is asked.
    max_connections
        Most calls at a time to each address.
    timeout_seconds
        Longest a single call may take.
    max_wait_seconds
        Longest that a rate limit or an overload is waited for before the run stops, resumably.
    stream
        Whether replies are taken as a stream.
    """

    base_urls: tuple[str, ...] = ()
    key_variable: str | None = None
    on_unsupported: OnUnsupported = "stop"
    max_connections: int = 64
    timeout_seconds: float = 120.0
    max_wait_seconds: float = 600.0
    stream: bool = False
