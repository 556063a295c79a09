"""A scoring as the sections of a page and as plain data; the page ends in the decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from experiments.analyses.partial_answers import PARTIAL_NOTE, THREE_CLASSES
from experiments.analyses.scores.ranking import Place, RankedPair
from experiments.analyses.scores.score_table import ScoreContrast
from experiments.analyses.scores.scoring_decision import decide
from experiments.analyses.scores.scoring_inputs import Benchmark, Calibration
from experiments.analyses.scores.scoring_raters_page import by_rater_fields, rater_fields, raters_section
from experiments.analyses.scores.scoring_results import GraderErrors, RespondentScore, Scoring
from experiments.analyses.scores.scoring_sections import (
    budget_section,
    difference_sections,
    errors_section,
    ranking_section,
    score_sections,
)
from experiments.analyses.scores.scoring_strata_sections import strata_sections
from experiments.analyses.scores.strata_reweighting import FieldStrata
from experiments.reports.document import Document, Paragraph, Section
from experiments.reports.figures import count_of
from experiments.reports.label_words import PEOPLE
from experiments.stats.correction import CorrectedDifferences, ScoreCorrection

__all__ = ["SCHEMA", "build_scoring_page", "scoring_fields"]

SCHEMA = "autorater.score/1"
"""Name and version of the JSON form."""

Fields = dict[str, Any]


def build_scoring_page(scoring: Scoring) -> Document:
    """All sections, the decision last."""
    benchmark = scoring.benchmark
    head = Section(f"Scores of {benchmark.run_id}", 1, (Paragraph(_about(benchmark, scoring.calibration)),))
    sections = [
        head,
        errors_section(scoring),
        raters_section(scoring),
        *score_sections(scoring),
        budget_section(scoring),
        *strata_sections(scoring),
        *difference_sections(scoring),
        ranking_section(scoring),
        Section("Decision", 2, (Paragraph(decide(scoring)),)),
    ]
    return Document(tuple(section for section in sections if section is not None))


def scoring_fields(scoring: Scoring) -> Fields:
    """The same as plain data, with everything that the page leaves out for want of room."""
    benchmark, calibration = scoring.benchmark, scoring.calibration
    return {
        "schema": SCHEMA,
        "benchmark": _benchmark(benchmark),
        "calibration": None if calibration is None else _calibration(calibration),
        "raters": rater_fields(scoring),
        "choice": asdict(scoring.choice),
        "labels": list(scoring.labels),
        "unused_labels": list(scoring.unused),
        "grader_errors": None if scoring.errors is None else _errors(scoring.errors),
        "respondents": [_respondent(one) for one in scoring.respondents],
        "differences": [_contrast(one) for one in scoring.contrasts],
        "set_differences": [_contrast(one) for one in scoring.set_contrasts],
        "ranking": None
        if scoring.ranking is None
        else {
            "score": scoring.ranking.score,
            "places": [_place(place) for place in scoring.ranking.places],
            "pairs": [_pair(pair) for pair in scoring.ranking.pairs],
        },
        "decision": decide(scoring),
    }


def _about(benchmark: Benchmark, calibration: Calibration | None) -> str:
    about = (
        f"{count_of(benchmark.n_items, 'response')} to {count_of(benchmark.n_questions, 'question')}, set "
        f"{benchmark.set_title}, graded by "
        f"{benchmark.grader}."
    )
    if benchmark.computed:
        about += " Verdicts are the likeliest label of each item's computed distribution."
    if benchmark.scale.name == THREE_CLASSES.name:
        about += f" {PARTIAL_NOTE}"
    if calibration is None:
        return f"{about} No calibration: nothing is corrected."
    n_labelled = count_of(len(calibration.questions), "labelled item")
    labels = f"{n_labelled} of {calibration.set_title} (run {calibration.run_id})"
    source = "" if calibration.words is PEOPLE else f" {calibration.words.source}"
    left_out = {
        ("label", "of a text that has changed"): calibration.stale,
        ("item", "whose people were divided"): calibration.tied,
        ("item", "without a label"): calibration.unlabelled,
    }
    omitted = ", ".join(f"{count_of(count, noun)} {words}" for (noun, words), count in left_out.items() if count)
    text = f"{about} Errors of {calibration.grader} from {labels}{f'; left out: {omitted}' if omitted else ''}.{source}"
    if calibration.rubric != calibration.grader_rubric:
        text += f" Labels are under {calibration.rubric}; the grader follows {calibration.grader_rubric}."
    if not calibration.same_grader:
        text += f" It is not the grader of the benchmark ({benchmark.grader}): that its errors are the same is assumed."
    return text


def _benchmark(benchmark: Benchmark) -> Fields:
    return {
        "run": benchmark.run_id,
        "set": benchmark.set_title,
        "grader": benchmark.grader,
        "grader_id": benchmark.grader_id,
        "scale": list(benchmark.scale.labels),
        "correct": benchmark.correct,
        "not_attempted": benchmark.not_attempted,
        "computed": benchmark.computed,
        "n_items": benchmark.n_items,
        "n_questions": benchmark.n_questions,
    }


def _calibration(calibration: Calibration) -> Fields:
    return {
        "run": calibration.run_id,
        "set": calibration.set_title,
        "grader": calibration.grader,
        "same_grader": calibration.same_grader,
        "rubric": calibration.rubric,
        "grader_rubric": calibration.grader_rubric,
        "n_items": calibration.sample.n_items,
        "n_questions": len(set(calibration.questions)),
        "coverage": calibration.sample.coverage,
        "failures": calibration.sample.failure_counts,
        "stale_labels": calibration.stale,
        "tied": calibration.tied,
        "unlabelled": calibration.unlabelled,
    }


def _errors(errors: GraderErrors) -> Fields:
    return asdict(errors)


def _respondent(score: RespondentScore) -> Fields:
    sample = score.respondent.sample
    return {
        "respondent": score.respondent.name,
        "n_items": sample.n_items,
        "n_questions": len(set(score.respondent.questions)),
        "questions_with_labels": score.shared_questions,
        "n_expected": sample.n_expected,
        "n_verdicts": sample.n_verdicts,
        "coverage": sample.coverage,
        "failures": sample.failure_counts,
        "bounds": score.bounds,
        "n_without_verdict": score.without_verdict,
        "corrected_bounds": score.corrected_bounds,
        **_correction(score.correction),
        "error_budget": {name: None if one is None else asdict(one) for name, one in score.budgets.items()},
        "box": {name: asdict(one) for name, one in score.box.items()},
        "prediction_powered": None
        if score.powered is None
        else {name: asdict(one) for name, one in score.powered.items()},
        "prediction_powered_reason": score.powered_reason,
        "strata": [_strata(one) for one in score.strata],
        "by_rater": by_rater_fields(score),
    }


def _correction(correction: ScoreCorrection) -> Fields:
    return {
        "status": correction.status,
        "reason": correction.reason,
        "as_graded": {name: asdict(one) for name, one in correction.uncorrected.items()},
        "corrected": None
        if correction.corrected is None
        else {name: asdict(one) for name, one in correction.corrected.items()},
        "shares": None if correction.shares is None else asdict(correction.shares),
        "identification": None if correction.identification is None else asdict(correction.identification),
        "undefined_resamples": correction.undefined_resamples,
    }


def _strata(strata: FieldStrata) -> Fields:
    return {
        "field": strata.field,
        "distance": strata.distance,
        "strata": [asdict(one) for one in strata.strata],
        "by_stratum": [
            {"stratum": one.stratum, "n": one.n, **_correction(one.correction)} for one in strata.corrections
        ],
        "reweighted": None if strata.reweighted is None else _correction(strata.reweighted),
        "effective_items": strata.effective,
        "refused": strata.refused,
    }


def _contrast(contrast: ScoreContrast) -> Fields:
    return {
        "first": contrast.first,
        "second": contrast.second,
        "first_set": contrast.first_set,
        "second_set": contrast.second_set,
        "paired": contrast.paired,
        "common_questions": contrast.common,
        "only_first": contrast.only_first,
        "only_second": contrast.only_second,
        "as_graded": {name: asdict(one) for name, one in contrast.graded.items()},
        "as_graded_adjusted_p": dict(contrast.graded_adjusted),
        "corrected": _differences(contrast.corrected),
        "corrected_adjusted_p": dict(contrast.corrected_adjusted),
        "reason": contrast.corrected.reason,
        "undefined_resamples": contrast.corrected.undefined_resamples,
    }


def _differences(found: CorrectedDifferences) -> Mapping[str, Fields] | None:
    if found.differences is None:
        return None
    return {name: asdict(one) for name, one in found.differences.items()}


def _place(place: Place) -> Fields:
    return {
        "respondent": place.standing.respondent,
        "as_graded": asdict(place.standing.graded),
        "corrected": None if place.standing.corrected is None else asdict(place.standing.corrected),
        "best_rank": place.best,
        "worst_rank": place.worst,
        "best_rank_if_errors_carry_over": place.carried_best,
        "worst_rank_if_errors_carry_over": place.carried_worst,
    }


def _pair(pair: RankedPair) -> Fields:
    return {
        "higher": pair.higher,
        "lower": pair.lower,
        "as_graded": asdict(pair.graded),
        "as_graded_adjusted_p": pair.graded_adjusted,
        "corrected": None if pair.corrected is None else asdict(pair.corrected),
        "corrected_adjusted_p": pair.corrected_adjusted,
        "own_error_rates": None if pair.own is None else asdict(pair.own),
        "own_adjusted_p": pair.own_adjusted,
        "outcome": pair.outcome,
    }
