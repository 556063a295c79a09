"""One experiment through several adapters: the same report, whoever answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fault_server import FaultServer
from typer.testing import CliRunner

import cli

EXPERIMENT = """
name = "adapters"
set = "published_examples"
sampling = {{ temperature = 1.0, repeats = 3 }}
on_unsupported = "provider-default"
[items]
sample = 6
[[graders]]
model = "{model}"
prompt = "simpleqa@1.0.0"
{more}
"""


def shape(value: Any) -> Any:
    """Keys and kinds, without what a grader said."""
    if isinstance(value, Mapping):
        return {key: shape(inner) for key, inner in value.items()}
    return "list" if isinstance(value, list) else "value"


def run(folder: Path, name: str, model: str, more: str) -> dict[str, Any]:
    file, out, store = folder / f"{name}.toml", folder / f"{name}.json", folder / f"{name}.sqlite"
    file.write_text(EXPERIMENT.format(model=model, more=more), encoding="utf-8")
    arguments = ["run", str(file), "--store", str(store), "--format", "json", "--out", str(out)]
    result = CliRunner().invoke(cli.app, arguments)
    assert result.exit_code == 0, result.output
    report: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return report


def test_three_adapters_give_reports_of_one_shape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "a-key-of-some-service")
    with FaultServer() as server:
        reports = {
            "compatible": run(tmp_path, "compatible", "openai-compatible/m", f'base_url = "{server.openai_url}"'),
            "anthropic": run(
                tmp_path, "anthropic", "anthropic/claude-haiku-4-5-20251001",
                f'base_url = "{server.anthropic_url}"\nkey_variable = "SOME_KEY"',
            ),
            "openai": run(
                tmp_path, "openai", "openai/gpt-4.1-2025-04-14",
                f'base_url = "{server.openai_url}"\nkey_variable = "SOME_KEY"',
            ),
        }  # fmt: skip
    graders = {name: report["graders"][0] for name, report in reports.items()}
    for grader in graders.values():
        assert grader["n_verdicts"] == grader["n_expected"] == 18
    ignored = {"effective_sampling", "not_defined", "by_kind", "by_dispute", "served", "failed_calls", "cost",
               "fingerprints", "not_answered", "failures", "sampling"}  # fmt: skip
    shapes = [shape({key: value for key, value in grader.items() if key not in ignored}) for grader in graders.values()]
    assert shapes[0] == shapes[1] == shapes[2]
    assert graders["anthropic"]["effective_sampling"][0]["temperature"] is None
    assert graders["openai"]["effective_sampling"][0]["temperature"] == 1.0
    assert graders["openai"]["cost"]["dollars"] > 0
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"a-key-of-some-service" not in stored
