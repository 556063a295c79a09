"""What people write in an experiment's file to fix a decision before the run: rules, panels, cascades, answering."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from experiments.regimes.regime_names import REGIMES, RegimeName

__all__ = [
    "AbSpec",
    "AnsweringSpec",
    "CascadeSpec",
    "ChooseSpec",
    "DecisionSpecs",
    "LimitSpec",
    "PanelSpec",
    "RegimesSpec",
    "RespondentSpec",
    "ScoreName",
]

ErrorName = Literal["false_negative_rate", "false_positive_rate", "error_rate"]
ScoreName = Literal[
    "correct",
    "incorrect",
    "not_attempted",
    "attempted",
    "accuracy_given_attempted",
    "f1",
    "accuracy",
    "index",
    "penalised",
]
"""The scores that a comparison can be about."""
_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class LimitSpec(_Strict):
    """An error rate may be ``limit``, give or take ``margin``: kept unless shown to be worse than both together."""

    limit: _Share
    margin: _Share = 0.0


class PanelSpec(_Strict):
    """``[[choose.panels]]``: the majority of several graders; members are their models or ``prompt model`` titles."""

    name: str = Field(min_length=1)
    members: list[str] = Field(min_length=2)


class CascadeSpec(_Strict):
    """``[[choose.cascades]]``: the verdict of ``first`` where its repeats all agree, else that of ``then``."""

    name: str = Field(min_length=1)
    first: str = Field(min_length=1)
    then: str = Field(min_length=1)


class ChooseSpec(_Strict):
    """``[choose]``: the lowest of one rate among the graders that keep the limits on others."""

    lowest: ErrorName = "error_rate"
    limits: dict[ErrorName, LimitSpec] = Field(default_factory=dict)
    panels: list[PanelSpec] = Field(default_factory=list)
    cascades: list[CascadeSpec] = Field(default_factory=list)


class AbSpec(_Strict):
    """``[ab]``: the control, what a wording is to raise, and what may not fall by more than a margin.

    For grader wordings quantities are ``accuracy`` of the grader and the two error rates turned round
    (``sensitivity``, ``specificity``); for answer wordings they are the benchmark's scores. A wording is adopted only
    if the rule holds too where all that is missing went against it, unless ``missing`` is to be ignorable: like the
    rest.
    """

    control: str = Field(min_length=1)
    raises: str = Field(alias="raise", min_length=1)
    may_not_fall: dict[str, _Share] = Field(default_factory=dict)
    scope: Literal["fixed", "sampled", "every-model"] = "fixed"
    stopping: Literal["fixed-size", "anytime"] = "fixed-size"
    missing: Literal["ignorable"] | None = None


class RespondentSpec(_Strict):
    """One of ``[[answering.models]]``: a model that answers, and how it is reached."""

    model: str = Field(min_length=1)
    base_url: str | None = None
    base_urls: list[str] = Field(default_factory=list)
    key_variable: str | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    temperature: float | None = Field(default=None, ge=0, le=2)
    reasoning_effort: str | None = Field(default=None, min_length=1)
    capabilities: dict[str, object] = Field(default_factory=dict)


class _AskingSpec(_Strict):
    models: list[RespondentSpec] = Field(min_length=1)
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int = Field(default=1024, ge=1)
    repeats: int = Field(default=1, ge=1, le=1000)
    seed: int | None = Field(default=None, ge=0, lt=2**63)


class AnsweringSpec(_AskingSpec):
    """``[answering]``: each question of the set, without tools and in one turn, in each wording to each model."""

    prompts: list[str] = Field(min_length=1)


class RegimesSpec(_AskingSpec):
    """``[regimes]``: each question under each regime to each model.

    Documents are text in the prompt, in one turn, or with ``tool`` opened one at a time; ``None`` is text, too.
    """

    regimes: list[RegimeName] = Field(default=list(REGIMES), min_length=1)
    documents: Literal["text", "tool"] | None = None
    max_characters: int = Field(default=30_000, ge=100)
    max_tokens: int = Field(default=4096, ge=1)
    repeats: int = Field(default=2, ge=1, le=1000)

    @field_validator("documents")
    @classmethod
    def _name_default_once(cls, given: str | None) -> str | None:
        """Text is ``None``: what is asked is the same whether or not it is said, and so is its run."""
        return None if given == "text" else given


class DecisionSpecs(_Strict):
    """The tables of an experiment's file that fix a decision."""

    choose: ChooseSpec | None = None
    ab: AbSpec | None = None
    answering: AnsweringSpec | None = None
    regimes: RegimesSpec | None = None
