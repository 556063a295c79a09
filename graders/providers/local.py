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
import secrets
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graders.client import Request
from graders.errors import GraderError, MissingDependencyError, WeightsError
from graders.prompt import GraderPrompt
from graders.providers.local_engine import PLAIN_SAMPLING, Engine, EngineCallError
from graders.providers.local_prompt import PromptTokens, build_prompt_tokens, reply_lead
from graders.providers.seeds import CHILDREN, draw_seed
from graders.providers.verdict_tokens import VerdictTokens, build_verdict_tokens
from graders.providers.weights import ensure_weights
from graders.verdict import CallFailure, Completion, Usage

__all__ = ["CONTEXT_TOKENS", "LocalClient", "check_engine", "open_engine"]

Answer = tuple[int, Completion | CallFailure]
Positioned = tuple[int, Request]

CONTEXT_TOKENS = 2048
"""Longest prompt and reply together; the model was not trained on more."""

_CACHE_TOKENS = 3 * CONTEXT_TOKENS
"""Room for this item, the last one, and the replies to both."""

_LISTED = 300
"""Log-probabilities listed with each draw; a label further down costs further requests."""

_LISTED_APART = (5_000, 1_000_000)
"""What these list: enough for most, then more than any vocabulary has."""

_WAIT_VARIABLE = "OMP_WAIT_POLICY"


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

    def complete(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Answer requests in order, ten repeats of an item at a time.

        Raises
        ------
        GraderError
            If a request has no prompt, or a prompt asks for what a local model cannot do.
        """
        for _, group in groupby(enumerate(requests), key=_group_key):
            yield from self._answer_group(list(group))

    def _answer_group(self, group: list[Positioned]) -> list[Answer]:
        engine, prompt, first = self._running(), _prompt_of(group[0][1]), group[0][1]
        try:
            labels = self._label_tokens(prompt) if first.sampling.constrained else None
            tokens = build_prompt_tokens(prompt, first.item, engine)
            if labels is not None:
                tokens = PromptTokens(tokens.shared, (*tokens.own, *labels.forced))
            room = labels.depth if labels else first.sampling.max_tokens
            if len(tokens.all) + room > CONTEXT_TOKENS:
                return _fail(group, "context_overflow", _overflow_message(len(tokens.all), room))
            return self._draw_group(group, tokens, labels)
        except EngineCallError as error:
            return _fail(group, "engine_error", str(error))

    def _draw_group(self, group: list[Positioned], tokens: PromptTokens, labels: VerdictTokens | None) -> list[Answer]:
        sampling = group[0][1].sampling
        length = labels.depth if labels else sampling.max_tokens
        span = max(1, min(CHILDREN, (CONTEXT_TOKENS + CHILDREN) // length))
        answers: list[Answer] = []
        for _, part in groupby(group, key=lambda positioned: positioned[1].repeat % CHILDREN // span):
            answers += self._draw_children(list(part), tokens, labels)
        return answers

    def _draw_children(
        self, group: list[Positioned], tokens: PromptTokens, labels: VerdictTokens | None
    ) -> list[Answer]:
        repeats = [request.repeat for _, request in group]
        first = group[0][1]
        settings = {
            "n": max(repeats) - min(repeats) + 1,
            "seed": draw_seed(first.sampling.seed, first.item.digest, min(repeats)),
            "temperature": first.sampling.temperature,
            **(_constrained(labels) if labels else _unconstrained(first)),
        }
        answer = self._running().draw(tokens, settings)
        children = {int(child.get("index", 0)): child for child in answer["choices"]}
        logprobs = self._label_logprobs(children[0], tokens, labels) if labels else None
        cached = answer.get("usage", {}).get("prompt_tokens_details", {}).get("cached_tokens")
        out: list[Answer] = []
        for position, request in group:
            child = children.get(request.repeat - min(repeats))
            usage = (len(tokens.all), cached if request.repeat == min(repeats) else len(tokens.all))
            out.append((position, self._read_child(child, request, labels, logprobs, usage)))
        return out

    def _read_child(
        self,
        child: Mapping[str, Any] | None,
        request: Request,
        labels: VerdictTokens | None,
        logprobs: Mapping[str, float] | None,
        usage: tuple[int, int | None],
    ) -> Completion | CallFailure:
        if child is None:
            return CallFailure("engine_error", f"repeat {request.repeat}: the engine sent no reply")
        text, stop_reason, n_drawn = _read_reply(child, labels)
        if text is None:
            return CallFailure("engine_error", f"repeat {request.repeat}: {child.get('text')!r} is not a label")
        return Completion(
            text=text,
            served_model=self._served,
            stop_reason=stop_reason,
            label_logprobs=logprobs,
            usage=Usage(input_tokens=usage[0], output_tokens=n_drawn, cached_tokens=usage[1]),
            effective_sampling=self._effective_sampling(request, labels),
        )

    def _label_logprobs(
        self, child: Mapping[str, Any], tokens: PromptTokens, labels: VerdictTokens
    ) -> Mapping[str, float] | None:
        firsts = labels.first_tokens
        if firsts is None:
            return None
        listed = _listed_logprobs(child)
        for n_listed in _LISTED_APART:
            if firsts.keys() <= listed.keys():
                break
            answer = self._running().draw(tokens, {"n_predict": 1, "n_probs": n_listed, "temperature": 0.0})
            listed = _listed_logprobs(answer["choices"][0])
        return {label: listed[token] for token, label in firsts.items()} if firsts.keys() <= listed.keys() else None

    def _label_tokens(self, prompt: GraderPrompt) -> VerdictTokens:
        if prompt.digest not in self._labels:
            tokenize = self._running().tokenize
            self._labels[prompt.digest] = build_verdict_tokens(prompt, lead=reply_lead(prompt), tokenize=tokenize)
        return self._labels[prompt.digest]

    def _effective_sampling(self, request: Request, labels: VerdictTokens | None) -> Mapping[str, Any]:
        sampling = request.sampling
        return {
            "temperature": sampling.temperature,
            **{name: PLAIN_SAMPLING[name] for name in ("top_k", "top_p", "min_p")},
            "seed": draw_seed(sampling.seed, request.item.digest, request.repeat),
            "constrained": labels is not None,
            "max_tokens": labels.depth if labels else sampling.max_tokens,
            "engine": self._engine_version,
        }

    def _running(self) -> Engine:
        if self._engine is None:
            raise GraderError(f"local/{self._name}: not open; expected to be used in a with statement")
        return self._engine


def check_engine() -> None:
    """Check that the engine is installed.

    Raises
    ------
    MissingDependencyError
        If it is not, or cannot be imported here.
    """
    _import_engine()


def _import_engine() -> Any:
    # The threads of the engine wait for one another many times a token. If they spin while they
    # wait, another busy process on the machine makes each wait last a time slice: measured, thirty
    # times slower. Sleeping costs nothing measurable on an idle machine. Read once, at import.
    before = os.environ.get(_WAIT_VARIABLE)
    os.environ.setdefault(_WAIT_VARIABLE, "PASSIVE")
    try:
        import xllamacpp
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"local models: {error}; expected xllamacpp to be installed: "
            "pip install 'autorater-calibration[local]' (in a checkout: pip install -e \".[local]\")"
        ) from error
    except ImportError as error:
        raise MissingDependencyError(
            f"local models: xllamacpp cannot be loaded, {error}; expected the system's OpenMP library "
            "(Debian, Ubuntu: apt-get install libgomp1) and xllamacpp from "
            "pip install 'autorater-calibration[local]'"
        ) from error
    finally:
        if before is None:
            del os.environ[_WAIT_VARIABLE]
    return xllamacpp


def open_engine(path: Path, *, threads: int) -> Engine:
    """Load weights into a server that writes nothing to the terminal.

    Raises
    ------
    WeightsError
        If the engine cannot load the file.
    """
    xllamacpp = _import_engine()
    key = secrets.token_hex(16)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel, params.kv_unified = _CACHE_TOKENS, CHILDREN, True
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_gpu_layers = 0
    params.verbosity, params.warmup, params.ui, params.api_keys = -1, False, False, [key]
    params.slot_prompt_similarity, params.cache_ram_mib, params.n_ctx_checkpoints = 0.0, 0, 0
    try:
        with _interruptions_held():
            engine = Engine(xllamacpp.Server(params), key)
            engine.wait_until_running()
            return engine
    except (EngineCallError, RuntimeError, ValueError, OSError) as error:
        raise WeightsError(f"{path}: {error}; expected weights that llama.cpp can load") from error


@contextmanager
def _interruptions_held() -> Iterator[None]:
    """Let Ctrl-C wait while the engine starts, which it can bring to a standstill.

    The engine's threads begin with the signal held back and keep it so: it reaches the main thread.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _constrained(labels: VerdictTokens) -> Mapping[str, Any]:
    return {"n_predict": labels.depth, "n_probs": _LISTED, "grammar": labels.grammar}


def _unconstrained(request: Request) -> Mapping[str, Any]:
    ends = ["\n"] if _prompt_of(request).form == "completion" else []
    return {"n_predict": request.sampling.max_tokens, "stop": ends}


def _read_reply(child: Mapping[str, Any], labels: VerdictTokens | None) -> tuple[str | None, str, int | None]:
    if labels is None:
        return str(child.get("text", "")), "length" if child.get("finish_reason") == "length" else "stop", None
    drawn = [int(token["id"]) for token in child["logprobs"]["content"]]
    choice = labels.read(drawn)
    return (choice.text if choice else None), "stop", len(choice.tokens) if choice else None


def _listed_logprobs(child: Mapping[str, Any]) -> dict[int, float]:
    first = child["logprobs"]["content"][0]
    return {int(entry["id"]): float(entry["logprob"]) for entry in (first, *first["top_logprobs"])}


def _prompt_of(request: Request) -> GraderPrompt:
    if request.prompt is None:
        raise GraderError("local model: a grader without a prompt; expected one, such as a few-shot prompt")
    return request.prompt


def _group_key(positioned: Positioned) -> tuple[object, ...]:
    request = positioned[1]
    return request.item.digest, _prompt_of(request).digest, request.sampling, request.repeat // CHILDREN


def _fail(group: list[Positioned], reason: str, message: str) -> list[Answer]:
    return [(position, CallFailure(reason, message)) for position, _ in group]


def _overflow_message(length: int, room: int) -> str:
    return f"prompt: {length} tokens and {room} of reply; expected at most {CONTEXT_TOKENS}"


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
