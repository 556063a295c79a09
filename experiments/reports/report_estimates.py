"""The estimates of a report, found wherever they stand in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ReportEstimate", "find_estimates"]

_ESTIMATE = frozenset({"value", "low", "high", "level", "method", "n", "clusters", "repeats"})
_PARTS = {"by_kind": "kind", "by_dispute": "dispute"}


@dataclass(frozen=True, slots=True)
class ReportEstimate:
    """One estimate of a report, and where it stands.

    ``grader`` is its grader's section, ``None`` for people's own agreement. ``measure`` is its place in
    there, joined by dots. ``by`` and ``part`` name the part of the items it is of, if it is not of all. ``fields`` are
    those of the report, ``not_defined`` why it has no value, where the report says it.
    """

    grader: Mapping[str, Any] | None
    measure: str
    by: str | None
    part: str | None
    fields: Mapping[str, Any]
    not_defined: str | None


def find_estimates(report: Mapping[str, Any]) -> Iterator[ReportEstimate]:
    """All estimates of a report as :func:`experiments.reports.build_report` makes it, in its order.

    Parameters
    ----------
    report
        The report as plain values.
    """
    for path, fields in _walk(report["human_agreement"], ("human_agreement",)):
        yield ReportEstimate(None, ".".join(path), None, None, fields, None)
    for section in report["graders"]:
        for path, fields in _walk(section, ()):
            by, part, measure = _place(path)
            reasons = section["not_defined"] if by is None else {}
            reason = None if fields["value"] is not None else reasons.get(measure, reasons.get(path[-1]))
            yield ReportEstimate(section, measure, by, part, fields, reason)


def _place(path: tuple[str, ...]) -> tuple[str | None, str | None, str]:
    if path[0] in _PARTS:
        return _PARTS[path[0]], path[1], ".".join(path[2:])
    return None, None, ".".join(path)


def _walk(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    if not isinstance(value, Mapping):
        return
    if value.keys() >= _ESTIMATE:
        yield path, value
        return
    for name, inner in value.items():
        yield from _walk(inner, (*path, str(name)))
