"""Lines of JSON packed for a page: gzip in base64, as many lines as a budget of bytes has room for."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["Packed", "pack_lines", "unpack_lines"]

_CHUNK = 32_768
"""Lines are tried together in chunks of so many characters: compressed one by one they would be twice as large."""

_GZIP = 31
_END = 64
"""Bytes that the end of a stream can take."""


@dataclass(frozen=True, slots=True)
class Packed:
    """``text`` in base64 holds the first ``n_lines`` lines."""

    text: str
    n_lines: int


def pack_lines(lines: Iterable[str], *, most: int) -> Packed:
    """Pack lines, in their order, into no more than ``most`` characters.

    Parameters
    ----------
    lines
        ASCII, without line breaks.
    most
        Characters of base64; lines that do not fit, and all after them, are left out.
    """
    packer, packed, n_lines = _packer(), b"", 0
    for chunk in _chunks(lines):
        before = packer.copy()
        longer = packed + packer.compress("".join(f"{line}\n" for line in chunk).encode("ascii"))
        longer += packer.flush(zlib.Z_SYNC_FLUSH)
        if _in_base64(len(longer) + _END) > most:
            packer = before
            break
        packed, n_lines = longer, n_lines + len(chunk)
    if not n_lines:
        return Packed("", 0)
    return Packed(base64.b64encode(packed + packer.flush()).decode("ascii"), n_lines)


def unpack_lines(packed: Packed) -> list[str]:
    """The lines again, as a browser reads them."""
    return zlib.decompress(base64.b64decode(packed.text), _GZIP).decode("ascii").splitlines() if packed.text else []


def _packer() -> zlib._Compress:
    return zlib.compressobj(9, zlib.DEFLATED, _GZIP)


def _chunks(lines: Iterable[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for line in lines:
        if chunk and size + len(line) > _CHUNK:
            yield chunk
            chunk, size = [], 0
        chunk.append(line)
        size += len(line)
    if chunk:
        yield chunk


def _in_base64(size: int) -> int:
    return 4 * -(-size // 3)
