"""Asking the models of a run, from the command line: respondents and graders, live or in batch jobs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer
from rich.console import Console

from experiments.batch.records import held_keys
from experiments.batch.runner import describe_jobs, run_batch
from experiments.errors import SpecError
from experiments.reports.escaping import visible
from experiments.respondents.answering_run import (
    answer_questions,
    describe_missing,
    explain_limit,
    limit_of_grading,
)
from experiments.respondents.grid_plan import describe_grid_plan
from experiments.respondents.responses import as_grading
from experiments.running.plan import Plan, build_plan
from experiments.running.progress import open_progress
from experiments.running.question_order import split_waves
from experiments.running.runner import run_experiment
from experiments.specs.experiment import Experiment
from experiments.store.database_file import network_file_system
from experiments.store.run_listing import describe_summary
from experiments.store.run_records import record_run
from experiments.store.run_store import RunStore
from experiments.store.work_sessions import is_at_work
from graders.batch.opening import open_batch_service
from graders.providers import check_model, open_client

__all__ = ["ask_models", "ask_respondents", "check_none_in_batch", "warn_of_network"]


def ask_respondents(
    asked: Experiment, store: RunStore, max_cost: float | None, *, batch: bool, wait: bool
) -> Experiment | None:
    """Print the plan of the whole grid and have the questions answered; what is to be graded, if all is collected."""
    typer.echo(describe_grid_plan(asked, store, batch=batch), err=True)
    if asked.is_looked_at and not batch:
        graded: Experiment | None = _answer_in_waves(asked, store, max_cost)
    else:
        ask = partial(_ask_half, store=store, batch=batch, wait=wait)
        graded = answer_questions(asked, store, ask, max_cost=max_cost)
    if graded is None:
        typer.echo("answers are out; they are graded when the same command has collected them", err=True)
        return None
    for line in describe_missing(graded):
        typer.echo(visible(line), err=True)
    if not graded.calibration_set.items:
        typer.echo("no answer that can be graded; the same command asks again", err=True)
        raise typer.Exit(1)
    return graded


def _answer_in_waves(asked: Experiment, store: RunStore, max_cost: float | None) -> Experiment:
    """Have the first questions answered and graded, then the next, so that a run that is stopped can be looked at."""
    n_questions, n_before = len(asked.calibration_set.items), 0
    try:
        for part in split_waves(asked):
            n_now = n_before + len(part.calibration_set.items)
            typer.echo(f"questions {n_before + 1} to {n_now} of {n_questions}", err=True)
            _answer_and_grade(part, store, max_cost)
            n_before = n_now
    except BaseException:
        graded = as_grading(asked, store)
        if graded.calibration_set.items:
            record_run(graded, store)
            typer.echo(f"run {graded.run_id}: autorater ab {graded.run_id} looks at what is there", err=True)
        raise
    return as_grading(asked, store)


def _answer_and_grade(part: Experiment, store: RunStore, max_cost: float | None) -> None:
    ask = partial(_ask_half, store=store, batch=False, wait=False)
    graded = answer_questions(part, store, ask, max_cost=max_cost)
    if graded is not None and graded.calibration_set.items:
        limit = limit_of_grading(part, store, max_cost)
        with explain_limit(max_cost, limit, "answering"):
            ask(graded, limit)


def _ask_half(asking: Experiment, max_cost: float | None, *, store: RunStore, batch: bool, wait: bool) -> bool:
    return ask_models(asking, store, max_cost, batch=batch, wait=wait, recorded=False)


def ask_models(
    asked: Experiment, store: RunStore, max_cost: float | None, *, batch: bool, wait: bool, recorded: bool = True
) -> bool:
    """Ask for what is not paid; whether nothing is out with a service."""
    if batch:
        return _run_batch(asked, store, max_cost, wait=wait, recorded=recorded)
    _run_live(asked, store, build_plan(asked, store), max_cost, recorded=recorded)
    return True


def check_none_in_batch(asked: Experiment, store: RunStore) -> None:
    """Raise ``SpecError`` where verdicts are out in batch jobs, which would be paid twice if they were asked now."""
    for grader in asked.graders:
        held = held_keys(store, grader.grader_id)
        if held:
            raise SpecError(
                f"{grader.title}: {len(held)} verdicts are in batch jobs that are out; expected --batch, "
                "which collects them (without it they would be paid twice)"
            )


def _run_live(asked: Experiment, store: RunStore, plan: Plan, max_cost: float | None, *, recorded: bool) -> None:
    check_none_in_batch(asked, store)
    for share in plan.graders:
        if share.n_pending:
            check_model(share.grader)
    with open_progress(Console(stderr=True)) as progress:
        summary = run_experiment(asked, store, open_client, progress, max_cost=max_cost, recorded=recorded)
    for line in describe_summary(summary):
        typer.echo(line, err=True)


def _run_batch(asked: Experiment, store: RunStore, max_cost: float | None, *, wait: bool, recorded: bool) -> bool:
    if store.is_shared and is_at_work(store, asked.run_id):
        raise SpecError(
            f"--batch: {asked.run_id}: workers are at it, who would pay for the same; expected to wait until they are "
            f"done (autorater runs show {asked.run_id})"
        )
    summary = run_batch(
        asked,
        store,
        open_batch_service,
        wait=wait,
        max_cost=max_cost,
        tell=lambda line: typer.echo(visible(line), err=True),
        recorded=recorded,
    )
    for line in describe_jobs(summary):
        typer.echo(visible(line), err=True)
    if summary.interrupted:
        raise KeyboardInterrupt
    return not summary.jobs


def warn_of_network(store: Path | None) -> None:
    """Say that a store's file, if it has one, lies where its locks may not hold."""
    system = None if store is None else network_file_system(store)
    if system is not None:
        typer.echo(f"warning: {store} lies on a network file system ({system}), where locks may not hold", err=True)
