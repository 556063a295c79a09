"""Runs read back from the store: complete without their files, under either parser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from experiments.errors import SpecError
from experiments.reports import build_report, render_json
from experiments.running.runner import run_experiment
from experiments.running.verdict_import import import_verdicts
from experiments.specs.experiment import load_experiment
from experiments.store.run_records import load_run_data, record_run
from experiments.store.run_store import CompletionKey, RunStore
from graders.providers import open_client
from graders.verdict import Completion, Usage


@pytest.fixture
def store(study: Any) -> Iterator[RunStore]:
    with RunStore(study.folder.parent / "s.sqlite") as opened:
        yield opened


def test_a_report_needs_neither_set_nor_recording(study: Any, store: RunStore) -> None:
    run_experiment(load_experiment(str(study.experiment)), store, open_client)
    data, _ = load_run_data(store, "study")
    before = render_json(build_report(data))
    shutil.rmtree(study.folder)
    data, _ = load_run_data(store, "study")
    assert render_json(build_report(data)) == before


def test_no_path_gets_into_a_report(study: Any, store: RunStore) -> None:
    run_experiment(load_experiment(str(study.experiment)), store, open_client)
    data, _ = load_run_data(store, "study")
    text = render_json(build_report(data))
    assert "a study" not in text
    assert str(study.folder.parent) not in text
    assert "replay/said.jsonl" in text


def test_the_numbers_of_a_small_run_are_those_counted_by_hand(study: Any, store: RunStore) -> None:
    run_experiment(load_experiment(str(study.experiment)), store, open_client)
    data, analyses = load_run_data(store, "study")
    replayed, lexical = build_report(data, level=analyses.level)["graders"]
    # Items 1 and 3 are INCORRECT for people, and CORRECT in one of three repeats; the others never change.
    assert replayed["false_positive_rate"]["value"] == pytest.approx(2 / 12)
    assert replayed["false_negative_rate"]["value"] == 0
    assert replayed["flip_rate"]["value"] == pytest.approx(2 / 8)
    assert replayed["pairwise_disagreement"]["value"] == pytest.approx(2 * (2 / 3) / 8)
    assert replayed["confusion"]["counts"] == [[10, 0, 2], [0, 0, 0], [0, 0, 12]]
    assert [entry["item_id"] for entry in replayed["most_inconsistent"]] == ["i1", "i3"]
    assert lexical["false_positive_rate"]["value"] == 1
    assert lexical["flip_rate"]["value"] is None


def test_a_run_of_which_nothing_is_answered_is_all_failures(study: Any, store: RunStore) -> None:
    record_run(load_experiment(str(study.experiment)), store)
    data, analyses = load_run_data(store, "study")
    for section in build_report(data, level=analyses.level)["graders"]:
        assert section["n_verdicts"] == 0
        assert section["coverage"] == 0
        assert section["false_negative_rate"]["value"] is None
        assert set(section["failures"]) == {"not_answered"}
        assert section["not_answered"] == {"not_asked": section["failures"]["not_answered"]}


def test_both_parsers_read_the_same_completions(study: Any, store: RunStore) -> None:
    # The official rule takes the first capital A, B or C, be it the C of a word, and C where there is none.
    study.write_recording({(place, 0): "Incorrect" if place % 2 else "CORRECT" for place in range(8)})
    study.write_experiment({"repeats = 3": "repeats = 1"})
    run_experiment(load_experiment(str(study.experiment)), store, open_client)
    n_completions = store.count_completions()
    robust, _ = load_run_data(store, "study", parser="robust", compare_parsers=True)
    official, _ = load_run_data(store, "study", parser="official")
    assert store.count_completions() == n_completions
    labels = {verdict.item_digest: verdict.label for verdict in official.graders[0].verdicts}
    assert [labels[item.digest] for item in study.items] == ["NOT_ATTEMPTED"] * 8
    labels = {verdict.item_digest: verdict.label for verdict in robust.graders[0].verdicts}
    assert [labels[item.digest] for item in study.items] == ["CORRECT", "INCORRECT"] * 4
    assert robust.compare_rule is not None
    assert list(robust.compare_rule[robust.graders[0].grader_id]) == list(official.graders[0].verdicts)


def test_tokens_are_summed_where_they_were_told(study: Any, store: RunStore) -> None:
    asked = load_experiment(str(study.experiment))
    record_run(asked, store)
    usages = [Usage(10, 1, None), Usage(None, 2, None), Usage(5, None, None)]
    for repeat, usage in enumerate(usages):
        key = CompletionKey(study.items[0].digest, repeat)
        store.append(asked.graders[0].grader_id, key, Completion("A", "m", usage=usage))
    data, _ = load_run_data(store, "study")
    assert data.graders[0].usage == Usage(15, 3, None)
    assert data.graders[1].usage is None


def test_the_official_parser_needs_a_letter_to_fall_back_on(study: Any, store: RunStore) -> None:
    header = study.folder / "small" / "set.toml"
    text = header.read_text(encoding="utf-8")
    kept = text[: text.index("[scale")] if "[scale" in text else text
    kept = "\n".join(line for line in kept.splitlines() if not line.startswith("scale"))
    scale = '[scale]\nname = "two"\nlabels = ["INCORRECT", "CORRECT"]\npositive = "CORRECT"\n'
    header.write_text(f"{kept}\n{scale}", encoding="utf-8")
    file = study.folder / "v.csv"
    file.write_text("item,label\ni0,CORRECT\n", encoding="utf-8")
    run_id = import_verdicts(file, str(study.folder / "small"), store, grader="g")
    for options in ({"parser": "official"}, {"compare_parsers": True}):
        with pytest.raises(SpecError, match="no grader answers with letters"):
            load_run_data(store, run_id, **options)


def test_the_official_parser_leaves_graders_alone_that_answer_in_words(study: Any, store: RunStore) -> None:
    run_experiment(load_experiment(str(study.experiment)), store, open_client)
    official, _ = load_run_data(store, "study", parser="official")
    rules = {grader.model: {verdict.rule for verdict in grader.verdicts} for grader in official.graders}
    assert rules["baseline/lexical"] == {"robust"}
    assert {rule for model, found in rules.items() for rule in found if model.startswith("replay/")} == {"official"}
    compared, _ = load_run_data(store, "study", compare_parsers=True)
    assert compared.compare_rule is not None
    assert [grader.model for grader in compared.graders if grader.grader_id not in compared.compare_rule] == [
        "baseline/lexical"
    ]
