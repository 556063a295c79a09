"""The page of a run over probes: kinds, failed probes, mutations, and the decision; and the same as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from experiments.analyses.choice.choosing_words import points_text
from experiments.analyses.p_values import p_text
from experiments.analyses.probes.probe_mutations import MutationEffect
from experiments.analyses.probes.probing import FailedProbe, KindRate, ProbedGrader, Probing
from experiments.analyses.probes.probing_words import decision_text, kind_name, outcome_text
from experiments.reports.document import Block, Document, Entries, Entry, Paragraph, Section, Table
from experiments.reports.figures import DASH, bounds_text, count_text, percent, rate_text
from experiments.reports.plain import estimate_fields, plain_value

__all__ = ["SCHEMA", "probing_document", "probing_fields"]

SCHEMA = "autorater.probe/1"
"""Name and version of the JSON form."""


def probing_document(probing: Probing, *, most: int) -> Document:
    """The page, with at most so many of each grader's failed probes."""
    sections = [Section(f"Probes: {probing.run_id}", 1, (Paragraph(_about(probing)),))]
    for grader in probing.graders:
        sections += _grader_sections(grader, probing, most)
    decisions = tuple(Paragraph(decision_text(grader, probing)) for grader in probing.graders)
    sections.append(Section("Decision", 2, decisions))
    return Document(tuple(sections))


def _about(probing: Probing) -> str:
    return (
        f"{probing.n_items:,} of the {probing.n_items_in_set:,} items of {probing.set_title}. A verdict passes where "
        "it is the label that the item was made to have; rates are over valid verdicts. Intervals are Clopper and "
        f"Pearson's at {percent(probing.level)} for each rate alone, clustered by question; what is shown of a kind "
        "is adjusted for their number, and holds whatever the missing verdicts would have been."
    )


def _grader_sections(grader: ProbedGrader, probing: Probing, most: int) -> list[Section]:
    kinds: list[Block] = [_kind_table(grader, probing.floor)]
    if grader.n_unlabelled:
        kinds.append(Paragraph(f"Without a label under {grader.rubric}: {count_text(grader.n_unlabelled)}."))
    shown = grader.failed[:most]
    sections = [Section(f"Pass rate by kind: {grader.name}", 2, tuple(kinds))]
    if shown:
        heading = f"Most often failed ({len(shown):,} of {len(grader.failed):,}, in turn over the kinds)"
        sections.append(Section(heading, 2, (Entries(tuple(map(_entry, shown))),)))
    if grader.effects:
        effects: list[Block] = [_effect_table(grader.effects), *_effect_notes(grader.effects)]
        sections.append(Section("Mutations of the prompt, which should change no verdict", 2, tuple(effects)))
    return sections


def _kind_table(grader: ProbedGrader, floor: float) -> Table:
    rows = [(*_kind_cells(kind), outcome_text(kind, grader, floor)) for kind in grader.kinds]
    columns = ("kind", "pass rate", "items", "questions", "coverage", "if all come", "no label", "shown")
    return Table(columns, (*rows, (*_kind_cells(grader.total), DASH)))


def _kind_cells(kind: KindRate) -> tuple[str, ...]:
    return (
        kind_name(kind),
        rate_text(estimate_fields(kind.estimate)),
        f"{kind.n_items:,}",
        f"{kind.estimate.clusters:,}",
        percent(kind.coverage),
        bounds_text(None if kind.bounds is None else list(kind.bounds)),
        count_text(kind.failures, empty=DASH),
    )


def _entry(failed: FailedProbe) -> Entry:
    item = failed.item
    kind = f", {item.kind}" if item.kind else ""
    missing = f"; no label: {count_text(failed.failures)}" if failed.failures else ""
    return Entry(
        f"{item.item_id}{kind}: should be {failed.label}, got {count_text(failed.verdicts)}{missing}",
        (("question", item.question), ("reference", item.reference.text), ("response", item.response)),
    )


def _effect_table(effects: Sequence[MutationEffect]) -> Table:
    rows = tuple(
        (
            effect.mutation,
            rate_text(estimate_fields(effect.estimate)),
            percent(effect.coverage),
            points_text(effect.comparison.difference.estimate),
            p_text(effect.comparison.difference.p_value),
            p_text(effect.adjusted),
            f"{effect.comparison.difference.estimate.n:,}",
            f"{effect.n_worse:,}",
            f"{effect.n_better:,}",
        )
        for effect in effects
    )
    columns = ("mutation", "pass rate", "coverage", "points on the plain one", "p", "adjusted p", "items of both")
    return Table((*columns, "worse", "better"), rows)


def _effect_notes(effects: Sequence[MutationEffect]) -> tuple[Paragraph, ...]:
    text = (
        "Differences are the mutated prompt less the plain one on the same items, by the sign-flip test over "
        "questions; worse and better count items of which fewer or more verdicts pass, chance included."
    )
    if any(effect.mutation == "letters-permuted" for effect in effects):
        text += " A probe that names a letter to the grader names another label's where letters are permuted."
    lacking = [f"{effect.mutation} {count_text(effect.failures)}" for effect in effects if effect.failures]
    return (Paragraph(text), *([Paragraph(f"Without a label: {'; '.join(lacking)}.")] if lacking else []))


def probing_fields(probing: Probing, *, most: int) -> dict[str, Any]:
    """The page as plain JSON values."""
    return {
        "schema": SCHEMA,
        "run_id": probing.run_id,
        "set": probing.set_title,
        "level": probing.level,
        "floor": probing.floor,
        "n_items": probing.n_items,
        "n_items_in_set": probing.n_items_in_set,
        "graders": [_grader_fields(grader, probing, most) for grader in probing.graders],
    }


def _grader_fields(grader: ProbedGrader, probing: Probing, most: int) -> dict[str, Any]:
    return {
        "grader": grader.name,
        "rubric": grader.rubric,
        "grader_rubric": grader.grader_rubric,
        "all": _kind_fields(grader.total),
        "kinds": [{**_kind_fields(kind), "outcome": kind.outcome} for kind in grader.kinds],
        "n_unlabelled": dict(grader.n_unlabelled),
        "n_failed": len(grader.failed),
        "failed": [_failed_fields(failed) for failed in grader.failed[:most]],
        "mutations": [_effect_fields(effect) for effect in grader.effects],
        "decision": decision_text(grader, probing),
    }


def _kind_fields(kind: KindRate) -> dict[str, Any]:
    return {
        "kind": kind.kind,
        "pass_rate": estimate_fields(kind.estimate),
        "n_items": kind.n_items,
        "coverage": kind.coverage,
        "failures": dict(kind.failures),
        "bounds": None if kind.bounds is None else list(kind.bounds),
    }


def _failed_fields(failed: FailedProbe) -> dict[str, Any]:
    return {
        "item_id": failed.item.item_id,
        "kind": failed.item.kind,
        "question": failed.item.question,
        "reference": failed.item.reference.text,
        "response": failed.item.response,
        "label": failed.label,
        "pass_share": failed.pass_share,
        "verdicts": dict(failed.verdicts),
        "failures": dict(failed.failures),
    }


def _effect_fields(effect: MutationEffect) -> dict[str, Any]:
    return {
        "mutation": effect.mutation,
        "grader": effect.name,
        "pass_rate": estimate_fields(effect.estimate),
        "coverage": effect.coverage,
        "failures": dict(effect.failures),
        "comparison": plain_value(asdict(effect.comparison)),
        "adjusted_p_value": effect.adjusted,
        "bounds": None if effect.bounds is None else list(effect.bounds),
        "changed": effect.changed,
        "hangs_on_missing": effect.hangs_on_missing,
        "n_worse": effect.n_worse,
        "n_better": effect.n_better,
    }
