"""What a person reads of a grid with many cells: effects over the models, a matrix of effects, and what stands out."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_uppercase

from experiments.analyses.p_values import p_text
from experiments.analyses.wordings.ab_words import (
    bounds_cell,
    effect_cell,
    heterogeneity_cells,
    name_of,
    point_cell,
    shown_quantities,
)
from experiments.analyses.wordings.wording_comparison import WordingComparison, WordingResult
from experiments.analyses.wordings.wording_grid import WordingCell
from experiments.analyses.wordings.wording_matrix import EffectMatrix, effect_matrix
from experiments.reports.document import Block, Bullets, Paragraph, Section, Table
from experiments.reports.figures import count_of, count_text

__all__ = ["decided_quantities", "graded_section", "matrix_section", "notable_section", "pooled_brief", "raised"]

NO_RULE = ("accuracy", "accuracy_given_attempted", "f1", "sensitivity", "specificity")
"""What a short page shows where no rule says what matters."""

MOST_NAMED = 5
"""Of what stands out, so many are named, and the rest counted."""


def raised(result: WordingResult) -> str:
    """The quantity of the matrix: what the rule raises, or accuracy."""
    return "accuracy" if result.rule is None else result.rule.raises


def decided_quantities(result: WordingResult) -> tuple[str, ...]:
    """Those of the rule, or those of ``NO_RULE`` that there are."""
    if result.rule is not None:
        return result.rule.raises, *result.rule.may_not_fall
    shown = shown_quantities(result.facts.quantities, result.facts.kind, None)
    return tuple(name for name in NO_RULE if name in shown)


def pooled_brief(result: WordingResult) -> Section:
    """The average effects over the models, quantity by quantity."""
    columns = ("", "wording", "these models", "Holm p", "models like these", "Holm p", "I squared")
    blocks: list[Block] = []
    for name in decided_quantities(result):
        rows = tuple(
            (key, one.wording, *_pooled_cells(result, one, name), _i_squared(one, name)) for key, one in _keyed(result)
        )
        blocks += [Paragraph(f"On {name_of(name)}:"), Table(columns, rows, n_text=2)]
    about = (
        "Points. These models: the average effect in them, on new questions; models like these: the models are a "
        "sample too. Holm p: adjusted for the number of wordings. I squared: how far effects differ between models "
        "beyond chance."
    )
    return Section("Over the models", 2, (*blocks, Paragraph(about)))


def graded_section(result: WordingResult) -> Section:
    """Of scores that are corrected: the average effects as graded beside them, and what the rule says of either.

    Raises
    ------
    ValueError
        If the comparison is not of corrected scores.
    """
    graded = result.as_graded
    if graded is None:
        raise ValueError("as_graded: none; expected a comparison of corrected scores")
    columns = ("", "wording", "as graded", "Holm p", "corrected", "Holm p")
    blocks: list[Block] = []
    for name in decided_quantities(result):
        rows = tuple(
            (key, one.wording, *_pooled_cells(graded, other, name)[:2], *_pooled_cells(result, one, name)[:2])
            for (key, one), other in zip(_keyed(result), graded.comparisons, strict=True)
        )
        blocks += [Paragraph(f"On {name_of(name)}:"), Table(columns, rows, n_text=2)]
    about = f"Points, in these models. Corrected by {result.facts.corrected_by}."
    if result.rule is not None:
        about += f" As graded the rule says to {_decided(graded)}; corrected, to {_decided(result)}."
    return Section("As graded and corrected", 2, (*blocks, Paragraph(about)))


def matrix_section(result: WordingResult) -> Section:
    """Models x wordings, the effect on what is to rise, marked where it is beyond chance."""
    matrix = effect_matrix(result, raised(result))
    keys = {one.wording: key for key, one in _keyed(result)}
    rows = tuple((model, *(_matrix_cell(matrix, wording, model) for wording in keys)) for model in result.facts.models)
    about = (
        f"Points on {name_of(matrix.quantity)}, the wording less the control. * p at most {1 - matrix.level:.2g}, "
        f"adjusted for all {len(matrix.cells)} cells (Holm). "
        + ", ".join(f"{key} {wording}" for wording, key in keys.items())
        + "."
    )
    heading = f"Effect on {name_of(matrix.quantity)} in each model"
    return Section(heading, 2, (Table(("model", *keys.values()), rows), Paragraph(about)))


def notable_section(result: WordingResult) -> Section:
    """What a reader should look at: models that go the other way, effects that differ, what is missing."""
    points = (*_opposed(result), *_falls(result), *_spread(result), *_missing(result))
    if not points:
        return Section("Notable", 2, (Paragraph("Nothing stands out model by model, and nothing is missing."),))
    return Section("Notable", 2, (Bullets(points),))


def _keyed(result: WordingResult) -> list[tuple[str, WordingComparison]]:
    """Each comparison with the letter that stands for its wording."""
    return list(zip(_letters(), result.comparisons, strict=False))


def _i_squared(one: WordingComparison, name: str) -> str:
    return heterogeneity_cells(one.effects[name].heterogeneity)[1].partition(" ")[0]


def _pooled_cells(result: WordingResult, one: WordingComparison, name: str) -> tuple[str, ...]:
    effects, place = one.effects[name], [other.wording for other in result.comparisons].index(one.wording)
    cells: list[str] = []
    for scope, difference in (("fixed", effects.fixed), ("sampled", effects.sampled)):
        adjusted = result.adjusted[name][scope].rows[place].adjusted
        cells += [effect_cell(name, difference.estimate), p_text(adjusted)]
    return tuple(cells)


def _decided(result: WordingResult) -> str:
    chosen = result.chosen
    if chosen is not None:
        return f"adopt {chosen.wording}"
    undecided = any(one.undecided for one in result.decisions)
    return "decide nothing, for want of what is missing" if undecided else f"keep {result.control}"


def _letters() -> Iterator[str]:
    """A to Z, then AA to AZ, and so on."""
    yield from ascii_uppercase
    for first in _letters():
        yield from (first + second for second in ascii_uppercase)


def _matrix_cell(matrix: EffectMatrix, wording: str, model: str) -> str:
    cell = matrix.cells.get((wording, model))
    if cell is None:
        return "-"
    return f"{point_cell(matrix.quantity, cell.value)}{'*' if cell.significant else ''}"


def _opposed(result: WordingResult) -> Iterator[str]:
    """Models in which what is to rise moves against the average, beyond chance."""
    matrix = effect_matrix(result, raised(result))
    found = []
    for one in result.comparisons:
        average = one.effects[matrix.quantity].fixed.estimate.value
        for (wording, model), cell in matrix.cells.items():
            against = average is not None and cell.value is not None and cell.value * average < 0
            if wording == one.wording and cell.significant and against:
                found.append(f"{one.wording} in {model} ({point_cell(matrix.quantity, cell.value)})")
    if found:
        yield f"Against the average, on {name_of(matrix.quantity)}: {_listed(found)}."


def _falls(result: WordingResult) -> Iterator[str]:
    """Models in which what may not fall does so, beyond chance."""
    for name in () if result.rule is None else result.rule.may_not_fall:
        cells = effect_matrix(result, name).cells.items()
        ordered = sorted(((cell.value or 0.0, wording, model) for (wording, model), cell in cells if cell.significant))
        found = [f"{wording} in {model} ({point_cell(name, value)})" for value, wording, model in ordered if value < 0]
        if found:
            yield f"{name_of(name).capitalize()} falls beyond chance (Holm over all cells): {_listed(found)}."


def _spread(result: WordingResult) -> Iterator[str]:
    """Wordings whose effect on what is to rise differs between models beyond chance."""
    name, found = raised(result), []
    for one in result.comparisons:
        spread = one.effects[name].heterogeneity
        if spread.p_value is not None and spread.p_value <= 1 - result.level:
            values = [effect.difference.estimate.value or 0.0 for effect in one.effects[name].effects]
            found.append(f"{one.wording} ({point_cell(name, min(values))} to {point_cell(name, max(values))})")
    if found:
        beyond = f"Q, p at most {1 - result.level:.2g}, unadjusted"
        yield f"The effect on {name_of(name)} differs between models ({beyond}): {_listed(found)}."


def _missing(result: WordingResult) -> Iterator[str]:
    gaps = [cell for cell in result.cells if any(cell.failures.values()) or cell.valid < cell.expected]
    if not gaps:
        return
    worst = sorted(gaps, key=lambda cell: (cell.valid / cell.expected if cell.expected else 0.0, -_lost(cell)))
    named = [f"{cell.wording} in {cell.model} ({count_text(cell.failures)})" for cell in worst]
    yield f"Something is missing in {len(gaps):,} of {count_of(len(result.cells), 'cell')}: {_listed(named)}."
    name = raised(result)
    wide = [(one.bounds[name], one.wording) for one in result.comparisons if one.bounds[name] is not None]
    if wide:
        shown = [f"{wording} {bounds_cell(name, bounds)}" for bounds, wording in wide]
        yield (
            f"The average effect on {name_of(name)} if all that is missing went one way or the other: "
            f"{', '.join(shown)}."
        )


def _lost(cell: WordingCell) -> int:
    return sum(cell.failures.values())


def _listed(found: list[str]) -> str:
    rest = len(found) - MOST_NAMED
    return "; ".join(found[:MOST_NAMED]) + (f"; and {rest:,} more" if rest > 0 else "")
