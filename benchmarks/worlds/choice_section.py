"""The section on graders."""

from __future__ import annotations

from collections.abc import Sequence

from validity.tables import markdown_table

from worlds.choice_trial import LEVEL, ChoiceTrial
from worlds.population import LIMIT
from worlds.tallies import Tally, count_events, percent

__all__ = ["buys_choices", "choice_section", "claim_choices"]

RULES = ("choose", "unadjusted", "estimates")
WORDS = {
    "choose": "`choose`",
    "unadjusted": "pairs without adjustment",
    "estimates": "estimates alone",
}
SPECS = {"lowest": "lowest error rate", "within": "lowest false negatives within the limit"}
TEMPLATE = """\
## Which grader: `choose`

Two rules over the same twelve graders, at {level}: the lowest error rate; and the lowest false-negative rate among
those whose false positives keep 2% by a margin of 1 point ({limit} in all). `choose` promises that the truly best of
those that truly keep the limit is in its set, and that with a chance of {half} at most any grader is said to keep a
limit that it breaks. "Pairs without adjustment" keeps whoever is not significantly worse than the one that looks
best, each pair by itself, among those whose estimate keeps the limit; "estimates alone" takes the one that looks best.

{left_out}
Graders that break the limit by a hair and were said to keep it, and those that were then taken:

{broke}
What is taken is the lowest estimate in the set among those shown to keep the limit. `choose` takes nobody where nobody
is shown to keep it; its set then still holds those that may. A rate below the best's is that of a grader that breaks
the limit.

{taken}"""


def choice_section(trials: Sequence[ChoiceTrial]) -> tuple[str, list[Tally]]:
    """The section, and what was promised."""
    keys = [(spec, rule) for spec in SPECS for rule in RULES]
    left = {key: _left_out(trials, *key) for key in keys}
    broke = {rule: _broke(trials, rule) for rule in RULES if rule != "unadjusted"}
    head = ["rule", "decided by", "the best is left out", "share", "95% bounds", "promised", "", "members"]
    text = TEMPLATE.format(
        level=percent(LEVEL),
        limit=percent(LIMIT),
        half=percent((1 - LEVEL) / 2),
        left_out=markdown_table(
            head,
            [[SPECS[spec], WORDS[rule], *left[spec, rule].cells, _size(trials, spec, rule)] for spec, rule in keys],
        ),
        broke=markdown_table(
            ["decided by", "one breaks the limit", "share", "95% bounds", "promised", "", "and is taken"],
            [[WORDS[rule], *tally.cells, _took(trials, rule)] for rule, tally in broke.items()],
        ),
        taken=markdown_table(
            ["rule", "decided by", "takes one", "its true rate above the best's, mean"],
            [[SPECS[spec], WORDS[rule], *_excess(trials, spec, rule)] for spec, rule in keys if rule != "unadjusted"],
        ),
    )
    return text, claim_choices(trials)


def claim_choices(trials: Sequence[ChoiceTrial]) -> list[Tally]:
    """What is promised."""
    return [*(_left_out(trials, spec, "choose") for spec in SPECS), _broke(trials, "choose")]


def buys_choices(trials: Sequence[ChoiceTrial]) -> list[str]:
    """What there is without the care, in words."""
    left = {(spec, rule): _left_out(trials, spec, rule).share for spec in SPECS for rule in RULES}
    lines = [
        f"The best grader ({SPECS[spec]}) is left out in {left[spec, 'choose']} of the worlds by `choose`, in "
        f"{left[spec, 'unadjusted']} by pairs without adjustment, in {left[spec, 'estimates']} by estimates alone."
        for spec in SPECS
    ]
    broke = {rule: _broke(trials, rule).share for rule in RULES}
    last = f"A grader that breaks the limit is said to keep it in {broke['choose']} by `choose`"
    return [*lines, f"{last}, in {broke['estimates']} by estimates alone."]


def _own(trials: Sequence[ChoiceTrial], spec: str, rule: str) -> list[ChoiceTrial]:
    return [one for one in trials if (one.spec, one.rule) == (spec, rule)]


def _left_out(trials: Sequence[ChoiceTrial], spec: str, rule: str) -> Tally:
    events = [one.left_out for one in _own(trials, spec, rule)]
    name = f"{WORDS[rule]} leaves out the best ({SPECS[spec]})"
    return count_events(name, events, promised=1 - LEVEL if rule == "choose" else None)


def _broke(trials: Sequence[ChoiceTrial], rule: str) -> Tally:
    events = [one.broke for one in _own(trials, "within", rule)]
    name = f"{WORDS[rule]} says that one keeps the limit which breaks it"
    return count_events(name, events, promised=(1 - LEVEL) / 2 if rule == "choose" else None)


def _took(trials: Sequence[ChoiceTrial], rule: str) -> str:
    return count_events("taken", [one.took_breaking for one in _own(trials, "within", rule)]).cells[0]


def _size(trials: Sequence[ChoiceTrial], spec: str, rule: str) -> str:
    sizes = [one.size for one in _own(trials, spec, rule)]
    return f"{sum(sizes) / len(sizes):.1f}"


def _excess(trials: Sequence[ChoiceTrial], spec: str, rule: str) -> list[str]:
    own = _own(trials, spec, rule)
    gaps = [one.excess for one in own if one.excess is not None]
    mean = f"{100 * sum(gaps) / len(gaps):+.2f} points" if gaps else "—"
    return [f"{len(gaps):,} of {len(own):,}", mean]
