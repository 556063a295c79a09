"""The labels of an audit's sample, from its file and from the labelling page, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from calibration_sets.audit.audit_folder import (
    AUDIT_LABELS,
    LABELS,
    SOUND,
    FileLabel,
    read_audit,
    read_file_labels,
    read_sample,
)
from calibration_sets.curation.question_file import question_digest
from calibration_sets.errors import SetFileError
from calibration_sets.strict import raise_problems

__all__ = ["AuditCounts", "AuditLabel", "count_labels"]


@dataclass(frozen=True, slots=True)
class AuditLabel:
    """What people say of one question together; ``label`` is ``None`` where they differ and nobody has decided.

    ``said`` is what each said alone on the page, as rater and label.
    """

    question_id: str
    question: str
    label: str | None
    evidence: str
    note: str
    said: tuple[tuple[str, str], ...] = ()

    @property
    def differs(self) -> bool:
        """Whether raters gave different labels, decided or not."""
        return len({label for _, label in self.said}) > 1


@dataclass(frozen=True, slots=True)
class AuditCounts:
    """Questions of a sample by label.

    ``n_open`` have none yet, those on which raters differ undecided among them. ``n_without_evidence`` of the
    ``faults``, which are the questions with any label but OK, have no link. ``n_several`` were labelled by several
    people, who gave different labels to ``differing``. ``n_strange`` rows of the file have a label and a question that
    is not of the sample. ``n_unreached`` questions of the set are in topics without a place in the sample.
    """

    n_population: int
    labels: Mapping[str, int]
    n_open: int
    n_without_evidence: int
    faults: tuple[AuditLabel, ...] = ()
    n_several: int = 0
    differing: tuple[AuditLabel, ...] = ()
    n_strange: int = 0
    n_unreached: int = 0


def count_labels(folder: Path, page_labels: Mapping[str, AuditLabel] | None = None) -> AuditCounts:
    """The labels of the sample, counted.

    Parameters
    ----------
    page_labels
        What was said on the labelling page, by digest of the question.

    Raises
    ------
    SetFileError
        If a question has one label in the file and another from the page.
    """
    record = read_audit(folder)
    in_file, on_page = read_file_labels(folder), page_labels or {}
    labels = list(_join(folder, in_file, on_page))
    counts = Counter(one.label for one in labels)
    faults = tuple(one for one in labels if one.label not in (None, SOUND))
    n_drawn = len(set(record.questions))
    return AuditCounts(
        n_population=record.n_population,
        labels={label: counts[label] for label in AUDIT_LABELS},
        n_open=n_drawn - sum(counts[label] for label in AUDIT_LABELS),
        n_without_evidence=sum(not _has_link(one.evidence) for one in faults),
        faults=faults,
        n_several=sum(len(one.said) > 1 for one in labels),
        differing=tuple(one for one in labels if one.differs),
        n_strange=len(in_file.keys() - set(record.questions)),
        n_unreached=record.n_unreached,
    )


def _join(folder: Path, in_file: Mapping[str, FileLabel], on_page: Mapping[str, AuditLabel]) -> Iterator[AuditLabel]:
    """The labels of the sample in its order; the file's words where both have some."""
    problems = []
    for question in read_sample(folder):
        key = question_digest(question)
        row, page = in_file.get(key), on_page.get(key)
        if row and page and row.label != page.label:
            problems.append(
                f"{LABELS}: question {question.question_id!r} is {row.label} here and "
                f"{page.label or 'not decided'} on the page; expected the same, or an empty cell"
            )
        elif row:
            said = page.said if page else ()
            texts = (row.evidence or (page.evidence if page else ""), row.note or (page.note if page else ""))
            yield AuditLabel(question.question_id, question.question, row.label, *texts, said)
        elif page:
            yield page
    raise_problems(problems, SetFileError)


def _has_link(text: str) -> bool:
    return any(word.lower().startswith(("http://", "https://")) for word in text.split())
