"""The paragraph that a scoring ends in: what may be said, and what not."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.analyses.scores.ranking import RankedPair, Ranking
from experiments.analyses.scores.scoring_inputs import Benchmark, Calibration
from experiments.analyses.scores.scoring_raters_page import rater_sentence
from experiments.analyses.scores.scoring_results import RespondentScore, Scoring
from experiments.analyses.scores.scoring_sets import set_sentences
from experiments.analyses.scores.scoring_words import (
    SCORE_NOUNS,
    plain_interval,
    reason_text,
    score_text,
    value_text,
)
from experiments.analyses.scores.strata_reweighting import FieldStrata
from experiments.reports.figures import count_of
from experiments.reports.label_words import PEOPLE
from experiments.stats.correction import carry_over_note

__all__ = ["decide"]

_NAMED = 10
"""Pairs that are named; of more the ranks are given."""

FAR = 0.1
"""Strata whose shares differ by this much are named in the decision."""


def decide(scoring: Scoring) -> str:
    """What was compared, what is decided, what is not and why, at which level."""
    sentences = [_basis(scoring), *_statements(scoring), *_order(scoring), *set_sentences(scoring), *_limits(scoring)]
    return " ".join(sentence for sentence in sentences if sentence)


def _basis(scoring: Scoring) -> str:
    benchmark, errors = scoring.benchmark, scoring.errors
    level = f"{100 * scoring.choice.level:g}%"
    what = (
        f"{count_of(len(benchmark.respondents), 'respondent')}, {count_of(benchmark.n_items, 'response')} to "
        f"{count_of(benchmark.n_questions, 'question')} of {benchmark.set_title}, graded by {benchmark.grader}"
    )
    if errors is None:
        return f"{what}; level {level}."
    source = scoring.calibration.set_title if scoring.calibration else ""
    return (
        f"{what}, held against {scoring.words.givers} labels of {count_of(errors.n_items, 'item')} in "
        f"{count_of(errors.n_questions, 'question')} of {source}; level {level}."
    )


def _statements(scoring: Scoring) -> list[str]:
    """What to report of each respondent; the reason where that is not a corrected score."""
    name = scoring.choice.rank_by
    told: list[str] = []
    reasons: dict[str, list[str]] = {}
    for one in _in_order(scoring):
        graded = one.correction.uncorrected[name]
        if one.correction.corrected is None:
            reasons.setdefault(reason_text(one.correction.reason), []).append(
                f"{one.respondent.name} ({score_text(name, graded)} as graded)"
            )
        else:
            corrected = score_text(name, one.correction.corrected[name])
            told.append(f"{one.respondent.name} {corrected} (as graded {value_text(name, graded.value)})")
    sentences = [f"Report the corrected {SCORE_NOUNS[name]}: {'; '.join(told)}."] if told else []
    return sentences + [
        f"Not corrected, and to be called so wherever it is shown: {'; '.join(names)}: {reason}."
        for reason, names in reasons.items()
    ]


def _in_order(scoring: Scoring) -> list[RespondentScore]:
    """By rank, where there is one."""
    if scoring.ranking is None:
        return list(scoring.respondents)
    by_name = {one.respondent.name: one for one in scoring.respondents}
    return [by_name[place.standing.respondent] for place in scoring.ranking.places]


def _order(scoring: Scoring) -> list[str]:
    """Pairs by name where there are few, else ranks, and how many pairs are open and why."""
    ranking = scoring.ranking
    if ranking is None:
        return []
    by: dict[str, list[RankedPair]] = {words: [] for words in (*_WORDS, _NO_EVIDENCE)}
    for pair in ranking.pairs:
        by[_NO_EVIDENCE if pair.outcome == "carry-over" and pair.own is None else pair.outcome].append(pair)
    n, decided = len(ranking.pairs), len(by["decided"])
    first = f"Of {count_of(n, 'pair')} (Holm-adjusted), {decided} {'is' if decided == 1 else 'are'} decided."
    if n <= _NAMED:
        return [first, *(f"{words}: {_named(by[outcome])}." for outcome, words in _WORDS.items() if by[outcome])]
    counts = [
        f"{words}: {len(by[outcome])}." for outcome, words in _WORDS.items() if by[outcome] and words != "Decided"
    ]
    return [first, *_ranks(ranking), *counts]


def _ranks(ranking: Ranking) -> list[str]:
    """Ranks that the decided pairs leave open, and those that are left if the grader errs alike on all."""
    decided = [(place.standing.respondent, place.best, place.worst) for place in ranking.places]
    carried = [(place.standing.respondent, place.carried_best, place.carried_worst) for place in ranking.places]
    sentences = [f"Ranks that they leave open: {_listed(decided)}."]
    if carried != decided:
        sentences.append(f"Ranks if the grader errs alike on all: {_listed(carried)}.")
    return sentences


def _listed(ranks: Sequence[tuple[str, int, int]]) -> str:
    return "; ".join(f"{name} {best}" + (f" to {worst}" if worst > best else "") for name, best, worst in ranks)


_NO_EVIDENCE = "no-evidence"
"""``carry-over`` pairs for which own labelled items are wanting."""

_WORDS = {
    "decided": "Decided",
    "carry-over": "Decided only if the grader errs alike on both, as their own labelled items do not show",
    _NO_EVIDENCE: "Decided only if the grader errs alike on both, which too few labelled items of their own could show",
    "grader-error": "Undecidable through grader error, though the difference as graded is significant",
    "undecided": "Not decided",
    "uncorrected": "Order of true scores unknown, for want of a correction",
}


def _named(pairs: Sequence[RankedPair]) -> str:
    between = " over " if pairs[0].outcome in ("decided", "carry-over") else " and "
    return ", ".join(f"{pair.higher}{between}{pair.lower}" for pair in pairs)


def _limits(scoring: Scoring) -> list[str]:
    calibration = scoring.calibration
    if calibration is None or scoring.errors is None:
        return ["Without labelled items nothing is known of the grader's errors; as graded is not as it is."]
    return [
        "" if calibration.words is PEOPLE else calibration.words.source,
        _carry_over(scoring.benchmark, calibration),
        _other_grader(scoring.benchmark, calibration),
        _strata(scoring),
        _missing(scoring.respondents, scoring.choice.rank_by),
        rater_sentence(scoring),
        f"{calibration.words.givers.capitalize()} labels are taken as the truth.",
    ]


def _carry_over(benchmark: Benchmark, calibration: Calibration) -> str:
    labelled = calibration.label_of
    items = [item.digest in labelled for one in benchmark.respondents for item in one.sample.items]
    n_labelled = sum(items)
    if items and n_labelled == len(items):
        return "Every item of the benchmark has a label: these are its scores, and nothing need carry over."
    source = f"the {count_of(len(calibration.questions), 'labelled item')} of {calibration.set_title}"
    others = f"the {count_of(len(items) - n_labelled, 'item')} of the benchmark without a label"
    return carry_over_note(source, others if n_labelled else benchmark.set_title)


def _other_grader(benchmark: Benchmark, calibration: Calibration) -> str:
    if calibration.same_grader:
        return ""
    return f"That {calibration.grader} errs as {benchmark.grader} does is assumed by who asked for this page."


def _strata(scoring: Scoring) -> str:
    if scoring.choice.reweight is not None:
        return f"The error rates are reweighted to the benchmark's shares of {_word(scoring.choice.reweight)}."
    found: dict[str, list[str]] = {}
    for one in _in_order(scoring):
        for strata in one.strata:
            if strata.distance >= FAR:
                found.setdefault(strata.field, []).append(_shift(one, strata, scoring.choice.rank_by))
    own = found.pop("respondent", [])
    others = [f"{_word(field)} ({'; '.join(dict.fromkeys(shifts))})" for field, shifts in found.items()]
    sentences = [f"By the errors on its own labelled items: {'; '.join(own)}."] if own else []
    if others:
        sentences.append(
            f"The labelled items are spread otherwise than the benchmark's by {', by '.join(others)}: compare the "
            "reweighted scores."
        )
    return " ".join(sentences)


def _shift(score: RespondentScore, strata: FieldStrata, name: str) -> str:
    """What reweighting would make of the corrected score."""
    who = score.respondent.name
    if strata.refused:
        return f"{who}: {strata.refused}" if strata.field == "respondent" else strata.refused
    corrected = strata.reweighted.corrected if strata.reweighted else None
    return f"{who}: not identified" if corrected is None else f"{who} {value_text(name, corrected[name].value)}"


def _missing(scores: Sequence[RespondentScore], name: str) -> str:
    parts = []
    for one in scores:
        bounds = None if one.bounds is None else one.bounds[name]
        if bounds is not None:
            absent = one.respondent.sample.n_expected - one.respondent.sample.n_verdicts
            part = f"{one.respondent.name} {absent:,} {plain_interval(name, *bounds)}"
            open_ends = None if one.corrected_bounds is None else one.corrected_bounds[name]
            if open_ends is not None:
                without = count_of(one.without_verdict, "item")
                part += f", corrected {plain_interval(name, *open_ends)} for {without} without any"
            parts.append(part)
    if not parts:
        return ""
    return (
        f"Verdicts are missing, and the intervals leave them out (how many, and the {SCORE_NOUNS[name]} as graded if "
        f"all were wrong or all right): {'; '.join(parts)}."
    )


def _word(field: str) -> str:
    return field.replace("_", " ")
