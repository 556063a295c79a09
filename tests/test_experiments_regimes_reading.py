"""Documents that a model opens one at a time by a tool: end to end, in three wire formats, and what goes wrong."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("aiohttp")

from fault_replies import DropConnection, Fault, Status, asked_text
from fault_server import at_calls
from regime_reading import ReadingServer, opens_all, texts_handed_back, turns_of
from regime_samples import write_experiment, write_questions

import cli
from experiments.errors import SpecError
from experiments.respondents.responses import as_asking
from experiments.running.budget import count_paid
from experiments.specs.experiment import load_experiment
from experiments.store.run_store import RunStore
from graders.client import Request
from graders.dispatch import retry
from graders.providers import anthropic_service, openai_service
from graders.reading_turns import count_opened
from graders.token_estimate import estimate_request
from graders.verdict import Completion

Run = Callable[..., tuple[int, str, str]]

N_QUESTIONS = 6
TOOL = 'documents = "tool"'
N_DOCUMENTS = sum(1 + n % 3 for n in range(N_QUESTIONS))
"""Of the full set, over all questions; each has one related document."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    for service in (openai_service, anthropic_service):
        service.forget_refusals()
    yield
    for service in (openai_service, anthropic_service):
        service.forget_refusals()


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


def write_reading(folder: Path, server: ReadingServer, *, api: str = "chat", more: str = "") -> Path:
    """The experiment with respondents that take tools, in a wire format."""
    path = write_experiment(folder, server.openai_url, more=f"{TOOL}\n{more}")
    text = path.read_text(encoding="utf-8")
    head, table, rest = text.partition("[[graders]]")
    wire = {"chat": "", "responses": 'api = "responses", ', "messages": ""}[api]
    head = head.replace("capabilities = { ", f"capabilities = {{ tool_call = true, {wire}")
    if api == "messages":
        head = head.replace("openai-compatible/m1", "anthropic/m1").replace(server.openai_url, server.anthropic_url)
    path.write_text(head + table + rest, encoding="utf-8")
    return path


def reading_calls(server: ReadingServer) -> list[dict[str, Any]]:
    return [call.body for call in server.requests if call.body.get("tools")]


def completions(folder: Path, path: Path, prompt: str) -> list[Completion]:
    answering = load_experiment(str(path)).answering
    assert answering is not None
    respondent = next(one for one in answering.respondents if one.prompt.startswith(prompt))
    with RunStore(folder / "s.sqlite", must_exist=True) as store:
        return list(store.completions(respondent.grader.grader_id).values())


@pytest.mark.parametrize("api", ["chat", "messages", "responses"])
def test_documents_are_opened_one_at_a_time_and_the_whole_is_one_answer(
    tmp_path: Path, autorater: Run, api: str
) -> None:
    with ReadingServer() as server:
        path = write_reading(tmp_path, server, api=api)
        code, out, err = autorater("run", path)
        assert code == 0, err
        calls = reading_calls(server)
        # Twice each: a turn a document, and one for the answer.
        assert len(calls) == 2 * (2 * N_QUESTIONS + N_DOCUMENTS + N_QUESTIONS)
        n_before = len(server.requests)
        assert autorater("run", path)[:2] == (0, out)
        assert len(server.requests) == n_before, "what is paid is not asked again"
    for body in calls:
        first = asked_text({"messages": (body.get("messages") or body["input"])[:1]})
        assert "marks a tonne" not in first, "the prompt has titles alone"
        assert "Document 1: On Lock" in first
        texts = texts_handed_back(body)
        assert all("was built in" in text for text in texts)
        assert len(set(texts)) == len(texts)
    code, out, err = autorater("regimes", "tolls", "--format", "json")
    means = {one["regime"]: one["mean"]["value"] for one in json.loads(out)["means"]}
    assert set(means) == {"instruction_only", "concepts_only", "related_documents", "full_set"}
    assert means["related_documents"] == means["full_set"] == 1
    assert means["instruction_only"] == 0
    for prompt, n_documents in (("related_documents", [1] * 12), ("full_set", sorted([1, 2, 3] * 4))):
        found = completions(tmp_path, path, prompt)
        assert sorted(count_opened(one.turns) for one in found) == n_documents
        for one in found:
            n_turns = count_opened(one.turns) + 1
            assert (one.usage.input_tokens, one.usage.output_tokens) == (100 * n_turns, 7 * n_turns)
            assert [turn["opened"] for turn in one.turns] == [[number] for number in range(1, n_turns)]
            assert not {"turns", "opened"} & set(one.effective_sampling), "they are no settings"
            assert one.text == "I have read it; worth 1."


def test_a_model_is_told_of_what_it_cannot_open(tmp_path: Path, autorater: Run) -> None:
    plans = (9, "not JSON", True, 1, 1, None)

    with ReadingServer(lambda turn, _n: plans[turn]) as server:
        path = write_reading(tmp_path, server, more='repeats = 1\nregimes = ["full_set"]')
        autorater("run", path, "--limit", 3)
        calls = reading_calls(server)
    longest = max(calls, key=lambda body: len(turns_of(body)))
    texts = texts_handed_back(longest)
    assert texts[:3] == ["There is no such document; expected a number from 1 to 3."] * 3
    assert "was built in" in texts[3]
    assert texts[4] == "Document 1 has been opened before; its text stands above."


def test_answers_without_any_document_opened_are_told(tmp_path: Path, autorater: Run) -> None:
    """Such as of a server that passes over tools: a score like any other, and a reader has to know."""
    with ReadingServer(lambda turn, n: None if n == 1 else opens_all(turn, n)) as server:
        path = write_reading(tmp_path, server)
        assert autorater("run", path)[0] == 0
    # Of the full set every third question has a related document alone.
    _, out, _ = autorater("regimes", "tolls")
    told = "no document was opened: openai-compatible/m1 under related 12 of 12; openai-compatible/m1 under full set 4"
    assert told in " ".join(out.split())
    _, out, _ = autorater("regimes", "tolls", "--format", "json")
    by_regime = {one["regime"]: one["n_unread"] for one in json.loads(out)["means"]}
    assert by_regime == {"instruction_only": 0, "concepts_only": 0, "related_documents": 12, "full_set": 4}


def test_of_several_calls_in_a_turn_the_first_is_carried_out(tmp_path: Path, autorater: Run) -> None:
    with ReadingServer(lambda turn, n: [1, 2] if turn == 0 and n == 3 else None) as server:
        path = write_reading(tmp_path, server, more='repeats = 1\nregimes = ["full_set"]')
        autorater("run", path)
        texts = [texts_handed_back(body) for body in reading_calls(server) if texts_handed_back(body)]
    assert len(texts) == 2
    for first, second in texts:
        assert "was built in" in first
        assert second == "One document at a time: this one was not opened."


def test_endless_opening_is_a_failure_with_its_reason_and_is_paid_once(tmp_path: Path, autorater: Run) -> None:
    with ReadingServer(lambda _turn, _n: 1) as server:
        path = write_reading(tmp_path, server, more="repeats = 1")
        code, _, err = autorater("run", path)
        assert code == 0, err
        # A turn a document and three more.
        assert len(reading_calls(server)) == N_QUESTIONS * (1 + 3) + N_DOCUMENTS + 3 * N_QUESTIONS
        n_before = len(server.requests)
        autorater("run", path)
        assert len(server.requests) == n_before
    _, out, _ = autorater("regimes", "tolls", "--format", "json")
    by_regime = {one["regime"]: one for one in json.loads(out)["means"]}
    for regime in ("related_documents", "full_set"):
        assert by_regime[regime]["no_answer"] == {"turn_limit": N_QUESTIONS}
        assert by_regime[regime]["mean"]["value"] is None
    assert all(one.text is None for one in completions(tmp_path, path, "full_set"))


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_a_call_that_is_cut_off_is_truncated(tmp_path: Path, autorater: Run, api: str) -> None:
    with ReadingServer(stop="length" if api == "chat" else "max_tokens") as server:
        path = write_reading(tmp_path, server, api=api, more="repeats = 1")
        autorater("run", path)
    _, out, _ = autorater("regimes", "tolls", "--format", "json")
    by_regime = {one["regime"]: one["no_answer"] for one in json.loads(out)["means"]}
    assert by_regime["full_set"] == by_regime["related_documents"] == {"truncated": N_QUESTIONS}
    assert by_regime["concepts_only"] == {}


def test_a_turn_that_fails_is_made_again_and_no_other(tmp_path: Path, autorater: Run) -> None:
    """A service that is busy, and a connection that breaks: conversations go on where they were."""
    busy = Status(503, headers=(("Retry-After", "0"),))
    with ReadingServer(opens_all, at_calls({2: busy, 5: DropConnection()})) as server:
        path = write_reading(tmp_path, server, more='repeats = 1\nregimes = ["full_set"]')
        code, _, err = autorater("run", path)
        assert code == 0, err
        failed = [json.dumps(server.requests[number].body) for number in (2, 5)]
        bodies = [json.dumps(body) for body in reading_calls(server)]
    assert any("was built in" in body for body in failed), "it broke in the middle of a conversation"
    assert len(bodies) == N_DOCUMENTS + N_QUESTIONS + 2
    assert all(bodies.count(body) == 1 + failed.count(body) for body in bodies)
    answering = load_experiment(str(path)).answering
    assert answering is not None
    with RunStore(tmp_path / "s.sqlite", must_exist=True) as store:
        told = [one for one in store.failed_usage(answering.respondents[0].grader.grader_id) if one]
    told += [one.usage for one in completions(tmp_path, path, "full_set")]
    assert sum(one.input_tokens or 0 for one in told) == 100 * (N_DOCUMENTS + N_QUESTIONS)


def test_what_was_paid_before_a_conversation_was_given_up_stands_on_the_bill(tmp_path: Path, autorater: Run) -> None:
    refused = Status(400, body='{"error": {"message": "no", "code": "content_filter"}}')

    class Stopping(ReadingServer):
        async def _meet(self, request: Any, body: dict[str, Any], fault: Fault) -> Any:
            return await super()._meet(request, body, refused if len(texts_handed_back(body)) == 1 else fault)

    with Stopping() as server:
        path = write_reading(tmp_path, server, more='repeats = 1\nregimes = ["concepts_only", "full_set"]')
        code, _, err = autorater("run", path)
        assert code == 0, err
    answering = load_experiment(str(path)).answering
    assert answering is not None
    with RunStore(tmp_path / "s.sqlite", must_exist=True) as store:
        usages = list(store.failed_usage(answering.respondents[1].grader.grader_id))
    assert [one.input_tokens if one else None for one in usages] == [100] * N_QUESTIONS


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_turns_before_a_connection_that_stays_broken_are_spent(
    tmp_path: Path, autorater: Run, monkeypatch: pytest.MonkeyPatch, api: str
) -> None:
    """The turns are known to be paid; that the call which broke was paid, too, stays possible."""
    monkeypatch.setattr(retry, "_FIRST_RETRY", 0.005)

    class Breaking(ReadingServer):
        async def _meet(self, request: Any, body: dict[str, Any], fault: Fault) -> Any:
            breaks = len(texts_handed_back(body)) == 2 and "passes Lock C" in json.dumps(body)
            return await super()._meet(request, body, DropConnection() if breaks else fault)

    with Breaking() as server:
        path = write_reading(tmp_path, server, api=api, more='repeats = 1\nregimes = ["full_set"]')
        autorater("run", path)
    loaded = load_experiment(str(path))
    assert loaded.answering is not None
    grader = loaded.answering.respondents[0].grader
    n_attempts = retry.MOST_ATTEMPTS["connection"]
    with RunStore(tmp_path / "s.sqlite", must_exist=True) as store:
        failures = [failure for _, failure in store.iter_call_failures(grader.grader_id)]
        newest = list(store.call_failures(grader.grader_id).values())
        budget = count_paid(1.0, as_asking(loaded), store)
        worst = count_paid(1.0, as_asking(loaded), store, lambda _request, _grader: 0.0625)
    assert Counter(one.reason for one in failures) == {"connection": n_attempts, "broken_off": 1}
    assert [(one.usage.input_tokens, one.usage.output_tokens) for one in failures if one.usage] == [(200, 14)]
    assert [one.reason for one in newest] == ["connection"], "that is why there is no answer"
    # All finished turns, of this conversation and of the others, at a dollar a million tokens.
    n_turns = N_DOCUMENTS + N_QUESTIONS - 2
    assert budget.spent == pytest.approx(107 * n_turns / 1e6)
    assert worst.uncertain == pytest.approx(n_attempts * 0.0625)


def test_a_service_that_refuses_tools_stops_the_run(tmp_path: Path, autorater: Run) -> None:
    told = '{"error": {"message": "Unsupported parameter: tools", "param": "tools", "code": "unsupported_parameter"}}'

    class Toolless(ReadingServer):
        async def _meet(self, request: Any, body: dict[str, Any], fault: Fault) -> Any:
            return await super()._meet(request, body, Status(400, body=told) if body.get("tools") else fault)

    with Toolless() as server:
        code, _, err = autorater("run", write_reading(tmp_path, server, more='regimes = ["full_set"]'))
        assert code == 2
        assert "takes no tools" in err
        assert len(server.requests) <= 2, "it is not asked without them, when it would see no document"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tool_call = true, ", "", "tolls.toml: regimes.models[0]: 'openai-compatible/m1' is not known to take tools"),
        ('"tool"', '"tools"', "regimes.documents"),
    ],
)
def test_models_without_tools_are_refused_before_anything_is_asked(
    tmp_path: Path, autorater: Run, old: str, new: str, message: str
) -> None:
    with ReadingServer() as server:
        path = write_reading(tmp_path, server)
        path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
        code, _, err = autorater("run", path)
        assert (code, server.requests) == (2, [])
    assert message in err


def test_a_local_model_takes_no_tools(tmp_path: Path) -> None:
    write_questions(tmp_path / "questions")
    path = tmp_path / "local.toml"
    path.write_text(
        f'name = "tolls"\nset = "questions"\n[regimes]\n{TOOL}\n[[regimes.models]]\nmodel = "local/smollm2"\n'
        '[[graders]]\nprompt = "der2_rubric@1.0.0"\nmodel = "local/smollm2"\nsampling = { repeats = 1 }\n',
        encoding="utf-8",
    )
    with pytest.raises(SpecError, match="'local/smollm2' takes no tools; expected a service's model"):
        load_experiment(str(path))


def test_regimes_without_documents_ask_any_model(tmp_path: Path) -> None:
    write_questions(tmp_path / "questions")
    more = f'{TOOL}\nregimes = ["instruction_only", "concepts_only"]'
    plain = 'regimes = ["instruction_only", "concepts_only"]'
    ids = []
    for given in (more, plain):
        answering = load_experiment(str(write_experiment(tmp_path, "http://127.0.0.1:9/v1", more=given))).answering
        assert answering is not None
        ids.append([one.grader.grader_id for one in answering.respondents])
    assert ids[0] == ids[1], "what is asked without documents is paid once, however they are given"


def test_batch_jobs_are_refused_with_the_reason(tmp_path: Path, autorater: Run) -> None:
    with ReadingServer() as server:
        code, _, err = autorater("run", write_reading(tmp_path, server), "--batch")
        assert (code, server.requests) == (2, [])
    assert "opens documents by a tool, over several turns, and a batch job has one" in err


def test_a_conversation_is_priced_by_all_its_turns(tmp_path: Path) -> None:
    write_questions(tmp_path / "questions", filler=4000)
    path = write_experiment(tmp_path, "http://127.0.0.1:9/v1", more=TOOL)
    text = path.read_text(encoding="utf-8").replace("capabilities = { ", "capabilities = { tool_call = true, ", 1)
    path.write_text(text, encoding="utf-8")
    loaded = load_experiment(str(path))
    assert loaded.answering is not None
    item = as_asking(loaded).calibration_set.items[2]
    grader = loaded.answering.respondents[3].grader
    assert grader.prompt is not None
    usual, most = estimate_request(Request(item, (0,), grader.prompt, grader.sampling, grader.prompt.scale), grader, 1)
    # Three documents of about 1,020 tokens: the first is billed in three turns, the second in two, the third in one.
    assert 6 * 1000 < (usual.input_tokens or 0) < 6 * 1150 + 4 * 250
    # At most six turns, the documents in five, four and three of them, at a token a byte.
    assert (most.input_tokens or 0) > 12 * 4000
    assert most.output_tokens == 6 * 200
