"""Who answers: a model under an answer prompt."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.respondents.records import AnsweringRecord
from graders.grader import Grader

__all__ = ["Answering", "Respondent"]


@dataclass(frozen=True, slots=True)
class Respondent:
    """One model under one answer prompt.

    ``model`` and ``prompt`` name it in tables; ``grader`` is what providers and the store take: model,
    answer prompt and free sampling. Its ``grader_id`` is what responses are stored under.
    ``own_temperature`` says that no temperature is sent, and the service uses its own.
    """

    model: str
    prompt: str
    grader: Grader
    own_temperature: bool = False

    @property
    def name(self) -> str:
        """``model | prompt``, the respondent of its items."""
        return f"{self.model} | {self.prompt}"


@dataclass(frozen=True, slots=True)
class Answering:
    """The answering part of an experiment: respondents, models first; ``record`` once they have answered."""

    respondents: tuple[Respondent, ...]
    repeats: int
    record: AnsweringRecord | None = None

    @property
    def identity(self) -> list[object]:
        """What a run's id depends on."""
        return [self.repeats, [[one.name, one.grader.grader_id] for one in self.respondents]]
