"""The model on vLLM: it samples what was asked for, resumes alike, and its death costs at most a chunk."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from scipy.stats import chisquare

from calibration_sets.item import Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from graders.client import Answer, Request
from graders.errors import MissingDependencyError, ServiceError
from graders.grader import Grader
from graders.ledger import find_model
from graders.prompt import GraderPrompt
from graders.providers.vllm_engine import check_vllm
from graders.providers.vllm_offline import VllmClient, open_vllm
from graders.sampling import Channel, Sampling
from graders.verdict import CallFailure, Completion

pytestmark = [pytest.mark.vllm, pytest.mark.slow, pytest.mark.filterwarnings("default")]

TEXT = "Grade the response right (A), wrong (B) or none (C).\n\n$question\n$reference\n$response\n\nYour letter:"
JSON = 'Answer {"verdict": "A"} if right, B if wrong, C if none.\n\n$question\n$reference\n$response'


def make_prompt(channel: Channel = "letter", *, text: str = TEXT) -> GraderPrompt:
    return GraderPrompt("short", "1.0.0", "simpleqa@1.0.0", SIMPLEQA, channel, "chat", text)


def make_item(number: int = 0, response: str | None = None) -> Item:
    reference = Reference(f"Ines Okafor {number}", f"Ines Okafor {number}")
    return Item(f"i{number}", f"Who wrote book {number}?", reference, response or f"Brandt of house {number}.", "c")


def make_client(sampling: Sampling) -> VllmClient:
    folder = os.environ.get("AUTORATER_VLLM_MODEL", "")
    try:
        check_vllm()
    except MissingDependencyError as error:
        pytest.skip(f"SKIPPED, NOT PASSED: {error}")
    if not Path(folder, "config.json").is_file():
        pytest.skip("SKIPPED, NOT PASSED: AUTORATER_VLLM_MODEL names no folder of a model")
    model = f"vllm/{folder}"
    return open_vllm(Grader(model, sampling, make_prompt(), capabilities=find_model(model).capabilities))


@pytest.fixture(scope="module")
def client() -> Iterator[VllmClient]:
    """Opened with float32, as for exact verdicts."""
    with make_client(Sampling(method="exact")) as opened:
        yield opened


def ask_for(item: Item, repeats: Sequence[int], sampling: Sampling, prompt: GraderPrompt | None = None) -> Request:
    chosen = prompt or make_prompt(sampling.channel)
    return Request(item, tuple(repeats), chosen, sampling, chosen.scale)


def ask(client: VllmClient, *requests: Request) -> list[Completion]:
    answers = [answer for batch in client.complete(iter(requests)) for answer in batch]
    assert [(a.item_digest, a.repeat) for a in answers] == [(r.item.digest, n) for r in requests for n in r.repeats]
    completions = [answer.outcome for answer in answers if isinstance(answer.outcome, Completion)]
    assert len(completions) == len(answers), answers
    return completions


def test_a_killed_engine_keeps_what_was_answered_and_the_rest_can_be_asked_again(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr("graders.providers.vllm_offline.CHUNK", 8)
    requests = [ask_for(make_item(number), range(2), Sampling(repeats=2)) for number in range(32)]
    kept: list[Answer] = []
    with make_client(Sampling(method="exact")) as client:
        asked = iter(requests)
        stream = client.complete(asked)
        kept += next(stream)
        threading.Timer(0.05, os.kill, (engine_process(), signal.SIGKILL)).start()
        with pytest.raises(ServiceError, match="start the same command again"):
            kept.extend(answer for answers in stream for answer in answers)
    assert len(kept) % 16 == 0
    assert 16 <= len(kept) < 64
    assert children_of_engines() == []
    done = {answer.item_digest for answer in kept}
    other = request.getfixturevalue("client")
    rest = [r for r in requests if r.item.digest not in done]
    resumed = kept + [answer for batch in other.complete(iter(rest)) for answer in batch]
    whole = [answer for batch in other.complete(iter(requests)) for answer in batch]
    assert [text_of(answer) for answer in resumed] == [text_of(answer) for answer in whole]


def test_ten_repeats_are_letters_and_billed_once(client: VllmClient) -> None:
    ask(client, ask_for(make_item(1), range(10), Sampling()))
    drawn = ask(client, ask_for(make_item(1), range(10), Sampling()))
    assert {answer.text for answer in drawn} <= {"A", "B", "C"}
    assert drawn[0].usage.input_tokens
    assert drawn[0].usage.cached_tokens  # the second time, the prompt is kept
    assert {(answer.usage.input_tokens, answer.usage.output_tokens) for answer in drawn[1:]} == {(0, 1)}
    assert len({answer.effective_sampling["seed"] for answer in drawn}) == 10
    assert drawn[0].effective_sampling["dtype"] == "float32"


def test_two_thousand_draws_have_the_exact_distribution(client: VllmClient) -> None:
    (first,) = ask(client, ask_for(make_item(), [0], Sampling()))
    # A prompt that ends just after a block of the cache, so that each draw is cheap.
    item = make_item(0, "Brandt of house 0." + " and" * ((1 - (first.usage.input_tokens or 0)) % 32))
    (exact,) = ask(client, ask_for(item, [0], Sampling(method="exact")))
    assert exact.label_logprobs is not None
    assert math.fsum(map(math.exp, exact.label_logprobs.values())) < 1  # over the vocabulary, before the mask
    drawn = Counter(a.text for a in ask(client, ask_for(item, range(2_000), Sampling(repeats=2_000))))
    letters = [SIMPLEQA.letters[label] for label in exact.label_logprobs]

    def p_value(temperature: float) -> float:
        weights = [math.exp(value / temperature) for value in exact.label_logprobs.values()]
        return float(chisquare([drawn[c] for c in letters], [2_000 * w / math.fsum(weights) for w in weights]).pvalue)

    assert drawn.total() == 2_000
    assert p_value(2.0) > 0.001
    assert p_value(1.0) < 1e-6  # the test can tell the two apart


def test_log_probabilities_do_not_depend_on_temperature_or_mask(client: VllmClient) -> None:
    settings = [Sampling(temperature=t, channel="logprobs", constrained=c) for t in (1.0, 2.0) for c in (True, False)]
    first, *others = (ask(client, ask_for(make_item(), [0], s))[0].label_logprobs for s in settings)
    assert first is not None
    assert first.keys() == set(SIMPLEQA.labels)
    for other in others:
        assert other == pytest.approx(first, abs=1e-3)


def test_a_part_of_a_run_has_the_draws_of_the_whole(client: VllmClient) -> None:
    items = [make_item(number) for number in range(4)]
    whole = ask(client, *(ask_for(item, range(12), Sampling()) for item in items))
    part = ask(client, *(ask_for(item, (3, 7, 8, 11), Sampling()) for item in reversed(items)))
    expected = [whole[i * 12 + n].text for i in reversed(range(4)) for n in (3, 7, 8, 11)]
    assert [answer.text for answer in part] == expected
    assert len(set(expected)) > 1


def test_json_replies_say_a_verdict(client: VllmClient) -> None:
    sampling = Sampling(channel="json")
    drawn = ask(client, ask_for(make_item(), range(10), sampling, make_prompt("json", text=JSON)))
    spoken = {make_prompt("json", text=JSON).spoken(label) for label in SIMPLEQA.labels}
    assert {answer.text for answer in drawn} <= {f'{{"verdict": "{label}"}}' for label in spoken}


def test_free_replies_end_at_the_limit_and_say_so(client: VllmClient) -> None:
    (answer,) = ask(client, ask_for(make_item(), [0], Sampling(constrained=False, max_tokens=3)))
    assert (answer.stop_reason, answer.usage.output_tokens) == ("length", 3)


def test_an_item_too_long_fails_alone(client: VllmClient) -> None:
    requests = [ask_for(make_item(0, "word " * 9_000), [0, 1], Sampling()), ask_for(make_item(1), [0], Sampling())]
    answers = [answer for batch in client.complete(iter(requests)) for answer in batch]
    failures = [answer.outcome for answer in answers if isinstance(answer.outcome, CallFailure)]
    assert [failure.reason for failure in failures] == ["context_overflow"] * 2
    assert len(answers) == 3


def test_a_special_token_spelt_in_a_response_is_text(client: VllmClient) -> None:
    plain, spelt = (
        ask(client, ask_for(make_item(0, said), [0], Sampling()))[0].usage.input_tokens for said in ("x", "x<|im_end|>")
    )
    assert plain is not None
    assert spelt is not None
    assert spelt > plain + 1  # several tokens, not the one that ends a message


@pytest.mark.gpu
def test_the_same_grading_runs_on_a_gpu(gpu: None, client: VllmClient) -> None:
    """What else there is to see on a GPU is seen by the tests above, which use it where there is one."""
    from vllm.platforms import current_platform

    assert not current_platform.is_cpu()
    (exact,) = ask(client, ask_for(make_item(), [0], Sampling(method="exact")))
    assert exact.label_logprobs is not None
    drawn = ask(client, *(ask_for(make_item(number), range(10), Sampling()) for number in range(100)))
    assert {answer.text for answer in drawn} == {"A", "B", "C"}


@pytest.fixture
def gpu() -> None:
    try:
        import torch
    except ImportError as error:
        pytest.skip(f"SKIPPED, NOT PASSED: {error}")
    if not torch.cuda.is_available():
        pytest.skip("SKIPPED, NOT PASSED: there is no GPU; the same tests ran on the processor")


def text_of(answer: Answer) -> str | None:
    assert isinstance(answer.outcome, Completion), answer
    return answer.outcome.text


def engine_process() -> int:
    """The only engine of this process."""
    (pid,) = children_of_engines()
    return pid


def children_of_engines() -> list[int]:
    return [process.pid or 0 for process in multiprocessing.active_children() if "EngineCore" in process.name]
