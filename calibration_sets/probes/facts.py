"""All facts with one short answer, in a fixed order, and how kinds take turns with them."""

from __future__ import annotations

from collections.abc import Sequence

from calibration_sets.probes.events import EVENTS
from calibration_sets.probes.fact import Fact
from calibration_sets.probes.inventions import INVENTIONS
from calibration_sets.probes.people import PEOPLE
from calibration_sets.probes.places import PLACES
from calibration_sets.probes.sciences import SCIENCES
from calibration_sets.probes.works import WORKS

__all__ = ["FACTS", "KNOWN", "take_turns"]

KNOWN: tuple[Fact, ...] = (*PLACES, *WORKS, *PEOPLE, *EVENTS, *SCIENCES)
"""Facts about the world."""

FACTS: tuple[Fact, ...] = (*KNOWN, *INVENTIONS)
"""Known and invented facts."""


def take_turns(facts: Sequence[Fact], n_turns: int, *, first: int = 0) -> list[Fact]:
    """Facts for ``n_turns`` probes, spread over the table.

    The step is prime and larger than the table is long, so that neighbours in the table come far
    apart and every fact has its turn before one comes again.
    """
    step = 101
    return [facts[(first + turn * step) % len(facts)] for turn in range(n_turns)]
