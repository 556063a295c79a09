"""Which wording: what ``ab`` adopts in a world, what it would adopt without its care, and which of it was wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.analyses.answer_wordings import AnswerWordings
from experiments.analyses.wording_comparison import WordingResult, compare_wordings
from experiments.analyses.wording_grid import WordingCell
from experiments.respondents.grid import Grid, GridCell
from experiments.specs.decisions import AbSpec
from experiments.stats.comparisons.wording_rule import WordingRule, decide_wording
from experiments.stats.correction import CorrectedDifferences, GradedItems, LabelledItems, corrected_differences
from worlds.draws import World
from worlds.population import LABELS, MARGIN, ROLES

__all__ = ["LEVEL", "RULES", "WordingTrial", "read_wordings", "try_wordings"]

LEVEL = 0.95
RAISE, KEEP = "accuracy", "accuracy_given_attempted"
SPEC = AbSpec.model_validate({"control": "wording-0", "raise": RAISE, "may_not_fall": {KEEP: MARGIN}})
RULES = ("ab", "corrected", "one-by-one", "estimates")


class _BareWordings(AnswerWordings):
    """Without the scores of single cells, which the page shows and no decision uses where nothing is missing."""

    def cell(self, wording: str, model: str, *, level: float) -> WordingCell:  # noqa: ARG002
        """A cell with nothing missing."""
        n = len(self.rows)
        return WordingCell(wording, model, {}, dict.fromkeys(self.facts.quantities), n, n, {})


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


def try_wordings(world: World, *, some_deserve: bool, lenient: bool) -> list[WordingTrial]:
    """Decide by every rule."""
    result = compare_wordings(read_wordings(world), SPEC, level=LEVEL, resamples=1)
    chosen = {
        "ab": {place: _raise_of(result, place) for place in _places(result) if result.decisions[place - 1].adopted},
        "corrected": _corrected(world),
        "one-by-one": {place: _raise_of(result, place) for place in _places(result) if _passes(result, place)},
        "estimates": {place: _raise_of(result, place) for place in _places(result) if _looks_better(result, place)},
    }
    return [
        _judge(world, rule, chosen[rule], some_deserve=some_deserve, lenient=lenient, pooled=rule == "corrected")
        for rule in RULES
    ]


def read_wordings(world: World) -> AnswerWordings:
    """The benchmark as ``ab`` reads it: one verdict an answer."""
    n_wordings, n_models, n_questions, _ = world.verdicts.shape
    questions = tuple(f"question-{place}" for place in range(n_questions))
    models = tuple(f"model-{place}" for place in range(n_models))
    wordings = tuple(f"wording-{place}" for place in range(n_wordings))
    cells = {
        (model, wording): GridCell(model, wording, questions, world.verdicts[row, column].astype(float), 0, 0)
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


def _corrected(world: World) -> dict[int, float]:
    """The rule by Holm's procedure on the scores of all models' answers together, corrected for the judge's errors."""
    known = LabelledItems(
        [LABELS[place] for place in world.calibration.classes],
        world.judge_counts,
        world.calibration.questions.tolist(),
    )
    sides = [_together(world, place) for place in range(len(world.verdicts))]

    def compare(place: int, level: float) -> CorrectedDifferences:
        return corrected_differences(sides[place], sides[0], known, level=level, **ROLES)

    return _holm(compare, range(1, len(sides)))


def _together(world: World, wording: int) -> GradedItems:
    """One item a question, of as many verdicts as models: the sums that the statistics start from are the same."""
    return GradedItems(world.verdicts[wording].sum(axis=0), list(range(world.verdicts.shape[2])))


def _holm(compare: Callable[[int, float], CorrectedDifferences], places: Sequence[int]) -> dict[int, float]:
    adopted: dict[int, float] = {}
    left = list(places)
    while left:
        level = 1 - (1 - LEVEL) / len(left)
        passed = {}
        for place in left:
            found = compare(place, level).differences
            if found is None:
                continue
            raised, kept = found[RAISE].estimate, found[KEEP].estimate
            if raised.low is not None and kept.low is not None and raised.low > 0 and kept.low > -MARGIN:
                assert raised.value is not None
                passed[place] = raised.value
        adopted |= passed
        left = [place for place in left if place not in passed] if passed else []
    return adopted


def _judge(
    world: World, rule: str, adopted: dict[int, float], *, some_deserve: bool, lenient: bool, pooled: bool
) -> WordingTrial:
    truth = world.population

    def deserves(place: int, *, graded: bool = False) -> bool:
        raised, kept = (truth.effect(place, name, graded=graded, pooled=pooled) for name in (RAISE, KEEP))
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
