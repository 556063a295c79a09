"""The words of a page of probes: outcomes, effects, and the paragraph that a careful person would sign."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.analyses.choice.choosing_words import points_text
from experiments.analyses.p_values import p_text
from experiments.analyses.probes.probe_mutations import MutationEffect
from experiments.analyses.probes.probing import KindRate, ProbedGrader, Probing
from experiments.reports.figures import percent, rate_text
from experiments.reports.plain import estimate_fields
from graders.prompt_mutations import MUTATIONS

__all__ = ["decision_text", "kind_name", "outcome_text"]

NO_KIND = "(no kind)"


def kind_name(kind: KindRate) -> str:
    """A kind's name; that of all items is ``all``."""
    return "all" if kind.kind is None else kind.kind or NO_KIND


def outcome_text(kind: KindRate, grader: ProbedGrader, floor: float) -> str:
    """What is shown of a kind, in a cell."""
    if kind.estimate.value is None:
        return "no verdict"
    if not grader.same_rubric:
        return "other rubric"
    words = {"weak": "weak", "keeps": f"keeps {percent(floor)}", "undecided": "not decided"}
    return words[kind.outcome]


def decision_text(grader: ProbedGrader, probing: Probing) -> str:
    """One paragraph: weaknesses that are shown, what is not decided, what the mutations change, and the limits."""
    parts = [_basis(grader, probing)]
    if not grader.total.n_items:
        return " ".join([*parts, "Nothing is decided, as no item has a label."])
    parts += _kinds_text(grader, probing) if grader.same_rubric else [_rubric_text(grader)]
    parts += _mutations_text(grader)
    parts.append(
        "Probes are made up to be hard in one way each: they say where a prompt is weak, not how often it errs on the "
        "responses of a benchmark, for which people's labels are needed."
    )
    return " ".join(parts)


def _basis(grader: ProbedGrader, probing: Probing) -> str:
    total, estimate = grader.total, grader.total.estimate
    rate = "no verdict" if estimate.value is None else f"{rate_text(estimate_fields(estimate))} of verdicts pass"
    missing = "" if total.bounds is None else f", coverage {percent(total.coverage)}"
    return (
        f"{grader.name} on {total.n_items:,} probes of {len(grader.kinds):,} kinds whose labels hold by construction "
        f"under {grader.rubric} ({estimate.clusters:,} questions, {_repeats_text(estimate.repeats)}{missing}): {rate}, "
        f"over the set's mix of kinds. Each kind is held to a pass rate of {percent(probing.floor)} at level "
        f"{percent(probing.level)}, adjusted for the number of kinds by Holm's method."
    )


def _repeats_text(repeats: int) -> str:
    return "one verdict an item" if repeats == 1 else f"up to {repeats:,} verdicts an item"


def _rubric_text(grader: ProbedGrader) -> str:
    return (
        f"The prompt states {grader.grader_rubric}, under which no probe has a label: a failure may be what its own "
        "rules say, so no weakness is shown or ruled out; what can be read is the list of failed probes."
    )


def _kinds_text(grader: ProbedGrader, probing: Probing) -> list[str]:
    weak, keeps, open_kinds = (grader.of_outcome(outcome) for outcome in ("weak", "keeps", "undecided"))
    floor = percent(probing.floor)
    parts = [
        f"Shown to be weak, with the upper limit below {floor}: {_listed(weak)}."
        if weak
        else f"No weakness is shown: no kind has its upper limit below {floor}."
    ]
    if keeps:
        parts.append(f"Shown to keep {floor}: {_listed(keeps)}.")
    if not open_kinds:
        return parts
    failing = [kind for kind in open_kinds if kind.estimate.value is not None and kind.estimate.value < 1]
    clean = [kind for kind in open_kinds if kind.estimate.value == 1]
    silent = [kind for kind in open_kinds if kind.estimate.value is None]
    parts.append(f"Not decided: {len(open_kinds):,} kinds.")
    if failing:
        parts.append(f"Of these some verdicts fail in {_listed(failing)}.")
    if clean:
        parts.append(f"Every verdict passes in {_names(clean)}, too few probes to show {floor}.")
    if silent:
        parts.append(f"There is no verdict in {_names(silent)}.")
    return parts


def _mutations_text(grader: ProbedGrader) -> list[str]:
    if not grader.effects:
        return ["No mutation of the prompt was tried."]
    changed = [effect for effect in grader.effects if effect.changed]
    hanging = [effect for effect in grader.effects if effect.hangs_on_missing]
    same = [effect for effect in grader.effects if effect.changed is False and not effect.hangs_on_missing]
    silent = [effect for effect in grader.effects if effect.changed is None]
    tried = {effect.mutation for effect in grader.effects}
    parts = []
    if changed:
        parts.append(f"The prompt's form moves verdicts where it should not: {_effects(changed)}.")
    if same:
        parts.append(f"No change of the pass rate is shown by {_effects(same)}; that does not show that there is none.")
    if hanging:
        parts.append(
            f"Over the items that came back there is a change by {_effects(hanging)}; the verdicts that are missing "
            "could undo it, so it is not decided."
        )
    if silent:
        parts.append(f"Nothing can be said of {', '.join(effect.mutation for effect in silent)}: no verdict.")
    left_out = [mutation for mutation in MUTATIONS if mutation not in tried]
    return [*parts, f"Not tried: {', '.join(left_out)}."] if left_out else parts


def _effects(effects: Sequence[MutationEffect]) -> str:
    return "; ".join(
        f"{effect.mutation} ({points_text(effect.comparison.difference.estimate)} points, adjusted p "
        f"{p_text(effect.adjusted)}, {effect.n_worse:,} worse and {effect.n_better:,} better of "
        f"{effect.comparison.difference.estimate.n:,} items)"
        for effect in effects
    )


def _listed(kinds: Sequence[KindRate]) -> str:
    return ", ".join(f"{kind_name(kind)} ({percent(kind.estimate.value)})" for kind in kinds)


def _names(kinds: Sequence[KindRate]) -> str:
    return ", ".join(map(kind_name, kinds))
