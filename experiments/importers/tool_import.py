"""Another tool's files into a run of the store, or into the folder of a set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import content_digest
from calibration_sets.records import SetHeader
from calibration_sets.strict import shorten
from calibration_sets.writer import write_set
from experiments.errors import ImportFileError
from experiments.importers.account import ImportAccount
from experiments.importers.answers import ImportedGrader, ReadFiles
from experiments.importers.gathering import Gathered, Part, gather
from experiments.importers.labelling import Labelling
from experiments.importers.source_files import digest_files
from experiments.specs.experiment import Analyses, check_run_name
from experiments.specs.grader_reading import GraderRecord
from experiments.store.run_records import write_run
from experiments.store.run_store import CompletionKey, RunStore
from experiments.store.set_snapshot import identify_set
from graders.verdict import CallFailure, Completion

__all__ = ["NO_RUBRIC", "ToolImport", "import_runs", "import_set"]

NO_RUBRIC = "unstated@1.0.0"
"""The rubric of a set whose file tells none."""

_AT_A_TIME = 1000
_UNKNOWN_SAMPLING = dict.fromkeys(("temperature", "seed", "max_tokens", "constrained", "channel"))


@dataclass(frozen=True, slots=True)
class ToolImport:
    """What is to be read, and how.

    ``repeats`` is how many replies an item is to have of a grader; ``None`` takes as many as every item has.
    ``calibration_set`` is the set that the replies are about; ``None`` makes one of the responses, without labels.
    ``asked_by`` are further files that decide what the replies are about, such as a batch's input.
    """

    tool: str
    files: Sequence[Path]
    read: ReadFiles
    labelling: Labelling
    name: str
    rubric: str = NO_RUBRIC
    licence: str = "unstated"
    repeats: int | None = None
    calibration_set: CalibrationSet | None = None
    asked_by: Sequence[Path] = ()

    def __post_init__(self) -> None:
        try:
            check_run_name(self.name)
        except ValueError as error:
            raise ImportFileError(f"--name: {shorten(self.name)}; {error}") from error
        if self.repeats is not None and self.repeats < 1:
            raise ImportFileError(f"--repeats: {self.repeats}; expected 1 or more")
        if not self.files:
            raise ImportFileError(f"{self.tool}: no file; expected at least one")


def import_runs(wanted: ToolImport, store: RunStore, account: ImportAccount) -> list[str]:
    """Store the replies as completions and record the runs that they make; return their ids.

    Importing the same files again, in whatever order, changes nothing: what a grader's id covers is the files'
    content. Nothing is stored before all is read.

    Raises
    ------
    ImportFileError
        If a file is not what it should be, or holds no reply of a grader.
    """
    found = digest_files(wanted.files)
    source = content_digest([*found, *digest_files(wanted.asked_by)])
    with Gathered() as gathered:
        answers = wanted.read(list(found.values()), account)
        gather(answers, gathered, account, wanted.labelling, calibration_set=wanted.calibration_set)
        if not any(part.n_replies for part in gathered.parts.values()):
            raise ImportFileError(f"{_named(wanted.files)}: no reply of a grader; {_expected(account)}")
        return [
            _record(wanted, store, account, gathered, title, source)
            for title, part in gathered.parts.items()
            if part.n_replies
        ]


def import_set(wanted: ToolImport, folder: Path, account: ImportAccount) -> CalibrationSet:
    """Write the responses of the files as a set without labels.

    Raises
    ------
    ImportFileError
        If a file is not what it should be, or holds no response.
    calibration_sets.errors.SetFileError
        If the folder is not empty.
    """
    with Gathered() as gathered:
        gather(wanted.read(list(digest_files(wanted.files).values()), account), gathered, account, wanted.labelling)
        if not gathered.parts:
            raise ImportFileError(f"{_named(wanted.files)}: no response to take; {_expected(account)}")
        whole = _join(gathered.parts.values())
    found = _build_set(wanted, whole, folder.resolve().name)
    write_set(found, folder)
    return found


def _join(parts: Iterable[Part]) -> Part:
    """All items once; an id that another content has is told apart by its digest."""
    whole = Part()
    for item in (item for part in parts for item in part.items.values() if item.digest not in whole.items):
        is_taken = item.item_id in whole.ids
        taken = replace(item, item_id=f"{item.item_id}~{item.digest[:8]}") if is_taken else item
        whole.ids.add(taken.item_id)
        whole.items[item.digest] = taken
    return whole


def _record(
    wanted: ToolImport, store: RunStore, account: ImportAccount, gathered: Gathered, title: str, source: str
) -> str:
    part = gathered.parts[title]
    run_name = f"{wanted.name}-{title}" if title and len(gathered.parts) > 1 else wanted.name
    calibration_set = wanted.calibration_set or _build_set(wanted, part, run_name)
    records = {grader: _describe(wanted, grader, part, title, source) for grader in sorted(part.n_replies)}
    _tell_uneven(records, part, account, len(calibration_set.items))
    _store_replies(store, gathered, title, records)
    ids = [[record.grader_id, record.sampling["repeats"]] for record in records.values()]
    run_id = f"{run_name}-{content_digest([dict(identify_set(calibration_set)), ids])[:8]}"
    write_run(
        store,
        run_id=run_id,
        name=run_name,
        calibration_set=calibration_set,
        n_items_in_set=len(calibration_set.items),
        set_digest=calibration_set.digest,
        graders=list(records.values()),
        analyses=Analyses(),
    )
    return run_id


def _build_set(wanted: ToolImport, part: Part, name: str) -> CalibrationSet:
    header = SetHeader(
        name=name,
        version="1.0.0",
        rubric=wanted.rubric,
        scale=wanted.labelling.scale,
        label_source="human",
        licence=wanted.licence,
        source=f"{wanted.tool}: {_named(wanted.files)}",
        description=f"Responses recorded by {wanted.tool}; no labels of people.",
    )
    return header.with_content(tuple(part.items.values()), ())


def _describe(wanted: ToolImport, grader: ImportedGrader, part: Part, title: str, source: str) -> GraderRecord:
    """An imported grader is its replies in these files: its sampling is not known."""
    scale = wanted.labelling.scale
    spelt = [[label, *scale.words.get(label, ()), scale.letters.get(label, "")] for label in scale.labels]
    identity = ["imported", wanted.tool, grader.name, grader.model, grader.template, title, source, spelt]
    return GraderRecord(
        grader_id=content_digest(identity)[:16],
        model=f"imported/{grader.model}",
        prompt=grader.title(wanted.tool),
        rubric=None,
        channel="word",
        scale=scale,
        sampling={**_UNKNOWN_SAMPLING, "repeats": wanted.repeats or part.repeats(grader)},
    )


def _tell_uneven(records: dict[ImportedGrader, GraderRecord], part: Part, account: ImportAccount, n_items: int) -> None:
    for grader, record in records.items():
        counts, repeats = part.n_replies[grader], record.sampling["repeats"]
        surplus = sum(max(0, count - repeats) for count in counts.values())
        short = sum(max(0, repeats - count) for count in counts.values())
        if surplus:
            reason = f"a reply beyond the {repeats} that every item has (--repeats takes more of each)"
            account.leave_out(f"grader {grader.name}", reason, count=surplus)
        if short:
            account.note(f"grader {grader.name}", f"a reply missing to {repeats} repeats: not answered", count=short)
        if len(counts) < n_items:
            what = "an item that this grader was not asked about: not answered"
            account.note(f"grader {grader.name}", what, count=n_items - len(counts))


def _store_replies(
    store: RunStore, gathered: Gathered, title: str, records: dict[ImportedGrader, GraderRecord]
) -> None:
    """Some replies at a time; a failed call that is in the store from an earlier import is not written again."""
    failed = {grader: set(store.call_failures(record.grader_id)) for grader, record in records.items()}
    waiting: dict[ImportedGrader, list[tuple[CompletionKey, Completion | CallFailure]]] = defaultdict(list)
    for reply in gathered.replies(title):
        record, key = records[reply.grader], CompletionKey(reply.digest, reply.repeat)
        is_known = isinstance(reply.answer, CallFailure) and key in failed[reply.grader]
        if reply.repeat < record.sampling["repeats"] and not is_known:
            waiting[reply.grader].append((key, reply.answer))
        if len(waiting[reply.grader]) >= _AT_A_TIME:
            store.append_many(record.grader_id, waiting.pop(reply.grader))
    for grader, rest in waiting.items():
        store.append_many(records[grader].grader_id, rest)


def _named(files: Sequence[Path]) -> str:
    names = sorted(path.name for path in files)
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _expected(account: ImportAccount) -> str:
    told = "; ".join(_first_lines(account))
    return f"{told or 'nothing was in it'}; expected at least one"


def _first_lines(account: ImportAccount) -> Iterator[str]:
    tallies = sorted((account.left_out | account.notes).items(), key=lambda entry: -entry[1].count)
    for what, tally in tallies[:3]:
        yield f"{tally.count} x {what}"
