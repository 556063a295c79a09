"""What people and models wrote, as a page shows it."""

from __future__ import annotations

from unicodedata import category

from experiments.reports.escaping import visible

__all__ = ["cut", "link_value", "shown"]


def shown(text: str) -> str:
    """Text with its lines, tabs and spaces of any width; what else does not print is an escape, as in other reports."""
    if text.isprintable():
        return text
    return "".join(char if _is_plain(char) else visible(char) for char in text.replace("\r\n", "\n"))


def _is_plain(char: str) -> bool:
    return char in "\n\t" or category(char) == "Zs" or char.isprintable()


def cut(text: str, most: int) -> str:
    """At most so many characters; a cut says how many there are beyond it."""
    return text if len(text) <= most else f"{text[:most]}… [{len(text) - most:,} more characters]"


def link_value(text: str) -> str:
    """A value as links to items spell it: all but lone surrogates as it is."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
