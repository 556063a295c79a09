"""Writes ``label_sets.json`` with nltk 3.10.4: MASI distances, and alpha of sets by its annotation task.

    pip install nltk numpy && python tests/references/make_label_sets.py

Two raters name one or two of four reasons for each item.
"""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
from nltk.metrics import AnnotationTask
from nltk.metrics.distance import masi_distance

REASONS = ("PROCESS", "FORMAL", "MISSING", "MISUSED")
SETS = [*({one} for one in REASONS), *(set(two) for two in combinations(REASONS, 2))]


def study(seed: int, n: int, agreeing: float) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    first = rng.choice(len(SETS), n, p=[0.2, 0.15, 0.2, 0.15, *[0.05] * 6])
    second = np.where(rng.random(n) < agreeing, first, rng.integers(0, len(SETS), n))
    triples = [
        (rater, str(item), frozenset(SETS[given]))
        for rater, labels in (("one", first), ("two", second))
        for item, given in enumerate(labels)
    ]
    return {
        "first": [sorted(SETS[one]) for one in first],
        "second": [sorted(SETS[one]) for one in second],
        "alpha": AnnotationTask(data=triples, distance=masi_distance).alpha(),
    }


if __name__ == "__main__":
    studies = [study(1, 12, 0.5), study(2, 60, 0.8), study(3, 60, 0.0), study(4, 200, 0.6)]
    found = {
        "sets": [sorted(one) for one in SETS],
        "distances": [[masi_distance(one, two) for two in SETS] for one in SETS],
        "studies": studies,
    }
    Path(__file__).with_name("label_sets.json").write_text(json.dumps(found) + "\n", encoding="utf-8")
