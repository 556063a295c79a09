"""``autorater report --figures``: a folder of figures beside the report, from the store alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from experiments.commands.report import report
from experiments.errors import ExperimentError
from experiments.plots import installed
from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.run_store import RunStore
from graders.providers import open_client


def ask(*arguments: str) -> Result:
    app = typer.Typer(rich_markup_mode=None)
    app.command()(report)
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def store(study: Any) -> str:
    path: Path = study.folder.parent / "runs.sqlite"
    with RunStore(path) as opened:
        run_experiment(load_experiment(str(study.experiment)), opened, open_client)
    return str(path)


def test_figures_are_written_beside_the_same_report(store: str, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "figures"
    plain = ask("study", "--store", store, "--format", "json")
    drawn = ask("study", "--store", store, "--format", "json", "--figures", str(folder))
    assert drawn.exit_code == 0, drawn.output
    assert drawn.stdout == plain.stdout
    names = sorted({path.stem for path in folder.iterdir()})
    assert {"error_rates", "confusion"} <= set(names)
    assert {path.name for path in folder.iterdir()} == {
        f"{name}.{form}" for name in names for form in ("svg", "pdf", "csv")
    }
    (told,) = drawn.stderr.splitlines()
    assert told.startswith(f"wrote {len(names)} figures to {folder}, each as SVG, PDF and CSV: error_rates, ")


def test_a_folder_with_other_files_is_fine_and_the_same_run_gives_the_same_bytes(store: str, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    contents = []
    for _ in range(2):
        assert ask("study", "--store", store, "--figures", str(tmp_path)).exit_code == 0
        contents.append({path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()})
    assert contents[0] == contents[1]
    assert contents[0]["thesis.tex"] == b"mine"


def test_the_libraries_that_draw_are_loaded_for_figures_alone() -> None:
    told = "import sys, cli; print([name for name in ('altair', 'vl_convert') if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_what_is_in_the_way_is_told_before_the_report(store: str, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "file").write_text("")
    failed = ask("study", "--store", store, "--figures", str(tmp_path / "file"))
    assert isinstance(failed.exception, ExperimentError)
    assert "not a folder; expected a folder that can be written" in str(failed.exception)
    assert failed.stdout == ""
    monkeypatch.setattr(installed, "find_spec", lambda _: None)
    failed = ask("study", "--store", store, "--figures", str(tmp_path / "new"))
    assert "pip install 'autorater-calibration[pages]'" in str(failed.exception)
    assert not (tmp_path / "new").exists()
