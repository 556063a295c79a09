"""The sections of what some rubrics measure beyond errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from experiments.reports.document import Paragraph, Section, Table
from experiments.reports.figures import (
    DASH,
    NOT_DEFINED,
    basis,
    bounds_text,
    coefficient_text,
    percent,
    rate_text,
    signed_text,
)
from experiments.reports.label_words import LabelWords

__all__ = ["rubric_sections", "score_section"]

Fields = Mapping[str, Any]

BASIS = ("items", "questions", "R")


def score_section(grader: Fields, words: LabelWords) -> Section:
    """Over- and under-grading in place of false positives and negatives, and the size and side of the errors."""
    fields = grader["score_errors"]
    coverage, bounds = percent(fields["coverage"]), fields["bounds"]
    shares = [
        (name, rate_text(fields[field]), *basis(fields[field]), coverage, bounds_text(bounds[field]))
        for field, name in (("under_grading", "under-graded"), ("over_grading", "over-graded"))
    ]
    bias, size = fields["bias"], fields["mean_absolute_error"]
    sizes = [
        ("mean error (bias)", signed_text(bias), *basis(bias), coverage, _number_bounds(bounds["bias"])),
        (
            "mean absolute error",
            coefficient_text(size),
            *basis(size),
            coverage,
            _number_bounds(bounds["mean_absolute_error"], sign=""),
        ),
    ]
    weighted = [
        (name, coefficient_text(fields[field]), *basis(fields[field]), coverage, DASH)
        for field, name in (
            ("kappa_linear", "kappa, linear weights"),
            ("kappa_quadratic", "kappa, quadratic weights"),
            ("alpha_ordinal", "alpha, ordinal"),
            ("alpha_interval", "alpha, interval"),
        )
        if fields[field] is not None
    ]
    note = (
        f"Under-graded: below {words.givers} score, over-graded: above it. The mean error is the grader's score less "
        f"{words.givers}, in the scale's units. The last column is what each could be with the missing verdicts at "
        "one end of the scale and at the other; a dash: none is missing. Alpha and kappa count near misses for less."
    )
    columns = ("one draw", "over valid verdicts", *BASIS, "coverage", "missing lowest to highest")
    return Section("Score errors", 3, (Table(columns, (*shares, *sizes, *weighted)), Paragraph(note, once=True)))


def rubric_sections(grader: Fields, words: LabelWords) -> Iterator[Section]:
    """What the grader's rubric measures beyond errors; nothing for most."""
    if grader.get("label_sets"):
        yield _label_sets(grader["label_sets"], words)
    if grader.get("omniscience"):
        yield _omniscience(grader["omniscience"], words)
    if grader.get("confidence"):
        yield from _confidence(grader["confidence"], words)
    if grader.get("concepts"):
        yield _concepts(grader["concepts"])


def _label_sets(fields: Fields, words: LabelWords) -> Section:
    coverage, alpha = percent(fields["coverage"]), fields["alpha_masi"]
    rows = [("alpha, MASI distance", coefficient_text(alpha), DASH, *basis(alpha), coverage)] + [
        (f"kappa of {part}", coefficient_text(kappa), percent(fields["prevalence"][part]), *basis(kappa), coverage)
        for part, kappa in fields["kappas"].items()
    ]
    note = (
        "Each label is a set. MASI counts sets that share a member as near; a kappa takes one member alone, whether it "
        f"is in the set. Prevalence is its share of {words.givers} sets."
    )
    columns = ("one draw", "value", "prevalence", *BASIS, "coverage")
    return Section(f"Sets of labels, with {words.giver}", 3, (Table(columns, tuple(rows)), Paragraph(note, once=True)))


def _omniscience(fields: Fields, words: LabelWords) -> Section:
    rows = tuple(
        row
        for name, one in fields.items()
        for row in (
            _omniscience_row(name, "grader", one["grader"], one["grader"]["bounds"] or {}, one["coverage"]),
            *([] if one["people"] is None else [_omniscience_row(name, words.giver, one["people"], {}, None)]),
        )
    )
    note = (
        "Index: 100 (correct - incorrect) / all, from -100 to 100. Hallucination rate: incorrect answers among those "
        "that are not correct, partial ones and none at all included. Missing: what the missing verdicts could make of "
        "both; a dash: none is missing. All as graded: the grader's errors are in them, and 'autorater score' gives "
        "the index corrected for them. By another model's answers the grader may err otherwise."
    )
    columns = ("respondent", "by", "index", "hallucination rate", "correct", "items", "coverage", "missing")
    return Section("Index and hallucination rate", 3, (Table(columns, rows, n_text=2), Paragraph(note, once=True)))


def _omniscience_row(name: str, giver: str, scores: Fields, bounds: Fields, coverage: float | None) -> tuple[str, ...]:
    index, rate = bounds.get("index"), bounds.get("hallucination_rate")
    missing = f"{_number_bounds(index, digits=1)}; {bounds_text(rate)}" if bounds else DASH
    return (
        name,
        giver,
        signed_text(scores["index"], digits=1),
        rate_text(scores["hallucination_rate"], "all correct"),
        percent(scores["correct"]["value"]),
        f"{scores['index']['n']:,}",
        DASH if coverage is None else percent(coverage),
        missing,
    )


def _confidence(fields: Fields, words: LabelWords) -> Iterator[Section]:
    coverage = percent(fields["coverage"])
    rows = (
        ("accuracy", rate_text(fields["accuracy"]), *basis(fields["accuracy"]), coverage),
        ("over-confidence", signed_text(fields["over_confidence"]), *basis(fields["over_confidence"]), coverage),
        ("Brier score", coefficient_text(fields["brier"]), *basis(fields["brier"]), coverage),
        (
            "expected calibration error",
            coefficient_text(fields["calibration_error"]),
            *basis(fields["calibration_error"]),
            coverage,
        ),
        ("the same by chance", _chance_text(fields["error_by_chance"]), *[DASH] * (len(BASIS) + 1)),
    )
    note = (
        f"Over-confidence: mean confidence less the share of verdicts that {words.giver} share. The expected "
        "calibration error is never below 0, and lies above 0 by chance alone where bins hold few verdicts; its "
        "interval does too. By chance: the mean of that error for a perfectly calibrated grader that is as sure, on as "
        "many items."
    )
    table = Table(("one draw", "value", *BASIS, "coverage"), rows)
    curve = tuple(_bin_row(one) for one in fields["curve"] if one["n_verdicts"])
    shown = Table(("confidence", "mean", "right", "verdicts", "items", "questions"), curve)
    yield Section("Confidence", 3, (table, shown, Paragraph(note, once=True)))


def _chance_text(error: float | None) -> str:
    return NOT_DEFINED if error is None else f"{error:.3f}"


def _bin_row(one: Fields) -> tuple[str, ...]:
    accuracy = one["accuracy"]
    return (
        f"{100 * one['low']:.0f} to {100 * one['high']:.0f}%",
        percent(one["mean_confidence"]),
        rate_text(accuracy),
        f"{one['n_verdicts']:,}",
        f"{accuracy['n']:,}",
        f"{accuracy['clusters']:,}",
    )


def _concepts(fields: Fields) -> Section:
    rows = tuple(
        (
            name,
            rate_text(fields[f"micro_{field}"], why),
            rate_text(fields[f"macro_{field}"], why),
            *basis(fields[f"macro_{field}"]),
        )
        for field, name, why in (
            ("precision", "precision", "nothing used"),
            ("recall", "recall", "no concept listed"),
            ("f1", "F1", "no concept listed"),
        )
    )
    counts, left_out = fields["counts"], fields["n_other_lists"]
    found = (
        f"{fields['n_verdicts']:,} of {fields['n_expected']:,} verdicts: {counts['true_positives']:,} concepts used, "
        f"{counts['false_negatives']:,} of the reference missing, {counts['false_positives']:,} foreign. "
        f"{left_out:,} verdicts whose lists are not the reference's concepts are left out here; their "
        "labels count under agreement."
    )
    note = (
        "Of the responses, not of the grader: whether they use the reference's concepts. Micro adds the counts of all "
        "items, macro is the mean of the items' own scores."
    )
    columns = ("concepts", "micro", "macro", *BASIS)
    return Section("Concepts used", 3, (Table(columns, rows), Paragraph(found), Paragraph(note, once=True)))


def _number_bounds(bounds: list[float] | None, *, digits: int = 3, sign: str = "+") -> str:
    return f"{bounds[0]:{sign}.{digits}f} to {bounds[1]:{sign}.{digits}f}" if bounds else DASH
