"""The engine of local models: whether it is here, and starting it."""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graders.errors import MissingDependencyError, WeightsError
from graders.providers.local_engine import Engine, EngineCallError
from graders.providers.local_prompt import CONTEXT_TOKENS
from graders.providers.seeds import CHILDREN

__all__ = ["check_engine", "import_engine", "interruptions_held", "open_engine"]

_CACHE_TOKENS = 3 * CONTEXT_TOKENS
"""Room for this item, the last one, and the replies to both."""

_WAIT_VARIABLE = "OMP_WAIT_POLICY"


def check_engine() -> None:
    """Check that the engine is installed.

    Raises
    ------
    MissingDependencyError
        If it is not, or cannot be imported here.
    """
    import_engine()


def import_engine() -> Any:
    """The engine's package, imported so that its threads sleep while they wait.

    Raises
    ------
    MissingDependencyError
        If it is not installed, or cannot be imported here.
    """
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
    xllamacpp = import_engine()
    key = secrets.token_hex(16)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel, params.kv_unified = _CACHE_TOKENS, CHILDREN, True
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_gpu_layers = 0
    params.verbosity, params.warmup, params.ui, params.api_keys = -1, False, False, [key]
    params.slot_prompt_similarity, params.cache_ram_mib, params.n_ctx_checkpoints = 0.0, 0, 0
    try:
        with interruptions_held():
            engine = Engine(xllamacpp.Server(params), key)
            engine.wait_until_running()
            return engine
    except (EngineCallError, RuntimeError, ValueError, OSError) as error:
        raise WeightsError(f"{path}: {error}; expected weights that llama.cpp can load") from error


@contextmanager
def interruptions_held() -> Iterator[None]:
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
