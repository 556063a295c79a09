"""What an output can show: the characters that its encoding has, and colour, which never says anything alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from experiments.reports.document import Block, Bullets, Forest, ForestGroup, Paragraph, Section, Table
from experiments.reports.escaping import shorten, visible
from experiments.reports.text_bars import ASCII, UNICODE, Glyphs

__all__ = ["PLAIN", "Look", "block_style", "cell_style", "heading_style"]

_OUTCOMES = {"PASS": "green", "NO SHIFT SHOWN": "green", "FAIL": "red", "SHIFT": "red", "UNDECIDED": "yellow"}
_ALARMS = {"Warnings": Bullets, "Failures": Table}
"""Sections by their headings, and the block in them that tells of something amiss."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a page of text may look: the ``encoding`` of its output, and whether that shows ``colour``."""

    encoding: str = "utf-8"
    colour: bool = False

    @property
    def draws_lines(self) -> bool:
        """Whether the output has characters for lines and bars."""
        return _can_write(UNICODE.every, self.encoding)

    @property
    def glyphs(self) -> Glyphs:
        """The characters that drawings are made of."""
        return UNICODE if self.draws_lines else ASCII

    def spell(self, text: str) -> str:
        r"""Text of which every character prints and can be written; all others are escapes such as ``\u202e``."""
        shown = visible(text)
        if _can_write(shown, self.encoding):
            return shown
        return shown.encode(self.encoding, "backslashreplace").decode(self.encoding)

    def spell_forest(self, forest: Forest) -> Forest:
        """A drawing with its names spelt."""
        return Forest(
            tuple(
                ForestGroup(
                    self.spell(group.name), tuple(replace(row, name=self.spell(row.name)) for row in group.rows)
                )
                for group in forest.groups
            )
        )

    def shorten(self, text: str, width: int) -> str:
        """Cut a text that is spelt to a number of cells."""
        cut = shorten(text, width)
        return cut if _can_write(cut, self.encoding) else cut.replace(UNICODE.cut, ASCII.cut)


PLAIN = Look()
"""Text without colours."""


def _can_write(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def heading_style(section: Section) -> str:
    """Headings are bold; the one over warnings has their colour too."""
    return "bold yellow" if section.heading == "Warnings" else "bold"


def block_style(section: Section, block: Block) -> str:
    """The colour of a decision, by its first words, and of what tells of something amiss."""
    if section.heading == "Decision" and isinstance(block, Paragraph):
        return f"bold {_OUTCOMES.get(block.text.partition('.')[0], '')}".strip()
    alarm = _ALARMS.get(section.heading)
    return "yellow" if alarm is not None and isinstance(block, alarm) else ""


def cell_style(cell: str) -> str:
    """The colour of an outcome in a table."""
    return _OUTCOMES.get(cell, "")
