"""The report of a run as a page, to a file."""

from __future__ import annotations

import re
from pathlib import Path

import typer

from experiments.analyses.run_decisions import RunDecisions, decide_run
from experiments.analyses.scores.scoring import score_benchmark
from experiments.analyses.scores.scoring_inputs import GraderChoice, read_scoring
from experiments.analyses.scores.scoring_results import Scoring, ScoringChoice
from experiments.errors import SpecError
from experiments.reports import build_report
from experiments.reports.inputs import RunData
from experiments.reports.report_file import STDOUT, check_report_file, write_report_file
from experiments.store.completion_dates import completion_dates
from experiments.store.run_records import load_decisions, load_run_data
from experiments.store.run_store import RunStore

__all__ = ["page_path", "render_run_page", "write_run_page"]

_STRANGE = re.compile(r"[^\w.-]+")


def page_path(run_id: str, out: Path | None) -> Path:
    """Where the page goes: ``--out`` (``-`` for the output), or a file of the run's name in the current folder."""
    return Path(f"{_STRANGE.sub('-', run_id)}.html") if out is None else out


def write_run_page(
    store: RunStore,
    data: RunData,
    out: Path | None,
    *,
    level: float,
    times: bool = False,
    calibration: str | None = None,
) -> None:
    """Write the page of a run, and tell where; no model is called.

    Parameters
    ----------
    store
        Where its replies and dates are, and its calibration.
    data
        The run.
    out
        The file; ``None`` for one of the run's name.
    level
        Confidence level of all intervals.
    times
        Whether to tell how long calls took.
    calibration
        Run whose grader is the same, on items that people labelled, to correct scores by.

    Raises
    ------
    ExperimentError
        If the file cannot be written, or the calibration is no such run.
    """
    path = page_path(data.run_id, out)
    check_report_file(path)
    write_report_file(path, render_run_page(store, data, level=level, times=times, calibration=calibration))
    if path != STDOUT:
        size = f", {path.stat().st_size / 1e6:.1f} MB" if path.is_file() else ""
        typer.echo(f"wrote {path}{size}", err=True)


def render_run_page(
    store: RunStore, data: RunData, *, level: float, times: bool = False, calibration: str | None = None
) -> str:
    """The page of a run as text; parameters and errors are those of :func:`write_run_page`."""
    decided = decide_run(data, load_decisions(store, data.run_id), level=level)
    scoring = None if calibration is None else _score(store, data, calibration, level=level)
    return _page(store, data, decided, scoring, level=level, times=times)


def _page(
    store: RunStore, data: RunData, decided: RunDecisions, scoring: Scoring | None, *, level: float, times: bool
) -> str:
    # The libraries that draw and lay out take a second to load, and are optional.
    from experiments.page.build import PageInputs, build_page
    from experiments.page.item_table import build_item_table
    from experiments.page.replies import MOST_READ, read_replies
    from experiments.plots.report_figures import build_figures

    report, table = build_report(data, level=level, times=times), build_item_table(data)
    figures = build_figures(
        data,
        None if data.answering is not None else report,
        choice=decided.choice,
        wordings=decided.wordings,
        scoring=scoring,
    )
    asked = sum(int(results.sampling.get("repeats") or 1) for results in data.graders)
    digests = [row.item.digest for row in table.rows[: MOST_READ // max(1, asked)]]
    created = store.run_times()
    return build_page(
        PageInputs(
            data=data,
            report=report,
            decided=decided,
            figures=figures,
            table=table,
            replies=read_replies(store, data.graders, digests),
            n_read=len(digests),
            scoring=scoring,
            recorded=created.get(data.run_id),
            dates=_dates(store, data),
        )
    )


def _dates(store: RunStore, data: RunData) -> dict[str, tuple[str, str]]:
    digests = [item.digest for item in data.calibration_set.items]
    found = {
        results.grader_id: completion_dates(
            store, results.grader_id, digests, repeats=int(results.sampling.get("repeats") or 1)
        )
        for results in data.graders
    }
    return {grader_id: dates for grader_id, dates in found.items() if dates is not None}


def _score(store: RunStore, data: RunData, calibration: str, *, level: float) -> Scoring:
    if len(data.graders) != 1:
        raise SpecError(
            f"--calibration: {len(data.graders)} graders in {data.run_id}; expected a run of one "
            "(autorater score --grader corrects by any)"
        )
    known = load_run_data(store, calibration)[0]
    read, labelled = read_scoring([data], known, GraderChoice(None, None, False))
    return score_benchmark(read[0], labelled, ScoringChoice(level=level))
