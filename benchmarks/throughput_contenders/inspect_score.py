"""inspect-ai: responses that exist already, regraded by ``score()`` with a model as grader."""

from __future__ import annotations

from inspect_ai import Task, eval, score
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import includes, model_graded_qa
from inspect_ai.solver import Generate, Solver, TaskState, solver
from measured import measured, read_options, read_prompts


@solver
def recorded() -> Solver:
    """Take the response that the sample brings."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output.completion = state.metadata["response"]
        return state

    return solve


def main() -> None:
    options = read_options(__doc__)
    samples = [
        Sample(input=row["prompt"], target=row["reference"], id=row["id"], metadata={"response": row["response"]})
        for row in read_prompts(options)
    ]
    ungraded = options.folder / "ungraded"
    log = eval(
        Task(dataset=MemoryDataset(samples), solver=recorded(), scorer=includes()),
        model="mockllm/model",
        display="none",
        log_dir=str(ungraded),
        log_realtime=False,
        score=False,
    )[0]
    log = read_eval_log(log.location)
    grader = get_model(
        "openai/graded",
        base_url=options.url,
        api_key="none",
        config=GenerateConfig(temperature=2.0, max_tokens=8, max_connections=options.connections),
        responses_api=False,
    )
    graded = options.folder / "graded"
    graded.mkdir(exist_ok=True)
    scorer = model_graded_qa(template="{question}\n{answer}\n{criterion}\n{instructions}", model=grader)
    with measured(options) as measure:
        result = score(log, scorer, action="overwrite", display="none")
        write_eval_log(result, str(graded / "log.eval"))
        measure.verdicts = sum(bool(sample.scores) for sample in result.samples or [])


main()
