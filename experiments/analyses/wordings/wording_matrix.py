"""Effects of all wordings in all models on one quantity, with p-values adjusted for their number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from experiments.analyses.wordings.wording_comparison import WordingResult
from experiments.stats.comparisons.multiplicity import adjust_p_values

__all__ = ["EffectMatrix", "MatrixCell", "effect_matrix"]


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """The effect of a wording in a model; ``adjusted`` is Holm's p-value over all cells of the matrix."""

    value: float | None
    adjusted: float | None
    significant: bool


@dataclass(frozen=True, slots=True)
class EffectMatrix:
    """Effects on ``quantity`` by (wording, model); a pair that the run does not have is not among the cells."""

    quantity: str
    level: float
    cells: Mapping[tuple[str, str], MatrixCell]


def effect_matrix(result: WordingResult, quantity: str) -> EffectMatrix:
    """The effects of a result on a quantity, each marked where its adjusted p-value is at most 1 - level."""
    found = {
        (one.wording, model): effect.difference
        for one in result.comparisons
        for model, effect in zip(one.effects[quantity].models, one.effects[quantity].effects, strict=True)
    }
    rows = adjust_p_values([one.p_value for one in found.values()], level=result.level).rows if found else ()
    cells = {
        key: MatrixCell(difference.estimate.value, row.adjusted, bool(row.significant))
        for (key, difference), row in zip(found.items(), rows, strict=True)
    }
    return EffectMatrix(quantity, result.level, cells)
