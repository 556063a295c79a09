"""Respondents in the order of a corrected score, and the pairs whose order is not decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from experiments.analyses.score_table import ScoreContrast, turned
from experiments.stats.comparisons import AdjustedPValue, adjust_p_values
from experiments.stats.correction import CorrectedDifferences
from experiments.stats.estimate import Difference, Estimate

__all__ = ["Place", "RankedPair", "Ranking", "Standing", "rank_respondents"]

Outcome = Literal["decided", "carry-over", "grader-error", "undecided", "uncorrected"]
"""``carry-over``: decided only if the grader errs alike on both, for with each one's own error rates it is not.
``grader-error``: the difference as graded is significant, the corrected one is not. ``uncorrected``: there is none, so
that nothing is known of the order of the true scores."""


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
    """A respondent with the best and the worst rank that the decided pairs leave it."""

    standing: Standing
    best: int
    worst: int


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
        The same pairs, each respondent corrected by its own labelled items.
    score
        Whose differences decide.
    level
        The family's level: a pair is decided if its corrected difference has a Holm-adjusted p-value below 1 - level.
    """
    ordered = sorted(standings, key=lambda one: (one.value is None, -(one.value or 0.0), one.respondent))
    position = {one.respondent: place for place, one in enumerate(ordered)}
    families: list[list[Difference | None]] = [
        [contrast.graded[score] for contrast in contrasts],
        [_known(contrast.corrected, score) for contrast in contrasts],
        [None] * len(contrasts) if own is None else [_known(one, score) for one in own],
    ]
    tests = [_adjust(family, level) for family in families]
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
    outcome = _outcome(tests, known=corrected is not None)
    return RankedPair(higher, lower, graded, adjusted[0], corrected, adjusted[1], own, adjusted[2], outcome)


def _outcome(tests: Sequence[AdjustedPValue], *, known: bool) -> Outcome:
    graded, corrected, own = (test.significant for test in tests)
    if not known:
        return "uncorrected"
    if corrected:
        return "carry-over" if own is False else "decided"
    return "grader-error" if graded else "undecided"


def _place(standing: Standing, pairs: Sequence[RankedPair], n: int) -> Place:
    decided = [pair for pair in pairs if pair.outcome == "decided"]
    above = sum(pair.lower == standing.respondent for pair in decided)
    below = sum(pair.higher == standing.respondent for pair in decided)
    return Place(standing, 1 + above, n - below)


def _adjust(differences: Sequence[Difference | None], level: float) -> tuple[AdjustedPValue, ...]:
    return adjust_p_values([None if one is None else one.p_value for one in differences], level=level).rows


def _known(found: CorrectedDifferences, score: str) -> Difference | None:
    differences = found.differences
    return None if differences is None or differences[score].estimate.value is None else differences[score]
