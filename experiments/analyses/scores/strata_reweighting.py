"""What changes if the labelled items are not spread over respondents, topics or kinds as the benchmark's are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from calibration_sets.item import Item
from calibration_sets.strict import shorten
from experiments.analyses.scores.score_table import Intervals
from experiments.errors import SpecError
from experiments.stats.correction import (
    GradedItems,
    LabelledItems,
    MissingStrataError,
    ScoreCorrection,
    StratumCorrection,
    correct_scores,
    post_stratification_weights,
    stratum_corrections,
)

__all__ = [
    "FIELDS",
    "NO_STRATUM",
    "FieldStrata",
    "Stratum",
    "StratumField",
    "check_reweight",
    "compare_strata",
    "reweight",
    "strata_of",
]

StratumField = Literal["respondent", "topic", "answer_type", "kind"]
"""The field of an item that strata are made by."""

FIELDS: tuple[StratumField, ...] = get_args(StratumField)
"""All of :data:`StratumField`."""

NO_STRATUM = "(none)"
"""The stratum of items that do not say."""


@dataclass(frozen=True)
class Stratum:
    """Items of one stratum in both samples, and their shares there."""

    name: str
    n_calibration: int
    n_benchmark: int
    calibration_share: float
    benchmark_share: float


@dataclass(frozen=True)
class FieldStrata:
    """A benchmark's strata by one field of its items.

    Attributes
    ----------
    distance
        Half the sum of the differences of shares: 0 where the samples match, 1 where they have nothing in common.
    corrections
        The scores under the error rates of each stratum of the calibration; their intervals are the delta method's.
    reweighted
        The scores with the confusion matrix reweighted to the benchmark's shares; ``None`` where that is ``refused``.
    effective
        Items that the reweighted calibration is worth [Kish 1965]; ``None`` where it is refused.
    refused
        Why there is no reweighting, in one line; empty where there is one.
    """

    field: StratumField
    strata: tuple[Stratum, ...]
    distance: float
    corrections: tuple[StratumCorrection, ...]
    reweighted: ScoreCorrection | None
    effective: float | None
    refused: str


def strata_of(items: Sequence[Item], field: StratumField) -> list[str]:
    """(n,) stratum of each item."""
    return [getattr(item, field) or NO_STRATUM for item in items]


def check_reweight(field: StratumField, labelled: Sequence[Item], benchmark: Sequence[Item]) -> None:
    """Refuse a reweighting that could change nothing.

    Raises
    ------
    SpecError
        There is no labelled item, or all items of both samples are of one stratum.
    """
    if not labelled:
        raise SpecError(f"--reweight {field}: no labelled item to reweight; expected a --calibration with some")
    items = [*labelled, *benchmark]
    strata = set(strata_of(items, field))
    if len(strata) > 1:
        return
    others = [one for one in FIELDS if len(set(strata_of(items, one))) > 1]
    word, (only,) = field.replace("_", " "), strata
    got = f"no item has {_article(word)} {word}" if only == NO_STRATUM else f"every item has the {word} {shorten(only)}"
    wanted = f"one of {others}, which differ" if others else "a field in which items differ; here none does"
    raise SpecError(f"--reweight {field}: {got}, so that there is nothing to reweight; expected {wanted}")


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def reweight(calibration: LabelledItems, strata: Sequence[str], benchmark: Sequence[str]) -> LabelledItems:
    """The calibration with each stratum weighing as much as on the benchmark.

    Items without a valid verdict give no error rate, and so no part of a stratum's size.

    Raises
    ------
    MissingStrataError
        Strata of the benchmark without a calibration item.
    """
    valid = np.asarray(calibration.counts).sum(axis=1) > 0
    weights = np.zeros(len(strata))
    known = [stratum for stratum, kept in zip(strata, valid, strict=True) if kept]
    weights[valid] = post_stratification_weights(known, benchmark)
    return LabelledItems(calibration.reference, calibration.counts, calibration.clusters, weights)


def compare_strata(
    field: StratumField,
    benchmark: GradedItems,
    benchmark_strata: Sequence[str],
    calibration: LabelledItems,
    calibration_strata: Sequence[str],
    roles: Mapping[str, Any],
    intervals: Intervals,
) -> FieldStrata | None:
    """Strata of both samples side by side; ``None`` where both are one and the same stratum.

    Parameters
    ----------
    field
        What the strata are of.
    benchmark, calibration
        The two samples, and the stratum of each of their items.
    roles, intervals
        As in :func:`experiments.analyses.scores.score_table.compare_respondents`.
    """
    if set(calibration_strata) == set(benchmark_strata) and len(set(benchmark_strata)) == 1:
        return None
    strata = _strata(calibration_strata, benchmark_strata)
    corrections = stratum_corrections(
        benchmark, calibration, calibration_strata, level=intervals.level, shared_clusters=intervals.shared, **roles
    )
    reweighted, effective, refused = None, None, ""
    try:
        weighted = reweight(calibration, calibration_strata, benchmark_strata)
    except MissingStrataError as error:
        refused = f"no labelled item of {', '.join(map(str, error.strata))}"
    else:
        reweighted = correct_scores(benchmark, weighted, **intervals.options, **roles)
        effective = _effective(weighted)
    distance = sum(abs(one.calibration_share - one.benchmark_share) for one in strata) / 2
    ordered = tuple(sorted(corrections, key=lambda one: str(one.stratum)))
    return FieldStrata(field, strata, distance, ordered, reweighted, effective, refused)


def _strata(calibration: Sequence[str], benchmark: Sequence[str]) -> tuple[Stratum, ...]:
    known, wanted = Counter(calibration), Counter(benchmark)
    return tuple(
        Stratum(
            name,
            known[name],
            wanted[name],
            known[name] / max(len(calibration), 1),
            wanted[name] / max(len(benchmark), 1),
        )
        for name in sorted({*known, *wanted})
    )


def _effective(weighted: LabelledItems) -> float:
    weights = np.asarray(weighted.weights, dtype=np.float64)
    return float(weights.sum() ** 2 / (weights**2).sum())
