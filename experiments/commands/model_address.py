"""The address of a model that a command names: options into an endpoint."""

from __future__ import annotations

from collections.abc import Callable

from experiments.errors import SpecError
from graders.endpoint import Endpoint
from graders.endpoint_rules import check_address, check_variable
from graders.providers import needs_address

__all__ = ["read_endpoint"]


def read_endpoint(model: str, base_url: str | None, key_variable: str | None) -> Endpoint:
    """How a model is reached, from ``--base-url`` and ``--key-variable``.

    Raises
    ------
    SpecError
        If an address is needed and missing, or an option is none; the message repeats no value, since it may be a key.
    """
    if needs_address(model) and base_url is None:
        raise SpecError("--base-url: missing; expected the server's address, such as http://localhost:8000/v1")
    return Endpoint(
        base_urls=() if base_url is None else (_checked("--base-url", check_address, base_url),),
        key_variable=None if key_variable is None else _checked("--key-variable", check_variable, key_variable),
    )


def _checked(option: str, rule: Callable[[str], str], value: str) -> str:
    """The value by its rule; the message does not repeat it, since it may be a key."""
    try:
        return rule(value)
    except ValueError as error:
        raise SpecError(f"{option}: refused and not repeated here; {error}") from None
