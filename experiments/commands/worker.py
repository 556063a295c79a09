"""``autorater worker``: help with a run from any machine that reaches its store."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console

from experiments.commands.options import DEFAULT_STORE, StoreOption, check_asking
from experiments.errors import SpecError
from experiments.reports.escaping import visible
from experiments.running.asking import check_none_in_batch
from experiments.running.joining import join_run
from experiments.running.progress import open_progress
from experiments.running.runner import run_experiment
from experiments.running.sharing import WorkerTerms
from experiments.store.run_listing import describe_summary
from experiments.store.run_store import RunStore
from graders.providers import open_client

__all__ = ["worker"]


def worker(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id, or enough of its beginning.")],
    graders: Annotated[
        list[str] | None,
        typer.Option("--graders", metavar="NAME", help="Ask only this grader; may be repeated. Default: all it can."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="What 'autorater runs show' calls it; default: machine and process.")
    ] = None,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait/--no-wait",
            help="Stay until all is there, and take over what other workers lose; or end when nothing is free.",
        ),
    ] = True,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", help="Dollars that the run may cost in all, over all of its workers."),
    ] = None,
    experiment: Annotated[
        str | None,
        typer.Option("--experiment", metavar="FILE", help="The run's file, where its record does not rebuild it."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Join a run: claim what nobody else is asking, ask for it, and store it.

    The run must be in a store on a PostgreSQL server, where 'autorater run' has recorded it; its record says which
    prompts and models it has, so nothing else is needed here but the keys or engines of these. Graders that cannot
    be asked here are left to other workers. Ctrl-C waits for what is under way, and gives the rest back.

    \b
    Examples:
      autorater worker study --store postgresql://me@db.example.org/evals
      autorater worker study --graders local/smollm2 --name gpu-7
      autorater worker study --no-wait
    """
    check_asking(max_cost, batch=False, wait=False)
    if store.address is None:
        raise SpecError(
            f"{store}: a file, which one process at a time works with; expected --store postgresql://..., "
            "or 'autorater run' for a run in a file"
        )
    with RunStore(store, must_exist=True) as opened:
        joined = join_run(opened, run, file=experiment, graders=graders or ())
        for line in joined.left:
            typer.echo(visible(line), err=True)
        check_none_in_batch(joined.experiment, opened)
        terms = WorkerTerms(joined.run_id, waits=wait, resumes=True, has_all_graders=joined.is_whole)
        terms = replace(terms, name=name) if name else terms
        typer.echo(f"{visible(terms.name)} works for run {joined.run_id}", err=True)
        with open_progress(Console(stderr=True)) as progress:
            summary = run_experiment(
                joined.experiment, opened, open_client, progress, max_cost=max_cost, recorded=False, terms=terms
            )
        for line in describe_summary(summary):
            typer.echo(line, err=True)
