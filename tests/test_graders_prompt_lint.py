"""Lint: examples against arithmetic, coverage, delimiters, broken files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from calibration_sets.scale import SIMPLEQA
from graders.errors import PromptError
from graders.prompt_examples import check_numbers, find_prose_examples
from graders.prompt_file import parse_prompt
from graders.prompt_library import SHIPPED, load_prompt, read_prompt_file
from graders.prompt_lint import Finding, lint_prompt, lint_text

ITEM = "<question>$question</question>\n<reference>$reference</reference>\n<response>$response</response>"
RULES = "Numbers must agree in the last significant figure. Answer A, B or C."
ALL_LABELS = [("Brelin", "Brelin", "CORRECT"), ("Brelin", "Karst", "INCORRECT"), ("Brelin", "no idea", "NOT_ATTEMPTED")]


def write(
    examples: list[tuple[str, str, str]], *, body: str = "", rubric: str = "simpleqa@1.0.0", extra: str = ""
) -> str:
    tables = "".join(
        f"[[examples]]\nquestion = 'q{n}'\nreference = '{reference}'\nresponse = '{response}'\nlabel = '{label}'\n"
        for n, (reference, response, label) in enumerate(examples)
    )
    shown = "$examples\n\n" if examples else ""
    front = f'rubric = "{rubric}"\nscale = "simpleqa"\nchannel = "letter"\n{extra}'
    return f"+++\n{front}{tables}+++\n{body or f'{RULES}{chr(10)}{shown}{ITEM}'}\n"


def rules(findings: list[Finding]) -> list[str]:
    return [finding.rule for finding in findings]


def lint(examples: list[tuple[str, str, str]], *, body: str = "", rubric: str = "simpleqa@1.0.0") -> list[Finding]:
    return lint_text(write(examples, body=body, rubric=rubric), where="judge/1.0.0.md")


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*/*.md")), ids=lambda path: path.parent.name)
def test_shipped_prompts_are_clean(path: Path) -> None:
    assert lint_prompt(path) == []
    assert lint_prompt(read_prompt_file(path)) == []


def test_a_good_prompt_has_no_findings() -> None:
    assert lint(ALL_LABELS) == []


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("2.08 m", "2.12"),
        ("2.08 m", "2.12 m"),
        ("2.08 m", "It is 2.12 m tall."),
        ("2.08 m", "212 cm"),
        ("1.73 m", "1.75 m"),
        ("120k", "113k"),
        ("4,600", "4,700"),
        ("7.3 million", "7.4 million"),
        ("1911", "1912"),
        ("86%", "88%"),
        ("-4.5", "-4.6"),
        ("3", "4"),
        ("240k (acceptable range: anything between 238k and 242k)", "244k"),
        ("2.08 m (acceptable range: anything between 2.06 m and 2.10 m)", "2.105 m"),
    ],
)
def test_wrong_numbers_labelled_correct(reference: str, response: str) -> None:
    findings = lint([*ALL_LABELS, (reference, response, "CORRECT")])
    assert rules(findings) == ["contradiction"]
    assert findings[0].severity == "error"
    assert response in findings[0].message
    assert reference in findings[0].message
    assert lint([*ALL_LABELS, (reference, response, "INCORRECT")]) == []


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("2.08 m", "2.08"),
        ("2.08 m", "2.083 m"),
        ("2.08 m", "208 cm"),
        ("54.2 kg", "54.2"),
        ("1911", "It was 1911."),
        ("240k", "240k"),
        ("4,600", "4600"),
        ("3", "three"),
        ("2.08 m (acceptable range: anything between 2.06 m and 2.10 m)", "2.10 m"),
    ],
)
def test_right_numbers_labelled_incorrect(reference: str, response: str) -> None:
    findings = lint([*ALL_LABELS, (reference, response, "INCORRECT")])
    assert rules(findings) == ["contradiction"]
    assert lint([*ALL_LABELS, (reference, response, "CORRECT")]) == []


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("240k", "244k"),
        ("120k", "115k"),
        ("120k", "124k"),
        ("Brelin", "Karst"),
        ("14 May 1911", "15 May 1911"),
        ("2.08 m", "somewhere between 2.0 and 2.2 m"),
        ("Boeing 747-400", "747"),
        ("", "5"),
        ("5", ""),
    ],
)
def test_what_arithmetic_cannot_tell_is_left_alone(reference: str, response: str) -> None:
    assert check_numbers(reference, response) == "undecided"
    for label in SIMPLEQA.labels:
        assert "contradiction" not in rules(lint([*ALL_LABELS, (reference, response, label)]))


@pytest.mark.parametrize(
    ("reference", "response", "wrong", "right"),
    [
        ("Brelin", "Brelin", "INCORRECT", "CORRECT"),
        ("Brelin", "brelin.", "NOT_ATTEMPTED", "CORRECT"),
        ("4,600 (acceptable range: anything between 4,500 and 4,700)", "4,600", "NOT_ATTEMPTED", "CORRECT"),
        ("No Idea", "No idea", "NOT_ATTEMPTED", "CORRECT"),
        ("Brelin", "I do not know.", "CORRECT", "NOT_ATTEMPTED"),
        ("2.08 m", "no idea", "CORRECT", "NOT_ATTEMPTED"),
        ("Brelin", "I could not find that, sorry.", "CORRECT", "INCORRECT"),
    ],
)
def test_plain_words_against_their_label(reference: str, response: str, wrong: str, right: str) -> None:
    findings = lint([*ALL_LABELS, (reference, response, wrong)])
    assert rules(findings) == ["contradiction"]
    assert wrong in findings[0].message
    assert lint([*ALL_LABELS, (reference, response, right)]) == []


@pytest.mark.parametrize(
    "response",
    ["Brelin Heights", "Brelin or Karst", "I do not know for sure. Brelin.", "I cannot verify it; Brelin", "Karst"],
)
def test_words_that_a_rubric_may_judge_are_left_alone(response: str) -> None:
    for label in SIMPLEQA.labels:
        assert lint([*ALL_LABELS, ("Brelin", response, label)]) == []


def test_rounding_counts_under_the_first_rubric_only() -> None:
    examples = [*ALL_LABELS, ("2.08 m", "2.083 m", "INCORRECT")]
    assert rules(lint(examples)) == ["contradiction"]
    assert lint(examples, rubric="simpleqa_verified@1.0.0") == []
    wrong = lint([*ALL_LABELS, ("2.08 m", "2.12", "CORRECT")], rubric="house_rules@1.0.0")
    assert [(finding.rule, finding.severity) for finding in wrong] == [("contradiction", "warning")]


@pytest.mark.parametrize(
    "prose",
    [
        'With the gold target "2.08 m", the predicted answer "2.12" is CORRECT.',
        'For example, consider the gold target "2.08 m".\n- Predicted answers "2.08" and "2.12" are all CORRECT.',
        "Example: reference 2.08 m, response 2.12 -> CORRECT",
        "If the reference is 2.08 m, a response of 2.12 is correct.",
        "Reference: 2.08 m; answer: 2.12 => A",
        "| question | reference | response | label |\n|---|---|---|---|\n| How tall? | 2.08 m | 2.12 | CORRECT |",
        "Question: How tall?\nReference: 2.08 m\nResponse: 2.12\nGrade: A",
        "**Question:** How tall?\n**Reference:** 2.08 m\n**Response:** 2.12\n**Label:** CORRECT",
        "Question: How tall?\nGold target: 2.08 m\nPredicted answer: 2.12\nWhy: near enough\nGrade: A: CORRECT",
        "These are examples of CORRECT predicted answers.\n```\nQuestion: How tall?\nGold target: 2.08 m\n"
        "Predicted answer 1: 2.08\nPredicted answer 2: 2.12\n```\nThey are right because.",
        "## CORRECT\nQuestion: How tall?\nReference: 2.08 m\nResponse: 2.12",
    ],
)
def test_examples_told_in_prose(prose: str) -> None:
    body = f"{RULES}\n\n{prose}\n\n{ITEM}"
    found = lint([], body=body)
    assert "contradiction" in rules(found)
    line = next(finding.line for finding in found if finding.rule == "contradiction")
    assert line is not None
    assert "2.12" in write([], body=body).splitlines()[line - 1]
    prompt = parse_prompt(write([], body=body), name="judge", version="1.0.0", where="x")
    assert "contradiction" in rules(lint_prompt(prompt))


def test_prose_examples_are_read_with_their_labels() -> None:
    text = (
        'Take the reference "120k".\n'
        '- Answers "120k" and "124k" are CORRECT, while "100k" is INCORRECT.\n'
        '- "more than 50k" is NOT ATTEMPTED.\n'
        "\n"
        'Elsewhere "x" is CORRECT.\n'
    )
    told = [(f.example.response, f.example.label) for f in find_prose_examples(text, SIMPLEQA)]
    assert told == [
        ("120k", "CORRECT"),
        ("124k", "CORRECT"),
        ("100k", "INCORRECT"),
        ("more than 50k", "NOT_ATTEMPTED"),
    ]


def test_structural_examples_are_not_found_twice() -> None:
    prompt = parse_prompt(write(ALL_LABELS), name="judge", version="1.0.0", where="x")
    assert lint_prompt(prompt) == []


def test_labels_without_examples() -> None:
    assert [f.message for f in lint(ALL_LABELS[:2])] == ["label NOT_ATTEMPTED has no example"]
    assert rules(lint([])) == ["no-example"] * 3


def test_the_same_example_under_two_labels() -> None:
    same = write([*ALL_LABELS, ("Brelin", "karst ", "CORRECT")]).replace("'q3'", "'q1'")
    assert rules(lint_text(same, where="x")) == ["conflict"]
    twice = write([*ALL_LABELS, ("Brelin", "Karst", "INCORRECT")]).replace("'q3'", "'q1'")
    assert rules(lint_text(twice, where="x")) == ["repetition"]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (f"{RULES}\n$examples\n{ITEM}\n$answer", "placeholder"),
        (f"{RULES}\n$examples\n{ITEM}\n{{answer}} $", "placeholder"),
        (f"{RULES}\n$examples\n" + ITEM.replace("$response", "{response}"), "placeholder"),
        (f"{RULES}\n$examples\n{ITEM}\n" + "More rules follow. " * 30, "item-first"),
        (f"{ITEM}\n{RULES}\n$examples\nAnswer:", "item-first"),
        (f"{RULES}\n$examples\nThe question is $question and\n{ITEM[33:]}", "delimiter"),
        (f"{RULES}\n$examples\n{ITEM.replace('</response>', '')}", "delimiter"),
        (f"Look between <response> and </response>. {RULES}\n$examples\n{ITEM}", "delimiter"),
    ],
)
def test_rules_about_the_text(body: str, rule: str) -> None:
    assert rule in rules(lint(ALL_LABELS, body=body))


def test_broken_files_give_all_their_findings() -> None:
    text = write([*ALL_LABELS, ("2.08 m", "2.12", "CORRECT"), ("x", "y", "Pas")], extra="rubrik = 1\n")
    findings = lint_text(text.replace("$question", "$nope"), where="judge/1.0.0.md")
    assert {"front-matter", "placeholder", "contradiction"} <= set(rules(findings))
    assert all(str(finding).startswith("judge/1.0.0.md:") for finding in findings)
    assert all("\n" not in str(finding) for finding in findings)


@pytest.mark.parametrize(
    "text", ["", "+++\n", "+++\nx =\n+++\n", "no front matter", "+++\n+++\n", "\0", "+++\nexamples = 3\n+++\n$"]
)
def test_hopeless_files_still_give_findings(text: str) -> None:
    findings = lint_text(text, where="x.md")
    assert findings
    assert findings[0].severity == "error"


def test_colliding_letters_and_words() -> None:
    letters = "[letters]\nCORRECT = 'A'\nINCORRECT = 'a'\nNOT_ATTEMPTED = 'C'\n"
    assert rules(lint_text(write(ALL_LABELS, extra=letters), where="x")) == ["labels"]
    words = "[words]\nCORRECT = ['yes']\nINCORRECT = ['no']\nNOT_ATTEMPTED = ['not given']\n"
    text = write(ALL_LABELS, extra=words).replace('channel = "letter"', 'channel = "word"')
    assert rules(lint_text(text, where="x")) == ["words"]


def test_off_scale_labels() -> None:
    assert "off-scale" in rules(lint([*ALL_LABELS, ("x", "y", "PARTIAL")]))


def test_label_that_the_text_never_says() -> None:
    prompt = load_prompt("simpleqa")
    silent = replace(prompt, channel="word", text="Judge.\n" + ITEM, examples=())
    assert "unspoken" in rules(lint_prompt(silent))


def test_files_by_path(tmp_path: Path) -> None:
    path = tmp_path / "judge" / "1.0.md"
    path.parent.mkdir()
    path.write_text(write(ALL_LABELS), encoding="utf-8")
    assert rules(lint_prompt(path)) == ["version"]
    assert rules(lint_prompt(str(path))) == ["version"]
    with pytest.raises(PromptError, match="No such file"):
        lint_prompt(tmp_path / "none.md")
    path.write_bytes(b"\xff")
    with pytest.raises(PromptError, match="not UTF-8"):
        lint_prompt(path)
