"""A report as sections of paragraphs, tables and item entries; text and Markdown both show these."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "Bars",
    "Block",
    "Bullets",
    "Document",
    "Entries",
    "Entry",
    "Forest",
    "ForestGroup",
    "ForestRow",
    "Paragraph",
    "Section",
    "Table",
]


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
class Bars:
    """Shares, one a row of a table, to be drawn behind its column ``beside``; ``None`` is drawn as nothing."""

    beside: int
    shares: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under named columns, as many cells a row as columns; the first ``n_text`` columns are words.

    Where the page is too narrow, ``breaks`` are the columns before which the table is cut first.
    ``bars`` are drawn where there is room; they repeat what the cells say.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_text: int = 1
    breaks: tuple[int, ...] = ()
    bars: tuple[Bars, ...] = ()

    def __post_init__(self) -> None:
        uneven = [row for row in self.rows if len(row) != len(self.columns)]
        if uneven:
            raise ValueError(f"table: row {uneven[0]}; expected {len(self.columns)} cells")
        if any(len(bars.shares) != len(self.rows) for bars in self.bars):
            raise ValueError(f"table: bars for other rows; expected {len(self.rows)} shares")


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A share with its interval, each ``None`` where it is not defined, and the figures ``shown`` behind."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    shown: str


@dataclass(frozen=True, slots=True)
class ForestGroup:
    """Rows under a name."""

    name: str
    rows: tuple[ForestRow, ...]


@dataclass(frozen=True, slots=True)
class Forest:
    """Shares with their intervals on one axis from 0 to 100%; a drawing, of which tables have the figures too."""

    groups: tuple[ForestGroup, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One item: a heading line and named texts that may be long and hostile."""

    heading: str
    texts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Entries:
    """A numbered list of items."""

    entries: tuple[Entry, ...]


Block = Paragraph | Bullets | Table | Forest | Entries
"""What a section of a page is made of."""


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
