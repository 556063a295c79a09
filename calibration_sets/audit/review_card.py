"""The review card of a set: what people found on six questions of its worth, each with a reason, a name and a day."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, field_validator, model_validator

from calibration_sets.audit.card_editing import replace_values
from calibration_sets.errors import SetFileError
from calibration_sets.records import Filled, StrictRecord
from calibration_sets.strict import raise_problems, read_text, read_toml
from calibration_sets.strict_models import parse_model
from calibration_sets.writer import replace_text, toml_text

__all__ = ["CRITERIA", "CardState", "Judgement", "ReviewCard", "read_card", "set_card_values", "write_card"]

CRITERIA: Mapping[str, str] = {
    "reviewability": "Can others check each question, reference and label, from sources that they can reach?",
    "scoring": "Does the scoring mark right answers right and wrong ones wrong?",
    "consistency": "Do the copies of the set in use say the same, and are changes told?",
    "elicitation": "Do prompt, settings and tools let each model show what it can?",
    "fairness": "Is no model, language, region or group favoured by choice of questions, references or grader?",
    "contamination": "Is it known whether models have seen the questions and answers?",
}
"""What is judged, and the question behind it."""

CardState = Literal["not_looked_at", "holds", "holds_partly", "does_not_hold"]
"""What a reviewer says of a question's reference and sources."""
FIELDS = ("state", "reason", "by", "on")


def _day_text(value: object) -> object:
    """TOML has days of its own; both forms are taken."""
    is_day = isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
    return str(value) if is_day else value


def _is_day(text: str) -> str:
    try:
        if text:
            datetime.date.fromisoformat(text)
    except ValueError:
        raise ValueError("expected a day such as 2026-11-30") from None
    return text


Day = Annotated[str, BeforeValidator(_day_text), AfterValidator(_is_day)]


class Judgement(StrictRecord):
    """What somebody found; ``on`` is the day. A state without a reason and a name is no finding and is refused."""

    state: CardState = "not_looked_at"
    reason: str = ""
    by: str = ""
    on: Day = ""

    @model_validator(mode="after")
    def _check_reasoned(self) -> Judgement:
        lacking = [name for name in ("reason", "by", "on") if not getattr(self, name).strip()]
        if self.state != "not_looked_at" and lacking:
            raise ValueError(f"expected {', '.join(lacking)} for the state {self.state!r}")
        return self


class ReviewCard(StrictRecord):
    """A card.

    ``audit`` is the folder of an audit, and ``versions`` are two files of questions, old and new, or none; each as seen
    from the card's folder. From these the program fills in what it knows by itself.
    """

    name: Filled
    audit: str = ""
    versions: list[Filled] = Field(default_factory=list)
    reviewability: Judgement = Judgement()
    scoring: Judgement = Judgement()
    consistency: Judgement = Judgement()
    elicitation: Judgement = Judgement()
    fairness: Judgement = Judgement()
    contamination: Judgement = Judgement()

    @field_validator("versions")
    @classmethod
    def _check_two(cls, files: list[str]) -> list[str]:
        if len(files) not in (0, 2):
            raise ValueError("expected two files, old and new, or none")
        return files

    @property
    def judgements(self) -> Mapping[str, Judgement]:
        """Criterion to what was found, in the order of the criteria."""
        return {name: getattr(self, name) for name in CRITERIA}


def read_card(path: Path) -> ReviewCard:
    """The card of a TOML file.

    Raises
    ------
    SetFileError
        If there is none, or it says anything that a card cannot.
    """
    return parse_model(ReviewCard, read_toml(path, SetFileError), path.name, SetFileError)


def write_card(card: ReviewCard, path: Path) -> None:
    """Write a card as a form to fill in, with the questions behind the criteria as comments."""
    data = card.model_dump()
    parts = [f"# state: {', '.join(get_args(CardState))}; all but the first need reason, by and on (a day)\n"]
    parts.append(toml_text({name: data[name] for name in data if name not in CRITERIA}))
    parts += [f"\n# {asked}{toml_text({name: data[name]})}" for name, asked in CRITERIA.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, "".join(parts))


def set_card_values(path: Path, assignments: Sequence[str], *, today: datetime.date) -> ReviewCard:
    """Set values of a card, such as ``scoring.state=holds``, all at once or none; the card as it is then.

    All else in the file stays as it is, comments included. ``versions`` is given twice, old and new, or once without
    a value for none. A criterion that is given a state and no day has today's.

    Raises
    ------
    SetFileError
        If the card cannot be read, a key is unknown or comes twice, the card would not be one any more, or the file is
        written so that no value can be put in its place.
    """
    data: dict[str, Any] = read_card(path).model_dump()
    given = _read_assignments(assignments)
    for name in CRITERIA:
        if f"{name}.state" in given:
            given.setdefault(f"{name}.on", today.isoformat())
    for key, value in given.items():
        table, _, field = key.partition(".")
        data[table] = {**data[table], field: value} if field else value
    card = parse_model(ReviewCard, data, path.name, SetFileError)
    text = replace_values(read_text(path, SetFileError), given)
    if not _says(text, card):
        raise SetFileError(
            f"{path.name}: written so that --set cannot put values in their place; expected a table such as [scoring] "
            "for each criterion, or edit it by hand"
        )
    replace_text(path, text)
    return card


def _says(text: str, card: ReviewCard) -> bool:
    try:
        return ReviewCard.model_validate(tomllib.loads(text)) == card
    except (tomllib.TOMLDecodeError, ValidationError):
        return False


def _read_assignments(assignments: Sequence[str]) -> dict[str, Any]:
    known = {"name", "audit", "versions", *(f"{name}.{field}" for name in CRITERIA for field in FIELDS)}
    found: dict[str, Any] = {}
    problems = []
    for text in assignments:
        key, sign, value = text.partition("=")
        if not sign or key not in known:
            problems.append(
                f"--set {text!r}; expected KEY=VALUE with name, audit, versions, or {', '.join(CRITERIA)} followed by "
                f"{', '.join(f'.{field}' for field in FIELDS)}"
            )
        elif key == "versions":
            found[key] = [*found.get(key, []), *([value] if value else [])]
        elif key in found:
            problems.append(f"--set {text!r}: {key} comes twice; expected once")
        else:
            found[key] = value
    raise_problems(problems, SetFileError)
    return found
