"""Addresses of a question's sources, as people typed them: several in one cell, notes beside them, stray brackets."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from calibration_sets.question import Question

__all__ = ["host_of", "source_urls", "url_key"]

_URL = re.compile(r"https?://[^\s'\"<>]+", re.IGNORECASE)


def source_urls(question: Question) -> tuple[str, ...]:
    """The addresses in a question's cells, each once, in order; a cell that holds none gives none."""
    found = (_trim(url) for cell in question.urls for url in _URL.findall(cell))
    return tuple(dict.fromkeys(url for url in found if _split(url) is not None))


def _trim(url: str) -> str:
    """Without the punctuation of the sentence that an address stood in."""
    url = url.rstrip(".,;:")
    while url.endswith(")") and url.count(")") > url.count("("):
        url = url[:-1].rstrip(".,;:")
    return url


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        return parts if parts.hostname else None
    except ValueError:
        return None


def host_of(url: str) -> str:
    """The host of an address, in lower case; empty where there is none."""
    parts = _split(url)
    return (parts.hostname or "") if parts else ""


def url_key(url: str) -> str:
    """What two spellings of one address have in common: no scheme, no ``www.``, no fragment, no last slash."""
    parts = _split(url)
    if parts is None:
        return url
    host = (parts.hostname or "").removeprefix("www.")
    query = f"?{parts.query}" if parts.query else ""
    return f"{host}{parts.path.rstrip('/')}{query}"
