"""Gates in a test suite: the fixture ``autorater_run`` and the marker ``autorater_gate``, from the store, unpaid.

    def test_the_grader(autorater_run):
        run = autorater_run("nightly", store="results.sqlite")
        run.check("upper(false_negative_rate) <= 3%")
        assert run.rate("flip_rate").value < 0.1

    @pytest.mark.autorater_gate(run="nightly", store="results.sqlite", rule="upper(error_rate) <= 5%")
    def test_gate():
        pass

A rule that fails, fails the test; an undecided one fails it too, with a message of its own, unless
``undecided="skip"``. The store is ``store``, else ``--autorater-store``, else the variable AUTORATER_STORE, else
``autorater.sqlite``, from pytest's root folder. Nothing of the program is imported before a fixture or marker is used.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from experiments.analyses.gating import RuleCheck
    from experiments.analyses.graded_samples import GradedSample
    from experiments.stats.estimate import Estimate

__all__ = [
    "AutoraterRun",
    "autorater_run",
    "pytest_addoption",
    "pytest_configure",
    "pytest_runtest_call",
]

_ARGUMENTS = ("run", "rule", "store", "grader", "level", "undecided")


class AutoraterRun:
    """A grader of a stored run: its measures, and rules that it is held to."""

    def __init__(self, graded: GradedSample, level: float) -> None:
        self._graded, self.level = graded, level

    @property
    def run_id(self) -> str:
        """Whole id of the run."""
        return self._graded.run_id

    @property
    def grader(self) -> str:
        """Prompt and model."""
        return self._graded.name

    @property
    def coverage(self) -> float | None:
        """Verdicts with a label as a share of those asked for."""
        return self._graded.sample.coverage

    def rate(self, name: str) -> Estimate:
        """A measure by the name that it has in rules, with its interval.

        Raises
        ------
        experiments.errors.SpecError
            If there is no measure of that name.
        """
        return self._measure(f"value({name}) >= 0").measured.estimate

    def check(self, rule: str, *, undecided: str = "fail") -> RuleCheck:
        """Hold the grader to a rule: the test fails, or is skipped where it is undecided and ``undecided="skip"``.

        Raises
        ------
        experiments.errors.SpecError
            If it is no rule, or ``undecided`` is neither ``fail`` nor ``skip``.
        """
        _check_undecided(undecided)
        checked = self._measure(rule)
        message = f"{self.grader}, run {self.run_id}: {_text(checked)}"
        if checked.outcome == "undecided" and undecided == "skip":
            pytest.skip(f"UNDECIDED: {message}")
        if checked.outcome != "pass":
            pytest.fail(f"{checked.outcome.upper()}: {message}", pytrace=False)
        return checked

    def _measure(self, rule: str) -> RuleCheck:
        from experiments.analyses.gate_rules import parse_rule
        from experiments.analyses.gating import check_rule
        from experiments.analyses.measuring import measure

        parsed = parse_rule(rule)
        return check_rule(parsed, measure(self._graded, parsed.name, level=self.level))


def _text(checked: RuleCheck) -> str:
    estimate = checked.measured.estimate
    ends = [estimate.value, estimate.low, estimate.high]
    value, low, high = ("not defined" if end is None else f"{end:.4f}" for end in ends)
    coverage = "-" if checked.measured.coverage is None else f"{checked.measured.coverage:.3f}"
    return (
        f"{checked.rule.text}: {checked.why}; {value} [{low}, {high}], {estimate.n} items on {estimate.clusters} "
        f"questions, coverage {coverage}"
    )


@pytest.fixture(name="autorater_run")
def autorater_run(request: pytest.FixtureRequest) -> Any:
    """A function that opens a stored run: ``autorater_run(run, *, store=None, grader=None, level=None)``."""

    def open_run(
        run: str, *, store: str | Path | None = None, grader: str | None = None, level: float | None = None
    ) -> AutoraterRun:
        return _open(request.config, run, store, grader, level)

    return open_run


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take ``--autorater-store``."""
    group = parser.getgroup("autorater")
    group.addoption("--autorater-store", default=None, help="Store of the runs that autorater gates look at.")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "autorater_gate(run, rule, store=None, grader=None, level=None, undecided='fail'): the test fails unless the "
        "stored run keeps the rule, or each of several; undecided='skip' skips it where the interval decides nothing.",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Check the gates of a test before it is called; a gate that is not kept is a failure of the test."""
    markers = list(item.iter_markers("autorater_gate"))
    if not markers:
        return
    from experiments.errors import ExperimentError

    for marker in reversed(markers):
        try:
            _check_marker(item.config, marker.args, marker.kwargs)
        except ExperimentError as error:
            pytest.fail(str(error), pytrace=False)


def _check_marker(config: pytest.Config, args: Sequence[Any], given: Mapping[str, Any]) -> None:
    from experiments.errors import SpecError

    strange = sorted(set(given) - set(_ARGUMENTS))
    if args or strange or not {"run", "rule"} <= set(given):
        got = f"{len(args)} without a name" if args else f"{strange or sorted(given)}"
        raise SpecError(f"autorater_gate: arguments {got}; expected run= and rule=, and of {list(_ARGUMENTS[2:])}")
    undecided = given.get("undecided", "fail")
    _check_undecided(undecided)
    run = _open(config, given["run"], given.get("store"), given.get("grader"), given.get("level"))
    rules = [given["rule"]] if isinstance(given["rule"], str) else list(given["rule"])
    for rule in rules:
        run.check(rule, undecided=undecided)


def _check_undecided(undecided: object) -> None:
    from experiments.errors import SpecError

    if undecided not in ("fail", "skip"):
        raise SpecError(f"undecided: {undecided!r}; expected 'fail' or 'skip'")


def _open(
    config: pytest.Config, run: str, store: str | Path | None, grader: str | None, level: float | None
) -> AutoraterRun:
    from experiments.analyses.graded_samples import find_graded, read_graded_samples
    from experiments.store.run_records import load_run_data
    from experiments.store.run_store import RunStore

    named = store or config.getoption("--autorater-store") or os.environ.get("AUTORATER_STORE") or "autorater.sqlite"
    path = Path(named) if Path(named).is_absolute() else config.rootpath / named
    with RunStore(path, must_exist=True) as opened:
        data, analyses = load_run_data(opened, run)
    return AutoraterRun(find_graded(read_graded_samples(data), grader, option="grader"), level or analyses.level)
