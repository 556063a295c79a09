"""Agreement on labels that are sets, against nltk and scikit-learn, and at its edges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from calibration_sets.scale import DER2_ERRORS, PART_SEPARATOR
from experiments.stats.raters import LabelSetAgreement, label_set_agreement, masi_distance

STORED: dict[str, Any] = json.loads((Path(__file__).parent / "references" / "label_sets.json").read_text("utf-8"))
LABELS = DER2_ERRORS.labels
PARTS = [label.split(PART_SEPARATOR) for label in LABELS]
sets = st.frozensets(st.sampled_from("abcd"))


def agreed(reference: list[str], counts: list[list[int]], clusters: Any = None) -> LabelSetAgreement:
    return label_set_agreement(
        reference,
        counts,
        range(len(reference)) if clusters is None else clusters,
        labels=LABELS,
        parts=PARTS,
        rng=np.random.default_rng(1),
        resamples=200,
    )


def label_of(parts: list[str]) -> str:
    return next(label for label, own in zip(LABELS, PARTS, strict=True) if set(own) == set(parts))


def single(labels: list[str]) -> list[list[int]]:
    return [[int(label == given) for label in LABELS] for given in labels]


def test_distances_are_those_of_nltk() -> None:
    for one, row in zip(STORED["sets"], STORED["distances"], strict=True):
        for two, expected in zip(STORED["sets"], row, strict=True):
            assert masi_distance(one, two) == pytest.approx(expected, abs=1e-12)


@given(sets, sets)
def test_the_distance_is_symmetric_within_0_and_1_and_0_for_equal_sets_alone(
    one: frozenset[str], two: frozenset[str]
) -> None:
    distance = masi_distance(one, two)
    assert distance == masi_distance(two, one)
    assert 0 <= distance <= 1
    assert (distance == 0) == (one == two)
    assert (distance == 1) == (one != two and not one & two)


@pytest.mark.parametrize("study", STORED["studies"], ids=lambda study: str(len(study["first"])))
def test_alpha_and_kappas_are_those_of_nltk_and_scikit_learn(study: dict[str, Any]) -> None:
    first, second = ([label_of(parts) for parts in study[rater]] for rater in ("first", "second"))
    found = agreed(first, single(second))
    assert found.alpha.value == pytest.approx(study["alpha"], abs=1e-12)
    for part, kappa in found.kappas.items():
        one, two = ([part in parts for parts in study[rater]] for rater in ("first", "second"))
        assert kappa.value == pytest.approx(cohen_kappa_score(one, two), abs=1e-12)
        assert found.prevalence[part] == pytest.approx(np.mean(one))
        assert kappa.low is not None
        assert kappa.high is not None
        assert kappa.low < kappa.high


def test_a_near_miss_costs_less_than_a_miss() -> None:
    people = ["PROCESS", "FORMAL", "MISSING", "MISUSED"] * 5
    near = [label_of([one, "MISUSED" if one != "MISUSED" else "FORMAL"]) for one in people]
    far = ["FORMAL" if one != "FORMAL" else "MISSING" for one in people]
    close, miss = agreed(people, single(near)).alpha.value, agreed(people, single(far)).alpha.value
    assert close is not None
    assert miss is not None
    assert miss < 0 < close < 1


def test_one_set_throughout_has_no_coefficient() -> None:
    found = agreed(["FORMAL"] * 6, single(["FORMAL"] * 6))
    assert found.alpha.value is None
    assert {kappa.value for kappa in found.kappas.values()} == {None}
    assert found.prevalence == {"PROCESS": 0, "FORMAL": 1, "MISSING": 0, "MISUSED": 0}


def test_items_without_a_verdict_are_left_out() -> None:
    people = ["FORMAL", "MISSING", "PROCESS + MISSING"]
    found = agreed(people, [*single(people[:2]), [0] * len(LABELS)])
    assert found.alpha.n == 2
    assert found.prevalence["PROCESS"] == 0
    assert agreed([], []).prevalence == {}


@pytest.mark.parametrize("parts", [PARTS[:3], [PARTS[0]] * len(PARTS)])
def test_two_labels_for_one_set_are_refused(parts: list[list[str]]) -> None:
    with pytest.raises(ValueError, match=r"^parts: .*; expected 10 different ones"):
        label_set_agreement([], [], [], labels=LABELS, parts=parts, rng=np.random.default_rng(1))
