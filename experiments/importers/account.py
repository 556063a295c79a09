"""The account of an import: what was read, what it became, and what was left out, with the first example."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from calibration_sets.strict import shorten

__all__ = ["ImportAccount", "Tally"]


@dataclass(slots=True)
class Tally:
    """How often something came, and where first."""

    count: int
    first: str


@dataclass
class ImportAccount:
    """Filled while files are read and stored; printed at the end, and nothing of it is a verdict.

    ``record`` is what the tool calls one of its records, such as ``sample``; ``labels`` says what labels there are.
    """

    record: str = "sample"
    labels: str = "no label of a person"
    n_read: int = 0
    n_answers: int = 0
    n_items: int = 0
    n_questions: int = 0
    n_replies: int = 0
    n_alike: int = 0
    left_out: dict[str, Tally] = field(default_factory=dict)
    notes: dict[str, Tally] = field(default_factory=dict)
    other_verdicts: dict[str, Tally] = field(default_factory=dict)

    def leave_out(self, where: str, reason: str, *, count: int = 1) -> None:
        """Something of the file that becomes neither an item nor a reply."""
        _add(self.left_out, reason, where, count)

    def note(self, where: str, what: str, *, count: int = 1) -> None:
        """Something that a reader of the run should know."""
        _add(self.notes, what, where, count)

    def compare(self, where: str, *, own: str | None, own_label: str | None, read: str | None, why: str) -> None:
        """Hold the tool's own verdict against the one that our parser reads.

        Parameters
        ----------
        own, own_label
            What the tool wrote, and the label that it means, if any.
        read, why
            The label that was read in the reply, or ``None`` and the reason.
        """
        if own is not None and own_label is None:
            self.note(where, f"the tool's verdict {shorten(own)} stands for no label of the scale")
        elif own_label == read:
            self.n_alike += 1
        else:
            told = "none" if own is None else f"{shorten(own)} ({own_label})"
            _add(self.other_verdicts, f"the tool says {told}, we read {read or why}", where, 1)

    def lines(self) -> Iterator[str]:
        """The account as text, one finding a line."""
        yield f"{_count(self.n_read, self.record)} read, {self.n_answers} taken: {self._became()}"
        yield from _listed("left out", self.left_out)
        n_other = sum(tally.count for tally in self.other_verdicts.values())
        if self.n_alike or n_other:
            yield f"the tool's own verdicts against what we read in the replies: {self.n_alike} alike, {n_other} not"
            yield from _listed("not alike", self.other_verdicts)
        yield from _listed("note", self.notes)

    def _became(self) -> str:
        items = f"{_count(self.n_items, 'item')} on {_count(self.n_questions, 'question')}"
        replies = "1 reply" if self.n_replies == 1 else f"{self.n_replies} replies"
        return f"{items}, {replies} of graders; {self.labels}"


def _add(tallies: dict[str, Tally], what: str, where: str, count: int) -> None:
    known = tallies.get(what)
    if known is None:
        tallies[what] = Tally(count, where)
    else:
        known.count += count


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _listed(title: str, tallies: dict[str, Tally]) -> Iterator[str]:
    for what, tally in sorted(tallies.items(), key=lambda entry: (-entry[1].count, entry[0])):
        yield f"  {title}: {tally.count} x {what}; first {tally.first}"
