"""Gates, queues and plans on people's labels of 1,490 answers and the verdicts of three graders."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from calibration_sets.importers import import_nq301
from calibration_sets.tables import read_table
from calibration_sets.writer import write_set
from experiments.analyses.gates.gate_rules import NotWorse, parse_rule
from experiments.analyses.gates.gating import check_gate
from experiments.analyses.graded_samples import GradedSample, find_graded, read_graded_samples
from experiments.analyses.plans.planning import LabelsQuestion, plan_labels
from experiments.analyses.plans.planning_inputs import read_run_figures
from experiments.analyses.queues.queue_file import COLUMNS, read_labelled_queue, write_queue_text
from experiments.analyses.queues.queue_rates import estimate_queue_rates
from experiments.analyses.queues.queueing import draw_queue
from experiments.running.verdict_import import import_verdicts
from experiments.stats.comparisons import non_inferiority_test
from experiments.stats.errors import false_negative_rate
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore


@pytest.fixture(scope="module")
def graded(calibration_data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[GradedSample, ...]:
    folder = tmp_path_factory.mktemp("nq301")
    imported = import_nq301(calibration_data / "nq301")
    write_set(imported.calibration_set, folder / "set")
    imported.write_verdicts(folder / "verdicts.jsonl")
    with RunStore(folder / "s.sqlite") as store:
        run_id = import_verdicts(folder / "verdicts.jsonl", str(folder / "set"), store)
        return read_graded_samples(load_run_data(store, run_id)[0])


def test_a_gate_is_the_statistics_called_directly(graded: tuple[GradedSample, ...]) -> None:
    one, other = find_graded(graded, "gpt-4"), find_graded(graded, "text-davinci-003")
    gate = check_gate(
        one, [parse_rule("upper(false_negative_rate) <= 10%"), parse_rule("lower(false_negative_rate) >= 5%")],
        level=0.95, baseline=other, not_worse=[NotWorse("error_rate", 0.01)],
    )  # fmt: skip
    sample = one.sample
    expected = false_negative_rate(
        sample.labels_given, sample.counts, sample.clusters, labels=sample.scale.labels, positive="CORRECT"
    )
    assert gate.rules[0].measured.estimate == expected
    assert [check.outcome for check in gate.rules] == ["fail", "pass"]
    wrong = []
    for grader in (one, other):
        right = np.array([label == "CORRECT" for label in sample.labels_given])
        passed = np.where(grader.sample.counts.sum(axis=1) > 0, grader.sample.counts[:, 1], np.nan)
        wrong.append(np.where(right, 1 - passed, passed))
    test = non_inferiority_test(*wrong, sample.clusters, margin=0.01, lower_is_better=True)
    assert gate.comparisons[0].test.p_value == pytest.approx(test.p_value, rel=1e-9)
    assert gate.comparisons[0].outcome == "pass"
    assert gate.outcome == "fail"


def test_a_queue_gives_the_rates_that_all_labels_give(graded: tuple[GradedSample, ...], tmp_path: Path) -> None:
    grader = find_graded(graded, "text-davinci-003")
    sample = grader.sample
    people = {item.digest: label for item, label in zip(sample.items, sample.labels_given, strict=True)}
    truth = false_negative_rate(
        sample.labels_given, sample.counts, sample.clusters, labels=sample.scale.labels, positive="CORRECT"
    ).value
    held, values, plain = 0, [], []
    for seed in range(20):
        drawn = draw_queue(graded, most=250, random_share=0.5, seed=seed)
        rows = list(csv.DictReader(io.StringIO(write_queue_text(drawn))))
        file = tmp_path / "q.csv"
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS)
            writer.writeheader()
            writer.writerows(row | {"label": people[row["item_digest"]]} for row in rows)
        found = estimate_queue_rates(graded, read_labelled_queue(read_table(file), sample.scale.labels), level=0.95)
        rate = next(one for one in found.graders if one.name == grader.name).false_negative_rate
        assert rate.value is not None
        assert rate.low is not None
        assert rate.high is not None
        assert truth is not None
        held += rate.low <= truth <= rate.high
        values.append(rate.value)
        right = [row for row in rows if people[row["item_digest"]] == "CORRECT"]
        plain.append(np.mean([f"{grader.name}: CORRECT" not in row["verdicts"] for row in right]))
    assert held >= 17
    assert abs(np.mean(values) - truth) < 4 * np.std(values) / len(values) ** 0.5
    assert abs(np.mean(plain) - truth) > 0.05


def test_the_labels_that_a_run_plans_for_are_those_that_it_took(graded: tuple[GradedSample, ...]) -> None:
    figures = read_run_figures(find_graded(graded, "gpt-4"), "false_negative_rate")
    measured = figures.measured
    assert measured.low is not None
    assert measured.high is not None
    planned = plan_labels(
        LabelsQuestion(
            figures.rate,
            (measured.high - measured.low) / 2,
            items_per_question=figures.items_per_question,
            correlation=figures.correlation or 0.0,
        )
    )
    assert planned.labels == pytest.approx(measured.n, rel=0.25)
