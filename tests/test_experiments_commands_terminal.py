"""Where a page is coloured, which characters it may have, and what is said of something slow."""

from __future__ import annotations

import io
import re
import sys
import time
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from experiments.commands.page_output import PageFormat, write_page
from experiments.commands.terminal import slow_notice, terminal_look
from experiments.reports.document import Document, Paragraph, Section
from experiments.reports.text_look import PLAIN, Look


class Device(io.BytesIO):
    """What bytes go to."""

    def __init__(self, *, tty: bool) -> None:
        super().__init__()
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty


class Screen(io.TextIOWrapper):
    """A terminal, or a pipe, of some encoding."""

    def __init__(self, *, tty: bool, encoding: str = "utf-8") -> None:
        self.device = Device(tty=tty)
        super().__init__(self.device, encoding=encoding, write_through=True)

    def shown(self) -> str:
        return self.device.getvalue().decode(self.encoding)


@pytest.fixture(autouse=True)
def _usual_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def test_a_terminal_has_colour_and_a_pipe_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Screen(tty=True))
    assert terminal_look(None) == Look(colour=True)
    assert terminal_look(Path("page.txt")) == PLAIN
    monkeypatch.setattr(sys, "stdout", Screen(tty=False))
    assert terminal_look(None) == PLAIN
    monkeypatch.setattr(sys, "stdout", None)
    assert terminal_look(None) == PLAIN


@pytest.mark.parametrize(
    ("name", "value", "colour"),
    [("NO_COLOR", "1", False), ("NO_COLOR", "", True), ("TERM", "dumb", False), ("TERM", "vt100", True)],
)
def test_who_wants_no_colour_gets_none(monkeypatch: pytest.MonkeyPatch, name: str, value: str, colour: bool) -> None:
    monkeypatch.setattr(sys, "stdout", Screen(tty=True))
    monkeypatch.setenv(name, value)
    assert terminal_look(None).colour is colour


PAGE = Document((Section("Decision", 2, (Paragraph("PASS. 日本"),)),))


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("tty", [True, False])
def test_a_page_fits_its_output(monkeypatch: pytest.MonkeyPatch, tty: bool, encoding: str) -> None:
    screen = Screen(tty=tty, encoding=encoding)
    monkeypatch.setattr(sys, "stdout", screen)
    write_page(PAGE, {}, PageFormat.text, None)
    assert ("\x1b[" in screen.shown()) is tty
    plain = re.sub("\x1b\\[[0-9;]*m", "", screen.shown())
    assert "PASS. " + ("日本" if encoding == "utf-8" else "\\u65e5\\u672c") in plain


def test_a_file_is_as_a_pipe_gets_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    screen = Screen(tty=True, encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    write_page(PAGE, {}, PageFormat.text, tmp_path / "page.txt")
    pipe = Screen(tty=False)
    monkeypatch.setattr(sys, "stdout", pipe)
    write_page(PAGE, {}, PageFormat.text, None)
    assert (tmp_path / "page.txt").read_text(encoding="utf-8") == pipe.shown()


def test_what_is_slow_says_so_and_what_is_quick_does_not() -> None:
    app = typer.Typer()

    @app.command()
    def wait(seconds: float) -> None:
        with slow_notice("reading \x1b ...", after=0.05, again=0.05):
            time.sleep(seconds)
        typer.echo("done")

    assert CliRunner().invoke(app, ["0"]).stderr == ""
    told = CliRunner().invoke(app, ["0.4"])
    first, second, *_ = told.stderr.splitlines()
    assert first == "reading \\x1b ..."
    assert second.startswith("reading \\x1b ... (0 s so far)")
    assert told.stdout == "done\n"
