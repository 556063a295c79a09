"""What is odd about a set that loads, and what has changed between two versions of one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from calibration_sets.calibration_set import CalibrationSet, Consensus
from calibration_sets.item import Item
from calibration_sets.references.reference_lint import lint_reference
from calibration_sets.service_messages import is_service_message

__all__ = ["Finding", "compare_sets", "validate_set"]

RARE_SHARE = 0.1
"""A label with a smaller share of the consensus than this is called rare."""


# What services send in place of an answer, at the beginning of a text.
@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a person should look at; ``items`` are ids, in the order of the set."""

    code: str
    message: str
    items: tuple[str, ...] = ()


def validate_set(calibration_set: CalibrationSet) -> list[Finding]:
    """All findings on a set; none of them keeps it from being used.

    Codes: ``reference`` (what the reference's own checks say, such as an asymmetric range or a
    target outside its range), ``duplicate-content``, ``contradicting-duplicates``,
    ``several-references``, ``split-question``, ``provider-message`` (a service's
    error in place of a response), ``no-labels``, ``unlabelled``, ``tie``,
    ``single-rater``, ``absent-label``, ``rare-label``, ``no-positive-label``, ``other-rubric``.
    """
    checks: Sequence[Callable[[CalibrationSet], Iterable[Finding]]] = (
        _check_references,
        _check_duplicates,
        _check_questions,
        _check_responses,
        _check_scale,
        _check_rubrics,
        _check_labels,
    )
    return [finding for check in checks for finding in check(calibration_set)]


def _check_references(calibration_set: CalibrationSet) -> Iterator[Finding]:
    # One complaint a reference, however many answers to its question there are.
    items = _group(calibration_set.items, lambda item: (item.reference.text, item.reference.extra_aliases))
    for same in items:
        for complaint in lint_reference(same[0].reference):
            yield Finding("reference", complaint, _ids(same))


def _check_duplicates(calibration_set: CalibrationSet) -> Iterator[Finding]:
    consensus = calibration_set.consensus().labels
    for same in _group(calibration_set.items, lambda item: item.digest):
        if len(same) < 2:
            continue
        labels = {consensus[item.item_id] for item in same if item.item_id in consensus}
        message = "same question, reference and response"
        if len(labels) > 1:
            message += f", but labels {', '.join(sorted(labels))}"
            yield Finding("contradicting-duplicates", message, _ids(same))
        else:
            yield Finding("duplicate-content", message, _ids(same))


def _check_questions(calibration_set: CalibrationSet) -> Iterator[Finding]:
    for same in _group(calibration_set.items, lambda item: item.question.strip()):
        references = {(item.reference.text, item.reference.extra_aliases) for item in same}
        if len(references) > 1:
            yield Finding("several-references", f"one question with {len(references)} references", _ids(same))
        clusters = sorted({item.cluster_id for item in same})
        if len(clusters) > 1:
            named = ", ".join(clusters)
            yield Finding(
                "split-question", f"one question in clusters {named}; intervals will be too narrow", _ids(same)
            )


def _check_responses(calibration_set: CalibrationSet) -> Iterator[Finding]:
    said = [item for item in calibration_set.items if is_service_message(item)]
    if said:
        message = f"{len(said)} responses are a service's message and will not be graded, as {said[0].response[:60]!r}"
        yield Finding("provider-message", message, _ids(said))


def _check_scale(calibration_set: CalibrationSet) -> Iterator[Finding]:
    scale = calibration_set.scale
    if scale.positive is None:
        yield Finding("no-positive-label", f"scale {scale.name} has no positive label, so error rates are not defined")


def _check_rubrics(calibration_set: CalibrationSet) -> Iterator[Finding]:
    counts = Counter(label.rubric for label in calibration_set.human_labels)
    for rubric in calibration_set.rubrics[1:]:
        yield Finding("other-rubric", f"{counts[rubric]} labels under {rubric}, not the set's {calibration_set.rubric}")


def _check_labels(calibration_set: CalibrationSet) -> Iterator[Finding]:
    if not calibration_set.human_labels:
        yield Finding("no-labels", "no labels, so a grader's errors cannot be counted")
        return
    consensus = calibration_set.consensus()
    if consensus.unlabelled:
        yield Finding("unlabelled", f"{len(consensus.unlabelled)} items without a label", consensus.unlabelled)
    if consensus.tied:
        yield Finding("tie", f"{len(consensus.tied)} items without a strict majority", consensus.tied)
    yield from _check_raters(calibration_set)
    yield from _check_balance(calibration_set, consensus)


def _check_raters(calibration_set: CalibrationSet) -> Iterator[Finding]:
    raters = Counter(label.item_id for label in calibration_set.human_labels if label.rubric == calibration_set.rubric)
    if calibration_set.label_source == "human" and raters and max(raters.values()) == 1:
        yield Finding("single-rater", "one rater an item, so how far people agree is not known")


def _check_balance(calibration_set: CalibrationSet, consensus: Consensus) -> Iterator[Finding]:
    counts = Counter(consensus.labels.values())
    n_labelled = sum(counts.values())
    for label in calibration_set.scale.labels:
        if not counts[label]:
            yield Finding("absent-label", f"no item is {label}; rates over such items are not defined")
        elif counts[label] < RARE_SHARE * n_labelled:
            share = f"{counts[label]} of {n_labelled} items are {label}"
            yield Finding("rare-label", f"{share}; rates over them will be uncertain")


def compare_sets(before: CalibrationSet, after: CalibrationSet) -> list[Finding]:
    """What has changed from one version of a set to the next, by item id; empty if nothing has.

    Codes: ``added``, ``removed``, ``question-changed``, ``reference-changed``, ``response-changed``,
    ``label-changed`` (consensus under each set's own rubric).
    """
    old, new = ({item.item_id: item for item in one.items} for one in (before, after))
    shared = [item_id for item_id in new if item_id in old]
    findings = [
        _listing("added", "items added", [item_id for item_id in new if item_id not in old]),
        _listing("removed", "items removed", [item_id for item_id in old if item_id not in new]),
        _listing("question-changed", "questions reworded", [i for i in shared if old[i].question != new[i].question]),
        *(_changed_reference(old[i], new[i]) for i in shared),
        _listing("response-changed", "responses changed", [i for i in shared if old[i].response != new[i].response]),
        _listing("label-changed", "labels changed", _changed_labels(before, after, shared)),
    ]
    return [finding for finding in findings if finding]


def _listing(code: str, what: str, ids: Sequence[str]) -> Finding | None:
    return Finding(code, f"{len(ids)} {what}", tuple(ids)) if ids else None


def _changed_reference(old: Item, new: Item) -> Finding | None:
    if (old.reference.text, old.reference.extra_aliases) == (new.reference.text, new.reference.extra_aliases):
        return None
    change = f"reference was {old.reference.text!r}, is {new.reference.text!r}"
    if old.reference.text == new.reference.text:
        change = f"aliases were {list(old.reference.extra_aliases)}, are {list(new.reference.extra_aliases)}"
    return Finding("reference-changed", change, (new.item_id,))


def _changed_labels(before: CalibrationSet, after: CalibrationSet, shared: Iterable[str]) -> list[str]:
    was, now = before.consensus().labels, after.consensus().labels
    return [item_id for item_id in shared if was.get(item_id) != now.get(item_id)]


def _group(items: Iterable[Item], key: Callable[[Item], object]) -> list[list[Item]]:
    groups: dict[object, list[Item]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return list(groups.values())


def _ids(items: Iterable[Item]) -> tuple[str, ...]:
    return tuple(item.item_id for item in items)
