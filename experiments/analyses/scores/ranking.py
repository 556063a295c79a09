"""Respondents in the order of a corrected score, and the pairs whose order is not decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from experiments.analyses.scores.score_table import ScoreContrast, turned
from experiments.stats.comparisons import AdjustedPValue, adjust_p_values
from experiments.stats.correction import CorrectedDifferences
from experiments.stats.estimate import Difference, Estimate

__all__ = ["Place", "RankedPair", "Ranking", "Standing", "rank_respondents"]

Outcome = Literal["decided", "carry-over", "grader-error", "undecided", "uncorrected"]
"""``decided``: by the corrected difference, and by that with each one's own error rates. ``carry-over``: by the first
alone, so only if the grader errs alike on both; the second is not significant, or there is none for want of labelled
items. ``grader-error``: the difference as graded is significant, the corrected one is not. ``uncorrected``: there is
none, so that nothing is known of the order of the true scores."""


@dataclass(frozen=True)
class Standing:
    """What a respondent is ranked by: its score as graded, and corrected where that is possible."""

    respondent: str
    graded: Estimate
    corrected: Estimate | None

    @property
    def value(self) -> float | None:
        """The corrected score, else the graded one."""
        return self.graded.value if self.corrected is None else self.corrected.value


@dataclass(frozen=True)
class Place:
    """A respondent with the best and the worst rank that the decided pairs leave it.

    ``carried_best`` and ``carried_worst``: what is left if the grader errs alike on all.
    """

    standing: Standing
    best: int
    worst: int
    carried_best: int
    carried_worst: int


@dataclass(frozen=True)
class RankedPair:
    """The respondent that stands higher, less the one that stands lower; p-values raw and adjusted (Holm, all pairs).

    ``own`` is the difference with each respondent corrected by its own labelled items; ``None`` where it is not known.
    """

    higher: str
    lower: str
    graded: Difference
    graded_adjusted: float | None
    corrected: Difference | None
    corrected_adjusted: float | None
    own: Difference | None
    own_adjusted: float | None
    outcome: Outcome


@dataclass(frozen=True)
class Ranking:
    """Places from the highest score to the lowest, and all pairs in that order."""

    score: str
    level: float
    places: tuple[Place, ...]
    pairs: tuple[RankedPair, ...]


def rank_respondents(
    standings: Sequence[Standing],
    contrasts: Sequence[ScoreContrast],
    own: Sequence[CorrectedDifferences] | None = None,
    *,
    score: str,
    level: float,
) -> Ranking:
    """Rank by one score.

    Parameters
    ----------
    standings
        Two or more respondents.
    contrasts
        Every pair of them once.
    own
        The same pairs, each respondent corrected by its own labelled items; ``None`` where there are none of anybody.
    score
        Whose differences decide.
    level
        The family's level: a pair is decided if its corrected difference has a Holm-adjusted p-value below 1 - level,
        and so has the one by own error rates, in the same direction.
    """
    ordered = sorted(standings, key=lambda one: (one.value is None, -(one.value or 0.0), one.respondent))
    position = {one.respondent: place for place, one in enumerate(ordered)}
    families: list[list[Difference | None]] = [
        [contrast.graded[score] for contrast in contrasts],
        [_known(contrast.corrected, score) for contrast in contrasts],
        [None] * len(contrasts) if own is None else [_known(one, score) for one in own],
    ]
    tests = [_adjust(family, level) for family in families[:2]] + [_adjust_own(families[2], level)]
    pairs = [
        _pair(contrast, position, [family[row] for family in families], [test[row] for test in tests])
        for row, contrast in enumerate(contrasts)
    ]
    pairs.sort(key=lambda pair: (position[pair.higher], position[pair.lower]))
    return Ranking(score, level, tuple(_place(one, pairs, len(ordered)) for one in ordered), tuple(pairs))


def _pair(
    contrast: ScoreContrast,
    position: Mapping[str, int],
    differences: Sequence[Difference | None],
    tests: Sequence[AdjustedPValue],
) -> RankedPair:
    """One pair from its differences as graded, corrected, and by own error rates."""
    in_order = position[contrast.first] < position[contrast.second]
    higher, lower = (contrast.first, contrast.second) if in_order else (contrast.second, contrast.first)
    graded, corrected, own = (one if in_order or one is None else turned(one) for one in differences)
    assert graded is not None
    adjusted = [test.adjusted for test in tests]
    confirmed = tests[2].significant is True and _value(own) > 0
    outcome = _outcome(tests, known=corrected is not None, confirmed=confirmed)
    return RankedPair(higher, lower, graded, adjusted[0], corrected, adjusted[1], own, adjusted[2], outcome)


def _outcome(tests: Sequence[AdjustedPValue], *, known: bool, confirmed: bool) -> Outcome:
    """Without labelled items of both no pair is decided: no evidence must not say more than some would."""
    graded, corrected, _ = (test.significant for test in tests)
    if not known:
        return "uncorrected"
    if corrected:
        return "decided" if confirmed else "carry-over"
    return "grader-error" if graded else "undecided"


def _value(difference: Difference | None) -> float:
    return 0.0 if difference is None else difference.estimate.value or 0.0


def _place(standing: Standing, pairs: Sequence[RankedPair], n: int) -> Place:
    return Place(
        standing,
        *_ranks(standing.respondent, pairs, n, ("decided",)),
        *_ranks(standing.respondent, pairs, n, ("decided", "carry-over")),
    )


def _ranks(respondent: str, pairs: Sequence[RankedPair], n: int, outcomes: tuple[Outcome, ...]) -> tuple[int, int]:
    """Best and worst rank that pairs with these outcomes leave open."""
    sure = [pair for pair in pairs if pair.outcome in outcomes]
    above = sum(pair.lower == respondent for pair in sure)
    below = sum(pair.higher == respondent for pair in sure)
    return 1 + above, n - below


def _adjust(differences: Sequence[Difference | None], level: float) -> tuple[AdjustedPValue, ...]:
    return adjust_p_values([None if one is None else one.p_value for one in differences], level=level).rows


def _adjust_own(differences: Sequence[Difference | None], level: float) -> tuple[AdjustedPValue, ...]:
    """Among all pairs, also those without such a difference, so that the others gain nothing where one is wanting."""
    raw = [1.0 if one is None or one.p_value is None else one.p_value for one in differences]
    rows = adjust_p_values(raw, level=level).rows
    return tuple(
        replace(row, p_value=None, adjusted=None, significant=None) if one is None or one.p_value is None else row
        for one, row in zip(differences, rows, strict=True)
    )


def _known(found: CorrectedDifferences, score: str) -> Difference | None:
    differences = found.differences
    return None if differences is None or differences[score].estimate.value is None else differences[score]
