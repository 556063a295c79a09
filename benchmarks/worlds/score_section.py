"""The section on scores."""

from __future__ import annotations

from collections.abc import Sequence

from validity.tables import markdown_table

from worlds.score_trial import LEVEL, N_SCORED, RANK_BY, SHOWN, WAYS, ScoreTrial
from worlds.tallies import Tally, count_events, count_held, percent
from worlds.trials import WorldTrials

__all__ = ["buys_scores", "claim_scores", "score_section"]

Scored = tuple[int, ScoreTrial]
TEMPLATE = """\
## How wide: `score`

The control's answers of the first {models} models, all derived scores, intervals at {level} (delta method). "As graded"
is the score and interval that the judge's verdicts give by themselves: it allows for questions, and not for the judge.
"Error rates taken as exact" corrects the score and forgets that the calibration set is a sample. Off is the mean size
of the error and bias the mean error, in points like the width. A score that the error rates do not identify is not
given and not counted.

{ways}
{judges}
By score, over all worlds:

{scores}
In the penalised score a wrong answer costs as much as a right one gives; the index is a hundred times that, and
accuracy is the share of right answers, `correct`.

### Order of the models

All pairs by F1. An interval of a difference should hold the true one; a pair is decided at a Holm-adjusted p of .05,
and in no more than 5% of the worlds may any be decided in the wrong order.

{orders}"""


def score_section(trials: Sequence[WorldTrials]) -> tuple[str, list[Tally]]:
    """The section, and what was promised."""
    scored = _scored(trials)
    head = ["intervals", "hold the truth", "share", "95% bounds", "promised", "", "off", "width"]
    text = TEMPLATE.format(
        models=N_SCORED,
        level=percent(LEVEL),
        ways=markdown_table(head, [_row(scored, way) for way in WAYS]),
        judges=_judges_table(scored),
        scores=_scores_table(scored),
        orders=_orders_table(trials),
    )
    return text, claim_scores(trials)


def claim_scores(trials: Sequence[WorldTrials]) -> list[Tally]:
    """What is promised: of each corrected score, of all together, and of the order."""
    scored = _scored(trials)
    each = [
        _held([one for one in scored if one[1].score == name], "corrected", f", {name.replace('_', ' ')}")
        for name in SHOWN
    ]
    return [_held(scored, "corrected", ""), *each, _differences(trials, "corrected"), _wrong(trials, "corrected")]


def buys_scores(trials: Sequence[WorldTrials]) -> list[str]:
    """What there is without the care, in words."""
    scored = _scored(trials)
    shares = [_held(scored, way, "").share for way in WAYS]
    lenient = [one for one in scored if one[1].lenient]
    line = (
        f"Intervals hold the true score in {shares[0]} as graded, in {shares[1]} corrected, and in {shares[2]} "
        "corrected with error rates taken as exact"
    )
    if lenient:
        line += f"; with the lenient judge in {_held(lenient, WAYS[0], '').share} as graded"
        line += f" and {_held(lenient, WAYS[1], '').share} corrected"
    gaps = [_differences(trials, way).share for way in WAYS[:2]]
    return [f"{line}.", f"Intervals of a difference of two models: {gaps[0]} as graded, {gaps[1]} corrected."]


def _scored(trials: Sequence[WorldTrials]) -> list[Scored]:
    return [(world.cell.number, one) for world in trials for one in world.scores]


def _of(scored: Sequence[Scored], way: str) -> list[Scored]:
    return [one for one in scored if one[1].way == way and one[1].held is not None]


def _held(scored: Sequence[Scored], way: str, what: str) -> Tally:
    own = _of(scored, way)
    name = f"`score`, {way}{what}: the interval holds the truth"
    held, worlds = [bool(one.held) for _, one in own], [number for number, _ in own]
    return count_held(name, held, worlds, promised=LEVEL if way == "corrected" else None)


def _row(scored: Sequence[Scored], way: str) -> list[str]:
    own = [one for _, one in _of(scored, way)]
    return [way, *_held(scored, way, "").cells, _points(own), _width(own)]


def _points(own: Sequence[ScoreTrial]) -> str:
    """Mean size of the error."""
    return f"{100 * sum(abs(one.error) for one in own) / max(len(own), 1):.2f}"


def _bias(own: Sequence[Scored]) -> str:
    return f"{100 * sum(one.error for _, one in own) / max(len(own), 1):+.2f}"


def _width(own: Sequence[ScoreTrial]) -> str:
    return f"{100 * sum(one.width for one in own) / max(len(own), 1):.2f}"


def _judges_table(scored: Sequence[Scored]) -> str:
    rows = []
    for lenient in (False, True):
        own = [one for one in scored if one[1].lenient == lenient]
        for way in WAYS if own else ():
            row = _row(own, way)
            rows.append(["lenient" if lenient else "careful", *row[:4], *row[6:]])
    return markdown_table(["judge", "intervals", "hold the truth", "share", "95% bounds", "off", "width"], rows)


def _scores_table(scored: Sequence[Scored]) -> str:
    rows = []
    for name in SHOWN:
        own = [one for one in scored if one[1].score == name]
        graded, corrected = (_held(own, way, "") for way in WAYS[:2])
        rows.append(
            [
                name.replace("_", " "),
                graded.share,
                _bias(_of(own, WAYS[0])),
                *corrected.cells[1:],
                _bias(_of(own, WAYS[1])),
            ]
        )
    head = ["score", "as graded holds", "bias", "corrected holds", "95% bounds", "promised", "", "bias"]
    return markdown_table(head, rows)


def _orders_table(trials: Sequence[WorldTrials]) -> str:
    rows = []
    for way in WAYS[:2]:
        own = [one for world in trials for one in world.orders if one.way == way]
        pairs, decided = sum(one.pairs for one in own), sum(one.decided for one in own)
        wrong = sum(one.wrong for one in own)
        share = percent(decided / pairs) if pairs else "—"
        rows.append([way, *_differences(trials, way).cells[1:3], share, f"{wrong:,}", *_wrong(trials, way).cells])
    head = ["differences", "hold", "95% bounds", "pairs decided", "wrongly", "worlds with a wrong one"]
    return markdown_table([*head, "share", "95% bounds", "promised", ""], rows)


def _differences(trials: Sequence[WorldTrials], way: str) -> Tally:
    held, worlds = [], []
    for world in trials:
        for one in world.orders:
            if one.way == way:
                held += [True] * one.held + [False] * (one.pairs - one.held)
                worlds += [world.cell.number] * one.pairs
    name = f"`score`, {way}, difference of two models in {RANK_BY}: the interval holds the truth"
    return count_held(name, held, worlds, promised=LEVEL if way == "corrected" else None)


def _wrong(trials: Sequence[WorldTrials], way: str) -> Tally:
    events = [one.wrong > 0 for world in trials for one in world.orders if one.way == way]
    name = f"`score`, {way}: any pair of models in the wrong order"
    return count_events(name, events, promised=1 - LEVEL if way == "corrected" else None)
