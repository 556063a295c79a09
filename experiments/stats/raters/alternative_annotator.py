"""The alternative-annotator test: may a grader stand in for one of the people who label?

Formulas of Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge. Leave rater j out.
On each item i that j labelled together with others, the alignment of a label a with those others is

* on a nominal scale their accuracy: the share of the others who gave a;
* on an ordinal or interval scale the negative root of the mean squared distance to theirs, labels lying one apart.

The grader has the advantage where its alignment is at least j's, and j has it where j's is at least the grader's; a
tie counts for both. With ``d`` the second indicator less the first, j is won against where the mean of d is shown to
be below ``epsilon``, what people cost more than the grader. The winning rate is the share of raters won against, the
p-values adjusted by Benjamini and Yekutieli (2001); the grader passes from one half on. The advantage probability is
the mean over raters of how often the grader has the advantage.

Ours: of a grader with repeats, an item's indicators are their means over its verdicts, so that they speak of one draw;
and items of one question are not independent, so that the default test takes the cluster-robust variance (CR2).
``method="published"`` takes items for independent: Student's test from 30 items on, Wilcoxon's signed ranks below.

Both tests lean on an approximation. On the border (mean of d equal to an epsilon of .2, one item a question), at a
nominal .05 without adjustment, the share of data sets in which they rejected was

==========================  =======================================  =======================
d is +1, 0, -1 with chance  Student, 20 / 30 / 50 / 100 / 300 items  Wilcoxon, 20 / 29 items
==========================  =======================================  =======================
.35, .50, .15               .041 / .048 / .048 / .042 / .050         .108 / .115
.20, .80, 0                 .070 / .118 / .100 / .081 / .066         .407 / .465
==========================  =======================================  =======================

In the second row, the worst case, the grader is never the better one. (10,000 data sets
for Student's test, 1,000 or more for Wilcoxon's.) Wilcoxon's speaks of the centre of a symmetric distribution, and d
has none: it is there to reproduce published figures, not to decide by. Where no question differs from another,
Student's has no variance to go by, and the default takes an exact bound in its place.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.clusters.clustered_mean import clustered_mean
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import ScaleLevel, check_counts, check_labels, check_level, encode_clusters
from experiments.stats.intervals.clustered_wilson import clustered_wilson
from experiments.stats.raters.loss_tests import benjamini_yekutieli, student_below, wilcoxon_below
from experiments.stats.raters.rater_agreement import code_ratings, count_ratings

__all__ = [
    "AlternativeAnnotatorResult",
    "RaterComparison",
    "alternative_annotator_test",
]

Array = NDArray[np.float64]
Method = Literal["clustered", "published"]

PASSING_RATE = 0.5
FEWEST_RATERS = 3
FEWEST_FOR_STUDENT = 30


@dataclass(frozen=True, slots=True)
class RaterComparison:
    """The grader against one rater, both measured on the labels of the others.

    ``rater`` is the rater's row. ``grader_advantage`` and ``rater_advantage`` are how often each is at least as well
    aligned as the other; ``difference`` is the grader's less the rater's. ``p_value`` is one-sided, for a difference of
    ``-epsilon`` or less; ``adjusted_p_value`` allows for the number of raters; ``test`` names the test.
    """

    rater: int
    grader_advantage: Estimate
    rater_advantage: Estimate
    difference: Estimate
    p_value: float
    adjusted_p_value: float
    won: bool
    test: str


@dataclass(frozen=True, slots=True)
class AlternativeAnnotatorResult:
    """Outcome of the test; ``winning_rate``, ``passes`` and the advantage are ``None`` with fewer than three raters.

    ``advantage_probability`` takes the raters as given: its interval is for other questions, not for other people.
    ``left_out`` are the rows of raters who share too few items with others and the grader.
    """

    comparisons: tuple[RaterComparison, ...]
    left_out: tuple[int, ...]
    winning_rate: float | None
    passes: bool | None
    advantage_probability: Estimate
    epsilon: float
    fdr: float


def alternative_annotator_test(
    ratings: Sequence[Sequence[str | None]],
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    scale_level: ScaleLevel,
    epsilon: float,
    fdr: float = 0.05,
    min_items: int = 2,
    method: Method = "clustered",
    level: float = 0.95,
) -> AlternativeAnnotatorResult:
    """Test whether a grader may replace one of three or more people.

    Parameters
    ----------
    ratings
        (raters, n) each rater's label of each item, ``None`` where there is none.
    counts
        (n, L) the grader's valid verdicts of each item with each label; items without one are left out.
    clusters
        (n,) the question of each item.
    labels
        (L,) the scale, worst first.
    scale_level
        ``nominal``: alignment by accuracy; ``ordinal`` or ``interval``: by root mean squared distance.
    epsilon
        What people cost more, 0 to 1. The authors suggest .2 for experts, .15 for skilled people, .1 for a crowd.
    fdr
        False discovery rate among the raters.
    min_items
        Raters with fewer items that count are left out; the authors' program asks for 30.
    method
        ``clustered`` by question, or ``published``.
    level
        Confidence level of the intervals, which are clustered by question with either method.

    Returns
    -------
    AlternativeAnnotatorResult
        With fewer than three raters who can be compared there is no test: ``comparisons`` is empty.

    Raises
    ------
    ValueError
        A label off the scale, lengths that differ, a negative count, ``epsilon`` or ``fdr`` not between 0 and 1,
        ``min_items`` below 2, an unknown ``method`` or ``scale_level``.
    """
    check_labels(labels, scale_level=scale_level)
    check_level(level)
    _check_options(epsilon=epsilon, fdr=fdr, min_items=min_items, method=method)
    codes = code_ratings(ratings, labels, n=len(clusters))
    table = check_counts(counts, n=len(clusters), n_labels=len(labels))
    groups = encode_clusters(clusters, n=len(table))
    pairs = [_pair(codes, rater, table, groups, scale_level) for rater in range(len(codes))]
    kept = [pair for pair in pairs if len(pair.items) >= min_items]
    left_out = tuple(pair.rater for pair in pairs if len(pair.items) < min_items)
    if len(kept) < FEWEST_RATERS:
        nothing = clustered_mean([], [], level=level)
        return AlternativeAnnotatorResult((), left_out, None, None, nothing, epsilon, fdr)
    tests = [_test(pair, epsilon=epsilon, method=method) for pair in kept]
    adjusted = benjamini_yekutieli([p_value for p_value, _ in tests])
    comparisons = tuple(
        _comparison(pair, *test, float(p_value), fdr=fdr, level=level)
        for pair, test, p_value in zip(kept, tests, adjusted, strict=True)
    )
    rate = sum(one.won for one in comparisons) / len(comparisons)
    advantage = _advantage_probability(kept, groups, level=level)
    return AlternativeAnnotatorResult(comparisons, left_out, rate, rate >= PASSING_RATE, advantage, epsilon, fdr)


@dataclass(frozen=True, slots=True)
class _Pair:
    """The grader and one rater on the items that both and another rater labelled; indicators are item means."""

    rater: int
    items: NDArray[np.int64]
    groups: NDArray[np.int64]
    grader: Array
    person: Array
    repeats: int


def _pair(
    codes: NDArray[np.int64],
    rater: int,
    table: NDArray[np.int64],
    groups: NDArray[np.int64],
    scale_level: ScaleLevel,
) -> _Pair:
    others = count_ratings(np.delete(codes, rater, axis=0), n_labels=table.shape[1])
    items = np.flatnonzero((codes[rater] >= 0) & (others.sum(axis=1) > 0) & (table.sum(axis=1) > 0))
    alignment = _alignment(others[items], scale_level)
    own = np.take_along_axis(alignment, codes[rater, items][:, None], axis=1)
    verdicts = table[items]
    shares = verdicts / verdicts.sum(axis=1, keepdims=True)
    return _Pair(
        rater=rater,
        items=items,
        groups=groups[items],
        grader=np.minimum((shares * (alignment >= own)).sum(axis=1), 1.0),
        person=np.minimum((shares * (own >= alignment)).sum(axis=1), 1.0),
        repeats=int(verdicts.sum(axis=1).max(initial=0)),
    )


def _alignment(others: NDArray[np.int64], scale_level: ScaleLevel) -> Array:
    """Alignment of each label with the labels of the others, shape (n, L); whole numbers until the division."""
    total = others.sum(axis=1, keepdims=True)
    if scale_level == "nominal":
        return np.asarray(others / total, dtype=np.float64)
    steps = np.arange(others.shape[1])
    squares = others @ (steps[:, None] - steps) ** 2
    return np.asarray(-np.sqrt(squares / total), dtype=np.float64)


def _test(pair: _Pair, *, epsilon: float, method: Method) -> tuple[float, str]:
    losses = pair.person - pair.grader
    if method == "clustered":
        return student_below(losses, pair.groups, epsilon)
    if len(losses) < FEWEST_FOR_STUDENT:
        return wilcoxon_below(losses, epsilon), "wilcoxon"
    p_value, test = student_below(losses, np.arange(len(losses)), epsilon)
    # Without variance the published statistic is minus infinity.
    return (float(np.median(losses) >= epsilon), "student") if test == "bound" else (p_value, "student")


def _comparison(
    pair: _Pair, p_value: float, test: str, adjusted: float, *, fdr: float, level: float
) -> RaterComparison:
    groups = pair.groups.tolist()
    gain = pair.grader - pair.person
    widest = 1.0 + abs(float(np.sort(gain).mean()))
    return RaterComparison(
        rater=pair.rater,
        grader_advantage=clustered_wilson(pair.grader, groups, repeats=pair.repeats, level=level),
        rater_advantage=clustered_wilson(pair.person, groups, repeats=pair.repeats, level=level),
        difference=clustered_mean(gain, groups, repeats=pair.repeats, level=level, bound=widest),
        p_value=p_value,
        adjusted_p_value=adjusted,
        won=adjusted <= fdr,
        test=test,
    )


def _advantage_probability(pairs: Sequence[_Pair], groups: NDArray[np.int64], *, level: float) -> Estimate:
    """Mean over raters of the grader's advantage, its variance by what each item adds to it (linearised)."""
    means = [float(np.sort(pair.grader).mean()) for pair in pairs]
    used = np.unique(np.concatenate([pair.items for pair in pairs]))
    added = np.zeros((len(pairs), len(groups)))
    for row, pair in enumerate(pairs):
        added[row, pair.items] = (pair.grader - means[row]) * len(used) / (len(pairs) * len(pair.items))
    value = float(np.mean(np.sort(means)))
    values = value + np.sort(added[:, used], axis=0).sum(axis=0)
    repeats = max(pair.repeats for pair in pairs)
    found = clustered_mean(values, groups[used].tolist(), repeats=repeats, level=level)
    low, high = max(0.0, found.low or 0.0), min(1.0, 1.0 if found.high is None else found.high)
    return Estimate(value, low, high, level, found.method, found.n, found.clusters, repeats)


def _check_options(*, epsilon: float, fdr: float, min_items: int, method: str) -> None:
    if not 0.0 <= epsilon < 1.0:
        raise ValueError(f"epsilon: out of range, got {epsilon!r}; expected 0 or more and below 1")
    if not 0.0 < fdr < 1.0:
        raise ValueError(f"fdr: not a rate, got {fdr!r}; expected a number between 0 and 1")
    if min_items < 2:
        raise ValueError(f"min_items: too few, got {min_items!r}; expected 2 or more")
    if method not in ("clustered", "published"):
        raise ValueError(f"method: unknown, got {method!r}; expected 'clustered' or 'published'")
