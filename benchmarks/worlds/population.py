"""What is true in a world: class shares of every model under every wording, and error rates of every grader.

A model's answer to a question under a wording is drawn in two steps: it attempts if ``T > 0``, and an attempt is right
if ``S > 0``. Both are normal with variance 1 around numbers of their own, ``T = attempt + F + ...``, ``S = right + F +
...``, where F is what the question is worth to this model: part of it is the question's own, the same for all models.
So all shares are integrals of one variable, and the numbers are solved for the shares that a world is to have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibration_sets.scale import SIMPLEQA
from experiments.stats.scores import score_value

__all__ = [
    "COMMON",
    "CONTROL",
    "IN_VAIN",
    "LABELS",
    "LIMIT",
    "MARGIN",
    "N_GRADERS",
    "N_MODELS",
    "N_WORDINGS",
    "ROLES",
    "Array",
    "GraderTruth",
    "Population",
    "Wording",
    "draw_population",
    "joint_share",
]

Array = NDArray[np.float64]

LABELS = SIMPLEQA.labels
ROLES: Mapping[str, Any] = {"labels": LABELS, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
INCORRECT, DECLINED, CORRECT = range(3)

N_MODELS, N_WORDINGS, N_GRADERS = 12, 10, 12
MARGIN = 0.01
"""By which accuracy given attempted may not fall."""
LIMIT = 0.03
"""Of false positives: .02, and .01 of margin."""
COMMON = 0.5
"""Variance of F."""
SPREAD = 0.015
"""Effects of a wording on a model lie within this of its average effect."""
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


@dataclass(frozen=True, slots=True)
class Wording:
    """What a wording truly does to accuracy and to accuracy given attempted, on the average of the models."""

    name: str
    accuracy: float
    given: float

    @property
    def deserves(self) -> bool:
        """Whether the rule should adopt it."""
        return self.accuracy > 0 and self.given > -MARGIN


CONTROL = Wording("control", 0.0, 0.0)
_NO_CHANGE = Wording("no change", 0.0, 0.0)
_DECLINES = Wording("declines more", 0.0, 0.02)
_GUESSES = Wording("guesses more", 0.03, -MARGIN)
_GUESSES_ALL = Wording("guesses a lot more", 0.03, -0.03)
_WORSE = Wording("worse", -0.02, -0.02)
_BETTER = Wording("better", 0.03, 0.02)
_SLIGHTLY = Wording("slightly better", 0.015, 0.01)
_IN_VAIN = Wording("guesses in vain", 0.0, -0.06)
NOTHING_DESERVES = (CONTROL, *[_NO_CHANGE] * 2, *[_DECLINES] * 3, *[_GUESSES] * 3, _GUESSES_ALL)
IN_VAIN = (CONTROL, *[_IN_VAIN] * 3)
"""Wordings that turn declining into wrong answers, and raise accuracy by nothing."""
TWO_DESERVE = (CONTROL, _BETTER, _SLIGHTLY, _NO_CHANGE, *[_DECLINES] * 2, *[_GUESSES] * 2, _GUESSES_ALL, _WORSE)


@dataclass(frozen=True, slots=True)
class GraderTruth:
    """A grader's chance of each verdict (3, 3), people's label in rows, and its true error rates."""

    name: str
    confusion: Array
    rates: Mapping[str, float]


@dataclass(frozen=True)
class Population:
    """The truth of one world.

    Attributes
    ----------
    wordings
        (W,) the control first; names are not distinct, for several may do the same.
    shares
        (W, M, 3) class shares over all questions that there could be.
    attempt, right
        (W, M) numbers behind T and S.
    graders
        (K,) with their rates on answers under the control.
    judge
        The grader of the benchmark.
    """

    wordings: tuple[Wording, ...]
    shares: Array
    attempt: Array
    right: Array
    graders: tuple[GraderTruth, ...]
    judge: GraderTruth

    @cached_property
    def graded_shares(self) -> Array:
        """(W, M, 3) shares of the judge's verdicts."""
        return np.asarray(self.shares @ self.judge.confusion)

    def effect(self, wording: int, score: str, *, graded: bool = False) -> float:
        """True effect on a score, on the average over models."""
        shares = self.graded_shares if graded else self.shares
        averages = score_value(score, shares[[wording, 0]], **ROLES).mean(axis=1)
        # Effects are solved for to rounding error; one that is meant to be 0 is 0.
        return round(float(averages[0] - averages[1]), 9)


def joint_share(attempt: Array, right: Array) -> Array:
    """Chance of ``T > 0`` and ``S > 0`` for numbers of any shape, by Gauss and Hermite's quadrature over F."""
    shift, scale = np.sqrt(COMMON) * _NODES, np.sqrt(1 - COMMON)
    attempts, rights = (special.ndtr((np.asarray(one)[..., None] + shift) / scale) for one in (attempt, right))
    return np.asarray((attempts * rights) @ _WEIGHTS / _WEIGHTS.sum())


def draw_population(
    rng: np.random.Generator,
    *,
    some_deserve: bool,
    lenient: bool,
    on_limit: bool,
    wordings: tuple[Wording, ...] | None = None,
) -> Population:
    """A world's truth.

    Parameters
    ----------
    some_deserve
        Whether two of nine wordings are better, or none.
    lenient
        Whether the benchmark's grader passes 8% of the answers that are not right, or 2%.
    on_limit
        Whether the best grader that keeps the limit lies on it, or well below.
    wordings
        Others than those that ``some_deserve`` stands for, the control first.
    """
    wordings = wordings or (TWO_DESERVE if some_deserve else NOTHING_DESERVES)
    given = rng.uniform(0.45, 0.75, N_MODELS)
    accuracy = given * rng.uniform(0.5, 0.78, N_MODELS)
    effects = np.array([(one.accuracy, one.given) for one in wordings])[:, :, None]
    own = rng.uniform(-SPREAD, SPREAD, (len(wordings), 2, N_MODELS))
    own[0] = 0.0
    targets = np.stack([accuracy, given]) + effects + own - own.mean(axis=2, keepdims=True)
    accuracies, attempts = targets[:, 0], targets[:, 0] / targets[:, 1]
    attempt = special.ndtri(attempts)
    shares = np.stack([attempts - accuracies, 1 - attempts, accuracies], axis=2)
    mix = shares[0].mean(axis=0)
    return Population(
        wordings=wordings,
        shares=shares,
        attempt=attempt,
        right=_solve_right(attempt, accuracies),
        graders=_draw_graders(rng, mix, on_limit=on_limit),
        judge=_make_grader("judge", 0.06 if lenient else 0.05, 0.08 if lenient else 0.02, mix),
    )


def _solve_right(attempt: Array, accuracy: Array) -> Array:
    """Numbers behind S that give these shares of right answers, by halving."""
    low, high = np.full(attempt.shape, -9.0), np.full(attempt.shape, 9.0)
    for _ in range(60):
        middle = (low + high) / 2
        above = joint_share(attempt, middle) > accuracy
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray((low + high) / 2, dtype=np.float64)


def _draw_graders(rng: np.random.Generator, mix: Array, *, on_limit: bool) -> tuple[GraderTruth, ...]:
    """The best that keeps the limit, five nearly as good, three that miss less and break the limit, three poor ones."""
    near, breaking, poor = 5, 3, 3
    misses = [0.04, *rng.uniform(0.042, 0.06, near), *rng.uniform(0.02, 0.03, breaking), *rng.uniform(0.08, 0.12, poor)]
    passes = [
        LIMIT if on_limit else 0.01,
        *rng.uniform(0.003, 0.02, near),
        *rng.uniform(1.001 * LIMIT, 1.1 * LIMIT, breaking),
        *rng.uniform(0.05, 0.10, poor),
    ]
    order = rng.permutation(N_GRADERS).tolist()
    return tuple(_make_grader(f"grader {place}", misses[one], passes[one], mix) for place, one in enumerate(order))


def _make_grader(name: str, false_negatives: float, false_positives: float, mix: Array) -> GraderTruth:
    """A grader with these rates on answers of the mix; answers that decline pass four times more rarely than wrong."""
    wrong = false_positives * (mix[INCORRECT] + mix[DECLINED]) / (mix[INCORRECT] + mix[DECLINED] / 4)
    confusion = np.array(
        [
            [0.98 - wrong, 0.02, wrong],
            [0.03, 0.97 - wrong / 4, wrong / 4],
            [0.8 * false_negatives, 0.2 * false_negatives, 1 - false_negatives],
        ]
    )
    rates = {
        "false_negative_rate": false_negatives,
        "false_positive_rate": false_positives,
        "error_rate": float(mix @ (1 - np.diag(confusion))),
    }
    return GraderTruth(name, confusion, rates)
