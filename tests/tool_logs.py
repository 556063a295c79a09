"""Logs of other tools for tests: a loopback server that the real tools ask, and small hand-written files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from fault_replies import Fault, Ok, Status, asked_text
from fault_server import FaultServer

__all__ = ["ToolServer", "find_tool", "promptfoo_result", "run_tool", "write_jsonl"]

Say = Callable[[str, str, int], str | Fault]
"""What a model says: its name, the text that it is asked, and how often it was asked that before."""


class ToolServer(FaultServer):
    """Answers as ``say`` tells, in OpenAI's form."""

    def __init__(self, say: Say) -> None:
        super().__init__()
        self._say, self._asked = say, Counter[tuple[str, str]]()

    async def _meet(self, request: web.Request, body: dict[str, Any], fault: Fault) -> web.StreamResponse:
        key = body["model"], asked_text(body)
        said = self._say(*key, self._asked[key])
        self._asked[key] += 1
        met = Ok(said) if isinstance(said, str) else said
        return await (
            super()._meet(request, body, met) if isinstance(met, Status) else self._generate(request, body, met)
        )


def find_tool(variable: str, name: str) -> list[str]:
    """The command of a tool: what the variable names, or what is on the path; skipped loudly without either."""
    named = os.environ.get(variable) or shutil.which(name)
    if not named:
        pytest.skip(f"SKIPPED, NOT PASSED: no {name}; install it or name its program in {variable}")
    return [named]


def run_tool(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a tool in a folder, off the network but for loopback addresses."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder / "hf"), "NO_COLOR": "1"}
    kept = {**os.environ, **offline, **environment}
    return subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, timeout=250, check=False)


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """One JSON object a line."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def promptfoo_result(
    number: int, output: str | None, components: Iterable[Mapping[str, Any]], **fields: Any
) -> dict[str, Any]:
    """A result of the shape that promptfoo writes; a component is an assertion with pass, reason and the like."""
    judged = [
        {
            "pass": one["pass"],
            "score": float(bool(one["pass"])),
            "reason": one["reason"],
            "assertion": {"type": one["type"], "value": one.get("value", "{{answer}}")},
            "tokensUsed": {"prompt": 5, "completion": 3, "total": 8},
            "metadata": one.get("metadata", {}),
        }
        for one in components
    ]
    return {
        "gradingResult": {"pass": True, "score": 1, "reason": "", "componentResults": judged},
        "prompt": {"raw": f"Answer: capital {number}?", "label": "Answer: {{question}}"},
        "promptIdx": 0,
        "provider": {"id": "openai:chat:answerer", "label": ""},
        "response": {} if output is None else {"output": output},
        "success": True,
        "testCase": {"vars": {}, "options": {"provider": {"id": "openai:chat:judge"}}},
        "testIdx": number,
        "vars": {"question": f"capital {number}?", "answer": f"Town {number}"},
        **fields,
    }
