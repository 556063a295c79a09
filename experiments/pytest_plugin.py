"""Gates in a test suite: the fixture ``autorater_run`` and the marker ``autorater_gate``, from the store, unpaid.

    def test_the_grader(autorater_run):
        run = autorater_run("nightly", store="results.sqlite")
        run.check("upper(false_negative_rate) <= 3%")
        assert run.rate("flip_rate").value < 0.1

    @pytest.mark.autorater_gate(run="nightly", store="results.sqlite", rule="upper(error_rate) <= 5%")
    def test_gate():
        pass

Several rules (``run.check`` takes more than one, ``rule=`` a list) are held together. One that fails, fails the test;
an undecided one fails it too, with a message of its own, unless ``undecided="skip"``. The store is ``store``, else
``--autorater-store``, else the variable AUTORATER_STORE, else ``autorater.sqlite``, from pytest's root folder. Nothing
of the program is imported before a fixture or marker is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from experiments.analyses.gates.gating import Gate, RuleCheck
    from experiments.analyses.graded_samples import GradedSample
    from experiments.stats.estimate import Estimate

__all__ = [
    "AutoraterRun",
    "autorater_run",
    "pytest_addoption",
    "pytest_configure",
    "pytest_runtest_call",
]

_Answer = TypeVar("_Answer")
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
        __tracebackhide__ = True
        from experiments.analyses.gates.gate_rules import check_measure
        from experiments.analyses.measuring import measure

        return _in_one_line(lambda: measure(self._graded, check_measure("rate", name), level=self.level).estimate)

    def check(self, *rules: str, undecided: str = "fail") -> Gate:
        """Hold the grader to one or more rules, all of which have to pass.

        The test fails, or is skipped where they are undecided and ``undecided="skip"``. A rule on ``coverage`` or
        ``failure_rate`` among them says how many verdicts may be missing; without one, a rule passes only if it does
        whatever the missing verdicts would have been.

        Raises
        ------
        experiments.errors.SpecError
            If one is no rule, none is given, or ``undecided`` is neither ``fail`` nor ``skip``.
        """
        __tracebackhide__ = True
        gate = _in_one_line(lambda: self._gate(rules, undecided))
        if gate.outcome == "undecided" and undecided == "skip":
            pytest.skip(_outcome_text(gate))
        if gate.outcome != "pass":
            pytest.fail(_outcome_text(gate), pytrace=False)
        return gate

    def _gate(self, rules: Sequence[str], undecided: str) -> Gate:
        from experiments.analyses.gates.gate_rules import parse_rule
        from experiments.analyses.gates.gating import check_gate
        from experiments.errors import SpecError

        if undecided not in ("fail", "skip"):
            raise SpecError(f"undecided: {undecided!r}; expected 'fail' or 'skip'")
        if not rules:
            raise SpecError("rule: none given; expected one or more")
        return check_gate(self._graded, [parse_rule(rule, option="rule") for rule in rules], level=self.level)


def _in_one_line(ask: Callable[[], _Answer]) -> _Answer:
    """What is asked for; a mistake is raised anew, so that pytest shows the test's own line and the message alone."""
    __tracebackhide__ = True
    from experiments.errors import ExperimentError

    try:
        return ask()
    except ExperimentError as error:
        raise type(error)(str(error)) from None


def _outcome_text(gate: Gate) -> str:
    """What decided, and each rule that did not pass."""
    reasons = "; ".join(_text(check) for check in gate.rules if check.outcome != "pass")
    return f"{gate.outcome.upper()}: {gate.grader}, run {gate.run_id}: {reasons}"


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
        __tracebackhide__ = True
        return _in_one_line(lambda: _open(request.config, run, store, grader, level))

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
    for marker in reversed(markers):
        wrong = _check_marker(item.config, marker.args, marker.kwargs)
        if wrong is not None:
            pytest.fail(wrong, pytrace=False)


def _check_marker(config: pytest.Config, args: Sequence[Any], given: Mapping[str, Any]) -> str | None:
    """Hold a test to its marker; what is wrong with the marker itself, in one line."""
    from experiments.errors import ExperimentError

    try:
        _hold(config, args, given)
    except ExperimentError as error:
        return f"autorater_gate: {error}"
    return None


def _hold(config: pytest.Config, args: Sequence[Any], given: Mapping[str, Any]) -> None:
    from experiments.errors import SpecError

    strange = sorted(set(given) - set(_ARGUMENTS))
    if args or strange or not {"run", "rule"} <= set(given):
        got = f"{len(args)} without a name" if args else f"{strange or sorted(given)}"
        raise SpecError(f"arguments {got}; expected run= and rule=, and of {list(_ARGUMENTS[2:])}")
    rules = given["rule"] if isinstance(given["rule"], (list, tuple)) else [given["rule"]]
    if not all(isinstance(rule, str) for rule in rules):
        raise SpecError(f"rule: {given['rule']!r}; expected text, or a list of texts")
    run = _open(config, given["run"], given.get("store"), given.get("grader"), given.get("level"))
    run.check(*rules, undecided=given.get("undecided", "fail"))


def _open(
    config: pytest.Config, run: str, store: str | Path | None, grader: str | None, level: float | None
) -> AutoraterRun:
    from experiments.analyses.graded_samples import find_graded, read_graded_samples
    from experiments.errors import SpecError
    from experiments.store.run_records import load_run_data
    from experiments.store.run_store import RunStore
    from experiments.store.store_place import parse_place

    if level is not None and not 0.5 < level < 1:
        raise SpecError(f"level: {level!r}; expected a number between 0.5 and 1")
    named, option = _find_store(config, store)
    with RunStore(parse_place(named).under(config.rootpath), must_exist=True, option=option) as opened:
        data, analyses = load_run_data(opened, run)
    return AutoraterRun(find_graded(read_graded_samples(data), grader, option="grader"), level or analyses.level)


def _find_store(config: pytest.Config, store: str | Path | None) -> tuple[str | Path, str]:
    """The store that was named, first of all for this test, and what a message calls the way it was named."""
    for named, option in (
        (store, "store=PATH"),
        (config.getoption("--autorater-store"), "--autorater-store PATH"),
        (os.environ.get("AUTORATER_STORE"), "another AUTORATER_STORE"),
    ):
        if named:
            return named, option
    return "autorater.sqlite", "store=PATH"
