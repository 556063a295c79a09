"""The rule of a comparison of wordings, check by check, at its end or at a look."""

from __future__ import annotations

from experiments.analyses.ab_words import effect_cell, name_of, point_cell, required_cell
from experiments.analyses.p_values import p_text
from experiments.analyses.wording_comparison import WordingResult
from experiments.reports.document import Paragraph, Section, Table

__all__ = ["checks_section", "looks_section"]

CHECKS = "The rule, check by check"


def checks_section(result: WordingResult, *, brief: bool) -> Section:
    """Every check of the rule; ``brief`` counts those of a rule for every model."""
    if brief and result.rule is not None and result.rule.scope == "every-model":
        return _checks_by_wording(result)
    rows = tuple(
        (
            one.wording,
            name_of(check.quantity),
            check.model or "average",
            f"{100 * one.level:.4g}%",
            point_cell(check.quantity, check.value),
            point_cell(check.quantity, check.low),
            required_cell(check),
            "yes" if check.passed else "no",
        )
        for one in result.decisions
        for check in one.checks
    )
    columns = ("wording", "quantity", "model", "level", "effect", "lower end", "must be above", "passed")
    return Section(CHECKS, 2, (Table(columns, rows, n_text=3),))


def _checks_by_wording(result: WordingResult) -> Section:
    """In how many models each check passed, and the lowest of their lower ends."""
    rows = []
    for one in result.decisions:
        for name in dict.fromkeys(check.quantity for check in one.checks):
            own = [check for check in one.checks if check.quantity == name]
            passed, lows = sum(check.passed for check in own), [check.low for check in own if check.low is not None]
            lowest = point_cell(name, min(lows)) if lows else "-"
            count = f"{passed} of {len(own)}"
            rows.append((one.wording, name_of(name), f"{100 * one.level:.4g}%", lowest, required_cell(own[0]), count))
    columns = ("wording", "quantity", "level", "lowest lower end", "must be above", "passed in models")
    return Section(CHECKS, 2, (Table(columns, tuple(rows), n_text=2),))


def looks_section(result: WordingResult) -> Section:
    """Every check at the last look."""
    looks = result.looks
    if looks is None:
        raise ValueError("looks: none; expected a comparison that may be looked at while it runs")
    rows = tuple(
        (
            one.wording,
            name_of(look.check.quantity),
            look.check.model or "average",
            effect_cell(look.check.quantity, look.difference.estimate),
            p_text(look.difference.p_value),
            p_text(look.adjusted),
            f"{100 * one.level:.4g}%",
            point_cell(look.check.quantity, look.check.low),
            required_cell(look.check),
            "-" if look.first_look is None else f"{look.first_look:,}",
        )
        for one in looks.wordings
        for look in one.checks
    )
    columns = ("wording", "quantity", "model", "effect", "p", "Holm p", "level", "lower end", "must be above")
    about = Paragraph(
        f"{looks.n_seen:,} of {looks.n_questions:,} questions, each of equal weight, in an order that their names "
        "fixed before the run, up to the first that lacks something. Points; limits and p hold for all looks together. "
        "Last column: questions after which the check had passed."
    )
    return Section("At this look", 2, (Table((*columns, "passed after"), rows, n_text=3), about))
