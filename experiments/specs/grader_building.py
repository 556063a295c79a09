"""From a grader's table in an experiment to the grader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.scale import LabelScale
from experiments.errors import SpecError
from experiments.specs.engine_choice import choose_replicas
from experiments.specs.experiment_file import ExperimentSpec, GraderSpec, ServiceSpec
from graders.capabilities import Api, Capabilities
from graders.endpoint import Endpoint, RayReplicas
from graders.errors import LedgerError, PromptError, RecordingError, UnknownModelError
from graders.grader import Grader
from graders.ledger import apply_overrides, find_model
from graders.prompt import GraderPrompt
from graders.prompt_library import load_prompt
from graders.providers import is_service, model_digest, needs_address, takes_prompt
from graders.sampling import WRITTEN_CHANNELS, WRITTEN_TOKENS, Sampling

__all__ = ["build_endpoint", "build_graders", "find_capabilities", "is_file", "resolve_model"]

_SERVICE_KEYS = tuple(ServiceSpec.model_fields)
_OPENAI_APIS: tuple[Api, ...] = ("chat", "responses")
"""Of these a service of OpenAI's shape may offer either; every other kind of model has one."""


def build_graders(spec: ExperimentSpec, whole: CalibrationSet, path: Path) -> tuple[Grader, ...]:
    """The graders of an experiment's file, checked against its set and one another.

    Raises
    ------
    SpecError
        If a prompt, model or setting is unknown, or does not fit; the message names the table.
    """
    graders = tuple(
        _build_grader(entry, spec, whole.scale, path, f"{path.name}: graders[{position}]")
        for position, entry in enumerate(spec.graders)
    )
    _check_graders(graders, whole, path.name)
    return graders


def is_file(path: Path) -> bool:
    """Whether there is a file; a name that can be no path is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def _build_grader(entry: GraderSpec, spec: ExperimentSpec, scale: LabelScale, path: Path, where: str) -> Grader:
    try:
        return _build_named_grader(entry, spec, scale, path.parent, where)
    except (PromptError, RecordingError, UnknownModelError, LedgerError) as error:
        raise SpecError(f"{where}: {error}") from error


def _build_named_grader(entry: GraderSpec, spec: ExperimentSpec, scale: LabelScale, folder: Path, where: str) -> Grader:
    model, address = resolve_model(entry.model, folder)
    endpoint = build_endpoint(entry, spec, where)
    digest = model_digest(address, endpoint)
    prompt = _load_prompt(entry.prompt, folder) if entry.prompt is not None else None
    if prompt is None and takes_prompt(entry.model):
        raise SpecError(f"{where}: prompt, missing; expected a grader prompt such as 'simpleqa_verified@1.0.0'")
    capabilities = find_capabilities(model, entry, f"{where}.capabilities")
    settings = {
        **spec.sampling.model_dump(exclude_none=True),
        **entry.sampling.model_dump(exclude_none=True),
    }
    return Grader(
        model=model,
        sampling=_build_sampling(settings, prompt, capabilities, f"{where}.sampling"),
        prompt=prompt,
        # What a grader without a prompt may answer depends on the labels of the set.
        model_digest=digest if prompt else f"{digest}; {', '.join(scale.labels)}",
        address=address,
        endpoint=endpoint,
        capabilities=capabilities,
    )


def find_capabilities(model: str, entry: GraderSpec, where: str) -> Capabilities:
    """What the ledger says of a model, as its table changes it; ``SpecError`` if that does not fit."""
    known = find_model(model).capabilities
    try:
        capabilities = apply_overrides(known, entry.capabilities, where)
    except LedgerError as error:
        raise SpecError(str(error)) from error
    fitting = _OPENAI_APIS if known.api in _OPENAI_APIS else (known.api,)
    if capabilities.api not in fitting:
        raise SpecError(f"{where}.api: {capabilities.api!r}; expected {' or '.join(map(repr, fitting))} for {model}")
    return capabilities


def build_endpoint(entry: GraderSpec, spec: ExperimentSpec, where: str) -> Endpoint:
    """How a model is reached; ``SpecError`` if an address is missing, or is given where there is none."""
    addresses = (*([entry.base_url] if entry.base_url else []), *entry.base_urls)
    own = {"base_url": addresses, "key_variable": entry.key_variable, "stream": entry.stream}
    replicas = choose_replicas(entry, spec, where)
    if not is_service(entry.model):
        given = [name for name, value in own.items() if value]
        if given:
            raise SpecError(f"{where}.{given[0]}: {entry.model!r} is not reached over a network; expected no such key")
        return _build_ray_endpoint(replicas, spec, entry)
    if needs_address(entry.model) and not addresses:
        raise SpecError(
            f"{where}.base_url: missing; expected the address of the server, such as http://localhost:8000/v1"
        )
    if len(set(addresses)) < len(addresses):
        raise SpecError(f"{where}.base_urls: an address is listed twice; expected each once")
    chosen = {**_service_settings(spec), **_service_settings(entry)}
    return Endpoint(base_urls=addresses, key_variable=entry.key_variable, stream=entry.stream or False, **chosen)


def _build_ray_endpoint(replicas: RayReplicas | None, spec: ExperimentSpec, entry: GraderSpec) -> Endpoint:
    if replicas is None:
        return Endpoint()
    waits = {**_service_settings(spec), **_service_settings(entry)}.get("max_wait_seconds", Endpoint().max_wait_seconds)
    return Endpoint(max_wait_seconds=waits, ray=replicas)


def _service_settings(table: ServiceSpec) -> dict[str, Any]:
    return table.model_dump(include=set(_SERVICE_KEYS), exclude_none=True)


def _build_sampling(
    settings: Mapping[str, Any], prompt: GraderPrompt | None, capabilities: Capabilities, where: str
) -> Sampling:
    defaults: dict[str, Any] = {"channel": prompt.channel if prompt else "word"}
    if settings.get("channel", defaults["channel"]) in WRITTEN_CHANNELS:
        defaults |= {"constrained": False, "max_tokens": WRITTEN_TOKENS}
    if capabilities.default_max_tokens is not None and settings.get("reasoning_effort") != "none":
        defaults["max_tokens"] = capabilities.default_max_tokens
    try:
        return Sampling(**{**defaults, **settings})
    except ValueError as error:
        raise SpecError(f"{where}.{error}") from error


def _load_prompt(reference: str, folder: Path) -> GraderPrompt:
    beside = folder / reference
    return load_prompt(str(beside)) if beside.suffix == ".md" and is_file(beside) else load_prompt(reference)


def resolve_model(model: str, folder: Path) -> tuple[str, str]:
    """Model and address: a recording lies beside its experiment, and its path says nothing about it."""
    if not model.startswith("replay/") or model == "replay/":
        return model, model
    file = Path(model.removeprefix("replay/"))
    beside = folder / file
    return f"replay/{file.name}", f"replay/{beside if is_file(beside) else file}"


def _check_graders(graders: Sequence[Grader], calibration_set: CalibrationSet, where: str) -> None:
    ids = [grader.grader_id for grader in graders]
    for position, grader in enumerate(graders):
        if grader.grader_id in ids[:position]:
            raise SpecError(f"{where}: graders[{position}]: {grader.title} is listed twice with the same sampling")
        if grader.prompt is not None and grader.prompt.scale.labels != calibration_set.scale.labels:
            raise SpecError(
                f"{where}: graders[{position}].prompt: {grader.prompt.title} gives {list(grader.prompt.scale.labels)}; "
                f"expected the labels of set {calibration_set.name}, {list(calibration_set.scale.labels)}"
            )
