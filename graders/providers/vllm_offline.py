"""``vllm/MODEL``: a model on vLLM, started by this program.

Prompts are tokenised here: so no spelling of a special token in a response is read as that token,
as it would be by ``LLM.chat``. A constrained reply is drawn only as far as the labels differ,
nearly always one token, from ``softmax(log p / T)`` over the labels' tokens. Label
log-probabilities are over the whole vocabulary, before temperature and before the mask.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from types import TracebackType
from typing import Any, Self

from graders.client import Answer, Request
from graders.errors import GraderError
from graders.grader import Grader
from graders.prompt import GraderPrompt
from graders.providers.local_prompt import build_prompt_tokens, reply_lead
from graders.providers.seeds import CHILDREN, draw_seed
from graders.providers.verdict_tokens import VerdictTokens, build_verdict_tokens
from graders.providers.vllm_engine import EngineRequest, VllmEngine, open_engine
from graders.timing import time_answers
from graders.verdict import CallFailure, Completion, Usage

__all__ = ["CHUNK", "VllmClient", "open_vllm"]

CHUNK = 256
"""Items answered together; what a killed run loses at most."""


@dataclass(frozen=True, slots=True)
class _Call:
    """One request to the engine: consecutive repeats of one item; ``labels`` where its tokens are known."""

    request: Request
    repeats: tuple[int, ...]
    asked: EngineRequest
    labels: VerdictTokens | None


def open_vllm(grader: Grader) -> VllmClient:
    """A client for ``vllm/MODEL``, to be used in a ``with`` statement."""
    return VllmClient(grader)


class VllmClient:
    """Draws verdicts from a model on vLLM; to be used as a context manager."""

    def __init__(self, grader: Grader) -> None:
        self._name = (grader.address or grader.model).removeprefix("vllm/")
        self._served = f"{self._name} {grader.model_digest[:12]}".strip()
        self._exact = grader.sampling.wants_logprobs
        self._most = max(1, min(CHILDREN, grader.capabilities.max_choices))
        self._engine: VllmEngine | None = None
        self._labels: dict[str, VerdictTokens] = {}

    def __enter__(self) -> Self:
        """Load the model."""
        self._engine = open_engine(self._name, exact=self._exact)
        self._engine_version = f"vllm {version('vllm')}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the engine."""
        if self._engine is not None:
            self._engine.close()
        self._engine = None

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        """Answer requests in order, many items at a time.

        Raises
        ------
        GraderError
            If a request has no prompt, or a prompt asks for what a local model cannot do.
        ServiceError
            If the engine dies; what was yielded before stands.
        """
        stream = iter(requests)
        while chunk := list(islice(stream, CHUNK)):
            yield self._answer_chunk(chunk)

    def _answer_chunk(self, requests: Sequence[Request]) -> Sequence[Answer]:
        answers: list[Answer] = []
        calls: list[_Call] = []
        for request in requests:
            planned = self._plan(request)
            if isinstance(planned, CallFailure):
                answers += [Answer(request.item.digest, repeat, planned) for repeat in request.repeats]
            else:
                calls += planned
        began = time.perf_counter()
        outputs = self.engine.generate([call.asked for call in calls]) if calls else []
        seconds = time.perf_counter() - began
        for call, output in zip(calls, outputs, strict=True):
            answers += self._read(call, output)
        # The engine is handed all of them at once: that is the call, and they share its time.
        return time_answers(answers, seconds)

    def _plan(self, request: Request) -> list[_Call] | CallFailure:
        prompt, sampling, engine = _prompt_of(request), request.sampling, self.engine
        labels = self._label_tokens(prompt) if sampling.constrained or sampling.wants_logprobs else None
        if labels is not None and labels.depth > 1 and sampling.wants_logprobs:
            raise GraderError(
                f"{prompt.title}: two labels begin with the same token; "
                "expected labels that the first token tells apart, as log-probabilities are of that one"
            )
        by_token = labels is not None and labels.depth == 1
        tokens = build_prompt_tokens(prompt, request.item, engine).all
        if labels is not None and by_token:
            tokens += labels.forced
        settings, choices = _asked(request, labels)
        length = len(tokens) + int(settings["max_tokens"])
        if length > engine.context_tokens:
            return CallFailure(
                "context_overflow",
                f"prompt: {length} tokens with the reply; expected at most {engine.context_tokens}",
            )
        most = 1 if sampling.temperature == 0 else self._most
        return [
            self._call(request, run, EngineRequest(tokens, settings, choices), labels if by_token else None)
            for run in _consecutive(request.repeats, most)
        ]

    def _call(
        self, request: Request, repeats: tuple[int, ...], asked: EngineRequest, labels: VerdictTokens | None
    ) -> _Call:
        seed = draw_seed(request.sampling.seed, request.item.digest, repeats[0])
        settings = {**asked.settings, "n": len(repeats), "seed": seed}
        return _Call(request, repeats, EngineRequest(asked.tokens, settings, asked.choices), labels)

    def _read(self, call: _Call, output: Any) -> Iterator[Answer]:
        children = {int(child.index): child for child in output.outputs}
        for place, repeat in enumerate(call.repeats):
            child = children.get(place)
            outcome: Completion | CallFailure
            if child is None:
                outcome = CallFailure("engine_error", f"repeat {repeat}: the engine sent no reply")
            else:
                prompt_usage = (len(call.asked.tokens), output.num_cached_tokens) if place == 0 else (0, 0)
                outcome = self._read_child(call, repeat, child, prompt_usage)
            yield Answer(call.request.item.digest, repeat, outcome)

    def _read_child(
        self, call: _Call, repeat: int, child: Any, prompt_usage: tuple[int, int | None]
    ) -> Completion | CallFailure:
        sampling = call.request.sampling
        text, stop_reason = str(child.text).strip(), "length" if child.finish_reason == "length" else "stop"
        if call.labels is not None and sampling.constrained:
            choice = call.labels.read(child.token_ids)
            if choice is None:
                return CallFailure("engine_error", f"repeat {repeat}: {child.text!r} is not a label")
            text, stop_reason = choice.text, "stop"
        elif call.labels is not None:
            stop_reason = "stop"
        return Completion(
            text=text,
            served_model=self._served,
            stop_reason=stop_reason,
            label_logprobs=_label_logprobs(child, call.labels) if sampling.wants_logprobs else None,
            usage=Usage(
                input_tokens=prompt_usage[0], output_tokens=len(child.token_ids), cached_tokens=prompt_usage[1]
            ),
            effective_sampling=self._effective_sampling(call, repeat),
        )

    def _effective_sampling(self, call: _Call, repeat: int) -> Mapping[str, Any]:
        sampling = call.request.sampling
        in_force = {
            "temperature": sampling.temperature,
            "seed": draw_seed(sampling.seed, call.request.item.digest, repeat),
            "max_tokens": call.asked.settings["max_tokens"],
            "constrained": sampling.constrained,
            "dtype": self.engine.dtype,
            "engine": self._engine_version,
        }
        return {**in_force, "vocabulary": self.engine.vocabulary} if sampling.wants_logprobs else in_force

    def _label_tokens(self, prompt: GraderPrompt) -> VerdictTokens:
        if prompt.digest not in self._labels:
            tokenize = self.engine.tokenize
            self._labels[prompt.digest] = build_verdict_tokens(prompt, lead=reply_lead(prompt), tokenize=tokenize)
        return self._labels[prompt.digest]

    @property
    def engine(self) -> VllmEngine:
        """The loaded model.

        Raises
        ------
        GraderError
            Outside of a ``with`` statement.
        """
        if self._engine is None:
            raise GraderError(f"vllm/{self._name}: not open; expected to be used in a with statement")
        return self._engine


def _asked(request: Request, labels: VerdictTokens | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Fields of the sampling, and the strings that the reply is held to where tokens do not do it."""
    sampling, prompt = request.sampling, _prompt_of(request)
    settings: dict[str, Any] = {"temperature": sampling.temperature, "max_tokens": sampling.max_tokens}
    if labels is None:
        return {**settings, **({"stop": ["\n"]} if prompt.form == "completion" else {})}, ()
    if labels.depth > 1:
        texts = tuple(reply_lead(prompt) + choice.text for choice in labels.choices)
        # A byte is the shortest token there is.
        return {**settings, "max_tokens": max(len(text.encode()) for text in texts) + 1}, texts
    firsts = [choice.tokens[0] for choice in labels.choices]
    settings["max_tokens"] = 1
    if sampling.constrained:
        settings["allowed_token_ids"] = firsts
    if sampling.wants_logprobs:
        settings["logprob_token_ids"] = firsts
    return settings, ()


def _label_logprobs(child: Any, labels: VerdictTokens | None) -> Mapping[str, float] | None:
    if labels is None or not child.logprobs:
        return None
    listed = child.logprobs[0]
    found = {c.label: float(listed[c.tokens[0]].logprob) for c in labels.choices if c.tokens[0] in listed}
    return found if len(found) == len(labels.choices) else None


def _consecutive(repeats: Sequence[int], most: int) -> list[tuple[int, ...]]:
    """Runs of consecutive repeats, none longer than ``most`` nor across a block of seeds."""
    runs: list[list[int]] = []
    for repeat in repeats:
        last = runs[-1] if runs else None
        if last and repeat == last[-1] + 1 and repeat % CHILDREN and len(last) < most:
            last.append(repeat)
        else:
            runs.append([repeat])
    return [tuple(run) for run in runs]


def _prompt_of(request: Request) -> GraderPrompt:
    if request.prompt is None:
        raise GraderError("vllm: a grader without a prompt; expected one, a model has to be told what to judge")
    return request.prompt
