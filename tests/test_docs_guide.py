"""Every file and command of ``docs/guide.md`` is made and run, in order, and prints what the page shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parent.parent / "docs" / "guide.md"
PROGRAM = Path(sys.executable).parent / "autorater"
_FENCE = re.compile(r"^```(?P<kind>\w+) (?P<name>\S+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r"\s+# exit (\d)$")


@dataclass(frozen=True, slots=True)
class Block:
    kind: str
    name: str
    body: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command line of a console block, its exit code, and the output lines that the page shows, if any."""

    words: list[str]
    code: int
    shown: list[str]


def read_blocks() -> list[Block]:
    found = _FENCE.finditer(GUIDE.read_text(encoding="utf-8"))
    return [Block(match["kind"], match["name"], match["body"]) for match in found]


def read_commands(body: str) -> Iterator[Command]:
    """Commands begin with ``$``; ``# exit N`` behind one is its exit code, else 0."""
    start, *parts = re.split(r"^\$ ", body.replace("\\\n", " "), flags=re.MULTILINE)
    assert not start, f"output before a command: {start}"
    for part in parts:
        line, *shown = part.splitlines()
        ending = _EXIT.search(line)
        yield Command(shlex.split(line, comments=True), int(ending[1]) if ending else 0, shown)


def split_at_gaps(shown: list[str]) -> list[list[str]]:
    """Stretches of lines between ``...``; the first and the last stretch are empty where it begins or ends so."""
    stretches: list[list[str]] = [[]]
    for line in shown:
        if line == "...":
            stretches.append([])
        else:
            stretches[-1].append(line)
    return stretches


def find_missing(shown: list[str], printed: list[str]) -> list[str]:
    """The first stretch that the output does not hold, in order and without a gap; empty if it holds all."""
    first, *later = split_at_gaps(shown)
    if printed[: len(first)] != first or (not later and printed != first):
        return first or ["(nothing)"]
    position = len(first)
    for stretch in later:
        starts = range(position, len(printed) - len(stretch) + 1)
        place = next((start for start in starts if printed[start : start + len(stretch)] == stretch), None)
        if place is None:
            return stretch
        position = place + len(stretch)
    last = later[-1] if later else []
    return last if last and printed[-len(last) :] != last else []


def run_command(command: Command, folder: Path) -> None:
    assert command.words[0] == "autorater"
    surroundings = {name: text for name, text in os.environ.items() if not name.startswith("AUTORATER_")}
    done = subprocess.run(
        [str(PROGRAM), *command.words[1:]],
        cwd=folder,
        env=surroundings | {"PYTHONIOENCODING": "utf-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    told = shlex.join(command.words)
    assert done.returncode == command.code, f"{told}\n{done.stdout}"
    missing = find_missing(command.shown or ["..."], done.stdout.splitlines())
    assert not missing, f"{told}\nnot printed so: {missing}\n{done.stdout}"


@pytest.mark.skipif(not PROGRAM.is_file(), reason="autorater is not installed beside this Python")
def test_guide_prints_what_it_shows(tmp_path: Path) -> None:
    for block in read_blocks():
        if block.kind == "console":
            for command in read_commands(block.body):
                run_command(command, tmp_path)
        else:
            (tmp_path / block.name).write_text(block.body, encoding="utf-8")


def test_every_fence_of_the_guide_is_tested() -> None:
    text, blocks = GUIDE.read_text(encoding="utf-8"), read_blocks()
    assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(blocks)
    assert len({block.name for block in blocks}) == len(blocks)
    assert re.search(r"^ {4}\S", _FENCE.sub("", text), re.MULTILINE) is None
    assert len(text.splitlines()) <= 170


def test_guide_runs_every_command_of_its_story() -> None:
    bodies = [block.body for block in read_blocks() if block.kind == "console"]
    run = {command.words[1] for body in bodies for command in read_commands(body)}
    assert run >= {"run", "import", "choose", "gate", "plan", "queue", "score", "drift", "probe", "report"}


def test_paragraph_to_sign_has_the_numbers_of_the_pages() -> None:
    told, signed = GUIDE.read_text(encoding="utf-8").split("\n> ", maxsplit=1)
    intervals = re.findall(r"\[-?[\d.]+, [\d.]+\]", signed.replace("\n> ", " "))
    assert len(intervals) == 3
    assert [interval for interval in intervals if interval not in told] == []


@pytest.mark.parametrize(
    ("shown", "missing"),
    [
        (["a", "b", "c"], []),
        (["a", "...", "c"], []),
        (["...", "b", "..."], []),
        (["..."], []),
        (["a", "b"], ["a", "b"]),
        (["b", "..."], ["b"]),
        (["...", "b"], ["b"]),
        (["...", "c", "...", "b", "..."], ["b"]),
        (["...", "a", "c", "..."], ["a", "c"]),
        ([], ["(nothing)"]),
    ],
)
def test_shown_lines_are_held_against_the_output(shown: list[str], missing: list[str]) -> None:
    assert find_missing(shown, ["a", "b", "c"]) == missing
