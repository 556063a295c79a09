"""A question whose answer is a quantity with an acceptable range."""

from __future__ import annotations

from dataclasses import dataclass

from calibration_sets.probes.fact import Question

__all__ = ["Measurement"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """A quantity, its range, and the values next to the bounds.

    All values are written as in the reference, without the unit. ``below`` and ``above`` are one
    step of the last written digit (one second for clock times) outside the inclusive bounds.
    ``vague`` is a true statement that neither confirms nor contradicts the target.
    ``in_words``, ``in_other_units`` are the target spelled out or converted, and
    ``wrong_words``, ``wrong_units`` are plainly out of range; each complete with its unit.
    """

    key: str
    text: str
    subject: str
    unit: str
    target: str
    low: str
    high: str
    below: str
    above: str
    topic: str = "Science"
    vague: str = ""
    in_words: str = ""
    wrong_words: str = ""
    in_other_units: str = ""
    wrong_units: str = ""
    invented: bool = False

    @property
    def question(self) -> Question:
        """The question, its reference written as in SimpleQA Verified."""
        written = f"{self.with_unit(self.target)} (acceptable range: anything between {self.low} and "
        return Question(
            key=self.key,
            text=self.text,
            reference=f"{written}{self.with_unit(self.high)})",
            topic=self.topic,
            answer_type="Number",
            invented=self.invented,
        )

    def with_unit(self, value: str) -> str:
        """A value and the unit; percent signs stand close to it."""
        return f"{value}{'' if self.unit in ('', '%') else ' '}{self.unit}"

    def state(self, value: str) -> str:
        """A sentence that says that ``value`` is the answer."""
        return f"{self.subject[0].upper()}{self.subject[1:]} is {self.with_unit(value)}."
