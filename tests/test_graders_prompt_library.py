"""The shipped prompts, the user's own, and the lock on what is published."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from graders.errors import PromptError
from graders.prompt_diff import split_sections
from graders.prompt_library import (
    SHIPPED,
    check_lock,
    list_prompts,
    load_prompt,
    read_lock,
    user_prompts,
    write_lock,
)

FRONT = '+++\nrubric = "simpleqa@1.0.0"\nscale = "simpleqa"\nchannel = "letter"\n+++\n'
BODY = "Rules A, B, C\n<q>$question</q>\n<r>$reference</r>\n<a>$response</a>\n"


def add(folder: Path, name: str, version: str, body: str = BODY) -> Path:
    path = folder / name / f"{version}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FRONT + body, encoding="utf-8")
    return path


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "own"
    monkeypatch.setenv("AUTORATER_PROMPTS", str(folder))
    return folder


def test_published_prompts_are_what_the_lock_says() -> None:
    assert check_lock(SHIPPED) == []


def test_shipped_names(own: Path) -> None:
    names = {entry.name for entry in list_prompts()}
    assert names == {
        "der2_concepts",
        "der2_errors",
        "der2_rubric",
        "omniscience",
        "simpleqa",
        "simpleqa_abstention_is_wrong",
        "simpleqa_guessing_was_free",
        "simpleqa_short",
        "simpleqa_verified",
        "simpleqa_verified_abstention_is_wrong",
        "simpleqa_verified_guessing_was_free",
        "yes_no_confidence",
    }
    assert {entry.origin for entry in list_prompts()} == {"shipped"}


def test_every_shipped_prompt_loads_by_its_reference(own: Path) -> None:
    for entry in list_prompts():
        prompt = load_prompt(entry.reference)
        assert (prompt.name, prompt.version) == (entry.name, entry.version)
        assert prompt.description
        assert load_prompt(prompt.title).digest == prompt.digest


def test_rubrics_of_the_variants(own: Path) -> None:
    rubrics = {entry.name: entry.load().rubric for entry in list_prompts()}
    assert rubrics["simpleqa_guessing_was_free"] == rubrics["simpleqa"] == "simpleqa@1.0.0"
    assert rubrics["simpleqa_verified_guessing_was_free"] == rubrics["simpleqa_short"] == "simpleqa_verified@1.0.0"
    for name in ("simpleqa_abstention_is_wrong", "simpleqa_verified_abstention_is_wrong"):
        assert rubrics[name] == f"{name}@1.0.0"
        prompt = load_prompt(name)
        assert prompt.unused == ("NOT_ATTEMPTED",)
        assert {example.label for example in prompt.examples} == {"INCORRECT", "CORRECT"}
        assert prompt.scale.labels == load_prompt("simpleqa").scale.labels


def test_the_two_rubrics_differ_on_several_candidates_and_on_numbers(own: Path) -> None:
    """Labels given under one rubric are no errors under the other: the worked examples say so."""
    first, verified = load_prompt("simpleqa"), load_prompt("simpleqa_verified")
    undecided = {e.label for e in first.examples if e.response.startswith("Either ")}
    assert undecided == {"INCORRECT"}
    assert {e.label for e in verified.examples if "cannot decide" in e.response} == {"NOT_ATTEMPTED"}
    assert "last significant figure" in first.text
    assert "last significant figure" not in verified.text
    assert "acceptable range" in verified.text


@pytest.mark.parametrize("name", ["simpleqa_verified", "simpleqa_verified_guessing_was_free"])
def test_rules_of_the_verified_rubric_do_not_contradict_each_other(own: Path, name: str) -> None:
    """What denies that a thing exists, or takes an answer back, contradicts the reference and is still no attempt."""
    sections = split_sections(load_prompt(name).text)
    incorrect, not_attempted = sections["B: INCORRECT"], " ".join(sections["C: NOT_ATTEMPTED"].split())
    assert "does not exist" in not_attempted
    assert "takes it back" in not_attempted
    assert "contradict" not in not_attempted
    assert "back" not in incorrect


def test_a_bare_name_is_the_newest_version(own: Path) -> None:
    for version in ("1.2.0", "1.10.0", "1.9.1", "2.0.0-rc.1", "2.0.0-rc.2"):
        add(own, "judge", version)
    assert load_prompt("judge").version == "2.0.0-rc.2"
    add(own, "judge", "2.0.0")
    assert load_prompt("judge").version == "2.0.0"
    assert load_prompt("judge@1.9.1").version == "1.9.1"
    assert [entry.version for entry in list_prompts() if entry.origin == "user"][:3] == ["1.2.0", "1.9.1", "1.10.0"]


def test_paths(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = add(tmp_path, "draft", "0.2.0")
    assert load_prompt(str(path)).title.startswith("draft@0.2.0#")
    loose = tmp_path / "loose.md"
    shutil.copy(path, loose)
    assert load_prompt(str(loose)).title.startswith("loose@0.0.0#")
    monkeypatch.chdir(path.parent)
    assert load_prompt("0.2.0.md").name == "draft"


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("simplequa", "prompt 'simplequa' is unknown; did you mean simpleqa"),
        ("zzz", "prompt 'zzz' is unknown; expected one of"),
        ("simpleqa@9.9.9", r"version '9\.9\.9' is unknown; expected one of \['1\.0\.0'\]"),
        ("simpleqa@1.0.0#00000000", "expected '00000000'"),
        ("simpleqa@", "version '' is unknown"),
        ("no/such.md", "No such file"),
        ("", "prompt '' is unknown"),
    ],
)
def test_unknown_prompts(own: Path, reference: str, message: str) -> None:
    with pytest.raises(PromptError, match=message):
        load_prompt(reference)


def test_files_that_are_no_text(own: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.md"
    broken.write_bytes(b"+++\n\xff\xfe")
    with pytest.raises(PromptError, match="byte 4 is not UTF-8"):
        load_prompt(str(broken))


def test_a_users_prompt_never_shadows_a_shipped_one(own: Path) -> None:
    add(own, "simpleqa", "2.0.0")
    for call in (lambda: load_prompt("simpleqa"), list_prompts):
        with pytest.raises(PromptError, match="name 'simpleqa' is that of a shipped prompt"):
            call()


def test_a_users_file_needs_a_version(own: Path) -> None:
    add(own, "judge", "latest")
    with pytest.raises(PromptError, match=r"latest\.md'; expected a semantic version"):
        list_prompts()


def test_folder_argument_and_environment(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(tmp_path / "other", "judge", "1.0.0")
    assert user_prompts() == own
    assert load_prompt("judge", folder=tmp_path / "other").name == "judge"
    with pytest.raises(PromptError, match="unknown"):
        load_prompt("judge")
    monkeypatch.delenv("AUTORATER_PROMPTS")
    assert user_prompts().parts[-2:] == ("autorater-calibration", "prompts")


def test_a_changed_shipped_prompt_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SHIPPED, tmp_path / "prompts")
    shutil.copy(SHIPPED.with_name("prompts.lock"), tmp_path / "prompts.lock")
    monkeypatch.setattr("graders.prompt_library.SHIPPED", tmp_path / "prompts")
    path = tmp_path / "prompts" / "simpleqa" / "1.0.0.md"
    path.write_text(path.read_text(encoding="utf-8").replace("# Task", "# The task"), encoding="utf-8")
    with pytest.raises(PromptError, match="expected changed text under a new version"):
        load_prompt("simpleqa", folder=tmp_path / "none")
    path.rename(path.with_name("1.0.1.md"))
    with pytest.raises(PromptError, match=r"simpleqa@1\.0\.1 is not in prompts\.lock"):
        load_prompt("simpleqa", folder=tmp_path / "none")


def test_lock_is_sorted_and_finds_every_difference(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    for name, version in (("b", "1.0.0"), ("a", "2.0.0"), ("a", "1.0.0")):
        add(folder, name, version)
    lock = write_lock(folder)
    assert [line.split()[0] for line in lock.read_text().splitlines()] == ["a@1.0.0", "a@2.0.0", "b@1.0.0"]
    assert check_lock(folder) == []
    add(folder, "a", "1.0.0", BODY + "more")
    add(folder, "c", "1.0.0")
    (folder / "b" / "1.0.0.md").unlink()
    assert [line.split(":")[0] for line in check_lock(folder)] == ["a@1.0.0", "c@1.0.0", "b@1.0.0"]
    with pytest.raises(PromptError, match=r"\['a@1.0.0', 'b@1.0.0'\] changed or gone"):
        write_lock(folder)
    assert "c@1.0.0" in read_lock(write_lock(folder, replace=True))
    assert check_lock(folder) == []


@pytest.mark.parametrize("text", ["a@1.0.0\n", "a 0\n", "a@1.0.0 0\na@1.0.0 1\n", "\n"])
def test_malformed_locks(tmp_path: Path, text: str) -> None:
    (tmp_path / "prompts.lock").write_text(text)
    with pytest.raises(PromptError, match=r"prompts\.lock:\d: .*expected"):
        read_lock(tmp_path / "prompts.lock")
