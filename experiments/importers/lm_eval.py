"""Sample logs of lm-evaluation-harness: the ``samples_*.jsonl`` that ``--log_samples`` writes.

A line's document is the question, its target the reference, each of its responses an item. Lines of further filters
over the same responses add their metrics and nothing else. No grader's reply is in such a log: its metrics go into
the items' metadata as they stand, and become no verdict. Log-likelihoods of choices are no responses.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.errors import ImportFileError
from experiments.importers.account import ImportAccount
from experiments.importers.answers import ImportedAnswer
from experiments.importers.source_files import JsonRecord, read_records, refuse_kind

__all__ = ["LmEvalReader"]

_EXPECTED = "a sample log of lm-eval (samples_TASK_TIME.jsonl, written with --log_samples)"
_NEEDED = frozenset({"doc_id", "doc", "target", "resps", "arguments"})
_QUESTION_FIELDS = ("question", "problem", "query", "input", "prompt")
_NAME = re.compile(r"samples_(?P<task>.+)_\d{4}-\d{2}-\d{2}T[\d.:-]+\.jsonl")


@dataclass(frozen=True, slots=True)
class LmEvalReader:
    """Reads sample logs.

    ``question`` and ``reference`` are fields of a document; without them the question is the document's
    ``question``, ``problem``, ``query``, ``input`` or ``prompt``, else the prompt that was sent, and the reference
    the line's ``target``. ``respondent`` names the model; default: the folder of the log, which lm-eval names so.
    """

    question: str | None = None
    reference: str | None = None
    respondent: str | None = None

    def __call__(self, files: Sequence[Path], account: ImportAccount) -> Iterator[ImportedAnswer]:
        """Every response of every document, once.

        Raises
        ------
        ImportFileError
            If a file is no sample log, or a document lacks a field that was named.
        """
        account.note("lm-eval", "its metrics are no grader's replies: kept in the items' metadata alone")
        for path in files:
            yield from self._read_file(path, account)

    def _read_file(self, path: Path, account: ImportAccount) -> Iterator[ImportedAnswer]:
        found = _NAME.fullmatch(path.name)
        log = _File(found["task"] if found else path.stem, self.respondent or path.resolve().parent.name)
        for record in read_records(path, _EXPECTED):
            if not record.data.keys() >= _NEEDED:
                raise refuse_kind(record.where, record.data, _EXPECTED)
            account.n_read += 1
            if log.is_known(record.data):
                account.leave_out(record.where, "a line of a further filter over the same responses")
                continue
            responses = _responses(record.data)
            if not responses:
                account.leave_out(record.where, "a line without a text that answers (log-likelihoods, or nothing)")
            for number, response in enumerate(responses):
                yield self._build(record, log, number, response)

    def _build(self, record: JsonRecord, log: _File, number: int, response: str) -> ImportedAnswer:
        data = record.data
        targets = self._targets(record)
        return ImportedAnswer(
            where=record.where,
            item_id=f"{log.respondent}/{log.task}/{data['doc_id']}/{number}",
            question=self._question(record),
            reference=targets[0] if targets else "",
            aliases=targets[1:],
            response=response,
            respondent=log.respondent,
            metadata={"lm_eval": _metrics(data)} if number == 0 else {},
        )

    def _question(self, record: JsonRecord) -> str:
        doc = record.data["doc"]
        if self.question is not None:
            return _field(doc, self.question, record.where)
        known = [doc[name] for name in _QUESTION_FIELDS if isinstance(doc, dict) and isinstance(doc.get(name), str)]
        return known[0] if known else _prompt(record.data["arguments"])

    def _targets(self, record: JsonRecord) -> list[str]:
        if self.reference is not None:
            return [_field(record.data["doc"], self.reference, record.where)]
        target = record.data["target"]
        found = target if isinstance(target, list) else [target]
        return [text for text in map(_plain, found) if text.strip()]


@dataclass(slots=True)
class _File:
    """One log: its task, its model, and which documents have been read."""

    task: str
    respondent: str
    seen: dict[str, str] = field(default_factory=dict)

    def is_known(self, data: Mapping[str, Any]) -> bool:
        """Whether the document came before, under another filter."""
        key, name = json.dumps([data["doc_id"], data.get("doc_hash")]), str(data.get("filter"))
        return self.seen.setdefault(key, name) != name


def _responses(data: Mapping[str, Any]) -> list[str]:
    """The generated texts; pairs of log-likelihood and a truth value are none."""
    resps = data["resps"]
    flat = [one for entry in resps for one in (entry if isinstance(entry, list) else [entry])] if resps else []
    return [one for one in flat if isinstance(one, str)] if isinstance(resps, list) else []


def _metrics(data: Mapping[str, Any]) -> Mapping[str, Any]:
    names = data.get("metrics")
    values = {name: data.get(name) for name in names if isinstance(name, str)} if isinstance(names, list) else {}
    finite = {name: value for name, value in values.items() if isinstance(value, int | float) and math.isfinite(value)}
    return {"filter": str(data.get("filter")), **finite}


def _prompt(arguments: object) -> str:
    """The text that was sent: of a chat, its messages as lines."""
    while isinstance(arguments, dict | list) and arguments:
        arguments = next(iter(arguments.values())) if isinstance(arguments, dict) else arguments[0]
    text = arguments if isinstance(arguments, str) else ""
    try:
        messages = json.loads(text) if text.startswith("[{") else None
    except ValueError:
        return text
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        return text
    said = [str(one.get("content")) for one in messages]
    return said[0] if len(said) == 1 else "\n\n".join(f"{one.get('role')}: {one.get('content')}" for one in messages)


def _field(doc: object, name: str, where: str) -> str:
    if not isinstance(doc, dict) or name not in doc:
        known = ", ".join(map(str, doc)) if isinstance(doc, dict) else "no fields"
        raise ImportFileError(f"{where}: no field {name!r} in the document; expected one of {known}")
    return _plain(doc[name])


def _plain(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
