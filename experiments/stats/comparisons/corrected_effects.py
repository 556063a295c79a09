"""What another answer wording does to a benchmark's true scores, in each of several models and over them.

As :mod:`experiments.stats.comparisons.score_effects`, with every cell corrected for the errors of the one grader that
judged them all. The effect in a model is the difference of two corrected scores. Question c of the benchmark moves it
by ``b_c``, question c of the labelled items by ``k_c`` (:mod:`experiments.stats.correction.influence`), through both
cells at once: an error in a rate that moves both scores alike moves their difference little. The labelled items are the
same for all models, so their part of the effects' covariance ``sum_c (b_kc + k_kc)(b_lc + k_lc)`` does not shrink as
models are added, and is in the average over models as it is in each.

- *In a model*, and *models fixed*: Student's interval and test with Welch and Satterthwaite's degrees of freedom, of
  the questions of the benchmark and of each class of labelled items. In one model this is
  :func:`experiments.stats.correction.corrected_differences`.
- *Models sampled*: as there, from this covariance; the part that models share has the degrees of freedom of the average
  with models fixed.
- Heterogeneity is Q from this covariance, referred to the benchmark's questions. No bootstrap is made.

Made-up questions (:mod:`experiments.stats.correction.samples`) count for variances: those of a cell for that cell,
those of the labelled items once for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from experiments.stats.clusters.cluster_bootstrap import sum_by_cluster
from experiments.stats.comparisons.effect_pooling import sampled_average
from experiments.stats.comparisons.paired_comparison import PairedComparison
from experiments.stats.comparisons.random_effects import heterogeneity
from experiments.stats.comparisons.wording_effects import WordingEffects
from experiments.stats.correction.influence import Influence, degrees_of_freedom, influence_of_sums
from experiments.stats.correction.samples import MADE_UP, split_totals
from experiments.stats.correction.shared_calibration import SharedCalibration
from experiments.stats.estimate import Difference, Estimate
from experiments.stats.inputs import check_level

__all__ = ["CorrectedEffects", "correct_effects"]

_METHOD = "inversion-delta-joint"

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Effect:
    """A value, what every question adds to its error, and the items and questions that it rests on."""

    value: float
    parts: Influence
    n: int
    questions: int


@dataclass(frozen=True, slots=True)
class _Model:
    """A model under two wordings, the changed one first.

    ``shares`` (2, L) are corrected, ``judged`` (2, L) the part of them that rests on the grader's verdicts,
    ``residuals`` (2, G, L) what each question adds to the error of the graded ones. ``n`` items of
    ``questions`` have both wordings, ``left_out`` lack one.
    """

    name: str
    shares: Array
    judged: Array
    residuals: Array
    n: int
    questions: int
    left_out: int


@dataclass(frozen=True, slots=True, eq=False)
class CorrectedEffects:
    """Effects on every corrected score in each of several models, before any level: :meth:`at` gives intervals.

    ``matrix`` (L, L) holds the error rates with the made-up questions, ``residuals`` (G, L, L) what each question adds
    to their error. ``n`` items of ``questions`` have both wordings in any model.
    """

    models: tuple[_Model, ...]
    calibration: SharedCalibration
    matrix: Array
    residuals: Array
    n: int
    questions: int
    repeats: int

    def at(self, *, level: float = 0.95) -> dict[str, WordingEffects]:
        """Effects by the score's name, as of :func:`experiments.stats.comparisons.score_effects.score_effects`.

        ``resampled`` has no interval. Raises ``ValueError`` for a level that is none.
        """
        check_level(level)
        return {name: self._effects(name, level) for name in self.calibration.choice.names}

    def _effects(self, name: str, level: float) -> WordingEffects:
        found = {model.name: effect for model in self.models for effect in (self._effect(name, model),) if effect}
        values = np.array([effect.value for effect in found.values()], dtype=np.float64)
        fixed, freedom = self._average(name, list(found.values()), level)
        joint = np.array([effect.parts.benchmark + effect.parts.calibration for effect in found.values()])
        covariance = joint @ joint.T if fixed.estimate.low is not None else None
        known = np.zeros((len(values), len(values))) if covariance is None else covariance
        low, high = self.calibration.choice.span(name)
        return WordingEffects(
            models=tuple(found),
            effects=tuple(
                self._compare(name, model, found[model.name], level) for model in self.models if model.name in found
            ),
            covariance=None if covariance is None else tuple(map(tuple, covariance.tolist())),
            fixed=fixed,
            sampled=sampled_average(values, covariance, fixed.estimate, bound=high - low, shared_degrees=freedom),
            resampled=self._estimate(fixed.estimate.value, None, fixed.estimate.n, fixed.estimate.clusters, level),
            heterogeneity=heterogeneity(values, known, clusters=fixed.estimate.clusters, level=level),
        )

    def _effect(self, name: str, model: _Model) -> _Effect | None:
        """The effect in one model; ``None`` where either score is not defined."""
        choice = self.calibration.choice
        values = choice.value(name, model.shares)
        if np.isnan(values).any():
            return None
        directions = np.linalg.solve(self.matrix, choice.gradient(name, model.shares).T).T
        weight = model.judged[1][:, None] * directions[1] - model.judged[0][:, None] * directions[0]
        benchmark = model.residuals[0] @ directions[0] - model.residuals[1] @ directions[1]
        parts = Influence(benchmark, (self.residuals * weight).sum(axis=2))
        return _Effect(float(values[0] - values[1]), parts, model.n, model.questions)

    def _average(self, name: str, effects: Sequence[_Effect], level: float) -> tuple[Difference, float]:
        """The average over these models, and its degrees of freedom."""
        if not effects:
            return Difference(self._estimate(None, None, 0, 0, level), None, _METHOD), 1.0
        parts = Influence(
            np.mean([effect.parts.benchmark for effect in effects], axis=0),
            np.mean([effect.parts.rows for effect in effects], axis=0),
        )
        value = float(np.sort([effect.value for effect in effects]).mean())
        return self._difference(name, _Effect(value, parts, self.n, self.questions), level)

    def _compare(self, name: str, model: _Model, effect: _Effect, level: float) -> PairedComparison:
        difference, _ = self._difference(name, effect, level)
        return PairedComparison("changed", "baseline", difference, difference.p_value, model.left_out)

    def _difference(self, name: str, effect: _Effect, level: float) -> tuple[Difference, float]:
        """Student's interval and test, with their degrees of freedom; neither with fewer than two questions."""
        rows = self.calibration.known.row_clusters
        freedom = degrees_of_freedom(effect.parts, np.array([effect.questions, *rows]))
        error, value = effect.parts.variance**0.5, effect.value
        if effect.questions < 2 or error == 0:
            return Difference(self._estimate(value, None, effect.n, effect.questions, level), None, _METHOD), freedom
        half = float(special.stdtrit(freedom, (1 + level) / 2)) * error
        low, high = self.calibration.choice.span(name)
        bounds = max(low - high, value - half), min(high - low, value + half)
        p_value = min(1.0, 2 * float(special.stdtr(freedom, -abs(value) / error)))
        return Difference(self._estimate(value, bounds, effect.n, effect.questions, level), p_value, _METHOD), freedom

    def _estimate(
        self, value: float | None, bounds: tuple[float, float] | None, n: int, questions: int, level: float
    ) -> Estimate:
        low, high = bounds or (None, None)
        return Estimate(value, low, high, level, _METHOD, n, questions, self.repeats)


def correct_effects(
    baseline: ArrayLike,
    changed: ArrayLike,
    calibration: SharedCalibration,
    *,
    models: Sequence[str],
    repeats: int = 1,
    assumed: ArrayLike | None = None,
) -> CorrectedEffects:
    """Effects ``changed - baseline`` on every corrected score, in each of several models and over them.

    Parameters
    ----------
    baseline, changed
        (K, n, L) shares of the labels that the grader gave to each question's responses, for each model; a row of zeros
        where there are none. A question enters a model's effect where it has shares under both wordings.
    calibration
        The labelled items of that grader, from
        :func:`experiments.stats.correction.shared_calibration.share_calibration` with the questions of ``baseline``.
    models
        (K,) the models.
    repeats
        The most verdicts that any question has, which is only carried along.
    assumed
        (2, K, L) share of all items that is taken to truly have each label, ``baseline`` first, and whose rows above
        are that label's error rates. No error of a rate moves it. None is by default.

    Raises
    ------
    ValueError
        Shapes that differ, models that are not distinct, numbers that are no shares.
    """
    if len(set(models)) != len(models):
        raise ValueError(f"models: a name stands twice, got {list(models)}; expected distinct names")
    shape = (len(models), len(calibration.codes), len(calibration.choice.labels))
    tables = {"changed": changed, "baseline": baseline}
    given = {where: np.asarray(table, dtype=np.float64) for where, table in tables.items()}
    for where, table in given.items():
        if table.shape != shape:
            raise ValueError(f"{where}: wrong shape, got {table.shape}; expected {shape}: models, questions, labels")
    taken = np.zeros((2, len(models), shape[2])) if assumed is None else np.asarray(assumed, dtype=np.float64)
    if taken.shape != (2, len(models), shape[2]):
        raise ValueError(f"assumed: wrong shape, got {taken.shape}; expected {(2, len(models), shape[2])}")
    both = np.all([table.sum(axis=2) > 0 for table in given.values()], axis=0)
    cells = np.stack(list(given.values()), axis=1) * both[:, None, :, None]
    sums, start = _joint_sums(cells.reshape(-1, *shape[1:]), calibration)
    labelled = sums[:, start:]
    return CorrectedEffects(
        models=tuple(
            _read_model(name, pair, used, sums[:, 2 * k * shape[2] :], labelled, calibration, taken[::-1, k])
            for k, (name, pair, used) in enumerate(zip(models, cells, both, strict=True))
        ),
        calibration=calibration,
        matrix=split_totals(np.pad(labelled.sum(axis=0), (shape[2], 0)), shape[2]).matrix,
        residuals=_rate_residuals(labelled, shape[2]),
        n=int(both.any(axis=0).sum()),
        questions=len(np.unique(calibration.codes[both.any(axis=0)])),
        repeats=repeats,
    )


def _read_model(
    name: str,
    cells: Array,
    used: NDArray[np.bool_],
    sums: Array,
    labelled: Array,
    calibration: SharedCalibration,
    assumed: Array,
) -> _Model:
    n_labels = cells.shape[2]
    own = [np.hstack([sums[:, at * n_labels : (at + 1) * n_labels], labelled]) for at in range(2)]
    shares = np.stack([calibration.solve(calibration.join(cell)) for cell in cells])
    return _Model(
        name=name,
        shares=shares,
        judged=np.maximum(shares - assumed, 0.0),
        residuals=np.stack([_share_residuals(one, n_labels) for one in own]),
        n=int(used.sum()),
        questions=len(np.unique(calibration.codes[used])),
        left_out=int((~used).sum()),
    )


def _joint_sums(cells: Array, calibration: SharedCalibration) -> tuple[Array, int]:
    """Sums by question of all cells (C, n, L) side by side, then of the labelled items, and where these begin.

    The made-up questions are the last rows.
    """
    known = calibration.known
    labelled = (known.people[:, :, None] * known.verdicts[:, None, :]).reshape(len(known.people), -1)
    benchmark = cells.transpose(1, 0, 2).reshape(cells.shape[1], -1)
    start = benchmark.shape[1]
    rows = [np.pad(benchmark, ((0, 0), (0, labelled.shape[1]))), np.pad(labelled, ((0, 0), (start, 0)))]
    sums = sum_by_cluster(np.concatenate(rows), np.concatenate([calibration.codes, known.labelled_codes]))
    return np.concatenate([sums, MADE_UP * np.eye(sums.shape[1])]), start


# An influence is linear in its weights, so that those of weight one give all others.


def _share_residuals(sums: Array, n_labels: int) -> Array:
    """(G, L) what each question adds to the error of each graded share."""
    nothing = np.zeros((n_labels, n_labels))
    return np.stack([influence_of_sums(sums, unit, nothing).benchmark for unit in np.eye(n_labels)], axis=1)


def _rate_residuals(labelled: Array, n_labels: int) -> Array:
    """(G, L, L) what each question adds to the error of each error rate."""
    sums, nothing = np.pad(labelled, ((0, 0), (n_labels, 0))), np.zeros(n_labels)
    columns = [influence_of_sums(sums, nothing, np.tile(unit, (n_labels, 1))).rows for unit in np.eye(n_labels)]
    return np.stack(columns, axis=2)
