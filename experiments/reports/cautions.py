"""Warnings: what a reader must know before believing a figure of the report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.reports.costly_items import COSTLY

__all__ = ["grader_cautions", "is_pinned", "set_cautions"]

FEW_QUESTIONS = 10
"""Below so many clusters an interval can be far too narrow."""

FIXED_PROVIDERS = frozenset({"baseline", "local", "replay"})
"""Providers whose model cannot move: a program, weights known by their hash, recorded completions."""

RECORDED_PROVIDERS = frozenset({"", "import", "imported"})
"""Providers that name whoever gave the verdicts at the time: a date is not expected, but a moving name is told."""

UNCHECKED_SETTINGS = frozenset({"repeats", "seed"})
"""Seeds differ from call to call on purpose; repeats are no setting of a call."""

DATED = re.compile(r"\d{4}-?\d{2}-?\d{2}|[-@:]\d{3,4}\b|@[0-9a-f]{7,}")
MOVING = re.compile(r"(?<![a-z])(latest|newest)(?![a-z])", re.IGNORECASE)

Fields = Mapping[str, Any]

MOST_NAMED = 5


def is_pinned(model: str) -> bool:
    """Whether a model's name says which version it is: by provider, date, build number or hash."""
    provider, _, name = model.rpartition("/")
    first = provider.split("/")[0]
    if first in FIXED_PROVIDERS:
        return True
    return not MOVING.search(name) and (first in RECORDED_PROVIDERS or DATED.search(name) is not None)


def set_cautions(fields: Fields, *, n_items_in_set: int, n_stale: int) -> list[str]:
    """What to know about the set: few questions, missing labels, one class, a part only."""
    said = []
    if fields["n_items"] < n_items_in_set:
        said.append(f"set: {fields['n_items']} of its {n_items_in_set} items are in this run")
    if n_stale:
        said.append(f"set: {n_stale} labels were given to an older wording of their item; left out")
    if fields["n_same_content"]:
        said.append(f"set: {fields['n_same_content']} items repeat the content of another and share its verdicts")
    if fields["n_questions"] < FEW_QUESTIONS:
        said.append(f"set: {fields['n_questions']} questions only; intervals over fewer than {FEW_QUESTIONS} are rough")
    if not fields["n_labelled"]:
        said.append("set: no item has a label; error rates and agreement are not defined")
    classes = [label for label, count in fields["label_counts"].items() if count]
    if len(classes) == 1:
        said.append(f"set: one class only, all {fields['n_labelled']} labels are {classes[0]}")
    return said


def grader_cautions(section: Fields, *, parser_rule: str) -> list[str]:
    """What to know about one grader's figures."""
    said = [
        *_label_cautions(section),
        *_parser_cautions(section, parser_rule),
        *_missing_cautions(section),
        *_repeat_cautions(section),
        *_class_cautions(section),
        *_cluster_cautions(section),
        *_model_cautions(section["model"], section["served_models"], section.get("served", {})),
        *_backend_cautions(section.get("fingerprints", {})),
        *_costly_cautions(section.get("costly_items", ())),
        *_noted(section.get("notes", ())),
        *_sampling_cautions(section["sampling"], section["effective_sampling"]),
    ]
    return [f"grader {section['number']} ({section['model']}): {caution}" for caution in said]


def _label_cautions(section: Fields) -> list[str]:
    given, followed = section["labels"]["rubric"], section["rubric"]
    return [] if given == followed else [f"labels were given under {given}, the grader follows {followed}"]


def _parser_cautions(section: Fields, parser_rule: str) -> list[str]:
    if parser_rule == "official" and "robust" in section["parser_rule"]:
        return ["replies read by the robust parser: they are not letters, which the official one looks for"]
    return []


def _missing_cautions(section: Fields) -> list[str]:
    missing = section["n_expected"] - section["n_verdicts"]
    if not missing:
        return []
    text = f"{missing} of {section['n_expected']} verdicts missing; rates are over the valid ones"
    bounds = [
        f"{name} {_span(section[f'{field}_bounds'])}"
        for field, name in (("false_negative_rate", "false negatives"), ("false_positive_rate", "false positives"))
        if section[f"{field}_bounds"]
    ]
    return [f"{text}; all of them right to all wrong: {', '.join(bounds)}" if bounds else text]


def _span(bounds: Sequence[float]) -> str:
    return f"{100 * bounds[0]:.1f}% to {100 * bounds[1]:.1f}%"


def _repeat_cautions(section: Fields) -> list[str]:
    if section["n_repeats"] > 1 or section.get("exact"):
        return []
    return ["one verdict an item; flip rate, pairwise disagreement and alpha over repeats are not defined"]


def _class_cautions(section: Fields) -> list[str]:
    if section.get("exact"):
        return []  # a distribution has a little of every label
    used = [label for label, count in section["verdicts"].items() if count]
    return [f"every valid verdict is {used[0]}"] if len(used) == 1 else []


def _cluster_cautions(section: Fields) -> list[str]:
    rates = (("false_negative_rate", "false-negative rate"), ("false_positive_rate", "false-positive rate"))
    few = [
        f"{name} rests on {section[field]['clusters']} questions"
        for field, name in rates
        if section[field]["value"] is not None and section[field]["clusters"] < FEW_QUESTIONS
    ]
    return [f"{', '.join(few)}; intervals over fewer than {FEW_QUESTIONS} are rough"] if few else []


def _model_cautions(model: str, served: Sequence[str], counts: Mapping[str, int]) -> list[str]:
    said = []
    moving = [name for name in served if MOVING.search(name)]
    if moving or not is_pinned(model):
        named = moving[0] if moving else model
        said.append(f"unpinned model: {named!r} does not say which version answers")
    if len(served) > 1:
        shown = [f"{name} ({counts[name]:,})" if name in counts else name for name in served]
        said.append(f"the served model changed within the run: {', '.join(shown)}")
    return said


def _backend_cautions(fingerprints: Mapping[str, int]) -> list[str]:
    if len(fingerprints) < 2:
        return []
    named = ", ".join(f"{name} ({count:,})" for name, count in list(fingerprints.items())[:MOST_NAMED])
    more = "" if len(fingerprints) <= MOST_NAMED else ", and more"
    return [f"the service's backend changed within the run: {len(fingerprints)} fingerprints, {named}{more}"]


def _costly_cautions(items: Sequence[Fields]) -> list[str]:
    if not items:
        return []
    worst, share = items[0], sum(entry["share"] for entry in items)
    return [
        f"{len(items)} items take {COSTLY}x the median of tokens or more, {100 * share:.0f}% of all; "
        f"most: {worst['item_id']}, {worst['tokens']:,} tokens"
    ]


def _noted(notes: Sequence[str]) -> list[str]:
    """What was noted of the model when the run began; that its name is not pinned is told above."""
    return [note for note in notes if not note.startswith("the name is not pinned")]


def _sampling_cautions(asked: Fields, effective: Sequence[Fields]) -> list[str]:
    said = []
    for name in sorted(asked.keys() - UNCHECKED_SETTINGS):
        if asked[name] is None:
            continue
        found = [
            settings[name]
            for settings in effective
            if settings.get(name, asked[name]) != asked[name] and not _bound_to_labels(name, asked, settings)
        ]
        if found:
            values = ", ".join(sorted({str(value) for value in found}))
            said.append(f"{name} asked {asked[name]}, in force {values}")
    return said


def _bound_to_labels(name: str, asked: Fields, settings: Fields) -> bool:
    """Whether a lower limit of tokens only says that no more than a label could be written."""
    if name != "max_tokens" or settings.get("constrained") is not True:
        return False
    limit = settings[name]
    return isinstance(limit, int) and isinstance(asked[name], int) and 0 < limit < asked[name]
