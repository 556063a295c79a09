"""What a probe is made from: a question, its reference, and things to say about it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Fact", "Question"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its reference; ``key`` is the cluster of all its probes.

    ``invented`` questions are about things that do not exist, so that only the reference can
    decide them.
    """

    key: str
    text: str
    reference: str
    topic: str
    answer_type: str
    aliases: tuple[str, ...] = ()
    invented: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A question with one short answer.

    ``subject`` is a noun phrase that the answer fills (``the capital of Hungary``). ``paraphrase``
    gives the answer in other words. ``true_extra`` and ``wrong_extra`` are sentences about the
    same thing, true and plainly wrong, neither of which bears on the answer; empty for invented
    things, of which nothing is true. ``others`` are two wrong answers of the same sort, and
    ``near_miss`` is a wrong answer that is easily mistaken for the right one.
    """

    question: Question
    subject: str
    paraphrase: str
    others: tuple[str, str]
    near_miss: str
    true_extra: str = ""
    wrong_extra: str = ""

    @property
    def answer(self) -> str:
        """The right answer, as the reference gives it."""
        return self.question.reference

    def state(self, answer: str) -> str:
        """A sentence that says that ``answer`` is the answer."""
        return f"{self.subject[0].upper()}{self.subject[1:]} is {answer}."
