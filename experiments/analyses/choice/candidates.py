"""What can be chosen: each grader of a run, and graders that judge together, on the same labelled items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibration_sets.calibration_set import CalibrationSet
from experiments.analyses.choice.entrants import Contest, Entrant, read_contest
from experiments.errors import SpecError
from experiments.reports.call_times import GraderTimes
from experiments.reports.inputs import RunData
from experiments.reports.reference_labels import drop_stale_labels, join_labels
from experiments.specs.joint_graders import find_name
from graders.pricing import Cost

__all__ = [
    "Candidate",
    "ErrorName",
    "LabelledContest",
    "find_candidate",
    "read_candidates",
    "read_labelled",
    "thousand_cost",
]

ErrorName = Literal["false_negative_rate", "false_positive_rate", "error_rate"]
"""The rate that a choice wants low."""
Form = Literal["grader", "panel", "cascade"]


@dataclass(frozen=True)
class Candidate:
    """One that may be chosen, on the n items of a contest.

    Attributes
    ----------
    name
        Unique among the candidates.
    form
        A grader of the run, or a panel or cascade made of its stored verdicts.
    shares
        (n, L) the chance of each label in one verdict; a row of NaN where there is no verdict.
    counts
        (n, L) valid verdicts with each label.
    expected
        Verdicts asked for of each item.
    failures
        Reason to number of verdicts without a label.
    thousand
        Cost of a thousand verdicts; ``None`` where it is not known.
    draws
        Verdicts an item that an interval counts, where ``counts`` do not say: R of a grader whose repeats are
        computed, 1 of a cascade.
    repeats
        Whether its verdicts of an item are repeats, so that flips and disagreement are defined.
    notes
        What a reader should know of it.
    thousand_seconds
        Seconds of the calls for a thousand verdicts; ``None`` where that is not known.
    times
        What is known of its calls' times; nothing of panels and cascades, which make none of their own.
    """

    name: str
    form: Form
    shares: NDArray[np.float64]
    counts: NDArray[np.int64]
    expected: int
    failures: Mapping[str, int]
    thousand: Cost | None
    draws: int | None = None
    repeats: bool = True
    notes: tuple[str, ...] = ()
    thousand_seconds: float | None = None
    times: GraderTimes = field(default_factory=GraderTimes)

    @property
    def coverage(self) -> float | None:
        """Valid verdicts as a share of those asked for; ``None`` without items."""
        asked = self.expected * len(self.counts)
        return float(self.counts.sum() / asked) if asked else None

    @property
    def is_exact(self) -> bool:
        """Whether its repeats are computed from chances."""
        return self.repeats and self.draws is not None

    def wrong(self, contest: Contest, rate: ErrorName) -> NDArray[np.float64]:
        """(n,) chance that a verdict is wrong; NaN without a verdict and for items that the rate is not about.

        ``error_rate`` counts every verdict that is not people's label. The other two look at the label that counts
        as right alone, among the items that people gave it and among the rest.
        """
        labels = list(contest.scale.labels)
        people = np.array([labels.index(label) for label in contest.reference], dtype=np.int64)
        right = people == labels.index(contest.positive)
        passed = self.shares[:, labels.index(contest.positive)]
        if rate == "false_negative_rate":
            wrong = np.where(right, 1.0 - passed, np.nan)
        elif rate == "false_positive_rate":
            wrong = np.where(right, np.nan, passed)
        else:
            wrong = 1.0 - self.shares[np.arange(len(people)), people]
        return np.clip(wrong, 0.0, 1.0)


@dataclass(frozen=True)
class LabelledContest:
    """A run's graders on its labelled items, and what is to be known of the labels.

    ``rubric`` is the one that all are held to; ``label_source`` says who gave the labels.
    """

    contest: Contest
    rubric: str
    label_source: str
    notes: tuple[str, ...]


def read_labelled(data: RunData) -> LabelledContest:
    """Line up a run's graders under one rubric.

    It is the rubric that the report holds all of them to; where the report holds them to different ones, it is the
    set's own, since only labels that all share make a comparison. Labels of content that has changed are dropped.
    """
    chosen, n_stale = drop_stale_labels(data.calibration_set)
    joined = join_labels(chosen, [grader.rubric for grader in data.graders])
    rubrics = {labels.rubric for labels in joined}
    rubric = rubrics.pop() if len(rubrics) == 1 else chosen.rubric
    contest = read_contest(replace(data, calibration_set=replace(chosen, rubric=rubric)))
    follow = [labels.grader_rubric for labels in joined]
    others = [entrant.name for entrant, own in zip(contest.entrants, follow, strict=True) if own != rubric]
    return LabelledContest(contest, rubric, chosen.label_source, _notes(chosen, contest, rubric, n_stale, others))


def _notes(chosen: CalibrationSet, contest: Contest, rubric: str, n_stale: int, others: list[str]) -> tuple[str, ...]:
    notes = []
    without = len(chosen.items) - len(contest.items)
    if without:
        notes.append(
            f"{without:,} of {len(chosen.items):,} items have no agreed label under {rubric} and are left out."
        )
    if n_stale:
        notes.append(f"{n_stale:,} labels are of content that has changed since and are not used.")
    if others:
        notes.append(f"Labels are under {rubric}; another rubric is followed by: {', '.join(others)}.")
    return tuple(notes)


def read_candidates(contest: Contest) -> tuple[Candidate, ...]:
    """Each grader of a contest."""
    return tuple(_candidate(entrant, contest) for entrant in contest.entrants)


def find_candidate(candidates: Sequence[Candidate], name: str, where: str) -> Candidate:
    """The candidate of a name, or of a part that :func:`experiments.specs.joint_graders.find_name` takes.

    Raises
    ------
    SpecError
        If there is none, or more than one; the message begins with ``where`` and lists the names.
    """
    try:
        return candidates[find_name([candidate.name for candidate in candidates], name)]
    except LookupError as error:
        raise SpecError(f"{where}: {error.args[0]}") from error


def _candidate(entrant: Entrant, contest: Contest) -> Candidate:
    exact = entrant.results is not None and entrant.results.distributions is not None
    times = entrant.results.times if entrant.results else GraderTimes()
    return Candidate(
        name=entrant.name,
        form="grader",
        shares=_computed_shares(entrant, contest) if exact else _drawn_shares(entrant.counts),
        counts=entrant.counts,
        expected=entrant.expected,
        failures=dict(entrant.failures),
        thousand=thousand_cost(entrant),
        draws=int(entrant.results.sampling["repeats"]) if exact and entrant.results else None,
        notes=("its repeats are computed, not drawn",) if exact else (),
        thousand_seconds=times.thousand,
        times=times,
    )


def _drawn_shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    valid = counts.sum(axis=1, keepdims=True)
    return np.where(valid > 0, counts / np.maximum(valid, 1), np.nan)


def _computed_shares(entrant: Entrant, contest: Contest) -> NDArray[np.float64]:
    distributions = (entrant.results.distributions if entrant.results else None) or {}
    nothing = [np.nan] * len(contest.scale.labels)
    rows = []
    for item in contest.items:
        found = distributions.get(item.digest)
        known = found.probabilities if found is not None else None
        rows.append(nothing if known is None else [known[label] for label in contest.scale.labels])
    return np.array(rows, dtype=np.float64).reshape(-1, len(contest.scale.labels))


def thousand_cost(entrant: Entrant) -> Cost | None:
    """Cost of a thousand valid verdicts, failed and unusable calls included; ``None`` where it is not known.

    The run's cost covers all its items, with and without a label, so all its verdicts are counted. Of a grader whose
    repeats are computed a verdict is one call, which stands for all its repeats.
    """
    if entrant.cost is None or entrant.results is None:
        return None
    valid = sum(verdict.label is not None for verdict in entrant.results.verdicts)
    return Cost(1000 * entrant.cost.amount / valid, entrant.cost.complete) if valid else None
