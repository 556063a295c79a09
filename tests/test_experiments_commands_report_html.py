"""``autorater report --format html``: a page in a file, from the store alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from command_line import autorater

from experiments.commands.html_output import page_path
from experiments.page import installed
from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.completion_dates import completion_dates
from experiments.store.run_store import RunStore
from graders.providers import open_client

EXPERIMENT_END = """
[[graders]]
model = "baseline/lexical"
sampling = { repeats = 1 }
"""


@pytest.fixture
def folder(study: Any, tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    with RunStore(made / "autorater.sqlite") as opened:
        run_experiment(load_experiment(str(study.experiment)), opened, open_client)
    return made


def test_it_goes_to_a_file_of_the_runs_name_and_says_so(folder: Path) -> None:
    ran = autorater(folder, "report", "study", "--format", "html")
    assert (ran.code, ran.out) == (0, "")
    (path,) = folder.glob("study-*.html")
    assert re.fullmatch(rf"wrote {path.name}, 0\.\d MB\n", ran.err)
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "replay/said.jsonl" in page
    again = autorater(folder, "report", "study", "--format", "html", "--out", "again.html")
    assert again.err.startswith("wrote again.html, ")
    assert (folder / "again.html").read_bytes() == path.read_bytes()


def test_it_has_the_replies_and_dates_of_the_store(folder: Path) -> None:
    autorater(folder, "report", "study", "--format", "html", "--out", "page.html")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "<summary>3 replies</summary>" in page
    assert "CORRECT: A" in page
    with RunStore(folder / "autorater.sqlite") as store:
        (record, created), *_ = store.list_runs()
        grader_id = record.payload["graders"][0]["grader_id"]
        digests = {key.item_digest for key, _ in store.iter_completions(grader_id)}
        dates = completion_dates(store, grader_id, digests, repeats=3)
        assert dates is not None
        assert dates[0] <= dates[1]
        assert completion_dates(store, grader_id, [], repeats=3) is None
        assert completion_dates(store, "nobody", digests, repeats=3) is None
    assert created in page
    assert f"{dates[0][:19]}Z" in page


@pytest.mark.parametrize("form", ["html", "text", "json", "md"])
def test_a_dash_is_the_output(folder: Path, form: str) -> None:
    ran = autorater(folder, "report", "study", "--format", form, "--out", "-")
    assert (ran.code, ran.err) == (0, "")
    again = autorater(folder, "report", "study", "--format", form, "--out", "kept")
    assert again.code == 0, again.err
    assert ran.out == (folder / "kept").read_text(encoding="utf-8")
    assert not (folder / "-").exists()


def test_figures_can_be_written_beside_it(folder: Path) -> None:
    ran = autorater(folder, "report", "study", "--format", "html", "--figures", "figures")
    assert ran.code == 0, ran.err
    assert (folder / "figures" / "confusion.svg").is_file()
    assert len(list(folder.glob("study-*.html"))) == 1


@pytest.mark.parametrize("command", ["report", "run"])
def test_what_is_missing_is_named_with_its_install_command(
    folder: Path, study: Any, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(installed, "find_spec", lambda name: None if name == "jinja2" else object())
    name = "study" if command == "report" else str(study.experiment)
    ran = autorater(folder, command, name, "--format", "html")
    assert ran.code == 2
    assert (
        'jinja2 not installed; expected what the page is made with: pip install "autorater-calibration[pages]"'
        in ran.err
    )
    assert list(folder.glob("*.html")) == []


def test_mistakes_are_named(folder: Path) -> None:
    ran = autorater(folder, "report", "study", "--format", "html", "--out", "nowhere/page.html")
    assert (ran.code, "no folder nowhere; expected an existing folder" in ran.err) == (2, True)
    ran = autorater(folder, "report", "study", "--calibration", "study")
    assert (ran.code, "--calibration: 'study' with --format text; expected --format html" in ran.err) == (2, True)


def test_scores_are_corrected_by_a_calibration_where_the_run_has_one_grader(folder: Path, study: Any) -> None:
    ran = autorater(folder, "report", "study", "--format", "html", "--calibration", "study")
    assert (ran.code, "2 graders in study-" in ran.err) == (2, True)
    study.write_experiment({EXPERIMENT_END: ""})
    with RunStore(folder / "one.sqlite") as opened:
        run_experiment(load_experiment(str(study.experiment)), opened, open_client)
    words = ("report", "study", "--store", "one.sqlite", "--format", "html", "--out", "page.html")
    assert autorater(folder, *words).code == 0
    assert "for the grader's errors" not in (folder / "page.html").read_text(encoding="utf-8")
    ran = autorater(folder, *words, "--calibration", "study")
    assert ran.code == 0, ran.err
    assert "for the grader's errors" in (folder / "page.html").read_text(encoding="utf-8").replace("&#39;", "'")


@pytest.mark.parametrize(
    ("run_id", "name"), [("study-04c1", "study-04c1.html"), ("../a b/<c>", "..-a-b-c-.html"), ("é.x", "é.x.html")]
)
def test_the_name_of_the_file_is_one_of_this_folder(run_id: str, name: str) -> None:
    assert page_path(run_id, None) == Path(name)
    assert page_path(run_id, Path("x/y")) == Path("x/y")
