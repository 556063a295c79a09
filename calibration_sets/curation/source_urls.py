"""Addresses of a question's sources, as people typed them: several in one cell, notes beside them, stray brackets."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, quote, unquote, urlsplit

from calibration_sets.question import Question

__all__ = ["host_of", "source_urls", "url_key"]

# An apostrophe is part of many addresses (.../Wahoo's_Fish_Taco); before the next address of a list it parts the two.
_URL = re.compile(r"https?://(?:(?![,;|'\"\[\]]+https?://)[^\s\"<>])+", re.IGNORECASE)
_TAIL = ".,;:'|"
_BRACKETS = {")": "(", "]": "["}
_SPELT_OUT = "/=&+?,:;@()!*'$~"
_USUAL_PORTS = (None, 80, 443)


def source_urls(question: Question) -> tuple[str, ...]:
    """The addresses in a question's cells, each once, in order; a cell that holds none gives none."""
    found = (_trim(url) for cell in question.urls for url in _URL.findall(cell))
    return tuple(dict.fromkeys(url for url in found if _split(url) is not None))


def _trim(url: str) -> str:
    """Without the punctuation of the sentence that an address stood in."""
    url = url.rstrip(_TAIL)
    while (opening := _BRACKETS.get(url[-1:])) and url.count(url[-1]) > url.count(opening):
        url = url[:-1].rstrip(_TAIL)
    return url


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        return parts if parts.hostname and parts.port != 0 else None
    except ValueError:
        return None


def host_of(url: str) -> str:
    """The host of an address, in lower case and ASCII (``xn--...``); empty where there is none."""
    parts = _split(url)
    host = (parts.hostname or "") if parts else ""
    try:
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        # No name that a host can have: it stays as it was typed, and nobody will answer under it.
        return host


def url_key(url: str) -> str:
    """What two spellings of one address have in common: no scheme, no ``www.``, no fragment, no last slash.

    Characters count as the same whether they are written out or as ``%C3%A9``.
    """
    parts = _split(url)
    if parts is None:
        return url
    host = host_of(url).removeprefix("www.")
    port = "" if parts.port in _USUAL_PORTS else f":{parts.port}"
    path = quote(unquote(parts.path, errors="surrogateescape"), safe=_SPELT_OUT, errors="surrogateescape")
    # In a query %26 is not what & is: only what is not ASCII is spelt in one way.
    query = f"?{quote(parts.query, safe=f'{_SPELT_OUT}%')}" if parts.query else ""
    return f"{host}{port}{path.rstrip('/')}{query}"
