"""Rates with their intervals as a drawing: who is how far from nought, and how well that is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.reports.document import Forest, ForestGroup, ForestRow
from experiments.reports.figures import rate_text

__all__ = ["rate_forest"]

Fields = Mapping[str, Any]


def rate_forest(named: Sequence[tuple[str, Sequence[Fields]]], rates: Sequence[str]) -> Iterator[Forest]:
    """A drawing of some rates of each name, group by group; none where no rate is defined.

    Parameters
    ----------
    named
        Each name with the fields of its estimates, one a rate.
    rates
        What the rates are called.
    """
    if any(estimate["value"] is not None for _, estimates in named for estimate in estimates):
        yield Forest(
            tuple(
                ForestGroup(rate, tuple(_row(name, estimates[place]) for name, estimates in named))
                for place, rate in enumerate(rates)
            )
        )


def _row(name: str, estimate: Fields) -> ForestRow:
    return ForestRow(name, estimate["value"], estimate["low"], estimate["high"], rate_text(estimate))
