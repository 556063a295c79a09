"""A Ray cluster: connected to or started here, and whether it has room for what is asked of it."""

from __future__ import annotations

import importlib.util
import logging
import os
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

from graders.endpoint import RayReplicas
from graders.errors import MissingDependencyError, ServiceError

__all__ = ["check_ray", "check_room", "connected"]

_STATISTICS_VARIABLE = "RAY_USAGE_STATS_ENABLED"
_ADDRESS_VARIABLE = "RAY_ADDRESS"
_REACH_SECONDS = 10.0


def check_ray() -> None:
    """Check that Ray is installed, without importing it.

    Raises
    ------
    MissingDependencyError
        If it is not.
    """
    if importlib.util.find_spec("ray") is None:
        raise MissingDependencyError("ray: not installed; expected it, by pip install 'autorater-calibration[ray]'")


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The package, connected to a cluster: the one that this process has already, or that of the address.

    What is started or connected here ends with the context. Meanwhile Ray's own messages, which it writes to standard
    output, go to standard error.

    Raises
    ------
    MissingDependencyError
        If Ray is not installed.
    ServiceError
        If there is no such cluster.
    """
    check_ray()
    # A cluster that is started here reports to nobody, unless its user wants it to.
    os.environ.setdefault(_STATISTICS_VARIABLE, "0")
    import ray

    with redirect_stdout(sys.stderr):
        if ray.is_initialized():
            yield ray
            return
        named = _named_address(address)
        _check_listens(named)
        try:
            ray.init(address=address or None, include_dashboard=None, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            said = next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")
            raise ServiceError(
                f"ray: {named or 'a cluster'}: {said}; expected the address of a cluster that runs, or 'local'"
            ) from error
        try:
            yield ray
        finally:
            ray.shutdown()


def _named_address(address: str) -> str:
    """The address that Ray goes by, which its variable may give in the place of none or ``auto``."""
    return address if address not in ("", "auto") else os.environ.get(_ADDRESS_VARIABLE) or address


def _check_listens(address: str) -> None:
    """Check that something listens at ``HOST:PORT``: Ray would try for minutes, and hear no Ctrl-C meanwhile."""
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdecimal():
        return  # Ray has a word to say about it at once.
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACH_SECONDS).close()
    except (OSError, OverflowError) as error:
        said = getattr(error, "strerror", None) or str(error)
        given = f" ({_ADDRESS_VARIABLE})" if address == os.environ.get(_ADDRESS_VARIABLE) else ""
        raise ServiceError(
            f"ray: {address}{given}: {said}; expected the address of a cluster that runs, or 'local'"
        ) from error


def check_room(nodes: Sequence[Mapping[str, Any]], asked: RayReplicas) -> None:
    """Check that the nodes could hold all replicas, if nobody else used them.

    Parameters
    ----------
    nodes
        As ``ray.nodes()`` lists them.

    Raises
    ------
    ServiceError
        If they could not.
    """
    shares = {"GPU": asked.gpus, "CPU": asked.cpus}
    living = [node["Resources"] for node in nodes if node["Alive"]]
    fitting = sum(
        min((int(has.get(name, 0) / share + 1e-9) for name, share in shares.items() if share), default=asked.replicas)
        for has in living
    )
    if fitting >= asked.replicas:
        return
    held = "; ".join(f"{has.get('GPU', 0):g} GPUs, {has.get('CPU', 0):g} CPUs" for has in living[:8])
    more = f" and {len(living) - 8} more" if len(living) > 8 else ""
    raise ServiceError(
        f"ray: {asked.replicas} replicas of {asked.gpus:g} GPUs and {asked.cpus:g} CPUs each; the cluster has room for "
        f"{fitting} (nodes: {held}{more}); expected no more than fit, or a larger cluster"
    )
