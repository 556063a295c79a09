"""Logs of other tools for tests: a loopback server that the real tools ask, and small hand-written files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from fault_replies import Fault, Ok, Status, asked_text
from fault_server import FaultServer

__all__ = ["InspectRun", "ToolServer", "find_tool", "promptfoo_result", "run_inspect", "run_tool", "write_jsonl"]

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


_EVAL = """
import json, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import match, model_graded_fact, model_graded_qa
from inspect_ai.solver import generate
asked = json.loads(sys.argv[1])
def model(name):
    return get_model(f"openai/{name}", base_url=asked["url"], api_key="none", responses_api=False, max_retries=0)
scorers = {
    "qa": lambda: model_graded_qa(model=model("judge"), partial_credit=True),
    "fact": lambda: model_graded_fact(model=model("judge")),
    "failing": lambda: model_graded_qa(model=model("failing")),
    "panel": lambda: model_graded_qa(model=[model("judge"), model("juror")]),
    "match": match,
}
for run in asked["runs"]:
    task = Task(
        dataset=[Sample(**sample) for sample in asked["samples"][: run["n_samples"]]],
        solver=generate(),
        scorer=[scorers[name]() for name in run["scorers"]],
        name="capitals",
        epochs=run["epochs"],
    )
    log = eval(task, model=model("answerer"), log_dir="logs", display="none", fail_on_error=False, max_connections=1,
               max_samples=1, log_format=run["format"])[0]
    print(log.location)
"""


@dataclass(frozen=True, slots=True)
class InspectRun:
    """One evaluation: its scorers, by the names of the script above, and how many of the samples it takes."""

    scorers: tuple[str, ...] = ("qa",)
    n_samples: int = 1000
    epochs: int = 1
    log_format: str = "eval"


def run_inspect(folder: Path, say: Say, samples: Iterable[Mapping[str, Any]], *runs: InspectRun) -> list[Path]:
    """The logs of real evaluations by Inspect, all in one process, as it takes long to start."""
    wanted = [
        {"scorers": run.scorers, "n_samples": run.n_samples, "epochs": run.epochs, "format": run.log_format}
        for run in runs
    ]
    with ToolServer(say) as server:
        asked = {"url": server.openai_url, "samples": list(samples), "runs": wanted}
        ran = run_tool([sys.executable, "-c", _EVAL, json.dumps(asked)], folder)
    assert ran.returncode == 0, ran.stderr
    return [folder / line for line in ran.stdout.strip().splitlines()[-len(runs) :]]


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
