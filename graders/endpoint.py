"""Where a service is, and how it is dealt with; nothing of it changes a completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Endpoint", "OnUnsupported", "RayReplicas"]

OnUnsupported = Literal["stop", "provider-default"]
"""What happens where a model refuses a setting: stop, or leave the setting to the service and say so."""


@dataclass(frozen=True, slots=True)
class RayReplicas:
    """Copies of a model on a Ray cluster, which share the work.

    Attributes
    ----------
    address
        The cluster's, as Ray writes it; ``local`` for one that is started here and ends with the run. Empty: the one
        that this machine is part of or ``RAY_ADDRESS`` names, or else one that is started here.
    replicas
        How many.
    gpus, cpus
        What Ray sets aside for each of them, on one node.
    """

    address: str = ""
    replicas: int = 1
    gpus: float = 0.0
    cpus: float = 1.0


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
        Longest that a rate limit or an overload, or room for the first replica, is waited for before the run stops,
        resumably.
    stream
        Whether replies are taken as a stream.
    ray
        Where the model is copied to; ``None`` for one that is reached over a network or computes in this process.
    """

    base_urls: tuple[str, ...] = ()
    key_variable: str | None = None
    on_unsupported: OnUnsupported = "stop"
    max_connections: int = 64
    timeout_seconds: float = 120.0
    max_wait_seconds: float = 600.0
    stream: bool = False
    ray: RayReplicas | None = None
