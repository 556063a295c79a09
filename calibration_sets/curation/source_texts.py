"""Texts of sources, by address: a table, or a folder with one file an address."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from calibration_sets.curation.source_urls import host_of, url_key
from calibration_sets.errors import SetFileError
from calibration_sets.strict import raise_problems, read_text
from calibration_sets.tables import cell_text, read_table

__all__ = ["SourceTexts", "read_source_texts"]


@dataclass(frozen=True, slots=True)
class SourceTexts:
    """Text by the key of its address; an address with a blank text has none."""

    texts: Mapping[str, str] = field(default_factory=dict)

    def find(self, url: str) -> str | None:
        """The text of a source; ``None`` where none is at hand."""
        return self.texts.get(url_key(url))

    def map(self, change: Callable[[str], str]) -> SourceTexts:
        """The same addresses with changed texts."""
        return SourceTexts({key: change(text) for key, text in self.texts.items()})

    def count_strangers(self, urls: Iterable[str]) -> int:
        """How many texts are of none of these addresses."""
        return len(self.texts.keys() - {url_key(url) for url in urls})


def read_source_texts(path: Path) -> SourceTexts:
    """The texts in a table with ``url`` and ``text``, or in a folder of ``.txt`` files.

    A file of a folder is named by its address, percent-encoded so that it holds no slash: of
    ``https://example.org/a`` it is ``example.org%2Fa.txt`` or ``https%3A%2F%2Fexample.org%2Fa.txt``.

    Raises
    ------
    SetFileError
        If it is neither, holds no text, has something that is no address, or two texts of one.
    """
    found: dict[str, str] = {}
    problems = []
    for where, url, text in _folder_rows(path) if path.is_dir() else _table_rows(path):
        if not host_of(url):
            problems.append(f"{where}: url {url!r}; expected an address such as https://example.org/page")
        elif text.strip() and found.setdefault(url_key(url), text) != text:
            problems.append(f"{where}: a second text of {url}; expected one")
    raise_problems(problems, SetFileError)
    if not found:
        raise SetFileError(f"{path}: no text of a source; expected .txt files, or a table with url and text")
    return SourceTexts(found)


def _table_rows(path: Path) -> Iterator[tuple[str, str, str]]:
    table = read_table(path)
    table.require({column: column for column in ("url", "text")})
    for row in table.rows:
        yield row.where, (cell_text(row, "url") or "").strip(), cell_text(row, "text") or ""


def _folder_rows(path: Path) -> Iterator[tuple[str, str, str]]:
    for file in sorted(path.glob("*.txt")):
        name = unquote(file.stem)
        url = name if name.lower().startswith(("http://", "https://")) else f"https://{name}"
        yield file.name, url, read_text(file, SetFileError)
