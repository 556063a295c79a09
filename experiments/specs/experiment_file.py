"""What people write in an experiment's file: its tables and keys, and what each may hold."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from experiments.specs.decisions import AbSpec, AnsweringSpec, ChooseSpec, DecisionSpecs, RegimesSpec
from graders.endpoint import OnUnsupported
from graders.endpoint_rules import check_address, check_variable
from graders.sampling import Channel, Method

__all__ = [
    "AnalysesSpec",
    "EngineSpec",
    "ExperimentSpec",
    "GraderSpec",
    "ItemsSpec",
    "SamplingSpec",
    "ServiceSpec",
    "check_run_name",
]


def check_run_name(name: str) -> str:
    """The name, fit to begin a run's id; ``ValueError`` if it is not."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", name):
        raise ValueError("expected up to 100 letters, digits, '_', '.' or '-', the first a letter or digit")
    return name


_Address = Annotated[str, AfterValidator(check_address)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SamplingSpec(_Strict):
    """``sampling`` of the experiment or of one grader."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    repeats: int | None = Field(default=None, ge=1, le=10_000)
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    max_tokens: int | None = Field(default=None, ge=1)
    constrained: bool | None = None
    channel: Channel | None = None
    method: Method | None = None
    reasoning_effort: str | None = Field(default=None, min_length=1)


class ServiceSpec(_Strict):
    """How services are dealt with: keys of the experiment, or of one grader."""

    on_unsupported: OnUnsupported | None = None
    max_connections: int | None = Field(default=None, ge=1, le=10_000)
    timeout_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_wait_seconds: float | None = Field(default=None, ge=0, allow_inf_nan=False)


def _check_share(amount: float) -> float:
    """Ray shares a processor or GPU out in parts of 0.0001, but several of them only whole."""
    if amount > 1 and amount != int(amount):
        raise ValueError("expected up to 1, or a whole number")
    if round(amount, 4) != amount:
        raise ValueError("expected four digits after the point at most")
    return amount


_Share = Annotated[float, Field(ge=0, allow_inf_nan=False), AfterValidator(_check_share)]


class EngineSpec(_Strict):
    """``engine`` of the experiment or of one grader: where a model that no service has is computed."""

    kind: Literal["in-process", "ray"] | None = None
    address: str | None = Field(default=None, min_length=1)
    replicas: int | None = Field(default=None, ge=1, le=10_000)
    gpus_per_replica: _Share | None = None
    cpus_per_replica: _Share | None = None


def _as_engine(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


_Engine = Annotated[EngineSpec, BeforeValidator(_as_engine)]


class _GraderOwnSpec(_Strict):
    UNSHOWN: ClassVar[frozenset[str]] = frozenset({"base_url", "base_urls", "key_variable"})
    """Keys whose wrong values may be secrets."""

    model: str = Field(min_length=1)
    prompt: str | None = None
    sampling: SamplingSpec = SamplingSpec()
    base_url: _Address | None = None
    base_urls: list[_Address] = Field(default_factory=list)
    key_variable: Annotated[str, AfterValidator(check_variable)] | None = None
    stream: bool | None = None
    engine: _Engine | None = None
    capabilities: dict[str, Any] = Field(default_factory=dict)


class GraderSpec(ServiceSpec, _GraderOwnSpec):
    """One of ``[[graders]]``."""


class ItemsSpec(_Strict):
    """``[items]``."""

    sample: int | None = Field(default=None, ge=1)
    stratify: Literal["kind", "topic", "answer_type", "label"] | None = None
    seed: int = 0
    exclude_kinds: list[str] = Field(default_factory=list)


class AnalysesSpec(_Strict):
    """``[analyses]``."""

    level: float = Field(default=0.95, gt=0.5, lt=1)
    parser: Literal["robust", "official"] = "robust"
    compare_parsers: bool = False


class _ExperimentOwnSpec(_Strict):
    name: Annotated[str, AfterValidator(check_run_name)]
    set: str = Field(min_length=1)
    graders: list[GraderSpec] = Field(min_length=1)
    description: str = ""
    engine: _Engine | None = None
    sampling: SamplingSpec = SamplingSpec()
    items: ItemsSpec = ItemsSpec()
    analyses: AnalysesSpec = AnalysesSpec()
    choose: ChooseSpec | None = None
    ab: AbSpec | None = None
    answering: AnsweringSpec | None = None
    regimes: RegimesSpec | None = None

    @property
    def decisions(self) -> DecisionSpecs:
        """The tables that fix a decision."""
        return DecisionSpecs(choose=self.choose, ab=self.ab, answering=self.answering, regimes=self.regimes)


class ExperimentSpec(ServiceSpec, _ExperimentOwnSpec):
    """The whole file."""
