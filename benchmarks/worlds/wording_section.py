"""The section on wordings."""

from __future__ import annotations

from collections.abc import Sequence

from validity.tables import markdown_table

from worlds.population import MARGIN
from worlds.tallies import Tally, count_events, percent
from worlds.wording_trial import LEVEL, RULES, WordingTrial

__all__ = ["PROMISED", "buys_wordings", "claim_wordings", "wording_section"]

PROMISED = (1 - LEVEL) / 2
"""Chance that any wording is adopted that does not deserve it: one side of the level, however many are tried."""
WORDS = {
    "ab": "`ab`",
    "corrected": "`ab`'s rule, corrected for the judge",
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
Corrected for the judge are accuracy and accuracy given attempted of all models' answers together, by
`corrected_differences` with the calibration set and Holm's procedure, with the truth of these; `ab` itself does not do
this. By true scores, judge by judge:

{judges}
What the care costs, in the worlds where two wordings deserve to be adopted:

{found}"""


def wording_section(trials: Sequence[WordingTrial]) -> tuple[str, list[Tally]]:
    """The section, and what was promised."""
    head = ["decided by", "a wrong wording adopted", "share", "95% bounds", "promised", ""]
    graded = {rule: _tally(trials, rule, graded=True) for rule in RULES}
    true = {rule: _tally(trials, rule) for rule in RULES}
    judges = []
    for lenient in (False, True):
        own = [one for one in trials if one.lenient == lenient]
        judges += [
            [WORDS[rule], "lenient" if lenient else "careful", *_tally(own, rule).cells[:3]]
            for rule in ("ab", "corrected")
            if own
        ]
    text = TEMPLATE.format(
        margin=MARGIN,
        level=percent(LEVEL),
        graded=markdown_table(head, [[WORDS[rule], *graded[rule].cells] for rule in RULES if rule != "corrected"]),
        true=markdown_table(head, [[WORDS[rule], *true[rule].cells] for rule in RULES]),
        judges=markdown_table(["decided by", "judge", "a wrong wording adopted", "share", "95% bounds"], judges),
        found=_found_table(trials),
    )
    return text, claim_wordings(trials)


def claim_wordings(trials: Sequence[WordingTrial]) -> list[Tally]:
    """What is promised: of scores as graded by ``ab``, of true scores by the corrected rule."""
    return [_tally(trials, "ab", graded=True), _tally(trials, "corrected")]


def _tally(trials: Sequence[WordingTrial], rule: str, *, graded: bool = False) -> Tally:
    own = [one for one in trials if one.rule == rule]
    promised = PROMISED if rule == "corrected" or (rule == "ab" and graded) else None
    name = f"{WORDS[rule]} adopts a wrong wording, by {'scores as graded' if graded else 'true scores'}"
    return count_events(name, [one.wrong_as_graded if graded else one.wrong for one in own], promised=promised)


def buys_wordings(trials: Sequence[WordingTrial]) -> list[str]:
    """What there is without the care, in words."""
    graded = {rule: _tally(trials, rule, graded=True).share for rule in RULES}
    true = {rule: _tally(trials, rule).share for rule in RULES}
    return [
        f"By scores as graded a wrong wording is adopted in {graded['ab']} of the worlds by `ab`, in "
        f"{graded['one-by-one']} by each wording by itself, in {graded['estimates']} by estimates alone.",
        f"By true scores: {true['ab']} by `ab`, which does not correct for the judge, {true['corrected']} where its "
        f"rule is applied to corrected scores, {true['one-by-one']} by each wording by itself, {true['estimates']} by "
        "estimates alone.",
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
