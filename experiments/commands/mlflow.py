"""`autorater mlflow`: the report of a run in MLflow."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.commands.html_output import render_run_page
from experiments.commands.options import DEFAULT_STORE, StoreOption
from experiments.errors import SpecError
from experiments.outlets.mlflow_report import log_report
from experiments.page.installed import check_page_installed
from experiments.reports import build_report
from experiments.reports.escaping import visible
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore

__all__ = ["mlflow"]


def mlflow(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id, or enough of its beginning.")],
    tracking_uri: Annotated[
        str | None,
        typer.Option(
            "--tracking-uri", metavar="URI", help="MLflow's server or database; default: MLflow's own setting."
        ),
    ] = None,
    experiment: Annotated[
        str, typer.Option("--experiment", metavar="NAME", help="MLflow's experiment; made where there is none.")
    ] = "autorater",
    page: Annotated[bool, typer.Option("--page/--no-page", help="Whether the page is one of the artefacts.")] = True,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Log the report of a run to MLflow, once; no model is called.

    One MLflow run holds the report (JSON, page, digests), and in it one for each grader its estimates as metrics.

    \b
    Examples:
      autorater mlflow quickstart --tracking-uri http://localhost:5000
      autorater mlflow quickstart --tracking-uri sqlite:///mlflow.db --experiment graders
    """
    if page:
        check_page_installed("the page among the artefacts (--no-page leaves it out)")
    with RunStore(store, must_exist=True) as opened:
        data, analyses = load_run_data(opened, run)
        if data.answering is not None:
            raise SpecError(
                f"{data.run_id}: it asked models that answer, and nobody labelled; expected a run of graders"
            )
        shown = render_run_page(opened, data, level=analyses.level) if page else None
    report = build_report(data, level=analyses.level)
    logged = log_report(report, shown, experiment=experiment, tracking_uri=tracking_uri)
    typer.echo(f"{'logged' if logged.is_new else 'already logged'}: {data.run_id} as MLflow run {logged.run_id}")
    for grader, measures in logged.not_defined.items():
        typer.echo(visible(f"not defined, so no metric: {grader}: {', '.join(measures)}"), err=True)
