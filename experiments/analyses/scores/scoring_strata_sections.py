"""The part of a scoring's page that shows what hangs on the strata of the labelled items."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.analyses.scores.scoring_results import RespondentScore, Scoring
from experiments.analyses.scores.scoring_words import SCORE_NOUNS, reason_text, score_text, share_text, value_text
from experiments.analyses.scores.strata_reweighting import FieldStrata
from experiments.reports.document import Paragraph, Section, Table
from experiments.reports.figures import DASH
from experiments.stats.correction import ScoreCorrection

__all__ = ["strata_sections"]


def strata_sections(scoring: Scoring) -> Iterator[Section]:
    """By each field: the score under each stratum's error rates, and reweighted."""
    name = scoring.choice.rank_by
    for field in scoring.choice.fields:
        found = [(one, strata) for one in scoring.respondents for strata in one.strata if strata.field == field]
        if not found:
            continue
        text = (
            f"The corrected {SCORE_NOUNS[name]} with the confusion matrix reweighted to the benchmark's shares, and "
            "the lowest and highest under the error rates of one stratum alone. Difference of shares: 0% where both "
            "samples are spread alike, 100% where they have nothing in common."
        )
        blocks = (Paragraph(text), _reweighted_table(found, name), _shares_table([strata for _, strata in found]))
        yield Section(f"Error rates by {field.replace('_', ' ')}", 2, blocks)


def _reweighted_table(found: list[tuple[RespondentScore, FieldStrata]], name: str) -> Table:
    rows = []
    for one, strata in found:
        worth = DASH if strata.effective is None else f"{strata.effective:,.0f}"
        shown = strata.refused if strata.reweighted is None else _corrected(strata.reweighted, name)
        plain = _corrected(one.correction, name)
        extremes = _extremes(strata, name)
        rows.append((one.respondent.name, shown, plain, *extremes, share_text(strata.distance), worth))
    head = ("respondent", "reweighted", "corrected", "lowest", "highest", "difference of shares", "items it is worth")
    return Table(head, tuple(rows), n_text=2)


def _extremes(strata: FieldStrata, name: str) -> tuple[str, str]:
    """Lowest and highest corrected score over the strata that identify one, and whose they are."""
    values = sorted(
        (one.correction.corrected[name].value, str(one.stratum))
        for one in strata.corrections
        if one.correction.corrected is not None and one.correction.corrected[name].value is not None
    )
    if not values:
        return DASH, DASH
    low, high = (f"{value_text(name, value)} ({stratum})" for value, stratum in (values[0], values[-1]))
    return low, high


def _shares_table(found: list[FieldStrata]) -> Table:
    """Labelled items and benchmark items of each stratum, all respondents together."""
    names = sorted({stratum.name for strata in found for stratum in strata.strata})
    rows = []
    for name in names:
        own = [stratum for strata in found for stratum in strata.strata if stratum.name == name]
        rows.append(
            (name, f"{own[0].n_calibration:,}", f"{sum(one.n_benchmark for one in own):,}", _alone(found, name))
        )
    return Table(("stratum", "labelled items", "benchmark items", "identified alone"), tuple(rows))


def _alone(found: list[FieldStrata], name: str) -> str:
    """Whether the stratum's labelled items identify the scores by themselves."""
    parts = [part for strata in found for part in strata.corrections if part.stratum == name]
    identified = sum(part.correction.corrected is not None for part in parts)
    if not parts:
        return DASH
    return "no" if not identified else "yes" if identified == len(parts) else "for some"


def _corrected(correction: ScoreCorrection, name: str) -> str:
    if correction.corrected is None:
        return reason_text(correction.reason)
    return score_text(name, correction.corrected[name])
