"""The part of a choice's page that says who keeps the limits, and who may be the best of them."""

from __future__ import annotations

from experiments.analyses.choice.choice_rule import RuleResult, Standing
from experiments.analyses.choice.choosing import Choice
from experiments.analyses.choice.choosing_words import RATE_WORDS, lost_text
from experiments.analyses.p_values import p_text
from experiments.reports.document import Block, Bullets, Paragraph, Section, Table
from experiments.reports.figures import count_of, percent

__all__ = ["rule_section"]


def rule_section(choice: Choice) -> Section | None:
    """Limits and the set; of a run's only grader the limits alone."""
    rule, alone = choice.rule, len(choice.candidates) == 1
    limits = list(choice.spec.limits.items())
    if alone and not (limits and rule.standings):
        return None
    rows = [
        (
            standing.name,
            *(f"{percent(check.low)} to {percent(check.high)}, {check.verdict}" for check in standing.checks),
            *(() if alone else _place_cells(standing)),
        )
        for standing in rule.standings
    ]
    heads = tuple(f"{RATE_WORDS[rate]} up to {100 * (one.limit + one.margin):g}%" for rate, one in limits)
    places = (RATE_WORDS[rule.rate], "points behind", "p, is the best", "may be the best")
    columns = ("grader", *heads, *(() if alone else places))
    about = "" if alone else f"{_comparison_text(rule)} "
    if rule.limit_level is not None:
        about += (
            f"Limits are held against intervals of level {rule.limit_level:.4g}, which allow for all of them at once "
            "and for whatever the missing verdicts would have been"
        )
        about += "." if alone else "; only a grader shown to keep them can push another out."
    blocks: list[Block] = [Table(columns, tuple(rows), 1 + len(limits)), Paragraph(about)]
    if rule.not_compared:
        blocks.append(Bullets(tuple(f"{name}: not compared, {why}." for name, why in rule.not_compared.items())))
    return Section("Under the rule", 2, tuple(blocks))


def _place_cells(standing: Standing) -> tuple[str, ...]:
    return (
        "-" if standing.mean is None else percent(standing.mean),
        f"{100 * standing.behind:.1f}" if standing.behind is not None else "-",
        p_text(standing.p_value),
        "yes" if standing.in_set else "no",
    )


def _comparison_text(rule: RuleResult) -> str:
    text = f"On the {count_of(rule.n, 'item')} of {count_of(rule.clusters, 'question')} that all compared have; "
    text += f"{lost_text(rule)}; the set at level {rule.set_level:g}."
    if rule.hanging:
        text += (
            f" With every missing verdict wrong, on all items: {', '.join(rule.if_wrong) or 'nobody'} may be the best, "
            f"so that the place of {', '.join(rule.hanging)} hangs on what is missing."
        )
    return text
