"""Wordings of a grader x models: how often each grader is right, on the same labelled items."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calibration_sets.item import Item
from experiments.analyses.choice.candidate_rates import measure_candidate
from experiments.analyses.choice.candidates import Candidate, ErrorName, LabelledContest, read_candidates, read_labelled
from experiments.analyses.right_label import right_label
from experiments.analyses.wordings.wording_grid import (
    Bounds,
    QuestionTable,
    WordingCell,
    WordingFacts,
    WordingPairs,
    complement,
)
from experiments.analyses.wordings.worst_cases import fill_chances
from experiments.errors import SpecError
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.label_words import label_words
from experiments.reports.plain import content_rng
from experiments.specs.wording_rule import name_wordings
from experiments.stats.comparisons.wording_effects import WordingEffects, wording_effects

__all__ = ["QUANTITIES", "GraderWordings", "read_grader_wordings"]

QUANTITIES: Mapping[str, ErrorName] = {
    "accuracy": "error_rate",
    "sensitivity": "false_negative_rate",
    "specificity": "false_positive_rate",
}
"""Name of a quantity to the error rate that it turns round."""

_Cells = Mapping[tuple[str, str], Candidate]


@dataclass(frozen=True)
class GraderWordings:
    """The graders of a run that have a prompt, as cells (wording, model) of a contest."""

    labelled: LabelledContest
    candidates: _Cells
    pending: frozenset[str]
    left_out: tuple[str, ...]

    @cached_property
    def facts(self) -> WordingFacts:
        """What the page says first."""
        notes = [label_words({"label_source": self.labelled.label_source}).source, *self.labelled.notes]
        if self.left_out:
            notes.append(f"Without a prompt, and so no wording: {', '.join(self.left_out)}.")
        notes += [f"{one.name}: {note}." for one in self.candidates.values() for note in one.notes]
        return WordingFacts(
            run_id=self.labelled.contest.run_id,
            kind="grader",
            about=f"labels under {self.labelled.rubric}",
            wordings=tuple(dict.fromkeys(wording for wording, _ in self.candidates)),
            models=tuple(dict.fromkeys(model for _, model in self.candidates)),
            quantities=tuple(QUANTITIES),
            n_items=len(self.clusters),
            n_questions=len(set(self.clusters)),
            notes=tuple(notes),
        )

    @property
    def clusters(self) -> tuple[str, ...]:
        """(n,) the question of each item."""
        return tuple(self.labelled.contest.clusters)

    def cell(self, wording: str, model: str, *, level: float) -> WordingCell | None:
        """A grader's accuracy, sensitivity and specificity."""
        candidate = self.candidates.get((wording, model))
        if candidate is None:
            return None
        own = measure_candidate(candidate, self.labelled.contest, level=level)
        return WordingCell(
            wording=wording,
            model=model,
            quantities={name: complement(own.rates[rate]) for name, rate in QUANTITIES.items()},
            bounds={name: _turned(own.bounds[rate]) for name, rate in QUANTITIES.items()},
            expected=candidate.expected * len(candidate.counts),
            valid=int(candidate.counts.sum()),
            failures=candidate.failures,
        )

    def effects(self, wording: str, control: str, *, level: float, resamples: int) -> Mapping[str, WordingEffects]:
        """Effects by quantity, paired by item and clustered by question."""
        return {
            name: self._compare(wording, control, name, level=level, resamples=resamples, worst=False)
            for name in QUANTITIES
        }

    def worst(
        self, wording: str, control: str, quantities: Sequence[str], *, level: float
    ) -> Mapping[str, WordingEffects]:
        """Effects if all that is missing went against the wording."""
        # Only intervals are used, which rest on no draw.
        return {
            name: self._compare(wording, control, name, level=level, resamples=1, worst=True) for name in quantities
        }

    def pairs(self, wording: str, control: str) -> WordingPairs:
        """Items with a verdict under both wordings, and verdicts that are missing under either."""
        models = self.shared(wording, control)
        both = {model: [self.candidates[one, model] for one in (wording, control)] for model in models}
        given = {
            model: int(np.all([one.counts.any(axis=1) for one in own], axis=0).sum()) for model, own in both.items()
        }
        lost = sum(one.expected * len(one.counts) - int(one.counts.sum()) for own in both.values() for one in own)
        return WordingPairs(given, len(self.clusters), lost)

    def table(self, wording: str, control: str, quantity: str, *, worst: bool = False) -> QuestionTable | None:
        """Paired differences: each quantity is a mean over the items that it is about."""
        changed, baseline = self._both(wording, control, quantity, worst=worst)
        return QuestionTable(changed - baseline, self.clusters, (-1.0, 1.0))

    def shared(self, wording: str, control: str) -> list[str]:
        """Models that have both wordings."""
        has = self.candidates
        return [model for model in self.facts.models if (wording, model) in has and (control, model) in has]

    def take(self, questions: frozenset[str]) -> GraderWordings:
        """The grid of some questions alone."""
        contest = self.labelled.contest
        rows = [row for row, question in enumerate(contest.clusters) if question in questions]
        kept = replace(
            contest,
            items=tuple(contest.items[row] for row in rows),
            reference=tuple(contest.reference[row] for row in rows),
        )
        return replace(
            self,
            labelled=replace(self.labelled, contest=kept),
            candidates={key: _take(one, rows) for key, one in self.candidates.items()},
            pending=self.pending & questions,
        )

    def _compare(
        self, wording: str, control: str, quantity: str, *, level: float, resamples: int, worst: bool
    ) -> WordingEffects:
        models = self.shared(wording, control)
        drawn = [self.candidates[key, model] for key in (wording, control) for model in models]
        changed, baseline = self._both(wording, control, quantity, worst=worst)
        return wording_effects(
            baseline,
            changed,
            self.clusters,
            models=models,
            rng=content_rng(self.labelled.contest.run_id, wording, control, quantity),
            level=level,
            resamples=resamples,
            repeats=max((int(one.counts.sum(axis=1).max(initial=0)) for one in drawn), default=0),
        )

    def _both(
        self, wording: str, control: str, quantity: str, *, worst: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(n, K) chance that a verdict is right under the wording, and under the control; NaN where there is none.

        At ``worst`` all that is missing is wrong under the wording and right under the control.
        """
        models, rate = self.shared(wording, control), QUANTITIES[quantity]
        shape = (len(models), len(self.clusters))
        changed, baseline = (
            np.array([self._right(one, model, rate, worst=worst, best=one == control) for model in models])
            for one in (wording, control)
        )
        return changed.reshape(shape).T, baseline.reshape(shape).T

    def _right(self, wording: str, model: str, rate: ErrorName, *, worst: bool, best: bool) -> NDArray[np.float64]:
        candidate, contest = self.candidates[wording, model], self.labelled.contest
        if not worst:
            return 1 - candidate.wrong(contest, rate)
        present = candidate.counts.sum(axis=1) / candidate.expected
        known = replace(candidate, shares=np.nan_to_num(candidate.shares))
        return fill_chances(1 - known.wrong(contest, rate), present, best=best)


def read_grader_wordings(data: RunData) -> GraderWordings:
    """Read the graders of a run as wordings x models.

    Raises
    ------
    SpecError
        If nobody labelled its items, no label counts as right, or fewer than two prompts judged them.
    """
    labelled = read_labelled(data)
    if not labelled.contest.items:
        raise SpecError(f"{data.run_id}: no labelled items; expected a run on a set that people labelled")
    right_label(labelled.contest.scale, f"run {data.run_id}")
    candidates = read_candidates(labelled.contest)
    prompted = [place for place, grader in enumerate(data.graders) if grader.prompt]
    wordings = name_wordings([str(data.graders[place].prompt) for place in prompted])
    models = _models([data.graders[place] for place in prompted], wordings)
    cells = {key: candidates[place] for key, place in zip(zip(wordings, models, strict=True), prompted, strict=True)}
    if len(set(wordings)) < 2:
        raise SpecError(
            f"{data.run_id}: the grader prompts are {sorted(set(wordings))}; expected two or more, the control among "
            "them"
        )
    return GraderWordings(
        labelled=labelled,
        candidates=cells,
        pending=_pending(labelled.contest.items, [data.graders[place] for place in prompted]),
        left_out=tuple(one.name for place, one in enumerate(candidates) if place not in prompted),
    )


def _pending(items: Sequence[Item], graders: Sequence[GraderResults]) -> frozenset[str]:
    """Questions with an item of which some grader was not asked; a call that failed was asked."""
    missing = {
        verdict.item_digest
        for grader in graders
        for verdict in grader.verdicts
        if verdict.failure == "not_answered" and verdict.detail == "not_asked"
    }
    return frozenset(item.cluster_id for item in items if item.digest in missing)


def _models(graders: Sequence[GraderResults], wordings: Sequence[str]) -> list[str]:
    """The model, with its sampling where one prompt judges with it under several."""
    plain = [grader.model for grader in graders]
    pairs = list(zip(wordings, plain, strict=True))
    twice = {model for wording, model in pairs if pairs.count((wording, model)) > 1}
    if not twice:
        return plain
    # The channel is the prompt's own, and tells no model from another.
    settings = [
        {name: value for name, value in grader.sampling.items() if name != "channel" and value is not None}
        for grader in graders
    ]
    names = sorted({name for one in settings for name in one})
    same = [name for name in names if len({str(one.get(name)) for one in settings}) == 1]
    named = [
        f"{model} {_brief(own, same)}" if model in twice else model for model, own in zip(plain, settings, strict=True)
    ]
    keys = list(zip(wordings, named, strict=True))
    return [
        name if keys.count((wording, name)) == 1 else f"{name} {grader.grader_id[:6]}"
        for wording, name, grader in zip(wordings, named, graders, strict=True)
    ]


def _brief(settings: Mapping[str, object], same: Sequence[str]) -> str:
    told = {name: value for name, value in sorted(settings.items()) if name not in same}
    return ", ".join(f"{name} {json.dumps(value)}" for name, value in told.items())


def _turned(bounds: Bounds) -> Bounds:
    return None if bounds is None else (1 - bounds[1], 1 - bounds[0])


def _take(candidate: Candidate, rows: Sequence[int]) -> Candidate:
    counts = candidate.counts[list(rows)]
    missing = candidate.expected * len(rows) - int(counts.sum())
    # Reasons are kept by grader and not by item; what is known of a part is how many are missing.
    failures = {"without a verdict": missing} if missing else {}
    return replace(candidate, shares=candidate.shares[list(rows)], counts=counts, failures=failures)
