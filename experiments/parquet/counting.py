"""The sufficient counts of a grader, taken from its files some rows at a time.

What is held beside one batch is a count for each content and outcome and a flag for each verdict asked for: its size
depends on contents and repeats, never on how many rows were read at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from experiments.errors import ExportError
from experiments.parquet.columns import VERDICTS
from experiments.parquet.description import ExportedGrader
from experiments.parquet.export_files import iter_batches, open_file
from graders.verdict import FAILURES

__all__ = ["VerdictCounts", "count_verdicts"]

NOT_ANSWERED = "not_answered"
UNKNOWN, NOT_ASKED = "unknown", "not_asked"
"""Reasons of calls without an answer where none is told, and of verdicts that are absent."""

_WORDS = ["label", "failure", "detail"]

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """Verdicts of one grader, counted.

    Attributes
    ----------
    labels
        (C, L) verdicts on each content with each label.
    failures
        (C, F) verdicts on each content without a label, by ``FAILURES``; absent ones were not answered.
    not_answered
        Why calls brought no answer, over items.
    """

    labels: Numbers
    failures: NDArray[np.int32]
    not_answered: Mapping[str, int]


def count_verdicts(folder: Path, grader: ExportedGrader, *, labels: Sequence[str], items_of: Numbers) -> VerdictCounts:
    """Count the verdicts of a grader.

    Parameters
    ----------
    folder
        The export.
    labels
        (L,) the scale.
    items_of
        (C,) how many items have each content.

    Raises
    ------
    ExportError
        A file that is missing or was changed; a verdict off the scale, with a label and a failure or neither, of a
        content or repeat that the run does not have, or given twice.
    """
    counter = _Counter(grader, labels, items_of)
    for record in grader.parts:
        opened = open_file(folder, record, VERDICTS, words=_WORDS)
        for start, batch in iter_batches(opened):
            counter.take(batch, f"{folder / record.file}: row", start)
    return counter.finish()


class _Counter:
    def __init__(self, grader: ExportedGrader, labels: Sequence[str], items_of: Numbers) -> None:
        self._grader, self._items_of, self._n = grader, items_of, len(items_of)
        self._outcomes = {"label": tuple(labels), "failure": FAILURES}
        self._n_labels = len(labels)
        self._table = np.zeros((self._n, len(labels) + len(FAILURES)), dtype=np.int32)
        self._seen = np.zeros(self._n * grader.expected, dtype=np.bool_)
        self._details: Counter[str] = Counter()

    def take(self, batch: pa.RecordBatch, where: str, start: int) -> None:
        if not batch.num_rows:
            return
        content = self._keys(batch, "content", self._n, where, start)
        repeat = self._keys(batch, "repeat", self._grader.expected, where, start)
        label, failure = (self._words(batch, name, where, start) for name in ("label", "failure"))
        _refuse((label < 0) == (failure < 0), where, start, "a label and a failure, or neither; expected one of them")
        self._note(content * self._grader.expected + repeat, where, start)
        outcome = np.where(label >= 0, label, self._n_labels + failure)
        low, width = int(content.min()), self._table.shape[1]
        size = int(content.max()) - low + 1
        found = np.bincount((content - low) * width + outcome, minlength=size * width)
        self._table[low : low + size] += found.reshape(size, width).astype(np.int32)
        unanswered = failure == FAILURES.index(NOT_ANSWERED)
        if unanswered.any():
            self._explain(batch.column("detail"), unanswered, self._items_of[content])

    def finish(self) -> VerdictCounts:
        failures = self._table[:, self._n_labels :]
        absent = self._grader.expected - self._table.sum(axis=1, dtype=np.int64)
        failures[:, FAILURES.index(NOT_ANSWERED)] += absent.astype(np.int32)
        self._details[NOT_ASKED] += int((absent * self._items_of).sum())
        reasons = {reason: count for reason, count in sorted(self._details.items()) if count}
        return VerdictCounts(self._table[:, : self._n_labels].astype(np.int64), failures, reasons)

    def _keys(self, batch: pa.RecordBatch, name: str, end: int, where: str, start: int) -> Numbers:
        column = batch.column(name)
        keys: Numbers = column.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        bad = (keys < 0) | (keys >= end)
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise ExportError(f"{where} {start + row}: {name} {column[row].as_py()}; expected 0 to {end - 1}")
        return keys

    def _words(self, batch: pa.RecordBatch, name: str, where: str, start: int) -> Numbers:
        """Place of each word among those that may stand there, -1 where there is none."""
        column, known = batch.column(name), self._outcomes[name]
        words = column.dictionary.to_pylist()
        places = np.array([known.index(word) if word in known else -2 for word in words] + [-1], dtype=np.int64)
        codes: Numbers = places[column.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)]
        if (codes == -2).any():
            row = int(np.flatnonzero(codes == -2)[0])
            raise ExportError(f"{where} {start + row}: {name} {column[row].as_py()!r}; expected one of {list(known)}")
        return codes

    def _note(self, keys: Numbers, where: str, start: int) -> None:
        """Mark verdicts as seen; none may be there twice."""
        again = self._seen[keys]
        self._seen[keys] = True
        if not again.any() and (len(keys) == 1 or (np.diff(keys) > 0).all()):
            return
        first = np.unique(keys, return_index=True)[1]
        again[np.setdiff1d(np.arange(len(keys)), first)] = True
        _refuse(again, where, start, "a verdict that is there twice; expected each content and repeat once")

    def _explain(self, details: pa.DictionaryArray, unanswered: NDArray[np.bool_], weights: Numbers) -> None:
        words = [*details.dictionary.to_pylist(), UNKNOWN]
        codes = details.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)[unanswered]
        for code, count in enumerate(np.bincount(codes, weights=weights[unanswered], minlength=len(words))):
            self._details[words[code] or UNKNOWN] += int(count)


def _refuse(bad: NDArray[np.bool_], where: str, start: int, what: str) -> None:
    if bad.any():
        raise ExportError(f"{where} {start + int(np.flatnonzero(bad)[0])}: {what}")
