"""From stored answers and verdicts to the grid: aligned questions, shares counted by hand, and nothing made a class."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibration_sets.item import Item
from experiments.errors import SpecError
from experiments.respondents.counts_page import counts_as_data, describe_counts
from experiments.respondents.grid import Grid, read_grid
from experiments.respondents.grid_plan import describe_grid_plan
from experiments.respondents.records import load_answering
from experiments.respondents.responses import as_asking, as_grading, missing_reason
from experiments.specs.experiment import Experiment, load_experiment
from experiments.store.run_records import load_decisions, load_run_data, record_run
from experiments.store.run_store import CompletionKey, RunStore
from graders.pricing import Cost
from graders.verdict import CallFailure, Completion, Usage

EXPERIMENT = """
name = "grid"
set = "small"

[ab]
control = "question_only@1.0.0"
raise = "accuracy"

[answering]
prompts = ["question_only", "always_answer"]
repeats = REPEATS

[[answering.models]]
model = "openai/gpt-4.1-2025-04-14"

[[answering.models]]
model = "local/smollm2"

[[graders]]
prompt = "simpleqa@1.0.0"
model = "openai/gpt-4.1-2025-04-14"
sampling = { repeats = 2 }

[[graders]]
model = "baseline/lexical"
sampling = { repeats = 1 }
"""
PRICED, LOCAL = "openai/gpt-4.1-2025-04-14", "local/smollm2"
CONTROL, VARIANT = "question_only@1.0.0", "always_answer@1.0.0"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore(tmp_path / "s.sqlite") as opened:
        yield opened


def load(study: Any, repeats: int = 1) -> Experiment:
    path = study.folder / "grid.toml"
    path.write_text(EXPERIMENT.replace("REPEATS", str(repeats)), encoding="utf-8")
    return load_experiment(str(path), limit=4)


def said(text: str | None, stop: str = "stop") -> Completion:
    return Completion(text, "served-1", stop, usage=Usage(1000, 100))


def answer(
    experiment: Experiment, store: RunStore, replies: Mapping[tuple[str, str, int, int], Completion | CallFailure]
) -> Experiment:
    """Store replies by model, prompt, question and repeat; what is to be graded then."""
    assert experiment.answering is not None
    ids = {(one.model, one.prompt): one.grader.grader_id for one in experiment.answering.respondents}
    bare = as_asking(experiment).calibration_set.items
    for (model, prompt, place, repeat), reply in replies.items():
        store.append(ids[model, prompt], CompletionKey(bare[place].digest, repeat), reply)
    return as_grading(experiment, store)


def every(reply: Completion, repeats: int = 1) -> dict[tuple[str, str, int, int], Completion | CallFailure]:
    return {
        (model, prompt, place, repeat): reply
        for model in (PRICED, LOCAL)
        for prompt in (CONTROL, VARIANT)
        for place in range(4)
        for repeat in range(repeats)
    }


def grade(grading: Experiment, store: RunStore, letters: Mapping[str, str]) -> None:
    """Verdicts of the first grader by response, a letter a repeat; a question mark is no verdict."""
    record_run(grading, store)
    grader = grading.graders[0]
    for item in grading.calibration_set.items:
        for repeat, letter in enumerate(letters.get(item.response, "")):
            text = "nothing of use" if letter == "?" else letter
            store.append(grader.grader_id, CompletionKey(item.digest, repeat), Completion(text, "judge"))


def read(grading: Experiment, store: RunStore) -> Grid:
    return read_grid(load_run_data(store, grading.run_id)[0], "simpleqa@1.0.0")


def test_all_cells_have_the_same_questions_and_shares_counted_by_hand(study: Any, store: RunStore) -> None:
    replies = every(said("right")) | {(PRICED, VARIANT, 1, 0): said("half"), (LOCAL, CONTROL, 2, 0): said("open")}
    grading = answer(load(study), store, replies)
    grade(grading, store, {"right": "AA", "half": "AB", "open": "C?"})
    grid = read(grading, store)
    assert (grid.labels, grid.correct, grid.not_attempted) == (
        ("INCORRECT", "NOT_ATTEMPTED", "CORRECT"),
        "CORRECT",
        "NOT_ATTEMPTED",
    )
    assert grid.run_id == grading.run_id
    assert grid.grader == f"simpleqa@1.0.0 {PRICED}"
    assert grid.questions == ("i0", "i1", "i2", "i3")
    assert grid.clusters == ("q0", "q0", "q1", "q1")
    assert (grid.models, grid.prompts) == ((PRICED, LOCAL), (CONTROL, VARIANT))
    assert set(grid.cells) == {(model, prompt) for model in grid.models for prompt in grid.prompts}
    assert {cell.questions for cell in grid.cells.values()} == {grid.questions}
    np.testing.assert_array_equal(grid.cells[PRICED, CONTROL].shares, [[0, 0, 1]] * 4)
    np.testing.assert_array_equal(
        grid.cells[PRICED, VARIANT].shares, [[0, 0, 1], [1 / 2, 0, 1 / 2], [0, 0, 1], [0, 0, 1]]
    )
    cell = grid.cells[LOCAL, CONTROL]
    np.testing.assert_array_equal(cell.shares[2], [0, 1, 0])
    assert (cell.n_no_response, cell.n_no_verdict) == (0, 0)
    assert cell.verdict_failures == {"unparsed": 1}
    assert (cell.model, cell.prompt) == (LOCAL, CONTROL)


def test_what_is_missing_is_counted_and_no_class(study: Any, store: RunStore) -> None:
    replies = every(said("right")) | {
        (PRICED, CONTROL, 0, 0): said("I cannot help with that.", "refusal"),
        (PRICED, CONTROL, 1, 0): CallFailure("timeout", "no answer"),
        (PRICED, CONTROL, 2, 0): said("  "),
        (PRICED, CONTROL, 3, 0): said("unread"),
        (PRICED, VARIANT, 0, 0): said(None, "length"),
        (PRICED, VARIANT, 1, 0): said("cut", "length"),
        (LOCAL, CONTROL, 0, 0): said("Error 429: too many requests"),
        (LOCAL, CONTROL, 1, 0): said(None, "content_filter"),
    }
    del replies[LOCAL, VARIANT, 3, 0]
    grading = answer(load(study), store, replies)
    grade(grading, store, {"right": "AA", "unread": "??", "cut": "BB"})
    grid = read(grading, store)
    cell = grid.cells[PRICED, CONTROL]
    assert np.isnan(cell.shares).all()
    assert not cell.present.any()
    assert (cell.n_no_response, cell.n_no_verdict, cell.n_responses) == (3, 1, 1)
    assert cell.missing == {"empty": 1, "refused": 1, "timeout": 1}
    assert cell.verdict_failures == {"unparsed": 2}
    cut = grid.cells[PRICED, VARIANT]
    assert (cut.n_no_response, cut.n_truncated, cut.missing) == (1, 1, {"truncated": 1})
    np.testing.assert_array_equal(cut.shares[1], [1, 0, 0])
    assert grid.cells[LOCAL, CONTROL].missing == {"refused": 1, "service_message": 1}
    assert grid.cells[LOCAL, VARIANT].missing == {"not_asked": 1}
    truncated = [item for item in grading.calibration_set.items if item.metadata["truncated"]]
    assert [item.response for item in truncated] == ["cut"]


def test_responses_of_a_question_weigh_equally_whatever_their_verdicts(study: Any, store: RunStore) -> None:
    replies = every(said("right"), repeats=2) | {
        (PRICED, CONTROL, 0, 1): said("half"),
        (PRICED, CONTROL, 1, 1): said("unread"),
        (PRICED, CONTROL, 2, 1): said("once"),
        (PRICED, CONTROL, 3, 1): CallFailure("timeout", ""),
    }
    grading = answer(load(study, repeats=2), store, replies)
    grade(grading, store, {"right": "AA", "half": "AB", "unread": "??", "once": "B?"})
    cell = read(grading, store).cells[PRICED, CONTROL]
    np.testing.assert_array_equal(cell.shares, [[1 / 4, 0, 3 / 4], [0, 0, 1], [1 / 2, 0, 1 / 2], [0, 0, 1]])
    # Of two responses with two verdicts each, a question lacks those of one, or one verdict.
    np.testing.assert_array_equal(cell.present, [1, 1 / 2, 3 / 4, 1 / 2])
    assert (cell.n_no_response, cell.n_no_verdict, cell.n_responses) == (0, 0, 7)
    assert cell.missing == {"timeout": 1}
    assert len({item.item_id for item in grading.calibration_set.items}) == len(grading.calibration_set.items)


def test_items_name_question_wording_and_model(study: Any, store: RunStore) -> None:
    grading = answer(load(study), store, every(said("right")))
    item: Item = grading.calibration_set.items[0]
    question = study.items[0]
    assert item.item_id == f"i0 | {PRICED} | {CONTROL}"
    assert (item.question, item.reference, item.cluster_id) == (question.question, question.reference, "q0")
    assert item.respondent == f"{PRICED} | {CONTROL}"
    assert item.metadata == {"question": "i0", "model": PRICED, "prompt": CONTROL, "repeat": 0, "truncated": False}
    assert grading.calibration_set.human_labels == ()
    # The same words to the same question are graded once.
    assert len({item.digest for item in grading.calibration_set.items}) == 4


def test_answering_costs_are_told_by_cell(study: Any, store: RunStore) -> None:
    replies = every(said("right")) | {(PRICED, CONTROL, 1, 0): CallFailure("timeout", "", Usage(500, 0))}
    grading = answer(load(study), store, replies)
    grade(grading, store, {"right": "AA"})
    grid = read(grading, store)
    whole, part = grid.cells[PRICED, VARIANT].cost, grid.cells[PRICED, CONTROL].cost
    assert whole is not None
    assert part is not None
    # Two dollars a million tokens in, eight out.
    assert whole.amount == pytest.approx(4 * (1000 * 2 + 100 * 8) / 1e6)
    assert part.amount == pytest.approx((3 * (1000 * 2 + 100 * 8) + 500 * 2) / 1e6)
    assert grid.cells[LOCAL, CONTROL].cost == Cost(0.0)


def test_a_run_without_answering_or_with_an_unclear_grader_is_refused(study: Any, store: RunStore) -> None:
    plain = load_experiment(str(study.experiment))
    record_run(plain, store)
    with pytest.raises(SpecError, match=r"no \[answering\] in its experiment"):
        read_grid(load_run_data(store, "study")[0])
    grading = answer(load(study), store, every(said("right")))
    grade(grading, store, {"right": "AA"})
    data = load_run_data(store, "grid")[0]
    with pytest.raises(SpecError, match="2 graders; expected --grader with one of"):
        read_grid(data)
    with pytest.raises(SpecError, match="--grader: 'nobody', 0 graders of that name"):
        read_grid(data, "nobody")
    assert read_grid(data, "baseline/lexical").grader == "baseline/lexical"
    title = f"simpleqa@1.0.0 {PRICED}"
    for part in (title, "simpleqa@1.0.0", "simpleqa", PRICED, PRICED.rpartition("/")[2]):
        assert read_grid(data, part).grader == title
    assert read_grid(data, grading.graders[0].grader_id).grader == f"simpleqa@1.0.0 {PRICED}"


def test_the_record_comes_back_from_the_store_as_it_was(study: Any, store: RunStore) -> None:
    grading = answer(load(study), store, every(said("right")) | {(PRICED, CONTROL, 0, 0): said("")})
    record_run(grading, store)
    assert grading.answering is not None
    record = grading.answering.record
    assert record is not None
    assert load_run_data(store, "grid")[0].answering == record
    assert load_answering(json.loads(json.dumps(record.as_plain()))) == record
    assert record.respondents[0].served_models == {"served-1": 4}
    rule = load_decisions(store, "grid").ab
    assert rule is not None
    assert rule.control == CONTROL


def test_other_answers_are_another_run(study: Any, store: RunStore) -> None:
    first = answer(load(study), store, {(PRICED, CONTROL, 0, 0): said("right")})
    second = answer(load(study), store, {(PRICED, CONTROL, 1, 0): said("right")})
    assert first.run_id != second.run_id
    assert as_grading(load(study), store).run_id == second.run_id


def test_nobody_has_answered_yet(study: Any) -> None:
    grading = as_grading(load(study), None)
    assert grading.calibration_set.items == ()
    assert grading.answering is not None
    assert grading.answering.record is not None
    assert [one.missing for one in grading.answering.record.respondents] == [{"not_asked": 4}] * 4


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        (said("yes"), None),
        (said("yes", "length"), None),
        (said("no", "refusal"), "refused"),
        (said("no", "content_filter"), "refused"),
        (said("", "length"), "truncated"),
        (said("\n "), "empty"),
        (said(None), "empty"),
    ],
)
def test_reasons_of_a_missing_response(study: Any, completion: Completion, reason: str | None) -> None:
    assert missing_reason(completion, study.items[0]) == reason


def test_counts_page_and_its_data_add_up(study: Any, store: RunStore) -> None:
    replies = every(said("right")) | {(PRICED, CONTROL, 0, 0): CallFailure("timeout", "")}
    grading = answer(load(study), store, replies)
    grade(grading, store, {"right": "AB"})
    data = load_run_data(store, "grid")[0]
    page = describe_counts(data)
    assert f"autorater ab {grading.run_id}" in page
    assert f"autorater score {grading.run_id}" in page
    assert "missing: timeout 1" in page
    plain = json.loads(json.dumps(counts_as_data(data)))
    assert plain["schema"] == "autorater.answering/1"
    verdicts = plain["graders"][0]["verdicts"]
    assert verdicts[0]["counts"] == {"INCORRECT": 3, "NOT_ATTEMPTED": 0, "CORRECT": 3}
    assert verdicts[1]["counts"] == {"INCORRECT": 4, "NOT_ATTEMPTED": 0, "CORRECT": 4}
    # Nothing was asked of the second grader.
    assert [row["no_verdict"] for row in plain["graders"][1]["verdicts"]] == [3, 4, 4, 4]
    for respondent in plain["respondents"]:
        assert respondent["n_responses"] + sum(respondent["missing"].values()) == 4


def test_the_plan_counts_what_is_paid_and_what_is_to_come(study: Any, store: RunStore) -> None:
    experiment = load(study)
    before = describe_grid_plan(experiment, None)
    assert "2 models x 2 wordings x 4 of 8 questions of small 1.0.0: 16 answers" in before
    rows = [line.split() for line in before.splitlines()]
    assert ["4", "1", "8", "0", "8", "8"] in [row[:6] for row in rows]
    assert ["16", "2", "32", "0", "32"] in [row[:5] for row in rows]
    assert "temperature of the answers is left to the services" in before
    answer(experiment, store, every(said("right")))
    after = describe_grid_plan(experiment, store)
    rows = [line.split() for line in after.splitlines()]
    assert ["4", "1", "8", "8", "0", "0", "$0.00", "$0.00", PRICED] in rows
    # Sixteen answers of four contents: each is graded once.
    assert ["4", "2", "8", "0", "8"] in [row[:5] for row in rows]


def test_the_plan_of_grading_bounds_what_grading_then_costs(study: Any, store: RunStore) -> None:
    """At most as many dollars as planned, however long the answers are within their limit."""
    experiment = load(study)
    before = describe_grid_plan(experiment, None)
    planned = float(before.split("grading expected")[1].split("at most $")[1].split()[0].rstrip(","))
    assert experiment.answering is not None
    replies = {key: said(f"{place}" + "long answer " * (1024 // 3)) for place, key in enumerate(every(said("x")))}
    answer(experiment, store, replies)
    after = describe_grid_plan(experiment, store)
    real = float(after.split("grading expected")[1].split("at most $")[1].split()[0].rstrip(","))
    assert 0 < real <= planned
