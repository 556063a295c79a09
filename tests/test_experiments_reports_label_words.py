"""Whose labels a report says that it holds graders against."""

from __future__ import annotations

import pytest

from experiments.reports.label_words import PEOPLE, label_words


@pytest.mark.parametrize("source", ["human", "published", "construction"])
def test_where_there_is_no_label_nobody_gave_any(source: str) -> None:
    words = label_words({"label_source": source, "n_labelled": 0, "n_tied": 0})
    assert words.source == "No item has a label."


def test_labels_that_tie_are_labels() -> None:
    assert label_words({"label_source": "human", "n_labelled": 0, "n_tied": 2}) is PEOPLE
    assert label_words({"label_source": "human", "n_labelled": 3, "n_tied": 0}) is PEOPLE
    assert label_words({"label_source": "human"}) is PEOPLE
