"""The files of an export, with their columns."""

from __future__ import annotations

from urllib.parse import quote

import pyarrow as pa

__all__ = [
    "ITEMS",
    "ITEMS_FILE",
    "LABELS",
    "LABELS_FILE",
    "TEXTS",
    "TEXTS_FILE",
    "VERDICTS",
    "VERDICTS_FOLDER",
    "grader_folder",
]

_WORD = pa.dictionary(pa.int32(), pa.string())
"""A text that stands in many rows."""


def _required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


VERDICTS = pa.schema(
    [
        _required("content", pa.int32()),
        _required("repeat", pa.int32()),
        pa.field("label", _WORD),
        pa.field("failure", _WORD),
        pa.field("detail", _WORD),
    ]
)
"""One verdict a row: a label xor a failure; ``detail`` says why a call brought no answer."""

ITEMS = pa.schema(
    [
        _required("item", pa.int32()),
        _required("content", pa.int32()),
        _required("item_id", pa.string()),
        _required("digest", pa.string()),
        _required("cluster_id", pa.string()),
        pa.field("respondent", _WORD),
        pa.field("kind", _WORD),
        pa.field("topic", _WORD),
        pa.field("answer_type", _WORD),
    ]
)
"""One item a row, ``item`` being the number of the row; items of one ``content`` share their verdicts."""

LABELS = pa.schema(
    [
        _required("item", pa.int32()),
        _required("rubric", _WORD),
        pa.field("label", _WORD),
        _required("n_raters", pa.int32()),
        _required("disputed", pa.bool_()),
    ]
)
"""One row for each item and rubric that anybody labelled it under; no ``label`` where raters are tied."""

TEXTS = pa.schema(
    [
        _required("item", pa.int32()),
        _required("question", pa.string()),
        _required("reference", pa.string()),
        _required("response", pa.string()),
    ]
)
"""What an item says; nothing that counts verdicts reads it."""

ITEMS_FILE, LABELS_FILE, TEXTS_FILE = "items.parquet", "labels.parquet", "texts.parquet"
"""Files of an export's folder."""

VERDICTS_FOLDER = "verdicts"
"""Its folder of verdicts, one below it for each grader."""


def grader_folder(grader_id: str) -> str:
    """Where a grader's verdicts lie, named so that readers of partitioned data see a column ``grader``."""
    return f"{VERDICTS_FOLDER}/grader={quote(grader_id, safe='')}"
