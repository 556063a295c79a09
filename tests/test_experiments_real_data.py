"""Real graders on real labels: reports against computations that share nothing with ours."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from calibration_sets.importers import import_evouna, import_nq301
from calibration_sets.writer import write_set
from experiments.reports import build_report, render_json
from experiments.running.runner import run_experiment
from experiments.running.verdict_import import import_verdicts
from experiments.specs.experiment import load_experiment
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from graders.providers import open_client

LABELS = ["INCORRECT", "CORRECT"]


def independent_interval(errors: Sequence[int], clusters: Sequence[str]) -> tuple[float, float]:
    """Wilson on the effective size, from its written definition, for one verdict an item; a loop, not matrices."""
    n, rate = len(errors), sum(errors) / len(errors)
    by_cluster: dict[str, list[int]] = defaultdict(list)
    for error, cluster in zip(errors, clusters, strict=True):
        by_cluster[cluster].append(error)
    variance = 0.0
    for members in by_cluster.values():
        residual = sum(error - rate for error in members)
        variance += residual**2 / (1 - len(members) / n)
    variance /= n**2

    def kish(weights: Iterable[float]) -> float:
        listed = list(weights)
        return sum(listed) ** 2 / sum(weight**2 for weight in listed)

    erring = kish(sum(members) for members in by_cluster.values())
    right = kish(len(members) - sum(members) for members in by_cluster.values())
    t, z = stats.t.ppf(0.975, min(erring, right) - 1), stats.norm.ppf(0.975)
    n_eff = min(rate * (1 - rate) / variance, n)
    q = min(t**2 / n_eff, z**2 / kish(len(members) for members in by_cluster.values()))
    # Wilson's bounds are the roots p of (rate - p)^2 = q p (1 - p).
    low, high = sorted(np.roots([1 + q, -(2 * rate + q), rate**2]).real)
    return float(low), float(high)


def check_grader(
    grader: Mapping[str, Any], people: Sequence[str], said: Sequence[str], clusters: Sequence[str]
) -> None:
    """Counts, kappa, both rates and their intervals, for items with a verdict."""
    labels = grader["confusion"]["labels"]
    assert grader["confusion"]["counts"] == confusion_matrix(people, said, labels=labels).tolist()
    assert grader["agreement"]["cohen_kappa"]["value"] == pytest.approx(cohen_kappa_score(people, said), abs=1e-12)
    agreeing = sum(person == verdict for person, verdict in zip(people, said, strict=True))
    assert grader["agreement"]["raw"]["value"] == pytest.approx(agreeing / len(people), abs=1e-12)
    for name, is_row, is_error in (
        ("false_negative_rate", "CORRECT".__eq__, "CORRECT".__ne__),
        ("false_positive_rate", "CORRECT".__ne__, "CORRECT".__eq__),
    ):
        rows = [(v, c) for p, v, c in zip(people, said, clusters, strict=True) if is_row(p)]
        errors = [int(is_error(verdict)) for verdict, _ in rows]
        low, high = independent_interval(errors, [cluster for _, cluster in rows])
        estimate = grader[name]
        assert estimate["value"] == pytest.approx(sum(errors) / len(errors), abs=1e-12)
        assert (estimate["low"], estimate["high"]) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))
        assert (estimate["n"], estimate["clusters"]) == (len(rows), len({cluster for _, cluster in rows}))


@pytest.fixture(scope="module")
def nq301(calibration_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("nq301")
    imported = import_nq301(calibration_data / "nq301")
    write_set(imported.calibration_set, folder / "set")
    imported.write_verdicts(folder / "verdicts.jsonl")
    with RunStore(folder / "s.sqlite") as store:
        run_id = import_verdicts(folder / "verdicts.jsonl", str(folder / "set"), store)
        data, analyses = load_run_data(store, run_id)
    report: dict[str, Any] = json.loads(render_json(build_report(data, level=analyses.level)))
    return report


def read_tsv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.parametrize(
    ("grader", "file"),
    [
        ("gpt-4", "NQ301_gpt-4.tsv"),
        ("text-davinci-003", "NQ301_text-davinci-003.rev34c8cbd.tsv"),
        ("bem", "NQ301_BEM.tsv"),
    ],
)
def test_nq301_reports_what_the_authors_files_say(
    nq301: dict[str, Any], calibration_data: Path, grader: str, file: str
) -> None:
    """Straight from the published files, joined by position within a question and by the answer's text."""
    people = read_tsv(calibration_data / "nq301" / "NQ301_human.tsv")
    judged = read_tsv(calibration_data / "nq301" / file)
    label_of = {"Yes": "CORRECT", "No": "INCORRECT"}
    rows = [
        (label_of[person["Acceptable?"]], label_of.get(verdict["Acceptable?"]), person["id"])
        for person, verdict in zip(people, judged, strict=True)
        if person["Model answer"] == verdict["Model answer"]
    ]
    reported = next(entry for entry in nq301["graders"] if entry["model"] == f"imported/{grader}")
    in_file = Counter((person, verdict) for person, verdict, _ in rows)
    in_report = {
        (person, verdict): reported["confusion"]["counts"][i][j]
        for i, person in enumerate(LABELS)
        for j, verdict in enumerate(LABELS)
    }
    # Where an answer stands twice in a file, one of the two can be a verdict that the set's items leave out.
    assert sum(abs(in_file[cell] - count) for cell, count in in_report.items()) <= 3
    assert reported["n_items"] == len(people) == 1490


@pytest.mark.parametrize("grader", ["gpt-4", "text-davinci-003", "bem"])
def test_nq301_counts_kappa_and_intervals(nq301: dict[str, Any], calibration_data: Path, grader: str) -> None:
    lines = (calibration_data / "nq301" / "nq301.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["graders"].get(grader)]
    reported = next(entry for entry in nq301["graders"] if entry["model"] == f"imported/{grader}")
    check_grader(
        reported,
        [row["label"] for row in rows],
        [row["graders"][grader] for row in rows],
        [row["question_id"] for row in rows],
    )
    assert reported["n_expected"] == 1490
    assert sum(reported["failures"].values()) == 1490 - len(rows)


def test_evouna_graded_by_the_lexical_baseline(calibration_data: Path, tmp_path: Path) -> None:
    imported = import_evouna(calibration_data / "evouna_tq" / "TQ.json")
    assert len(imported.calibration_set.items) == 9690
    write_set(imported.calibration_set, tmp_path / "evouna")
    experiment = tmp_path / "e.toml"
    experiment.write_text(
        'name = "e"\nset = "evouna"\n[[graders]]\nmodel = "baseline/lexical"\nsampling = { repeats = 1 }\n'
    )
    with RunStore(tmp_path / "s.sqlite") as store:
        run_experiment(load_experiment(str(experiment)), store, open_client)
        data, analyses = load_run_data(store, "e")
        (grader_id,) = [results.grader_id for results in data.graders]
        said_of = {key.item_digest: reply.text for key, reply in store.completions(grader_id).items()}
    report = json.loads(render_json(build_report(data, level=analyses.level)))

    raw = json.loads((calibration_data / "evouna_tq" / "TQ.json").read_text(encoding="utf-8"))
    people = [
        "CORRECT" if record[f"judge_{system}"] else "INCORRECT"
        for record in raw
        for system in ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
        if not record["improper"] and record[f"judge_{system}"] is not None
    ]
    items = imported.calibration_set.items
    ours = imported.calibration_set.consensus().labels
    assert Counter(ours.values()) == Counter(people)
    check_grader(
        report["graders"][0],
        [ours[item.item_id] for item in items],
        [str(said_of[item.digest]) for item in items],
        [item.question for item in items],
    )
    assert report["graders"][0]["n_verdicts"] == 9690
