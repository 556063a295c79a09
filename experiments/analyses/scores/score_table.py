"""Differences between two respondents, or between two sets: as graded, and corrected with joint uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from experiments.analyses.scores.scoring_inputs import Respondent
from experiments.stats.comparisons import adjust_p_values
from experiments.stats.correction import CorrectedDifferences, LabelledItems, corrected_pairs
from experiments.stats.estimate import Difference
from experiments.stats.scores import SCORES, item_shares, paired_score_differences, unpaired_score_differences

__all__ = [
    "SEED",
    "STAR",
    "Intervals",
    "ScoreContrast",
    "Side",
    "compare_respondents",
    "compare_sets",
    "correct_pairs",
    "is_starred",
    "turned",
]

SEED = 20261130
"""Of every bootstrap of a scoring."""

STAR = 0.05
"""A difference with a raw p-value below this bears a star, as in the tables of papers."""


@dataclass(frozen=True)
class Intervals:
    """How the intervals of corrected scores and differences are found.

    ``shared`` says whether calibration and benchmark have questions in common; ``resamples`` are the bootstrap's.
    """

    level: float
    shared: bool
    method: Literal["delta", "bootstrap"] = "delta"
    resamples: int = 10_000

    @property
    def options(self) -> dict[str, Any]:
        """The same as arguments of the corrections; each call resamples from the same seed."""
        return {
            "level": self.level,
            "method": self.method,
            "rng": np.random.default_rng(SEED),
            "resamples": self.resamples,
            "shared_clusters": self.shared,
        }


@dataclass(frozen=True)
class Side:
    """One respondent on one set, and the labelled items that its score is corrected by."""

    respondent: Respondent
    set_title: str
    calibration: LabelledItems | None
    reason: str = "uncorrected: no calibration data"


@dataclass(frozen=True)
class ScoreContrast:
    """First less second, of every score.

    ``paired`` says that the graded difference rests on the common questions alone, item by item against each other;
    else the two samples are taken to be independent. The corrected one rests on all items of both. ``graded_adjusted``
    and ``corrected_adjusted`` are the p-values of each score adjusted (Holm) over all contrasts of a table.
    """

    first: str
    second: str
    first_set: str
    second_set: str
    paired: bool
    common: int
    only_first: int
    only_second: int
    graded: Mapping[str, Difference]
    corrected: CorrectedDifferences
    graded_adjusted: Mapping[str, float | None] = field(default_factory=dict)
    corrected_adjusted: Mapping[str, float | None] = field(default_factory=dict)

    def corrected_of(self, score: str) -> Difference | None:
        """The corrected difference of one score; ``None`` where there is none, or it is not defined."""
        differences = self.corrected.differences
        return None if differences is None or differences[score].estimate.value is None else differences[score]


def is_starred(difference: Difference) -> bool:
    """Whether the raw p-value is below :data:`STAR`."""
    return difference.p_value is not None and difference.p_value < STAR


def compare_respondents(
    sides: Sequence[Side], roles: Mapping[str, Any], intervals: Intervals
) -> tuple[ScoreContrast, ...]:
    """Every pair of respondents on one set, paired by question wherever they have questions in common.

    Parameters
    ----------
    sides
        The respondents.
    roles
        ``labels``, ``correct``, ``not_attempted`` and ``penalty`` of :func:`experiments.stats.scores.benchmark_scores`.
    intervals
        Of the corrected differences; their level is that of the graded ones too.
    """
    corrected = correct_pairs(sides, roles, intervals)
    found = [
        _contrast_sides(first, second, known, roles, intervals, paired=_share_questions(first, second))
        for (first, second), known in zip(combinations(sides, 2), corrected, strict=True)
    ]
    return _adjust(found, level=intervals.level)


def compare_sets(
    sides: Sequence[Side], others: Sequence[Side], roles: Mapping[str, Any], intervals: Intervals
) -> tuple[ScoreContrast, ...]:
    """Each respondent on a set against the same on another; two single respondents whatever their names.

    Paired where both sets have the same questions. Where they overlap in part, the graded difference takes the samples
    to be independent, which errs to the safe side; the corrected one counts the common questions once.
    """
    by_name = {side.respondent.name: side for side in others}
    pairs = [(side, by_name[side.respondent.name]) for side in sides if side.respondent.name in by_name]
    if not pairs and len(sides) == len(others) == 1:
        pairs = [(sides[0], others[0])]
    found = [
        _contrast_sides(
            first,
            second,
            correct_pairs([first, second], roles, intervals)[0],
            roles,
            intervals,
            paired=set(first.respondent.questions) == set(second.respondent.questions),
        )
        for first, second in pairs
    ]
    return _adjust(found, level=intervals.level)


def _adjust(contrasts: Sequence[ScoreContrast], *, level: float) -> tuple[ScoreContrast, ...]:
    """The contrasts with p-values adjusted over all of them, each score a family of its own."""
    graded, corrected = (
        {name: _holm([choose(one, name) for one in contrasts], level=level) for name in SCORES}
        for choose in (lambda one, name: one.graded[name], ScoreContrast.corrected_of)
    )
    return tuple(
        replace(
            one,
            graded_adjusted={name: values[row] for name, values in graded.items()},
            corrected_adjusted={name: values[row] for name, values in corrected.items()},
        )
        for row, one in enumerate(contrasts)
    )


def _holm(differences: Sequence[Difference | None], *, level: float) -> list[float | None]:
    raw = [None if one is None else one.p_value for one in differences]
    return [row.adjusted for row in adjust_p_values(raw, level=level).rows]


def _contrast_sides(
    first: Side,
    second: Side,
    corrected: CorrectedDifferences,
    roles: Mapping[str, Any],
    intervals: Intervals,
    *,
    paired: bool,
) -> ScoreContrast:
    """First less second, as graded beside the ``corrected`` one."""
    one, two = first.respondent, second.respondent
    compare = paired_score_differences if paired else unpaired_score_differences
    found = compare(
        item_shares(one.sample.counts),
        one.questions,
        item_shares(two.sample.counts),
        two.questions,
        repeats=max(one.sample.most_repeats, two.sample.most_repeats, 1),
        level=intervals.level,
        **roles,
    )
    return ScoreContrast(
        first=one.name,
        second=two.name,
        first_set=first.set_title,
        second_set=second.set_title,
        paired=paired,
        common=found.common,
        only_first=found.only_first,
        only_second=found.only_second,
        graded=found.differences,
        corrected=corrected,
    )


def turned(difference: Difference) -> Difference:
    """Second less first."""
    estimate = difference.estimate
    value, low, high = (None if one is None else -one for one in (estimate.value, estimate.high, estimate.low))
    return replace(difference, estimate=replace(estimate, value=value, low=low, high=high))


def correct_pairs(sides: Sequence[Side], roles: Mapping[str, Any], intervals: Intervals) -> list[CorrectedDifferences]:
    """Every pair, first less second, corrected; uncorrected with the reason where either side cannot be."""
    known = [place for place, side in enumerate(sides) if side.calibration is not None]
    found = corrected_pairs(
        [sides[place].respondent.graded for place in known],
        [side.calibration for side in sides if side.calibration is not None],
        **intervals.options,
        **roles,
    )
    by_pair = dict(zip(combinations(known, 2), found, strict=True))
    pairs = combinations(range(len(sides)), 2)
    return [by_pair[pair] if pair in by_pair else _uncorrected(*(sides[place] for place in pair)) for pair in pairs]


def _uncorrected(first: Side, second: Side) -> CorrectedDifferences:
    reason = first.reason if first.calibration is None else second.reason
    return CorrectedDifferences("uncorrected", reason, None, 0, 0, 0)


def _share_questions(first: Side, second: Side) -> bool:
    return bool(set(first.respondent.questions) & set(second.respondent.questions))
