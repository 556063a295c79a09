"""Evaluations that Inspect really runs for the tests, all in one process, against a loopback server."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fault_replies import Fault, Status
from tool_logs import ToolServer, run_tool

__all__ = ["run_inspect"]

SAMPLES: Sequence[Mapping[str, Any]] = [
    {"id": "steady", "input": "Town of steady?", "target": "Ullenby"},
    {"id": "moody", "input": "Town of moody?", "target": ["Tessen", "Tessendorf"]},
    {"id": "partly", "input": "Town of partly?", "target": "Brannoch"},
    {"id": "mute", "input": "Town of mute?", "target": "Korvel"},
    {"id": "boom", "input": "Town of boom?", "target": "Sandrey"},
    {"id": "open", "input": "Town of open?", "target": ""},
]
NUMBERED = [{"id": at, "input": f"Which is town {at}?", "target": f"town {at}"} for at in range(12)]
TALK: Sequence[Mapping[str, Any]] = [
    {
        "id": "talk",
        "target": "Ullenby",
        "input": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c", "function": "look", "arguments": {"town": "steady"}}],
            },
            {"role": "tool", "content": "found", "tool_call_id": "c", "function": "look"},
            {"role": "user", "content": "So, town of steady?"},
        ],
    },
    {"id": "choices", "target": "B", "input": "Town of steady?", "choices": ["Tessen", "Ullenby"]},
    {
        "id": "image",
        "target": "Ullenby",
        "input": [{"role": "user", "content": [{"type": "image", "image": "data:image/png;base64,iVBORw0KGgo="}]}],
    },
]

RUNS: Sequence[Mapping[str, Any]] = [
    {"name": "towns", "samples": SAMPLES, "scorers": ["qa", "fact", "match"], "epochs": 2},
    {"name": "panel", "samples": SAMPLES[:1], "scorers": ["panel"]},
    {"name": "failing", "samples": SAMPLES[:2], "scorers": ["failing"], "format": "json"},
    {"name": "numbered", "samples": NUMBERED, "scorers": ["plain", "fact"]},
    {"name": "talk", "samples": TALK, "scorers": ["plain", "juror", "twice", "several"]},
]

_EVAL = """
import json, os, sys
from inspect_ai import Task, eval, eval_retry, score
from inspect_ai.dataset import Sample
from inspect_ai.log import write_eval_log
from inspect_ai.model import get_model
from inspect_ai.scorer import Score, accuracy, match, model_graded_fact, model_graded_qa, scorer
from inspect_ai.solver import generate
asked = json.loads(sys.argv[1])
os.environ["OPENAI_API_KEY"], os.environ["OPENAI_BASE_URL"] = "none", asked["url"]
def model(name):
    return get_model(f"openai/{name}", responses_api=False, max_retries=0)
@scorer(metrics=[accuracy()])
def twice():
    async def judge(state, target):
        for name in ("judge", "juror"):
            said = await model(name).generate(state.input_text)
        return Score(value="C", explanation=said.completion)
    return judge
@scorer(metrics={"a": [accuracy()]})
def several():
    async def judge(state, target):
        said = await model("judge").generate(state.input_text)
        return Score(value={"a": 1}, explanation=said.completion)
    return judge
scorers = {
    "plain": lambda: model_graded_qa(model=model("judge")),
    "juror": lambda: model_graded_qa(model=model("juror")),
    "qa": lambda: model_graded_qa(model=model("judge"), partial_credit=True),
    "fact": lambda: model_graded_fact(model=model("judge")),
    "failing": lambda: model_graded_qa(model=model("failing")),
    "panel": lambda: model_graded_qa(model=[model("judge"), model("juror")]),
    "match": match,
    "twice": twice,
    "several": several,
}
shared = dict(log_dir="logs", display="none", fail_on_error=False, max_connections=1, max_samples=1)
made = {}
for run in asked["runs"]:
    task = Task(
        dataset=[Sample(**sample) for sample in run["samples"]],
        solver=generate(),
        scorer=[scorers[name]() for name in run["scorers"]],
        name="capitals",
        epochs=run.get("epochs", 1),
    )
    log = eval(task, model=model("answerer"), log_format=run.get("format", "eval"), **shared)[0]
    made[run["name"]] = log.location
with open("again.py", "w") as file:
    file.write('''
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import generate
@task
def again():
    grader = get_model("openai/once", responses_api=False, max_retries=0)
    towns = [Sample(id=id, input=f"Town of {id}?", target="Ullenby") for id in ("steady", "late", "boom")]
    return Task(dataset=towns, solver=generate(), scorer=model_graded_qa(model=grader))
''')
first = eval("again.py", model="openai/answerer", model_args={"responses_api": False, "max_retries": 0}, **shared)[0]
second = eval_retry(first.location, **shared)[0]
more = score(second, model_graded_fact(model=model("judge")), action="append", display="none")
write_eval_log(more, "logs/scored_again.eval")
made |= {"first": first.location, "retried": second.location, "scored_again": "logs/scored_again.eval"}
print(json.dumps(made))
"""


def say(model: str, text: str, times: int) -> str | Fault:
    """What the models of the evaluations say."""
    numbers = re.findall(r"Which is town (\d+)\?", text)
    if numbers:
        return _say_of_number(model, text, int(numbers[0]))
    if model == "answerer":
        if "boom" in text:
            return Status(400)
        return f"It is number {times}." if "moody" in text else "It is Ullenby."
    if model == "once":
        return Status(400) if "late" in text and times == 0 else "GRADE: C"
    if model in ("juror", "failing"):
        return Status(400) if model == "failing" and "moody" in text else "GRADE: I"
    if "Korvel" in text:
        return "I would rather not say."
    if "Brannoch" in text:
        return "Half of it.\n\nGRADE: P"
    return "GRADE: C" if "steady" in text else "Not the same town.\n\nGRADE: I"


def _say_of_number(model: str, text: str, number: int) -> str:
    if model == "answerer":
        return f"It is town {number if number % 3 else number + 1}."
    errs = number == 4 or ("expert answer" in text and number == 5)
    return "GRADE: C" if bool(number % 3) is not errs else "GRADE: I"


def run_inspect(folder: Path) -> Mapping[str, Path]:
    """The logs by their names."""
    with ToolServer(say) as server:
        asked = {"url": server.openai_url, "runs": RUNS}
        ran = run_tool([sys.executable, "-c", _EVAL, json.dumps(asked)], folder)
    assert ran.returncode == 0, ran.stderr
    made = json.loads(ran.stdout.strip().splitlines()[-1])
    return {name: folder / location for name, location in made.items()}
