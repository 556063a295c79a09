"""OpenAI-shaped addresses, through the official SDK; the only module of the providers that imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from graders.errors import MissingDependencyError, ServiceError
from graders.grader import Grader
from graders.providers.sdk_connection import SdkConnection, is_loopback, read_key

if TYPE_CHECKING:
    import httpx2

__all__ = ["OPENAI_ADDRESS", "OpenAIConnection", "addresses", "check_openai", "find_key"]

OPENAI_ADDRESS = "https://api.openai.com/v1"
"""Where OpenAI's service is, unless a grader says otherwise."""

_KEY_VARIABLE = "OPENAI_API_KEY"
_NO_KEY = "none"


class OpenAIConnection(SdkConnection):
    """The pool of connections to one address, and the calls over it."""

    def __init__(self, grader: Grader, base_url: str) -> None:
        super().__init__(base_url, find_key(grader, base_url), grader.endpoint)

    def import_sdk(self) -> Any:
        """The SDK's module."""
        return _import_openai()

    def make_client(self, sdk: Any, transport: httpx2.AsyncClient) -> Any:
        """The SDK's client; what it takes from the environment beside the key stays out of other hosts' sight."""
        client = sdk.AsyncOpenAI(
            api_key=self.key or _NO_KEY, base_url=self.base_url, max_retries=0, http_client=transport
        )
        if not _is_openai(self.base_url):
            client.organization = client.project = None
        client.admin_api_key = None
        return client


def check_openai(grader: Grader) -> None:
    """Check that the SDK is installed and the key is there.

    Raises
    ------
    MissingDependencyError
        If the SDK is not installed.
    ServiceError
        If the key is missing.
    """
    _import_openai()
    for base_url in addresses(grader):
        find_key(grader, base_url)


def addresses(grader: Grader) -> tuple[str, ...]:
    """Addresses of a grader's service.

    Raises
    ------
    ServiceError
        If there is none for a service that has no usual one.
    """
    if grader.endpoint.base_urls:
        return grader.endpoint.base_urls
    if grader.model.startswith("openai/"):
        return (OPENAI_ADDRESS,)
    raise ServiceError(f"{grader.model}: no address; expected base_url, such as http://localhost:8000/v1")


def find_key(grader: Grader, base_url: str) -> str:
    """The key for an address, from the environment; empty where none is needed.

    A variable that is named must be set. Without one, ``OPENAI_API_KEY`` is for ``openai/`` models, and
    goes to no other service.

    Raises
    ------
    ServiceError
        If the key is missing, or cannot be one; the message names the variable.
    """
    variable = grader.endpoint.key_variable
    own = grader.model.startswith("openai/")
    if not variable and not own:
        return ""
    needed = variable is not None or not is_loopback(base_url)
    return read_key(variable or _KEY_VARIABLE, base_url, needed=needed)


def _import_openai() -> Any:
    try:
        import openai
    except ImportError as error:
        raise MissingDependencyError(
            "openai: not installed; expected it for models of OpenAI-shaped services: "
            "pip install 'autorater-calibration[openai]'"
        ) from error
    return openai


def _is_openai(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    return host == "openai.com" or host.endswith(".openai.com")
