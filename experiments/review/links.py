"""Addresses inside the text of others: what may be shown as a link, and what stays text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from experiments.review.display import shown_text

__all__ = ["TextPart", "find_links", "split_links"]

_ADDRESS = re.compile(r"(?<!\w)https?://[^\s<>\"]+", re.IGNORECASE)
_BEHIND = ".,;:!?'"
_BRACKETS = {")": "(", "]": "["}


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of text, and where it leads if it is a link."""

    text: str
    href: str | None = None


def split_links(text: str) -> Sequence[TextPart]:
    r"""Text in parts, http and https addresses as links; all else stays text.

    What cannot be seen is spelt out (:func:`~experiments.review.display.shown_text`), and an address with anything of
    that kind, with a name before ``@`` or without a host is text: it would lead elsewhere than it seems to.
    """
    shown = shown_text(text)
    parts: list[TextPart] = []
    end = 0
    for found in _ADDRESS.finditer(shown):
        address = _without_behind(found.group())
        if _is_plain(address):
            parts += [TextPart(shown[end : found.start()]), TextPart(address, address)]
            end = found.start() + len(address)
    return [part for part in (*parts, TextPart(shown[end:])) if part.text]


def find_links(text: str) -> tuple[str, ...]:
    """The addresses in a text that may be shown as links, each once."""
    return tuple(dict.fromkeys(part.href for part in split_links(text) if part.href))


def _without_behind(address: str) -> str:
    """Without punctuation of the sentence, and without a bracket that was opened before the address."""
    while address[-1] in _BEHIND or address.count(address[-1]) > address.count(_BRACKETS.get(address[-1], address[-1])):
        address = address[:-1]
    return address


def _is_plain(address: str) -> bool:
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and "@" not in parts.netloc and "\\" not in address
