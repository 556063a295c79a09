"""The model on vLLM: it samples what was asked for, resumes alike, and its death costs at most a chunk."""

from __future__ import annotations

import math
import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from scipy.stats import chisquare

from calibration_sets.item import Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from graders.capabilities import Capabilities
from graders.client import Answer, Request
from graders.errors import MissingDependencyError, ServiceError
from graders.grader import Grader
from graders.prompt import GraderPrompt
from graders.providers.vllm_engine import check_vllm
from graders.providers.vllm_offline import CHUNK, VllmClient, open_vllm
from graders.sampling import Channel, Sampling
from graders.verdict import CallFailure, Completion

pytestmark = [pytest.mark.vllm, pytest.mark.slow, pytest.mark.filterwarnings("default")]

TEXT = "Grade the response right (A), wrong (B) or none (C).\n\n$question\n$reference\n$response\n\nYour letter:"
JSON = 'Answer {"verdict": "A"} if right, B if wrong, C if none.\n\n$question\n$reference\n$response'
CAPABLE = Capabilities(api="engine", max_choices=10, label_logprobs=True, choice=True, seed=True, completions=True)


def make_prompt(channel: Channel = "letter", *, text: str = TEXT) -> GraderPrompt:
    return GraderPrompt("short", "1.0.0", "simpleqa@1.0.0", SIMPLEQA, channel, "chat", text)


def make_item(number: int = 0, response: str | None = None) -> Item:
    reference = Reference(f"Ines Okafor {number}", f"Ines Okafor {number}")
    return Item(f"i{number}", f"Who wrote book {number}?", reference, response or f"Brandt of house {number}.", "c")


def make_client(sampling: Sampling) -> VllmClient:
    model = os.environ.get("AUTORATER_VLLM_MODEL", "")
    try:
        check_vllm()
    except MissingDependencyError as error:
        pytest.skip(f"SKIPPED, NOT PASSED: {error}")
    if not Path(model, "config.json").is_file():
        pytest.skip("SKIPPED, NOT PASSED: AUTORATER_VLLM_MODEL names no folder of a model")
    return open_vllm(Grader(f"vllm/{model}", sampling, make_prompt(), capabilities=CAPABLE))


@pytest.fixture(scope="module")
def client() -> Iterator[VllmClient]:
    """Opened with float32, as for exact verdicts."""
    with make_client(Sampling(method="exact")) as opened:
        yield opened


def request(item: Item, repeats: Sequence[int], sampling: Sampling, prompt: GraderPrompt | None = None) -> Request:
    chosen = prompt or make_prompt(sampling.channel)
    return Request(item, tuple(repeats), chosen, sampling, chosen.scale)


def ask(client: VllmClient, *requests: Request) -> list[Completion]:
    answers = [answer for batch in client.complete(iter(requests)) for answer in batch]
    assert [(a.item_digest, a.repeat) for a in answers] == [(r.item.digest, n) for r in requests for n in r.repeats]
    completions = [answer.outcome for answer in answers if isinstance(answer.outcome, Completion)]
    assert len(completions) == len(answers), answers
    return completions


def test_ten_repeats_are_letters_and_billed_once(client: VllmClient) -> None:
    ask(client, request(make_item(1), range(10), Sampling()))
    drawn = ask(client, request(make_item(1), range(10), Sampling()))
    assert {answer.text for answer in drawn} <= {"A", "B", "C"}
    assert drawn[0].usage.input_tokens
    assert drawn[0].usage.cached_tokens  # the second time, the prompt is kept
    assert {(answer.usage.input_tokens, answer.usage.output_tokens) for answer in drawn[1:]} == {(0, 1)}
    assert len({answer.effective_sampling["seed"] for answer in drawn}) == 10
    assert drawn[0].effective_sampling["dtype"] == "float32"


def test_two_thousand_draws_have_the_exact_distribution(client: VllmClient) -> None:
    item = make_item()
    (exact,) = ask(client, request(item, [0], Sampling(method="exact")))
    assert exact.label_logprobs is not None
    assert math.fsum(map(math.exp, exact.label_logprobs.values())) < 1  # over the vocabulary, before the mask
    drawn = Counter(a.text for a in ask(client, request(item, range(2_000), Sampling(repeats=2_000))))
    letters = [SIMPLEQA.letters[label] for label in exact.label_logprobs]

    def p_value(temperature: float) -> float:
        weights = [math.exp(value / temperature) for value in exact.label_logprobs.values()]
        return float(chisquare([drawn[c] for c in letters], [2_000 * w / math.fsum(weights) for w in weights]).pvalue)

    assert drawn.total() == 2_000
    assert p_value(2.0) > 0.001
    assert p_value(1.0) < 1e-6  # the test can tell the two apart


def test_log_probabilities_do_not_depend_on_temperature_or_mask(client: VllmClient) -> None:
    settings = [Sampling(temperature=t, channel="logprobs", constrained=c) for t in (1.0, 2.0) for c in (True, False)]
    first, *others = (ask(client, request(make_item(), [0], s))[0].label_logprobs for s in settings)
    assert first is not None
    assert first.keys() == set(SIMPLEQA.labels)
    for other in others:
        assert other == pytest.approx(first, abs=1e-3)


def test_a_part_of_a_run_has_the_draws_of_the_whole(client: VllmClient) -> None:
    items = [make_item(number) for number in range(4)]
    whole = ask(client, *(request(item, range(12), Sampling()) for item in items))
    part = ask(client, *(request(item, (3, 7, 8, 11), Sampling()) for item in reversed(items)))
    expected = [whole[i * 12 + n].text for i in reversed(range(4)) for n in (3, 7, 8, 11)]
    assert [answer.text for answer in part] == expected
    assert len(set(expected)) > 1


def test_json_replies_say_a_verdict(client: VllmClient) -> None:
    sampling = Sampling(channel="json")
    drawn = ask(client, request(make_item(), range(10), sampling, make_prompt("json", text=JSON)))
    spoken = {make_prompt("json", text=JSON).spoken(label) for label in SIMPLEQA.labels}
    assert {answer.text for answer in drawn} <= {f'{{"verdict": "{label}"}}' for label in spoken}


def test_free_replies_end_at_the_limit_and_say_so(client: VllmClient) -> None:
    (answer,) = ask(client, request(make_item(), [0], Sampling(constrained=False, max_tokens=3)))
    assert (answer.stop_reason, answer.usage.output_tokens) == ("length", 3)


def test_an_item_too_long_fails_alone(client: VllmClient) -> None:
    requests = [request(make_item(0, "word " * 9_000), [0, 1], Sampling()), request(make_item(1), [0], Sampling())]
    answers = [answer for batch in client.complete(iter(requests)) for answer in batch]
    failures = [answer.outcome for answer in answers if isinstance(answer.outcome, CallFailure)]
    assert [failure.reason for failure in failures] == ["context_overflow"] * 2
    assert len(answers) == 3


def test_a_special_token_spelt_in_a_response_is_text(client: VllmClient) -> None:
    plain, spelt = (
        ask(client, request(make_item(0, said), [0], Sampling()))[0].usage.input_tokens for said in ("x", "x<|im_end|>")
    )
    assert plain is not None
    assert spelt is not None
    assert spelt > plain + 1  # several tokens, not the one that ends a message


def test_a_killed_engine_keeps_what_was_answered_and_the_rest_can_be_asked_again() -> None:
    sampling = Sampling(repeats=2)
    requests = [request(make_item(number), range(2), sampling) for number in range(CHUNK + 20)]
    kept: list[Answer] = []
    with make_client(sampling) as client:
        stream = client.complete(iter(requests))
        kept += next(stream)
        os.kill(engine_process(), signal.SIGKILL)
        with pytest.raises(ServiceError, match="start the same command again"):
            list(stream)
    assert len(kept) == 2 * CHUNK
    done = {answer.item_digest for answer in kept}
    rest = [r for r in requests if r.item.digest not in done]
    with make_client(sampling) as client:
        resumed = kept + [answer for batch in client.complete(iter(rest)) for answer in batch]
        again = [answer for batch in client.complete(iter(requests)) for answer in batch]
    assert [text_of(answer) for answer in resumed] == [text_of(answer) for answer in again]


def text_of(answer: Answer) -> str | None:
    assert isinstance(answer.outcome, Completion), answer
    return answer.outcome.text


def engine_process() -> int:
    """The youngest child of this process that is an engine core."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="utf-8").split()
    named = [int(c) for c in children if "EngineCore" in Path(f"/proc/{c}/cmdline").read_text(encoding="utf-8")]
    assert named, children
    return max(named)
