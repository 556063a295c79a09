"""The report of a run in MLflow: a run of the report, and in it one for each grader with its estimates."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.errors import ExperimentError
from experiments.reports.render_json import render_json
from experiments.reports.report_estimates import find_estimates
from experiments.specs.joint_graders import name_graders

if TYPE_CHECKING:
    from mlflow import MlflowClient

__all__ = ["LoggedReport", "log_report"]

DIGEST_TAG = "autorater.report_digest"
"""SHA-256 of the JSON report: what is logged once is not logged again."""

_PARENT_TAG = "mlflow.parentRunId"
_MOST_CHARACTERS = 5000
"""Of a tag; some servers take no more."""


@dataclass(frozen=True, slots=True)
class LoggedReport:
    """Where a report is in MLflow.

    Attributes
    ----------
    run_id
        MLflow's id of the report's run.
    is_new
        Whether it was logged now; else it had been logged before, and nothing was changed.
    not_defined
        Grader to the measures that it has no value for, and which are therefore no metrics of it.
    """

    run_id: str
    is_new: bool
    not_defined: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _GraderEntry:
    """What is logged of one grader; a measure that is not defined is named and has no metric."""

    name: str
    params: Mapping[str, str]
    tags: Mapping[str, str]
    metrics: Mapping[str, float]
    not_defined: Mapping[str, str]


def log_report(
    report: Mapping[str, Any], page: str | None, *, experiment: str, tracking_uri: str | None = None
) -> LoggedReport:
    """Log a report once: estimates as metrics with ``.low``, ``.high`` and ``.n`` beside them, digests as tags.

    Parameters
    ----------
    report
        The report as plain values, by :func:`experiments.reports.build_report`.
    page
        The report as a page, or ``None`` to log none.
    experiment
        Name of MLflow's experiment; made where there is none.
    tracking_uri
        MLflow's server or database; by default what MLflow's own settings say.

    Raises
    ------
    ExperimentError
        If MLflow is not installed, or its server or database refuses.
    """
    text = render_json(report)
    digest = hashlib.sha256(text.encode()).hexdigest()
    entries = tuple(_read_graders(report))
    missing = {entry.name: tuple(entry.not_defined) for entry in entries if entry.not_defined}
    client = _open(tracking_uri)
    with _errors_named(tracking_uri):
        experiment_id = _find_experiment(client, experiment)
        known = _find_logged(client, experiment_id, digest)
        if known is not None:
            return LoggedReport(known, False, missing)
        run_id = _log(client, experiment_id, report, {"report.json": text, "report.html": page}, digest)
        for entry in entries:
            _log_grader(client, experiment_id, run_id, entry)
        client.set_terminated(run_id)
    return LoggedReport(run_id, True, missing)


def _open(tracking_uri: str | None) -> MlflowClient:
    try:
        from mlflow import MlflowClient
    except ImportError as error:
        raise ExperimentError("mlflow: not installed; expected pip install 'autorater-calibration[mlflow]'") from error
    with _errors_named(tracking_uri):
        return MlflowClient(tracking_uri=tracking_uri)


@contextmanager
def _errors_named(tracking_uri: str | None) -> Iterator[None]:
    from mlflow.exceptions import MlflowException

    try:
        yield
    except MlflowException as error:
        where = tracking_uri or "MLflow's own setting"
        first = " ".join(str(error).split())
        raise ExperimentError(f"--tracking-uri {where}: {first}; expected a tracking server or database") from error


def _find_experiment(client: MlflowClient, name: str) -> str:
    found = client.get_experiment_by_name(name)
    return client.create_experiment(name) if found is None else str(found.experiment_id)


def _find_logged(client: MlflowClient, experiment_id: str, digest: str) -> str | None:
    """The run of the same report that was logged to its end; one that broke off does not count."""
    wanted = f"tags.`{DIGEST_TAG}` = '{digest}' and attributes.status = 'FINISHED'"
    found = client.search_runs([experiment_id], filter_string=wanted, max_results=1)
    return str(found[0].info.run_id) if found else None


def _log(
    client: MlflowClient, experiment_id: str, report: Mapping[str, Any], files: Mapping[str, str | None], digest: str
) -> str:
    about, judged = report["run"], report["set"]
    tags = {
        DIGEST_TAG: digest,
        "autorater.run_id": about["run_id"],
        "autorater.set_digest": judged["digest"],
        "autorater.grader_ids": ", ".join(section["grader_id"] for section in report["graders"]),
        "autorater.warnings": _cut("\n".join(report["warnings"])) or "none",
    }
    run_id = str(client.create_run(experiment_id, run_name=about["run_id"], tags=tags).info.run_id)
    params = {
        "set": f"{judged['name']} {judged['version']}",
        "n_items": about["n_items"],
        "n_items_in_set": about["n_items_in_set"],
        "level": about["level"],
        "parser_rule": about["parser_rule"],
    }
    for name, value in params.items():
        client.log_param(run_id, name, value)
    for found in find_estimates(report):
        if found.grader is None:
            for name, value in _values(found.measure, found.fields).items():
                client.log_metric(run_id, name, value)
    for file, content in files.items():
        if content is not None:
            client.log_text(run_id, content, file)
    return run_id


def _log_grader(client: MlflowClient, experiment_id: str, parent: str, entry: _GraderEntry) -> None:
    from mlflow.entities import Metric, Param

    tags = {**entry.tags, _PARENT_TAG: parent}
    if entry.not_defined:
        tags["autorater.not_defined"] = _cut("\n".join(f"{name}: {why}" for name, why in entry.not_defined.items()))
    run_id = client.create_run(experiment_id, run_name=entry.name, tags=tags).info.run_id
    now = int(time.time() * 1000)
    metrics = [Metric(name, value, now, 0) for name, value in entry.metrics.items()]
    for first in range(0, len(metrics), 500):
        client.log_batch(run_id, metrics=metrics[first : first + 500])
    client.log_batch(run_id, params=[Param(name, value) for name, value in entry.params.items()])
    client.set_terminated(run_id)


def _read_graders(report: Mapping[str, Any]) -> Iterator[_GraderEntry]:
    sections = report["graders"]
    names = name_graders(
        [one["prompt"] for one in sections], [one["model"] for one in sections], [one["grader_id"] for one in sections]
    )
    for name, section in zip(names, sections, strict=True):
        whole = [one for one in find_estimates(report) if one.grader is section and one.by is None]
        metrics: dict[str, float] = dict(_counts(section))
        for found in whole:
            metrics |= _values(found.measure, found.fields)
        yield _GraderEntry(
            name=name,
            params=_params(section),
            tags=_tags(section),
            metrics=metrics,
            not_defined={one.measure: one.not_defined or "not defined" for one in whole if one.fields["value"] is None},
        )


def _values(measure: str, fields: Mapping[str, Any]) -> dict[str, float]:
    """An estimate with its interval and the items it rests on; nothing where it is not defined."""
    if fields["value"] is None:
        return {}
    ends = {f"{measure}.{end}": fields[end] for end in ("low", "high") if fields[end] is not None}
    return {measure: fields["value"], **ends, f"{measure}.n": fields["n"]}


def _counts(section: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    yield "n_expected", section["n_expected"]
    yield "n_verdicts", section["n_verdicts"]
    if section["coverage"] is not None:
        yield "coverage", section["coverage"]
    if section["cost"] is not None:
        yield "dollars" if section["cost"]["complete"] else "dollars_at_least", section["cost"]["dollars"]
    for reason, n in section["failures"].items():
        yield f"failures.{reason}", n


def _params(section: Mapping[str, Any]) -> dict[str, str]:
    asked = {f"sampling.{name}": value for name, value in section["sampling"].items() if value is not None}
    named = {name: section[name] for name in ("model", "prompt", "rubric") if section[name] is not None}
    return {name: str(value) for name, value in {**named, **asked}.items()}


def _tags(section: Mapping[str, Any]) -> dict[str, str]:
    prompt = {} if section["prompt"] is None else {"autorater.prompt_digest": section["prompt"].partition("#")[2]}
    return {"autorater.grader_id": section["grader_id"], **prompt}


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 3]}..."
