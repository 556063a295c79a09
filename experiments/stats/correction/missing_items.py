"""What a corrected score can be if the items without any verdict are counted in.

A correction is that of the items with a verdict. Of the others nothing is known: neither what the grader would have
said nor what is true. With m their share and pi the corrected shares, the true shares of all items are
``(1 - m) pi + m e`` with e anything; every score is a share or a ratio of shares, so that its extremes lie where all
of them have one and the same class [Manski 2003, on bounds without assumptions on what is missing].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from experiments.stats.correction.confusion_inversion import CorrectedShares
from experiments.stats.correction.score_choice import ScoreChoice

__all__ = ["missing_item_bounds"]


def missing_item_bounds(
    shares: CorrectedShares,
    missing: float,
    *,
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
    penalty: float = 1.0,
) -> Mapping[str, tuple[float, float] | None]:
    """Lowest and highest value of each corrected score that the items without a verdict allow.

    Parameters
    ----------
    shares
        Corrected shares of the items with a verdict. Their own uncertainty is not in the bounds.
    missing
        Share of all items that have no verdict, from 0 to 1.
    labels, correct, not_attempted, penalty
        As in :func:`experiments.stats.correction.correct_scores`.

    Returns
    -------
    dict
        By the score's name; ``None`` where it is defined in no case.

    Raises
    ------
    ValueError
        A share of missing items outside [0, 1].
    """
    if not 0 <= missing <= 1:
        raise ValueError(f"missing: no share, got {missing!r}; expected a number from 0 to 1")
    choice = ScoreChoice(tuple(labels), correct, not_attempted, penalty)
    filled = (1 - missing) * np.array(shares.shares) + missing * np.eye(len(labels))
    found: dict[str, tuple[float, float] | None] = {}
    for name in choice.names:
        values = choice.value(name, filled)
        known = values[~np.isnan(values)]
        found[name] = (float(known.min()), float(known.max())) if len(known) else None
    return found
