"""The rule of a comparison of wordings, check by check, at its end or at a look."""

from __future__ import annotations

from experiments.analyses.p_values import p_text
from experiments.analyses.wordings.ab_words import effect_cell, name_of, point_cell, required_cell
from experiments.analyses.wordings.wording_comparison import AdoptedWording, WordingResult
from experiments.reports.document import Paragraph, Section, Table
from experiments.stats.comparisons.wording_rule import RuleCheck

__all__ = ["checks_section", "looks_section"]

CHECKS = "The rule, check by check"


def checks_section(result: WordingResult, *, brief: bool) -> Section:
    """Every check of the rule; ``brief`` counts those of a rule for every model."""
    lacking = any(one.worst for one in result.decisions)
    if brief and result.rule is not None and result.rule.scope == "every-model":
        return _checks_by_wording(result)
    named = any(check.model for one in result.decisions for check in one.checks)
    rows = tuple(
        (
            one.wording,
            name_of(check.quantity),
            *([check.model or "average"] if named else []),
            f"{100 * one.level:.4g}%",
            point_cell(check.quantity, check.value),
            point_cell(check.quantity, check.low),
            *([_worst_cell(one, check)] if lacking else []),
            required_cell(check),
            "yes" if _holds(one, check) else "no",
        )
        for one in result.decisions
        for check in one.checks
    )
    worst = ("at worst",) if lacking else ()
    model = ("model",) if named else ()
    columns = ("wording", "quantity", *model, "level", "effect", "lower end", *worst, "must be above", "passed")
    about = [_about_worst(result)] if lacking else []
    return Section(CHECKS, 2, (Table(columns, rows, n_text=2 + len(model)), *about))


def _worst_cell(decided: AdoptedWording, check: RuleCheck) -> str:
    worst = decided.worst_of(check)
    return point_cell(check.quantity, check.low if worst is None else worst.low)


def _holds(decided: AdoptedWording, check: RuleCheck) -> bool:
    """Whether a check has passed as far as the rule asks; an adopted wording has passed all."""
    worst = decided.worst_of(check)
    return check.passed and (decided.adopted or worst is None or worst.passed)


def _about_worst(result: WordingResult) -> Paragraph:
    ignorable = result.rule is not None and result.rule.missing == "ignorable"
    told = "shown alone, as the rule takes what is missing to be like the rest" if ignorable else "it must hold too"
    return Paragraph(
        f"At worst: the lower end if all that is missing went against the wording and for the control; {told}."
    )


def _checks_by_wording(result: WordingResult) -> Section:
    """In how many models each check passed, and the lowest of their lower ends."""
    rows = []
    for one in result.decisions:
        for name in dict.fromkeys(check.quantity for check in one.checks):
            own = [check for check in one.checks if check.quantity == name]
            passed = sum(_holds(one, check) for check in own)
            lows = [check.low for check in own if check.low is not None]
            lowest = point_cell(name, min(lows)) if lows else "-"
            count = f"{passed} of {len(own)}"
            rows.append((one.wording, name_of(name), f"{100 * one.level:.4g}%", lowest, required_cell(own[0]), count))
    columns = ("wording", "quantity", "level", "lowest lower end", "must be above", "passed in models")
    return Section(CHECKS, 2, (Table(columns, tuple(rows), n_text=2),))


def looks_section(result: WordingResult) -> Section:
    """Every check at the last look; ``ValueError`` for a comparison without looks."""
    looks = result.looks
    if looks is None:
        raise ValueError("looks: none; expected a comparison that may be looked at while it runs")
    lacking = any(one.worst for one in result.decisions)
    rows = tuple(
        (
            one.wording,
            name_of(look.check.quantity),
            look.check.model or "average",
            f"{look.difference.estimate.n:,}",
            effect_cell(look.check.quantity, look.difference.estimate),
            p_text(look.difference.p_value),
            p_text(look.adjusted),
            f"{100 * one.level:.4g}%",
            point_cell(look.check.quantity, look.check.low),
            *([_worst_cell(one, look.check)] if lacking else []),
            required_cell(look.check),
            "-" if look.first_look is None else f"{look.first_look:,}",
        )
        for one, looked in zip(result.decisions, looks.wordings, strict=True)
        for look in looked.checks
    )
    worst = ("at worst",) if lacking else ()
    columns = ("wording", "quantity", "model", "questions", "effect", "p", "Holm p", "level", "lower end", *worst)
    about = Paragraph(
        f"{looks.n_seen:,} of {looks.n_questions:,} questions, each of equal weight, in an order that their names "
        "fixed before the run, up to the first that is still to be asked. Questions: those with a number under both "
        "wordings; for an average, in every model, where a comparison of a fixed size averages the effects of the "
        "models, each on its own. Points; limits and p hold for all looks together. Passed after: questions of the "
        "order after which the check had passed on what is there."
    )
    table = Table((*columns, "must be above", "passed after"), rows, n_text=3)
    return Section("At this look", 2, (table, about, *([_about_worst(result)] if lacking else [])))
