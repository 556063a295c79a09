"""Strata of benchmark and calibration, the error rates of each, and reweighting to the benchmark's shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from score_runs import MATRIX, SIMPLEQA, Answer, decision, draw, page, run, scored

from experiments.analyses.scores.score_table import Intervals
from experiments.analyses.scores.scoring_page import scoring_fields
from experiments.analyses.scores.strata_reweighting import NO_STRATUM, compare_strata, reweight
from experiments.reports.plain import plain_value
from experiments.stats.correction import (
    GradedItems,
    LabelledItems,
    MissingStrataError,
    correct_scores,
    post_stratification_weights,
    stratum_corrections,
)

ROLES: dict[str, Any] = {"labels": SIMPLEQA.labels, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
STRICT: dict[str, Sequence[float]] = {**MATRIX, "CORRECT": (0.4, 0.02, 0.58)}
"""A grader that refuses two in five right answers, as it does on law."""

SHARES = (0.3, 0.1, 0.6)


def mixed(seed: int, art: int, law: int, prefix: str) -> list[Answer]:
    """Answers on art, graded well, and on law, graded strictly."""
    return draw(seed, art, {"x": SHARES}, prefix=f"{prefix}art", topics=["art"]) + draw(
        seed + 1, law, {"x": SHARES}, prefix=f"{prefix}law", topics=["law"], matrix=STRICT
    )


def labelled(answers: Sequence[Answer]) -> tuple[LabelledItems, list[str]]:
    counts = [[one.verdicts.count(label) for label in SIMPLEQA.labels] for one in answers]
    items = LabelledItems([str(one.truth) for one in answers], counts, [one.question for one in answers])
    return items, [one.topic or NO_STRATUM for one in answers]


def test_strata_are_those_of_the_statistics() -> None:
    bench, known = mixed(1, 100, 400, "q"), mixed(3, 400, 200, "c")
    found = scored(run("bench", bench, labels=False), run("cal", known))
    (topic,) = [one for one in found.respondents[0].strata if one.field == "topic"]
    assert [(one.name, one.n_calibration, one.n_benchmark) for one in topic.strata] == [
        ("art", 400, 100),
        ("law", 200, 400),
    ]
    assert topic.distance == pytest.approx(2 / 3 - 0.2)
    items, strata = labelled(known)
    graded_items, benchmark_strata = labelled(bench)
    benchmark = GradedItems(graded_items.counts, graded_items.clusters)
    weights = post_stratification_weights(strata, benchmark_strata)
    weighted = LabelledItems(items.reference, items.counts, items.clusters, weights)
    direct = correct_scores(benchmark, weighted, **ROLES)
    assert topic.reweighted is not None
    assert topic.reweighted.require_corrected()["f1"].value == pytest.approx(direct.require_corrected()["f1"].value)
    assert topic.effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    by_name = {one.stratum: one.correction for one in stratum_corrections(benchmark, items, strata, **ROLES)}
    assert {one.stratum: one.correction for one in topic.corrections} == by_name


def test_reweighting_finds_the_truth_where_the_mix_differs() -> None:
    bench, known = mixed(5, 300, 2700, "q"), mixed(7, 2700, 300, "c")
    data = run("bench", bench, labels=False), run("cal", known)
    truth = np.mean([one.truth == "CORRECT" for one in bench])
    plain = scored(*data).respondents[0].correction.require_corrected()["correct"]
    found = scored(*data, reweight="topic")
    weighted = found.respondents[0].correction.require_corrected()["correct"]
    assert plain.high < truth  # type: ignore[operator]
    assert weighted.low < truth < weighted.high  # type: ignore[operator]
    assert "The error rates are reweighted to the benchmark's shares of topic." in decision(found)
    assert "spread otherwise than the benchmark's by topic (x 6" in decision(scored(*data))


def test_strata_without_labelled_items_are_named_and_refused() -> None:
    bench, known = mixed(9, 100, 100, "q"), mixed(11, 300, 0, "c")
    data = run("bench", bench, labels=False), run("cal", known)
    found = scored(*data)
    (topic,) = [one for one in found.respondents[0].strata if one.field == "topic"]
    assert (topic.reweighted, topic.effective, topic.refused) == (None, None, "no labelled item of law")
    assert found.respondents[0].correction.status == "corrected"
    assert "no labelled item of law" in " ".join(page(found, 160).split())
    refused = scored(*data, reweight="topic").respondents[0].correction
    assert (refused.status, refused.reason) == ("uncorrected", "uncorrected: no labelled item with topic law")


def test_a_respondent_without_labelled_items_of_its_own() -> None:
    bench = draw(13, 200, {"a": SHARES, "b": SHARES})
    known = draw(14, 300, {"a": SHARES}, prefix="c")
    found = scored(run("bench", bench, labels=False), run("cal", known))
    strata = {one.respondent.name: one.strata[0] for one in found.respondents if one.strata}
    assert strata.keys() == {"b"}, "all of a's labelled items and all of a's benchmark are of a"
    assert (strata["b"].field, strata["b"].distance) == ("respondent", 1.0)
    assert strata["b"].refused == "no labelled item of b"
    assert "By the errors on its own labelled items: b: no labelled item of b." in decision(found)


def test_fields_that_say_nothing_are_left_out() -> None:
    bench, known = draw(15, 100, {"x": SHARES}), draw(16, 200, {"x": SHARES}, prefix="c")
    found = scored(run("bench", bench, labels=False), run("cal", known))
    assert found.respondents[0].strata == ()
    assert "Error rates by" not in page(found)
    some = [replace(one, topic="art") if place % 2 else one for place, one in enumerate(known)]
    found = scored(run("bench", bench, labels=False), run("cal", some))
    (topic,) = found.respondents[0].strata
    assert [one.name for one in topic.strata] == [NO_STRATUM, "art"]
    only = scored(run("bench", bench, labels=False), run("cal", some), fields=("kind",))
    assert only.respondents[0].strata == ()


def test_the_same_mix_reweights_to_the_same() -> None:
    bench, known = mixed(17, 200, 200, "q"), mixed(19, 150, 150, "c")
    found = scored(run("bench", bench, labels=False), run("cal", known))
    (topic,) = found.respondents[0].strata
    assert topic.distance == 0
    assert topic.reweighted is not None
    plain = found.respondents[0].correction.require_corrected()["f1"]
    assert topic.reweighted.require_corrected()["f1"].value == pytest.approx(plain.value)
    assert topic.effective == pytest.approx(300)
    assert "spread otherwise" not in decision(found)


def test_items_without_a_verdict_are_no_part_of_a_stratum() -> None:
    items, strata = labelled(mixed(21, 20, 20, "c"))
    more = LabelledItems(
        [*items.reference, "CORRECT"], [*np.asarray(items.counts).tolist(), [0, 0, 0]], [*items.clusters, "new"]
    )
    weights = reweight(more, [*strata, "art"], ["art", "law", "law"]).weights
    before = reweight(items, strata, ["art", "law", "law"]).weights
    assert np.asarray(weights)[:-1].tolist() == np.asarray(before).tolist()
    assert np.asarray(weights)[-1] == 0
    with pytest.raises(MissingStrataError):
        reweight(more, [*strata, "new"], ["new"])


def test_one_stratum_in_both_is_nothing_to_compare() -> None:
    items, _ = labelled(mixed(23, 10, 0, "c"))
    benchmark = GradedItems([[1, 0, 0]], ["q"])
    assert compare_strata("topic", benchmark, ["a"], items, ["a"] * 10, ROLES, Intervals(0.95, False)) is None


def test_a_stratum_that_identifies_nothing_is_told() -> None:
    bench, known = mixed(25, 200, 200, "q"), mixed(27, 300, 3, "c")
    found = scored(run("bench", bench, labels=False), run("cal", known))
    (topic,) = plain_value(scoring_fields(found))["respondents"][0]["strata"]
    law = next(one for one in topic["by_stratum"] if one["stratum"] == "law")
    assert law["status"] == "uncorrected"
    assert law["reason"].startswith("not identified")
