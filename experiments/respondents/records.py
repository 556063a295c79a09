"""What a run remembers of its answering: who was asked which questions, what came back, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from graders.pricing import Cost

__all__ = ["AnsweringRecord", "QuestionRecord", "RespondentRecord", "load_answering"]


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """A question that was asked: its id in the run, and the cluster that statistics treat as dependent.

    ``traits`` counts what a question of a run under regimes comes with, such as its distractors; empty in others.
    """

    question_id: str
    cluster_id: str
    traits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RespondentRecord:
    """One model under one answer prompt.

    Attributes
    ----------
    respondent_id
        What its responses are stored under.
    model
        As the tables name it: ``provider/name``, with what tells it from another of the same name.
    prompt
        ``name@version`` of the answer prompt.
    n_responses
        Responses that were graded.
    n_truncated
        Responses among these that stopped at the token limit.
    n_unread
        Responses among these before which no document was opened, where that was to be done by a tool.
    missing
        Reason to number of responses that were asked for and are not there.
    cost
        Of all its completions and failed calls; ``None`` where the model has no price.
    served_models
        Models that the service says have answered, to their number of responses.
    """

    respondent_id: str
    model: str
    prompt: str
    n_responses: int
    n_truncated: int = 0
    n_unread: int = 0
    missing: Mapping[str, int] = field(default_factory=dict)
    cost: Cost | None = None
    served_models: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """``model | prompt``, the respondent of its items."""
        return f"{self.model} | {self.prompt}"


@dataclass(frozen=True, slots=True)
class AnsweringRecord:
    """The whole grid: every respondent was asked every question so many times."""

    questions: tuple[QuestionRecord, ...]
    repeats: int
    respondents: tuple[RespondentRecord, ...]

    @property
    def models(self) -> tuple[str, ...]:
        """Models in the order of the experiment."""
        return tuple(dict.fromkeys(respondent.model for respondent in self.respondents))

    @property
    def prompts(self) -> tuple[str, ...]:
        """``name@version`` of the answer prompts in the order of the experiment."""
        return tuple(dict.fromkeys(respondent.prompt for respondent in self.respondents))

    @property
    def has_regimes(self) -> bool:
        """Whether the prompts are regimes, and not wordings."""
        return any(question.traits for question in self.questions)

    def as_plain(self) -> Mapping[str, Any]:
        """Plain data, which :func:`load_answering` takes back."""
        return asdict(self)


def load_answering(fields: Mapping[str, Any]) -> AnsweringRecord:
    """The record from plain data."""
    return AnsweringRecord(
        questions=tuple(QuestionRecord(**question) for question in fields["questions"]),
        repeats=fields["repeats"],
        respondents=tuple(map(_load_respondent, fields["respondents"])),
    )


def _load_respondent(fields: Mapping[str, Any]) -> RespondentRecord:
    cost = fields["cost"]
    return RespondentRecord(**{**fields, "cost": None if cost is None else Cost(**cost)})
