"""Short calls of the variance components, shared by their tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.stats.repeats.variance_components import (
    CrossedComponents,
    VarianceComponents,
    crossed_components,
    variance_components,
)

NESTED = ("question", "item", "repeat")
CROSSED = ("grader", "question", "item", "grader_question", "grader_item", "repeat")
FAR = 1000.0


def nested(scores: Any, clusters: Any, *, resamples: int = 20, far: float = FAR, seed: int = 0) -> VarianceComponents:
    rng = np.random.default_rng(seed)
    return variance_components(scores, clusters, largest_difference=far, resamples=resamples, rng=rng)


def crossed(scores: Any, clusters: Any, *, resamples: int = 20, far: float = FAR, seed: int = 0) -> CrossedComponents:
    rng = np.random.default_rng(seed)
    return crossed_components(scores, clusters, largest_difference=far, resamples=resamples, rng=rng)


def raw(result: Any, names: tuple[str, ...]) -> list[float | None]:
    return [getattr(result, name).raw.value for name in names]
