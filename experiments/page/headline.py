"""What a run decides, in one sentence with its numbers, and the paragraphs behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.analyses.choice import choosing_words
from experiments.analyses.choice.candidate_rates import CandidateRates
from experiments.analyses.choice.choosing import Choice, Recommendation
from experiments.analyses.choice.choosing_words import RATE_WORDS, rate_cell
from experiments.analyses.run_decisions import RunDecisions
from experiments.analyses.wordings import ab_words
from experiments.analyses.wordings.wording_comparison import WordingResult
from experiments.page.rubric_sentences import rubric_sentence
from experiments.reports.figures import count_of, percent, rate_text
from experiments.reports.label_words import label_words
from experiments.reports.summary_rates import summary_rates
from experiments.specs.decisions import ErrorName

__all__ = ["BOUNDS", "Headline", "build_headline"]

BOUNDS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Error rates that are worth knowing to be out of reach."""

MOST_TOLD = 3
"""Graders whose figures stand in the sentence where none is chosen."""

_WHOSE = {"grader": "grader's prompt", "answer": "answer prompt"}
_BOTH: tuple[ErrorName, ...] = ("false_negative_rate", "false_positive_rate")

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Headline:
    """The sentence, and titled paragraphs that a careful person would sign."""

    sentence: str
    paragraphs: tuple[tuple[str, str], ...]


def build_headline(report: Fields, decided: RunDecisions, *, answering: bool) -> Headline:
    """The decision by the rule that the experiment wrote; without one between graders, or what is known of one.

    Parameters
    ----------
    report
        Of :func:`experiments.reports.build_report`.
    decided
        What ``choose`` and ``ab`` say of the run.
    answering
        Whether the run asked for the responses, which nobody has labelled.
    """
    return Headline(_sentence(report, decided, answering=answering), tuple(_paragraphs(decided)))


def _sentence(report: Fields, decided: RunDecisions, *, answering: bool) -> str:
    wordings, choice = decided.wordings, decided.choice
    if wordings is not None and wordings.rule is not None:
        return _of_wordings(wordings)
    if answering:
        return (
            "Nobody has labelled these answers, so nothing here says how often the grader is wrong; without a rule in "
            "the experiment no wording is chosen."
        )
    if not any(grader["n_labelled"] for grader in report["graders"]):
        return _without_labels(report["graders"])
    if choice is not None and len(choice.candidates) > 1:
        return _of_choice(choice)
    if summary_rates(report["graders"], positive=report["set"]["scale"]["positive"]).group is not None:
        return rubric_sentence([(_name(one), one) for one in report["graders"]], report["set"])
    if len(report["graders"]) > 1:
        return _of_graders(report["graders"], decided.notes)
    return _of_grader(report["graders"][0], report)


def _paragraphs(decided: RunDecisions) -> Iterator[tuple[str, str]]:
    wordings, choice = decided.wordings, decided.choice
    if wordings is not None:
        yield f"Which wording of the {_WHOSE[wordings.facts.kind]}", ab_words.decision_text(wordings)
    if choice is not None and len(choice.candidates) > 1:
        yield "Which grader", choosing_words.decision_text(choice)


def _of_wordings(result: WordingResult) -> str:
    facts, chosen = result.facts, result.chosen
    rests = f"on {count_of(facts.n_questions, 'question')} in {count_of(len(facts.models), 'model')}"
    undecided = [one.wording for one in result.decisions if one.undecided]
    if chosen is None and undecided:
        return (
            f"Not decided, {rests}: {', '.join(undecided)} would be adopted if what is missing were like the rest, and "
            "not if it went against it."
        )
    if chosen is None:
        n = len(facts.wordings) - 1
        others = "the other wording does not meet" if n == 1 else f"none of the {n} other wordings meets"
        return f"Keep {result.control}: {others} the rule, {rests}."
    checks = "; ".join(
        f"{ab_words.name_of(check.quantity)} {ab_words.point_cell(check.quantity, check.value)} points, lower end "
        f"{ab_words.point_cell(check.quantity, check.low)}"
        for check in chosen.checks
    )
    return f"Adopt {chosen.wording} in place of {result.control}: {checks}, {rests}."


def _of_choice(choice: Choice) -> str:
    """What is decided comes first; where several may be the best, that, and then the one that the rule takes."""
    found, of_all = choice.recommendation, f"{len(choice.candidates):,}"
    unlike = f"{len(choice.finalists):,} of {of_all} graders are not distinguishable from the best"
    if found.name is None and found.hanging:
        return f"Not decided: which of {of_all} graders is best hangs on verdicts that are missing."
    if found.name is None:
        return f"No grader is recommended: none of {of_all} is shown to be fit under the rule."
    shown = _choice_rates(next(rates for rates in choice.rates if rates.name == found.name))
    if len(choice.finalists) == 1 and not found.provisional:
        return f"Take {found.name}: {shown}; of {of_all} it alone can be the best."
    missing = "no grader is shown to keep the limits" if found.provisional else ""
    several = unlike if len(choice.finalists) > 1 else ""
    undecided = " and ".join(filter(None, (missing, several)))
    return f"Not decided: {undecided}. If one must be taken, {_taken(found)}: {shown}."


def _taken(found: Recommendation) -> str:
    """The one that the rule takes among several, and by what."""
    if found.tied:
        equal = "cost and rate" if found.by == "cost" else "the rate observed"
        return f"{found.name}, with {len(found.tied):,} more exactly equal in {equal}"
    why = {"cost": ", by its cost", "rate": ", by the lowest rate observed"}.get(found.by, "")
    if found.hanging:
        return f"{found.name}{why} among those whose place does not hang on missing verdicts"
    return f"{found.name}{why}"


def _choice_rates(own: CandidateRates) -> str:
    return ", ".join(f"{RATE_WORDS[rate]} {rate_cell(own.rates[rate])}{_if_wrong(own.bounds[rate])}" for rate in _BOTH)


def _if_wrong(bounds: Sequence[float] | None) -> str:
    return f" ({percent(bounds[1])} if all missing verdicts were wrong)" if bounds else ""


def _of_graders(graders: Sequence[Fields], notes: Sequence[str]) -> str:
    """Why none is chosen, and what is known of each of the first few."""
    told = "; ".join(
        f"{_name(one)}: agreement {rate_text(one['agreement']['raw'])}, {percent(one['coverage'])} of verdicts valid"
        for one in graders[:MOST_TOLD]
    )
    more = f"; and {len(graders) - MOST_TOLD:,} more" if len(graders) > MOST_TOLD else ""
    why = f" ({notes[0]})" if notes else ""
    return f"No choice is made between these {len(graders):,} graders{why}. {told}{more}."


def _of_grader(grader: Fields, report: Fields) -> str:
    words = label_words(report["set"])
    rates = (
        f"{RATE_WORDS[rate]} {rate_text(grader[rate], words.retold(grader['not_defined'].get(rate)))}"
        f"{_bound(grader, rate)}"
        for rate in _BOTH
    )
    return f"{_name(grader)}: {'; '.join(rates)}."


def _bound(grader: Fields, rate: ErrorName) -> str:
    """The least of ``BOUNDS`` that a rate is shown to be under, which nothing shows where verdicts are missing."""
    estimate, missing = grader[rate], grader[f"{rate}_bounds"]
    if estimate["value"] is None or estimate["high"] is None:
        return ""
    if missing:
        return f", {percent(missing[1])} if all missing verdicts were wrong"
    under = [bound for bound in BOUNDS if estimate["high"] < bound]
    return f", shown to be under {under[0]:.0%}" if under else f", not shown to be under {BOUNDS[-1]:.0%}"


def _without_labels(graders: Sequence[Fields]) -> str:
    known = [one for one in graders if one["pairwise_disagreement"]["value"] is not None]
    said = "; ".join(
        f"two verdicts of {_name(one)} on an item differ in {rate_text(one['pairwise_disagreement'])}"
        for one in sorted(known, key=lambda one: one["pairwise_disagreement"]["value"])[:3]
    )
    start = "No item has a label, so nothing here says how often a grader is wrong"
    return f"{start}; {said}." if said else f"{start}, and no item has two verdicts to compare."


def _name(grader: Fields) -> str:
    prompt = grader["prompt"]
    return f"{prompt.partition('#')[0]} {grader['model']}" if prompt else str(grader["model"])
