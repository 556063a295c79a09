"""Logs of Inspect, read by inspect-ai's own reader, one sample at a time.

A sample becomes an item: its input the question, its target the reference (further targets are aliases), the model's
answer the response, the evaluated model the respondent. Each epoch has its own response, and so is an item of its own
on the same question; epochs with the very same response are one item, and their graders' replies are repeats.

A scorer's replies are the model calls of its span of events; of older logs, the last message of the ``grading``
metadata that Inspect's model-graded scorers leave; else, for those scorers alone, the explanation. A scorer of
somebody's own that asks one model several times in a sample is left: nobody says which reply is its verdict.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibration_sets.item import content_digest
from calibration_sets.strict import shorten
from experiments.errors import ImportFileError
from experiments.importers.account import ImportAccount
from experiments.importers.answers import GraderReply, ImportedAnswer, ImportedGrader
from experiments.importers.inspect_scores import MODEL_GRADED, calls_by_scorer, read_scorer
from graders.errors import MissingDependencyError
from graders.verdict import CallFailure

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

__all__ = ["InspectReader"]

_CUT_OFF = ("content_filter", "max_tokens", "model_length")
_EXPECTED = "a log of Inspect (.eval or .json)"


@dataclass(frozen=True, slots=True)
class InspectReader:
    """Reads logs; ``scorers`` are the names of the scorers to take, all that a model grades where it is empty."""

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
        for path in files:
            yield from self._read_log(path, account)

    def _read_log(self, path: Path, account: ImportAccount) -> Iterator[ImportedAnswer]:
        from inspect_ai.log import read_eval_log

        with _named(path):
            header = read_eval_log(str(path), header_only=True)
        log = _Log.of(path, header)
        self._check_scorers(log)
        n_samples = 0
        for sample in _samples(path, header):
            n_samples += 1
            account.n_read += 1
            answer = self._read_sample(sample, log, account)
            if answer is not None:
                yield answer
        if n_samples < log.n_expected:
            reason = f"a sample that is not in the log, whose status is {header.status}"
            account.n_read += log.n_expected - n_samples
            account.leave_out(path.name, reason, count=log.n_expected - n_samples)

    def _check_scorers(self, log: _Log) -> None:
        unknown = [name for name in self.scorers if log.scorers and name not in log.scorers]
        if unknown:
            known = ", ".join(log.scorers)
            raise ImportFileError(f"--scorer: {unknown[0]!r} is none of {log.file}'s; expected one of {known}")

    def _read_sample(self, sample: EvalSample, log: _Log, account: ImportAccount) -> ImportedAnswer | None:
        where = f"{log.file}: sample {sample.id}, epoch {sample.epoch}"
        reason = _unusable(sample)
        if reason is not None:
            account.leave_out(where, reason)
            return None
        if sample.limit is not None:
            account.note(where, f"a sample that its {sample.limit.type} limit stopped: taken as far as it answered")
        if sample.output.stop_reason in _CUT_OFF:
            account.note(where, f"an answer that ended by {sample.output.stop_reason}: taken as it is")
        targets = [sample.target] if isinstance(sample.target, str) else list(sample.target)
        return ImportedAnswer(
            where=where,
            item_id=f"{log.model}/{sample.id}/{sample.epoch}",
            question=_question(sample),
            reference=targets[0] if targets else "",
            aliases=targets[1:],
            response=sample.output.completion,
            respondent=log.model,
            replies=list(self._replies(sample, log, where, account)),
        )

    def _replies(self, sample: EvalSample, log: _Log, where: str, account: ImportAccount) -> Iterator[GraderReply]:
        scores, calls = sample.scores or {}, calls_by_scorer(sample)
        for name in dict.fromkeys([*log.graded_scorers, *scores, *calls]):
            if self.scorers and name not in self.scorers:
                account.note(where, f"scorer {name} was not asked for (--scorer)")
                continue
            found = read_scorer(name, scores.get(name), calls.get(name, ()), log.grader)
            if found:
                yield from found
            elif name in log.graded_scorers:
                yield GraderReply(log.grader(name, None), CallFailure("no_score", "the log has no score"))
            else:
                account.note(where, f"scorer {name} has no model's reply that is its verdict: its scores are not taken")


@dataclass(frozen=True, slots=True)
class _Log:
    """What of a log's header is needed beside a sample."""

    file: str
    model: str
    version: str
    n_expected: int
    scorers: Mapping[str, Mapping[str, Any]]
    roles: Mapping[str, str]

    @classmethod
    def of(cls, path: Path, header: EvalLog) -> _Log:
        spec = header.eval
        ids = spec.dataset.sample_ids or []
        return cls(
            file=path.name,
            model=spec.model,
            version=spec.packages.get("inspect_ai", ""),
            n_expected=len(ids) * (spec.config.epochs or 1),
            scorers={scorer.name: scorer.options or {} for scorer in spec.scorers or []},
            roles={
                role: ", ".join(one.model for one in (config if isinstance(config, list) else [config]))
                for role, config in (spec.model_roles or {}).items()
            },
        )

    @property
    def graded_scorers(self) -> list[str]:
        return [name for name in self.scorers if MODEL_GRADED in name]

    def grader(self, name: str, model: str | None) -> ImportedGrader:
        """Named by its scorer; what decides its prompts is the scorer's options and the version of Inspect."""
        options = {key: value for key, value in self.scorers.get(name, {}).items() if key != "model"}
        template = content_digest([name, _options_text(options), self.version])
        return ImportedGrader(name, model or self._model(name), template)

    def _model(self, name: str) -> str:
        given = self.scorers.get(name, {}).get("model")
        if isinstance(given, Mapping):
            given = given.get("model")
        return str(given) if isinstance(given, str) else self.roles.get("grader", self.model)


def _options_text(value: object) -> str:
    """Options as text, in an order of their own."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_options_text(value[key])}" for key in sorted(value, key=str)) + "}"
    return repr(value)


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
    if sample.error is not None:
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


def _question(sample: EvalSample) -> str:
    if isinstance(sample.input, str):
        question = sample.input
    elif len(sample.input) == 1:
        question = sample.input[0].text
    else:
        question = "\n\n".join(f"{message.role}: {message.text}" for message in sample.input)
    letters = zip(string.ascii_uppercase, sample.choices or [], strict=False)
    return "\n".join([question, *(f"{letter}) {choice}" for letter, choice in letters)])
