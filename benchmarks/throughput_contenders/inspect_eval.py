"""inspect-ai: ``eval()`` with a model as grader; variant ``default`` or ``tuned``; a log that is there is retried."""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, eval, eval_retry, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, list_eval_logs
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import Generate, Solver, TaskState, solver
from measured import measured, read_options, read_prompts

OPTIONS = read_options(__doc__)
TUNED: dict[str, Any] = {
    "max_samples": OPTIONS.connections,
    "log_realtime": False,
    "log_model_api": False,
    "log_samples": True,
    "log_buffer": 100,
}


@solver
def recorded() -> Solver:
    """Take the response that the sample brings."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output.completion = state.metadata["response"]
        return state

    return solve


@task
def grading() -> Task:
    """Responses that exist already, graded."""
    samples = [
        Sample(input=row["prompt"], target=row["reference"], id=row["id"], metadata={"response": row["response"]})
        for row in read_prompts(OPTIONS)
    ]
    connections = OPTIONS.connections if OPTIONS.variant == "tuned" else None
    grader = get_model(
        "openai/graded",
        base_url=OPTIONS.url,
        api_key="none",
        config=GenerateConfig(temperature=2.0, max_tokens=8, max_connections=connections),
        responses_api=False,
    )
    scorer = model_graded_qa(template="{question}\n{answer}\n{criterion}\n{instructions}", model=grader)
    return Task(dataset=MemoryDataset(samples), solver=recorded(), scorer=scorer)


def run() -> EvalLog:
    logs = list_eval_logs(str(OPTIONS.folder))
    settings = TUNED if OPTIONS.variant == "tuned" else {}
    if logs:
        return eval_retry(logs, log_dir=str(OPTIONS.folder), display="none", **settings)[0]
    return eval(grading(), model="mockllm/model", display="none", log_dir=str(OPTIONS.folder), **settings)[0]


# A retry loads this file again for its task.
if __name__ == "__main__":
    with measured(OPTIONS) as measure:
        log = run()
        measure.verdicts = log.results.completed_samples if log.results else 0
