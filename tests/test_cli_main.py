"""The command line as people use it, and misuse it: one line that says what to mend, and exit code 2."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import cli


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line of an error; there must be one, it must be the last, and nothing like a traceback."""
        assert self.code == 2, (self.code, self.err)
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, self.err
        assert self.err.endswith(f"{lines[0]}\n")
        assert "Traceback" not in self.err
        assert "Usage:" not in self.err
        return lines[0].removeprefix("error: ")


Run = Callable[..., Outcome]


@pytest.fixture
def autorater(study: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command, run in the folder of the study."""
    monkeypatch.chdir(study.folder)
    monkeypatch.delenv("AUTORATER_STORE", raising=False)

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["autorater", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            cli.main()
        shown = capsys.readouterr()
        return Outcome(int(stop.value.code or 0), shown.out, shown.err)

    return run


def every_command() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []

    def walk(command: Any, path: tuple[str, ...]) -> None:
        found.append(path)
        for name, below in getattr(command, "commands", {}).items():
            walk(below, (*path, name))

    walk(cli.typer.main.get_command(cli.app), ())
    return found


@pytest.mark.parametrize("command", every_command(), ids=" ".join)
def test_every_command_has_help_with_an_example_of_itself(autorater: Run, command: tuple[str, ...]) -> None:
    shown = autorater(*command, "--help")
    assert shown.code == 0
    assert re.search(r"Examples?:\n", shown.out)
    assert f"  {' '.join(['autorater', *command])}" in shown.out


@pytest.mark.parametrize(
    "command",
    [
        "run quickstart --limit 20 --dry-run",
        "sets list",
        "sets show probes",
        "graders list",
        "graders show simpleqa_verified",
        "graders show simpleqa@1.0.0",
        "graders diff simpleqa simpleqa_verified",
        "graders lint simpleqa",
        "models list",
    ],
)
def test_the_examples_of_the_help_run(autorater: Run, command: str) -> None:
    words = shlex.split(command)
    group = words[: 2 if words[0] in {"sets", "graders", "models"} else 1]
    assert f"autorater {command}" in autorater(*group, "--help").out
    shown = autorater(*words)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out


def test_the_example_experiment_of_the_help_loads(autorater: Run, study: Any) -> None:
    text = autorater("run", "--help").out
    lines = text.partition("An experiment file:\n")[2].partition("\nArguments:")[0].splitlines()
    (study.folder / "mine.toml").write_text("\n".join(line.strip() for line in lines), encoding="utf-8")
    shown = autorater("run", "mine.toml", "--dry-run")
    assert shown.code == 0, shown.err
    assert shown.out.startswith("run my_experiment-")


def test_the_version_is_that_of_the_package(autorater: Run) -> None:
    shown = autorater("--version")
    assert re.fullmatch(r"autorater \d+\.\d+\.\d+\n", shown.out)


@pytest.mark.parametrize("group", ["", "import", "sets", "sets import", "graders", "models"])
def test_a_group_without_a_command_shows_its_help(autorater: Run, group: str) -> None:
    shown = autorater(*group.split())
    assert shown.code in (0, 2)  # which one, differs between versions of the command-line library
    assert "Commands:" in shown.err + shown.out
    assert "error:" not in shown.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("bogus", "No such command 'bogus'"),
        ("--bogus", "--bogus"),
        ("sets bogus", "No such command 'bogus'"),
        ("run", "Missing argument"),
        ("report", "Missing argument"),
        ("run study.toml more", "extra argument"),
        ("run study.toml --bogus", "--bogus"),
        ("run study.toml --limit many", "--limit"),
        ("run study.toml --limit 1.5", "--limit"),
        ("run study.toml --limit", "--limit"),
        ("run study.toml --format pdf", "--format"),
        ("report study --format JSON", "--format"),
        ("report study --parser bogus", "--parser"),
        ("import verdicts v.csv", "--set"),
    ],
)
def test_a_command_line_that_cannot_be_read_is_one_line_too(autorater: Run, arguments: str, said: str) -> None:
    error = autorater(*arguments.split()).error
    assert error.startswith("autorater")
    assert said in error
    assert "--help'" in error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("run nope.toml", "experiment 'nope.toml': no such file; expected"),
        ("run .", "experiment '.': no such file; expected"),
        ("run said.jsonl", "said.jsonl:1: not TOML"),
        ("run study.toml --limit 0", "--limit: 0; expected 1 or more"),
        ("run study.toml --limit -1", "--limit: -1; expected 1 or more"),
        ("run study.toml --max-cost nan", "--max-cost: nan; expected dollars, 0 or more"),
        ("run study.toml --max-cost inf", "--max-cost: inf; expected dollars, 0 or more"),
        ("run study.toml --max-cost -0.5", "--max-cost: -0.5; expected dollars, 0 or more"),
        ("run study.toml --wait", "--wait: given without --batch; expected both"),
        ("run study.toml --dry-run --wait", "--wait: given without --batch; expected both"),
        ("run study.toml --out no/r.md", "--out no/r.md: no folder no; expected"),
        ("run study.toml --out small", "--out small: a folder; expected"),
        ("run study.toml --store no/s.sqlite", "no/s.sqlite: its folder does not exist; expected"),
        ("run study.toml --store small", "small: a folder; expected"),
        ("run study.toml --store study.toml", "study.toml: file is not a database; expected"),
        ("report study", "autorater.sqlite: no such store; expected"),
        ("runs", "autorater.sqlite: no such store; expected"),
        ("import verdicts nope.csv --set small --grader g", "nope.csv: no such file"),
        ("import verdicts said.jsonl --set nope --grader g", "'nope': no such set; expected"),
        ("import verdicts study.toml --set small --grader g", "study.toml: ending '.toml'; expected"),
        ("sets show nope", "'nope': no such set; expected"),
        ("sets validate nope", "'nope': no such set; expected"),
        ("sets fetch nope", "'nope': no such source; expected"),
        ("graders show nope", "prompt 'nope' is unknown; expected"),
        ("graders lint nope.md", "nope.md: No such file or directory; expected"),
        ("graders lock nope", "nope: no such folder; expected"),
        ("graders lock small", "small: no prompts in it; expected"),
        ("models fetch nope", "weights: 'nope'; expected"),
    ],
)
def test_what_a_person_must_mend_is_one_line(autorater: Run, arguments: str, said: str) -> None:
    shown = autorater(*arguments.split())
    assert shown.error.startswith(said)
    assert shown.out == ""


def test_nothing_is_asked_for_where_the_report_could_not_be_written(autorater: Run, study: Any) -> None:
    assert autorater("run", "study.toml", "--out", "no/r.md").error
    assert not (study.folder / "autorater.sqlite").exists()


def test_a_missing_engine_says_how_to_install_it(autorater: Run, study: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    study.write_experiment({"replay/said.jsonl": "local/smollm2"})
    error = autorater("run", "study.toml").error
    assert error.startswith("local models: ")
    assert "pip install 'autorater-calibration[local]'" in error
    assert autorater("run", "study.toml", "--dry-run").code == 0


@pytest.mark.parametrize("hostile", ["a\nb", "\x1b[31mred", "[bold]x[/nope]", "\u202eback"])
def test_hostile_names_come_back_harmless_on_one_line(autorater: Run, hostile: str) -> None:
    for arguments in (("run", hostile), ("report", hostile, "--store", hostile), ("sets", "show", hostile)):
        error = autorater(*arguments).error
        assert error.isprintable()


def test_the_plan_comes_first_and_the_report_alone_is_the_output(autorater: Run) -> None:
    shown = autorater("run", "study.toml")
    assert shown.code == 0
    lines = shown.err.splitlines()
    assert lines[0].startswith("run study-")
    assert [line.split()[:5] for line in lines[3:5]] == [["8", "3", "24", "0", "24"], ["8", "1", "8", "0", "8"]]
    assert shown.out.startswith("Report of run study-")
    again = autorater("run", "study.toml")
    assert [line.split()[3:5] for line in again.err.splitlines()[3:5]] == [["24", "0"], ["8", "0"]]
    assert again.out == shown.out
    assert autorater("report", "study").out == shown.out


def test_a_dry_run_leaves_nothing_behind(autorater: Run, study: Any) -> None:
    before = sorted(entry.name for entry in study.folder.iterdir())
    shown = autorater("run", "study.toml", "--dry-run")
    assert shown.out.splitlines()[3].split()[:5] == ["8", "3", "24", "0", "24"]
    assert sorted(entry.name for entry in study.folder.iterdir()) == before


def test_every_format_goes_to_a_file_as_to_the_terminal(autorater: Run, study: Any) -> None:
    autorater("run", "study.toml")
    for form in ("text", "md", "json"):
        shown = autorater("report", "study", "--format", form)
        assert autorater("report", "study", "--format", form, "--out", f"r.{form}").out == ""
        assert (study.folder / f"r.{form}").read_text(encoding="utf-8") == shown.out


def test_the_json_report_has_the_documented_fields(autorater: Run) -> None:
    report = json.loads(autorater("run", "study.toml", "--format", "json").out)
    assert report["schema"] == "autorater.report/1"
    for section in report["graders"]:
        assert section.keys() >= {
            "grader_id", "prompt", "model", "sampling", "n_items", "n_verdicts", "coverage", "failures",
            "false_negative_rate", "false_positive_rate", "confusion", "flip_rate", "pairwise_disagreement",
            "alpha_repeats", "agreement", "by_kind", "most_inconsistent",
        }  # fmt: skip
        assert section["confusion"].keys() >= {"labels", "counts", "rates"}
        assert section["agreement"].keys() >= {"raw", "cohen_kappa", "gwet_ac1", "krippendorff_alpha"}
        estimates = [section[name] for name in ("false_negative_rate", "false_positive_rate", "flip_rate")]
        estimates += [section["pairwise_disagreement"], section["alpha_repeats"], *section["agreement"].values()]
        for estimate in (entry for entry in estimates if isinstance(entry, dict) and "value" in entry):
            assert estimate.keys() >= {"value", "low", "high", "level", "method", "n", "clusters", "repeats"}


def test_both_parsers_are_compared_on_request(autorater: Run, study: Any) -> None:
    study.write_experiment({'[[graders]]\nmodel = "baseline/lexical"\nsampling = { repeats = 1 }\n': ""})
    autorater("run", "study.toml")
    assert json.loads(autorater("report", "study", "--format", "json").out)["graders"][0]["parser_comparison"] is None
    shown = autorater("report", "study", "--parser", "both", "--format", "json")
    assert json.loads(shown.out)["graders"][0]["parser_comparison"] is not None
    assert "official" in autorater("report", "study", "--parser", "both").out
    assert (
        json.loads(autorater("report", "study", "--parser", "official", "--format", "json").out)["run"]["parser_rule"]
        == "official"
    )


def test_markup_and_escapes_in_items_are_shown_and_do_nothing(autorater: Run, study: Any) -> None:
    hostile = "[bold]x[/nope] \x1b[31mred\x07 \u202eback <script>"
    study.write_set((study.items[0], replace(study.items[1], response=hostile), *study.items[2:]))
    file = study.folder / "v.jsonl"
    said = [("i1", 0, "CORRECT"), ("i1", 1, "INCORRECT")]
    file.write_text(
        "".join(json.dumps(dict(zip(("item", "repeat", "label"), row, strict=True))) + "\n" for row in said)
    )
    name = "\x1b[31m[red]g[/nope]"
    for form in ("text", "md"):
        shown = autorater("import", "verdicts", file, "--set", "small", "--grader", name, "--format", form)
        assert shown.code == 0
        assert "\x1b" not in shown.out + shown.err
        assert "\u202e" not in shown.out
        assert "nope" in shown.out


def test_a_set_beside_the_experiment_is_found_from_anywhere(
    autorater: Run, study: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = autorater("run", "study.toml", "--dry-run").out
    monkeypatch.chdir(tmp_path)
    assert autorater("run", study.experiment, "--dry-run").out == here


def test_the_store_can_come_from_the_environment(
    autorater: Run, study: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AUTORATER_STORE", str(tmp_path / "kept here.sqlite"))
    autorater("run", "study.toml", "--limit", "2")
    assert (tmp_path / "kept here.sqlite").is_file()
    assert "\nstudy-" in autorater("runs").out


def test_a_failed_system_call_is_one_line(autorater: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    autorater("run", "study.toml")
    monkeypatch.setattr("experiments.commands.report_output.build_report", fail)
    assert "No space left on device; expected" in autorater("report", "study").error


def test_a_defect_keeps_its_traceback(autorater: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    autorater("run", "study.toml")
    monkeypatch.setattr("experiments.commands.report_output.build_report", fail)
    with pytest.raises(ZeroDivisionError):
        autorater("report", "study")


def test_an_interruption_ends_with_130_and_says_that_nothing_is_lost(
    autorater: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.running.asking.run_experiment", stop)
    shown = autorater("run", "study.toml")
    assert shown.code == 130
    assert shown.err.endswith("stopped; what a run had answered is stored, the same command continues\n")
