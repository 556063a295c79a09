"""``autorater answers``: the answer prompts that ship, where a user looks for them."""

from __future__ import annotations

from pathlib import Path

from command_line import autorater

from experiments.respondents.answer_prompts import list_answer_prompts, load_answer_prompt


def test_the_list_has_each_prompt_with_its_digest_and_what_it_is(tmp_path: Path) -> None:
    lines = autorater(tmp_path, "answers", "list").out.splitlines()
    prompts = [load_answer_prompt(entry.reference) for entry in list_answer_prompts()]
    assert lines[::2] == [prompt.title for prompt in prompts]
    assert lines[1::2] == [f"    {prompt.description}" for prompt in prompts]


def test_a_prompt_is_shown_as_a_model_reads_it(tmp_path: Path) -> None:
    ran = autorater(tmp_path, "answers", "show", "guess_is_free")
    prompt = load_answer_prompt("guess_is_free@1.0.0")
    assert ran.code == 0
    assert ran.out == f"{prompt.title}\nsha256 {prompt.digest}\nA guess costs nothing\n\n{prompt.text}\n"
    assert autorater(tmp_path, "answers", "show", "guess_is_free@1.0.0").out == ran.out


def test_one_of_ones_own_is_shown_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "0.1.0.md").write_text("+++\n+++\nPlease: $question\n", encoding="utf-8")
    ran = autorater(tmp_path, "answers", "show", "mine/0.1.0.md")
    assert ran.out.startswith("mine@0.1.0#")
    assert ran.out.endswith("\n\nPlease: $question\n")


def test_an_unknown_prompt_is_one_line_with_those_there_are(tmp_path: Path) -> None:
    ran = autorater(tmp_path, "answers", "show", "nobody")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: answer prompt 'nobody' is unknown; expected one of ['always_answer', ")
    assert len(ran.err.splitlines()) == 1


def test_help_has_examples(tmp_path: Path) -> None:
    assert "autorater answers show guess_is_free" in autorater(tmp_path, "answers", "--help").out
