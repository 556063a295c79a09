"""Text that a model or a stranger wrote, made harmless for a terminal and for Markdown."""

from __future__ import annotations

import re

from rich.cells import cell_len, set_cell_size

__all__ = ["escape_markdown", "quote", "shorten", "visible"]

ELLIPSIS = "…"

# They count as printing, but show nothing, or choose another form (and width) of the character before.
INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")

# A bracket alone is harmless; a link or image needs "](", "][" or "]:".
MARKDOWN_PUNCTUATION = re.compile(r"([\\`*|~$]|\](?=[(\[:]))")
LOOSE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
LINE_START = re.compile(r"^(\s*)(#{1,6}(?=\s|$)|[+-](?=\s|$)|[=-]{2,}(?=\s*$)|\d{1,9}(?=[.)](\s|$)))")
LINK = re.compile(r"(?i)(https?|ftp)://|www\.")


def visible(text: str) -> str:
    r"""Show what does not print as an escape: ``\n``, ``\x1b``, ``\u202e``, ``\ud800``; all else stays.

    Escapes, bells and cursor movements, line and paragraph separators, direction marks, zero-width
    characters and lone surrogates would act on the reader's terminal or could not be written at all;
    fillers and variation selectors would move what stands behind them.
    """
    if text.isascii() and text.isprintable():
        return text
    shown = INVISIBLE.sub(lambda found: _spell_out(found.group()), text)
    return "".join(char if char.isprintable() else _spell_out(char) for char in shown)


def _spell_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def quote(text: str) -> str:
    r"""Text between double quotes on one line, like a literal: quotes and backslashes escaped too."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{visible(escaped)}"'


def shorten(text: str, width: int) -> str:
    """Cut text to a number of terminal cells; a cut ends with an ellipsis."""
    # No character is wider than two cells, and one is at least none: cut first, measure then.
    head = text[: max(4 * width, 0)]
    if len(head) == len(text) and cell_len(head) <= width:
        return head
    return set_cell_size(head, max(width - 1, 0)).rstrip() + ELLIPSIS


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is: no table cell, code, emphasis, HTML, link or heading begins in it."""
    plain = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = MARKDOWN_PUNCTUATION.sub(r"\\\1", plain)
    plain = LOOSE_UNDERSCORE.sub(r"\\_", plain)
    plain = LINK.sub(lambda link: link.group().replace("://", "&#58;//").replace(".", "&#46;"), plain)
    return LINE_START.sub(_escape_start, plain)


def _escape_start(start: re.Match[str]) -> str:
    mark = start.group(2)
    return start.group(1) + (f"{mark}\\" if mark.isdigit() else f"\\{mark}")
