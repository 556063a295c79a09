"""A report as sections of paragraphs, tables and item entries; text and Markdown both show these."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Block", "Bullets", "Document", "Entries", "Entry", "Paragraph", "Section", "Table"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph; one that explains, and would read the same again, stands ``once`` in a document."""

    text: str
    once: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """Short points."""

    points: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under named columns, as many cells a row as columns; the first ``n_text`` columns are words.

    Where the page is too narrow, ``breaks`` are the columns before which the table is cut first.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_text: int = 1
    breaks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        uneven = [row for row in self.rows if len(row) != len(self.columns)]
        if uneven:
            raise ValueError(f"table: row {uneven[0]}; expected {len(self.columns)} cells")


@dataclass(frozen=True, slots=True)
class Entry:
    """One item: a heading line and named texts that may be long and hostile."""

    heading: str
    texts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Entries:
    """A numbered list of items."""

    entries: tuple[Entry, ...]


Block = Paragraph | Bullets | Table | Entries


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of level 1 to 3 and what stands under it."""

    heading: str
    rank: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """Sections in reading order."""

    sections: tuple[Section, ...]
