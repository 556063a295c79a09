"""Two runs side by side as a page, ending in a summary, and as plain values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from experiments.analyses.p_values import p_text
from experiments.analyses.runs.run_comparison import GraderPair, MeasureComparison, RunComparison, SetDifference
from experiments.reports.document import Block, Bullets, Document, Forest, Paragraph, Section, Table
from experiments.reports.figures import DASH, brief, rate_text
from experiments.reports.forests import rate_forest
from experiments.reports.plain import estimate_fields
from experiments.stats.estimate import Estimate

__all__ = ["run_comparison_document", "run_comparison_fields", "summary_text"]

SCHEMA = "autorater.runs_compared/1"
MOST_NAMED = 5
"""Items of a kind that a page names; --format json has all."""

_WORDS = {
    "false_negative_rate": "false negatives",
    "false_positive_rate": "false positives",
    "under_grading": "under-graded",
    "over_grading": "over-graded",
    "flip_rate": "flip rate",
    "pairwise_disagreement": "pairwise",
    "coverage": "coverage",
}
_BESIDE = (
    "'autorater drift' asks whether one grader, asked again, still judges as it did; 'autorater gate' holds a grader "
    "against limits or a baseline."
)


def run_comparison_document(found: RunComparison) -> Document:
    """What differs, each grader that both runs have, and a summary."""
    first, second = found.runs
    about = Paragraph(f"A is {first}, B is {second}. Differences are B - A. Labels of common items are those of B.")
    sections = [Section("Runs compared", 1, (about, *_set_blocks(found.items)))]
    sections += [_pair_section(number, pair) for number, pair in enumerate(found.pairs, start=1)]
    sections += _drawn(found)
    return Document((*sections, Section("Summary", 2, (Paragraph(summary_text(found)), Paragraph(_BESIDE)))))


def _set_blocks(items: SetDifference) -> Iterator[Block]:
    named = (
        ("set", items.names),
        ("digest", tuple(digest[:12] for digest in items.digests)),
        ("rubric", items.rubrics),
    )
    rows = [(what, *values) for what, values in named if values[0] != values[1]]
    rows.append(("items", *(f"{count:,}" for count in items.n_items)))
    yield Table(("differs" if len(rows) > 1 else "", "A", "B"), tuple(rows), n_text=3)
    yield Bullets(
        (
            f"{items.n_common:,} contents of items are in both",
            _named("only in A", items.only_first),
            _named("only in B", items.only_second),
            _named("changed content under the same id", items.changed),
            _named("another label under the rubric of the set", items.relabelled),
        )
    )


def _named(what: str, ids: tuple[str, ...]) -> str:
    if not ids:
        return f"{what}: none"
    more = ", ..." if len(ids) > MOST_NAMED else ""
    return f"{what}: {len(ids):,} ({', '.join(ids[:MOST_NAMED])}{more})"


def _pair_section(number: int, pair: GraderPair) -> Section:
    same = pair.names[0] == pair.names[1]
    heading = f"Grader {number}: {pair.names[0] if same else f'{pair.names[0]} and {pair.names[1]}'}"
    about = f"Matched by {pair.matched}; {pair.n_common:,} items on {pair.n_questions:,} questions in both."
    if pair.shares_store:
        about += " Both runs read the same completions of one store: there is no difference to test."
    return Section(heading, 2, (Paragraph(about), _changes(pair), *_measures(pair)))


def _changes(pair: GraderPair) -> Block:
    if not pair.changes:
        return Paragraph("Prompt, model, served models, sampling and parser: no difference is known.")
    rows = tuple((change.what, change.old, change.new) for change in pair.changes)
    return Table(("changed", "A", "B"), rows, n_text=3)


def _measures(pair: GraderPair) -> Iterator[Block]:
    columns = ("on the common items", "A", "B", "points, B - A", "items", "p", "p, Holm")
    yield Table(columns, tuple(map(_measure_row, pair.measures)), breaks=(3,))
    untested = {} if pair.shares_store else {one.name: one.untested for one in pair.measures if one.untested}
    if untested:
        yield Bullets(tuple(f"{_WORDS[name]}: not tested, {why}" for name, why in untested.items()))


def _measure_row(one: MeasureComparison) -> tuple[str, ...]:
    values = (brief(rate_text(estimate_fields(estimate))) for estimate in (one.first, one.second))
    if one.comparison is None:
        return (_WORDS[one.name], *values, DASH, DASH, DASH, DASH)
    difference = one.comparison.difference
    return (
        _WORDS[one.name],
        *values,
        _points(difference.estimate),
        f"{difference.estimate.n:,}",
        p_text(difference.p_value),
        p_text(one.adjusted),
    )


def _points(estimate: Estimate) -> str:
    if estimate.value is None:
        return DASH
    if estimate.low is None or estimate.high is None:
        return f"{100 * estimate.value:+.1f} [no interval]"
    return f"{100 * estimate.value:+.1f} [{100 * estimate.low:+.1f}, {100 * estimate.high:+.1f}]"


def _drawn(found: RunComparison) -> Iterator[Section]:
    yield from _forest(found, ("false_negative_rate", "false_positive_rate"))
    yield from _forest(found, ("under_grading", "over_grading"))


def _forest(found: RunComparison, rates: tuple[str, str]) -> Iterator[Section]:
    named = []
    for number, pair in enumerate(found.pairs, start=1):
        by_name = {one.name: one for one in pair.measures}
        errors = [by_name[name] for name in rates if name in by_name]
        if errors:
            named += [
                (f"{number} A {pair.names[0]}", [estimate_fields(one.first) for one in errors]),
                (f"{number} B {pair.names[1]}", [estimate_fields(one.second) for one in errors]),
            ]
    drawn: list[Forest] = list(rate_forest(named, [_WORDS[name] for name in rates]))
    if drawn:
        yield Section("Error rates on the common items", 2, tuple(drawn))


def summary_text(found: RunComparison) -> str:
    """What the comparison comes to, in plain words."""
    items, level = found.items, f"{100 * found.level:g}%"
    said = [
        f"{found.runs[0]} (A) has {items.n_items[0]:,} items and {found.runs[1]} (B) {items.n_items[1]:,}; "
        f"{items.n_common:,} have the same content."
    ]
    if not found.pairs:
        said.append("No grader is in both, by id or by prompt and model, so none is compared: name some with --pair.")
    elif not items.n_common:
        said.append("Without common items no grader is compared.")
    else:
        said += _findings(found, level)
    for run, names in zip("AB", (found.only_first, found.only_second), strict=True):
        if names and found.pairs:
            said.append(f"Only in {run}: {', '.join(names)}.")
    return " ".join(said)


def _findings(found: RunComparison, level: str) -> Iterator[str]:
    n_tests = sum(one.adjusted is not None for pair in found.pairs for one in pair.measures)
    shared = [pair.names[1] for pair in found.pairs if pair.shares_store]
    if shared:
        yield f"The same completions stand in both runs for {', '.join(shared)}."
    if not n_tests:
        yield "Nothing could be tested."
        return
    shown = [text for pair in found.pairs for text in _shown(pair, found.level)]
    if shown:
        yield f"At {level} for all {n_tests:,} tests together (Holm), B differs from A in: {'; '.join(shown)}."
    else:
        yield (
            f"At {level} for all {n_tests:,} tests together (Holm), no difference is shown; that does not prove "
            "that there is none: see how large a one the intervals leave."
        )


def _shown(pair: GraderPair, level: float) -> Iterator[str]:
    """The differences of a grader that are shown, in points."""
    differences = [
        f"{_WORDS[one.name]} {_points(one.comparison.difference.estimate)}"
        for one in pair.measures
        if one.comparison is not None and one.adjusted is not None and one.adjusted <= 1 - level + 1e-12
    ]
    if differences:
        yield f"{pair.names[1]} (points: {', '.join(differences)})"


def run_comparison_fields(found: RunComparison) -> dict[str, Any]:
    """The comparison as plain values; a difference is ``null`` where nothing was tested."""
    return {
        "schema": SCHEMA,
        "first": found.runs[0],
        "second": found.runs[1],
        "level": found.level,
        "items": asdict(found.items),
        "graders": [_pair_fields(pair) for pair in found.pairs],
        "only_first": list(found.only_first),
        "only_second": list(found.only_second),
        "summary": summary_text(found),
    }


def _pair_fields(pair: GraderPair) -> dict[str, Any]:
    return {
        "first": pair.names[0],
        "second": pair.names[1],
        "matched_by": pair.matched,
        "same_completions": pair.shares_store,
        "changes": [{"what": one.what, "first": one.old, "second": one.new} for one in pair.changes],
        "n_common": pair.n_common,
        "n_questions": pair.n_questions,
        "measures": [_measure_fields(one) for one in pair.measures],
    }


def _measure_fields(one: MeasureComparison) -> dict[str, Any]:
    difference = None if one.comparison is None else one.comparison.difference
    return {
        "name": one.name,
        "first": estimate_fields(one.first),
        "second": estimate_fields(one.second),
        "difference": None if difference is None else estimate_fields(difference.estimate),
        "p_value": None if difference is None else difference.p_value,
        "adjusted": one.adjusted,
        "untested": one.untested,
    }
