"""A made-up set of questions with concepts, documents and distractors, and a server whose models need some of these."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

from aiohttp import web
from fault_replies import Fault, Ok, asked_text, build_reply, n_choices
from fault_server import FaultServer, Script

from calibration_sets.writer import write_lines

__all__ = ["TOLLS", "RegimeServer", "write_experiment", "write_questions"]

TOLLS = tuple((f"Lock {name}", 2 + place % 5) for place, name in enumerate("ABCDEFGHIJKLMNOP"))
"""Locks of a canal that does not exist, and their tolls in marks a tonne."""

_HEADER = """name = "tolls"
version = "1.0.0"
licence = "CC0-1.0"
source = "made up"
description = "Tolls of a canal that does not exist."
"""


def write_questions(folder: Path, *, n_questions: int = 12, filler: int = 0) -> Path:
    """The set: question n is about lock n, with n mod 3 distractors, one or two concepts, and steps for most."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "set.toml").write_text(_HEADER, encoding="utf-8")
    write_lines(
        folder / "documents.jsonl",
        (
            {
                "document_id": f"d{n}",
                "title": f"On {name}",
                "text": f"{name} was built in {1800 + n}. {'x' * filler}The toll at {name} is {toll} marks a tonne.",
            }
            for n, (name, toll) in enumerate(TOLLS)
        ),
    )
    write_lines(folder / "questions.jsonl", (_question(n) for n in range(n_questions)))
    return folder


def _question(n: int) -> dict[str, Any]:
    name, toll = TOLLS[n]
    concepts = [f"The toll at {name} is {toll} marks a tonne.", "The toll is paid on the load alone."]
    return {
        "question_id": f"q{n}",
        "question": f"A barge with {10 + n} tonnes passes {name}. What does it pay, and why?",
        "reference": f"{(10 + n) * toll} marks: {10 + n} tonnes at {toll} marks each.",
        "concepts": concepts[: 1 + n % 2],
        "related": [f"d{n}"],
        "distractors": [f"d{(n + step) % len(TOLLS)}" for step in range(1, 1 + n % 3)],
        **({} if n % 4 == 3 else {"steps": 1 + n % 2}),
    }


def write_experiment(folder: Path, url: str, *, models: str = "m1", more: str = "") -> Path:
    """An experiment over the set in ``questions``, with prices; ``more`` goes into ``[regimes]``."""
    served = f'base_url = "{url}"\ncapabilities = {{ price = {{ input = 1.0, output = 1.0 }} }}\n'
    asked = "".join(f'[[regimes.models]]\nmodel = "openai-compatible/{name}"\n{served}' for name in models.split())
    path = folder / "tolls.toml"
    path.write_text(
        f'name = "tolls"\nset = "questions"\nmax_connections = 2\n[regimes]\nmax_tokens = 200\n{more}\n{asked}'
        f'[[graders]]\nprompt = "der2_rubric@1.0.0"\nmodel = "openai-compatible/judge"\n{served}'
        "sampling = { repeats = 1 }\n",
        encoding="utf-8",
    )
    return path


class RegimeServer(FaultServer):
    """Models that reckon a toll where they are told it, less surely the more documents they have; and their judge.

    The judge gives 1 where the response says so, and so on; the model ``weak`` is wrong everywhere.
    """

    def __init__(self, script: Script | None = None, *, latency: float = 0.0) -> None:
        super().__init__(script or (lambda _number: Ok()), latency=latency)
        self._asked: Counter[str] = Counter()

    async def _generate(self, request: web.Request, body: dict[str, Any], fault: Fault) -> web.StreamResponse:
        if not isinstance(fault, Ok) or fault.text is not None:
            return await super()._generate(request, body, fault)
        texts = [self._say(body["model"], asked_text(body)) for _ in range(n_choices(request.path, body, fault))]
        replies = [build_reply(request.path, {**body, "n": 1}, Ok(text)) for text in texts]
        reply = replies[0]
        if "choices" in reply:
            reply["choices"] = [{**one["choices"][0], "index": place} for place, one in enumerate(replies)]
        return web.Response(body=json.dumps(reply).encode(), content_type="application/json")

    def _say(self, model: str, text: str) -> str:
        """What hangs on the text and the number of its draw alone."""
        self._asked[text] += 1
        return _judge(text) if model == "judge" else _answer(model, text, random.Random(f"{text}/{self._asked[text]}"))


def _answer(model: str, text: str, chance: random.Random) -> str:
    """The worth of the answer, in words: by what the prompt holds."""
    if model == "weak" or ("Concepts:" not in text and "Documents:" not in text):
        return "I do not know the toll; worth 0."
    n_documents = len(re.findall(r"^Document \d+:", text, re.MULTILINE))
    lost = 0.0 if "Concepts:" in text else 0.25 if n_documents == 1 else 0.5
    return f"I reckon it from the toll; worth {1 - lost - (0.25 if chance.random() < 0.2 else 0.0):g}."


def _judge(text: str) -> str:
    response = text.rpartition("<response>")[2]
    found = re.search(r"worth ([\d.]*\d)", response)
    return f"Accuracy: as it says.\n\nscore: {found[1]}" if found else "It is hard to say."
