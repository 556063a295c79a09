"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.run_store import RunStore
from graders.providers import open_client

REPLAYED = "grader='replay/said.jsonl'"


@pytest.fixture
def suite(study: Any) -> Path:
    """A folder with the store of the study, for a test suite."""
    folder: Path = study.folder
    with RunStore(folder / "autorater.sqlite") as opened:
        run_experiment(load_experiment(str(study.experiment)), opened, open_client)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n", encoding="utf-8")
    return folder


def _pytest(suite: Path, tests: str, *options: str) -> tuple[int, str]:
    (suite / "test_gates.py").write_text(f"import pytest\n\n{tests}\n", encoding="utf-8")
    # Blocked under the name of its entry point, so that it is registered once whether installed or not.
    plugin = ("-p", "no:autorater", "-p", "experiments.pytest_plugin", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, "-rs", *options, "test_gates.py"],
        cwd=suite,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


def _marked(*arguments: str) -> str:
    return f"@pytest.mark.autorater_gate({', '.join(arguments)})\ndef test_gate():\n    pass\n"


def test_markers_pass_fail_and_are_undecided(suite: Path) -> None:
    tests = "\n".join(
        _marked("run='study'", REPLAYED, *rest).replace("test_gate", f"test_{name}")
        for name, rest in {
            "kept": ("rule='value(false_negative_rate) <= 3%'",),
            "broken": ("rule=['value(false_negative_rate) <= 3%', 'value(false_positive_rate) <= 3%']",),
            "open": ("rule='upper(false_negative_rate) <= 3%'",),
            "skipped": ("rule='upper(false_negative_rate) <= 3%'", "undecided='skip'"),
            "misspelt": ("rule='upper(nothing) <= 3%'",),
            "unknown": ("rules='value(kappa) <= 1'",),
            "neither": ("rule='value(kappa) <= 1'", "undecided='pass'"),
        }.items()
    )
    code, output = _pytest(suite, tests)
    assert code == 1
    assert "5 failed, 1 passed, 1 skipped" in output
    assert "FAIL: simpleqa@1.0.0 replay/said.jsonl, run study-" in output
    assert "value(false_positive_rate) <= 0.03: by the value alone; its interval reaches across the limit" in output
    assert "UNDECIDED: simpleqa@1.0.0 replay/said.jsonl" in output
    assert "the interval reaches across the limit" in output
    assert "expected one of ['false_negative_rate'" in output
    assert "expected run= and rule=" in output
    assert "undecided: 'pass'; expected 'fail' or 'skip'" in output


def test_the_fixture_gives_rates_and_checks_rules(suite: Path) -> None:
    (suite / "autorater.sqlite").rename(suite / "other.sqlite")
    tests = f"""
def test_rates(autorater_run):
    run = autorater_run("study", {REPLAYED}, level=0.9)
    assert run.rate("false_positive_rate").value == pytest.approx(2 / 12)
    assert run.rate("kappa").level == 0.9
    assert (run.coverage, run.grader) == (1.0, "simpleqa@1.0.0 replay/said.jsonl")
    assert run.check("value(error_rate) <= 0.5", "value(coverage) >= 99%").outcome == "pass"
    with pytest.raises(pytest.skip.Exception, match="UNDECIDED"):
        run.check("upper(error_rate) <= 10%", undecided="skip")

def test_which_grader(autorater_run):
    autorater_run("study")
"""
    code, output = _pytest(suite, tests, "--autorater-store", "other.sqlite")
    assert code == 1
    assert "1 passed" in output
    assert "grader: 2 graders in run" in output


def test_a_mistake_is_told_once_in_the_words_of_the_test(suite: Path) -> None:
    tests = f"""
def test_wrong_rate(autorater_run):
    autorater_run("study", {REPLAYED}).rate("nope")

def test_wrong_rule(autorater_run):
    autorater_run("study", {REPLAYED}).check("upper(nope) <= 3%")

def test_no_rule(autorater_run):
    autorater_run("study", {REPLAYED}).check()

def test_wrong_store(autorater_run):
    autorater_run("study", store="none.sqlite")

def test_wrong_level(autorater_run):
    autorater_run("study", {REPLAYED}, level=95)
"""
    code, output = _pytest(suite, tests)
    assert code == 1
    assert "5 failed" in output
    for message in (
        "rate: 'nope'; expected one of",
        "rule 'upper(nope) <= 3%': 'nope'; expected one of",
        "rule: none given; expected one or more",
        "expected the file of an earlier run (or store=PATH)",
        "level: 95; expected a number between 0.5 and 1",
    ):
        assert output.count(message) == 1, message
    assert "During handling" not in output
    assert "--rule" not in output
    assert "gate_rules.py" not in output
    assert "pytest_plugin.py" not in output


def test_a_marker_without_a_rule_is_an_error_and_no_pass(suite: Path) -> None:
    given = ("rule=[]", "rule=''", "rule=None", "rule='upper(nope) <= 1%'")
    tests = "\n".join(
        _marked("run='study'", REPLAYED, rule).replace("test_gate", f"test_{place}") for place, rule in enumerate(given)
    )
    code, output = _pytest(suite, tests)
    assert code == 1
    assert "4 failed" in output
    for message in (
        "autorater_gate: rule: none given; expected one or more",
        "autorater_gate: rule '': not a rule",
        "autorater_gate: rule: None; expected text, or a list of texts",
        "autorater_gate: rule 'upper(nope) <= 1%': 'nope'; expected one of",
    ):
        assert output.count(message) == 1, message
    assert "During handling" not in output


def test_a_missing_store_is_told_by_the_option_that_named_it(suite: Path) -> None:
    marked = _marked("run='study'", REPLAYED, "rule='value(kappa) <= 1'")
    code, output = _pytest(suite, marked, "--autorater-store", "none.sqlite")
    assert code == 1
    assert "none.sqlite: no such store" in output
    assert "(or --autorater-store PATH)" in output


def test_nothing_heavy_is_imported_unless_it_is_used(suite: Path) -> None:
    tests = """
def test_light():
    import sys
    heavy = [name for name in ("numpy", "scipy", "sqlalchemy", "pydantic", "typer", "pandas") if name in sys.modules]
    assert heavy == []
"""
    code, output = _pytest(suite, tests, "-p", "no:hypothesispytest")
    assert code == 0, output


def test_a_store_that_is_not_there_is_named_and_not_made(suite: Path) -> None:
    code, output = _pytest(suite, _marked("run='study'", "rule='value(kappa) <= 1'", "store='none.sqlite'"))
    assert code == 1
    assert "none.sqlite" in output
    assert not (suite / "none.sqlite").exists()


def test_the_entry_point_is_this_module() -> None:
    text = (Path(__file__).resolve().parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    points = tomllib.loads(text)["project"]["entry-points"]["pytest11"]
    assert points == {"autorater": "experiments.pytest_plugin"}
    assert hasattr(import_module(points["autorater"]), "pytest_runtest_call")
