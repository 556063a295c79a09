"""The address of the labelling pages, and serving them until somebody stops it."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass

import uvicorn

from experiments.errors import ReviewError
from experiments.review.connections import PatientProtocol
from experiments.review.security import AccessRules, Guard

__all__ = ["Address", "bind_address", "serve"]


@dataclass(frozen=True, slots=True)
class Address:
    """A socket that listens, and what it means for who may come."""

    listening: socket.socket
    url: str
    rules: AccessRules

    @property
    def is_open(self) -> bool:
        """Whether other machines can reach it."""
        return self.rules.token is not None


def bind_address(host: str, port: int) -> Address:
    """Listen, on loopback freely and elsewhere behind a token.

    Parameters
    ----------
    host
        Name or address to listen on; ``0.0.0.0`` or ``::`` for all.
    port
        0 for any that is free.

    Raises
    ------
    ReviewError
        A port that is taken or not allowed, a host that is not this machine's.
    """
    listening = _listen(host, port)
    bound, bound_port = listening.getsockname()[:2]
    if ipaddress.ip_address(bound).is_loopback:
        return Address(listening, f"http://{_in_url(bound)}:{bound_port}/", AccessRules())
    token = secrets.token_urlsafe(24)
    names = frozenset({host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()})
    shown = socket.gethostname() if ipaddress.ip_address(bound).is_unspecified else bound
    url = f"http://{_in_url(shown)}:{bound_port}/?token={token}"
    return Address(listening, url, AccessRules(names=names, any_address=True, token=token))


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise ReviewError(f"--port: {port}; expected 0 to 65535, 0 for any that is free")
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise ReviewError(f"--host {host}: {error.strerror}; expected a name or address of this machine") from error
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise ReviewError(
            f"--host {host} --port {port}: {error.strerror}; expected an address of this machine and a free port "
            "(--port 0 finds one)"
        ) from error
    return listening


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def serve(
    app: Guard, address: Address, *, open_browser: bool, opener: Callable[[str], object] = webbrowser.open
) -> None:
    """Serve until Ctrl-C or a signal to end; connections that wait are waited for, briefly."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        http=PatientProtocol,
        loop="asyncio",
        timeout_graceful_shutdown=2,
    )
    if open_browser:
        opener(address.url)  # the socket listens already: the browser waits until it is answered
    try:
        uvicorn.Server(config).run(sockets=[address.listening])
    except KeyboardInterrupt:
        return
    finally:
        address.listening.close()
