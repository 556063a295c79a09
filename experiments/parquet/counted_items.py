"""Items of an export with their counts: what the statistics of a report start from."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from calibration_sets.scale import LabelScale
from experiments.errors import ExportError
from experiments.parquet.columns import ITEMS, LABELS
from experiments.parquet.counting import VerdictCounts
from experiments.parquet.description import ExportDescription, PartRecord
from experiments.parquet.export_files import read_columns
from experiments.reports.tally import Tally
from experiments.stats.inputs import as_clusters
from graders.verdict import FAILURES

__all__ = ["CountedItems", "ItemColumns", "LabelColumns", "read_items", "read_labels"]

Words = NDArray[np.object_]


@dataclass(frozen=True)
class CountedItems(Tally):
    """A sample without its items.

    Attributes
    ----------
    reference
        (n,) people's label, ``None`` where they have none in common; an array of texts.
    codes
        (n,) number of the question of each item.
    failures
        (n, F) verdicts without a label, by ``FAILURES``.
    """

    scale: LabelScale
    reference: Sequence[str | None]
    counts: NDArray[np.int64]
    expected: int
    codes: NDArray[np.int64]
    failures: NDArray[np.int32]

    @property
    def clusters(self) -> Sequence[Hashable]:
        """(n,) the question of each item, as its number."""
        return as_clusters(self.codes)

    @cached_property
    def failure_counts(self) -> Mapping[str, int]:
        """Reason to number of verdicts, only reasons that occur."""
        totals = dict(zip(FAILURES, map(int, self.failures.sum(axis=0, dtype=np.int64)), strict=True))
        return {reason: count for reason, count in sorted(totals.items()) if count}

    @cached_property
    def labels_given(self) -> Sequence[str]:
        """People's labels where every item has one, as an array; raises ``ValueError`` otherwise."""
        open_ones = sum(label is None for label in self.reference)
        if open_ones:
            raise ValueError(f"sample: {open_ones} items without a label; expected none")
        return cast(Sequence[str], self.reference)

    def take(self, keep: Sequence[bool]) -> CountedItems:
        """The items whose flag is set."""
        kept = np.asarray(keep, dtype=np.bool_)
        if kept.all() and len(kept):
            return self
        return CountedItems(
            scale=self.scale,
            reference=_texts(cast(Words, self.reference)[kept]),
            counts=self.counts[kept],
            expected=self.expected,
            codes=self.codes[kept],
            failures=self.failures[kept],
        )


@dataclass(frozen=True, slots=True)
class ItemColumns:
    """Of n items: the number of each one's content and of its question, its kind and its respondent."""

    content: NDArray[np.int64]
    question: NDArray[np.int64]
    kinds: Sequence[str | None]
    respondents: Sequence[str | None]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.content)

    def tally(self, counts: VerdictCounts, labels: LabelColumns, *, scale: LabelScale, expected: int) -> CountedItems:
        """The items with a grader's verdicts on their contents."""
        return CountedItems(
            scale=scale,
            reference=labels.reference,
            counts=counts.labels[self.content],
            expected=expected,
            codes=self.question,
            failures=counts.failures[self.content],
        )


@dataclass(frozen=True, slots=True)
class LabelColumns:
    """People's labels of n items under one rubric: the common one, whether they disputed it, whether there is none."""

    reference: Sequence[str | None]
    disputed: Sequence[bool]
    unlabelled: Sequence[bool]


def read_items(folder: Path, description: ExportDescription) -> ItemColumns:
    """The columns of the items that counts need; ``ExportError`` where the file is not as described."""
    columns = ["item", "content", "cluster_id", "kind", "respondent"]
    table = read_columns(folder, description.items, ITEMS, columns)
    content = _numbers(table, "content", description.n_contents, folder / description.items.file)
    if not np.array_equal(
        _numbers(table, "item", table.num_rows, folder / description.items.file), np.arange(len(table))
    ):
        raise ExportError(
            f"{folder / description.items.file}: items out of order; expected the number of its row in each"
        )
    question = _codes(table, "cluster_id")[0]
    return ItemColumns(content, question, _words(table, "kind"), _words(table, "respondent"))


def read_labels(folder: Path, description: ExportDescription, rubric: str, *, n_items: int) -> LabelColumns:
    """People's labels under a rubric, by item; ``ExportError`` where the file is not as described."""
    record: PartRecord = description.labels
    table = read_columns(folder, record, LABELS, ["item", "rubric", "label", "disputed"])
    codes, rubrics = _codes(table, "rubric")
    chosen = codes == (rubrics.index(rubric) if rubric in rubrics else -1)
    rows = _numbers(table, "item", n_items, folder / record.file)[chosen]
    reference = np.full(n_items, None, dtype=np.object_)
    reference[rows] = np.asarray(_words(table, "label"), dtype=np.object_)[chosen]
    disputed, unlabelled = np.zeros(n_items, dtype=np.bool_), np.ones(n_items, dtype=np.bool_)
    disputed[rows] = table["disputed"].to_numpy()[chosen]
    unlabelled[rows] = False
    strangers = set(_codes(table, "label")[1]).difference(description.scale.labels)
    if strangers:
        expected = f"expected one of {list(description.scale.labels)}"
        raise ExportError(f"{folder / record.file}: label {min(strangers)!r}; {expected}")
    return LabelColumns(_texts(reference), cast(Sequence[bool], disputed), cast(Sequence[bool], unlabelled))


def _numbers(table: pa.Table, name: str, end: int, where: Path) -> NDArray[np.int64]:
    numbers: NDArray[np.int64] = table[name].to_numpy().astype(np.int64)
    bad = np.flatnonzero((numbers < 0) | (numbers >= end))
    if len(bad):
        raise ExportError(f"{where}: row {bad[0]}: {name} {numbers[bad[0]]}; expected 0 to {end - 1}")
    return numbers


def _codes(table: pa.Table, name: str) -> tuple[NDArray[np.int64], list[str]]:
    """Number of each row's text, -1 where there is none, and the texts."""
    column = table[name].unify_dictionaries().combine_chunks()
    array = column if isinstance(column, pa.DictionaryArray) else column.chunk(0)
    codes: NDArray[np.int64] = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes, array.dictionary.to_pylist()


def _words(table: pa.Table, name: str) -> Sequence[str | None]:
    """Text of each row; equal ones are one object."""
    codes, words = _codes(table, name)
    return _texts(np.array([*words, None], dtype=np.object_)[codes])


def _texts(words: Words) -> Sequence[str | None]:
    # An array, which the statistics read without a loop over its items.
    return cast(Sequence[str | None], words)
