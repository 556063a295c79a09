"""The tables of a scoring's page."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.analyses.scores.ranking import Ranking
from experiments.analyses.scores.score_table import ScoreContrast
from experiments.analyses.scores.scoring_results import RespondentScore, Scoring
from experiments.analyses.scores.scoring_words import (
    SCORE_NOUNS,
    SCORE_WORDS,
    difference_text,
    p_text,
    plain_interval,
    reason_text,
    score_text,
    share_text,
    value_text,
)
from experiments.reports.document import Block, Paragraph, Section, Table
from experiments.reports.figures import DASH, count_of, percent
from experiments.stats.estimate import Estimate

__all__ = [
    "budget_section",
    "difference_sections",
    "errors_section",
    "ranking_section",
    "score_sections",
]

_OUTCOMES = {
    "decided": "decided",
    "carry-over": "if errors carry over",
    "grader-error": "undecidable: grader error",
    "undecided": "undecided",
    "uncorrected": "uncorrected",
}

_TABLED = ("f1", "correct", "accuracy_given_attempted", "attempted", "not_attempted")
"""Scores whose differences are shown; all others are in the JSON."""

_FULL = 10
"""Of more pairs than this only the differences of the ranked score are shown."""

_METHODS = {"delta": "by the delta method", "bootstrap": "by bootstrap of questions"}

_OF_ATTEMPTS = ("not_attempted", "attempted", "accuracy_given_attempted", "f1")


def _shown(scoring: Scoring) -> list[str]:
    """Scores that say something of their own: without a label of no attempt, those of attempts do not."""
    ranked = scoring.choice.rank_by
    return [name for name in SCORE_WORDS if scoring.has_attempts or name == ranked or name not in _OF_ATTEMPTS]


def errors_section(scoring: Scoring) -> Section | None:
    """What the grader says where people, or whoever labelled, say what."""
    errors = scoring.errors
    if errors is None:
        return None
    rows = []
    for label, counts, rates in zip(scoring.labels, errors.confusion.counts, errors.confusion.rates, strict=True):
        known = [DASH if rate is None else f"{100 * rate:.1f}%" for rate in rates]
        rows.append((label, f"{sum(counts):,}", *known))
    text = (
        f"False negatives {_rate(errors.false_negative_rate)}, false positives {_rate(errors.false_positive_rate)}, on "
        f"{count_of(errors.n_items, 'item')} in {count_of(errors.n_questions, 'question')}."
    )
    if scoring.unused:
        text += f" No verdict and no label is {', '.join(scoring.unused)}: left off the scale."
    table = Table((scoring.words.say, "verdicts", *(f"grader: {label}" for label in scoring.labels)), tuple(rows))
    return Section("The grader's errors", 2, (Paragraph(text), table))


def score_sections(scoring: Scoring) -> Iterator[Section]:
    """Each respondent's scores as graded and corrected."""
    for one in scoring.respondents:
        sample = one.respondent.sample
        text = (
            f"{count_of(sample.n_items, 'item')} on {count_of(len(set(one.respondent.questions)), 'question')}, "
            f"{one.shared_questions:,} of them with a labelled item; coverage {percent(sample.coverage)}, repeats "
            f"{sample.most_repeats}."
        )
        blocks: list[Block] = [Paragraph(text), _score_table(one, scoring)]
        blocks += [Paragraph(note) for note in _notes(one, scoring.choice.box)]
        yield Section(one.respondent.name, 2, tuple(blocks))


def _score_table(score: RespondentScore, scoring: Scoring) -> Table:
    corrected, powered, box = score.correction.corrected, score.powered, scoring.choice.box
    columns = ["score", "as graded", "corrected"]
    columns += [f"if rates off by {100 * box:g} points"] if score.box else []
    columns += ["PPI++"] if powered is not None else []
    columns += ["as graded, missing verdicts allow"] if score.bounds is not None else []
    columns += ["corrected, missing items allow"] if score.corrected_bounds is not None else []
    rows = []
    for name in _shown(scoring):
        row = [SCORE_WORDS[name], score_text(name, score.correction.uncorrected[name])]
        row.append(score_text(name, corrected[name] if corrected else None))
        row += [_range(name, score.box[name].low, score.box[name].high)] if score.box else []
        row += [score_text(name, powered[name].estimate)] if powered is not None else []
        for bounds in (score.bounds, score.corrected_bounds):
            row += [] if bounds is None else [_range(name, *(bounds[name] or (None, None)))]
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows))


def _notes(score: RespondentScore, box: float) -> Iterator[str]:
    correction = score.correction
    if correction.corrected is None:
        yield f"Uncorrected: {reason_text(correction.reason)}."
    elif correction.shares is not None and correction.shares.message:
        yield f"At the edge: {correction.shares.message}."
    if correction.undefined_resamples:
        left_out = "could not be solved and {} left out".format("is" if correction.undefined_resamples == 1 else "are")
        yield f"{count_of(correction.undefined_resamples, 'resample')} {left_out}."
    if score.corrected_bounds is not None:
        yield (
            f"Left out of what is corrected: {count_of(score.without_verdict, 'item')} without any verdict; the bounds "
            "are its values if all such items were wrong, right or not attempted."
        )
    if any(one.unidentified for one in score.box.values()):
        share = max(one.unidentified for one in score.box.values())
        yield f"At {percent(share)} of the error rates within {100 * box:g} points nothing is identified."
    if score.powered is not None:
        powers = sorted({round(one.power, 3) for one in score.powered.values()})
        yield f"PPI++ weighs the grader by {powers[0]:g} to {powers[-1]:g}; it rests on labels of a random part."
    elif not score.powered_reason.startswith("not stated"):
        yield f"No PPI++: {score.powered_reason}."


def budget_section(scoring: Scoring) -> Section | None:
    """Where the variance of the corrected score comes from."""
    name = scoring.choice.rank_by
    rows = []
    for one in scoring.respondents:
        budget = one.budgets.get(name)
        if budget is not None:
            shares = [budget.questions, budget.repeats, budget.grader_error, budget.calibration]
            shares += [budget.shared] if scoring.shared else []
            error = value_text(name, budget.variance**0.5)
            rows.append((one.respondent.name, error, *(share_text(share) for share in shares)))
    if not rows:
        return None
    head = ["respondent", "standard error", "questions", "repeats", "grader error", "calibration size"]
    text = (
        f"Shares of the variance of the corrected {SCORE_NOUNS[name]}, by the delta method and by question. More "
        "questions lessen the first, more repeats the second, more labels the fourth, a better grader all but the "
        "first."
    )
    if scoring.shared:
        head.append("shared questions")
        text += (
            " Shared questions: what benchmark and labelled items of the same question add together, or, below 0, take."
        )
    if any(row[3] == DASH for row in rows):
        text += " Without repeats their noise is part of grader error and calibration size."
    return Section("Where the variance comes from", 2, (Paragraph(text), Table(tuple(head), tuple(rows))))


def difference_sections(scoring: Scoring) -> Iterator[Section]:
    """Differences as in the tables of papers."""
    if scoring.contrasts:
        yield _differences("Differences between respondents", scoring, scoring.contrasts)
    if scoring.set_contrasts:
        yield _differences("Differences between sets", scoring, scoring.set_contrasts, adjusted=True)


def _differences(
    heading: str, scoring: Scoring, contrasts: tuple[ScoreContrast, ...], *, adjusted: bool = False
) -> Section:
    """With ``adjusted`` p-values beside the raw ones, where no ranking shows them."""
    ranked = scoring.choice.rank_by
    few = scoring.has_attempts and len(contrasts) <= _FULL
    names = list(dict.fromkeys([*_TABLED, ranked])) if few else [ranked]
    rows = [_difference_row(one, name, adjusted=adjusted) for one in contrasts for name in names]
    holm = ("p, Holm",) * adjusted
    head = ("difference", "questions", "score", "as graded", "p", *holm, "corrected", "p, corrected", *holm)
    text = (
        "First less second, in points; * where the raw p-value is below 0.05, without regard to how many are tested. "
        + ("Holm: adjusted over the comparisons of one score. " if adjusted else "")
        + "Corrected differences count once what both share, questions and calibration; intervals and p "
        f"{_METHODS[scoring.choice.method]}. Other scores: --format json."
    )
    return Section(heading, 2, (Paragraph(text), Table(head, tuple(rows), n_text=3)))


def _difference_row(contrast: ScoreContrast, name: str, *, adjusted: bool) -> tuple[str, ...]:
    same_set = contrast.first_set == contrast.second_set
    pair = f"{contrast.first} - {contrast.second}" if same_set else _set_pair(contrast)
    how = f"paired, {contrast.common:,}" if contrast.paired else f"unpaired, {contrast.common:,} of both"
    cells = [pair, how, SCORE_WORDS[name]]
    for one, holm in (
        (contrast.graded[name], contrast.graded_adjusted),
        (contrast.corrected_of(name), contrast.corrected_adjusted),
    ):
        cells += [difference_text(name, one, star=True), p_text(one.p_value if one else None)]
        cells += [p_text(holm.get(name))] if adjusted else []
    return tuple(cells)


def _set_pair(contrast: ScoreContrast) -> str:
    return f"{contrast.first}, {contrast.first_set} - {contrast.second}, {contrast.second_set}"


def ranking_section(scoring: Scoring) -> Section | None:
    """Places, and each pair with what decides it."""
    ranking = scoring.ranking
    if ranking is None:
        return None
    name = ranking.score
    own = any(pair.own is not None for pair in ranking.pairs)
    head = ["pair", "outcome", "as graded", "p, Holm", "corrected", "p", "p, Holm"]
    rows = []
    for pair in ranking.pairs:
        row = [f"{pair.higher} - {pair.lower}", _OUTCOMES[pair.outcome], difference_text(name, pair.graded)]
        row += [p_text(pair.graded_adjusted), difference_text(name, pair.corrected)]
        row += [p_text(pair.corrected.p_value if pair.corrected else None), p_text(pair.corrected_adjusted)]
        row += [difference_text(name, pair.own), p_text(pair.own_adjusted)] if own else []
        rows.append(tuple(row))
    head += ["own error rates", "p, Holm"] if own else []
    text = (
        f"By the corrected {SCORE_NOUNS[name]}; ranks are what the decided pairs leave open. Both scores of a pair "
        "move with the same calibration items and questions, and the interval of their difference counts that."
    )
    if own:
        text += " Own error rates: each respondent corrected by the labelled items of its own responses."
    if any(pair.outcome == "carry-over" for pair in ranking.pairs):
        text += (
            " If errors carry over: what the corrected differences decide if the grader errs alike on both, which "
            "labelled items of their own do not show, or are too few to."
        )
    return Section("Ranking", 2, (Paragraph(text), _places_table(ranking), Table(tuple(head), tuple(rows), n_text=2)))


def _places_table(ranking: Ranking) -> Table:
    """Ranks by the decided pairs, and beside them those by pairs that hang on errors that carry over."""
    carried = any((one.best, one.worst) != (one.carried_best, one.carried_worst) for one in ranking.places)
    rows = []
    for place in ranking.places:
        row = [_ranks(place.best, place.worst)] + ([_ranks(place.carried_best, place.carried_worst)] if carried else [])
        scores = (place.standing.graded, place.standing.corrected)
        rows.append((*row, place.standing.respondent, *(score_text(ranking.score, one) for one in scores)))
    head = ("rank", *(("if errors carry over",) if carried else ()), "respondent", "as graded", "corrected")
    return Table(head, tuple(rows), n_text=3 if carried else 2)


def _ranks(best: int, worst: int) -> str:
    return f"{best}" if best == worst else f"{best} to {worst}"


def _range(name: str, low: float | None, high: float | None) -> str:
    return DASH if low is None or high is None else plain_interval(name, low, high)


def _rate(estimate: Estimate) -> str:
    return score_text("correct", estimate)
