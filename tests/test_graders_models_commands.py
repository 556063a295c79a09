"""The commands over models: what they print, and what they refuse."""

from __future__ import annotations

import sys

import pytest
from typer.testing import CliRunner

import cli
from graders.ledger import list_entries

SECRET = "sk-proj-0123456789abcdefghij"


def ask(*words: str) -> str:
    answer = CliRunner().invoke(cli.app, ["models", *words], catch_exceptions=False)
    assert answer.exit_code == 0
    return answer.output


def refuse(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setattr(sys, "argv", ["autorater", "models", *words])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    out, err = capsys.readouterr()
    assert (caught.value.code, out, len(err.splitlines())) == (2, "", 1)
    return err


def test_the_list_has_a_row_a_model_in_aligned_columns() -> None:
    lines = ask("list").splitlines()
    table = lines[: lines.index("")]
    names = [line.split()[0] for line in table[1:]]
    assert names[:2] == ["baseline/lexical", "local/smollm2"]
    assert set(names[2:]) == {entry.name for entry in list_entries()}
    place = table[0].index("read")
    assert all(line[place : place + 2] == "20" and line[place - 1] == " " for line in table[1:])
    row = next(line for line in table if line.startswith("openai/gpt-4.1 ")).split()
    assert row[:8] == ["openai/gpt-4.1", "2.00", "8.00", "0-2", "128", "20", "yes", "by"]
    assert max(map(len, table)) <= 120


def test_show_prints_facts_source_and_warnings() -> None:
    shown = ask("show", "openai/gpt-4.1")
    for part in ("temperature ", "0 to 2", "input 2, output 8", "https://", "2027-01-14", "warning: the name is not"):
        assert part in shown
    opus = ask("show", "anthropic/claude-opus-5").splitlines()
    assert next(line for line in opus if line.startswith("temperature ")).endswith(" none")
    assert "unknown" in next(line for line in ask("show", "openai/gpt-99").splitlines() if line.startswith("price"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["show", "nobody/x"], "expected one of the services"),
        (["check", "local/smollm2"], "is not reached over a network"),
        (["check", "openai-compatible/m"], "--base-url: missing"),
        (["check", "openai/gpt-4.1", "--base-url", "ftp://x"], "--base-url: "),
        (["check", "openai/gpt-4.1", "--base-url", "nohost"], "--base-url: "),
        (["fetch", "nope"], "weights: 'nope'"),
    ],
)
def test_what_cannot_be_is_one_line(
    words: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in refuse(words, monkeypatch, capsys)


@pytest.mark.parametrize(
    "words",
    [
        ["--key-variable", SECRET],
        ["--base-url", f"https://user:{SECRET}@host/v1"],
        ["--base-url", f"https://host/v1?key={SECRET}"],
        ["--base-url", f"https://host/v1#{SECRET}"],
    ],
)
def test_a_key_pasted_into_an_option_is_refused_and_not_repeated(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert SECRET not in refuse(["check", "openai/gpt-4.1", *words], monkeypatch, capsys)


def test_a_missing_key_is_told_before_any_call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "OPENAI_API_KEY: not set" in refuse(["check", "openai/gpt-4.1"], monkeypatch, capsys)
