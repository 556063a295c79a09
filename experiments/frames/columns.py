"""The columns of each frame: their names, types and meaning, and how a frame is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

__all__ = ["ESTIMATES", "FAILURES", "GRADERS", "HUMAN_LABELS", "ITEMS", "VERDICTS", "Column", "build_frame"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its pandas type (every one of them has ``NA`` for what is not there) and what it holds."""

    name: str
    dtype: str
    meaning: str


VERDICTS = (
    Column("item_id", "string", "id of the item; items of the same content share their verdicts"),
    Column("cluster_id", "string", "the question: items of one cluster are not independent"),
    Column("item_digest", "string", "digest of question, reference and response"),
    Column("grader", "category", "prompt and model, unique in the run"),
    Column("grader_id", "category", "digest of prompt, model and sampling"),
    Column("repeat", "Int64", "number of the draw, from 0"),
    Column("label", "category", "the verdict, one of the scale's labels, worst first; NA where there is a failure"),
    Column("failure", "category", "why there is no label; NA where there is one"),
    Column("detail", "string", "what the parser matched, or why a call brought no reply"),
    Column("reference", "category", "people's label under the grader's rubric; NA where they have none in common"),
    Column("agrees", "boolean", "whether label and reference are the same; NA where either is missing"),
)
"""One row for each item, grader and repeat that was asked for, whether or not it was answered."""

ITEMS = (
    Column("item_id", "string", "id of the item"),
    Column("item_digest", "string", "digest of question, reference and response"),
    Column("cluster_id", "string", "the question, or a wider group of near-duplicates"),
    Column("question", "string", "the question"),
    Column("target", "string", "the reference answer as published"),
    Column("response", "string", "what is judged"),
    Column("kind", "category", "sort of case"),
    Column("topic", "category", "topic of the question"),
    Column("answer_type", "category", "type of answer that the question asks for"),
    Column("respondent", "category", "who gave the response"),
    Column("label", "category", "people's label by strict majority under the set's own rubric; NA where there is none"),
    Column("n_raters", "Int64", "people who labelled the item under that rubric"),
    Column("disputed", "boolean", "whether they were not unanimous; NA where nobody labelled it"),
)
"""One row an item of the run."""

HUMAN_LABELS = (
    Column("item_id", "string", "id of the item"),
    Column("rater", "category", "who gave the label"),
    Column("label", "category", "the label, worst first"),
    Column("rubric", "category", "name@version of the rules that the rater followed"),
    Column("stale", "boolean", "whether the rater saw another text than the item has now; such labels count nowhere"),
)
"""One row for each person's label of an item of the run."""

FAILURES = (
    Column("grader", "category", "prompt and model, unique in the run"),
    Column("grader_id", "category", "digest of prompt, model and sampling"),
    Column("failure", "category", "why there is no label"),
    Column("detail", "string", "of not_answered, why the call brought no reply; NA for a reply that was not usable"),
    Column("n", "Int64", "verdicts"),
    Column("share", "Float64", "of the verdicts that the grader was asked for, 0 to 1"),
)
"""One row for each grader and reason that occurs; a grader whose every verdict has a label has none."""

GRADERS = (
    Column("number", "Int64", "place in the report, from 1"),
    Column("grader", "category", "prompt and model, unique in the run"),
    Column("grader_id", "category", "digest of prompt, model and sampling"),
    Column("prompt", "string", "name@version#digest; NA for a grader that takes none"),
    Column("model", "string", "provider/name as it was asked for"),
    Column("rubric", "string", "name@version of the rules that the grader is held to"),
    Column("temperature", "Float64", "as it was asked for; NA where it is not known"),
    Column("repeats", "Int64", "verdicts for each item"),
    Column("computed", "boolean", "whether repeats are computed: its one verdict an item is the likeliest label"),
    Column("n_expected", "Int64", "verdicts asked for"),
    Column("n_verdicts", "Int64", "of these, verdicts with a label"),
    Column("coverage", "Float64", "the one over the other, 0 to 1"),
    Column("input_tokens", "Int64", "tokens read; NA where the service did not say"),
    Column("output_tokens", "Int64", "tokens written; NA where the service did not say"),
    Column("dollars", "Float64", "cost in US dollars; NA where the model had no price"),
    Column("cost_complete", "boolean", "whether the cost is all of it; else it is a lower bound"),
)
"""One row a grader, in the order of the report."""

ESTIMATES = (
    Column("number", "Int64", "the grader's place in the report; NA for what is people's alone"),
    Column("grader", "category", "prompt and model, unique in the run"),
    Column("grader_id", "category", "digest of prompt, model and sampling"),
    Column("measure", "string", "where it stands in the JSON report, such as false_negative_rate or agreement.raw"),
    Column("by", "category", "kind or dispute, for a part of the items; NA for all of them"),
    Column("part", "string", "which part"),
    Column("value", "Float64", "the estimate, a share from 0 to 1 or a coefficient; NA where it is not defined"),
    Column("low", "Float64", "lower end of its interval; NA where there is none"),
    Column("high", "Float64", "upper end of its interval; NA where there is none"),
    Column("level", "Float64", "confidence level, 0 to 1"),
    Column("method", "category", "how the interval was made"),
    Column("n", "Int64", "items that it rests on"),
    Column("clusters", "Int64", "questions that it rests on"),
    Column("repeats", "Int64", "verdicts an item: the most that any item has"),
    Column("not_defined", "string", "why there is no value, where the report says it"),
)
"""One row for each estimate of the report."""


def build_frame(
    columns: Sequence[Column],
    rows: Sequence[Sequence[object]],
    categories: Mapping[str, pd.CategoricalDtype] | None = None,
) -> pd.DataFrame:
    """A frame of rows, each with a value for each column; ``None`` becomes ``NA``.

    Parameters
    ----------
    columns
        Of the frame, in their order.
    rows
        As many values each as there are columns.
    categories
        Column name to its categories, where these are known beforehand.
    """
    values = zip(*rows, strict=True) if rows else ((),) * len(columns)
    known = categories or {}
    return pd.DataFrame(
        {
            column.name: pd.Series(list(given), dtype=known.get(column.name) or _dtype(column, given))
            for column, given in zip(columns, values, strict=True)
        }
    )


def _dtype(column: Column, given: Sequence[object]) -> str | pd.CategoricalDtype:
    """Its type; categories that are not known beforehand are the texts that occur, also where none does."""
    if column.dtype != "category":
        return column.dtype
    return pd.CategoricalDtype(pd.Index(sorted({str(value) for value in given if value is not None}), dtype="str"))
