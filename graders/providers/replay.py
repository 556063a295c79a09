"""``replay/FILE``: recorded completions, given again.

A recording is a JSONL file, one answer a line. ``digest`` is the item's digest, or ``item`` its digest
or its id (by its id, an answer is also taken for an item that was reworded since); ``repeat`` says
which of its repeats. Then comes ``text`` with what else is known of the completion, or ``failure``
with ``reason`` and ``message``. ``seconds`` is how long the answer took; a replay waits as long.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from graders.client import Answer, Request
from graders.errors import RecordingError
from graders.verdict import CallFailure, Completion, Failure, Usage

__all__ = ["Recorded", "ReplayClient", "read_recording", "recording_digest", "write_recording"]

SERVED_MODEL = "replay"
"""Named as the answering model where a recording does not say which it was."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded answer: which item (by digest), which repeat, what came, after how many seconds."""

    digest: str
    repeat: int
    answer: Completion | CallFailure
    seconds: float = 0.0


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class _UsageField(_Strict):
    input_tokens: int | None = Field(default=None, ge=0, lt=10**12)
    output_tokens: int | None = Field(default=None, ge=0, lt=10**12)
    cached_tokens: int | None = Field(default=None, ge=0, lt=10**12)
    cache_write_tokens: int | None = Field(default=None, ge=0, lt=10**12)
    reasoning_tokens: int | None = Field(default=None, ge=0, lt=10**12)

    def usage(self) -> Usage:
        return Usage(**self.model_dump())


class _FailureField(_Strict):
    reason: str = Field(min_length=1)
    message: str = ""
    usage: _UsageField | None = None


class _Key(_Strict):
    digest: str = Field(min_length=1, validation_alias=AliasChoices("digest", "item"))
    repeat: int = Field(ge=0)
    seconds: float = Field(default=0.0, ge=0)


class _CompletionLine(_Key):
    text: str | None
    served_model: str = SERVED_MODEL
    stop_reason: str | None = "stop"
    label_logprobs: dict[str, float] | None = None
    usage: _UsageField = _UsageField()
    effective_sampling: dict[str, Any] = Field(default_factory=dict)
    stated_label: str | None = None
    stated_failure: Failure | None = None
    other_logprobs: list[float] = Field(default_factory=list)
    fingerprint: str | None = None
    turns: list[dict[str, Any]] = Field(default_factory=list)

    def recorded(self) -> Recorded:
        return Recorded(
            self.digest,
            self.repeat,
            Completion(
                text=self.text,
                served_model=self.served_model,
                stop_reason=self.stop_reason,
                label_logprobs=self.label_logprobs,
                usage=self.usage.usage(),
                effective_sampling=self.effective_sampling,
                stated_label=self.stated_label,
                stated_failure=self.stated_failure,
                other_logprobs=tuple(self.other_logprobs),
                fingerprint=self.fingerprint,
                turns=tuple(self.turns),
            ),
            self.seconds,
        )


class _FailureLine(_Key):
    failure: _FailureField

    def recorded(self) -> Recorded:
        usage = self.failure.usage.usage() if self.failure.usage else None
        failed = CallFailure(self.failure.reason, self.failure.message, usage)
        return Recorded(self.digest, self.repeat, failed, self.seconds)


class ReplayClient:
    """Answers from a recording, in the order and, where it has ``seconds``, at the pace of the requests.

    A request that the recording lacks is a call failure ``not_recorded``. The prompt and the
    sampling of a request are not looked at: the recording is what they once brought.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answers: Mapping[tuple[str, int], Recorded] = {}

    def __enter__(self) -> Self:
        """Read the recording; ``RecordingError`` if it is missing or malformed."""
        self._answers = {(recorded.digest, recorded.repeat): recorded for recorded in read_recording(self._path)}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Forget the recording."""
        self._answers = {}

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        """Answer each request in order; where the recording has ``seconds``, repeat by repeat."""
        for request in requests:
            together: list[Answer] = []
            for repeat in request.repeats:
                recorded = self._find(request, repeat)
                if recorded is not None and recorded.seconds > 0:
                    if together:
                        yield together
                    together = []
                    time.sleep(recorded.seconds)
                together.append(Answer(request.item.digest, repeat, self._outcome(recorded, repeat)))
            if together:
                yield together

    def _outcome(self, recorded: Recorded | None, repeat: int) -> Completion | CallFailure:
        if recorded is None:
            return CallFailure("not_recorded", f"{self._path.name}: no answer for repeat {repeat}")
        return recorded.answer

    def _find(self, request: Request, repeat: int) -> Recorded | None:
        """By content, which a rewording changes, or else by the item's id, if the recording names that."""
        for key in (request.item.digest, request.item.item_id):
            if recorded := self._answers.get((key, repeat)):
                return recorded
        return None


def read_recording(path: Path) -> tuple[Recorded, ...]:
    """All answers of a recording, in its order.

    Raises
    ------
    RecordingError
        If the file is missing, is not UTF-8, a line is malformed, or one repeat of an item is
        recorded twice; the message names file and line.
    """
    seen: dict[tuple[str, int], int] = {}
    answers: list[Recorded] = []
    for number, line in enumerate(_read_bytes(path).splitlines(), start=1):
        if not line.strip():
            continue
        recorded = _parse_line(line, f"{path}:{number}")
        first = seen.setdefault((recorded.digest, recorded.repeat), number)
        if first != number:
            raise RecordingError(
                f"{path}:{number}: repeat {recorded.repeat} of item {recorded.digest[:12]} again; "
                f"expected once, it is in line {first}"
            )
        answers.append(recorded)
    return tuple(answers)


def write_recording(path: Path, rows: Iterable[Recorded]) -> None:
    """Write answers as a recording; the file is whole or not there.

    Raises
    ------
    RecordingError
        If an answer cannot be written as a line that reads back.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            for number, row in enumerate(rows, start=1):
                out.write(_render_line(row, f"{path}:{number}"))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def recording_digest(path: Path) -> str:
    """SHA-256, in hex, of a recording's content; ``RecordingError`` if it cannot be read."""
    return hashlib.sha256(_read_bytes(path)).hexdigest()


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror}; expected a recording (JSONL)") from error


def _parse_line(line: bytes, where: str) -> Recorded:
    try:
        content = json.loads(line.decode("utf-8"), object_pairs_hook=_unique_fields, parse_constant=_no_constant)
        _check_writable(content)
    except (UnicodeError, ValueError, RecursionError) as error:
        raise RecordingError(f"{where}: {error}; expected one JSON object") from error
    if not isinstance(content, dict):
        raise RecordingError(f"{where}: {type(content).__name__}; expected one JSON object")
    model: type[_CompletionLine | _FailureLine] = _FailureLine if "failure" in content else _CompletionLine
    try:
        return model.model_validate(content).recorded()
    except ValidationError as error:
        raise RecordingError(f"{where}: {_first_problem(error)}") from error


def _unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError(f"fields {[name for name, _ in pairs]}, one of them twice")
    return content


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _check_writable(content: object) -> None:
    # A lone surrogate is valid JSON but no text: it could not be stored or printed later.
    json.dumps(content, ensure_ascii=False).encode("utf-8")


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in problem["loc"])
    return f"{field}, got {str(problem.get('input'))[:60]!r}; expected: {problem['msg']}"


def _render_line(row: Recorded, where: str) -> bytes:
    content: dict[str, Any] = {"digest": row.digest, "repeat": row.repeat}
    if isinstance(row.answer, CallFailure):
        content["failure"] = _failure_fields(row.answer)
    else:
        content |= _completion_fields(row.answer)
    if row.seconds:
        content["seconds"] = row.seconds
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"
    except (TypeError, ValueError) as error:
        raise RecordingError(f"{where}: {error}; expected an answer of plain, finite values") from error


def _failure_fields(answer: CallFailure) -> dict[str, Any]:
    fields: dict[str, Any] = {"reason": answer.reason, "message": answer.message}
    return {**fields, "usage": asdict(answer.usage)} if answer.usage is not None else fields


def _completion_fields(answer: Completion) -> dict[str, Any]:
    return {
        "text": answer.text,
        "served_model": answer.served_model,
        "stop_reason": answer.stop_reason,
        "label_logprobs": dict(answer.label_logprobs) if answer.label_logprobs is not None else None,
        "usage": asdict(answer.usage),
        "effective_sampling": dict(answer.effective_sampling),
        "stated_label": answer.stated_label,
        "stated_failure": answer.stated_failure,
        "other_logprobs": answer.other_logprobs,
        "fingerprint": answer.fingerprint,
        **({"turns": answer.turns} if answer.turns else {}),
    }
