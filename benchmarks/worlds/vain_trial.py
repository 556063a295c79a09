"""Wordings that make models guess in vain: what the lenient judge lets pass looks like a rise of accuracy.

The rule is to raise accuracy, and no more. The wordings raise attempts and not accuracy, so to adopt any is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from experiments.analyses.wordings.wording_comparison import compare_wordings
from experiments.specs.decisions import AbSpec
from worlds.draws import draw_world
from worlds.population import IN_VAIN, draw_population
from worlds.wording_trial import LEVEL, WAYS, correct_wordings, read_wordings

__all__ = ["VainTrial", "try_in_vain"]

SPEC = AbSpec.model_validate({"control": "wording-0", "raise": "accuracy"})


@dataclass(frozen=True, slots=True)
class VainTrial:
    """Whether any wording was adopted by scores as graded or corrected."""

    way: str
    lenient: bool
    wrong: bool


def try_in_vain(rng: np.random.Generator, *, lenient: bool) -> list[VainTrial]:
    """Draw such a world and decide in it, without and with the calibration set."""
    truth = draw_population(rng, some_deserve=False, lenient=lenient, on_limit=False, wordings=IN_VAIN)
    world = draw_world(replace(truth, graders=truth.graders[:1]), rng)
    grid = read_wordings(world)
    results = [compare_wordings(one, SPEC, level=LEVEL, resamples=1) for one in (grid, correct_wordings(world, grid))]
    return [
        VainTrial(way, lenient, any(one.adopted for one in result.decisions))
        for way, result in zip(WAYS, results, strict=True)
    ]
