"""Stage 8: ranges for numbers are proposed by class; a reference gets one only when a person has confirmed it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from calibration_sets.curation.number_classes import NumberClass, ProposedRange, classify_number, propose_range
from calibration_sets.curation.question_file import question_digest
from calibration_sets.curation.review_file import Cells, ReviewFile
from calibration_sets.curation.settings import RangeSettings
from calibration_sets.curation.single_number import read_single_number
from calibration_sets.curation.stage_result import Change, StageResult
from calibration_sets.errors import SetFileError
from calibration_sets.question import Question
from calibration_sets.references.reference import Reference
from calibration_sets.references.reference_parser import parse_reference

__all__ = ["RangeProposal", "apply_confirmed_ranges", "propose_ranges", "range_review"]


@dataclass(frozen=True, slots=True)
class RangeProposal:
    """A numeric question, the class of its number (``None``: not plainly one), and the range proposed, if one is."""

    question: Question
    number_class: NumberClass | None
    proposed: ProposedRange | None

    @property
    def reference(self) -> str:
        """The reference with the proposed range; empty where none is proposed."""
        return _with_range(self.question.reference, self.proposed) if self.proposed else ""

    def cells(self) -> Cells:
        """The proposal as people see it."""
        return {
            "key": question_digest(self.question),
            "question_id": self.question.question_id,
            "question": self.question.question,
            "reference": self.question.reference.text,
            "class": self.number_class or "unclear",
            "proposed_reference": self.reference,
        }


def range_review(folder: Path) -> ReviewFile:
    """The file in which people confirm proposals, or write a reference with a range of their own."""
    return ReviewFile(
        folder / "ranges.csv",
        shown=("question_id", "question", "reference", "class", "proposed_reference"),
        filled=("decision", "own_reference", "note"),
        choices={"decision": ("confirm", "reject", "own")},
    )


def propose_ranges(
    questions: Sequence[Question], settings: RangeSettings, *, numeric_types: Sequence[str]
) -> tuple[RangeProposal, ...]:
    """One proposal for each numeric question that carries no range yet."""
    return tuple(
        _propose(question, settings)
        for question in questions
        if question.answer_type in numeric_types and not question.reference.ranges
    )


def _propose(question: Question, settings: RangeSettings) -> RangeProposal:
    quantity = read_single_number(question.reference.answer)
    if quantity is None:
        return RangeProposal(question, None, None)
    number_class = classify_number(question.question, quantity, settings)
    proposed = propose_range(quantity, number_class, settings)
    if proposed and not _reads_back(_with_range(question.reference, proposed), proposed):
        # A scale word or a power of ten: the range cannot be said in plain digits beside it.
        return RangeProposal(question, number_class, None)
    return RangeProposal(question, number_class, proposed)


def _with_range(reference: Reference, proposed: ProposedRange) -> str:
    return f"{reference.answer} (acceptable range: anything between {proposed.low:f} and {proposed.high:f})"


def _reads_back(text: str, proposed: ProposedRange) -> bool:
    ranges = parse_reference(text).ranges
    return len(ranges) == 1 and (ranges[0].low, ranges[0].high) == (proposed.low, proposed.high)


def apply_confirmed_ranges(
    questions: Sequence[Question], review: ReviewFile, settings: RangeSettings, *, numeric_types: Sequence[str]
) -> StageResult:
    """Write the proposals for people, and give the references that they decided on their ranges; nothing is dropped.

    Raises
    ------
    SetFileError
        If a confirmed row proposes nothing, or a reference of one's own has no range that can be read.
    """
    proposals = propose_ranges(questions, settings, numeric_types=numeric_types)
    review.write(proposal.cells() for proposal in proposals)
    changes = dict(_changes(proposals, review.read(), review.path.name))
    kept = tuple(
        replace(one, reference=parse_reference(changes[one.question_id].after, one.reference.extra_aliases))
        if one.question_id in changes
        else one
        for one in questions
    )
    strays = review.tell_strays(question_digest(proposal.question) for proposal in proposals)
    return StageResult(kept, changes=tuple(changes.values()), notes=(_told(proposals, review), *strays))


def _changes(
    proposals: Sequence[RangeProposal], decided: Mapping[str, Cells], file: str
) -> Iterator[tuple[str, Change]]:
    for proposal in proposals:
        cells = decided.get(question_digest(proposal.question), {})
        if cells.get("decision") not in {"confirm", "own"}:
            continue
        name, confirmed = proposal.question.question_id, cells["decision"] == "confirm"
        text = proposal.reference if confirmed else cells["own_reference"]
        if not parse_reference(text).ranges:
            where = "nothing is proposed" if confirmed else f"own_reference {text!r}"
            raise SetFileError(
                f"{file}: {name}: {where}; expected one such as '120 (acceptable range: anything between 118 and 122)'"
            )
        yield name, Change(name, proposal.question.reference.text, text, "confirmed" if confirmed else "own range")


def _told(proposals: Sequence[RangeProposal], review: ReviewFile) -> str:
    decided = review.read()
    offered = [proposal for proposal in proposals if proposal.proposed]
    n_open = sum(not decided.get(question_digest(one.question), {}).get("decision") for one in offered)
    classes = Counter(proposal.number_class or "unclear" for proposal in proposals)
    told = ", ".join(f"{name} {count}" for name, count in sorted(classes.items()))
    return (
        f"{len(offered)} ranges proposed in {review.path.name}, {n_open} not decided yet; "
        f"numbers by class: {told or 'none'}"
    )
