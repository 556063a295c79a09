"""From a model's name to its client."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from graders import providers
from graders.errors import GraderError, MissingDependencyError, RecordingError, UnknownModelError, WeightsError
from graders.grader import Grader
from graders.providers import check_model, list_models, model_digest, open_client, weights
from graders.providers.baseline import RULES_VERSION, BaselineClient
from graders.providers.local import LocalClient
from graders.providers.replay import ReplayClient
from graders.providers.weights import WEIGHTS
from graders.sampling import Sampling


def grader(model: str) -> Grader:
    return Grader(model, Sampling())


def write_recording(path: Path, text: str = "A") -> Path:
    path.write_text(f'{{"digest": "d", "repeat": 0, "text": "{text}"}}\n', encoding="utf-8")
    return path


def test_every_kind_of_model_opens(tmp_path: Path) -> None:
    assert isinstance(open_client(grader("baseline/lexical")), BaselineClient)
    assert isinstance(open_client(grader(f"replay/{tmp_path}/r.jsonl")), ReplayClient)
    assert isinstance(open_client(grader("local/smollm2")), LocalClient)
    assert list_models()[:2] == ("baseline/lexical", "local/smollm2")
    assert {"openai/MODEL", "anthropic/MODEL", "vllm/MODEL", "replay/FILE"} < set(list_models())


@pytest.mark.parametrize(
    "model",
    [
        "openai/",
        "anthropic/",
        "vllm/",
        "vllm-server",
        "OpenAI/gpt-4.1",
        "local/other",
        "local/",
        "replay/",
        "baseline/",
        "baseline/lexical2",
        "Baseline/lexical",
        "lexical",
        "",
        " local/smollm2",
    ],
)
def test_other_names_are_errors_that_list_what_there_is(model: str) -> None:
    for use in (lambda: open_client(grader(model)), lambda: model_digest(model), lambda: check_model(grader(model))):
        with pytest.raises(UnknownModelError) as caught:
            use()
        message = str(caught.value)
        assert message.startswith(f"model: {model!r}; expected one of baseline/lexical, local/smollm2, openai/MODEL")
        assert message.endswith("replay/FILE")
        assert "\n" not in message


def test_digests_say_what_the_name_does_not(tmp_path: Path) -> None:
    assert model_digest("baseline/lexical") == f"rules {RULES_VERSION}"
    assert model_digest("local/smollm2") == WEIGHTS["smollm2"].sha256
    one, two = write_recording(tmp_path / "1.jsonl"), write_recording(tmp_path / "2.jsonl")
    assert model_digest(f"replay/{one}") == model_digest(f"replay/{two}")
    write_recording(two, "B")
    assert model_digest(f"replay/{one}") != model_digest(f"replay/{two}")


def test_a_recording_is_checked_at_the_start(tmp_path: Path) -> None:
    check_model(grader(f"replay/{write_recording(tmp_path / 'r.jsonl')}"))
    with pytest.raises(RecordingError, match=r"none\.jsonl: No such file"):
        check_model(grader(f"replay/{tmp_path}/none.jsonl"))
    (tmp_path / "bad.jsonl").write_text("{}\n")
    with pytest.raises(RecordingError, match=r"bad\.jsonl:1: "):
        check_model(grader(f"replay/{tmp_path}/bad.jsonl"))


def test_a_relative_recording_is_found_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_recording(tmp_path / "r.jsonl")
    monkeypatch.chdir(tmp_path)
    check_model(grader("replay/r.jsonl"))
    check_model(grader("baseline/lexical"))


def test_a_missing_engine_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    for use in (lambda: check_model(grader("local/smollm2")), lambda: open_client(grader("local/smollm2")).__enter__()):
        with pytest.raises(MissingDependencyError) as caught:
            use()
        assert "pip install 'autorater-calibration[local]'" in str(caught.value)
        assert 'pip install -e ".[local]"' in str(caught.value)
        assert "\n" not in str(caught.value)


def test_an_engine_that_cannot_be_loaded_says_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "xllamacpp.py").write_text("raise ImportError('libgomp.so.1: cannot open shared object file')")
    monkeypatch.delitem(sys.modules, "xllamacpp", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingDependencyError, match=r"libgomp\.so\.1: cannot open .*apt-get install libgomp1"):
        check_model(grader("local/smollm2"))


def test_weights_are_fetched_at_the_check_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def refuse(name: str, *, progress: object = None) -> Path:
        asked.append(name)
        raise WeightsError("no network")

    monkeypatch.setitem(sys.modules, "xllamacpp", providers)
    monkeypatch.setattr(weights, "ensure_weights", refuse)
    check_model(grader("local/smollm2"), fetch=False)
    assert asked == []
    with pytest.raises(WeightsError, match="no network"):
        check_model(grader("local/smollm2"))
    assert asked == ["smollm2"]


def test_the_engine_is_imported_only_when_a_local_model_is_opened() -> None:
    code = (
        "import sys; import graders.providers as p; import graders.providers.local;"
        "from graders.grader import Grader; from graders.sampling import Sampling;"
        "p.open_client(Grader('local/smollm2', Sampling())); p.model_digest('local/smollm2'); p.list_models();"
        "sys.exit('xllamacpp' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_error_here_is_a_grader_error() -> None:
    for error in (MissingDependencyError, RecordingError, UnknownModelError, WeightsError):
        assert issubclass(error, GraderError)
