"""What a file says: one rater of one item, before anything of it is believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from experiments.errors import ReviewError
from experiments.review.label_row import Role

__all__ = ["FileLabels", "FileRow", "ReadOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """What a file says of one item and rater.

    Parameters
    ----------
    where
        File and line, or file and record, for messages.
    item_id, item_digest
        One of both at least.
    rater
        ``None`` where the file names nobody.
    blind, labelled_at, part
        ``None`` where the file does not say.
    skipped
        Whether the file says that the rater passed the item over; a row with a time and nothing else says so too.
    texts
        Field of the item to the text that the other program showed, where that is known exactly.
    """

    where: str
    item_id: str | None
    item_digest: str | None
    rater: str | None
    label: str | None
    note: str = ""
    disputed: bool = False
    blind: bool | None = None
    labelled_at: str | None = None
    role: Role = "label"
    part: str | None = None
    skipped: bool = False
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def says_nothing(self) -> bool:
        """Whether it is an empty line of a form: neither a decision, nor a note, nor a time at which one was made."""
        return not (self.label or self.note or self.disputed or self.skipped or self.labelled_at)


@dataclass(frozen=True, slots=True)
class FileLabels:
    """The rows of a file, and what a person should know of what was not read."""

    rows: tuple[FileRow, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """``rater`` is who labelled where a file does not say; ``raters`` maps another program's user ids to names.

    With ``assume_submitted`` answers without a status are taken for submitted ones.
    """

    rater: str | None = None
    raters: Mapping[str, str] = field(default_factory=dict)
    assume_submitted: bool = False

    @classmethod
    def parse(cls, given: list[str], *, assume_submitted: bool = False) -> ReadOptions:
        """Options from ``NAME`` and ``ID=NAME``.

        Raises
        ------
        ReviewError
            Two names for the whole file, an id without a name, an id that comes twice.
        """
        pairs = [text.partition("=") for text in given]
        plain = [left for left, sign, _ in pairs if not sign]
        named = [(left.strip(), right.strip()) for left, sign, right in pairs if sign]
        if len(plain) > 1 or len(dict(named)) < len(named) or not all(left and right for left, right in named):
            raise ReviewError(f"--rater: {given}; expected one NAME, or ID=NAME for each user of the other program")
        return cls(rater=plain[0] if plain else None, raters=dict(named), assume_submitted=assume_submitted)
