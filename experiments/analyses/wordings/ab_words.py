"""The words of a comparison of wordings: rates, effects, rules, and the paragraph that a careful person would sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.analyses.p_values import p_text
from experiments.analyses.wordings.wording_comparison import AdoptedWording, WordingResult
from experiments.analyses.wordings.wording_grid import Bounds, WordingPairs
from experiments.reports.figures import count_of
from experiments.specs.decisions import AbSpec
from experiments.stats.comparisons.random_effects import Heterogeneity
from experiments.stats.comparisons.wording_rule import RuleCheck
from experiments.stats.estimate import Estimate

__all__ = [
    "bounds_cell",
    "decision_text",
    "effect_cell",
    "heterogeneity_cells",
    "missing_text",
    "name_of",
    "point_cell",
    "required_cell",
    "rule_text",
    "shown_quantities",
    "unit_of",
    "value_cell",
]

FEW_QUESTIONS = 10
MOST_SPELT = 3
"""Of more wordings than these the decision names the checks that failed; their numbers are in the table above it."""

OWN_UNIT = ("index",)
"""Quantities that are not shares, and are printed as they are."""

SCOPES = {
    "fixed": "on the average of these models",
    "sampled": "on average over models like these",
    "every-model": "in every one of these models",
}


def name_of(quantity: str) -> str:
    """A quantity as tables name it."""
    return "F1" if quantity == "f1" else quantity.replace("_", " ")


def value_cell(quantity: str, estimate: Estimate | None) -> str:
    """``61.2 [55.0, 67.1]``, in percent; a dash where it is not defined."""
    if estimate is None or estimate.value is None:
        return "-"
    value = _number(quantity, estimate.value)
    if estimate.low is None or estimate.high is None:
        return f"{value} [no interval]"
    return f"{value} [{_number(quantity, estimate.low)}, {_number(quantity, estimate.high)}]"


def effect_cell(quantity: str, estimate: Estimate | None) -> str:
    """``+3.1 [0.4, 5.8]``, in points."""
    shown = value_cell(quantity, estimate)
    positive = estimate is not None and estimate.value is not None and not shown.startswith("-")
    return f"+{shown}" if positive else shown


def point_cell(quantity: str, value: float | None) -> str:
    """A difference alone, in points."""
    return "-" if value is None else f"{round(_scale(quantity) * value, 1) + 0.0:+.1f}"


def bounds_cell(quantity: str, bounds: Bounds) -> str:
    """Lowest and highest value that what is missing allows; a dash where nothing is missing."""
    return "-" if bounds is None else f"{_number(quantity, bounds[0])} to {_number(quantity, bounds[1])}"


def heterogeneity_cells(found: Heterogeneity) -> tuple[str, str]:
    """Q with its degrees of freedom and p-value, and I squared in percent with its interval."""
    if found.q is None or found.i_squared is None:
        return "-", "-"
    spread = f"{100 * found.i_squared:.0f}%"
    if found.i_squared_low is not None and found.i_squared_high is not None:
        spread += f" [{100 * found.i_squared_low:.0f}, {100 * found.i_squared_high:.0f}]"
    return f"{found.q:.2f} ({found.degrees}), p {p_text(found.p_value)}", spread


def required_cell(check: RuleCheck) -> str:
    """What the lower end must lie above."""
    return f"{_scale(check.quantity) * check.required:+.1f}" if check.required else "0.0"


def rule_text(spec: AbSpec) -> str:
    """The rule in words."""
    text = f"adopt a wording that raises {name_of(spec.raises)} against {spec.control} {SCOPES[spec.scope]}"
    keeps = [
        f"{name_of(name)} may not fall by more than {_scale(name) * margin:g} points"
        for name, margin in spec.may_not_fall.items()
    ]
    return f"{text}, where {' and '.join(keeps)}" if keeps else text


def missing_text(spec: AbSpec) -> str:
    """What the rule takes missing answers or verdicts for."""
    if spec.missing == "ignorable":
        return "What is missing is taken to be like the rest"
    return "What is missing counts against a wording, and in favour of the control"


def decision_text(result: WordingResult) -> str:
    """What is decided, on what it rests, and what it does not say."""
    if result.rule is None:
        return (
            f"No decision: the experiment wrote no rule before the run, so these are estimates only. {_basis(result)} "
            "A rule that is written now, after looking, would need new questions. " + _limits(result)
        )
    return " ".join((_verdict(result), *_undecided(result), _basis(result), _level(result), _limits(result)))


def _verdict(result: WordingResult) -> str:
    adopted, chosen = [one for one in result.decisions if one.adopted], result.chosen
    rest = [one for one in result.decisions if not one.adopted and not one.undecided]
    if chosen is None and any(one.undecided for one in result.decisions):
        text = f"Not decided, so keep {result.control} for now."
    elif chosen is None:
        ending = " yet" if result.looks is not None and result.looks.n_seen < result.looks.n_questions else ""
        text = f"Keep {result.control}: no other wording meets the rule{ending}."
    else:
        also = f", and would if {_lost(result, chosen)} went against it" if chosen.worst_passes else ""
        text = f"Adopt {chosen.wording}: it meets the rule ({_numbers(chosen)}){also}."
        others = [one.wording for one in adopted if one is not chosen]
        if others:
            text += (
                f" So do {', '.join(others)}; {chosen.wording} has the largest estimate, which does not show that it "
                "is better than these."
            )
    if not rest:
        return text
    short = len(rest) > MOST_SPELT
    failed = "; ".join(f"{one.wording} ({_failed(one, short=short)})" for one in rest)
    return f"{text} Not shown to meet it, which is not the same as shown not to: {failed}."


def _undecided(result: WordingResult) -> Iterator[str]:
    """Wordings whose adoption rests on what is missing: what would have to be true, and what may be."""
    for one in result.decisions:
        lost = _lost(result, one)
        were = "was" if result.pairs[one.wording].missing == 1 else "were"
        worst = ", ".join(_worst_text(check) for check in one.worst if not check.passed)
        if one.undecided:
            opening = "" if result.chosen is None else "Not decided: "
            yield (
                f"{opening}{one.wording} would be adopted if {lost} {were} like the others ({_numbers(one)}), and not "
                f"if {lost} went against it ({worst})."
            )
        elif one.hangs_on_missing:
            yield (
                f"The adoption of {one.wording} hangs on {lost}, which the rule takes to be like the others: if all "
                f"went against it, it would not meet the rule ({worst})."
            )


def _lost(result: WordingResult, decided: AdoptedWording) -> str:
    noun, missing = ("answer" if result.facts.kind == "answer" else "verdict"), result.pairs[decided.wording].missing
    return f"the missing {noun}" if missing == 1 else f"the {missing:,} missing {noun}s"


def _worst_text(check: RuleCheck) -> str:
    where = f" in {check.model}" if check.model is not None else ""
    low = "not defined" if check.low is None else f"lower end {point_cell(check.quantity, check.low)}"
    return f"{name_of(check.quantity)}{where} {low}, must be above {required_cell(check)}"


def _numbers(decided: AdoptedWording) -> str:
    return ", ".join(_check_text(check) for check in decided.checks)


def _failed(decided: AdoptedWording, *, short: bool) -> str:
    failed = [check for check in decided.checks if not check.passed]
    if short:
        return ", ".join(dict.fromkeys(name_of(check.quantity) for check in failed))
    return ", ".join(map(_check_text, failed))


def _check_text(check: RuleCheck) -> str:
    where = f" in {check.model}" if check.model is not None else ""
    if check.value is None:
        return f"{name_of(check.quantity)}{where} not defined"
    low = "without an interval" if check.low is None else f"lower end {point_cell(check.quantity, check.low)}"
    value = point_cell(check.quantity, check.value)
    return f"{name_of(check.quantity)}{where} {value}, {low}, must be above {required_cell(check)}"


def _basis(result: WordingResult) -> str:
    facts, looks = result.facts, result.looks
    models = count_of(len(facts.models), "model")
    if looks is not None:
        rows = f"{looks.n_seen:,} of {count_of(looks.n_questions, 'question')} in an order fixed before the run"
    else:
        rows = f"{count_of(facts.n_items, unit_of(result))} of {count_of(facts.n_questions, 'question')}"
    text = f"It rests on {rows}, {len(facts.wordings)} wordings and {models}."
    partial = {wording: pairs for wording, pairs in result.pairs.items() if pairs.n_compared < pairs.n_asked}
    if not partial:
        return text
    short = len(partial) > MOST_SPELT or len(facts.models) > MOST_SPELT
    pairs = "; ".join(
        f"{wording} {_pairs_text(own, short=short)}{_average_text(result, wording)}" for wording, own in partial.items()
    )
    return f"{text} Pairs with both wordings: {pairs}."


def _average_text(result: WordingResult, wording: str) -> str:
    """Of looks: how many questions the average over models is of, for it needs one number a question."""
    if result.looks is None or len(result.facts.models) < 2:
        return ""
    look = next(one for one in result.looks.wordings if one.wording == wording).checks[0]
    if look.check.model is not None:
        return ""
    return f", its average of the {count_of(look.difference.estimate.n, 'question')} with both in every model"


def unit_of(result: WordingResult) -> str:
    """What is paired."""
    return "item" if result.facts.kind == "grader" else "question row"


def _pairs_text(pairs: WordingPairs, *, short: bool) -> str:
    text = f"{pairs.n_compared:,} of {pairs.n_asked:,}"
    if len(pairs.compared) < 2:
        return text
    if short:
        few = min(pairs.compared, key=lambda model: pairs.compared[model])
        return f"{text} (fewest {pairs.compared[few]:,} of {pairs.asked:,}, in {few})"
    return f"{text} ({', '.join(f'{n:,} of {pairs.asked:,} in {model}' for model, n in pairs.compared.items())})"


def _level(result: WordingResult) -> str:
    wrong, m = 100 * (1 - result.level) / 2, len(result.decisions)
    tried = "the wording" if m == 1 else f"any of the {m} wordings"
    holm = "" if m == 1 else " (Holm's steps)"
    looking = "" if result.looks is None else ", however often one looks and whenever one stops"
    text = f"The chance that {tried} is adopted without deserving it is held to {wrong:.3g}%{holm}{looking}"
    if not any(one.worst for one in result.decisions):
        return f"{text}."
    if result.rule is not None and result.rule.missing == "ignorable":
        return f"{text}, if what is missing is like the rest, which the rule takes for granted and nothing here shows."
    return f"{text}, whatever it is that is missing."


def _limits(result: WordingResult) -> str:
    facts = result.facts
    parts = []
    if facts.n_questions < FEW_QUESTIONS:
        parts.append(f"{facts.n_questions} questions are few: the intervals may be too short.")
    if result.rule is not None and result.rule.scope != "sampled":
        parts.append("It is about these models; what the wording does in others is not decided.")
    parts.append("It is about questions like these.")
    if facts.corrected_by is not None:
        parts.append(
            "Scores are corrected for the grader's errors, which are taken to be as frequent under every wording as on "
            "the labelled items."
        )
    elif facts.kind == "answer":
        parts.append("Scores are as the grader judged them, its errors uncorrected.")
    return " ".join(parts)


def _number(quantity: str, value: float) -> str:
    """One decimal, and no minus before a zero."""
    return f"{round(_scale(quantity) * value, 1) + 0.0:.1f}"


def _scale(quantity: str) -> float:
    return 1.0 if quantity in OWN_UNIT else 100.0


def shown_quantities(quantities: Sequence[str], kind: str, spec: AbSpec | None) -> tuple[str, ...]:
    """The quantities that a page shows, in order; the plain values have all."""
    first = ("attempted", "accuracy", "accuracy_given_attempted", "f1", "not_attempted")
    wanted = {*(first if kind == "answer" else quantities)}
    if spec is not None:
        wanted |= {spec.raises, *spec.may_not_fall}
    return tuple(name for name in dict.fromkeys((*first, *quantities)) if name in wanted and name in quantities)
