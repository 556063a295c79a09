"""What graders said of items, as labels that another program can show beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.analyses.graded_samples import GradedSample

__all__ = ["Hint", "read_hints"]


@dataclass(frozen=True, slots=True)
class Hint:
    """A grader's majority label of an item and its share of the grader's valid verdicts."""

    grader: str
    label: str
    share: float


def read_hints(graded: Sequence[GradedSample]) -> Mapping[str, Sequence[Hint]]:
    """Digest to one hint a grader; none where its verdicts are tied or there is no valid one."""
    hints: dict[str, list[Hint]] = {}
    for one in graded:
        for item, counts in zip(one.sample.items, one.sample.counts, strict=True):
            top = counts.max(initial=0)
            if top > 0 and int((counts == top).sum()) == 1:
                label = one.sample.scale.labels[int(counts.argmax())]
                hints.setdefault(item.digest, []).append(Hint(one.name, label, float(top / counts.sum())))
    return hints
