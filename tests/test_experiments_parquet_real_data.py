"""Exports of runs on answers that people labelled: the report of each is that of its store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from parquet_runs import check_same, exported, ran_report, record

from calibration_sets.importers import import_nq301
from calibration_sets.writer import write_set
from experiments.running.verdict_import import import_verdicts
from experiments.store.run_store import RunStore


def test_twelve_graders_on_real_labels(tmp_path: Path, calibration_data: Path) -> None:
    whole = import_nq301(calibration_data / "nq301").calibration_set
    found = replace(whole, items=whole.items[:300])
    rng, graders = np.random.default_rng(3), {}
    digests = {item.digest for item in found.items}
    truth = {label.item_digest: label.label for label in found.human_labels if label.item_digest in digests}
    for number in range(12):
        other = {"CORRECT": "INCORRECT", "INCORRECT": "CORRECT"}
        graders[f"g{number}"] = {
            (digest, repeat): label if rng.random() > 0.02 * number else other[label]
            for digest, label in truth.items()
            for repeat in range(3)
            if rng.random() > 0.01
        }
    with RunStore(tmp_path / "s.sqlite") as store:
        run_id = record(store, found, graders, repeats=3)
    of_store = ran_report(tmp_path / "s.sqlite", run_id)
    assert len(of_store["graders"]) == 12
    check_same(exported(tmp_path / "s.sqlite", run_id, tmp_path / "export"), of_store)


def test_real_verdicts_of_other_programs(tmp_path: Path, calibration_data: Path) -> None:
    imported = import_nq301(calibration_data / "nq301")
    write_set(imported.calibration_set, tmp_path / "set")
    imported.write_verdicts(tmp_path / "verdicts.jsonl")
    with RunStore(tmp_path / "s.sqlite") as store:
        run_id = import_verdicts(tmp_path / "verdicts.jsonl", str(tmp_path / "set"), store)
    of_store = ran_report(tmp_path / "s.sqlite", run_id)
    check_same(exported(tmp_path / "s.sqlite", run_id, tmp_path / "export"), of_store)
