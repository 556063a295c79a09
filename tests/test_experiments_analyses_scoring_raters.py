"""Several raters: how one label came of theirs, how far they agree, and the scores by each one's labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from score_runs import RUBRIC, SIMPLEQA, Answer, decision, draw, page, run, scored

from calibration_sets.item import HumanLabel
from experiments.analyses.scores.scoring_page import scoring_fields
from experiments.analyses.scores.scoring_raters import MOST_RATERS
from experiments.reports.inputs import RunData
from experiments.reports.plain import plain_value

SHARES = {"good": (0.2, 0.1, 0.7)}


@pytest.fixture(scope="module")
def bench() -> RunData:
    return run("bench", draw(1, 300, SHARES), labels=False)


@pytest.fixture(scope="module")
def known() -> list[Answer]:
    return draw(2, 400, {"other": (0.4, 0.2, 0.4)}, prefix="c")


def rated(answers: Sequence[Answer], raters: Sequence[Sequence[str | None]]) -> RunData:
    """The calibration with these labels of each rater, ``None`` for none."""
    data = run("cal", answers, labels=False)
    labels = tuple(
        HumanLabel(item.item_id, item.digest, f"rater {number}", label, RUBRIC)
        for number, given in enumerate(raters)
        for item, label in zip(data.calibration_set.items, given, strict=True)
        if label is not None
    )
    return replace(data, calibration_set=replace(data.calibration_set, human_labels=labels))


def lenient(truth: Sequence[str], share: float, seed: int) -> list[str]:
    """Calls some wrong answers right."""
    pass_it = np.random.default_rng(seed).random(len(truth)) < share
    return ["CORRECT" if at and label == "INCORRECT" else label for at, label in zip(pass_it, truth, strict=True)]


def test_one_rater_is_told(bench: RunData, known: list[Answer]) -> None:
    truth = [str(one.truth) for one in known]
    found = scored(bench, rated(known, [truth]))
    assert found.respondents[0].by_rater == {}
    assert found.agreement is None
    assert "One rater labelled" in " ".join(page(found).split())
    assert "rater's alone" not in decision(found)


def test_each_rater_in_turn_is_the_correction_by_that_one_s_labels(bench: RunData, known: list[Answer]) -> None:
    truth = [str(one.truth) for one in known]
    raters = [truth, lenient(truth, 0.3, 1), truth[:200] + [None] * 200]
    found = scored(bench, rated(known, raters))
    (good,) = found.respondents
    assert set(good.by_rater) == {"rater 0", "rater 1", "rater 2"}
    for number, given in enumerate(raters):
        alone = scored(bench, rated(known, [given])).respondents[0].correction
        assert good.by_rater[f"rater {number}"].corrected == alone.corrected
    values = sorted(one.require_corrected()["f1"].value or 0.0 for one in good.by_rater.values())
    assert f"would lie within: good [{100 * values[0]:.1f}, {100 * values[-1]:.1f}]." in decision(found)
    assert values[-1] - values[0] > 0.02


def test_how_labels_became_one_and_how_far_raters_agree(bench: RunData, known: list[Answer]) -> None:
    truth: list[str | None] = [str(one.truth) for one in known]
    second = [*("CORRECT" if label == "INCORRECT" else "INCORRECT" for label in truth[:20]), *truth[20:]]
    found = scored(bench, rated(known, [truth, second]))
    words = " ".join(page(found).split())
    assert "2 raters; with labels of two or more: 400 items." in words
    assert "raters differ on 20 items; left out, for want of such a label: 20." in words
    assert "Two raters of one item agree in 95.0% [" in words
    assert found.agreement is not None
    assert found.agreement.pairwise.value == pytest.approx(0.95)
    assert found.calibration is not None
    assert (found.calibration.tied, found.calibration.sample.n_items) == (20, 380)
    # By themselves raters count on all their items, those on which they differ too.
    assert found.calibration.raters.labels["rater 1"].count(None) == 0
    fields = plain_value(scoring_fields(found))
    assert fields["raters"]["n_tied"] == 20
    assert set(fields["respondents"][0]["by_rater"]) == {"rater 0", "rater 1"}


def test_raters_who_identify_nothing_alone_are_counted(bench: RunData, known: list[Answer]) -> None:
    truth: list[str | None] = [str(one.truth) for one in known]
    one_label = [label if label == "CORRECT" else None for label in truth]
    found = scored(bench, rated(known, [truth, one_label]))
    assert found.respondents[0].by_rater["rater 1"].status == "uncorrected"
    assert "1 of 2" in page(found)


def test_of_a_crowd_those_with_most_labels_are_the_reference_in_turn(bench: RunData, known: list[Answer]) -> None:
    truth = [str(one.truth) for one in known]
    crowd = [[None] * number + truth[number:] for number in range(MOST_RATERS + 5)]
    found = scored(bench, rated(known, crowd))
    assert set(found.respondents[0].by_rater) == {f"rater {number}" for number in range(MOST_RATERS)}
    assert f"In turn are the {MOST_RATERS} with the most labels." in " ".join(page(found).split())


def test_the_order_of_labels_moves_no_digit(bench: RunData, known: list[Answer]) -> None:
    truth = [str(one.truth) for one in known]
    data = rated(known, [truth, lenient(truth, 0.3, 2), lenient(truth, 0.2, 3)])
    turned = replace(
        data, calibration_set=replace(data.calibration_set, human_labels=data.calibration_set.human_labels[::-1])
    )
    assert plain_value(scoring_fields(scored(bench, data))) == plain_value(scoring_fields(scored(bench, turned)))


def test_a_label_that_only_one_rater_gives_identifies_nothing(bench: RunData, known: list[Answer]) -> None:
    never = {"INCORRECT": (0.9, 0.0, 0.1), "CORRECT": (0.1, 0.0, 0.9)}
    answers = draw(4, 300, {"other": (0.5, 0.0, 0.5)}, prefix="c", matrix=never)
    responses = run("bench", draw(5, 300, {"good": (0.3, 0.0, 0.7)}, matrix=never), labels=False)
    truth: list[str | None] = [str(one.truth) for one in answers]
    odd = ["NOT_ATTEMPTED", *truth[1:]]
    found = scored(responses, rated(answers, [truth, truth, odd]))
    assert found.labels == tuple(label for label in SIMPLEQA.labels if label != "NOT_ATTEMPTED")
    assert found.respondents[0].by_rater["rater 2"].reason == "not identified: no verdict is NOT_ATTEMPTED"
    assert found.respondents[0].by_rater["rater 1"].status == "corrected"
