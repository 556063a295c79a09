"""How wide: whether ``score``'s intervals hold a world's true scores, as graded and corrected."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from calibration_sets.item import Item
from calibration_sets.scale import SIMPLEQA
from experiments.analyses.scores.scoring import score_benchmark
from experiments.analyses.scores.scoring_inputs import Benchmark, Calibration, Respondent
from experiments.analyses.scores.scoring_raters import Raters
from experiments.analyses.scores.scoring_results import Scoring, ScoringChoice
from experiments.reports.label_words import PEOPLE
from experiments.reports.sample import Sample
from experiments.stats.correction import LabelledItems, correct_scores
from experiments.stats.estimate import Estimate
from experiments.stats.scores import SCORES, score_value
from worlds.choice_trial import calibration_items, make_item
from worlds.draws import QUESTIONS, REPEATS, World
from worlds.population import LABELS, ROLES, Array

__all__ = ["LEVEL", "N_SCORED", "RANK_BY", "SHOWN", "WAYS", "OrderTrial", "ScoreTrial", "read_benchmark", "try_scores"]

LEVEL = 0.95
WAYS = ("as graded", "corrected", "corrected, error rates taken as exact")
SHOWN = tuple(name for name in SCORES if name not in ("accuracy", "index"))
"""Scores that differ: accuracy is ``correct`` here, and the index is a hundred times ``penalised``."""
RANK_BY = "f1"
N_SCORED = 6
"""Models that are scored, the first of the twelve."""
_MANY = 2000


@dataclass(frozen=True, slots=True)
class ScoreTrial:
    """One score of one model: whether its interval held the truth, by how much it was off, and its width.

    ``held`` is ``None`` where no score was given.
    """

    way: str
    lenient: bool
    score: str
    model: int
    held: bool | None
    error: float
    width: float


@dataclass(frozen=True, slots=True)
class OrderTrial:
    """All pairs of models by one score.

    ``wrong`` pairs were decided in the wrong order, out of ``decided`` ones; ``held`` of ``pairs`` intervals held the
    true difference.
    """

    way: str
    lenient: bool
    decided: int
    wrong: int
    held: int
    pairs: int


def try_scores(world: World, *, lenient: bool) -> list[ScoreTrial | OrderTrial]:
    """Score some models' answers under the control."""
    benchmark, calibration = read_benchmark(world)
    scoring = score_benchmark(benchmark, calibration, ScoringChoice(level=LEVEL, rank_by=RANK_BY, fields=()))
    exact = _as_if_exact(calibration.labelled)
    trials: list[ScoreTrial | OrderTrial] = []
    for model, one in enumerate(scoring.respondents):
        sure = correct_scores(one.respondent.graded, exact, level=LEVEL, **ROLES)
        found = dict(zip(WAYS, (one.correction.uncorrected, one.correction.corrected, sure.corrected), strict=True))
        trials += [
            _score(world, way, name, model, None if scores is None else scores[name], lenient=lenient)
            for way, scores in found.items()
            for name in SHOWN
        ]
    return [*trials, *_orders(world, scoring, lenient=lenient)]


def read_benchmark(world: World) -> tuple[Benchmark, Calibration]:
    """Benchmark and calibration as ``score`` reads them."""
    judge = world.population.judge.name
    respondents = tuple(_respondent(world, model) for model in range(N_SCORED))
    benchmark = Benchmark(
        run_id="benchmark",
        set_title="benchmark 1",
        grader=judge,
        grader_id=judge,
        scale=SIMPLEQA,
        correct=ROLES["correct"],
        not_attempted=ROLES["not_attempted"],
        computed=False,
        respondents=respondents,
    )
    known = world.calibration
    items = calibration_items(world)
    labels = tuple(LABELS[place] for place in known.classes)
    questions = tuple(item.cluster_id for item in items)
    sample = Sample(SIMPLEQA, items, labels, world.judge_counts, ({},) * len(items), REPEATS)
    calibration = Calibration(
        run_id="calibration",
        set_title="calibration 1",
        grader=judge,
        same_grader=True,
        rubric="rules@1",
        grader_rubric="rules@1",
        words=PEOPLE,
        sample=sample,
        questions=questions,
        raters=Raters({"rater": labels}, sample, questions, n_several=0, disputed=0, tied=0),
        stale=0,
        tied=0,
        unlabelled=0,
    )
    return benchmark, calibration


def _respondent(world: World, model: int) -> Respondent:
    items = _benchmark_items(model)
    counts = world.verdicts[0, model]
    sample = Sample(SIMPLEQA, items, (None,) * len(items), counts, ({},) * len(items), 1)
    return Respondent(f"model-{model:02}", sample, tuple(item.cluster_id for item in items))


@cache
def _benchmark_items(model: int) -> tuple[Item, ...]:
    return tuple(make_item("benchmark", question, model, f"model-{model:02}") for question in range(QUESTIONS))


def _as_if_exact(labelled: LabelledItems) -> LabelledItems:
    """So many items with the observed error rates that these have no uncertainty left."""
    counts, reference = np.asarray(labelled.counts), np.array(labelled.reference)
    shares = counts / counts.sum(axis=1, keepdims=True)
    rows = [np.rint(1e6 * shares[reference == label].mean(axis=0)).astype(np.int64) for label in LABELS]
    names = [label for label in LABELS for _ in range(_MANY)]
    return LabelledItems(names, np.repeat(rows, _MANY, axis=0), list(range(len(names))))


def _truth(world: World, name: str) -> Array:
    return score_value(name, world.population.shares[0], **ROLES)


def _score(world: World, way: str, name: str, model: int, estimate: Estimate | None, *, lenient: bool) -> ScoreTrial:
    truth = float(_truth(world, name)[model])
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return ScoreTrial(way, lenient, name, model, None, 0.0, 0.0)
    held = estimate.low <= truth <= estimate.high
    return ScoreTrial(way, lenient, name, model, held, estimate.value - truth, estimate.high - estimate.low)


def _orders(world: World, scoring: Scoring, *, lenient: bool) -> list[OrderTrial]:
    """Differences of every pair, and the pairs that are decided at the family's level."""
    truth = dict(zip([one.respondent.name for one in scoring.respondents], _truth(world, RANK_BY), strict=False))
    ranking = scoring.ranking
    assert ranking is not None
    found = []
    for way in WAYS[:2]:
        decided = wrong = held = pairs = 0
        for pair in ranking.pairs:
            one = pair.graded if way == "as graded" else pair.corrected
            p_value = pair.graded_adjusted if way == "as graded" else pair.corrected_adjusted
            value = None if one is None else one.estimate.value
            if one is None or value is None:
                continue
            estimate, gap = one.estimate, float(truth[pair.higher] - truth[pair.lower])
            pairs += 1
            held += estimate.low is not None and estimate.high is not None and estimate.low <= gap <= estimate.high
            sure = p_value is not None and p_value <= 1 - LEVEL
            decided += sure
            wrong += sure and value * gap <= 0
        found.append(OrderTrial(way, lenient, decided, wrong, held, pairs))
    return found
