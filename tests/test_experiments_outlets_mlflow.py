"""Reports in MLflow, in a database of its own: estimates with intervals, digests, files, and nothing twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import SmallRuns, Study
from typer.testing import CliRunner, Result

import cli
from experiments.errors import ExperimentError
from experiments.outlets.mlflow_report import DIGEST_TAG, LoggedReport, log_report
from experiments.reports import build_report

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]
"""MLflow uses what SQLAlchemy calls deprecated, and takes seconds to make a database."""


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database, which takes MLflow seconds to make; each test has an experiment of its own in it."""
    return f"sqlite:///{tmp_path_factory.mktemp('mlflow') / 'mlflow.db'}"


@pytest.fixture
def experiment(request: pytest.FixtureRequest) -> str:
    name: str = request.node.name
    return name


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("DO_NOT_TRACK", "true")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


@pytest.fixture
def client(uri: str) -> Any:
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=uri)


def runs_in(client: Any, experiment: str) -> list[Any]:
    found = client.get_experiment_by_name(experiment)
    return list(client.search_runs([found.experiment_id])) if found else []


def split(client: Any, experiment: str) -> tuple[list[Any], dict[str, Any]]:
    """The runs of reports, and those of graders by name."""
    every = runs_in(client, experiment)
    inner = {run.info.run_name: run for run in every if "mlflow.parentRunId" in run.data.tags}
    return [run for run in every if DIGEST_TAG in run.data.tags], inner


def cli_log(study: Study, uri: str, experiment: str, *more: str) -> Result:
    store = study.folder / "store.sqlite"
    return CliRunner().invoke(
        cli.app, ["mlflow", "study", "--store", str(store), "--tracking-uri", uri, "--experiment", experiment, *more]
    )


@pytest.fixture
def report(study: Study) -> dict[str, Any]:
    store = study.folder / "store.sqlite"
    asked = ["run", str(study.experiment), "--store", str(store), "--format", "json", "--out", "report.json"]
    result = CliRunner().invoke(cli.app, asked)
    assert result.exit_code == 0, result.output
    read: dict[str, Any] = json.loads(Path("report.json").read_text(encoding="utf-8"))
    return read


def test_what_is_logged_is_the_report(
    study: Study, report: dict[str, Any], client: Any, uri: str, experiment: str
) -> None:
    result = cli_log(study, uri, experiment)
    assert result.exit_code == 0, result.output
    ((outer,), inner) = split(client, experiment)
    assert outer.info.run_id in result.stdout
    assert outer.info.run_name == report["run"]["run_id"]
    assert outer.data.tags["autorater.set_digest"] == report["set"]["digest"]
    assert outer.data.tags["autorater.grader_ids"] == ", ".join(one["grader_id"] for one in report["graders"])
    assert outer.info.status == "FINISHED"
    assert len(inner) == len(report["graders"]) == 2
    for section in report["graders"]:
        (run,) = [one for one in inner.values() if one.data.tags["autorater.grader_id"] == section["grader_id"]]
        assert run.data.tags["mlflow.parentRunId"] == outer.info.run_id
        assert run.data.params["model"] == section["model"]
        assert run.data.params["sampling.repeats"] == str(section["sampling"]["repeats"])
        for measure in ("false_negative_rate", "false_positive_rate", "flip_rate", "alpha_repeats"):
            check_metric(run, measure, section)
        assert run.data.metrics["n_verdicts"] == section["n_verdicts"]
    prompt = inner["simpleqa@1.0.0 replay/said.jsonl"]
    assert prompt.data.tags["autorater.prompt_digest"] == report["graders"][0]["prompt"].partition("#")[2]


def check_metric(run: Any, measure: str, section: dict[str, Any]) -> None:
    told, metrics = section[measure], run.data.metrics
    if told["value"] is None:
        assert not [name for name in metrics if name.partition(".")[0] == measure]
        assert f"{measure}: {section['not_defined'][measure]}" in run.data.tags["autorater.not_defined"].splitlines()
    else:
        assert [metrics[measure], metrics[f"{measure}.n"]] == [told["value"], told["n"]]
        ends = {end: told[end] for end in ("low", "high") if told[end] is not None}
        assert {end: metrics[f"{measure}.{end}"] for end in ends} == ends


def test_report_and_page_are_artefacts(
    study: Study, report: dict[str, Any], client: Any, uri: str, experiment: str
) -> None:
    assert cli_log(study, uri, experiment).exit_code == 0
    ((outer,), _) = split(client, experiment)
    assert sorted(one.path for one in client.list_artifacts(outer.info.run_id)) == ["report.html", "report.json"]
    folder = Path(client.download_artifacts(outer.info.run_id, ""))
    assert json.loads((folder / "report.json").read_text(encoding="utf-8")) == report
    assert "<title>" in (folder / "report.html").read_text(encoding="utf-8")


def test_the_same_report_is_logged_once_and_another_beside_it(
    study: Study, report: dict[str, Any], client: Any, uri: str, experiment: str
) -> None:
    assert report
    first, second = cli_log(study, uri, experiment, "--no-page"), cli_log(study, uri, experiment, "--no-page")
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert first.stdout.startswith("logged: study-")
    assert second.stdout == f"already {first.stdout}"
    assert len(runs_in(client, experiment)) == 1 + 2
    assert cli_log(study, uri, f"{experiment} again", "--no-page").stdout.startswith("logged: ")
    assert len(runs_in(client, f"{experiment} again")) == 1 + 2


def test_a_log_that_broke_off_does_not_count(
    runs: SmallRuns, client: Any, uri: str, experiment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    made = build_report(runs.run([("C", "CC"), ("I", "IC")]))
    with monkeypatch.context() as patch:

        def refuse(*_: object, **__: object) -> None:
            raise MlflowException("the disk is full")

        patch.setattr(MlflowClient, "log_batch", refuse)
        with pytest.raises(ExperimentError, match=r"--tracking-uri sqlite:///.*mlflow\.db: the disk is full; expected"):
            log_report(made, None, experiment=experiment, tracking_uri=uri)
    again = log_report(made, None, experiment=experiment, tracking_uri=uri)
    assert again.is_new
    assert log_report(made, None, experiment=experiment, tracking_uri=uri) == LoggedReport(
        again.run_id, False, again.not_defined
    )


def test_measures_that_are_not_defined_are_named_and_have_no_metric(
    runs: SmallRuns, client: Any, uri: str, experiment: str
) -> None:
    """One verdict an item, and one side of people's labels: flips and false positives are not defined."""
    logged = log_report(build_report(runs.run([("C", "C"), ("C", "I")])), None, experiment=experiment, tracking_uri=uri)
    (measures,) = logged.not_defined.values()
    assert {"flip_rate", "false_positive_rate"} <= set(measures)
    (_, inner) = split(client, experiment)
    (run,) = inner.values()
    assert run.data.metrics["false_negative_rate"] == 1 / 2
    assert not {"flip_rate", "false_positive_rate"} & run.data.metrics.keys()


def test_failures_are_metrics_and_people_are_the_reports(
    runs: SmallRuns, client: Any, uri: str, experiment: str
) -> None:
    made = build_report(runs.run([("CC", "C-"), ("II", ".I"), ("CI", "??")]))
    log_report(made, None, experiment=experiment, tracking_uri=uri)
    ((outer,), inner) = split(client, experiment)
    (run,) = inner.values()
    counted = {name: value for name, value in run.data.metrics.items() if name.startswith("failures.")}
    assert counted == {"failures.ambiguous": 2, "failures.not_answered": 1, "failures.unparsed": 1}
    assert run.data.metrics["coverage"] == 2 / 6
    alpha = made["human_agreement"]["alpha"]
    assert outer.data.metrics["human_agreement.alpha"] == alpha["value"]


def test_without_the_pages_libraries_the_option_is_named(
    study: Study, uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.page.installed.find_spec", lambda _: None)
    result = cli_log(study, uri, "none")
    assert isinstance(result.exception, ExperimentError)
    assert str(result.exception).startswith("the page among the artefacts (--no-page leaves it out): altair")


def test_what_cannot_be_logged_is_one_line(study: Study, report: dict[str, Any]) -> None:
    assert report
    result = CliRunner().invoke(
        cli.app,
        ["mlflow", "study", "--store", str(study.folder / "store.sqlite"), "--tracking-uri", "ftp://x", "--no-page"],
    )
    assert isinstance(result.exception, ExperimentError)
    assert str(result.exception).startswith("--tracking-uri ftp://x: ")
    assert "\n" not in str(result.exception)
