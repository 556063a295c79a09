"""One world from its seed to all that was decided in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from worlds.choice_trial import ChoiceTrial, try_choices
from worlds.draws import draw_world
from worlds.population import draw_population
from worlds.score_trial import OrderTrial, ScoreTrial, try_scores
from worlds.vain_trial import VainTrial, try_in_vain
from worlds.wording_trial import EffectTrial, WordingTrial, try_wordings

__all__ = ["CORRECTED", "WorldCell", "WorldTrials", "try_world"]

CORRECTED = 40
"""So many of the first worlds are also decided by corrected scores, which takes as long as all the rest of a world."""


@dataclass(frozen=True, slots=True)
class WorldCell:
    """A world by its number, whose last three bits say what kind of world it is."""

    number: int

    @property
    def some_deserve(self) -> bool:
        """Whether two of nine wordings deserve to be adopted, or none."""
        return bool(self.number & 1)

    @property
    def lenient(self) -> bool:
        """Whether the judge passes many wrong answers, or few."""
        return bool(self.number & 2)

    @property
    def corrected(self) -> bool:
        """Whether wordings are also compared by corrected scores."""
        return self.number < CORRECTED

    @property
    def on_limit(self) -> bool:
        """Whether the best grader lies on the limit, or well below."""
        return bool(self.number & 4)


@dataclass(frozen=True, slots=True)
class WorldTrials:
    """All decisions and intervals of one world; ``effects`` and ``vain`` where wordings are also corrected."""

    cell: WorldCell
    wordings: tuple[WordingTrial, ...]
    effects: tuple[EffectTrial, ...]
    vain: tuple[VainTrial, ...]
    choices: tuple[ChoiceTrial, ...]
    scores: tuple[ScoreTrial, ...]
    orders: tuple[OrderTrial, ...]


def try_world(cell: WorldCell, rng: np.random.Generator, draws: int) -> list[WorldTrials]:
    """Draw ``draws`` worlds of a kind, and decide in each."""
    return [_try_once(cell, rng) for _ in range(draws)]


def _try_once(cell: WorldCell, rng: np.random.Generator) -> WorldTrials:
    population = draw_population(rng, some_deserve=cell.some_deserve, lenient=cell.lenient, on_limit=cell.on_limit)
    world = draw_world(population, rng)
    worded = try_wordings(world, some_deserve=cell.some_deserve, lenient=cell.lenient, corrected=cell.corrected)
    scored = try_scores(world, lenient=cell.lenient)
    return WorldTrials(
        cell=cell,
        wordings=tuple(one for one in worded if isinstance(one, WordingTrial)),
        effects=tuple(one for one in worded if isinstance(one, EffectTrial)),
        vain=tuple(try_in_vain(rng, lenient=cell.lenient)) if cell.corrected else (),
        choices=tuple(try_choices(world, on_limit=cell.on_limit)),
        scores=tuple(one for one in scored if isinstance(one, ScoreTrial)),
        orders=tuple(one for one in scored if isinstance(one, OrderTrial)),
    )
