"""`autorater run` with [regimes] and `autorater regimes`, end to end against a loopback server and the local model."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai")
pytest.importorskip("aiohttp")

from batch_server import BatchServer
from fault_replies import ContentFilter, Fault, Ok, Refusal, Status, asked_text
from regime_samples import RegimeServer, write_experiment, write_questions

import cli
from experiments.regimes.regime_names import REGIMES
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from graders.providers import openai_service

Run = Callable[..., tuple[int, str, str]]
N_QUESTIONS = 12
N_ANSWERS = N_QUESTIONS * len(REGIMES) * 2


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    openai_service.forget_refusals()
    yield
    openai_service.forget_refusals()


@pytest.fixture
def autorater(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AUTORATER_STORE", raising=False)
    write_questions(tmp_path / "questions", n_questions=N_QUESTIONS)

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["autorater", *map(str, arguments), "--store", "s.sqlite"])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            cli.main()
        shown = capsys.readouterr()
        return int(stop.value.code or 0), shown.out, shown.err

    return run


def fields_of(autorater: Run, *options: object) -> dict[str, Any]:
    code, out, err = autorater("regimes", "tolls", "--format", "json", *options)
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def means(fields: dict[str, Any], model: str = "openai-compatible/m1") -> dict[str, Any]:
    return {one["regime"]: one["mean"] for one in fields["means"] if one["model"] == model}


def losses(fields: dict[str, Any], model: str = "openai-compatible/m1") -> dict[str, Any]:
    return {one["loss"]: one for one in fields["losses"] if one["model"] == model}


def test_four_regimes_are_asked_twice_graded_and_compared(tmp_path: Path, autorater: Run) -> None:
    with RegimeServer() as server:
        path = write_experiment(tmp_path, server.openai_url)
        code, out, err = autorater("run", path)
        assert code == 0, err
        asked = [asked_text(call.body) for call in server.requests if call.body["model"] == "m1"]
        assert len(asked) == N_ANSWERS == 96
        n_before = len(server.requests)
        assert autorater("run", path)[:2] == (0, out)
        assert len(server.requests) == n_before
        judged = [asked_text(call.body) for call in server.requests if call.body["model"] == "judge"]
    assert not any("marks a tonne" in text for text in judged), "a grader sees no documents"
    assert "experiment tolls: 1 models x 4 regimes x 12 of 12 questions of tolls 1.0.0 x 2 repeats: 96 answers" in err
    assert "autorater regimes tolls-" in out
    assert "autorater ab" not in out
    fields = fields_of(autorater)
    found = means(fields)
    assert found["instruction_only"]["value"] == 0
    assert all(one["n"] == one["clusters"] == N_QUESTIONS for one in found.values())
    assert found["concepts_only"]["value"] > found["related_documents"]["value"] > found["full_set"]["value"]
    about = losses(fields)
    values = {name: one["difference"]["value"] for name, one in about.items()}
    assert values["knowledge"] == pytest.approx(found["concepts_only"]["value"])
    assert values["retrieval, full set"] == pytest.approx(values["retrieval, related"] + values["noise"])
    assert about["knowledge"]["outcome"] == "loss"
    assert about["knowledge"]["p_value"] == pytest.approx(2 / 2**12)
    assert all(one["worst"] is None and one["left_out"] == 0 for one in about.values())
    assert all(one["adjusted_p_value"] >= one["p_value"] for one in about.values())


def test_scores_are_those_that_the_judge_gave(tmp_path: Path, autorater: Run) -> None:
    """Each mean is found again from the responses and their verdicts, one by one."""
    with RegimeServer() as server:
        autorater("run", write_experiment(tmp_path, server.openai_url))
    with RunStore(tmp_path / "s.sqlite", must_exist=True) as store:
        data, _ = load_run_data(store, "tolls")
    labels = {verdict.item_digest: verdict.label for verdict in data.graders[0].verdicts}
    for regime, mean in means(fields_of(autorater)).items():
        own = [item for item in data.calibration_set.items if item.metadata["prompt"] == f"{regime}@1.0.0"]
        scores = [float(labels[item.digest] or "nan") for item in own]
        assert len(scores) == 2 * N_QUESTIONS
        assert mean["value"] == pytest.approx(sum(scores) / len(scores))


def test_groups_hold_their_questions_and_their_noise(tmp_path: Path, autorater: Run) -> None:
    with RegimeServer() as server:
        autorater("run", write_experiment(tmp_path, server.openai_url))
    fields = fields_of(autorater)
    groups = {(one["trait"], one["low"]): one for one in fields["groups"]}
    assert {key: one["n_questions"] for key, one in groups.items()} == {
        ("distractors", 0): 4,
        ("distractors", 1): 4,
        ("distractors", 2): 4,
        ("concepts", 1): 6,
        ("concepts", 2): 6,
        ("steps", 1): 6,
        ("steps", 2): 3,
    }
    # The model loses a quarter of a point for any distractor, beside chance.
    assert groups["distractors", 2]["noise"]["value"] > groups["distractors", 0]["noise"]["value"]
    slopes = {(one["trait"], one["of"]): one for one in fields["slopes"]}
    assert len(slopes) == 4 * 3 + 1
    noise = slopes["distractors", "noise loss"]
    assert noise["slope"]["value"] > 0
    assert noise["slope"]["n"] == N_QUESTIONS
    assert 0 <= noise["p_value"] <= noise["adjusted_p_value"] <= 1
    # The bare question is never answered, whatever it comes with: a line, and no interval.
    bare = slopes["steps", "instruction_only"]
    assert (bare["slope"]["value"], bare["slope"]["low"], bare["p_value"]) == (0, None, None)
    text = " ".join(autorater("regimes", "tolls")[1].split())
    distractors = text.partition("distractors model slope for one more")[2].partition("concepts model slope")[0]
    assert "noise loss openai-compatible/m1 +0." in distractors
    assert "instruction openai-compatible/m1 +0.000 [no interval]" in distractors


def test_the_page_ends_in_what_is_shown_and_what_is_not(tmp_path: Path, autorater: Run) -> None:
    with RegimeServer() as server:
        autorater("run", write_experiment(tmp_path, server.openai_url, models="m1 weak"))
    code, out, err = autorater("regimes", "tolls")
    assert (code, err) == (0, "")
    text = " ".join(out.split())
    decision = text.rpartition("Decision")[2]
    assert "at 95.0% for all 12 losses together. Shown: knowledge loss of openai-compatible/m1 (concepts" in decision
    shown, _, undecided = decision.partition("not shown to be absent either:")
    assert "openai-compatible/weak" not in shown
    assert "knowledge loss of openai-compatible/weak (concepts - instruction +0.000 [" in undecided
    assert "Nothing is missing." in decision
    assert "its errors are not corrected" in decision
    assert "average of these models" in text
    fields = fields_of(autorater)
    both, one = losses(fields, "average of these models"), losses(fields)
    for name, loss in both.items():
        assert loss["difference"]["value"] == pytest.approx(one[name]["difference"]["value"] / 2)


def faulty(number: int) -> Fault:
    """Every fifth call is refused, filtered or answered with an error."""
    return {0: Refusal(), 5: ContentFilter(), 10: Status(400)}.get(number % 15, Ok())


def test_what_is_missing_is_counted_by_regime_and_is_never_a_score(tmp_path: Path, autorater: Run) -> None:
    with RegimeServer(faulty) as server:
        path = write_experiment(tmp_path, server.openai_url)
        code, _, err = autorater("run", path)
        assert code == 0, err
    fields = fields_of(autorater)
    n_missing = sum(fields["missing"].values())
    assert n_missing == sum(sum(one["no_answer"].values()) for one in fields["means"]) > 10
    assert fields["missing"]["refused"] > 0
    assert any(one["no_verdict"] for one in fields["means"])
    for one in fields["means"]:
        low, high = one["bounds"]
        assert low <= one["mean"]["value"] <= high
    # All that the model can say of the bare question is worth 0, however much of it is missing.
    assert means(fields)["instruction_only"]["value"] == 0
    for loss in fields["losses"]:
        low, high = loss["worst"]
        assert low["value"] <= high["value"]
        assert loss["outcome"] != "loss" or low["low"] > 0
    text = " ".join(autorater("regimes", "tolls")[1].split())
    assert "openai-compatible/m1 instruction" in text
    assert f"{n_missing} answers and" in text
    assert "are missing and are no score." in text


def test_a_model_that_never_answers_has_no_mean(tmp_path: Path, autorater: Run) -> None:
    class Silent(RegimeServer):
        def _say(self, model: str, text: str) -> str:
            return "" if model == "weak" else super()._say(model, text)

    with Silent() as server:
        code, _, err = autorater("run", write_experiment(tmp_path, server.openai_url, models="m1 weak"))
        assert code == 0, err
    fields = fields_of(autorater)
    for mean in means(fields, "openai-compatible/weak").values():
        assert (mean["value"], mean["low"], mean["n"]) == (None, None, 0)
    weak = losses(fields, "openai-compatible/weak")["knowledge"]
    assert (weak["difference"]["value"], weak["p_value"], weak["left_out"]) == (None, None, N_QUESTIONS)
    assert weak["outcome"] == "undecided"
    # The average can only be of what is there, and what is missing could overturn it.
    assert losses(fields, "average of these models")["knowledge"]["outcome"] == "undecided"
    code, out, err = autorater("regimes", "tolls")
    assert (code, err) == (0, "")
    assert "not defined" in out


def test_some_regimes_alone_have_their_losses_alone(tmp_path: Path, autorater: Run) -> None:
    with RegimeServer() as server:
        more = 'regimes = ["related_documents", "full_set"]'
        autorater("run", write_experiment(tmp_path, server.openai_url, more=more))
    fields = fields_of(autorater)
    assert [loss["loss"] for loss in fields["losses"]] == ["noise"]
    assert set(means(fields)) == {"related_documents", "full_set"}


def test_one_regime_alone_has_no_loss(tmp_path: Path, autorater: Run) -> None:
    with RegimeServer() as server:
        autorater("run", write_experiment(tmp_path, server.openai_url, more='regimes = ["full_set"]\nrepeats = 1'))
    assert fields_of(autorater)["losses"] == []
    assert "No two regimes" in autorater("regimes", "tolls")[1]


def test_a_dry_run_prices_all_regimes_and_asks_nobody(tmp_path: Path, autorater: Run) -> None:
    with RegimeServer() as server:
        path = write_experiment(tmp_path, server.openai_url)
        code, out, err = autorater("run", path, "--dry-run")
        assert (code, server.requests) == (0, []), err
    assert "1 models x 4 regimes x 12 of 12 questions" in out
    assert "answering expected $" in out
    assert not (tmp_path / "s.sqlite").exists()


def test_a_limit_of_cost_stops_before_and_the_same_command_goes_on(tmp_path: Path, autorater: Run) -> None:
    with RegimeServer() as server:
        path = write_experiment(tmp_path, server.openai_url)
        code, _, err = autorater("run", path, "--max-cost", 0.001)
        assert code == 2
        assert "--max-cost" in err
        n_first = len(server.requests)
        assert 0 < n_first < N_ANSWERS
        code, _, err = autorater("run", path, "--max-cost", 5)
        assert code == 0, err
        assert len([call for call in server.requests if call.body["model"] == "m1"]) == N_ANSWERS
    assert means(fields_of(autorater))["full_set"]["n"] == N_QUESTIONS


def test_other_commands_send_on(tmp_path: Path, autorater: Run) -> None:
    with RegimeServer() as server:
        autorater("run", write_experiment(tmp_path, server.openai_url))
    code, _, err = autorater("ab", "tolls")
    assert code == 2
    assert "its prompts are regimes; expected a run of wordings (autorater regimes RUN)" in err
    assert "autorater regimes tolls-" in autorater("runs", "show", "tolls")[1]


def test_a_run_of_another_kind_is_refused(tmp_path: Path, autorater: Run) -> None:
    path = tmp_path / "plain.toml"
    path.write_text(
        'name = "plain"\nset = "probes"\nitems = { sample = 3 }\n[[graders]]\nmodel = "baseline/lexical"\n'
        "sampling = { repeats = 1 }\n",
        encoding="utf-8",
    )
    autorater("run", path)
    code, _, err = autorater("regimes", "plain")
    assert code == 2
    assert "no [regimes] in its experiment" in err


def test_answers_are_graded_right_or_wrong_where_the_set_says_so(tmp_path: Path, autorater: Run) -> None:
    class Marks(RegimeServer):
        def _say(self, model: str, text: str) -> str:
            worth = re.findall(r"worth ([\d.]*\d)", text) if model == "judge" else []
            return ("A" if worth[-1:] == ["1"] else "B") if model == "judge" else super()._say(model, text)

    with (tmp_path / "questions" / "set.toml").open("a", encoding="utf-8") as file:
        file.write('rubric = "simpleqa@1.0.0"\nscale = "simpleqa"\n')
    with Marks() as server:
        path = write_experiment(tmp_path, server.openai_url)
        path.write_text(path.read_text(encoding="utf-8").replace("der2_rubric", "simpleqa"), encoding="utf-8")
        code, _, err = autorater("run", path)
        assert code == 0, err
    fields = fields_of(autorater)
    assert fields["scores"] == {"INCORRECT": 0, "NOT_ATTEMPTED": 0, "CORRECT": 1}
    found = means(fields)
    assert found["instruction_only"]["value"] == 0
    assert 0.5 < found["concepts_only"]["value"] < 1
    shares = {one * 24 for one in (found["concepts_only"]["value"], found["related_documents"]["value"])}
    assert all(share == pytest.approx(round(share)) for share in shares), "each answer is 0 or 1"
    text = " ".join(autorater("regimes", "tolls")[1].split())
    assert "(INCORRECT counts 0, NOT_ATTEMPTED counts 0, CORRECT counts 1)" in text


def test_batch_jobs_bring_answers_and_then_verdicts(
    tmp_path: Path, autorater: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with BatchServer() as server:
        path = write_experiment(tmp_path, f"{server.url}/v1", more="repeats = 1")
        text = path.read_text(encoding="utf-8")
        for name in ("m1", "judge"):
            text = text.replace(f"openai-compatible/{name}", "openai/gpt-4.1-2025-04-14")
        path.write_text(text, encoding="utf-8")
        server.finishes_at_once = False
        code, _, err = autorater("run", path, "--batch", "--limit", 2)
        assert code == 0, err
        assert "answers are out" in err
        assert len(server.jobs) == len(REGIMES)
        server.finish()
        server.finishes_at_once = True
        code, _, err = autorater("run", path, "--batch", "--limit", 2)
        assert code == 0, err
        assert set(server.answered.values()) == {1}
    fields = fields_of(autorater)
    assert fields["n_questions"] == 2
    assert all(not one["no_answer"] for one in fields["means"])


def test_a_model_without_batch_jobs_is_named_once(tmp_path: Path, autorater: Run) -> None:
    with RegimeServer() as server:
        code, _, err = autorater("run", write_experiment(tmp_path, server.openai_url), "--batch")
        assert (code, server.requests) == (2, [])
    assert "error: --batch: openai-compatible/m1: no batch jobs" in err


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on(tmp_path: Path, autorater: Run) -> None:
    """Killed by the system, with no time to say anything: what is asked twice was under way."""
    with RegimeServer(latency=0.02) as server:
        path = write_experiment(tmp_path, server.openai_url)
        command = [sys.executable, "-m", "cli", "run", str(path), "--store", "s.sqlite"]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            until = time.monotonic() + 60
            while len(server.requests) < 30 and time.monotonic() < until:
                time.sleep(0.02)
            process.kill()
        n_killed = len(server.requests)
        assert 30 <= n_killed < N_ANSWERS
        code, _, err = autorater("run", path)
        assert code == 0, err
        n_asked = len([call for call in server.requests if call.body["model"] == "m1"])
    # Two connections: as many calls were in flight, and as many answers may have waited to be stored.
    assert N_ANSWERS <= n_asked <= N_ANSWERS + 4
    assert all(one["mean"]["n"] == N_QUESTIONS for one in fields_of(autorater)["means"])


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.usefixtures("weights")
def test_the_local_model_answers_and_grades_under_each_regime(tmp_path: Path, autorater: Run) -> None:
    path = tmp_path / "local.toml"
    path.write_text(
        'name = "tolls"\nset = "questions"\n[regimes]\nmax_tokens = 20\nrepeats = 1\n'
        '[[regimes.models]]\nmodel = "local/smollm2"\n'
        '[[graders]]\nprompt = "der2_rubric@1.0.0"\nmodel = "local/smollm2"\n'
        "sampling = { max_tokens = 20, repeats = 1 }\n",
        encoding="utf-8",
    )
    code, _, err = autorater("run", path, "--limit", 1)
    assert code == 0, err
    fields = fields_of(autorater)
    assert fields["n_questions"] == 1
    for one in fields["means"]:
        n_lost = sum(one["no_answer"].values())
        assert n_lost <= 1
        assert (one["mean"]["value"] is None) == (one["mean"]["n"] == 0)
        assert one["mean"]["value"] is None or 0 <= one["mean"]["value"] <= 1
    assert fields["decision"].startswith("On 1 question")
