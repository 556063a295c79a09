"""The shipped experiment for vLLM, from the command line to the printed decision, on vLLM in this process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import autorater, decision_of, shipped_text

from graders.errors import MissingDependencyError
from graders.providers.vllm_engine import check_vllm

pytestmark = [pytest.mark.vllm, pytest.mark.slow, pytest.mark.filterwarnings("default")]


def test_vllm_local_is_run_and_decided(tmp_path: Path) -> None:
    model = Path(os.environ.get("AUTORATER_VLLM_MODEL", ""))
    try:
        check_vllm()
    except MissingDependencyError as error:
        pytest.skip(f"SKIPPED, NOT PASSED: {error}")
    if not (model / "config.json").is_file():
        pytest.skip("SKIPPED, NOT PASSED: AUTORATER_VLLM_MODEL names no folder of a model")
    text = shipped_text("vllm_local")
    assert text.count('"vllm/Qwen/Qwen2.5-7B-Instruct"') == 2
    (tmp_path / "mine.toml").write_text(
        text.replace("vllm/Qwen/Qwen2.5-7B-Instruct", f"vllm/{model}"), encoding="utf-8"
    )
    ran = autorater(tmp_path, "run", "mine.toml", "--limit", "4")
    assert ran.code == 0, ran.err
    decision = decision_of(autorater(tmp_path, "choose", "vllm_local"))
    assert "4 candidates were compared on 4 items of 4 questions" in decision
