"""What a model cannot do stops a run before the first call; settings a service can choose may be left to it."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

import cli
from graders.capabilities import Capabilities
from graders.endpoint import Endpoint
from graders.errors import UnsupportedError
from graders.grader import Grader
from graders.ledger import find_model
from graders.prompt_library import load_prompt
from graders.sampling import Sampling
from graders.support import check_support, effective_temperature, require_support, warnings_of

PROMPT = load_prompt("simpleqa_verified")
LEAVE = Endpoint(on_unsupported="provider-default")
ABLE = Capabilities(top_logprobs=20, json_schema=True, tool_call=True, efforts=("low",))


def make(able: Capabilities, sampling: Sampling, *, leave: bool = False, model: str = "openai/gpt-4.1") -> Grader:
    return Grader(model, sampling, PROMPT, endpoint=LEAVE if leave else Endpoint(), capabilities=able)


@pytest.mark.parametrize(
    ("able", "temperature", "told"),
    [
        (Capabilities(temperature=(0.0, 1.0)), 1.2, "temperature 1.2 asked, 0 to 1 accepted"),
        (Capabilities(temperature=(0.0, 1.0)), 2.0, "temperature 2 asked, 0 to 1 accepted"),
        (Capabilities(temperature=(0.5, 1.0)), 0.2, "temperature 0.2 asked, 0.5 to 1 accepted"),
        (Capabilities(zero_temperature=False), 0.0, "temperature 0 asked, above 0 to 2 accepted"),
        (Capabilities(temperature=None), 1.0, "temperature 1 asked, none accepted"),
        (Capabilities(temperature=None), 0.0, "temperature 0 asked, none accepted"),
        (
            Capabilities(efforts=("none", "low"), sampling_efforts=("none",)),
            1.0,
            "temperature 1 asked, accepted with reasoning_effort none alone",
        ),
    ],
)
def test_a_refused_temperature_is_told_and_may_be_left(able: Capabilities, temperature: float, told: str) -> None:
    grader = make(able, Sampling(temperature=temperature))
    with pytest.raises(UnsupportedError) as caught:
        require_support([grader])
    assert str(caught.value).startswith(f"{grader.title}: {told}; on_unsupported")
    assert effective_temperature(grader) is None
    require_support([replace(grader, endpoint=LEAVE)])


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
def test_an_accepted_temperature_is_what_calls_carry(temperature: float) -> None:
    grader = make(Capabilities(temperature=(0.0, 1.0)), Sampling(temperature=temperature))
    assert (check_support(grader), effective_temperature(grader)) == ((), temperature)


def test_effort_none_makes_way_for_a_temperature() -> None:
    able = Capabilities(efforts=("none", "low"), sampling_efforts=("none",))
    assert check_support(make(able, Sampling(reasoning_effort="none"))) == ()


def test_an_unknown_effort_may_be_left() -> None:
    grader = make(ABLE, Sampling(reasoning_effort="huge"))
    assert [(problem.text, problem.leavable) for problem in check_support(grader)] == [
        ("reasoning_effort huge asked, low accepted", True)
    ]
    require_support([replace(grader, endpoint=LEAVE)])


@pytest.mark.parametrize(
    ("able", "sampling", "told"),
    [
        (replace(ABLE, top_logprobs=0), Sampling(channel="logprobs"), "none given"),
        (replace(ABLE, top_logprobs=0), Sampling(method="exact"), "none given"),
        (replace(ABLE, top_logprobs=2), Sampling(method="exact"), "too few given"),
        (replace(ABLE, json_schema=False), Sampling(channel="json"), "no JSON schema accepted"),
        (replace(ABLE, tool_call=False), Sampling(channel="tool"), "no tool accepted"),
    ],
)
def test_what_changes_the_meaning_of_a_reply_is_never_left(able: Capabilities, sampling: Sampling, told: str) -> None:
    with pytest.raises(UnsupportedError, match=told) as caught:
        require_support([make(able, sampling, leave=True)])
    assert "provider-default" not in str(caught.value)


def test_a_prompt_that_is_continued_needs_a_model_that_continues() -> None:
    grader = make(ABLE, Sampling(), leave=True)
    completion = replace(PROMPT, form="completion")
    with pytest.raises(UnsupportedError, match="continued as plain text, only chats accepted"):
        require_support([replace(grader, prompt=completion)])
    require_support([replace(grader, prompt=completion, capabilities=replace(ABLE, completions=True))])


def test_every_grader_has_its_line_and_the_program_prints_them_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "e.toml"
    names = ("openai/o3-2025-04-16", "anthropic/claude-opus-5", "openai/gpt-4.1-2025-04-14")
    tables = "".join(f'[[graders]]\nprompt = "simpleqa_verified"\nmodel = "{name}"\n' for name in names)
    head = 'name = "e"\nset = "probes"\nsampling = { temperature = 2.0 }\n'
    path.write_text(head + tables, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["autorater", "run", str(path), "--dry-run"])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    lines = capsys.readouterr().err.splitlines()
    assert caught.value.code == 2
    assert len(lines) == 2
    assert all(line.startswith("error: simpleqa_verified@") and "none accepted" in line for line in lines)


def test_names_that_may_change_warn_and_pinned_ones_do_not() -> None:
    today = date(2026, 1, 1)

    def told(model: str) -> str:
        return "; ".join(warnings_of(Grader(model, Sampling(), capabilities=find_model(model).capabilities), today))

    assert "not pinned to one version, such as gpt-4.1-2025-04-14" in told("openai/gpt-4.1")
    assert "pinned" not in told("openai/gpt-4.1-2025-04-14")
    assert told("anthropic/claude-opus-5") == ""
    assert "not in the ledger" in told("openai/gpt-99")


def test_the_end_of_a_model_is_told_before_and_after() -> None:
    entry = find_model("openai/gpt-4.1-2025-04-14")
    grader = Grader(entry.name, Sampling(), capabilities=entry.capabilities)
    assert entry.ends is not None
    assert warnings_of(grader, entry.ends) == (f"is to be shut down on {entry.ends}",)
    assert warnings_of(grader, date(2099, 1, 1)) == (f"was to be shut down on {entry.ends}",)
