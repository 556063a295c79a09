"""The section on wordings: decisions by scores as graded and corrected, and the effects behind them."""

from __future__ import annotations

from collections.abc import Sequence

from validity.tables import markdown_table

from worlds.population import IN_VAIN, MARGIN
from worlds.tallies import Tally, count_events, count_held, percent
from worlds.trials import CORRECTED, WorldTrials
from worlds.wording_trial import EFFECTS_ON, LEVEL, RULES, WAYS, EffectTrial, WordingTrial

__all__ = ["PROMISED", "buys_wordings", "claim_wordings", "wording_section"]

PROMISED = (1 - LEVEL) / 2
"""Chance that any wording is adopted that does not deserve it: one side of the level, however many are tried."""
WORDS = {
    "ab": "`ab`",
    "corrected": "`ab --calibration`",
    "one-by-one": "each wording by itself",
    "estimates": "estimates alone",
}
TEMPLATE = """\
## Which wording: `ab`

The rule, written before: `raise = "accuracy"`, `may_not_fall = {{"accuracy_given_attempted" = {margin}}}`, over these
models, at {level}. A decision is wrong if any wording is adopted that truly does not raise accuracy, or that truly
lets accuracy given attempted fall by the margin or more. `ab` promises that of scores *as graded*: its page says that
the judge's errors are not corrected. So the first table asks for the scores that this judge gives on average.

{graded}
"Each wording by itself" is the same rule at the same level without regard to how many were tried; "estimates alone"
adopts what looks better. The second table asks for the true scores, which is what one wants to know.

{true}
A judge's errors make effects look smaller, a fall beyond the margin too, so `ab` promises nothing of true scores.
`ab --calibration` corrects every cell for the judge's errors on the calibration set, and promises of true scores what
`ab` does of those as graded. It was tried in the first {corrected} worlds alone. By true scores, judge by judge:

{judges}
What the care costs, in the worlds where two wordings deserve to be adopted:

{found}
### Effects, corrected for the judge

The average effect in these models of every wording, with its interval at {level}, in the first {corrected} worlds; off
and bias in points, as below.

{effects}
Wordings that make models guess in vain: in each of these worlds {vain} more wordings turn declining into wrong
answers, so that accuracy given attempted falls by 6 points and accuracy rises by exactly 0. The rule is
`raise = "accuracy"` alone. A judge that passes some wrong answers sees a rise.

{vains}"""


def wording_section(worlds: Sequence[WorldTrials]) -> tuple[str, list[Tally]]:
    """The section, and what was promised."""
    trials = [one for world in worlds for one in world.wordings]
    head = ["decided by", "a wrong wording adopted", "share", "95% bounds", "promised", ""]
    graded = {rule: _tally(trials, rule, graded=True) for rule in RULES if rule != "corrected"}
    true = {rule: _tally(trials, rule) for rule in RULES}
    text = TEMPLATE.format(
        margin=MARGIN,
        level=percent(LEVEL),
        corrected=min(CORRECTED, len(worlds)),
        vain=len(IN_VAIN) - 1,
        graded=markdown_table(head, [[WORDS[rule], *tally.cells] for rule, tally in graded.items()]),
        true=markdown_table(head, [[WORDS[rule], *tally.cells] for rule, tally in true.items()]),
        judges=_judges_table(trials),
        found=_found_table(trials),
        effects=_effects_table(worlds),
        vains=_vains_table(worlds),
    )
    return text, claim_wordings(worlds)


def _judges_table(trials: Sequence[WordingTrial]) -> str:
    rows = []
    for lenient in (False, True):
        own = [one for one in trials if one.lenient == lenient]
        judge = "lenient" if lenient else "careful"
        rows += [[WORDS[rule], judge, *_tally(own, rule).cells[:3]] for rule in ("ab", "corrected") if own]
    return markdown_table(["decided by", "judge", "a wrong wording adopted", "share", "95% bounds"], rows)


def claim_wordings(worlds: Sequence[WorldTrials]) -> list[Tally]:
    """What is promised: of scores as graded by ``ab``, of true scores by the corrected comparison."""
    trials = [one for world in worlds for one in world.wordings]
    return [
        _tally(trials, "ab", graded=True),
        _tally(trials, "corrected"),
        _vain(worlds, "corrected"),
        *(_held(worlds, "corrected", score) for score in EFFECTS_ON),
    ]


def _tally(trials: Sequence[WordingTrial], rule: str, *, graded: bool = False) -> Tally:
    own = [one for one in trials if one.rule == rule]
    promised = PROMISED if rule == "corrected" or (rule == "ab" and graded) else None
    name = f"{WORDS[rule]} adopts a wrong wording, by {'scores as graded' if graded else 'true scores'}"
    return count_events(name, [one.wrong_as_graded if graded else one.wrong for one in own], promised=promised)


def buys_wordings(worlds: Sequence[WorldTrials]) -> list[str]:
    """What there is without the care, in words."""
    trials = [one for world in worlds for one in world.wordings]
    graded = {rule: _tally(trials, rule, graded=True).share for rule in RULES}
    true = {rule: _tally(trials, rule).share for rule in RULES}
    return [
        f"By scores as graded a wrong wording is adopted in {graded['ab']} of the worlds by `ab`, in "
        f"{graded['one-by-one']} by each wording by itself, in {graded['estimates']} by estimates alone.",
        f"By true scores: {true['ab']} by `ab` as graded, {true['corrected']} by `ab --calibration`, "
        f"{true['one-by-one']} by each wording by itself, {true['estimates']} by estimates alone.",
        f"A wording that makes models guess in vain is adopted in {_vain(worlds, 'as graded').share} as graded and in "
        f"{_vain(worlds, 'corrected').share} corrected; with the lenient judge in "
        f"{_vain(worlds, 'as graded', lenient=True).share} and {_vain(worlds, 'corrected', lenient=True).share}.",
    ]


def _found_table(trials: Sequence[WordingTrial]) -> str:
    rows = []
    for rule in RULES:
        own = [one for one in trials if one.rule == rule and one.some_deserve]
        if own:
            found = count_events("found", [one.found for one in own])
            wrong = count_events("wrong", [one.chose_wrong for one in own])
            rows.append([WORDS[rule], *found.cells[:3], *wrong.cells[:2]])
    head = ["decided by", "the better one adopted", "share", "95% bounds", "the one chosen is wrong", "share"]
    return markdown_table(head, rows)


def _way(way: str) -> str:
    return WORDS["corrected" if way == "corrected" else "ab"]


def _effects(
    worlds: Sequence[WorldTrials], way: str, score: str | None, lenient: bool | None
) -> list[tuple[int, EffectTrial]]:
    return [
        (world.cell.number, one)
        for world in worlds
        for one in world.effects
        if one.way == way and score in (None, one.score) and lenient in (None, one.lenient)
    ]


def _held(worlds: Sequence[WorldTrials], way: str, score: str, lenient: bool | None = None) -> Tally:
    own = _effects(worlds, way, score, lenient)
    name = f"{_way(way)}, effect on {score.replace('_', ' ')}: the interval holds the truth"
    promised = LEVEL if way == "corrected" else None
    return count_held(name, [one.held for _, one in own], [number for number, _ in own], promised=promised)


def _effects_table(worlds: Sequence[WorldTrials]) -> str:
    rows = []
    for lenient in (False, True):
        for score in EFFECTS_ON:
            for way in WAYS:
                own = [one for _, one in _effects(worlds, way, score, lenient)]
                if own:
                    errors = [one.error for one in own]
                    off, bias = (100 * sum(values) / len(own) for values in (map(abs, errors), errors))
                    figures = [f"{off:.2f}", f"{bias:+.2f}", f"{100 * sum(one.width for one in own) / len(own):.2f}"]
                    judge = "lenient" if lenient else "careful"
                    cells = _held(worlds, way, score, lenient).cells[:3]
                    rows.append([judge, score.replace("_", " "), way, *cells, *figures])
    head = ["judge", "effect on", "intervals", "hold the truth", "share", "95% bounds", "off", "bias", "width"]
    return markdown_table(head, rows)


def _vain(worlds: Sequence[WorldTrials], way: str, *, lenient: bool | None = None) -> Tally:
    own = [one for world in worlds for one in world.vain if one.way == way and lenient in (None, one.lenient)]
    name = f"{_way(way)} adopts a wording that makes models guess in vain"
    return count_events(name, [one.wrong for one in own], promised=PROMISED if way == "corrected" else None)


def _vains_table(worlds: Sequence[WorldTrials]) -> str:
    judges = {"careful": False, "lenient": True}
    rows = [
        [_way(way), judge, *tally.cells]
        for judge, lenient in judges.items()
        for way in WAYS
        for tally in (_vain(worlds, way, lenient=lenient),)
        if tally.n
    ]
    return markdown_table(["decided by", "judge", "a wording adopted", "share", "95% bounds", "promised", ""], rows)
