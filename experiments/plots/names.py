"""Names in a drawing: short enough for their place, distinct, and the whole ones for who points at them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from experiments.reports.escaping import visible
from experiments.specs.joint_graders import name_graders

__all__ = ["cut_names", "describe_range", "grader_names", "whole_names"]

ELLIPSIS = "…"


def grader_names(graders: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Number of each grader of a report to its name, which begins with the number."""
    prompts, models, ids = ([grader[field] for grader in graders] for field in ("prompt", "model", "grader_id"))
    named = zip(graders, name_graders(prompts, models, ids), strict=True)
    return {grader["number"]: f"{grader['number']}. {visible(name)}" for grader, name in named}


def cut_names(names: Iterable[str], *, most: int) -> dict[str, str]:
    """Each name to a distinct one of at most ``most`` characters, in the order given; what cannot print is escaped.

    Of names that would be cut alike, each but the first ends in a number.
    """
    short: dict[str, str] = {}
    for name in dict.fromkeys(names):
        shown = visible(name)
        taken, number, end = set(short.values()), 1, ""
        while (cut := _cut(shown, most, end)) in taken:
            number += 1
            end = f"~{number}"
        short[name] = cut
    return short


def whole_names(short: Mapping[str, str]) -> dict[str, str]:
    """Names in a drawing that are not the whole ones, to the whole ones."""
    return {cut: visible(name) for name, cut in short.items() if cut != visible(name)}


def describe_range(what: str, named: Sequence[tuple[str, float | None, str]]) -> str:
    """One sentence on numbers of several names: the only one, or the least and the most.

    Parameters
    ----------
    what
        What they are, a plural.
    named
        Name, number (``None`` where it is not defined), and the number in words.
    """
    known = sorted(((number, name, words) for name, number, words in named if number is not None), key=_first)
    if not known:
        return f"{what}: not defined."
    (_, least, low), (_, most, high) = known[0], known[-1]
    if len(known) == 1:
        return f"{what}: {low} ({least})."
    return f"{what}: from {low} ({least}) to {high} ({most})."


def _first(row: tuple[float, str, str]) -> float:
    return row[0]


def _cut(text: str, most: int, end: str) -> str:
    """Names of models and prompts differ at both ends: the middle is left out."""
    room = most - len(end)
    if len(text) <= room:
        return text + end
    tail = room // 2 - 1
    return text[: room - tail - 1].rstrip() + ELLIPSIS + text[len(text) - tail :] + end
