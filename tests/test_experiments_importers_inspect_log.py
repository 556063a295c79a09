"""Logs of real runs of Inspect: what its samples, scores and epochs become."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from experiments.errors import ImportFileError
from experiments.importers.account import ImportAccount
from experiments.importers.answers import ImportedAnswer
from experiments.importers.inspect_log import InspectReader
from experiments.importers.labelling import INSPECT_LABELLINGS
from experiments.importers.tool_import import ToolImport, import_runs
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from graders.verdict import CallFailure, Completion


@pytest.fixture
def log(inspect_logs: Mapping[str, Path]) -> Path:
    return inspect_logs["towns"]


def read(*files: Path, scorers: Sequence[str] = ()) -> tuple[list[ImportedAnswer], ImportAccount]:
    account = ImportAccount()
    return list(InspectReader(INSPECT_LABELLINGS["binary"], scorers)(files, account)), account


def store_runs(
    log: Path, store: RunStore, labels: str = "binary", repeats: int | None = None, scorers: Sequence[str] = ()
) -> tuple[str, ImportAccount]:
    account = ImportAccount()
    reader = InspectReader(INSPECT_LABELLINGS[labels], scorers)
    wanted = ToolImport("inspect", [log], reader, INSPECT_LABELLINGS[labels], "caps", repeats=repeats)
    (run_id,) = import_runs(wanted, store, account)
    return run_id, account


def test_samples_become_questions_references_responses_and_respondents(log: Path) -> None:
    answers, account = read(log)
    assert account.n_read == 12
    assert len(answers) == 10
    moody = [one for one in answers if "/moody/" in one.item_id]
    assert [(one.question, one.reference, list(one.aliases)) for one in moody] == [
        ("Town of moody?", "Tessen", ["Tessendorf"])
    ] * 2
    assert [one.response for one in moody] == ["It is number 0.", "It is number 1."]
    assert {one.respondent for one in answers} == {"openai/answerer"}
    assert [one.item_id for one in moody] == ["openai/answerer/moody/1", "openai/answerer/moody/2"]


def test_a_sample_that_ended_in_an_error_is_left_out_with_its_reason(log: Path) -> None:
    _, account = read(log)
    (reason,) = account.left_out
    assert "ended in an error" in reason
    assert account.left_out[reason].count == 2
    assert "sample boom, epoch 1" in account.left_out[reason].first


def test_replies_are_the_graders_own_with_what_they_cost_and_why_they_ended(log: Path) -> None:
    answers, _ = read(log)
    (steady, *_) = answers
    assert [reply.grader.name for reply in steady.replies] == ["model_graded_qa", "model_graded_fact"]
    answer = steady.replies[0].answer
    assert isinstance(answer, Completion)
    assert (answer.text, answer.served_model, answer.stop_reason) == ("GRADE: C", "judge", "stop")
    assert (answer.usage.input_tokens or 0) > 0
    assert steady.replies[0].own == "C"
    templates = {reply.grader.template for one in answers for reply in one.replies}
    assert len(templates) == 2


def test_a_scorer_that_asks_no_model_is_named_and_not_taken(log: Path) -> None:
    _, account = read(log)
    (note,) = (note for note in account.notes if "scorer match" in note)
    assert account.notes[note].count == 10


def test_equal_responses_are_one_item_graded_again_and_others_are_items_of_one_question(
    log: Path, tmp_path: Path
) -> None:
    with RunStore(tmp_path / "s.sqlite") as store:
        run_id, account = store_runs(log, store)
        data, _ = load_run_data(store, run_id)
    clusters = Counter(item.cluster_id for item in data.calibration_set.items)
    assert sorted(clusters.values()) == [1, 1, 1, 2]
    # Not every item was graded twice, so one reply of each counts.
    assert {grader.sampling["repeats"] for grader in data.graders} == {1}
    assert account.left_out["a reply beyond the 1 that every item has (--repeats takes more of each)"].count == 6
    assert data.calibration_set.human_labels == ()


def test_more_repeats_can_be_asked_for_and_what_is_missing_counts_as_not_answered(log: Path, tmp_path: Path) -> None:
    with RunStore(tmp_path / "s.sqlite") as store:
        run_id, account = store_runs(log, store, repeats=2)
        data, _ = load_run_data(store, run_id)
    failures = Counter(verdict.failure for verdict in data.graders[0].verdicts)
    assert failures["not_answered"] == 2
    assert account.notes["a reply missing to 2 repeats: not answered"].count == 4


@pytest.mark.parametrize(
    ("labels", "label", "failure"),
    [
        ("binary", None, "off_scale"),
        ("partial", "PARTIAL_ANSWER", None),
        ("partial-is-wrong", "INCORRECT", None),
        ("partial-is-right", "CORRECT", None),
    ],
)
def test_partial_credit_means_what_the_labelling_says(
    log: Path, tmp_path: Path, labels: str, label: str | None, failure: str | None
) -> None:
    with RunStore(tmp_path / "s.sqlite") as store:
        run_id, account = store_runs(log, store, labels, scorers=["model_graded_qa"])
        data, _ = load_run_data(store, run_id)
    (partly,) = (item for item in data.calibration_set.items if "/partly/" in item.item_id)
    (verdict,) = (one for one in data.graders[0].verdicts if one.item_digest == partly.digest)
    assert (verdict.label, verdict.failure) == (label, failure)
    assert any("'P'" in note for note in account.notes) is (label is None)
    assert not account.other_verdicts


def test_a_grade_that_was_never_offered_is_unscored_there_and_the_difference_is_counted(
    log: Path, tmp_path: Path
) -> None:
    """Inspect leaves a P unscored where only C and I were offered; our parser reads it where it has a label."""
    with RunStore(tmp_path / "s.sqlite") as store:
        _, account = store_runs(log, store, "partial-is-wrong", scorers=["model_graded_fact"])
    assert {what: tally.count for what, tally in account.other_verdicts.items()} == {
        "the tool says none, we read INCORRECT": 2
    }
    # The two replies that neither could read are alike.
    assert account.n_alike == 6


def test_a_reply_without_a_verdict_is_a_failure_and_never_a_label(log: Path, tmp_path: Path) -> None:
    with RunStore(tmp_path / "s.sqlite") as store:
        run_id, _ = store_runs(log, store)
        data, _ = load_run_data(store, run_id)
    (mute,) = (item for item in data.calibration_set.items if "/mute/" in item.item_id)
    for grader in data.graders:
        (verdict,) = (one for one in grader.verdicts if one.item_digest == mute.digest)
        assert (verdict.label, verdict.failure) == (None, "unparsed")


def test_a_sample_without_a_target_is_no_item(log: Path, tmp_path: Path) -> None:
    with RunStore(tmp_path / "s.sqlite") as store:
        _, account = store_runs(log, store)
    assert account.left_out["no reference: an item needs what its response is held against"].count == 2


def test_an_unknown_scorer_is_refused_with_those_that_there_are(log: Path) -> None:
    with pytest.raises(
        ImportFileError, match=r"--scorer: 'nope' .* expected one of model_graded_qa, model_graded_fact"
    ):
        read(log, scorers=["nope"])


def test_each_grader_of_a_panel_is_one_of_ours(inspect_logs: Mapping[str, Path]) -> None:
    answers, _ = read(inspect_logs["panel"])
    (answer,) = answers
    said = {reply.grader.model: reply.answer for reply in answer.replies}
    assert {model: one.text for model, one in said.items() if isinstance(one, Completion)} == {
        "openai/judge": "GRADE: C",
        "openai/juror": "GRADE: I",
    }
    assert {(reply.own, reply.is_judged) for reply in answer.replies} == {(None, False)}


def test_a_grader_that_cannot_be_asked_is_a_failure_though_it_ended_its_sample(
    inspect_logs: Mapping[str, Path],
) -> None:
    """Inspect calls the sample an error; the answer is there, and the failure is the grader's."""
    log = inspect_logs["failing"]
    assert log.suffix == ".json"
    answers, account = read(log)
    assert {one.item_id: [reply.answer for reply in one.replies] for one in answers}.keys() == {
        "openai/answerer/steady/1",
        "openai/answerer/moody/1",
    }
    (failed,) = (reply for one in answers for reply in one.replies if isinstance(reply.answer, CallFailure))
    assert (failed.grader.model, failed.answer.reason) == ("openai/failing", "grader_error")  # type: ignore[union-attr]
    assert account.notes["a sample that an error ended while it was scored: taken with its answer"].count == 1
    assert not account.left_out


def test_two_graders_of_one_scorer_keep_their_names_and_models(
    inspect_logs: Mapping[str, Path], tmp_path: Path
) -> None:
    """Inspect calls the second ``model_graded_qa1``, and its header names both alike."""
    log = inspect_logs["talk"]
    for file in (log, rewrite(log, tmp_path / "bare.eval", lambda sample: {**sample, "events": []})):
        answers, _ = read(file, scorers=["model_graded_qa", "model_graded_qa1"])
        graders = {(reply.grader.name, reply.grader.model) for one in answers for reply in one.replies}
        assert graders == {("model_graded_qa", "openai/judge"), ("model_graded_qa1", "openai/juror")}
        assert {len(one.replies) for one in answers} == {2}


def test_a_scorer_of_ones_own_that_asks_twice_is_left_whatever_it_asks(inspect_logs: Mapping[str, Path]) -> None:
    answers, account = read(inspect_logs["talk"])
    assert {reply.grader.name for one in answers for reply in one.replies} == {
        "model_graded_qa",
        "model_graded_qa1",
        "several",
    }
    (note,) = (note for note in account.notes if "scorer twice has no model's reply" in note)
    assert account.notes[note].count == len(answers)


def test_a_score_of_several_values_is_no_verdict_to_compare(inspect_logs: Mapping[str, Path], tmp_path: Path) -> None:
    with RunStore(tmp_path / "s.sqlite") as store:
        _, account = store_runs(inspect_logs["talk"], store, scorers=["several"])
    assert account.n_alike == 0
    assert not account.other_verdicts
    assert any("a score of several values" in note for note in account.notes)


def test_a_conversation_and_choices_are_the_question_and_an_image_is_none(inspect_logs: Mapping[str, Path]) -> None:
    answers, account = read(inspect_logs["talk"])
    assert [one.question for one in answers] == [
        'system: Be brief.\n\nassistant: look({"town": "steady"})\n\ntool: found\n\nuser: So, town of steady?',
        "Town of steady?\nA) Tessen\nB) Ullenby",
    ]
    assert account.left_out["an input that is not text alone"].count == 1


def test_what_a_retry_and_a_further_scoring_copy_is_taken_once(inspect_logs: Mapping[str, Path]) -> None:
    """Of three logs of the same task: nothing is a repeat that was asked once."""
    files = [inspect_logs[name] for name in ("first", "retried", "scored_again")]
    answers, account = read(*files)
    said = Counter(
        (one.item_id, reply.grader.name, type(reply.answer).__name__) for one in answers for reply in one.replies
    )
    assert said == Counter(
        {
            (f"openai/answerer/{name}/1", scorer, "Completion"): 1
            for name in ("steady", "late")
            for scorer in ("model_graded_qa", "model_graded_fact")
        }
    )
    n_left = sum(tally.count for tally in account.left_out.values())
    assert account.n_read == len(answers) + n_left == 9
    alone, _ = read(files[0])
    failed = [reply for one in alone for reply in one.replies if isinstance(reply.answer, CallFailure)]
    assert len(failed) == 1


def test_a_reply_that_inspect_could_not_read_is_told_without_its_words(log: Path, tmp_path: Path) -> None:
    def strip(sample: dict[str, Any]) -> dict[str, Any]:
        scores = {name: {**score, "metadata": None} for name, score in (sample["scores"] or {}).items()}
        return {**sample, "events": [], "scores": scores}

    answers, _ = read(rewrite(log, tmp_path / "bare.eval", strip), scorers=["model_graded_qa"])
    (mute, *_) = (one for one in answers if "/mute/" in one.item_id)
    assert [reply.answer.text for reply in mute.replies if isinstance(reply.answer, Completion)] == [
        "I would rather not say."
    ]


def test_a_log_without_events_tells_its_replies_in_the_scores(log: Path, tmp_path: Path) -> None:
    bare = rewrite(log, tmp_path / "bare.eval", lambda sample: {**sample, "events": []})
    answers, _ = read(bare)
    known, _ = read(log)
    assert [
        [reply.answer.text for reply in one.replies if isinstance(reply.answer, Completion)] for one in answers
    ] == [[reply.answer.text for reply in one.replies if isinstance(reply.answer, Completion)] for one in known]


def test_a_score_that_is_missing_is_a_failure_of_its_grader(log: Path, tmp_path: Path) -> None:
    bare = rewrite(log, tmp_path / "bare.eval", lambda sample: {**sample, "events": [], "scores": None})
    answers, _ = read(bare)
    assert {
        reply.answer.reason for one in answers for reply in one.replies if isinstance(reply.answer, CallFailure)
    } == {"no_score"}


def rewrite(log: Path, to: Path, change: object) -> Path:
    """The log with each of its samples changed."""
    assert callable(change)
    with zipfile.ZipFile(log) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.startswith("samples/"):
                content = json.dumps(change(json.loads(content))).encode()
            new.writestr(name, content)
    return to


@pytest.mark.parametrize("content", [b"", b"no zip at all", b"PK\x03\x04 cut off", b"{}"])
def test_a_file_that_is_no_log_is_refused(tmp_path: Path, content: bytes) -> None:
    for name in ("bad.eval", "bad.json"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ImportFileError, match=rf"{name}: .*; expected a log of Inspect"):
            read(tmp_path / name)


def test_a_zip_that_is_no_log_a_cut_log_and_a_missing_one_are_refused(log: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.eval", "w") as other:
        other.writestr("a.txt", "x")
    (tmp_path / "cut.eval").write_bytes(log.read_bytes()[:-200])
    for name in ("other.eval", "cut.eval", "gone.eval"):
        with pytest.raises(ImportFileError, match=rf"{name}: .*; expected a log of Inspect"):
            read(tmp_path / name)
