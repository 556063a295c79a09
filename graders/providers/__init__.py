"""Providers: from a grader to a client that asks its model.

Each provider's module, and the packages that it needs, are imported when one of its models is
opened, not before.
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from graders.client import ModelClient
from graders.endpoint import Endpoint
from graders.errors import UnknownModelError
from graders.grader import Grader

__all__ = [
    "check_model",
    "computes",
    "is_service",
    "list_models",
    "model_digest",
    "needs_address",
    "open_client",
    "share_engine",
    "takes_prompt",
]

_BASELINE = "baseline/lexical"
_SERVICES = ("openai/", "openai-compatible/", "anthropic/", "vllm-server/")
_ENGINES = ("local/", "vllm/")
_OPENAI = ("openai/", "openai-compatible/", "vllm-server/")
_NEED_ADDRESS = ("openai-compatible/", "vllm-server/")
_NAMED_FREELY = ("replay/", "vllm/", *_SERVICES)
_FORMS = (
    "openai/MODEL",
    "openai-compatible/MODEL",
    "anthropic/MODEL",
    "vllm/MODEL",
    "vllm-server/MODEL",
    "replay/FILE",
)


def list_models() -> tuple[str, ...]:
    """Names of the models that can be asked; words in capitals stand for any name."""
    from graders.providers.weights import WEIGHTS

    return (_BASELINE, *(f"local/{name}" for name in WEIGHTS), *_FORMS)


def is_service(model: str) -> bool:
    """Whether a model is reached over a network."""
    return model.startswith(_SERVICES)


def computes(model: str) -> bool:
    """Whether a model is computed by this program, here or by replicas on a cluster."""
    return model.startswith((*_ENGINES, "baseline/"))


def needs_address(model: str) -> bool:
    """Whether a service has no usual address."""
    return model.startswith(_NEED_ADDRESS)


def share_engine(one: Grader, other: Grader) -> bool:
    """Whether a client that was opened for one grader answers for the other too, with the model that it has loaded."""

    def loaded(grader: Grader) -> tuple[object, ...]:
        exact = grader.sampling.wants_logprobs
        return grader.model, grader.address, grader.model_digest, grader.capabilities, grader.endpoint.ray, exact

    return computes(one.model) and loaded(one) == loaded(other)


def takes_prompt(model: str) -> bool:
    """Whether a model is told what to judge by a prompt; rules and recordings need none."""
    return not model.startswith(("baseline/", "replay/"))


def open_client(grader: Grader) -> ModelClient:
    """A client for a grader's model, to be used in a ``with`` statement.

    Raises
    ------
    UnknownModelError
        If no provider serves a model of that name.
    MissingDependencyError
        If the provider's package is not installed.
    """
    model = grader.address or grader.model
    _check_known(model)
    if grader.endpoint.ray is not None:
        from graders.providers.ray_client import open_ray

        return open_ray(grader, grader.endpoint.ray)
    if model == _BASELINE:
        from graders.providers.baseline import BaselineClient

        return BaselineClient()
    if model.startswith("replay/"):
        from graders.providers.replay import ReplayClient

        return ReplayClient(Path(model.removeprefix("replay/")))
    if model.startswith("local/"):
        from graders.providers.local import LocalClient

        return LocalClient(model.removeprefix("local/"))
    return _open_service_or_engine(grader)


def _open_service_or_engine(grader: Grader) -> ModelClient:
    by_tool = grader.prompt is not None and grader.prompt.reads_by_tool
    if grader.model.startswith(_OPENAI) and by_tool:
        from graders.providers.openai_reading import open_openai_reading

        return open_openai_reading(grader)
    if grader.model.startswith(_OPENAI):
        from graders.providers.openai_service import open_openai

        return open_openai(grader)
    if grader.model.startswith("anthropic/") and by_tool:
        from graders.providers.anthropic_reading import open_anthropic_reading

        return open_anthropic_reading(grader)
    if grader.model.startswith("anthropic/"):
        from graders.providers.anthropic_service import open_anthropic

        return open_anthropic(grader)
    from graders.providers.vllm_offline import open_vllm

    return open_vllm(grader)


def model_digest(model: str, endpoint: Endpoint | None = None) -> str:
    """What a model's name does not say: version of its rules, hash of its weights or file, another address.

    A model behind an address of one's own is another model than its namesake elsewhere; servers of
    vLLM are interchangeable.

    Raises
    ------
    UnknownModelError
        If no provider serves a model of that name.
    RecordingError
        If a recording cannot be read.
    """
    _check_known(model)
    if model == _BASELINE:
        from graders.providers.baseline import RULES_VERSION

        return f"rules {RULES_VERSION}"
    if model.startswith("replay/"):
        from graders.providers.replay import recording_digest

        return recording_digest(Path(model.removeprefix("replay/")))
    if model.startswith("vllm/"):
        from graders.providers.vllm_model import model_folder_digest

        return model_folder_digest(model.removeprefix("vllm/"))
    if model.startswith("local/"):
        from graders.providers.weights import WEIGHTS

        return WEIGHTS[model.removeprefix("local/")].sha256
    addresses = endpoint.base_urls if endpoint and not model.startswith("vllm-server/") else ()
    return f"at {', '.join(sorted(addresses))}" if addresses else ""


def check_model(grader: Grader, *, fetch: bool = True, progress: Console | None = None) -> None:
    """Check before a run that a grader's model can be asked; fetch its weights if they are not here.

    Parameters
    ----------
    grader
        Whose model is checked.
    fetch
        ``False`` leaves missing weights for later.
    progress
        Where a fetch is reported; standard error by default.

    Raises
    ------
    UnknownModelError
        If no provider serves a model of that name.
    MissingDependencyError
        If the provider's package is not installed.
    ServiceError
        If a service's key is missing.
    WeightsError
        If the weights cannot be had.
    RecordingError
        If a recording is missing or malformed.
    """
    model = grader.address or grader.model
    _check_known(model)
    if model.startswith("replay/"):
        from graders.providers.replay import read_recording

        read_recording(Path(model.removeprefix("replay/")))
    elif grader.endpoint.ray is not None:
        # Of the engine itself the nodes know, and say so when they load it.
        from graders.providers.ray_cluster import check_ray

        check_ray()
    elif model.startswith("local/"):
        from graders.providers.local import check_engine
        from graders.providers.weights import ensure_weights

        check_engine()
        if fetch:
            ensure_weights(model.removeprefix("local/"), progress=progress)
    elif model.startswith(_OPENAI):
        from graders.providers.openai_client import check_openai

        check_openai(grader)
    elif model.startswith("anthropic/"):
        from graders.providers.anthropic_client import check_anthropic

        check_anthropic(grader)
    elif model.startswith("vllm/"):
        from graders.providers.vllm_engine import check_vllm

        check_vllm()


def _check_known(model: str) -> None:
    from graders.providers.weights import WEIGHTS

    named = any(model.startswith(prefix) and len(model) > len(prefix) for prefix in _NAMED_FREELY)
    if named or model == _BASELINE or (model.removeprefix("local/") in WEIGHTS and model.startswith("local/")):
        return
    raise UnknownModelError(f"model: {model!r}; expected one of {', '.join(list_models())}")
