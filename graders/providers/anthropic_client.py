"""Anthropic's addresses, through the official SDK; the only module of the providers that imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graders.errors import MissingDependencyError
from graders.grader import Grader
from graders.providers.sdk_connection import SdkConnection, is_loopback, read_key

if TYPE_CHECKING:
    import httpx2

__all__ = ["ANTHROPIC_ADDRESS", "AnthropicConnection", "addresses", "check_anthropic", "find_key"]

ANTHROPIC_ADDRESS = "https://api.anthropic.com"
"""Where Anthropic's service is, unless a grader says otherwise."""

_KEY_VARIABLE = "ANTHROPIC_API_KEY"
_NO_KEY = "none"


class AnthropicConnection(SdkConnection):
    """The pool of connections to one address."""

    def __init__(self, grader: Grader, base_url: str) -> None:
        super().__init__(base_url, find_key(grader, base_url), grader.endpoint)

    def import_sdk(self) -> Any:
        """The SDK's module."""
        return _import_anthropic()

    def make_client(self, sdk: Any, transport: httpx2.AsyncClient) -> Any:
        """The SDK's client; what the environment may add to its credentials is left out."""
        return sdk.AsyncAnthropic(
            api_key=self.key or _NO_KEY, base_url=self.base_url, max_retries=0, http_client=transport
        )


def check_anthropic(grader: Grader) -> None:
    """Check that the SDK is installed and the key is there.

    Raises
    ------
    MissingDependencyError
        If the SDK is not installed.
    ServiceError
        If the key is missing.
    """
    _import_anthropic()
    for base_url in addresses(grader):
        find_key(grader, base_url)


def addresses(grader: Grader) -> tuple[str, ...]:
    """Addresses of a grader's service, without the ``/v1`` that the SDK adds itself."""
    given = grader.endpoint.base_urls or (ANTHROPIC_ADDRESS,)
    return tuple(address.rstrip("/").removesuffix("/v1") for address in given)


def find_key(grader: Grader, base_url: str | None = None) -> str:
    """The key, from the environment; empty where a server of this machine needs none.

    Raises
    ------
    ServiceError
        If the key is missing, or cannot be one; the message names the variable.
    """
    variable = grader.endpoint.key_variable
    address = base_url or addresses(grader)[0]
    return read_key(variable or _KEY_VARIABLE, address, needed=variable is not None or not is_loopback(address))


def _import_anthropic() -> Any:
    try:
        import anthropic
    except ImportError as error:
        raise MissingDependencyError(
            "anthropic: not installed; expected it for Anthropic's models: "
            "pip install 'autorater-calibration[anthropic]'"
        ) from error
    return anthropic
