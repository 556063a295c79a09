"""A grader from a run's record is the same grader, or an error says why it cannot be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.errors import SpecError
from experiments.specs.experiment import Experiment, load_experiment
from experiments.specs.grader_sources import dump_grader, rebuild_grader
from graders.grader import Grader

GRADERS = """
name = "many"
set = "small"
sampling = { temperature = 1.5, repeats = 3, seed = 1 }
max_connections = 5

[[graders]]
prompt = "simpleqa@1.0.0"
model = "openai-compatible/any"
base_urls = ["http://127.0.0.1:9/v1", "http://127.0.0.1:10/v1"]
key_variable = "SOME_KEY"
capabilities = { max_choices = 4, temperature = [0.0, 1.5], price = { input = 1.0, output = 2.0 } }
timeout_seconds = 7.0

[[graders]]
prompt = "mine/1.2.0.md"
model = "openai/gpt-5-mini"
sampling = { reasoning_effort = "low", temperature = 1.0 }
on_unsupported = "provider-default"

[[graders]]
prompt = "simpleqa_short@1.0.0"
model = "local/smollm2"
sampling = { method = "exact", temperature = 1.0 }

[[graders]]
model = "baseline/lexical"
sampling = { repeats = 1 }

[[graders]]
model = "replay/said.jsonl"
"""

MINE = """+++
rubric = "simpleqa@1.0.0"
scale = "simpleqa"
channel = "word"
[words]
CORRECT = ["right", "yes"]
INCORRECT = "wrong"
NOT_ATTEMPTED = "none"
+++
Is this right, wrong or no answer? $question $reference $response
"""


@pytest.fixture
def many(study: Any) -> Experiment:
    (study.folder / "mine").mkdir()
    (study.folder / "mine" / "1.2.0.md").write_text(MINE)
    path = study.folder / "many.toml"
    path.write_text(GRADERS)
    return load_experiment(str(path))


def stored(grader: Grader) -> dict[str, Any]:
    """Its record as it comes back from a store."""
    fields: dict[str, Any] = json.loads(json.dumps(dump_grader(grader)))
    return fields


def rebuilt(grader: Grader, **changes: Any) -> Grader:
    return rebuild_grader({**stored(grader), **changes}, grader_id=grader.grader_id, title="the grader")


def test_every_kind_of_grader_comes_back_as_it_was(many: Experiment) -> None:
    assert len(many.graders) == 5
    for grader in many.graders:
        again = rebuilt(grader)
        assert again.grader_id == grader.grader_id
        assert again.title == grader.title
        without_examples = grader.prompt and replace(grader.prompt, examples=())
        assert replace(again, prompt=None) == replace(grader, prompt=None)
        assert again.prompt == without_examples


def test_no_key_is_in_the_record_only_the_name_of_its_variable(
    many: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-very-secret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    text = json.dumps([dump_grader(grader) for grader in many.graders])
    assert "SOME_KEY" in text
    assert "sk-very-secret" not in text


def test_a_record_of_an_earlier_version_asks_for_the_file() -> None:
    with pytest.raises(SpecError, match=r"the grader: its run was recorded without .* --experiment FILE"):
        rebuild_grader(None, grader_id="0" * 16, title="the grader")


def test_another_recording_under_the_same_name_is_another_grader(many: Experiment) -> None:
    grader = many.graders[4]
    recording = Path(grader.address.removeprefix("replay/"))
    recording.write_text(recording.read_text().replace('"A"', '"B"'))
    with pytest.raises(SpecError, match=f"its model is another one on this machine; expected {grader.grader_id}"):
        rebuilt(grader)


def test_a_model_that_is_not_here_is_named(many: Experiment) -> None:
    grader = many.graders[4]
    Path(grader.address.removeprefix("replay/")).unlink()
    with pytest.raises(SpecError, match=r"the grader: .*said\.jsonl.*--experiment FILE"):
        rebuilt(grader)


@pytest.mark.parametrize(
    "changes", [{"sampling": {"temperature": 9}}, {"endpoint": {}}, {"prompt": {"name": "p"}}, {"capabilities": None}]
)
def test_a_damaged_record_is_an_error(many: Experiment, changes: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="--experiment FILE"):
        rebuilt(many.graders[0], **changes)


def test_another_text_of_the_prompt_is_another_grader(many: Experiment) -> None:
    fields = stored(many.graders[1])
    fields["prompt"]["text"] += " Be strict."
    with pytest.raises(SpecError, match="rebuilt here it is grader"):
        rebuild_grader(fields, grader_id=many.graders[1].grader_id, title="the grader")
