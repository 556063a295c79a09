"""Results of promptfoo: ``promptfoo eval -o results.json``, or ``results.jsonl`` with one result a line.

Of each result the prompt as it was sent is the question, the provider the respondent, its output the response. Each
assertion that a model decides makes the response an item whose reference is the assertion's value; kinds of assertion
are parts, since their graders judge different things. promptfoo keeps no raw reply: the verdict is the one that it
drew, with its reason. What its source calls a grader's failure it writes as a failed assertion; those are failures
here, and no verdicts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibration_sets.item import content_digest
from experiments.importers.account import ImportAccount
from experiments.importers.answers import GraderReply, ImportedAnswer, ImportedGrader
from experiments.importers.labelling import Labelling
from experiments.importers.source_files import JsonRecord, read_document, read_records, refuse_kind
from graders.verdict import CallFailure, Completion, Usage

__all__ = ["GRADED_KINDS", "PromptfooReader"]

_EXPECTED = "the results that 'promptfoo eval -o results.json' (or .jsonl) writes"

GRADED_KINDS = (
    "llm-rubric",
    "factuality",
    "model-graded-factuality",
    "model-graded-closedqa",
    "g-eval",
)
"""Assertions in which a model judges one response by a text."""

_NEVER_NEGATED = ("not-factuality", "not-model-graded-factuality", "not-model-graded-closedqa")
"""promptfoo decides these as if the ``not-`` were not there, and no file tells whether a version of it does."""

_MALFORMED = "Model grader produced a malformed response:"
_UNPARSED = (_MALFORMED, "Could not extract JSON from", "Error parsing output:", "Invalid option")
_CALL_ERRORS = (
    "API error:",
    "API call error:",
    "API response error:",
    "Could not perform remote grading",
    "G-Eval assertion requires at least one criterion",
)
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


@dataclass(frozen=True, slots=True)
class PromptfooReader:
    """Reads results.

    ``question`` names the variable that is the question, where that is not the whole prompt; ``reference`` the one
    that is the reference, where that is not the assertion's value.
    """

    labelling: Labelling
    question: str | None = None
    reference: str | None = None

    def __call__(self, files: Sequence[Path], account: ImportAccount) -> Iterator[ImportedAnswer]:
        """Every response, once for each kind of assertion and value that a model judged it by.

        Raises
        ------
        ImportFileError
            If a file is not what promptfoo writes.
        """
        for path in files:
            for number, record in enumerate(_results(path), start=1):
                account.n_read += 1
                yield from self._read_result(record, number, account)

    def _read_result(self, record: JsonRecord, number: int, account: ImportAccount) -> Iterator[ImportedAnswer]:
        data = record.data
        output = _text(_at(data, "response").get("output"))
        if output is None:
            told = " ".join(str(data.get("error") or "no output").split())[:60]
            account.leave_out(record.where, f"a result without a response: {told}")
            return
        judged = []
        for one in _components(data):
            kind = _kind(one)
            if kind.removeprefix("not-") in GRADED_KINDS and kind not in _NEVER_NEGATED:
                judged.append(one)
            else:
                why = "is decided without its 'not-': not taken" if kind in _NEVER_NEGATED else "is no grader's verdict"
                account.note(record.where, f"assertion {kind or 'of no kind'} {why}")
        if not judged:
            account.leave_out(record.where, "a result that no grader judged")
        for one in judged:
            yield self._read_component(record, number, output, one)

    def _read_component(
        self, record: JsonRecord, number: int, output: str, component: Mapping[str, Any]
    ) -> ImportedAnswer:
        data, assertion = record.data, _at(component, "assertion")
        kind = _kind(component)
        plain = kind.removeprefix("not-")
        provider = data.get("provider")
        respondent = (_at(data, "provider").get("label") or _at(data, "provider").get("id")) or _text(provider) or ""
        grader = ImportedGrader(kind, _grader_model(data, assertion), _template(data, assertion))
        return ImportedAnswer(
            where=record.where,
            item_id=f"{respondent}/{data.get('testIdx', number)}/{data.get('promptIdx', 0)}/{plain}",
            question=self._question(data),
            reference=self._reference(data, component),
            response=output,
            respondent=str(respondent),
            replies=[GraderReply(grader, self._read_verdict(component, grader, negated=kind != plain))],
            part=kind,
        )

    def _question(self, data: Mapping[str, Any]) -> str:
        if self.question is not None:
            return _text(_vars(data).get(self.question)) or ""
        return _text(_at(data, "prompt").get("raw")) or ""

    def _reference(self, data: Mapping[str, Any], component: Mapping[str, Any]) -> str:
        if self.reference is not None:
            return _text(_vars(data).get(self.reference)) or ""
        rendered = _text(_at(component, "metadata").get("renderedAssertionValue"))
        return rendered or _fill(_text(_at(component, "assertion").get("value")) or "", _vars(data))

    def _read_verdict(
        self, component: Mapping[str, Any], grader: ImportedGrader, *, negated: bool
    ) -> Completion | CallFailure:
        reason, passed = _text(component.get("reason")) or "", component.get("pass")
        usage = _usage(component)
        if not isinstance(passed, bool):
            return CallFailure("no_verdict", "the assertion has neither passed nor failed")
        if reason.startswith(_UNPARSED):
            text = reason.removeprefix(_MALFORMED).strip() if reason.startswith(_MALFORMED) else None
            return Completion(text, grader.model, None, usage=usage, stated_failure="unparsed")
        if _at(component, "metadata").get("graderError") is True or _is_call_error(reason):
            return CallFailure("grader_error", reason[:500])
        # An assertion "not-..." passes where its grader says no.
        label = self.labelling.label_of("pass" if passed is not negated else "fail")
        if label is None:
            return CallFailure("no_verdict", "the verdict stands for no label")
        return Completion(reason, grader.model, None, usage=usage, stated_label=label)


def _results(path: Path) -> Iterator[JsonRecord]:
    if path.suffix == ".jsonl":
        for record in read_records(path, _EXPECTED):
            if not {"testCase", "promptIdx"} <= record.data.keys():
                raise refuse_kind(record.where, record.data, _EXPECTED)
            yield record
        return
    document = read_document(path, _EXPECTED)
    results = document.get("results")
    found = results.get("results") if isinstance(results, dict) else results
    if not isinstance(found, list):
        raise refuse_kind(path.name, document, _EXPECTED)
    for number, entry in enumerate(found, start=1):
        where = f"{path.name}: result {number}"
        if not isinstance(entry, dict) or not {"provider", "prompt"} <= entry.keys():
            raise refuse_kind(where, entry if isinstance(entry, dict) else {}, _EXPECTED)
        yield JsonRecord(where, entry)


def _components(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The results of single assertions, those of assertion sets included, each once.

    A set holds the results of its own, and newer versions repeat them beside it.
    """
    found = _dicts(_at(data, "gradingResult").get("componentResults"))
    flat: list[Mapping[str, Any]] = []
    for one in found:
        inner = _dicts(one.get("componentResults"))
        if not inner:
            flat.append(one)
        elif not all(part in found for part in inner):
            flat += inner
    return flat


def _dicts(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _kind(component: Mapping[str, Any]) -> str:
    return str(_at(component, "assertion").get("type") or "")


def _grader_model(data: Mapping[str, Any], assertion: Mapping[str, Any]) -> str:
    """The model that the assertion, or else its test, names; a model that promptfoo chose is told nowhere."""
    for given in (assertion.get("provider"), _at(_at(data, "testCase"), "options").get("provider")):
        if isinstance(given, dict):
            given = given.get("id") or _at(given, "text").get("id") or given.get("text")
        if isinstance(given, str) and given:
            return given
    return "unstated"


def _template(data: Mapping[str, Any], assertion: Mapping[str, Any]) -> str:
    own = assertion.get("rubricPrompt") or _at(_at(data, "testCase"), "options").get("rubricPrompt")
    return content_digest([assertion.get("type"), json.dumps(own, sort_keys=True)])


def _vars(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return _at(data, "vars") or _at(_at(data, "testCase"), "vars")


def _fill(text: str, values: Mapping[str, Any]) -> str:
    """The value with its plain variables filled in once, where promptfoo did not record that."""
    return _VARIABLE.sub(lambda found: _text(values.get(found[1], found[0])) or "", text)


def _is_call_error(reason: str) -> bool:
    return reason == "No output" or reason.startswith(_CALL_ERRORS)


def _usage(component: Mapping[str, Any]) -> Usage:
    used = _at(component, "tokensUsed")
    counts = [used.get(name) for name in ("prompt", "completion")]
    known = [count if isinstance(count, int) and not isinstance(count, bool) else None for count in counts]
    return Usage(known[0], known[1])


def _at(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    """A text as it is, other values as JSON, nothing as nothing."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
