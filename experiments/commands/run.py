"""`autorater run`: ask for what is not yet paid, and report."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.commands.options import DEFAULT_STORE, Format, FormatOption, OutOption, StoreOption, check_asking
from experiments.commands.report_output import write_report
from experiments.page.installed import check_page_installed
from experiments.reports.report_file import check_report_file
from experiments.respondents.answering_run import check_batch, explain_limit, limit_of_grading
from experiments.respondents.grid_plan import describe_grid_plan
from experiments.running.asking import ask_models, ask_respondents, warn_of_network
from experiments.running.plan import build_plan
from experiments.running.plan_listing import describe_plan
from experiments.specs.experiment import Experiment, load_experiment
from experiments.store.planned_store import open_planned
from experiments.store.run_store import RunStore
from experiments.store.store_place import StorePlace
from graders.support import require_support

__all__ = ["run"]


def run(
    experiment: Annotated[str, typer.Argument(help="A TOML file, or the name of a shipped experiment.")],
    limit: Annotated[int | None, typer.Option("--limit", help="Judge only the first N items.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan, with what it will cost, and stop.")
    ] = False,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", help="Dollars that this run may cost in all; it stops before."),
    ] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="Hand the calls in as batch jobs: cheaper, within a day.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="With --batch: wait until every job is done.")] = False,
    store: StoreOption = DEFAULT_STORE,
    output_format: FormatOption = Format.text,
    out: OutOption = None,
) -> None:
    """Run an experiment: print the plan, ask for what is not yet paid, print the report.

    A run that was stopped, or killed, continues where it was when the same command is given again.
    An experiment with [answering] first sends the questions of its set to the models named there,
    and then has their answers graded.

    \b
    Examples:
      autorater run quickstart
      autorater run quickstart --limit 20 --dry-run
      autorater run my_experiment.toml --store results.sqlite --format md --out report.md
      autorater run my_experiment.toml --max-cost 5
      autorater run my_experiment.toml --batch

    \b
    An experiment file:
      name = "my_experiment"
      set = "probes"                       # a shipped set, or a folder
      sampling = { temperature = 2.0, repeats = 10, seed = 1 }
      [[graders]]
      prompt = "simpleqa_short@1.0.0"
      model = "local/smollm2"
      [[graders]]
      model = "baseline/lexical"
      sampling = { repeats = 1 }
    """
    check_asking(max_cost, batch=batch, wait=wait)
    if out is not None:
        check_report_file(out)
    if output_format is Format.html:
        check_page_installed()
    asked = load_experiment(experiment, limit=limit)
    if batch:
        check_batch(asked)
    answering = asked.answering.respondents if asked.answering else ()
    require_support((*(respondent.grader for respondent in answering), *asked.graders))
    if dry_run:
        _print_plan(asked, store, batch=batch)
        return
    warn_of_network(store.path)
    with RunStore(store) as opened:
        limit_left = max_cost
        if answering:
            graded = ask_respondents(asked, opened, max_cost, batch=batch, wait=wait)
            if graded is None:
                return
            asked, limit_left = graded, limit_of_grading(asked, opened, max_cost)
        typer.echo(describe_plan(asked, build_plan(asked, opened), opened, batch=batch), err=True)
        with explain_limit(max_cost, limit_left, "answering"):
            ask_models(asked, opened, limit_left, batch=batch, wait=wait)
        write_report(opened, asked.run_id, None, output_format, out)


def _print_plan(asked: Experiment, store: StorePlace, *, batch: bool) -> None:
    """A dry run leaves no file behind."""
    with open_planned(store) as opened:
        typer.echo(_plan_text(asked, opened, batch=batch))


def _plan_text(asked: Experiment, store: RunStore | None, *, batch: bool) -> str:
    if asked.answering is not None:
        return describe_grid_plan(asked, store, batch=batch)
    return describe_plan(asked, build_plan(asked, store), store, batch=batch)
