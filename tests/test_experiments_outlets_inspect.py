"""The scorer in real runs of Inspect, against a loopback server: what it says, what it keeps, and what it refuses."""

from __future__ import annotations

import gc
import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import anyio
import pytest
from fault_replies import Fault, Ok, Status
from fault_server import FaultServer
from inspect_ai import Epochs, Task
from inspect_ai import eval as run_task
from inspect_ai._util.registry import registry_info
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer
from typer.testing import CliRunner

import cli
from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from experiments import load_run
from experiments.errors import SpecError
from experiments.outlets.inspect_scorer import clustered_stderr, grader, verdict_counts
from experiments.outlets.item_grading import GradedItem, ItemGrader
from experiments.outlets.scorer_grader import build_scorer_grader
from experiments.store.run_store import CompletionKey, RunStore
from graders.errors import GraderError, ServiceError

pytestmark = pytest.mark.filterwarnings("ignore")
"""Inspect leaves streams open, of which Python warns when it collects them; that is done here, in its own tests."""

PROMPT = "simpleqa@1.0.0"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AUTORATER_STORE", raising=False)


@pytest.fixture(autouse=True, scope="module")
def _collected_here() -> Iterator[None]:
    yield
    gc.collect()


def answering() -> Model:
    """A model that answers every question with its number; the tokens are given, as counting them needs a download."""
    said = [
        ModelOutput(
            model="mock", choices=ModelOutput.from_content("mock", f"number {place}").choices, usage=ModelUsage()
        )
        for place in range(40)
    ]
    return get_model("mockllm/model", custom_outputs=said, memoize=False)


def samples(
    n: int = 4, *, metadata: Callable[[int], dict[str, Any]] = lambda place: {"cluster_id": place // 2}
) -> list[Sample]:
    return [
        Sample(input=f"Which number is number {place}?", target=["number 0", "number nought"], metadata=metadata(place))
        for place in range(n)
    ]


def asking(server: FaultServer, **more: Any) -> Scorer:
    given: dict[str, Any] = {"sampling": {"repeats": 3, "temperature": 1.0}, "store": "store.sqlite", **more}
    return grader(model="openai-compatible/m", prompt=PROMPT, base_url=server.openai_url, max_wait_seconds=0.0, **given)


def run(scorer: Scorer, *, n: int = 4, epochs: int = 1) -> EvalLog:
    task = Task(samples(n), scorer=scorer, epochs=Epochs(epochs))
    (log,) = run_task(task, model=answering(), log_dir="logs", display="none", max_samples=1)
    assert log.status == "success", log.error
    return log


def scores_of(log: EvalLog) -> list[Score]:
    found = [(sample.scores or {})["grader"] for sample in log.samples or []]
    assert found
    return found


def metrics_of(log: EvalLog) -> dict[str, float]:
    assert log.results is not None
    return {name: metric.value for score in log.results.scores for name, metric in score.metrics.items()}


def by_item(*letters: str) -> Callable[[int], Fault]:
    """What the grader says to each call; one call asks for three draws only where the service takes that."""
    return lambda number: Ok(letters[number % len(letters)])


def test_verdicts_and_all_that_is_told_of_them() -> None:
    with FaultServer(by_item("A", "A", "B", "C", "hm", "C", "B", "B", "B", "A", "B", "hm")) as server:
        log = run(asking(server))
    told = scores_of(log)
    assert [score.value for score in told[:3]] == ["C", "N", "I"]
    assert isinstance(told[3].value, float)
    assert math.isnan(told[3].value)
    assert told[3].reason == "tied"
    first, second = told[0].metadata or {}, told[1].metadata or {}
    assert first["grader"].startswith(PROMPT)
    assert len(first["prompt_digest"]) == 64
    assert first["sampling"]["repeats"] == 3
    assert [one["reply"] for one in first["verdicts"]] == ["A", "A", "B"]
    assert [one["label"] for one in second["verdicts"]] == ["NOT_ATTEMPTED", None, "NOT_ATTEMPTED"]
    assert second["failures"] == {"unparsed": 1}
    assert told[1].explanation == "majority of 2 verdicts: NOT_ATTEMPTED 2; without a label: unparsed 1"
    assert told[3].explanation == (
        "majority of 2 verdicts: INCORRECT 1, CORRECT 1; without a label: unparsed 1; tied: INCORRECT, CORRECT"
    )
    assert metrics_of(log)["accuracy"] == (1 + 0 + 0) / 3
    assert log.results is not None
    assert {score.unscored_samples for score in log.results.scores} == {1}


def test_a_second_run_pays_nothing_and_says_the_same() -> None:
    with FaultServer(by_item("A", "B", "A", "hm")) as server:
        first = run(asking(server))
        n_paid = len(server.requests)
        second = run(asking(server))
        assert len(server.requests) == n_paid == 12
    assert [score.value for score in scores_of(first)] == [score.value for score in scores_of(second)]
    grader_id = (scores_of(first)[0].metadata or {})["grader_id"]
    with RunStore(Path("store.sqlite"), must_exist=True) as store:
        assert len(store.completions(grader_id)) == 12
        assert list(store.run_times()) == []


@pytest.mark.slow
def test_what_the_store_has_is_shared_with_runs_of_our_own() -> None:
    """The responses of the log as a set, the same grader, the same store: nothing is left to ask."""
    with FaultServer(by_item("A", "B", "A", "hm")) as server:
        log = run(asking(server), epochs=2)
        n_paid = len(server.requests)
        labels = [part for pair in ("C=CORRECT", "I=INCORRECT", "N=NOT_ATTEMPTED") for part in ("--labels", pair)]
        taken = ["import", "inspect", log.location, "--to", "answers", "--scale", "simpleqa", *labels]
        result = CliRunner().invoke(cli.app, taken)
        assert result.exit_code == 0, result.output
        Path("again.toml").write_text(
            f'name = "again"\nset = "answers"\nsampling = {{ repeats = 3, temperature = 1.0 }}\n[[graders]]\n'
            f'model = "openai-compatible/m"\nprompt = "{PROMPT}"\nbase_url = "{server.openai_url}"\n',
            encoding="utf-8",
        )
        result = CliRunner().invoke(cli.app, ["run", "again.toml", "--store", "store.sqlite"])
        assert result.exit_code == 0, result.output
        assert len(server.requests) == n_paid == 4 * 2 * 3


def test_no_usable_verdict_at_all_is_no_number() -> None:
    with FaultServer(by_item("hm")) as server:
        log = run(asking(server))
    assert {score.reason for score in scores_of(log)} == {"grader_failed"}
    assert all(math.isnan(score.as_float()) for score in scores_of(log))
    assert log.results is not None
    assert [(score.scored_samples, score.unscored_samples) for score in log.results.scores] == [(0, 4), (0, 4)]
    assert math.isnan(metrics_of(log)["accuracy"])
    assert math.isnan(metrics_of(log)["clustered_stderr"])


def test_a_call_that_fails_is_told_and_asked_again_by_the_next_run() -> None:
    with FaultServer(lambda number: Status(400) if number == 0 else Ok("A")) as server:
        first, second = run(asking(server), n=1), run(asking(server), n=1)
        assert len(server.requests) == 3 + 1
    before, after = (scores_of(log)[0].metadata or {} for log in (first, second))
    assert before["failures"] == {"not_answered": 1}
    assert before["verdicts"][0]["reply"] is None
    assert before["verdicts"][0]["detail"] not in ("", "not_asked")
    assert (after["failures"], after["counts"]) == ({}, {"CORRECT": 3})


def test_calls_that_all_fail_are_no_failure_of_the_graders_reply() -> None:
    with FaultServer([Status(400)]) as server:
        log = run(asking(server, sampling={"repeats": 1}), n=2)
    assert {score.reason for score in scores_of(log)} == {"scoring_failed"}


def test_an_item_that_the_service_refuses_takes_no_other_with_it() -> None:
    """Three refused repeats in a row would stop a run; here they are one item's."""

    def answer(number: int) -> Fault:
        return Ok("A") if number < 3 or number >= 6 else Status(400)

    with FaultServer(answer) as server:
        grading = item_grader(server, repeats=3)
        first, *others = items(3)
        grading.grade_items([first])
        refused, well = grading.grade_items(others)
    assert [verdict.failure for verdict in refused.verdicts] == ["not_answered"] * 3
    assert {verdict.detail for verdict in refused.verdicts} == {"bad_request"}
    assert [verdict.label for verdict in well.verdicts] == ["CORRECT"] * 3


def test_a_service_that_refuses_all_from_the_beginning_ends_it() -> None:
    with FaultServer([Status(400)]) as server, pytest.raises(ServiceError, match="3 calls in a row failed for good"):
        item_grader(server, repeats=3).grade_items(items(2))


def test_a_log_that_we_scored_comes_back_with_each_reply_once() -> None:
    """Epochs with one response share what the store has of it: replies that were asked once are no repeats."""
    said = ModelOutput(model="m", choices=ModelOutput.from_content("m", "number 0").choices, usage=ModelUsage())
    model = get_model("mockllm/model", custom_outputs=[said] * 6, memoize=False)
    with FaultServer(by_item("A", "C", "hm")) as server:
        task = Task(samples(3), scorer=asking(server), epochs=Epochs(2))
        (log,) = run_task(task, model=model, log_dir="logs", display="none", max_samples=1)
    names = [part for pair in ("C=CORRECT", "I=INCORRECT", "N=NOT_ATTEMPTED") for part in ("--labels", pair)]
    for scale, label in ((["--scale", "simpleqa", *names], "NOT_ATTEMPTED"), ([], None)):
        store = f"back{len(scale)}.sqlite"
        result = CliRunner().invoke(cli.app, ["import", "inspect", log.location, *scale, "--store", store])
        assert result.exit_code == 0, result.output
        verdicts = load_run(store, "inspect").verdicts()
        found = Counter(zip(verdicts["label"].astype(object).where(verdicts["label"].notna(), None), verdicts["failure"]
                            .astype(object).where(verdicts["failure"].notna(), None), strict=True))  # fmt: skip
        # In binary a C of our prompt, which is no attempt, has no label; as a letter of Inspect's it would be right.
        off_scale = {(None, "off_scale"): 3} if label is None else {(label, None): 3}
        assert found == {("CORRECT", None): 3, (None, "unparsed"): 3, **off_scale}
        assert set(verdicts["grader"].astype(str)) == {verdicts["grader"].iloc[0]}
        assert verdicts["grader"].iloc[0].startswith("simpleqa@inspect")


@pytest.mark.slow
def test_epochs_are_counted_in_full() -> None:
    with FaultServer(by_item("A", "hm", "A")) as server:
        metrics = metrics_of(run(asking(server), epochs=3))
    assert (metrics["verdicts"], metrics["failed_verdicts"]) == (4 * 3 * 2, 4 * 3)


def test_the_mean_is_a_share() -> None:
    with FaultServer(by_item("A", "B", "A")) as server:
        log = run(asking(server, aggregation="mean"))
    assert {score.value for score in scores_of(log)} == {2 / 3}


def test_a_message_of_a_service_in_place_of_an_answer_is_not_graded() -> None:
    outputs = ModelOutput(
        model="mock", choices=ModelOutput.from_content("mock", "Too many requests").choices, usage=ModelUsage()
    )
    with FaultServer(by_item("A")) as server:
        task = Task(samples(1), scorer=asking(server))
        (log,) = run_task(
            task,
            model=get_model("mockllm/model", custom_outputs=[outputs], memoize=False),
            log_dir="logs",
            display="none",
        )
        assert server.requests == []
    assert scores_of(log)[0].reason == "scoring_failed"
    assert (scores_of(log)[0].metadata or {})["verdicts"][0]["detail"] == "service_message"


def test_a_wrong_key_ends_the_run_with_its_reason() -> None:
    with FaultServer([Status(401)]) as server:
        task = Task(samples(2), scorer=asking(server))
        (log,) = run_task(task, model=answering(), log_dir="logs", display="none")
    assert log.status == "error"
    assert log.error is not None
    assert "key" in log.error.message or "401" in log.error.message


def test_inspect_finds_the_scorer_by_its_entry_point() -> None:
    found = [one for one in entry_points(group="inspect_ai") if one.name == "autorater"]
    assert found, "not installed since the entry point is there; run pip install -e . again"
    assert registry_info(grader).name == "autorater/grader"
    assert {registry_info(one).name for one in (clustered_stderr, verdict_counts)} == {
        "autorater/clustered_stderr",
        "autorater/verdict_counts",
    }


@pytest.mark.slow
def test_a_log_that_is_there_is_scored_from_the_command_line() -> None:
    """A process of its own, which knows of the scorer by nothing but its name."""
    command = shutil.which("inspect", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    assert command is not None
    task = Task(samples(2))
    (log,) = run_task(task, model=answering(), log_dir="logs", display="none", max_samples=1)
    with FaultServer(by_item("A", "B", "A")) as server:
        given = {
            "model": "openai-compatible/m",
            "prompt": PROMPT,
            "base_url": server.openai_url,
            "sampling": "{repeats: 3}",
            "store": "store.sqlite",
        }
        asked = [part for name, value in given.items() for part in ("-S", f"{name}={value}")]
        line = [command, "score", log.location, "--scorer", "autorater/grader", *asked, "--output-file", "scored.eval"]
        done = subprocess.run([*line, "--action", "append"], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    scored = read_eval_log("scored.eval")
    assert [score.value for score in scores_of(scored)] == ["C", "C"]
    assert metrics_of(scored)["verdicts"] == 6


# the grader that arguments name


def test_a_grader_of_an_experiments_file() -> None:
    Path("two.toml").write_text(
        'name = "two"\nset = "published_examples"\n[[graders]]\nmodel = "baseline/lexical"\nsampling.repeats = 1\n'
        f'[[graders]]\nmodel = "openai-compatible/m"\nprompt = "{PROMPT}"\nbase_url = "http://127.0.0.1:9/v1"\n',
        encoding="utf-8",
    )
    chosen = build_scorer_grader({}, scale=None, experiment="two.toml", name="lexical", aggregation="majority")
    assert (chosen.grader.model, chosen.scale) == ("baseline/lexical", SIMPLEQA)
    with pytest.raises(SpecError, match=r"grader: missing, two\.toml has 2; expected one of \['baseline/lexical', '"):
        grader(experiment="two.toml")
    with pytest.raises(SpecError, match=r"autorater/grader: grader: .*another"):
        grader(experiment="two.toml", grader="another")


def test_a_grader_without_a_model_call_in_a_run() -> None:
    log = run(grader(model="baseline/lexical", sampling={"repeats": 1}, store="store.sqlite"), n=2)
    assert [score.value for score in scores_of(log)] == ["C", "I"]


def test_the_same_keys_make_the_same_grader_as_in_a_file() -> None:
    given = {"model": "openai-compatible/m", "prompt": PROMPT, "base_url": "http://127.0.0.1:9/v1"}
    Path("one.toml").write_text(
        'name = "one"\nset = "published_examples"\n[[graders]]\n'
        + "".join(f'{key} = "{value}"\n' for key, value in given.items()),
        encoding="utf-8",
    )
    mine = build_scorer_grader(given, scale=None, experiment=None, name=None, aggregation="mean").grader
    assert mine == build_scorer_grader({}, scale=None, experiment="one.toml", name=None, aggregation="mean").grader


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "autorater/grader: key 'model' is missing"),
        ({"model": "nobody/m"}, "autorater/grader: model: 'nobody/m'; expected one of baseline/lexical"),
        ({"model": "openai-compatible/m", "prompt": PROMPT}, "base_url: missing"),
        ({"model": "openai-compatible/m", "prompt": "no_such@1.0.0"}, "prompt"),
        ({"model": "local/smollm2"}, "prompt, missing"),
        ({"model": "baseline/lexical", "sampling": {"repeats": 0}}, "repeats"),
        ({"model": "baseline/lexical", "sampling": {"warmth": 1}}, "warmth"),
        ({"model": "baseline/lexical", "aggregation": "vote"}, "aggregation: 'vote'; expected one of"),
        ({"model": "baseline/lexical", "scale": "none"}, "scale: 'none'; expected one of"),
        ({"model": "baseline/lexical", "scale": "der2_errors"}, "neither a label for right nor numbers"),
        ({"model": "baseline/lexical", "grader": "lexical"}, "without experiment"),
        ({"model": "openai-compatible/m", "prompt": PROMPT, "scale": "binary"}, "beside a prompt"),
        ({"experiment": "quickstart", "model": "baseline/lexical"}, "model: given beside experiment"),
        ({"experiment": "quickstart", "scale": "binary"}, "scale: given beside experiment"),
        ({"experiment": "none.toml"}, "no such file"),
        ({"model": "baseline/lexical", "store": "postgresql://me:secret@host/db"}, "a password"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_before_anything_is_asked(given: dict[str, Any], said: str) -> None:
    with pytest.raises((SpecError, GraderError)) as caught:
        grader(**given)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


# metrics


def score_rows(values: Sequence[str], clusters: Sequence[object]) -> list[SampleScore]:
    return [
        SampleScore(
            score=Score(value=value), sample_id=place, sample_metadata=None if cluster is None else {"q": cluster}
        )
        for place, (value, cluster) in enumerate(zip(values, clusters, strict=True))
    ]


def compute(metric: Metric, rows: list[SampleScore]) -> float:
    found = metric(rows)  # type: ignore[arg-type]
    assert isinstance(found, float | int)
    return float(found)


def test_the_standard_error_is_by_question() -> None:
    rows = score_rows(["C", "C", "I", "I", "C", "I"], ["a", "a", "b", "b", "c", "c"])
    shares = {"a": (0.5, 0.5), "b": (-0.5, -0.5), "c": (0.5, -0.5)}
    squares = sum(sum(both) ** 2 for both in shares.values())
    assert compute(clustered_stderr("q"), rows) == pytest.approx(math.sqrt(squares * 3 / 2) / 6)


def test_without_questions_every_sample_is_its_own() -> None:
    rows = score_rows(["C", "I", "I", "C"], ["a", None, "a", "a"])
    assert compute(clustered_stderr("q"), rows) == pytest.approx(math.sqrt(4 * 0.25 / 3 / 4))


@pytest.mark.parametrize("clusters", [["a", "a"], ["a"], []])
def test_the_standard_error_of_one_question_is_not_defined(clusters: list[str]) -> None:
    assert math.isnan(compute(clustered_stderr("q"), score_rows(["C"] * len(clusters), clusters)))


# items that come one by one


def items(n: int) -> list[Item]:
    return [Item(f"i{place}", f"Q{place}?", parse_reference("yes"), f"answer {place}", "q") for place in range(n)]


def grade_all(asked: ItemGrader, those: Sequence[Item]) -> list[GradedItem | Exception]:
    found: list[GradedItem | Exception] = [LookupError()] * len(those)

    async def one(place: int) -> None:
        try:
            found[place] = await asked.grade(those[place])
        except GraderError as error:
            found[place] = error

    async def everyone() -> None:
        async with anyio.create_task_group() as group:
            for place in range(len(those)):
                group.start_soon(one, place)

    anyio.run(everyone)
    return found


def item_grader(server: FaultServer, *, repeats: int = 1) -> ItemGrader:
    table = {"model": "openai-compatible/m", "prompt": PROMPT, "base_url": server.openai_url, "max_wait_seconds": 0.0,
             "max_connections": 1 if repeats > 1 else 8,
             "sampling": {"repeats": repeats, "temperature": 1.0}}  # fmt: skip
    chosen = build_scorer_grader(table, scale=None, experiment=None, name=None, aggregation="majority")
    return ItemGrader(chosen.grader, chosen.scale, "store.sqlite")


def test_items_that_come_together_are_asked_together() -> None:
    with FaultServer(by_item("A"), latency=0.2) as server:
        found = grade_all(item_grader(server), items(24))
        assert len(server.requests) == 24
        assert server.most_in_flight > 4
    assert [one.item.item_id for one in found if isinstance(one, GradedItem)] == [f"i{place}" for place in range(24)]


def test_the_same_content_is_paid_once_and_both_get_it() -> None:
    twins = [*items(1), *items(1), *items(2)]
    with FaultServer(by_item("A")) as server:
        found = grade_all(item_grader(server), twins)
        assert len(server.requests) == 2
    assert {one.verdicts[0].label for one in found if isinstance(one, GradedItem)} == {"CORRECT"}
    assert len(found) == 4


def test_what_a_batch_job_is_to_bring_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, out = items(2)[0], items(2)[1]
    held = {CompletionKey(out.digest, 0)}
    monkeypatch.setattr("experiments.outlets.item_grading.held_keys", lambda *_: held)
    with FaultServer(by_item("A")) as server:
        grading = item_grader(server)
        with pytest.raises(SpecError, match="1 verdicts are in batch jobs that are out"):
            grading.grade_items([asked, out])
        assert server.requests == []
        assert len(grading.grade_items([asked])) == 1


def test_what_stops_one_stops_all_that_wait_with_it() -> None:
    with FaultServer([Status(401)]) as server:
        found = grade_all(item_grader(server), items(5))
    assert all(isinstance(one, GraderError) for one in found)
