"""Logs of Inspect, read by inspect-ai's own reader, one sample at a time.

A sample becomes an item: its input the question, its target the reference (further targets are aliases), the model's
answer the response, the evaluated model the respondent. Each epoch has its own response, and so is an item of its own
on the same question; epochs with the very same response are one item, and their graders' replies are repeats.

A scorer's replies are the model calls of its span of events; of older logs, the last message of the ``grading``
metadata that Inspect's model-graded scorers leave; else, for those scorers alone, the explanation. A scorer of
somebody's own that asks several times in a sample is left: nobody says which reply is its verdict. Our own scorer
keeps the reply and the verdict of each repeat.

A sample that a grader's error ended has its answer, and is taken with that failure. Logs share samples where an eval
was retried or scored again: what an earlier log brought is not taken twice.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from calibration_sets.item import content_digest
from calibration_sets.strict import shorten
from experiments.errors import ImportFileError
from experiments.importers.account import ImportAccount
from experiments.importers.answers import GraderReply, ImportedAnswer
from experiments.importers.inspect_header import LogHeader
from experiments.importers.inspect_scores import calls_by_scorer, is_being_scored, is_own_score, read_scorer
from experiments.importers.labelling import Labelling
from graders.errors import MissingDependencyError
from graders.verdict import CallFailure

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import ChatMessage
    from inspect_ai.scorer import Score

__all__ = ["InspectReader"]

_CUT_OFF = ("content_filter", "max_tokens", "model_length")
_EXPECTED = "a log of Inspect (.eval or .json)"
_Scorers = Mapping[str, "tuple[Score | None, Sequence[ModelEvent]]"]


@dataclass(frozen=True, slots=True)
class _Known:
    """What of the logs has been taken.

    ``samples`` goes from a sample of a task, which retries and scored copies share, to what its scorers said;
    ``stored`` are the replies of our own scorer.
    """

    samples: dict[tuple[str, str, int], set[str]] = field(default_factory=dict)
    stored: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class InspectReader:
    """Reads logs.

    ``labelling`` is what the verdicts of our own scorer are held against, whose replies are not read again;
    ``scorers`` are the names of the scorers to take, all that a model grades where it is empty.
    """

    labelling: Labelling
    scorers: Sequence[str] = ()

    def __call__(self, files: Sequence[Path], account: ImportAccount) -> Iterator[ImportedAnswer]:
        """Every sample of every log that can be an item.

        Raises
        ------
        MissingDependencyError
            If inspect-ai is not installed.
        ImportFileError
            If a file is no log, or none of its scorers has a name that was asked for.
        """
        _check_installed()
        known = _Known()
        # The latest first, so that a retry stands before what it ran again.
        headers = [(path, _read_header(path)) for path in files]
        for path, header in sorted(headers, key=lambda pair: pair[1].eval.created, reverse=True):
            yield from self._read_log(path, header, account, known)

    def _read_log(self, path: Path, header: EvalLog, account: ImportAccount, known: _Known) -> Iterator[ImportedAnswer]:
        log = LogHeader.of(path, header)
        self._check_scorers(log)
        n_samples = 0
        for sample in _samples(path, header):
            n_samples += 1
            account.n_read += 1
            answer = self._read_sample(sample, log, account, known)
            if answer is not None:
                yield answer
        if n_samples < log.n_expected:
            reason = f"a sample that is not in the log, whose status is {header.status}"
            account.n_read += log.n_expected - n_samples
            account.leave_out(path.name, reason, count=log.n_expected - n_samples)

    def _check_scorers(self, log: LogHeader) -> None:
        for wanted in self.scorers:
            if log.scorers and not any(log.is_named(name, wanted) for name in log.scorers):
                known = ", ".join(log.scorers)
                raise ImportFileError(f"--scorer: {wanted!r} is none of {log.file}'s; expected one of {known}")

    def _read_sample(
        self, sample: EvalSample, log: LogHeader, account: ImportAccount, known: _Known
    ) -> ImportedAnswer | None:
        where = f"{log.file}: sample {sample.id}, epoch {sample.epoch}"
        reason = _unusable(sample)
        if reason is not None:
            account.leave_out(where, reason)
            return None
        found, is_copy = _new_scorers(sample, known.samples.setdefault((log.task, str(sample.id), sample.epoch), set()))
        if is_copy and (not found or sample.error is not None):
            account.leave_out(where, "a sample that a later log of the same run has: a retry, or the same scores")
            return None
        _note_ends(sample, where, account)
        targets = [sample.target] if isinstance(sample.target, str) else list(sample.target)
        return ImportedAnswer(
            where=where,
            item_id=f"{log.model}/{sample.id}/{sample.epoch}",
            question=_question(sample),
            reference=targets[0] if targets else "",
            aliases=targets[1:],
            response=sample.output.completion,
            respondent=log.model,
            replies=list(self._replies(found, log, where, account, known.stored, is_copy=is_copy)),
        )

    def _replies(
        self,
        found: _Scorers,
        log: LogHeader,
        where: str,
        account: ImportAccount,
        stored: set[str],
        *,
        is_copy: bool,
    ) -> Iterator[GraderReply]:
        expected = [] if is_copy else [name for name in log.scorers if log.is_model_graded(name)]
        for name in dict.fromkeys([*expected, *found]):
            if self.scorers and not any(log.is_named(name, wanted) for wanted in self.scorers):
                account.note(where, f"scorer {name} was not asked for (--scorer)")
                continue
            score, calls = found.get(name, (None, []))
            replies = read_scorer(name, score, calls, log, self.labelling, stored=stored)
            if replies:
                yield from replies
            elif score is not None and is_own_score(score):
                account.note(where, f"scorer {name} gave the replies that it had of the same content: taken once")
            elif log.is_model_graded(name):
                told = "the log has no score" if score is None else "the log has a score, and no reply"
                yield GraderReply(
                    log.grader(name, None), CallFailure("no_score" if score is None else "no_reply", told)
                )
            else:
                account.note(where, f"scorer {name} has no model's reply that is its verdict: its scores are not taken")


def _check_installed() -> None:
    try:
        import inspect_ai.log  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            "inspect-ai: not installed; expected it for logs of Inspect: pip install 'autorater-calibration[inspect]'"
        ) from error


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """What inspect-ai raises for a file that is no log, in our form; it has no error of its own for that."""
    try:
        yield
    except (ImportFileError, MissingDependencyError):
        raise
    except OSError as error:
        raise ImportFileError(f"{path}: {error.strerror or error}; expected {_EXPECTED}") from error
    except Exception as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise ImportFileError(f"{path.name}: cannot be read as a log ({told}); expected {_EXPECTED}") from error


def _read_header(path: Path) -> EvalLog:
    from inspect_ai.log import read_eval_log

    with _named(path):
        return read_eval_log(str(path), header_only=True)


def _samples(path: Path, header: EvalLog) -> Iterator[EvalSample]:
    from inspect_ai.log import read_eval_log, read_eval_log_samples

    with _named(path):
        if path.suffix == ".json" or header.eval.dataset.sample_ids is None:
            samples = iter(read_eval_log(str(path), resolve_attachments=True).samples or [])
        else:
            samples = read_eval_log_samples(str(path), all_samples_required=False, resolve_attachments=True)
    while True:
        with _named(path):
            sample = next(samples, None)
        if sample is None:
            return
        yield sample


def _unusable(sample: EvalSample) -> str | None:
    if sample.error is not None and not is_being_scored(sample):
        return f"a sample that ended in an error: {shorten(sample.error.message.partition('(')[0])}"
    if sample.invalidation is not None:
        return "a sample that was declared invalid"
    if not sample.output.choices:
        stopped = f", stopped by its {sample.limit.type} limit" if sample.limit is not None else ""
        return f"a sample without an answer{stopped}"
    if not isinstance(sample.input, str) and any(not isinstance(one.content, str) for one in sample.input):
        parts = [part for one in sample.input if not isinstance(one.content, str) for part in one.content]
        if any(part.type != "text" for part in parts):
            return "an input that is not text alone"
    return None


def _note_ends(sample: EvalSample, where: str, account: ImportAccount) -> None:
    if sample.error is not None:
        account.note(where, "a sample that an error ended while it was scored: taken with its answer")
    if sample.limit is not None:
        account.note(where, f"a sample that its {sample.limit.type} limit stopped: taken as far as it answered")
    if sample.output.stop_reason in _CUT_OFF:
        account.note(where, f"an answer that ended by {sample.output.stop_reason}: taken as it is")


def _new_scorers(sample: EvalSample, known: set[str]) -> tuple[_Scorers, bool]:
    """Each scorer's score and calls, without those that a later log has; and whether one has the sample.

    ``known`` is added to.
    """
    scores, calls = sample.scores or {}, calls_by_scorer(sample)
    found = {name: (scores.get(name), calls.get(name, [])) for name in dict.fromkeys([*scores, *calls])}
    origins = {name: _origin(name, *traces) for name, traces in found.items()}
    new = {name: traces for name, traces in found.items() if origins[name] not in known}
    is_copy = bool(known)
    known |= {"taken", *origins.values()}
    return new, is_copy


def _origin(name: str, score: Score | None, calls: Sequence[ModelEvent]) -> str:
    """What a copy of a scorer's work keeps: the ids of its calls, or what it says."""
    ids = [call.uuid for call in calls]
    told = None if score is None else [str(score.value), score.explanation, repr(score.metadata)]
    return content_digest([name, ids if ids and all(ids) else told])


def _question(sample: EvalSample) -> str:
    if isinstance(sample.input, str):
        question = sample.input
    elif len(sample.input) == 1:
        question = sample.input[0].text
    else:
        question = "\n\n".join(f"{message.role}: {_spoken(message)}" for message in sample.input)
    letters = zip(string.ascii_uppercase, sample.choices or [], strict=False)
    return "\n".join([question, *(f"{letter}) {choice}" for letter, choice in letters)])


def _spoken(message: ChatMessage) -> str:
    """The text of a message, and the calls of tools that it makes."""
    calls = (message.tool_calls or []) if message.role == "assistant" else []
    asked = [f"{call.function}({json.dumps(call.arguments, ensure_ascii=False, sort_keys=True)})" for call in calls]
    return " ".join(part for part in (message.text, *asked) if part)
