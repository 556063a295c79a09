"""What a scoring's page says of the people who labelled, and of the scores by each one's labels alone."""

from __future__ import annotations

from typing import Any

from experiments.analyses.scores.scoring_raters import MOST_RATERS, Raters
from experiments.analyses.scores.scoring_results import RespondentScore, Scoring
from experiments.analyses.scores.scoring_words import SCORE_NOUNS, plain_interval, score_text, value_text
from experiments.reports.document import Block, Paragraph, Section, Table
from experiments.reports.figures import DASH, count_of

__all__ = ["by_rater_fields", "rater_fields", "rater_sentence", "raters_section"]


def raters_section(scoring: Scoring) -> Section | None:
    """Who labelled, how one label came of several, how far raters agree, and what hangs on whose labels count."""
    calibration = scoring.calibration
    if calibration is None or not calibration.raters.labels:
        return None
    raters = calibration.raters
    if len(raters.labels) == 1:
        if calibration.words.giver != "people":
            return None
        text = "One rater labelled: how far another would agree, and what the scores would be then, is not known."
        return Section("Who labelled", 2, (Paragraph(text),))
    blocks: list[Block] = [Paragraph(" ".join(_about(scoring, raters)))]
    rows = [_row(one, scoring.choice.rank_by) for one in scoring.respondents if one.by_rater]
    head = ("respondent", "majority", "lowest", "highest", "raters that identify it")
    blocks.append(Table(head, tuple(rows)))
    return Section("Who labelled", 2, tuple(blocks))


def _about(scoring: Scoring, raters: Raters) -> list[str]:
    text = [
        f"{len(raters.labels):,} raters; with labels of two or more: {count_of(raters.n_several, 'item')}. The label "
        f"of an item is what more than half of its raters gave; raters differ on {count_of(raters.disputed, 'item')}; "
        f"left out, for want of such a label: {raters.tied:,}."
    ]
    if scoring.agreement is not None:
        alpha = scoring.agreement.alpha
        value = "not defined" if alpha.value is None else f"{alpha.value:.3f}"
        if alpha.low is not None and alpha.high is not None:
            value += f" [{alpha.low:.3f}, {alpha.high:.3f}]"
        pairwise = score_text("correct", scoring.agreement.pairwise)
        text.append(f"Two raters of one item agree in {pairwise} of cases; Krippendorff's alpha {value}.")
    text.append(
        f"Below, the corrected {SCORE_NOUNS[scoring.choice.rank_by]} with each rater's labels in turn as the "
        "reference, on the items that this one labelled: lowest and highest value. No interval counts this."
    )
    if len(raters.labels) > MOST_RATERS:
        text.append(f"In turn are the {MOST_RATERS} with the most labels.")
    return text


def _row(score: RespondentScore, name: str) -> tuple[str, ...]:
    values = _values(score, name)
    low, high = DASH, DASH
    if values:
        low, high = (f"{value_text(name, value)} ({rater})" for value, rater in (values[0], values[-1]))
    corrected = score.correction.corrected
    majority = DASH if corrected is None else value_text(name, corrected[name].value)
    return score.respondent.name, majority, low, high, f"{len(values):,} of {len(score.by_rater):,}"


def _values(score: RespondentScore, name: str) -> list[tuple[float, str]]:
    """The corrected score by each rater's labels where these identify one, from the lowest up."""
    found = []
    for rater, correction in score.by_rater.items():
        value = None if correction.corrected is None else correction.corrected[name].value
        if value is not None:
            found.append((value, rater))
    return sorted(found)


def rater_sentence(scoring: Scoring) -> str:
    """For the decision: what the score would be by one rater's labels alone; empty where one person labelled."""
    if scoring.calibration is None or len(scoring.calibration.raters.labels) < 2:
        return ""
    name = scoring.choice.rank_by
    ranges = []
    for one in scoring.respondents:
        values = _values(one, name)
        if values:
            ranges.append(f"{one.respondent.name} {plain_interval(name, values[0][0], values[-1][0])}")
    raters = len(scoring.calibration.raters.labels)
    first = f"Labels are the majority's of {raters:,} raters"
    if not ranges:
        return f"{first}; no rater's labels alone identify a score."
    return f"{first}; by one rater's alone the {SCORE_NOUNS[name]} would lie within: {'; '.join(ranges)}."


def rater_fields(scoring: Scoring) -> dict[str, Any] | None:
    """Raters and their agreement as plain data."""
    if scoring.calibration is None:
        return None
    raters, agreement = scoring.calibration.raters, scoring.agreement
    return {
        "label_source": scoring.words.source,
        "n_raters": len(raters.labels),
        "n_items_of_several": raters.n_several,
        "n_disputed": raters.disputed,
        "n_tied": raters.tied,
        "pairwise_agreement": None if agreement is None else agreement.pairwise,
        "alpha": None if agreement is None else agreement.alpha,
    }


def by_rater_fields(score: RespondentScore) -> dict[str, Any]:
    """Each rater's correction as plain data: scores with their intervals, or why there are none."""
    return {
        rater: {"status": one.status, "reason": one.reason, "corrected": one.corrected}
        for rater, one in score.by_rater.items()
    }
