"""Prompt files: strict front matter, placeholders checked at load."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from calibration_sets.item import Item
from calibration_sets.references.reference import Reference
from graders.errors import PromptError
from graders.prompt import GraderPrompt
from graders.prompt_file import is_version, parse_prompt, read_source, write_prompt
from graders.prompt_library import SHIPPED, read_prompt_file

FRONT = 'rubric = "simpleqa@1.0.0"\nscale = "simpleqa"\nchannel = "letter"\n'
ITEM = "<question>$question</question>\n<reference>$reference</reference>\n<response>$response</response>"
BODY = f"Grade A, B or C.\n{ITEM}"


def parse(front: str = FRONT, body: str = BODY) -> GraderPrompt:
    return parse_prompt(f"+++\n{front}+++\n{body}\n", name="judge", version="1.2.0", where="judge/1.2.0.md")


def example(label: str = "CORRECT", extra: str = "") -> str:
    return (
        f'[[examples]]\nquestion = "Cost?"\nreference = "$5"\nresponse = "$5 of $question"\nlabel = "{label}"\n{extra}'
    )


def render(prompt: GraderPrompt) -> str:
    return prompt.render(Item("i", "Q?", Reference("R", "R"), "S", cluster_id="q"))


def test_a_small_prompt() -> None:
    prompt = parse()
    assert (prompt.name, prompt.version, prompt.rubric) == ("judge", "1.2.0", "simpleqa@1.0.0")
    assert (prompt.channel, prompt.form, prompt.scale.name) == ("letter", "chat", "simpleqa")
    assert prompt.scale.letters == {"INCORRECT": "B", "NOT_ATTEMPTED": "C", "CORRECT": "A"}
    assert render(prompt).endswith("<question>Q?</question>\n<reference>R</reference>\n<response>S</response>")


@pytest.mark.parametrize(
    ("front", "message"),
    [
        (FRONT + 'rubrik = "x"\n', "key 'rubrik' is unknown; expected one of"),
        ('scale = "simpleqa"\nchannel = "letter"\n', "key 'rubric' is missing"),
        (FRONT.replace("simpleqa@1.0.0", "simpleqa"), "key 'rubric' is 'simpleqa'"),
        (FRONT.replace('"letter"', '"letters"'), "key 'channel' is 'letters'"),
        (FRONT.replace('scale = "simpleqa"', 'scale = "five"'), r"scale 'five' is unknown; expected one of \['binary'"),
        (FRONT.replace('"letter"', "3"), "key 'channel' is 3"),
        (FRONT + "form = 'essay'\n", "key 'form' is 'essay'"),
        (FRONT + "[letters]\nCORRECT = 'A'\n", r"letters: none for \['INCORRECT', 'NOT_ATTEMPTED'\]"),
        (FRONT + "[letters]\nCORRECT = 'A'\nINCORRECT = 'a'\nNOT_ATTEMPTED = 'C'\n", "stands for more than one label"),
        (FRONT + "[letters]\nCORRECT = 'AA'\nINCORRECT = 'B'\nNOT_ATTEMPTED = 'C'\n", "expected one letter"),
        (FRONT + "[letters]\nPASS = 'A'\n", r"\['PASS'\] not on the scale"),
        (FRONT + "[words]\nCORRECT = 'right'\n", "words: none for"),
        (FRONT + "[words]\nCORRECT = []\nINCORRECT = ['no']\nNOT_ATTEMPTED = ['none']\n", "expected one or more words"),
        (FRONT + "unused = ['Pas']\n", r"unused: 'Pas' is not on the scale"),
        (FRONT + "unused = ['CORRECT']\n" + example(), r"examples\[1\]: label 'CORRECT' is listed as unused"),
        (FRONT + example("Pas"), r"examples\[1\]: label 'Pas' is not on the scale"),
        (FRONT + example(extra='note = "x"\n'), r"examples\[1\]: key 'note' is unknown"),
        (FRONT + '[[examples]]\nquestion = "x"\n', r"examples\[1\]: key 'reference' is missing"),
        (FRONT + 'examples = "none"\n', "examples 'none'; expected"),
        ("rubric\n" + FRONT, r"front matter is not TOML, .*line 2"),
    ],
)
def test_front_matter_errors_name_file_and_key(front: str, message: str) -> None:
    with pytest.raises(PromptError, match=rf"^judge/1\.2\.0\.md: .*{message}") as caught:
        parse(front, BODY + "\n$examples" if "examples" in front else BODY)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (BODY.replace("$response", "$answer"), r"md:9: placeholder '\$answer' is unknown"),
        (BODY.replace("$response", "S"), r"placeholder \$response is missing"),
        (BODY.replace("$response", "{response}"), r"\$response is missing \(\{response\} is not a placeholder\)"),
        (BODY.replace("$reference", "$Reference"), r"'\$Reference' is unknown"),
        (BODY + " costs $5", r"'\$' is unknown"),
        (BODY + " $response", r"\$response occurs 2 times"),
        (BODY + " ${examples}", r"0 \[\[examples\]\] and 1 \$examples"),
        ('Q: {question} A: {answer} Reply like {"grade": "A"}', r"\$question is missing \(\{answer\} is not"),
        ("", r"\$question is missing"),
    ],
)
def test_placeholder_errors_are_raised_at_load(body: str, message: str) -> None:
    with pytest.raises(PromptError, match=message):
        parse(body=body)


def test_examples_without_a_place_are_an_error() -> None:
    with pytest.raises(PromptError, match=r"1 \[\[examples\]\] and 0 \$examples"):
        parse(FRONT + example())


@pytest.mark.parametrize("text", ["", "no front matter $question", "+++\nrubric = 'x'\n", "x\n+++\n+++\n" + BODY])
def test_missing_front_matter(text: str) -> None:
    with pytest.raises(PromptError, match="front matter not found"):
        parse_prompt(text, name="judge", version="1.0.0", where="judge.md")


@pytest.mark.parametrize(
    ("name", "version"), [("a@b", "1.0.0"), ("", "1.0.0"), ("a b", "1.0.0"), ("a", "1.0"), ("a", "v1")]
)
def test_name_and_version_are_checked(name: str, version: str) -> None:
    with pytest.raises(PromptError, match="expected"):
        parse_prompt(f"+++\n{FRONT}+++\n{BODY}", name=name, version=version, where="x.md")


def test_versions() -> None:
    assert all(map(is_version, ["0.0.0", "1.0.0", "10.20.30", "1.0.0-rc.1", "0.0.0+063c04ea"]))
    assert not any(map(is_version, ["1.0", "01.0.0", "1.0.0.0", "v1.0.0", "1.0.0\n", ""]))


def test_braces_and_dollars_in_the_text_are_left_alone() -> None:
    rendered = render(parse(body='Reply {"grade": "A"}, {{x}}, {% y %}, $$5.\n' + BODY))
    assert rendered.startswith('Reply {"grade": "A"}, {{x}}, {% y %}, $5.\n')


def test_line_ends_and_byte_order_mark_do_not_move_the_digest() -> None:
    text = f"+++\n{FRONT}+++\n\n{BODY}\n\n"
    windows = "\ufeff" + text.replace("\n", "\r\n")
    digests = {parse_prompt(t, name="j", version="1.0.0", where="j").digest for t in (text, windows, text.strip())}
    assert len(digests) == 1


def test_examples_are_written_once_with_their_dollars() -> None:
    prompt = parse(FRONT + example(extra='why = "it is"\n') + example("INCORRECT"), "Rules\n$examples\n" + BODY)
    rendered = render(prompt)
    assert "Question: Cost?\nReference: $5\nResponse: $5 of $question\nWhy: it is\nGrade: A\n\nQuestion:" in rendered
    assert "Grade: B\nGrade A, B or C.\n<question>Q?" in rendered
    assert [found.label for found in prompt.examples] == ["CORRECT", "INCORRECT"]


def test_examples_cannot_close_a_block() -> None:
    front = FRONT + example().replace("$5 of $question", "x</response>")
    assert render(parse(front, "$examples\n" + BODY)).count("</response>") == 1


def test_completion_examples_leave_reasons_out_and_use_words() -> None:
    front = FRONT.replace('"letter"', '"word"') + "form = 'completion'\n"
    words = "[words]\nCORRECT = ['right', 'ok']\nINCORRECT = 'wrong'\nNOT_ATTEMPTED = 'none'\n"
    prompt = parse(front + words + example(extra='why = "it is"\n'), "$examples\n\n" + ITEM + "\nGrade:")
    rendered = render(prompt)
    shown = "<reference>$5</reference>\n<response>$5 of $question</response>\nGrade: right\n\n"
    assert shown in rendered
    assert "it is" not in rendered
    assert rendered.endswith("</response>\nGrade:")


def test_completion_examples_after_the_item_have_a_form_of_their_own() -> None:
    front = FRONT.replace('"letter"', '"word"') + "form = 'completion'\n" + example()
    assert render(parse(front, f"{ITEM}\n$examples")).endswith("Response: $5 of $question\nGrade: CORRECT")


def test_label_words_of_another_language() -> None:
    words = "[words]\nCORRECT = ['正确']\nINCORRECT = ['错误']\nNOT_ATTEMPTED = ['未尝试']\n"
    prompt = parse(FRONT.replace('"letter"', '"word"') + words)
    assert prompt.scale.words["INCORRECT"] == ("错误",)
    assert prompt.digest != parse(FRONT.replace('"letter"', '"word"')).digest


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*/*.md")), ids=lambda path: path.parent.name)
def test_written_prompts_read_back_the_same(path: Path, tmp_path: Path) -> None:
    prompt = read_prompt_file(path)
    copy = tmp_path / "copy" / "0.0.0+063c04ea.md"
    write_prompt(replace(prompt, name="copy", version="0.0.0+063c04ea"), copy)
    again = read_prompt_file(copy)
    assert (again.digest, again.version) == (prompt.digest, "0.0.0+063c04ea")
    assert (again.description, again.rubric, again.unused) == (prompt.description, prompt.rubric, prompt.unused)
    write_prompt(again, copy)
    with pytest.raises(PromptError, match="already there with other content"):
        write_prompt(replace(again, description="other"), copy)


def test_what_a_file_cannot_hold_is_not_written(tmp_path: Path) -> None:
    prompt = parse()
    for broken in (replace(prompt, text=prompt.text + "\n\n"), replace(prompt, text=prompt.text + "$x")):
        with pytest.raises(PromptError):
            write_prompt(broken, tmp_path / "judge" / "1.2.0.md")
    assert not list(tmp_path.iterdir())


@given(text=st.text(max_size=60), word=st.text(min_size=1, max_size=8).filter(str.strip))
def test_any_text_round_trips(text: str, word: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    assume(word.casefold() not in {"incorrect", "not_attempted", "correct", "b", "c"})
    prompt = parse()
    scale = replace(prompt.scale, words={"CORRECT": (word,), "INCORRECT": ("b",), "NOT_ATTEMPTED": ("c",)})
    body = f"Rules: {text.replace('$', '$$')} end.\n{ITEM}".replace("\r", "")
    written = replace(prompt, text=body, scale=scale, description=text)
    path = tmp_path_factory.mktemp("prompts") / "judge" / "1.2.0.md"
    write_prompt(written, path)
    again = read_prompt_file(path)
    assert (again.digest, again.description) == (written.digest, text)


def test_source_lists_every_problem() -> None:
    source = read_source(f"+++\n{FRONT}rubrik = 1\n{example('Pas')}+++\n$nope $examples", where="x.md")
    rules = [problem.rule for problem in source.problems]
    assert rules.count("placeholder") == 4
    assert "front-matter" in rules
