"""A choice as a page for a terminal, and as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from experiments.analyses.choice.candidate_rates import ERROR_NAMES, LEAST_ITEMS, CandidateRates, Stratum
from experiments.analyses.choice.candidates import Candidate
from experiments.analyses.choice.choosing import Choice
from experiments.analyses.choice.choosing_set import rule_section
from experiments.analyses.choice.choosing_time import candidate_time_fields, time_section
from experiments.analyses.choice.choosing_words import (
    RATE_WORDS,
    cost_text,
    decision_text,
    points_text,
    rate_cell,
    rule_text,
)
from experiments.analyses.choice.separation import POWER
from experiments.analyses.p_values import p_text
from experiments.reports.document import Block, Bullets, Document, Paragraph, Section, Table
from experiments.reports.figures import bounds_text, count_text, percent
from experiments.reports.forests import rate_forest
from experiments.reports.label_words import label_words
from experiments.reports.plain import estimate_fields, plain_value

__all__ = ["SCHEMA", "choice_document", "choice_fields"]

SCHEMA = "autorater.choose/1"
"""Name and version of the JSON form."""
MOST_PAIRS = 30
"""More pairs than these are printed only where a finalist takes part; the plain values have all."""

MOST_SHOWN = 5
"""Finalists whose rates are printed by part."""


def choice_document(choice: Choice) -> Document:
    """The page: what was compared, every table, and the decision at the end."""
    time = time_section(choice.candidates)
    parts = (rule_section(choice), _pairs(choice), _costs(choice), _parts(choice), _labels(choice))
    sections = [_head(choice), _candidates(choice), time, *(part for part in parts if part is not None)]
    decision = Section("Decision", 2, (Paragraph(decision_text(choice)),))
    return Document((*sections, decision))


def _head(choice: Choice) -> Section:
    contest, labelled = choice.contest, choice.labelled
    words = label_words({"label_source": labelled.label_source})
    about = (
        f"{len(contest.items):,} labelled items of {len(set(contest.clusters)):,} questions, under {labelled.rubric}. "
        f"{words.source} Intervals are at {choice.level:.0%} and clustered by question."
    )
    blocks: list[Block] = [Paragraph(about)]
    rule = "Rule, recorded with the run: " if choice.stated else "Rule (the default; the experiment states none): "
    blocks.append(Paragraph(f"{rule}{rule_text(choice.spec)}."))
    notes = [*labelled.notes, *(f"{one.name}: {note}." for one in choice.candidates for note in one.notes)]
    if notes:
        blocks.append(Bullets(tuple(notes)))
    return Section(f"Which grader: {contest.run_id}", 1, tuple(blocks))


def _candidates(choice: Choice) -> Section:
    rows = tuple(map(_candidate_row, choice.candidates, choice.rates))
    columns = ("grader", "error rate", "false positives", "false negatives", "coverage", "flip", "R", "pairwise")
    about = Paragraph(
        "Error rate: verdicts that are not the label given. Flip: share of the items with two or more verdicts that "
        "have different ones, in at most R."
    )
    drawn = [(own.name, [estimate_fields(own.rates[rate]) for rate in reversed(ERROR_NAMES)]) for own in choice.rates]
    forest = rate_forest(drawn, columns[1:4])
    return Section("Candidates", 2, (Table((*columns, "1,000 verdicts"), rows), about, *forest, *_missing(choice)))


def _candidate_row(candidate: Candidate, own: CandidateRates) -> tuple[str, ...]:
    flips, disagreement = own.flip_rate, own.pairwise_disagreement
    return (
        candidate.name,
        *(rate_cell(own.rates[rate]) for rate in reversed(ERROR_NAMES)),
        _share(candidate.coverage),
        _share(None if flips is None else flips.value),
        str(candidate.draws if candidate.is_exact else candidate.expected),
        _share(None if disagreement is None else disagreement.value),
        cost_text(candidate),
    )


def _share(share: float | None) -> str:
    return "-" if share is None else percent(share)


def _missing(choice: Choice) -> list[Block]:
    rows = [
        (
            candidate.name,
            count_text(candidate.failures),
            *(bounds_text(list(bound) if (bound := own.bounds[rate]) else None) for rate in reversed(ERROR_NAMES)),
        )
        for candidate, own in zip(choice.candidates, choice.rates, strict=True)
        if candidate.failures
    ]
    if not rows:
        return [Paragraph("No verdict is missing.")]
    columns = ("grader", "no verdict", "error rate within", "false positives within", "false negatives within")
    return [
        Paragraph("Rates if all missing verdicts were right, to all of them wrong:"),
        Table(columns, tuple(rows), 2),
    ]


def _pairs(choice: Choice) -> Section | None:
    every = list(zip(choice.pairs, choice.family.rows, strict=True))
    if not every:
        return None
    finalists = set(choice.finalists)
    shown = [(pair, row) for pair, row in every if len(every) <= MOST_PAIRS or {pair.first, pair.second} & finalists]
    rows = tuple(
        (
            f"{pair.first} - {pair.second}",
            points_text(pair.difference.estimate),
            f"{pair.difference.estimate.n:,}",
            p_text(row.p_value),
            p_text(row.adjusted),
            "yes" if row.significant else "no",
        )
        for pair, row in shown
    )
    n_different = sum(bool(row.significant) for _, row in every)
    about = (
        f"{RATE_WORDS[choice.rule.rate].capitalize()}, first less second, in points, on the items that both have; "
        f"sign-flip test by question, Holm over {choice.family.tested:,} pairs, of which {n_different:,} differ."
    )
    if len(shown) < len(every):
        about += f" {len(every) - len(shown):,} pairs without a finalist are in --format json."
    columns = ("pair", "points", "items", "p", "p, Holm", "differ")
    return Section("All pairs", 2, (Table(columns, rows), Paragraph(about)))


def _costs(choice: Choice) -> Section | None:
    if len(choice.candidates) == 1:
        return None
    front = ", ".join(choice.front.front) or "nobody"
    rate = RATE_WORDS[choice.rule.rate]
    if choice.front_over_cost:
        text = f"On the front of {rate} against cost (no other is better in one and no worse in the other): {front}."
        if choice.front.unknown:
            text += f" Cost not known in full: {', '.join(choice.front.unknown)}."
    else:
        text = f"No cost is known. On the front of false negatives against false positives: {front}."
    return Section("Cost and error", 2, (Paragraph(f"{text} Differences within the noise count here."),))


def _parts(choice: Choice) -> Section | None:
    if not choice.strata:
        return None
    shown = (choice.finalists or tuple(one.name for one in choice.candidates))[:MOST_SHOWN]
    rows = tuple(row for stratum in choice.strata for row in _part_rows(stratum, shown))
    small = Counter(one.dimension.replace("_", " ") for one in choice.strata if not one.candidates)
    text = f"Graders shown: {', '.join(shown)}; all are in --format json. Not a test: parts were not adjusted for."
    if any(stratum.few_clusters for stratum in choice.strata):
        text += " * fewer than ten questions: a doubtful interval."
    if small:
        counted = ", ".join(f"{name} {number:,}" for name, number in small.items())
        text += f" Not shown, as they have fewer than {LEAST_ITEMS} items (number of parts): {counted}."
    columns = ("part", "grader", "items", "questions", "error rate", "false positives", "false negatives")
    table: tuple[Block, ...] = (Table(columns, rows, 2),) if rows else ()
    return Section("By kind, topic and answer type", 2, (*table, Paragraph(text)))


def _part_rows(stratum: Stratum, shown: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    mark = "*" if stratum.few_clusters else ""
    for own in stratum.candidates:
        if own.name in shown:
            yield (
                f"{stratum.dimension.replace('_', ' ')}: {stratum.value}",
                own.name,
                f"{stratum.n_items:,}",
                f"{stratum.n_clusters:,}{mark}",
                *(rate_cell(own.rates[rate]) for rate in reversed(ERROR_NAMES)),
            )


def _labels(choice: Choice) -> Section | None:
    if not choice.separations:
        return None
    rows = tuple(
        (
            f"{plan.first} - {plan.second}",
            f"{100 * plan.difference:+.1f}",
            f"{plan.questions:,}",
            "-" if plan.detectable is None else f"{100 * plan.detectable:.1f}",
            plan.reason or f"{plan.needed:,}",
            "-" if plan.more_questions is None else f"{plan.more_questions:,}",
            "-" if plan.more_labels is None else f"{plan.more_labels:,}",
        )
        for plan in choice.separations
    )
    columns = ("pair", "points", "questions", "can be found", "questions needed", "more", "labels more")
    about = (
        f"Questions that would show the observed difference of a pair with {POWER:.0%} power, by the observed variance "
        "of the paired difference. The observed difference is itself uncertain: take the number as a guide."
    )
    return Section("Labels that would separate the finalists", 2, (Table(columns, rows), Paragraph(about)))


def choice_fields(choice: Choice) -> dict[str, Any]:
    """The choice as plain JSON values."""
    contest = choice.contest
    return {
        "schema": SCHEMA,
        "run_id": contest.run_id,
        "level": choice.level,
        "n_items": len(contest.items),
        "n_questions": len(set(contest.clusters)),
        "rubric": choice.labelled.rubric,
        "label_source": choice.labelled.label_source,
        "notes": list(choice.labelled.notes),
        "rule": plain_value(choice.spec.model_dump(mode="json"))
        | {"stated": choice.stated, "text": rule_text(choice.spec)},
        "candidates": [_candidate_fields(choice, place) for place in range(len(choice.candidates))],
        "set": plain_value(asdict(choice.rule)) | {"hanging": list(choice.rule.hanging)},
        "pairs": [
            plain_value(asdict(pair)) | {"p_value": row.p_value, "holm": row.adjusted, "differ": row.significant}
            for pair, row in zip(choice.pairs, choice.family.rows, strict=True)
        ],
        "front": plain_value(asdict(choice.front)) | {"over_cost": choice.front_over_cost},
        "strata": plain_value([asdict(stratum) for stratum in choice.strata]),
        "separations": plain_value([asdict(plan) for plan in choice.separations]),
        "recommendation": plain_value(asdict(choice.recommendation)),
        "decision": decision_text(choice),
    }


def _candidate_fields(choice: Choice, place: int) -> dict[str, Any]:
    candidate, own = choice.candidates[place], choice.rates[place]
    cost = candidate.thousand
    return {
        "name": candidate.name,
        "form": candidate.form,
        "notes": list(candidate.notes),
        "repeats": candidate.expected,
        "n_verdicts": int(candidate.counts.sum()),
        "coverage": candidate.coverage,
        "failures": dict(candidate.failures),
        **{rate: estimate_fields(own.rates[rate]) for rate in ERROR_NAMES},
        "bounds": plain_value(own.bounds),
        "flip_rate": None if own.flip_rate is None else estimate_fields(own.flip_rate),
        "pairwise_disagreement": (
            None if own.pairwise_disagreement is None else estimate_fields(own.pairwise_disagreement)
        ),
        "cost_of_a_thousand": None if cost is None else {"amount": cost.amount, "complete": cost.complete},
        "time": candidate_time_fields(candidate),
    }
