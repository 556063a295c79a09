"""EVOUNA-TQ: answers of five systems to 2,000 trivia questions, each judged by a person.

Source: https://github.com/wangcunxiang/QA-Eval (Apache-2.0), Wang et al., "Evaluating Open-QA
Evaluation", NeurIPS 2023.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from calibration_sets.errors import SetFileError
from calibration_sets.importers.imported import Imported
from calibration_sets.item import HumanLabel, Item
from calibration_sets.records import Filled, SetHeader, StrictRecord
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import BINARY
from calibration_sets.strict import parse_json, read_text
from calibration_sets.strict_models import parse_model

__all__ = ["import_evouna", "split_references"]

RUBRIC = "evouna@1.0.0"
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")

_HEADER = SetHeader(
    name="evouna_tq",
    version="1.0.0",
    rubric=RUBRIC,
    scale=BINARY,
    label_source="human",
    licence="Apache-2.0",
    source="https://github.com/wangcunxiang/QA-Eval",
    description="Answers of five systems to trivia questions, each with one final label by people.",
)


class _Record(StrictRecord):
    """One question with the answers of all systems; a label that was never given is the text 'nan'."""

    question: Filled
    golden_answer: Filled
    improper: bool
    answer_fid: str
    answer_gpt35: str
    answer_chatgpt: str
    answer_gpt4: str
    answer_newbing: str
    judge_fid: bool | Literal["nan"]
    judge_gpt35: bool | Literal["nan"]
    judge_chatgpt: bool | Literal["nan"]
    judge_gpt4: bool | Literal["nan"]
    judge_newbing: bool | Literal["nan"]


def import_evouna(path: Path) -> Imported:
    """The set in the upstream ``TQ.json``.

    Answers to a question that its authors marked as improper, and answers without a label, are
    left out and counted; nothing is guessed for them. Items of one question are one cluster.
    The reference is kept as published, all its names joined by slashes; they become aliases
    where the slash can be nothing but a separator (:func:`split_references`).

    Raises
    ------
    SetFileError
        If the file is malformed.
    """
    items, labels = [], []
    left_out: Counter[str] = Counter()
    for index, record in enumerate(_read_records(path)):
        for system in SYSTEMS:
            judged = getattr(record, f"judge_{system}")
            if record.improper or judged == "nan":
                left_out["question marked improper" if record.improper else "no label"] += 1
                continue
            item = _to_item(index, record, system)
            items.append(item)
            label = "CORRECT" if judged else "INCORRECT"
            labels.append(HumanLabel(item.item_id, item.digest, "final", label, RUBRIC))
    if not items:
        raise SetFileError(f"{path.name}: no usable answers; expected at least one")
    return Imported(_HEADER.with_content(tuple(items), tuple(labels)), (), dict(left_out))


def _read_records(path: Path) -> Iterator[_Record]:
    try:
        data: Any = parse_json(read_text(path, SetFileError))
    except ValueError as error:
        raise SetFileError(f"{path.name}: {error}") from None
    if not isinstance(data, list):
        raise SetFileError(f"{path.name}: no list of questions; expected the upstream TQ.json")
    for number, entry in enumerate(data, start=1):
        if not isinstance(entry, dict):
            raise SetFileError(f"{path.name}: question {number}: no object; expected the upstream TQ.json")
        yield parse_model(_Record, entry, f"{path.name}: question {number}", SetFileError)


def _to_item(index: int, record: _Record, system: str) -> Item:
    return Item(
        item_id=f"evouna-tq-{index:04d}-{system}",
        question=record.question,
        reference=parse_reference(record.golden_answer, split_references(record.golden_answer)),
        response=getattr(record, f"answer_{system}"),
        cluster_id=f"evouna-tq-{index:04d}",
        respondent=system,
    )


# A slash with space around it belongs to a title, a doubled one to a sign; UN/LOCODE and AC/DC are names.
_SEPARATOR = re.compile(r"(?<![\s/])(?<!\bUN)(?<!\bAC)/(?![\s/])")
_WHOLE = (
    re.compile(
        r"(?<![\d.,])(?:\d{1,4}/\d{1,2}/\d{1,4}|\d{1,2}/\d{1,2}|\d{1,2}/\d{4}|\d{4}/\d{1,2})(?![\d.,])"
    ),  # a date, perhaps
    re.compile(r"\([^()]*\)"),
)


def split_references(text: str) -> tuple[str, ...]:
    """The names in a reference that joins them with slashes; empty where there is only one.

    A slash is a separator unless it may be part of a name: between numbers that could make a
    date (``9/11``), beside white space or another slash, within brackets.
    """
    whole = {place for pattern in _WHOLE for found in pattern.finditer(text) for place in range(*found.span())}
    cuts = [found.start() for found in _SEPARATOR.finditer(text) if found.start() not in whole]
    starts, ends = [0, *(cut + 1 for cut in cuts)], [*cuts, len(text)]
    names = dict.fromkeys(text[start:end].strip() for start, end in zip(starts, ends, strict=True))
    return tuple(name for name in names if name) if cuts else ()
