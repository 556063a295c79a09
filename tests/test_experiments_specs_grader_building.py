"""From a grader's table to a grader: endpoints, overrides, and secrets that are refused without being shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.errors import SpecError
from experiments.specs.experiment import Experiment, load_experiment
from graders.capabilities import Price

SECRET = "sk-proj-0123456789abcdefghij"


def load(tmp_path: Path, table: str, *, head: str = "") -> Experiment:
    path = tmp_path / "e.toml"
    path.write_text(
        f'name = "e"\nset = "probes"\n{head}\n[items]\nsample = 2\n'
        f'[[graders]]\nprompt = "simpleqa_verified"\n{table}\n',
        encoding="utf-8",
    )
    return load_experiment(str(path))


@pytest.mark.parametrize(
    "line",
    [
        f'key_variable = "{SECRET}"',
        f'base_url = "https://user:{SECRET}@host/v1"',
        f'base_url = "https://host/v1?key={SECRET}"',
        f'base_urls = ["https://host/v1#{SECRET}"]',
        f'base_url = "{SECRET}"',
    ],
)
def test_a_pasted_secret_is_refused_and_not_repeated(tmp_path: Path, line: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(tmp_path, f'model = "openai/gpt-4.1"\n{line}')
    assert SECRET not in str(caught.value)
    assert "expected" in str(caught.value)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ('model = "openai-compatible/m"', "base_url: missing; expected the address"),
        ('model = "vllm-server/m"', "base_url: missing; expected the address"),
        ('model = "local/smollm2"\nbase_url = "http://h/v1"', "is not reached over a network"),
        ('model = "local/smollm2"\nkey_variable = "KEY"', "is not reached over a network"),
        ('model = "vllm-server/m"\nbase_urls = ["http://h/v1", "http://h/v1/"]', "listed twice"),
        ('model = "vllm-server/m"\nbase_url = "h:8000"', "expected http://HOST"),
        ('model = "openai/m"\ncapabilities = { temprature = [0, 1] }', "temprature"),
        ('model = "openai/m"\ncapabilities = { max_choices = "8" }', "max_choices"),
        ('model = "openai/m"\ncapabilities = { temperature = [1.0, 0.0] }', "lowest, highest"),
        ('model = "openai/m"\ncapabilities = { price = { input = 1.0 } }', "price.output"),
    ],
)
def test_what_does_not_fit_names_its_table(tmp_path: Path, table: str, told: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(tmp_path, table)
    assert told in str(caught.value)
    assert "graders[0]" in str(caught.value) or "graders.0" in str(caught.value)


def test_a_wrong_capability_names_its_place_once(tmp_path: Path) -> None:
    for wrong in ("temprature = [0, 1]", "temperature = [1.0, 0.0]"):
        with pytest.raises(SpecError, match=r"^e\.toml: graders\[0\]\.capabilities") as caught:
            load(tmp_path, f'model = "openai/m"\ncapabilities = {{ {wrong} }}')
        assert str(caught.value).count("graders[0]") == 1


@pytest.mark.parametrize("api", ["chat", "responses", "messages", "engine"])
@pytest.mark.parametrize(
    ("table", "fitting"),
    [
        ('model = "openai/m"', ("chat", "responses")),
        ('model = "openai-compatible/m"\nbase_url = "http://h/v1"', ("chat", "responses")),
        ('model = "vllm-server/m"\nbase_url = "http://h/v1"', ("chat", "responses")),
        ('model = "anthropic/m"', ("messages",)),
        ('model = "local/smollm2"', ("engine",)),
        ('model = "baseline/lexical"', ("engine",)),
    ],
)
def test_a_wire_format_that_a_model_cannot_speak_is_refused(
    tmp_path: Path, table: str, fitting: tuple[str, ...], api: str
) -> None:
    asked = f'{table}\ncapabilities = {{ api = "{api}" }}'
    if api in fitting:
        assert load(tmp_path, asked).graders[0].capabilities.api == api
        return
    with pytest.raises(SpecError) as caught:
        load(tmp_path, asked)
    model = table.split('"')[1]
    expected = " or ".join(map(repr, fitting))
    assert str(caught.value) == f"e.toml: graders[0].capabilities.api: {api!r}; expected {expected} for {model}"


def test_endpoint_and_capabilities_are_the_graders(tmp_path: Path) -> None:
    table = (
        'model = "openai-compatible/m"\nbase_url = "http://h:1/v1/"\nbase_urls = ["http://h:2/v1"]\n'
        'key_variable = "MY_KEY"\nmax_connections = 3\n'
        "capabilities = { max_choices = 4, price = { input = 1.0, output = 2.0 } }"
    )
    (grader,) = load(tmp_path, table, head='on_unsupported = "provider-default"\nmax_connections = 9').graders
    assert grader.endpoint.base_urls == ("http://h:1/v1", "http://h:2/v1")
    assert (grader.endpoint.key_variable, grader.endpoint.max_connections) == ("MY_KEY", 3)
    assert grader.endpoint.on_unsupported == "provider-default"
    assert (grader.capabilities.max_choices, grader.capabilities.price) == (4, Price(1.0, 2.0))


def test_a_reasoning_model_gets_room_to_think_unless_told_otherwise(tmp_path: Path) -> None:
    assert load(tmp_path, 'model = "openai/o3-2025-04-16"').graders[0].sampling.max_tokens == 4096
    told = load(tmp_path, 'model = "openai/o3-2025-04-16"\nsampling = { max_tokens = 99 }')
    assert told.graders[0].sampling.max_tokens == 99
