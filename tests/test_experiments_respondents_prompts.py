"""Answer prompts: ten wordings, locked, that hold the question and nothing else of an item."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from experiments.respondents import answer_prompts
from experiments.respondents.answer_prompts import (
    SHIPPED,
    list_answer_prompts,
    load_answer_prompt,
    parse_answer_prompt,
    read_entry,
)
from graders.errors import PromptError
from graders.prompt_library import check_lock, read_lock, write_lock

REFERENCES = [entry.reference for entry in list_answer_prompts()]
HOSTILE = "Which is <question>$response</question>, ```$reference``` or ${x}? Question: &lt; $"


def make_item(question: str) -> Item:
    return Item("q1", question, parse_reference("SECRET-REFERENCE", ["SECRET-ALIAS"]), "SECRET-RESPONSE", "c1")


def test_shipped_wordings_are_a_control_and_nine_variants_all_different() -> None:
    assert len(REFERENCES) == 10
    assert "question_only@1.0.0" in REFERENCES
    prompts = [load_answer_prompt(reference) for reference in REFERENCES]
    assert len({prompt.digest for prompt in prompts}) == 10
    assert all(prompt.description for prompt in prompts)


def test_published_wordings_are_what_the_lock_says() -> None:
    assert check_lock(SHIPPED, read=read_entry) == []


def test_the_control_is_the_question_and_nothing_else() -> None:
    assert load_answer_prompt("question_only").render(make_item(HOSTILE)) == HOSTILE


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_rendering_holds_the_question_once_as_it_stands_and_never_reference_or_response(reference: str) -> None:
    rendered = load_answer_prompt(reference).render(make_item(HOSTILE))
    assert rendered.count(HOSTILE) == 1
    assert "SECRET" not in rendered


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_rendering_does_not_change_with_reference_and_response(reference: str) -> None:
    prompt = load_answer_prompt(reference)
    other = Item("q1", "Why?", parse_reference("other"), "another", "c1")
    assert prompt.render(make_item("Why?")) == prompt.render(other)


def test_references_name_version_and_digest() -> None:
    newest = load_answer_prompt("guess_is_free")
    assert newest.title == f"guess_is_free@1.0.0#{newest.digest[:8]}"
    assert load_answer_prompt(newest.title) == newest
    with pytest.raises(PromptError, match="digest"):
        load_answer_prompt("guess_is_free@1.0.0#00000000")
    with pytest.raises(PromptError, match=r"version '9\.0\.0' is unknown; expected one of \['1\.0\.0'\]"):
        load_answer_prompt("guess_is_free@9.0.0")
    with pytest.raises(PromptError, match=r"unknown; expected one of .*question_only"):
        load_answer_prompt("no_such_wording")


def test_a_wording_of_the_users_own_is_read_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "0.2.0.md").write_text("+++\n+++\n\n$question\nIt costs $$5.\n", encoding="utf-8")
    prompt = load_answer_prompt("mine/0.2.0.md", folder=tmp_path)
    assert (prompt.name, prompt.version) == ("mine", "0.2.0")
    assert prompt.render(make_item("Why?")) == "Why?\nIt costs $5."
    (tmp_path / "plain.md").write_text("+++\n+++\n$question", encoding="utf-8")
    assert load_answer_prompt("plain.md", folder=tmp_path).title.startswith("plain@0.0.0#")
    with pytest.raises(PromptError, match="expected a prompt file"):
        load_answer_prompt("absent.md", folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$question", "front matter not found"),
        ("+++\n+++\nNo placeholder", "placeholders none; expected [$]question, once"),
        ("+++\n+++\n$question $question", "placeholders [$]question, [$]question; expected"),
        ("+++\n+++\n$question $reference", "placeholders [$]question, [$]reference; expected"),
        ("+++\n+++\n$question for 5$", "placeholders [$]question, [$]; expected"),
        ('+++\nrubric = "x@1.0.0"\n+++\n$question', "key 'rubric'; expected a text under description, alone"),
        ("+++\ndescription = \n+++\n$question", "front matter is not TOML"),
    ],
)
def test_malformed_files_are_refused(text: str, message: str) -> None:
    with pytest.raises(PromptError, match=message):
        parse_answer_prompt(text, name="x", version="1.0.0", where="x.md")


def test_a_published_wording_that_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "prompts"
    shutil.copytree(SHIPPED, folder)
    shutil.copy(SHIPPED.with_name("prompts.lock"), tmp_path)
    monkeypatch.setattr(answer_prompts, "SHIPPED", folder)
    file = folder / "question_only" / "1.0.0.md"
    file.write_text(file.read_text() + "Please.\n", encoding="utf-8")
    with pytest.raises(PromptError, match="expected changed text under a new version"):
        load_answer_prompt("question_only")
    new = folder / "unlocked" / "1.0.0.md"
    new.parent.mkdir()
    new.write_text("+++\n+++\n$question?", encoding="utf-8")
    with pytest.raises(PromptError, match=r"not in prompts\.lock"):
        load_answer_prompt("unlocked")


def test_a_lock_is_written_for_a_folder_of_wordings(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    shutil.copytree(SHIPPED, folder)
    lock = write_lock(folder, read=read_entry)
    assert read_lock(lock) == read_lock(SHIPPED.with_name("prompts.lock"))
