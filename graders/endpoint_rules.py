"""What may be said of an endpoint: an address and a variable's name, neither of which may hold a secret."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

__all__ = ["check_address", "check_variable"]


def check_address(address: str) -> str:
    """The address of a service without a slash at its end; ``ValueError``, which does not repeat it, if it is none."""
    expected = "expected http://HOST[:PORT][/PATH] or https://..., without user, query or fragment"
    try:
        parts = urlsplit(address)
        odd = parts.username or parts.password or parts.query or parts.fragment or (parts.port or 1) < 1
    except ValueError:
        raise ValueError(expected) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or odd or not address.isprintable():
        raise ValueError(expected)
    return address.rstrip("/")


def check_variable(name: str) -> str:
    """The name of an environment variable; ``ValueError``, which does not repeat it, if it is none."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError("expected the name of an environment variable, not a key itself")
    return name
