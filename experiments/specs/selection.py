"""Which items of a set an experiment judges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import Item, content_digest
from experiments.errors import SpecError

__all__ = ["Selection", "select_items"]


@dataclass(frozen=True, slots=True)
class Selection:
    """What to keep of a set.

    ``sample`` items are drawn, evenly over the strata that ``stratify`` names (``kind``, ``topic``,
    ``answer_type`` or ``label``); ``limit`` makes the sample smaller or, without one, keeps the first
    so many items.
    """

    sample: int | None = None
    stratify: str | None = None
    seed: int = 0
    exclude_kinds: tuple[str, ...] = ()
    limit: int | None = None


def select_items(calibration_set: CalibrationSet, selection: Selection, *, where: str) -> CalibrationSet:
    """The set with only the selected items and their labels, in the set's order.

    Which items are drawn depends on their ids and the seed, not on their order in the file.

    Raises
    ------
    SpecError
        If an excluded kind does not occur, or nothing is left.
    """
    kinds = {item.kind for item in calibration_set.items}
    strangers = sorted(set(selection.exclude_kinds) - {kind for kind in kinds if kind})
    if strangers:
        known = sorted(kind for kind in kinds if kind)
        raise SpecError(f"{where}: items.exclude_kinds: {strangers} not in the set; expected some of {known}")
    items: Sequence[Item] = [item for item in calibration_set.items if item.kind not in selection.exclude_kinds]
    if selection.sample is not None:
        drawn = _draw(items, selection, calibration_set)
        items = [item for item in items if item.item_id in drawn]
    else:
        items = items[: selection.limit]
    if not items:
        raise SpecError(f"{where}: items: none of {len(calibration_set.items)} is left; expected one or more")
    kept = {item.item_id for item in items}
    labels = tuple(label for label in calibration_set.human_labels if label.item_id in kept)
    return replace(calibration_set, items=tuple(items), human_labels=labels)


def _draw(items: Sequence[Item], selection: Selection, calibration_set: CalibrationSet) -> set[str]:
    """Round-robin over the strata, each in an order fixed by the seed."""
    strata: dict[str, list[str]] = defaultdict(list)
    consensus = calibration_set.consensus().labels if selection.stratify == "label" else {}
    for item in items:
        strata[_stratum(item, selection.stratify, consensus.get(item.item_id))].append(item.item_id)
    queues = [
        sorted(ids, key=lambda item_id: content_digest([selection.seed, item_id])) for _, ids in sorted(strata.items())
    ]
    longest = max((len(queue) for queue in queues), default=0)
    order = [queue[turn] for turn in range(longest) for queue in queues if turn < len(queue)]
    return set(order[: selection.sample][: selection.limit])


def _stratum(item: Item, stratify: str | None, label: str | None) -> str:
    if stratify is None:
        return ""
    value = label if stratify == "label" else getattr(item, stratify)
    return str(value or "")
