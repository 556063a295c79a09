"""The replies a local model may give, as tokens, and the client's failures, without the engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.item import Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA, LabelScale
from graders.client import Request
from graders.errors import GraderError
from graders.prompt import GraderPrompt
from graders.providers import local
from graders.providers.local import LocalClient
from graders.providers.local_engine import Engine, EngineCallError
from graders.providers.local_prompt import PromptTokens, reply_lead, shared_length
from graders.providers.verdict_tokens import VerdictTokens, build_verdict_tokens
from graders.sampling import Channel, Sampling
from graders.verdict import CallFailure, Completion


def letters_as_tokens(text: str) -> list[int]:
    return [ord(char) for char in text]


def make_prompt(
    scale: LabelScale = SIMPLEQA, channel: Channel = "word", text: str = "$question $reference $response:"
) -> GraderPrompt:
    return GraderPrompt("p", "1.0.0", "r@1.0.0", scale, channel, "completion", text)


def build(scale: LabelScale, channel: Channel = "word", lead: str = "") -> VerdictTokens:
    return build_verdict_tokens(make_prompt(scale, channel), lead=lead, tokenize=letters_as_tokens)


def test_a_draw_goes_as_far_as_the_labels_differ() -> None:
    tokens = build(LabelScale("s", ("right", "wrong", "none")), lead=" ")
    assert tokens.forced == (ord(" "),)  # shared by all: put behind the prompt, not drawn
    assert tokens.depth == 1
    assert tokens.first_tokens == {ord("r"): "right", ord("w"): "wrong", ord("n"): "none"}
    assert tokens.grammar == "root ::= <[114]> | <[119]> | <[110]>"
    drawn = tokens.read([ord("w")])
    assert drawn is not None
    assert (drawn.label, drawn.text) == ("wrong", "wrong")
    assert tokens.read([ord("x")]) is None
    assert tokens.read([]) is None


def test_labels_that_begin_alike_take_several_tokens() -> None:
    tokens = build(LabelScale("s", ("bad", "bat", "good")))
    assert {choice.label: len(choice.tokens) for choice in tokens.choices} == {"bad": 3, "bat": 3, "good": 1}
    assert tokens.first_tokens is None


def test_a_label_that_begins_another_needs_an_end() -> None:
    tokens = build(LabelScale("s", ("very", "very good")))
    read = {tuple(choice.tokens): choice.label for choice in tokens.choices}
    assert read == {(ord("\n"),): "very", (ord(" "),): "very good"}


def test_letters_words_and_json_are_spelt_as_the_prompt_asks() -> None:
    scale = LabelScale("s", ("no", "yes"), letters={"no": "B", "yes": "A"}, words={"yes": ("right",), "no": ("wrong",)})

    def texts(channel: Channel) -> list[str]:
        return [choice.text for choice in build(scale, channel).choices]

    assert texts("letter") == ["B", "A"]
    assert texts("word") == ["wrong", "right"]
    assert texts("logprobs") == ["wrong", "right"]
    assert texts("json") == ['{"label": "no"}', '{"label": "yes"}']


def test_json_uses_the_field_that_the_prompt_shows() -> None:
    prompt = make_prompt(channel="json", text='Reply {"grade": "..."} to $question $reference $response')
    tokens = build_verdict_tokens(prompt, lead="", tokenize=letters_as_tokens)
    assert tokens.choices[0].text == '{"grade": "INCORRECT"}'
    assert "".join(map(chr, tokens.forced)) == '{"grade": "'


def test_what_cannot_be_had_is_an_error() -> None:
    with pytest.raises(GraderError, match=r"channel 'tool'; expected letter, word, json or logprobs"):
        build(SIMPLEQA, "tool")
    with pytest.raises(GraderError, match=r"no letter for 'low'"):
        build(LabelScale("s", ("low", "high")), "letter")
    with pytest.raises(GraderError, match=r"have the same tokens"):
        build_verdict_tokens(make_prompt(), lead="", tokenize=lambda _: [0])


labels = st.lists(st.text("abc", min_size=1, max_size=5), min_size=2, max_size=6, unique=True)


@given(labels)
def test_every_label_can_be_drawn_and_read_back(names: list[str]) -> None:
    tokens = build(LabelScale("s", tuple(names)))
    assert {choice.label for choice in tokens.choices} == set(names)
    for choice in tokens.choices:
        assert choice.tokens
        found = tokens.read(choice.tokens)
        assert found is not None
        assert found.label == choice.label


@given(st.lists(st.integers(0, 2)), st.lists(st.integers(0, 2)))
def test_shared_length_is_the_longest_common_beginning(one: list[int], two: list[int]) -> None:
    length = shared_length(one, two)
    assert one[:length] == two[:length]
    assert length == min(len(one), len(two)) or one[length] != two[length]


def test_a_blank_goes_to_the_reply_of_an_open_line_only() -> None:
    assert reply_lead(make_prompt(text="$question Grade:")) == " "
    assert reply_lead(make_prompt(text="$question Grade: ")) == " "
    assert reply_lead(make_prompt(text="$question\n")) == ""


class FakeServer:
    """Answers completions from a script; counts which prompts were computed."""

    listening_address = "http://127.0.0.1:9"

    def __init__(self, answer: object = None) -> None:
        self.answer = answer or {"choices": [{"text": ""}]}
        self.asked: list[Mapping[str, Any]] = []

    def handle_completions(self, prompt: Mapping[str, Any]) -> Any:
        self.asked.append(prompt)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_the_engine_winds_back_to_the_shared_part() -> None:
    server = FakeServer()
    engine = Engine(server, "key")
    for own in ((7, 8), (9,), (9, 1), (5,)):
        engine.draw(PromptTokens((1, 2), own), {"n": 1})
    computed = [(tuple(asked["prompt"]), asked["cache_prompt"]) for asked in server.asked]
    cold = [((1, 2), False), ((1, 2), True)]
    assert computed == [
        *cold,
        ((1, 2, 7, 8), True),
        ((1, 2, 9), True),  # nothing in common beyond the shared part: straight on
        ((1, 2), True),  # one token in common: back first
        ((1, 2, 9, 1), True),
        ((1, 2, 5), True),
    ]
    assert all(asked["id_slot"] == 0 and asked["samplers"] == ["temperature"] for asked in server.asked)


def test_a_failed_call_makes_the_next_one_start_cold() -> None:
    server = FakeServer()
    engine = Engine(server, "key")
    engine.draw(PromptTokens((1, 2), (3,)), {})
    server.answer = {"error": {"code": 500, "message": "out of memory"}}
    with pytest.raises(EngineCallError, match="out of memory"):
        engine.draw(PromptTokens((1, 2), (4,)), {})
    server.answer = {"choices": [{"text": ""}]}
    server.asked.clear()
    engine.draw(PromptTokens((1, 2), (5,)), {})
    assert [asked["cache_prompt"] for asked in server.asked] == [False, True, True]


@pytest.mark.parametrize("answer", [RuntimeError("died"), "text", {"choices": []}, {"error": "plain"}, {"x": 1}])
def test_an_engine_that_fails_is_a_call_failure(answer: object, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(FakeServer(answer), "key")
    monkeypatch.setattr(engine, "tokenize", lambda text, **_: letters_as_tokens(text))
    for failure in answer_with(engine, monkeypatch):
        assert isinstance(failure, CallFailure)
        assert failure.reason == "engine_error"


def test_an_engine_whose_port_is_gone_is_a_call_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    for failure in answer_with(Engine(FakeServer(), "key"), monkeypatch):
        assert isinstance(failure, CallFailure)
        assert failure.reason == "engine_error"
        assert "/tokenize" in failure.message


def test_a_reply_outside_the_labels_or_missing_is_a_call_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def child(index: int, token: str) -> dict[str, Any]:
        entry = {"id": ord(token), "logprob": -1.0}
        others = [{"id": ord(letter), "logprob": -2.0} for letter in "INC"]
        return {"index": index, "text": token, "logprobs": {"content": [{**entry, "top_logprobs": others}]}}

    engine = Engine(FakeServer({"choices": [child(0, "I"), child(1, "x")]}), "key")
    monkeypatch.setattr(engine, "tokenize", lambda text, **_: letters_as_tokens(text))
    good, stranger, missing = answer_with(engine, monkeypatch)
    assert isinstance(good, Completion)
    assert good.text == "INCORRECT"
    assert good.label_logprobs == {"INCORRECT": -2.0, "NOT_ATTEMPTED": -2.0, "CORRECT": -2.0}
    assert isinstance(stranger, CallFailure)
    assert isinstance(missing, CallFailure)


def answer_with(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[Completion | CallFailure]:
    """Three repeats of one item, answered by a given engine."""
    monkeypatch.setattr(local, "check_engine", lambda: None)
    monkeypatch.setattr(local, "open_engine", lambda *_, **__: engine)
    monkeypatch.setattr(local, "version", lambda _: "1")
    item = Item("i", "Q", Reference("R", "R"), "x", "c")
    request = Request(item, (0, 1, 2), make_prompt(), Sampling(), SIMPLEQA)
    with LocalClient(path=Path("tiny.gguf")) as client:
        (batch,) = client.complete([request])
    assert [(answer.item_digest, answer.repeat) for answer in batch] == [(item.digest, repeat) for repeat in range(3)]
    return [answer.outcome for answer in batch]


def test_a_client_that_is_not_open_and_a_grader_without_prompt_are_errors() -> None:
    item = Item("i", "Q", Reference("R", "R"), "x", "c")
    with pytest.raises(GraderError, match=r"local/smollm2: not open"):
        list(LocalClient().complete([Request(item, (0,), make_prompt(), Sampling(), SIMPLEQA)]))
    with pytest.raises(GraderError, match=r"without a prompt"):
        list(LocalClient().complete([Request(item, (0,), None, Sampling(), SIMPLEQA)]))
