"""From the ``[answering]`` or ``[regimes]`` table of an experiment to its respondents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from calibration_sets.strict_models import parse_model
from experiments.errors import SpecError
from experiments.regimes.regime_prompts import load_regime_prompt
from experiments.respondents.answer_prompts import AnswerPrompt, load_answer_prompt
from experiments.respondents.respondent import Answering, Respondent
from experiments.specs.decisions import AnsweringSpec, RegimesSpec, RespondentSpec
from experiments.specs.experiment_file import ExperimentSpec, GraderSpec
from experiments.specs.grader_building import build_endpoint, find_capabilities, resolve_model
from graders.capabilities import Capabilities
from graders.endpoint import Endpoint
from graders.errors import LedgerError, PromptError, UnknownModelError
from graders.grader import Grader
from graders.providers import is_service, model_digest, takes_prompt
from graders.sampling import Sampling

__all__ = ["build_answering"]

_NOMINAL_TEMPERATURE = 1.0
"""Of a model's own distribution; where the experiment names none, a service is sent none and uses its own."""

_READING = "documents by open_document 1"
"""The tool and what it says; another number where that changes."""

_Asked = AnsweringSpec | RegimesSpec

_OWN_SETTINGS = ("temperature", "reasoning_effort", "max_tokens")


def build_answering(spec: ExperimentSpec, path: Path) -> Answering | None:
    """The respondents of an experiment's file, models first, then prompts; ``None`` where it asks for none.

    Raises
    ------
    SpecError
        If a prompt, model or setting is unknown or does not fit, or a respondent is listed twice;
        the message names the table.
    """
    asked = spec.answering or spec.regimes
    if asked is None:
        return None
    where = f"{path.name}: {'answering' if spec.answering else 'regimes'}"
    prompts = _load_prompts(asked, path.parent, where)
    models = [_build_model(entry, spec, asked, f"{where}.models[{place}]") for place, entry in enumerate(asked.models)]
    if any(prompt.reads_by_tool for prompt in prompts):
        _check_tools(models, where)
    names = _model_names(asked.models)
    respondents = tuple(
        Respondent(
            name,
            f"{prompt.name}@{prompt.version}",
            _with_prompt(model, prompt),
            own_temperature=_leaves_temperature(entry, asked),
        )
        for name, entry, model in zip(names, asked.models, models, strict=True)
        for prompt in prompts
    )
    _check_distinct(respondents, where)
    return Answering(respondents, asked.repeats)


def _load_prompts(asked: _Asked, folder: Path, where: str) -> Sequence[AnswerPrompt]:
    if isinstance(asked, RegimesSpec):
        return [load_regime_prompt(regime, by_tool=asked.documents == "tool") for regime in asked.regimes]
    try:
        return [load_answer_prompt(reference, folder=folder) for reference in asked.prompts]
    except PromptError as error:
        raise SpecError(f"{where}.prompts: {error}") from error


def _with_prompt(model: Grader, prompt: AnswerPrompt) -> Grader:
    """The model under a prompt; how documents are opened is part of what is asked."""
    if not prompt.reads_by_tool:
        return replace(model, prompt=prompt)
    return replace(model, prompt=prompt, model_digest=f"{model.model_digest}; {_READING}")


def _check_tools(models: Sequence[Grader], where: str) -> None:
    """Better refused now than after the first calls are paid for."""
    for place, model in enumerate(models):
        if not is_service(model.model):
            raise SpecError(
                f"{where}.models[{place}].model: {model.model!r} takes no tools; expected a service's model, or "
                'documents = "text"'
            )
        if not model.capabilities.tool_call:
            raise SpecError(
                f'{where}.models[{place}]: {model.model!r} is not known to take tools; expected documents = "text", '
                "or, if it does, capabilities = { tool_call = true }"
            )


def _build_model(entry: RespondentSpec, spec: ExperimentSpec, asked: _Asked, where: str) -> Grader:
    """The model as it is to be asked, without a prompt yet."""
    try:
        return _build_known_model(entry, spec, asked, where)
    except (UnknownModelError, LedgerError) as error:
        raise SpecError(f"{where}: {error}") from error


def _build_known_model(entry: RespondentSpec, spec: ExperimentSpec, asked: _Asked, where: str) -> Grader:
    if not takes_prompt(entry.model):
        raise SpecError(f"{where}.model: {entry.model!r} answers no questions; expected a language model")
    table = _as_table(entry, where)
    model, address = resolve_model(entry.model, Path())
    endpoint = build_endpoint(table, spec, where)
    digest = model_digest(address, endpoint)
    capabilities = find_capabilities(model, table, f"{where}.capabilities")
    if _leaves_temperature(entry, asked):
        capabilities, endpoint = _with_own_temperature(capabilities, endpoint)
        digest = f"{digest}; temperature left to the service"
    return Grader(
        model=model,
        sampling=_build_sampling(entry, asked, capabilities, where),
        model_digest=digest,
        address=address,
        endpoint=endpoint,
        capabilities=capabilities,
    )


def _as_table(entry: RespondentSpec, where: str) -> GraderSpec:
    """The table as a grader's, so that addresses and names of variables are held to the same rules."""
    keys = ("model", "base_url", "base_urls", "key_variable", "capabilities")
    fields: dict[str, Any] = {key: getattr(entry, key) for key in keys if getattr(entry, key)}
    return parse_model(GraderSpec, fields, where, SpecError)


def _leaves_temperature(entry: RespondentSpec, asked: _Asked) -> bool:
    return entry.temperature is None and asked.temperature is None and is_service(entry.model)


def _with_own_temperature(capabilities: Capabilities, endpoint: Endpoint) -> tuple[Capabilities, Endpoint]:
    return replace(capabilities, temperature=None), replace(endpoint, on_unsupported="provider-default")


def _build_sampling(
    entry: RespondentSpec,
    asked: _Asked,
    capabilities: Capabilities,
    where: str,
) -> Sampling:
    """Free text: the channel is the carrier's, and nothing holds the reply to a label."""
    temperature = entry.temperature if entry.temperature is not None else asked.temperature
    try:
        return Sampling(
            temperature=_NOMINAL_TEMPERATURE if temperature is None else temperature,
            repeats=asked.repeats,
            seed=asked.seed or 0,
            max_tokens=_max_tokens(entry, asked, capabilities),
            channel="letter",
            constrained=False,
            reasoning_effort=entry.reasoning_effort,
        )
    except ValueError as error:
        raise SpecError(f"{where}.{error}") from error


def _max_tokens(entry: RespondentSpec, asked: _Asked, capabilities: Capabilities) -> int:
    """As the model's table says, or that of all; a model that thinks gets its usual room where neither does."""
    if entry.max_tokens is not None:
        return entry.max_tokens
    thinks = capabilities.default_max_tokens is not None and entry.reasoning_effort != "none"
    if "max_tokens" in asked.model_fields_set or not thinks:
        return asked.max_tokens
    return max(asked.max_tokens, capabilities.default_max_tokens or 0)


def _model_names(models: Sequence[RespondentSpec]) -> list[str]:
    """The model, and its own settings where it is listed more than once; a number where these are the same too."""
    listed = [entry.model for entry in models]
    names = [
        entry.model if listed.count(entry.model) == 1 else f"{entry.model}{_own_settings(entry)}" for entry in models
    ]
    return [
        name if names.count(name) == 1 else f"{name} #{names[: place + 1].count(name)}"
        for place, name in enumerate(names)
    ]


def _own_settings(entry: RespondentSpec) -> str:
    given = [(name, getattr(entry, name)) for name in _OWN_SETTINGS if getattr(entry, name) is not None]
    return f" ({', '.join(f'{name} {value}' for name, value in given)})" if given else ""


def _check_distinct(respondents: Sequence[Respondent], where: str) -> None:
    seen: dict[str, Respondent] = {}
    for one in respondents:
        other = seen.setdefault(one.grader.grader_id, one)
        if other is not one:
            raise SpecError(
                f"{where}: {one.name} asks what {other.name} asks; expected each wording of each model once"
            )
    names = [one.name for one in respondents]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise SpecError(f"{where}: {repeated} stands for two respondents; expected prompts of different names")
