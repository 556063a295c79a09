"""A run's items as tables: who they are, people's labels of them, their texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import Item
from experiments.parquet.columns import ITEMS, LABELS, TEXTS

__all__ = ["item_table", "label_table", "number_contents", "text_table"]


def number_contents(items: Sequence[Item]) -> Mapping[str, int]:
    """The digests of items with a number each, from 0, in their order."""
    return {digest: number for number, digest in enumerate(sorted({item.digest for item in items}))}


def item_table(items: Sequence[Item], contents: Mapping[str, int]) -> pa.Table:
    """Rows of ``ITEMS``, in the order of ``items``."""
    columns = {
        "item": range(len(items)),
        "content": [contents[item.digest] for item in items],
        "item_id": [item.item_id for item in items],
        "digest": [item.digest for item in items],
        "cluster_id": [item.cluster_id for item in items],
        "respondent": [item.respondent for item in items],
        "kind": [item.kind for item in items],
        "topic": [item.topic for item in items],
        "answer_type": [item.answer_type for item in items],
    }
    return pa.table(columns, schema=ITEMS)


def label_table(chosen: CalibrationSet, items: Sequence[Item]) -> pa.Table:
    """Rows of ``LABELS``: people's common label under each rubric, and how many gave one."""
    rows: list[tuple[int, str, str | None, int, bool]] = []
    for rubric in chosen.rubrics:
        consensus = chosen.consensus(rubric)
        raters = Counter(label.item_id for label in chosen.human_labels if label.rubric == rubric)
        disputed = set(consensus.disputed)
        rows += [
            (row, rubric, consensus.labels.get(item.item_id), raters[item.item_id], item.item_id in disputed)
            for row, item in enumerate(items)
            if raters[item.item_id]
        ]
    columns = zip(*rows, strict=True) if rows else ([] for _ in LABELS)
    return pa.table(dict(zip(LABELS.names, map(list, columns), strict=True)), schema=LABELS)


def text_table(items: Sequence[Item]) -> pa.Table:
    """Rows of ``TEXTS``, in the order of ``items``."""
    columns = {
        "item": range(len(items)),
        "question": [item.question for item in items],
        "reference": [item.reference.text for item in items],
        "response": [item.response for item in items],
    }
    return pa.table(columns, schema=TEXTS)
