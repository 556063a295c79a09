"""A comparison of wordings as a page for a terminal, and as plain values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from experiments.analyses.p_values import p_text
from experiments.analyses.wordings.ab_brief import graded_section, matrix_section, notable_section, pooled_brief, raised
from experiments.analyses.wordings.ab_rule import checks_section, looks_section
from experiments.analyses.wordings.ab_words import (
    bounds_cell,
    decision_text,
    effect_cell,
    heterogeneity_cells,
    missing_text,
    name_of,
    rule_text,
    shown_quantities,
    unit_of,
    value_cell,
)
from experiments.analyses.wordings.wording_comparison import WordingComparison, WordingResult
from experiments.analyses.wordings.wording_grid import WordingCell
from experiments.analyses.wordings.wording_matrix import effect_matrix
from experiments.reports.document import Block, Bullets, Document, Paragraph, Section, Table
from experiments.reports.figures import count_of, count_text, percent

__all__ = ["SCHEMA", "ab_document", "ab_fields"]

SCHEMA = "autorater.ab/1"
"""Name and version of the JSON form."""

FEW_CELLS = 12
"""Grids of no more cells than this are shown cell by cell."""


def ab_document(result: WordingResult, *, full: bool = False) -> Document:
    """The page, the decision at its end.

    A grid of no more than ``FEW_CELLS`` cells is shown cell by cell; of a larger one that is left to ``full``, and a
    matrix of effects and what stands out take its place.
    """
    large = len(result.cells) > FEW_CELLS
    sections = [_head(result, brief=large and not full)]
    if full or not large:
        sections.append(_cells(result))
    if result.looks is not None:
        sections.append(looks_section(result))
    else:
        sections += [_effects(result), _pooled(result)] if full or not large else [pooled_brief(result)]
        if result.as_graded is not None:
            sections.append(graded_section(result))
        if large:
            sections += [matrix_section(result), notable_section(result)]
        if result.decisions:
            sections.append(checks_section(result, brief=large and not full))
    decision = Section("Decision", 2, (Paragraph(decision_text(result)),))
    return Document((*sections, decision))


def ab_fields(result: WordingResult) -> dict[str, Any]:
    """All of it as plain values."""
    chosen = result.chosen
    return {
        "schema": SCHEMA,
        "facts": asdict(result.facts),
        "level": result.level,
        "control": result.control,
        "rule": None if result.rule is None else result.rule.model_dump(mode="json", by_alias=True),
        "cells": [asdict(cell) for cell in result.cells],
        "comparisons": [
            {
                "wording": one.wording,
                "effects": {name: asdict(effects) for name, effects in one.effects.items()},
                "bounds": dict(one.bounds),
            }
            for one in result.comparisons
        ],
        "adjusted": {
            name: {scope: asdict(values) for scope, values in scopes.items()}
            for name, scopes in result.adjusted.items()
        },
        "matrix": _matrix_fields(result),
        "as_graded": None if result.as_graded is None else ab_fields(result.as_graded),
        "pairs": {
            wording: {**asdict(pairs), "n_compared": pairs.n_compared, "n_asked": pairs.n_asked}
            for wording, pairs in result.pairs.items()
        },
        "looks": None if result.looks is None else asdict(result.looks),
        "decisions": [
            {**asdict(one), "hangs_on_missing": one.hangs_on_missing, "undecided": one.undecided}
            for one in result.decisions
        ],
        "chosen": None if chosen is None else chosen.wording,
        "decision": decision_text(result),
    }


def _matrix_fields(result: WordingResult) -> dict[str, Any]:
    matrix = effect_matrix(result, raised(result))
    cells = [{"wording": wording, "model": model, **asdict(cell)} for (wording, model), cell in matrix.cells.items()]
    return {"quantity": matrix.quantity, "cells": cells}


def _shown(result: WordingResult) -> tuple[str, ...]:
    return shown_quantities(result.facts.quantities, result.facts.kind, result.rule)


def _head(result: WordingResult, *, brief: bool) -> Section:
    facts = result.facts
    whose = "Wordings of the grader's prompt" if facts.kind == "grader" else "Wordings of the answer prompt"
    about = (
        f"{whose}: {len(facts.wordings)} in {count_of(len(facts.models), 'model')}, "
        f"{count_of(facts.n_items, unit_of(result))} of {count_of(facts.n_questions, 'question')}; {facts.about}. "
        f"Control: {result.control}. Intervals are at {result.level:.0%} and clustered by question."
    )
    rule = (
        "The experiment wrote no rule."
        if result.rule is None
        else f"Rule, written before the run: {rule_text(result.rule)}. Stopping: {result.rule.stopping}. "
        f"{missing_text(result.rule)}."
    )
    blocks: list[Block] = [Paragraph(about), Paragraph(rule)]
    if facts.notes:
        blocks.append(Bullets(facts.notes))
    if brief:
        blocks.append(Paragraph("In brief; every cell and every effect with its interval: --full, or --format json."))
    return Section(f"Which wording: {facts.run_id}", 1, tuple(blocks))


def _cells(result: WordingResult) -> Section:
    shown = _shown(result)
    rows = tuple(
        (
            cell.wording,
            cell.model,
            *(value_cell(name, cell.quantities[name]) for name in shown),
            percent(cell.valid / cell.expected) if cell.expected else "-",
        )
        for cell in result.cells
    )
    blocks: list[Block] = [Table(("wording", "model", *map(name_of, shown), "coverage"), rows, n_text=2)]
    missing = [cell for cell in result.cells if cell.valid < cell.expected or any(cell.failures.values())]
    if missing:
        blocks.append(_missing(missing, shown))
        blocks.append(
            Paragraph("Lowest to highest: the rates if all that is missing were wrong, and if all were right.")
        )
    if result.looks is not None:
        blocks.append(Paragraph("The intervals of this table hold for one look each; those of the looks for all."))
    return Section("Each wording in each model, percent", 2, tuple(blocks))


def _missing(cells: list[WordingCell], shown: tuple[str, ...]) -> Table:
    rows = tuple(
        (
            cell.wording,
            cell.model,
            count_text(cell.failures),
            f"{cell.valid:,}/{cell.expected:,}",
            *(bounds_cell(name, cell.bounds[name]) for name in shown),
        )
        for cell in cells
    )
    return Table(("wording", "model", "missing", "valid", *map(name_of, shown)), rows, n_text=3)


def _decided(result: WordingResult) -> tuple[str, ...]:
    """The quantities whose effects are printed model by model: those of the rule, or all that are shown."""
    return _shown(result) if result.rule is None else (result.rule.raises, *result.rule.may_not_fall)


def _effects(result: WordingResult) -> Section:
    blocks: list[Block] = []
    for name in _decided(result):
        rows = tuple(_effect_rows(result, name))
        columns = ("wording", "model", "effect", "p", "Student p", "left out")
        blocks += [Paragraph(f"On {name_of(name)}:"), Table(columns, rows, n_text=2)]
    blocks.append(
        Paragraph(
            "Points, the wording less the control, paired by question; p by permutation of questions, unadjusted."
        )
    )
    return Section(f"Effect against {result.control} in each model", 2, tuple(blocks))


def _effect_rows(result: WordingResult, name: str) -> Iterator[tuple[str, ...]]:
    for one in result.comparisons:
        effects = one.effects[name]
        for model, effect in zip(effects.models, effects.effects, strict=True):
            difference = effect.difference
            yield (
                one.wording,
                model,
                effect_cell(name, difference.estimate),
                p_text(difference.p_value),
                p_text(effect.student_p_value),
                f"{effect.left_out:,}",
            )


def _pooled(result: WordingResult) -> Section:
    several = len(result.facts.models) > 1
    columns = ("wording", "quantity", "these models", "p", "Holm p", "models like these", "p", "Holm p")
    more = ("wording", "quantity", "both resampled", "Q (df)", "I squared", "if missing")
    rows = [(one, name) for one in result.comparisons for name in _shown(result)]
    width = len(columns) if several else 5
    blocks: list[Block] = [
        Table(columns[:width], tuple(_pooled_row(result, one, name)[:width] for one, name in rows), n_text=2),
        Paragraph(
            "Points. These models: the average effect in them, on new questions. Holm p: adjusted for the number of "
            "wordings."
        ),
    ]
    if several:
        blocks += [
            Table(more, tuple(_spread_row(one, name) for one, name in rows), n_text=2),
            Paragraph(
                "Models like these: the models are a sample too. Q, I squared: how far effects differ between models "
                "beyond chance. If missing: the average effect if all that is missing went one way or the other."
            ),
        ]
    else:
        blocks.append(Paragraph("There is one model, which says nothing of models like it."))
    return Section("Over the models", 2, tuple(blocks))


def _pooled_row(result: WordingResult, one: WordingComparison, name: str) -> tuple[str, ...]:
    effects, adjusted = one.effects[name], result.adjusted[name]
    place = [other.wording for other in result.comparisons].index(one.wording)
    cells = []
    for scope, difference in (("fixed", effects.fixed), ("sampled", effects.sampled)):
        cells += [
            effect_cell(name, difference.estimate),
            p_text(difference.p_value),
            p_text(adjusted[scope].rows[place].adjusted),
        ]
    return (one.wording, name_of(name), *cells)


def _spread_row(one: WordingComparison, name: str) -> tuple[str, ...]:
    effects = one.effects[name]
    return (
        one.wording,
        name_of(name),
        effect_cell(name, effects.resampled),
        *heterogeneity_cells(effects.heterogeneity),
        bounds_cell(name, one.bounds[name]),
    )
