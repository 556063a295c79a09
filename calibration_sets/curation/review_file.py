"""Tables that people fill in: proposals are written beside their cells, and what they filled in is never lost."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from calibration_sets.curation.csv_dialect import find_delimiter
from calibration_sets.defused_cells import defuse, restore
from calibration_sets.errors import SetFileError
from calibration_sets.strict import raise_problems
from calibration_sets.tables import cell_text, read_csv
from calibration_sets.writer import replace_text

__all__ = ["Cells", "ReviewFile"]

Cells = Mapping[str, str]
"""One row: text by column."""

KEY = "key"


class ReviewFile:
    """A CSV with a column ``key``, columns that a stage writes, and columns that people fill in.

    Parameters
    ----------
    path
        The file; it need not be there.
    shown, filled
        Names of the columns that the stage writes, and of those that people fill in.
    choices
        Allowed words of a filled column; blank is always allowed and means that nobody has decided.
    """

    def __init__(
        self, path: Path, *, shown: Sequence[str], filled: Sequence[str], choices: Mapping[str, Sequence[str]]
    ) -> None:
        self.path = path
        self._columns = (KEY, *shown, *filled)
        self._filled = tuple(filled)
        self._choices = choices

    def read(self) -> dict[str, dict[str, str]]:
        """The rows in which somebody has filled in anything, by key; none where there is no file.

        Raises
        ------
        SetFileError
            If a column is missing, a key comes twice, or a word is not among the choices.
        """
        rows = {cells[KEY]: cells for cells in self._rows()}
        return {key: cells for key, cells in rows.items() if any(cells[column] for column in self._filled)}

    def _rows(self) -> list[dict[str, str]]:
        if not self.path.exists():
            return []
        table = read_csv(self.path, delimiter=find_delimiter(self.path))
        table.require({column: column for column in self._columns})
        if strangers := [column for column in table.columns if column not in self._columns]:
            # The file is written anew: what people keep in columns of their own would be lost.
            raise SetFileError(
                f"{self.path.name}: column {strangers[0]!r} is none of the file's; expected notes in 'note'"
            )
        rows: list[dict[str, str]] = []
        keys: set[str] = set()
        problems = []
        for row in table.rows:
            cells = {column: restore(cell_text(row, column) or "") for column in self._columns}
            cells.update({column: cells[column].strip() for column in self._filled})
            if not any(cells.values()):
                # Spreadsheets write empty rows as commas alone.
                continue
            problems += self._problems(row.where, cells)
            if cells[KEY] in keys:
                problems.append(f"{row.where}: key {cells[KEY]!r} comes twice; expected each once")
            keys.add(cells[KEY])
            rows.append(cells)
        raise_problems(problems, SetFileError)
        return rows

    def _problems(self, where: str, cells: Cells) -> list[str]:
        blank = [] if cells[KEY] else [f"{where}: key is blank; expected the one that the row came with"]
        return blank + [
            f"{where}: {column} {cells[column]!r}; expected {', '.join(words)}, or nothing"
            for column, words in self._choices.items()
            if cells[column] and cells[column] not in words
        ]

    def fill(self, column: str, value: str, cells: Cells) -> bool:
        """Fill cells in where a shown column has this value; whether there was such a row."""
        rows = self._rows()
        found = [row for row in rows if row[column] == value]
        for row in found:
            row.update(cells)
        if found:
            self._save(rows)
        return bool(found)

    def digest(self) -> str:
        """SHA-256 of what people filled in; what a stage wrote beside it does not count."""
        filled = {key: [cells[column] for column in self._filled] for key, cells in self.read().items()}
        return hashlib.sha256(json.dumps(filled, sort_keys=True).encode()).hexdigest()

    def write(self, proposals: Iterable[Cells]) -> None:
        """Write the proposals with what people have filled in, at once or not at all.

        Rows that somebody filled in stay, also where they are no longer proposed. Proposals with one key are about
        questions that say the same: one row stands for them.
        """
        decided = self.read()
        named = {row[KEY]: row for row in proposals}
        rows = [{**row, **self._kept(decided.get(key))} for key, row in named.items()]
        rows += [cells for key, cells in decided.items() if key not in named]
        self._save(rows)

    def tell_strays(self, proposed: Iterable[str]) -> list[str]:
        """A note where rows are filled in that are not proposed any more, or whose key was changed by hand."""
        n_stray = len(self.read().keys() - set(proposed))
        told = f"{n_stray} rows filled in in {self.path.name} are about nothing that is proposed here: without effect"
        return [told] if n_stray else []

    def _kept(self, cells: Cells | None) -> Cells:
        return {column: cells[column] for column in self._filled} if cells else {}

    def _save(self, rows: Iterable[Cells]) -> None:
        """A file that is as wanted is not touched, so that an open spreadsheet has no conflict."""
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self._columns)
        writer.writerows([defuse(row.get(column, "")) for column in self._columns] for row in rows)
        text = out.getvalue()
        if not self.path.exists() or self.path.read_bytes() != text.encode():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            replace_text(self.path, text)
