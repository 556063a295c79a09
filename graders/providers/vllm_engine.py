"""vLLM in this program: how it is started, and asked with tokens. The only module that imports it.

What vLLM 0.32 does, as measured: a request's child ``i`` draws with ``seed + i``; log-probabilities
are before temperature and, under ``allowed_token_ids``, over the whole vocabulary.
"""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from graders.errors import GraderError, MissingDependencyError, ServiceError
from graders.providers.vllm_model import longest_context

__all__ = [
    "ARGUMENTS_VARIABLE",
    "EngineRequest",
    "VllmEngine",
    "check_vllm",
    "open_engine",
    "prefer_arguments",
    "start_arguments",
]

ARGUMENTS_VARIABLE = "AUTORATER_VLLM_ARGS"
"""Environment variable: a JSON object of further arguments of ``vllm.LLM``, such as ``{"max_model_len": 8192}``."""

_CPU_CONTEXT = 4096
_CPU_SEQUENCES = 64
_LOOK_SECONDS = 0.2
_LAST_WORDS_SECONDS = 2.0
"""How long a dead engine's caller is waited for: it may know more of the reason."""


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """Tokens of a prompt, and the fields of vLLM's ``SamplingParams``."""

    tokens: Sequence[int]
    settings: Mapping[str, Any]
    choices: tuple[str, ...] = ()


def check_vllm() -> None:
    """Check that vLLM is installed, without importing it.

    Raises
    ------
    MissingDependencyError
        If it is not.
    """
    if importlib.util.find_spec("vllm") is None:
        raise MissingDependencyError("vllm: not installed; expected it, by pip install 'autorater-calibration[vllm]'")


class VllmEngine:
    """A loaded model; a tokeniser for ``build_prompt_tokens`` too.

    ``llm`` is vLLM's own ``LLM``, ``processes`` are those that it started.
    """

    def __init__(self, llm: Any, *, name: str, processes: Sequence[BaseProcess] = ()) -> None:
        self.llm = llm
        self._name = name
        self._processes = processes
        self._tokenizer = llm.get_tokenizer()
        config = llm.llm_engine.model_config
        self.context_tokens: int = int(config.max_model_len)
        self.dtype: str = str(config.dtype).removeprefix("torch.")
        self.vocabulary: int = int(config.get_vocab_size())

    def tokenize(self, text: str, *, special: bool = False, start: bool = False) -> list[int]:
        """Text to token ids; ``special`` reads special tokens, ``start`` adds what begins a text."""
        begun = special and bool(self._tokenizer.bos_token) and text.startswith(self._tokenizer.bos_token)
        ids = self._tokenizer.encode(text, add_special_tokens=False, split_special_tokens=not special)
        first = self._tokenizer.bos_token_id
        adds = start and not begun and first is not None and self._tokenizer.encode("")[:1] == [first]
        return [first, *ids] if adds else list(ids)

    def apply_chat_template(self, content: str) -> str:
        """The text of a chat with one user message, up to where the answer begins."""
        chat = [{"role": "user", "content": content}]
        return str(self._tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True))

    def generate(self, requests: Sequence[EngineRequest]) -> Sequence[Any]:
        """One ``RequestOutput`` of vLLM for each request, in order.

        Raises
        ------
        ServiceError
            If the engine has died.
        """
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams
        from vllm.v1.engine.exceptions import EngineDeadError

        prompts = [{"prompt_token_ids": list(request.tokens)} for request in requests]
        params = [
            SamplingParams(
                **request.settings,
                structured_outputs=StructuredOutputsParams(choice=list(request.choices)) if request.choices else None,
            )
            for request in requests
        ]
        try:
            outputs: Sequence[Any] = self._watched(lambda: self.llm.generate(prompts, params, use_tqdm=False))
        except EngineDeadError as error:
            raise self._died() from error
        return outputs

    def _watched(self, work: Callable[[], Sequence[Any]]) -> Sequence[Any]:
        """Do the work while the engine lives: vLLM 0.32 waits for ever for one that was killed meanwhile."""
        outcome: list[Sequence[Any] | BaseException] = []

        def keep_outcome() -> None:
            try:
                outcome.append(work())
            except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
                outcome.append(error)

        thread = threading.Thread(target=keep_outcome, name="vllm", daemon=True)
        thread.start()
        while thread.is_alive() and all(process.is_alive() for process in self._processes):
            thread.join(_LOOK_SECONDS)
        thread.join(_LAST_WORDS_SECONDS)
        if not outcome:
            raise self._died()
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        return outcome[0]

    def _died(self) -> ServiceError:
        return ServiceError(
            f"vllm/{self._name}: the engine process died; expected it to live, "
            "answers so far are kept: give it memory if it ran out, and start the same command again"
        )

    def close(self) -> None:
        """End the engine's processes."""
        self.llm.llm_engine.engine_core.shutdown()


def open_engine(name: str, *, exact: bool) -> VllmEngine:
    """Load a model; ``exact`` computes in float32, as coarser logits make coarse distributions.

    Raises
    ------
    MissingDependencyError
        If vLLM is not installed.
    GraderError
        If further arguments are malformed.
    ServiceError
        If the model cannot be loaded.
    """
    check_vllm()
    given = _given_arguments()
    for variable, value in _QUIET.items():
        os.environ.setdefault(variable, value)
    from vllm import LLM
    from vllm.platforms import current_platform

    on_cpu = bool(current_platform.is_cpu())
    if on_cpu:
        _prepare_cpu()
    before = set(multiprocessing.active_children())
    try:
        llm = LLM(model=name, **start_arguments(name, exact=exact, on_cpu=on_cpu, given=given))
    except (OSError, ValueError, RuntimeError, TypeError) as error:
        said = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ServiceError(f"vllm/{name}: not loaded, {said}; expected a model that vLLM can serve here") from error
    started = [process for process in multiprocessing.active_children() if process not in before]
    return VllmEngine(llm, name=name, processes=started)


def prefer_arguments(arguments: Mapping[str, Any]) -> None:
    """Add arguments of ``vllm.LLM`` in this process, where none of their names is given.

    Raises
    ------
    GraderError
        If what is given is malformed.
    """
    os.environ[ARGUMENTS_VARIABLE] = json.dumps({**arguments, **_given_arguments()})


def start_arguments(name: str, *, exact: bool, on_cpu: bool, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments of ``vllm.LLM``; those given win.

    On a CPU, vLLM dies of a seeded request with chunked prefill, and without it a step has to have
    room for the longest prompt.
    """
    arguments: dict[str, Any] = {"dtype": "float32"} if exact else {}
    arguments |= {"disable_log_stats": True, "generation_config": "vllm"}
    if on_cpu:
        context = int(given.get("max_model_len", min(_CPU_CONTEXT, longest_context(name) or _CPU_CONTEXT)))
        arguments |= {
            "max_model_len": context,
            "max_num_batched_tokens": max(context, _CPU_CONTEXT),
            "enable_chunked_prefill": False,
            "enforce_eager": True,
            "max_num_seqs": _CPU_SEQUENCES,
            "block_size": 32,
        }
    return {**arguments, **given}


_QUIET = {"VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1", "TQDM_DISABLE": "1"}


def _prepare_cpu() -> None:
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    if hasattr(os, "sched_getaffinity"):
        os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", ",".join(map(str, sorted(os.sched_getaffinity(0)))))
    library = Path(sys.prefix) / "lib" / "libiomp5.so"
    loaded = os.environ.get("LD_PRELOAD", "")
    if library.is_file() and str(library) not in loaded:
        # For the engine's own process, which is yet to be started.
        os.environ["LD_PRELOAD"] = f"{library}:{loaded}".rstrip(":")


def _given_arguments() -> Mapping[str, Any]:
    text = os.environ.get(ARGUMENTS_VARIABLE, "").strip() or "{}"
    try:
        given = json.loads(text)
    except ValueError as error:
        raise GraderError(f"{ARGUMENTS_VARIABLE}: {error}; expected a JSON object of arguments of vllm.LLM") from error
    if not isinstance(given, dict):
        raise GraderError(f"{ARGUMENTS_VARIABLE}: {text}; expected a JSON object of arguments of vllm.LLM")
    return given
