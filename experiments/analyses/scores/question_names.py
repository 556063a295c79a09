"""Questions of several sets under one name each."""

from __future__ import annotations

from collections.abc import Sequence

from calibration_sets.item import Item

__all__ = ["name_questions"]


def name_questions(samples: Sequence[Sequence[Item]]) -> list[tuple[str, ...]]:
    """One name for each question: that of the first sample that holds its text, else its sample's own.

    Names of clusters alone prove nothing: in two sets ``q1`` may be two questions.
    """
    by_text: dict[str, str] = {}
    named = []
    for place, items in enumerate(samples):
        known: dict[str, str] = {}
        for item in items:
            found = by_text.get(item.question)
            if found is not None:
                known[item.cluster_id] = min(found, known.get(item.cluster_id, found))
        names = tuple(known.get(item.cluster_id, f"{place}:{item.cluster_id}") for item in items)
        for item, name in zip(items, names, strict=True):
            by_text.setdefault(item.question, name)
        named.append(names)
    return named
