"""Answers of a file gathered into items and graders' replies; the replies wait on disk until all is read."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import Item
from calibration_sets.records import default_cluster
from calibration_sets.references.reference_parser import parse_reference
from experiments.importers.account import ImportAccount
from experiments.importers.answers import GraderReply, ImportedAnswer, ImportedGrader
from experiments.importers.labelling import Labelling
from experiments.store.completion_records import dump_completion, load_completion
from graders.parsing import parse_completion
from graders.verdict import CallFailure, Completion

__all__ = ["Gathered", "Part", "StoredReply", "gather"]

_NO_PLAIN_TEXT = re.compile("[\ud800-\udfff\x00]")


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A reply under the key that it is to be stored under."""

    grader: ImportedGrader
    digest: str
    repeat: int
    answer: Completion | CallFailure


@dataclass
class Part:
    """Items that the same graders judged, in the order of the file, and how many replies each has of each grader."""

    items: dict[str, Item] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    n_replies: dict[ImportedGrader, Counter[str]] = field(default_factory=dict)

    def repeats(self, grader: ImportedGrader) -> int:
        """The replies that every item which the grader judged has of it."""
        return min(self.n_replies[grader].values())


class Gathered:
    """All parts, with the replies in a scratch file that is gone at the end of the ``with`` statement."""

    def __init__(self) -> None:
        self.parts: dict[str, Part] = {}
        self._file = tempfile.TemporaryFile("w+", encoding="ascii")  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def keep(self, part: str, reply: StoredReply) -> None:
        """Put a reply aside."""
        answer = reply.answer
        said = dump_completion(answer) if isinstance(answer, Completion) else [answer.reason, answer.message]
        grader = reply.grader
        row = [part, [grader.name, grader.model, grader.template], reply.digest, reply.repeat, said]
        self._file.write(f"{json.dumps(row)}\n")

    def replies(self, part: str) -> Iterator[StoredReply]:
        """The replies of a part, one at a time, in the order of the file."""
        self._file.seek(0)
        for line in self._file:
            owner, grader, digest, repeat, said = json.loads(line)
            if owner == part:
                answer = load_completion(said) if isinstance(said, str) else CallFailure(*said)
                yield StoredReply(ImportedGrader(*grader), digest, repeat, answer)


def gather(
    answers: Iterable[ImportedAnswer],
    gathered: Gathered,
    account: ImportAccount,
    labelling: Labelling,
    *,
    calibration_set: CalibrationSet | None = None,
) -> None:
    """Take every answer: equal content is one item, whose further replies are repeats.

    What can be no item of a set (no question, no reference, text that is not Unicode), or is none of the
    ``calibration_set``, is left out with its replies.
    """
    known = None if calibration_set is None else {item.digest: item for item in calibration_set.items}
    for answer in answers:
        reason = _unusable(answer)
        built = _build_item(answer, answer.item_id) if reason is None else None
        if built is None or (known is not None and built.digest not in known):
            account.leave_out(answer.where, reason or "a response that is none of the set's, or other than there")
            continue
        part = gathered.parts.setdefault(answer.part, Part())
        item = _take_item(answer, built if known is None else known[built.digest], part, account)
        account.n_answers += 1
        for reply in answer.replies:
            counts = part.n_replies.setdefault(reply.grader, Counter())
            gathered.keep(answer.part, StoredReply(reply.grader, item.digest, counts[item.digest], reply.answer))
            counts[item.digest] += 1
            _compare(answer.where, reply, account, labelling)
    account.n_items = sum(len(part.items) for part in gathered.parts.values())
    clusters = {item.cluster_id for part in gathered.parts.values() for item in part.items.values()}
    account.n_questions = len(clusters)


def _unusable(answer: ImportedAnswer) -> str | None:
    texts = (answer.question, answer.reference, *answer.aliases, answer.response, answer.item_id, answer.respondent)
    if any(map(_NO_PLAIN_TEXT.search, texts)):
        return "a text that holds half a surrogate pair or a null character"
    if not answer.question.strip():
        return "no question"
    if not answer.reference.strip():
        return "no reference: an item needs what its response is held against"
    return None


def _take_item(answer: ImportedAnswer, item: Item, part: Part, account: ImportAccount) -> Item:
    known = part.items.get(item.digest)
    if known is not None:
        what = "the same question, reference and response as an earlier one: one item, whose replies are repeats"
        account.note(answer.where, what)
        return known
    if item.item_id in part.ids:
        account.note(answer.where, "an id that another item has: numbered on")
        item = replace(item, item_id=_free_id(item.item_id, part.ids))
    part.ids.add(item.item_id)
    part.items[item.digest] = item
    return item


def _build_item(answer: ImportedAnswer, item_id: str) -> Item:
    return Item(
        item_id=item_id.strip() or "item",
        question=answer.question,
        reference=parse_reference(answer.reference, [alias for alias in answer.aliases if alias.strip()]),
        response=answer.response,
        cluster_id=default_cluster(answer.question),
        respondent=answer.respondent.strip() or None,
        metadata=dict(answer.metadata),
    )


def _free_id(wanted: str, taken: set[str]) -> str:
    number = 2
    while f"{wanted}~{number}" in taken:
        number += 1
    return f"{wanted}~{number}"


def _compare(where: str, reply: GraderReply, account: ImportAccount, labelling: Labelling) -> None:
    """Only where both read the same reply: a stated verdict is the tool's own."""
    answer = reply.answer
    if not isinstance(answer, Completion):
        account.note(where, f"a grader's call without a reply ({answer.reason}): counts as not answered")
        return
    account.n_replies += 1
    if not reply.is_judged or answer.stated_label is not None or answer.stated_failure is not None:
        return
    read = parse_completion(answer, labelling.scale, "word")
    own_label = labelling.label_of(reply.own)
    account.compare(where, own=reply.own, own_label=own_label, read=read.label, why=str(read.failure))
