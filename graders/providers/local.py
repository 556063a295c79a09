"""``local/smollm2``: a small instruct model on llama.cpp, inside this process.

All repeats of an item are drawn in one request, from one computation of the item's tokens; what
the items of a prompt share is computed once. An item's probabilities do not depend on which items
came before it or which of its repeats are asked for, so where the draw is of one token, as nearly
always, a resumed run has the very draws of an unbroken one (on the same machine, engine version
and number of threads). Draws of several tokens are computed side by side, and probabilities after
their first token may differ in the last digits.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graders.client import Answer, Request
from graders.errors import GraderError
from graders.prompt import GraderPrompt
from graders.providers.label_probabilities import (
    LISTED,
    LISTED_APART,
    LabelProbabilities,
    ListedToken,
    listed_tokens,
    read_probabilities,
)
from graders.providers.local_engine import PLAIN_SAMPLING, Engine, EngineCallError
from graders.providers.local_prompt import CONTEXT_TOKENS, PromptTokens, build_prompt_tokens, reply_lead
from graders.providers.local_start import check_engine, open_engine
from graders.providers.seeds import CHILDREN, draw_seed
from graders.providers.verdict_tokens import VerdictTokens, build_verdict_tokens
from graders.providers.weights import ensure_weights
from graders.timing import time_answers
from graders.verdict import CallFailure, Completion, Usage

__all__ = ["CONTEXT_TOKENS", "LocalClient", "check_engine", "open_engine"]


class LocalClient:
    """Draws verdicts from a model in this process; to be used as a context manager.

    Parameters
    ----------
    name
        Name of the weights, without ``local/``.
    path
        A file of weights to use instead of the kept one.
    threads
        Threads to compute with; by default two, or one where there is one processor.
    """

    def __init__(self, name: str = "smollm2", *, path: Path | None = None, threads: int | None = None) -> None:
        self._name = name
        self._path = path
        self._threads = threads or min(2, _processors())
        self._engine: Engine | None = None
        self._labels: dict[str, VerdictTokens] = {}
        self._vocabulary: int | None = None

    def __enter__(self) -> Self:
        """Fetch the weights if they are not here yet, and load them."""
        check_engine()
        path = self._path or ensure_weights(self._name)
        self._engine = open_engine(path, threads=self._threads)
        self._engine_version = f"xllamacpp {version('xllamacpp')}"
        self._served = path.stem
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the engine."""
        if self._engine is not None:
            self._engine.close()
        self._engine = None

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        """Answer requests in order, all repeats of one together; ten of them are drawn at a time.

        Raises
        ------
        GraderError
            If a request has no prompt, or a prompt asks for what a local model cannot do.
        """
        for request in requests:
            answers: list[Answer] = []
            for _, group in groupby(request.repeats, key=lambda repeat: repeat // CHILDREN):
                answers += self._answer_group(request, list(group))
            yield answers

    def _answer_group(self, request: Request, repeats: list[int]) -> list[Answer]:
        prompt, engine, sampling = _prompt_of(request), self._running(), request.sampling
        try:
            labels = self._label_tokens(prompt) if sampling.constrained or sampling.wants_logprobs else None
            tokens = build_prompt_tokens(prompt, request.item, engine)
            if labels is not None:
                tokens = PromptTokens(tokens.shared, (*tokens.own, *labels.forced))
            room = labels.depth if labels else sampling.max_tokens
            if len(tokens.all) + room > CONTEXT_TOKENS:
                return _fail(request, repeats, "context_overflow", _overflow_message(len(tokens.all), room))
            return self._draw_group(request, repeats, tokens, labels)
        except EngineCallError as error:
            return _fail(request, repeats, "engine_error", str(error))

    def _draw_group(
        self, request: Request, repeats: list[int], tokens: PromptTokens, labels: VerdictTokens | None
    ) -> list[Answer]:
        length = labels.depth if labels else request.sampling.max_tokens
        span = max(1, min(CHILDREN, (CONTEXT_TOKENS + CHILDREN) // length))
        answers: list[Answer] = []
        for _, part in groupby(repeats, key=lambda repeat: repeat % CHILDREN // span):
            answers += self._draw_children(request, list(part), tokens, labels)
        return answers

    def _draw_children(
        self, request: Request, repeats: list[int], tokens: PromptTokens, labels: VerdictTokens | None
    ) -> list[Answer]:
        began, first = time.perf_counter(), min(repeats)
        settings = {
            "n": max(repeats) - first + 1,
            "seed": draw_seed(request.sampling.seed, request.item.digest, first),
            "temperature": request.sampling.temperature,
            **(_labels_asked(labels, request) if labels else _text_asked(request)),
        }
        answer = self._running().draw(tokens, settings)
        children = {int(child.get("index", 0)): child for child in answer["choices"]}
        probabilities = self._probabilities(children[0], tokens, labels, request) if labels else LabelProbabilities()
        cached = answer.get("usage", {}).get("prompt_tokens_details", {}).get("cached_tokens")
        answers = [
            Answer(
                request.item.digest,
                repeat,
                self._read_child(
                    children.get(repeat - first),
                    request,
                    repeat,
                    labels,
                    probabilities,
                    # One computation of the prompt serves all draws: it stands at the first of them.
                    (len(tokens.all), cached) if repeat == first else (0, 0),
                ),
            )
            for repeat in repeats
        ]
        return time_answers(answers, time.perf_counter() - began)

    def _read_child(
        self,
        child: Mapping[str, Any] | None,
        request: Request,
        repeat: int,
        labels: VerdictTokens | None,
        probabilities: LabelProbabilities,
        prompt_usage: tuple[int, int | None],
    ) -> Completion | CallFailure:
        if child is None:
            return CallFailure("engine_error", f"repeat {repeat}: the engine sent no reply")
        text, stop_reason, n_drawn = _read_reply(child, labels if request.sampling.constrained else None)
        if text is None:
            return CallFailure("engine_error", f"repeat {repeat}: {child.get('text')!r} is not a label")
        return Completion(
            text=text,
            served_model=self._served,
            stop_reason=stop_reason,
            label_logprobs=probabilities.labels,
            usage=Usage(input_tokens=prompt_usage[0], output_tokens=n_drawn, cached_tokens=prompt_usage[1]),
            effective_sampling=self._effective_sampling(request, repeat, labels),
            other_logprobs=probabilities.others,
        )

    def _probabilities(
        self, child: Mapping[str, Any], tokens: PromptTokens, labels: VerdictTokens, request: Request
    ) -> LabelProbabilities:
        firsts = labels.first_tokens
        if firsts is None:
            if request.sampling.method == "exact":
                raise GraderError(
                    f"{_prompt_of(request).title}: two labels begin with the same token; "
                    "expected labels that the first token tells apart, as method 'exact' looks at that one"
                )
            return LabelProbabilities()
        listed = listed_tokens(child)
        for n_listed in LISTED_APART:
            if firsts.keys() <= {token.number for token in listed}:
                break
            listed = self._list_tokens(tokens, n_listed)
        if request.sampling.constrained:
            return read_probabilities(listed, firsts).labels_only()
        spoken = {} if labels.forced else {label: _prompt_of(request).spoken(label) for label in firsts.values()}
        self._vocabulary = self._vocabulary or len(self._list_tokens(tokens, LISTED_APART[-1]))
        return read_probabilities(listed, firsts, spoken)

    def _list_tokens(self, tokens: PromptTokens, n_listed: int) -> Sequence[ListedToken]:
        answer = self._running().draw(tokens, {"n_predict": 1, "n_probs": n_listed, "temperature": 0.0})
        return listed_tokens(answer["choices"][0])

    def _label_tokens(self, prompt: GraderPrompt) -> VerdictTokens:
        if prompt.digest not in self._labels:
            tokenize = self._running().tokenize
            self._labels[prompt.digest] = build_verdict_tokens(prompt, lead=reply_lead(prompt), tokenize=tokenize)
        return self._labels[prompt.digest]

    def _effective_sampling(self, request: Request, repeat: int, labels: VerdictTokens | None) -> Mapping[str, Any]:
        sampling = request.sampling
        in_force: dict[str, Any] = {
            "temperature": sampling.temperature,
            **{name: PLAIN_SAMPLING[name] for name in ("top_k", "top_p", "min_p")},
            "seed": draw_seed(sampling.seed, request.item.digest, repeat),
            "constrained": sampling.constrained,
            "max_tokens": labels.depth if labels else sampling.max_tokens,
            "engine": self._engine_version,
        }
        if labels is not None and not sampling.constrained and self._vocabulary is not None:
            in_force["vocabulary"] = self._vocabulary
        return in_force

    def _running(self) -> Engine:
        if self._engine is None:
            raise GraderError(f"local/{self._name}: not open; expected to be used in a with statement")
        return self._engine


def _labels_asked(labels: VerdictTokens, request: Request) -> Mapping[str, Any]:
    settings = {"n_predict": labels.depth, "n_probs": LISTED}
    return {**settings, "grammar": labels.grammar} if request.sampling.constrained else settings


def _text_asked(request: Request) -> Mapping[str, Any]:
    ends = ["\n"] if _prompt_of(request).form == "completion" else []
    return {"n_predict": request.sampling.max_tokens, "stop": ends}


def _read_reply(child: Mapping[str, Any], labels: VerdictTokens | None) -> tuple[str | None, str, int | None]:
    if labels is None:
        return str(child.get("text", "")), "length" if child.get("finish_reason") == "length" else "stop", None
    drawn = [int(token["id"]) for token in child["logprobs"]["content"]]
    choice = labels.read(drawn)
    return (choice.text if choice else None), "stop", len(choice.tokens) if choice else None


def _prompt_of(request: Request) -> GraderPrompt:
    if request.prompt is None:
        raise GraderError("local model: a grader without a prompt; expected one, such as a few-shot prompt")
    return request.prompt


def _fail(request: Request, repeats: Sequence[int], reason: str, message: str) -> list[Answer]:
    return [Answer(request.item.digest, repeat, CallFailure(reason, message)) for repeat in repeats]


def _overflow_message(length: int, room: int) -> str:
    return f"prompt: {length} tokens and {room} of reply; expected at most {CONTEXT_TOKENS}"


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
