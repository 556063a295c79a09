"""Which wording: what ``ab`` adopts in a world, what it would adopt without its care, and which of it was wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.analyses.wordings.answer_wordings import AnswerWordings
from experiments.analyses.wordings.corrected_wordings import CorrectedWordings
from experiments.analyses.wordings.wording_comparison import WordingResult, compare_wordings
from experiments.analyses.wordings.wording_grid import WordingCell
from experiments.respondents.grid import Grid, GridCell
from experiments.specs.decisions import AbSpec
from experiments.stats.comparisons.wording_rule import WordingRule, decide_wording
from experiments.stats.correction import LabelledItems
from worlds.draws import World
from worlds.population import LABELS, MARGIN, ROLES

__all__ = [
    "EFFECTS_ON",
    "LEVEL",
    "RULES",
    "WAYS",
    "EffectTrial",
    "WordingTrial",
    "correct_wordings",
    "read_wordings",
    "try_wordings",
]

LEVEL = 0.95
RAISE, KEEP = "accuracy", "accuracy_given_attempted"
SPEC = AbSpec.model_validate({"control": "wording-0", "raise": RAISE, "may_not_fall": {KEEP: MARGIN}})
RULES = ("ab", "corrected", "one-by-one", "estimates")
WAYS = ("as graded", "corrected")
EFFECTS_ON = ("accuracy", "accuracy_given_attempted", "f1")


class _BareWordings(AnswerWordings):
    """Without the scores of single cells, which the page shows and no decision uses where nothing is missing."""

    def cell(self, wording: str, model: str, *, level: float) -> WordingCell:  # noqa: ARG002
        """A cell with nothing missing."""
        n = len(self.rows)
        return WordingCell(wording, model, {}, dict.fromkeys(self.facts.quantities), n, n, {})


class _BareCorrected(CorrectedWordings):
    """As ``_BareWordings``."""

    def cell(self, wording: str, model: str, *, level: float) -> WordingCell | None:
        """A cell with nothing missing."""
        return self.graded.cell(wording, model, level=level)


@dataclass(frozen=True, slots=True)
class EffectTrial:
    """A wording's effect on a score over the models, as graded or corrected, beside the true one.

    ``error`` is the estimate less the truth, ``width`` that of the interval.
    """

    way: str
    lenient: bool
    score: str
    held: bool
    error: float
    width: float


@dataclass(frozen=True, slots=True)
class WordingTrial:
    """One way of deciding in one world.

    Attributes
    ----------
    rule
        One of ``RULES``.
    some_deserve, lenient
        What world it was.
    adopted
        Any wording.
    wrong, wrong_as_graded
        Any that does not deserve it, by true scores and by the scores that the judge gives on average.
    found
        The better one of two that deserve it.
    chose_wrong
        The one taken of those adopted does not deserve it.
    """

    rule: str
    some_deserve: bool
    lenient: bool
    adopted: bool
    wrong: bool
    wrong_as_graded: bool
    found: bool
    chose_wrong: bool


def try_wordings(
    world: World, *, some_deserve: bool, lenient: bool, corrected: bool
) -> list[WordingTrial | EffectTrial]:
    """Decide by every rule; where ``corrected``, by corrected scores too, and hold effects against the true ones."""
    grid = read_wordings(world)
    result = compare_wordings(grid, SPEC, level=LEVEL, resamples=1)
    chosen = {
        "ab": _adopted(result),
        "one-by-one": {place: _raise_of(result, place) for place in _places(result) if _passes(result, place)},
        "estimates": {place: _raise_of(result, place) for place in _places(result) if _looks_better(result, place)},
    }
    effects: list[EffectTrial] = []
    if corrected:
        found = compare_wordings(correct_wordings(world, grid), SPEC, level=LEVEL, resamples=1)
        chosen["corrected"] = _adopted(found)
        effects = [
            _hold(world, way, place, score, one, lenient=lenient)
            for way, one in zip(WAYS, (result, found), strict=True)
            for place in _places(one)
            for score in EFFECTS_ON
        ]
    return [
        *(
            _judge(world, rule, chosen[rule], some_deserve=some_deserve, lenient=lenient)
            for rule in RULES
            if rule in chosen
        ),
        *effects,
    ]


def correct_wordings(world: World, grid: AnswerWordings) -> CorrectedWordings:
    """The same with the calibration set, as ``ab --calibration`` reads it; no question is in both."""
    known = world.calibration
    labelled = LabelledItems([LABELS[place] for place in known.classes], world.judge_counts, known.questions.tolist())
    return _BareCorrected(grid, labelled, {}, "labelled answers", LEVEL)


def read_wordings(world: World) -> AnswerWordings:
    """The benchmark as ``ab`` reads it: one verdict an answer."""
    n_wordings, n_models, n_questions, _ = world.verdicts.shape
    questions = tuple(f"question-{place}" for place in range(n_questions))
    models = tuple(f"model-{place}" for place in range(n_models))
    wordings = tuple(f"wording-{place}" for place in range(n_wordings))
    cells = {
        (model, wording): GridCell(
            model, wording, questions, world.verdicts[row, column].astype(float), np.ones(n_questions), 0, 0
        )
        for row, wording in enumerate(wordings)
        for column, model in enumerate(models)
    }
    grid = Grid(
        run_id="world",
        grader=world.population.judge.name,
        labels=LABELS,
        correct=ROLES["correct"],
        not_attempted=ROLES["not_attempted"],
        questions=questions,
        clusters=questions,
        models=models,
        prompts=wordings,
        cells=cells,
    )
    return _BareWordings(grid, 1, frozenset(), tuple(range(n_questions)))


def _places(result: WordingResult) -> range:
    return range(1, 1 + len(result.comparisons))


def _adopted(result: WordingResult) -> dict[int, float]:
    return {place: _raise_of(result, place) for place in _places(result) if result.decisions[place - 1].adopted}


def _hold(world: World, way: str, place: int, score: str, result: WordingResult, *, lenient: bool) -> EffectTrial:
    estimate = result.comparisons[place - 1].effects[score].fixed.estimate
    assert estimate.value is not None
    assert estimate.low is not None
    assert estimate.high is not None
    truth = world.population.effect(place, score)
    held = estimate.low <= truth <= estimate.high
    return EffectTrial(way, lenient, score, held, estimate.value - truth, estimate.high - estimate.low)


def _effect(result: WordingResult, place: int, score: str) -> float:
    value = result.comparisons[place - 1].effects[score].fixed.estimate.value
    assert value is not None
    return value


def _raise_of(result: WordingResult, place: int) -> float:
    return _effect(result, place, RAISE)


def _passes(result: WordingResult, place: int) -> bool:
    """By itself, as if no other wording had been tried."""
    rule = WordingRule(RAISE, {KEEP: MARGIN}, level=LEVEL)
    return decide_wording(rule, result.comparisons[place - 1].effects).adopted


def _looks_better(result: WordingResult, place: int) -> bool:
    """By its estimates, without any interval."""
    return _effect(result, place, RAISE) > 0 and _effect(result, place, KEEP) > -MARGIN


def _judge(world: World, rule: str, adopted: dict[int, float], *, some_deserve: bool, lenient: bool) -> WordingTrial:
    truth = world.population

    def deserves(place: int, *, graded: bool = False) -> bool:
        raised, kept = (truth.effect(place, name, graded=graded) for name in (RAISE, KEEP))
        return raised > 0 and kept > -MARGIN

    chosen = max(adopted, key=lambda place: adopted[place], default=None)
    return WordingTrial(
        rule=rule,
        some_deserve=some_deserve,
        lenient=lenient,
        adopted=bool(adopted),
        wrong=any(not deserves(place) for place in adopted),
        wrong_as_graded=any(not deserves(place, graded=True) for place in adopted),
        found=some_deserve and 1 in adopted,
        chose_wrong=chosen is not None and not deserves(chosen),
    )
