"""What stands before every page: who may ask, from where, how much, and what a browser may do with the answer."""

from __future__ import annotations

import hashlib
import ipaddress
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["CONTENT_POLICY", "HEADERS", "LONGEST_FORM", "AccessRules", "Guard"]

LONGEST_FORM = 128 * 1024
"""Bytes of a form: above the longest note as it is and as it was before, far below what would hurt."""
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What a labelling page may load and run: its own files alone."""
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: browsers would then send forms with the origin "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
"""Header to value, sent with every page."""
_TOO_LONG = f"A form may have {LONGEST_FORM:,} bytes at most."
_LOOPBACK_NAMES = frozenset({"localhost"})
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]{1,5})?")
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Whom the pages answer.

    ``names`` are host names that a browser may call us by, beside ``localhost``; ``any_address`` allows every literal
    address and not those of loopback alone: an address cannot be rebound to another machine as a name can. ``token``
    is asked for unless it is ``None``.
    """

    names: frozenset[str] = frozenset()
    any_address: bool = False
    token: str | None = None

    def allows_host(self, host: str) -> bool:
        """Whether a ``Host`` header is one of ours; the port does not matter, as tunnels change it."""
        found = _HOST.fullmatch(host.lower())
        if found is None:
            return False
        name = found["address"] or found["name"]
        if name in _LOOPBACK_NAMES or name in self.names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self.any_address or address.is_loopback

    @property
    def cookie(self) -> str:
        """Name of the cookie that stands for the token: cookies of one host are shared by all its ports."""
        return f"autorater_{hashlib.sha256((self.token or '').encode()).hexdigest()[:8]}"

    def knows(self, given: str | None) -> bool:
        """Whether somebody gave the right token, in a time that does not depend on how wrong it is."""
        if self.token is None:
            return True
        return given is not None and secrets.compare_digest(given.encode(), self.token.encode())


class Guard:
    """The application behind it sees only requests that passed; every answer carries the security headers."""

    def __init__(self, app: ASGIApp, rules: AccessRules) -> None:
        self._app, self._rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        query_token = QueryParams(scope["query_string"]).get("token")
        gives_cookie = self._rules.token is not None and self._rules.knows(query_token)
        dressed = _Dressed(send, self._cookie_header() if gives_cookie else None)
        refusal = self._refuse(scope, query_token)
        if refusal is not None:
            await refusal(scope, receive, dressed)
            return
        await self._app(scope, _Limited(receive), dressed)

    def _cookie_header(self) -> str:
        return f"{self._rules.cookie}={self._rules.token}; Path=/; HttpOnly; SameSite=Strict"

    def _refuse(self, scope: Scope, query_token: str | None) -> PlainTextResponse | None:
        headers, method = Headers(scope=scope), scope["method"]
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._rules.allows_host(hosts[0]):
            return _plain("This name is not one that the labelling pages are reached by.", 421)
        given = [query_token, *_cookies(headers, self._rules.cookie)]
        if not any(map(self._rules.knows, given)):
            return _plain("Open the whole address that 'autorater review' printed: it holds the token.", 401)
        if method not in ("GET", "HEAD", "POST"):
            return _plain("Only GET and POST are used here.", 405)
        return _refuse_form(headers, hosts[0]) if method == "POST" else None


def _refuse_form(headers: Headers, host: str) -> PlainTextResponse | None:
    if not _same_origin(headers, host):
        return _plain("This form was not sent from a page of the labelling program.", 403)
    if headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        return _plain(f"Expected {_FORM}.", 415)
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()) or int(length) > LONGEST_FORM:
        return _plain(_TOO_LONG, 413)
    return None


def _same_origin(headers: Headers, host: str) -> bool:
    """Whether a form comes from our own page: browsers tell with each POST, and what does not tell is refused."""
    origin = headers.get("origin")
    if origin is None:
        return headers.get("sec-fetch-site") == "same-origin"
    return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def _cookies(headers: Headers, name: str) -> list[str]:
    """Values of the cookies of that name, whatever stands between them: other programs of the host set cookies too."""
    pairs = [part.partition("=") for line in headers.getlist("cookie") for part in line.split(";")]
    return [value.strip() for key, _, value in pairs if key.strip() == name]


class _Limited:
    """Receives no more than a form may have."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._seen = receive, 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self._seen > LONGEST_FORM:
            raise HTTPException(413, _TOO_LONG)
        return message


class _Dressed:
    """Sends with the security headers, and with the cookie where there is one to give."""

    def __init__(self, send: Send, cookie: str | None) -> None:
        self._send, self._cookie = send, cookie

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _headers(self._cookie):
                headers[name] = value
        await self._send(message)


def _headers(cookie: str | None) -> Iterable[tuple[str, str]]:
    yield from HEADERS.items()
    if cookie is not None:
        yield "Set-Cookie", cookie


def _plain(text: str, status: int) -> PlainTextResponse:
    return PlainTextResponse(f"{text}\n", status_code=status)
