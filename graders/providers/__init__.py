"""Providers: from a model's name to a client that asks it.

Each provider's module, and the packages that it needs, are imported when one of its models is
opened, not before.
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from graders.client import ModelClient
from graders.errors import UnknownModelError

__all__ = ["check_model", "list_models", "model_digest", "open_client"]

_BASELINE = "baseline/lexical"
_REPLAY = "replay/"
_LOCAL = "local/"
_LATER = ("openai/", "anthropic/", "vllm/")


def list_models() -> tuple[str, ...]:
    """Names of the models that this version can ask; ``replay/FILE`` stands for any recording."""
    from graders.providers.weights import WEIGHTS

    return (_BASELINE, *(f"{_LOCAL}{name}" for name in WEIGHTS), f"{_REPLAY}FILE")


def open_client(model: str) -> ModelClient:
    """A client for a model, to be used in a ``with`` statement.

    Parameters
    ----------
    model
        ``baseline/lexical``, ``local/NAME``, or ``replay/`` and the path of a recording.

    Raises
    ------
    UnknownModelError
        If no provider of this version serves a model of that name.
    """
    _check_known(model)
    if model == _BASELINE:
        from graders.providers.baseline import BaselineClient

        return BaselineClient()
    if model.startswith(_REPLAY):
        from graders.providers.replay import ReplayClient

        return ReplayClient(Path(model.removeprefix(_REPLAY)))
    from graders.providers.local import LocalClient

    return LocalClient(model.removeprefix(_LOCAL))


def model_digest(model: str) -> str:
    """What a model's name does not say: the version of its rules, the hash of its weights or file.

    Raises
    ------
    UnknownModelError
        If no provider of this version serves a model of that name.
    RecordingError
        If a recording cannot be read.
    """
    _check_known(model)
    if model == _BASELINE:
        from graders.providers.baseline import RULES_VERSION

        return f"rules {RULES_VERSION}"
    if model.startswith(_REPLAY):
        from graders.providers.replay import recording_digest

        return recording_digest(Path(model.removeprefix(_REPLAY)))
    from graders.providers.weights import WEIGHTS

    return WEIGHTS[model.removeprefix(_LOCAL)].sha256


def check_model(model: str, *, fetch: bool = True, progress: Console | None = None) -> None:
    """Check before a run that a model can be asked; fetch its weights if they are not here.

    Parameters
    ----------
    model
        As for :func:`open_client`.
    fetch
        ``False`` leaves missing weights for later.
    progress
        Where a fetch is reported; standard error by default.

    Raises
    ------
    UnknownModelError
        If no provider of this version serves a model of that name.
    MissingDependencyError
        If the provider's package is not installed.
    WeightsError
        If the weights cannot be had.
    RecordingError
        If a recording is missing or malformed.
    """
    _check_known(model)
    if model.startswith(_REPLAY):
        from graders.providers.replay import read_recording

        read_recording(Path(model.removeprefix(_REPLAY)))
    elif model.startswith(_LOCAL):
        from graders.providers.local import check_engine
        from graders.providers.weights import ensure_weights

        check_engine()
        if fetch:
            ensure_weights(model.removeprefix(_LOCAL), progress=progress)


def _check_known(model: str) -> None:
    replayed = model.startswith(_REPLAY) and len(model) > len(_REPLAY)
    if replayed or model in list_models()[:-1]:
        return
    later = f" ({', '.join(_LATER)} are not provided by this version)"
    raise UnknownModelError(f"model: {model!r}; expected one of {', '.join(list_models())}{later}")
