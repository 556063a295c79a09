"""Lines of text that never break inside a number, an interval or a count."""

from __future__ import annotations

import re

from rich.cells import cell_len

__all__ = ["atoms", "pieces", "wrap"]

# An estimate with its interval, a share with its count, "n = 5", "R = 3", "INCORRECT 7", "1.0% to 2.0%"; else a word.
ATOM = re.compile(
    r"[nR] = [\d,]+\S*|\S{1,9}% to \S{1,9}%\S*|\S{1,12} \[[^\[\]]{1,40}\]\S*|\S{1,12} \([\d,]{1,12}\)\S*"
    r"|[A-Z_]{2,20} [\d,.]+%?\S*|\S+"
)
# A version stays whole.
PIECE = re.compile(r"[^-_/@#:.]*\d(?:\.\d+)+[-_/@#:.]*|[^-_/@#:.]+[-_/@#:.]*|[-_/@#:.]+")


def atoms(text: str) -> list[str]:
    """The parts of a text between which a line may end."""
    return ATOM.findall(text)


def pieces(atom: str) -> list[str]:
    """Where a name that is too long may break: behind a hyphen, a slash and the like."""
    return PIECE.findall(atom)


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most ``width`` cells; what fits is left as it is, and only an atom wider than a line is broken."""
    if cell_len(text) <= width:
        return [text]
    lines = [""]
    for atom in atoms(text):
        joined = f"{lines[-1]} {atom}" if lines[-1] else atom
        if cell_len(joined) <= width:
            lines[-1] = joined
        else:
            lines += _broken(atom, width)
    return [line for line in lines if line] or [""]


def _broken(atom: str, width: int) -> list[str]:
    if cell_len(atom) <= width:
        return [atom]
    if " " in atom:
        return _broken_words(atom, width)
    lines = [""]
    for piece in pieces(atom):
        for part in _chopped(piece, width):
            if cell_len(lines[-1]) + cell_len(part) <= width:
                lines[-1] += part
            else:
                lines.append(part)
    return [line for line in lines if line]


def _chopped(text: str, width: int) -> list[str]:
    """Parts of at most ``width`` cells, no character lost (rich's own loses marks that take no cell)."""
    parts = [""]
    for character in text:
        if not parts[-1] or cell_len(parts[-1] + character) <= width:
            parts[-1] += character
        else:
            parts.append(character)
    return parts


def _broken_words(atom: str, width: int) -> list[str]:
    """An atom of several words that is wider than a line by itself."""
    return [line for word in atom.split(" ") if word for line in _broken(word, width)]
