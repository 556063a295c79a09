"""Mutations of a prompt: the same rules in another order and under other letters, or a refusal that says why."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from calibration_sets.scale import SIMPLEQA
from graders.errors import PromptError
from graders.parsing import parse_completion
from graders.prompt import GraderPrompt
from graders.prompt_file import parse_prompt
from graders.prompt_library import list_prompts, load_prompt
from graders.prompt_mutations import MUTATIONS, mutate_prompt, mutation_of
from graders.verdict import Completion

SHIPPED = [entry.reference for entry in list_prompts(folder=None) if entry.origin == "shipped"]
WITH_EXAMPLES = [reference for reference in SHIPPED if load_prompt(reference).examples]
BY_LETTER = [one for one in SHIPPED if one.startswith("simpleqa") and "short" not in one]
ORDERS = ("examples-reversed", "examples-grouped")

FILE = """+++
rubric = "own@1.0.0"
scale = "simpleqa"
channel = "letter"
+++
{rules}

<question>
$question
</question>
<reference>
$reference
</reference>
<response>
$response
</response>
Grade:
"""


def own_prompt(rules: str) -> GraderPrompt:
    return parse_prompt(FILE.format(rules=rules), name="own", version="1.0.0", where="own.md")


def rules_of(prompt: GraderPrompt) -> str:
    return prompt.text.partition("\n\n<question>")[0]


@pytest.mark.parametrize("reference", WITH_EXAMPLES)
@pytest.mark.parametrize("mutation", ORDERS)
def test_another_order_of_the_examples_changes_no_line_but_its_place(reference: str, mutation: str) -> None:
    plain = load_prompt(reference)
    mutated = mutate_prompt(plain, mutation)
    assert Counter(mutated.text.splitlines()) == Counter(plain.text.splitlines())
    assert mutated.text != plain.text
    assert mutated.digest != plain.digest
    assert mutated.scale == plain.scale
    assert Counter(mutated.examples) == Counter(plain.examples)


def test_reversed_twice_is_the_prompt_again() -> None:
    plain = load_prompt("simpleqa_verified@1.0.0")
    assert mutate_prompt(mutate_prompt(plain, "examples-reversed"), "examples-reversed").text == plain.text


def test_grouped_examples_stand_worst_label_first_and_else_as_they_stood() -> None:
    plain = load_prompt("simpleqa_short@1.0.0")
    grouped = mutate_prompt(plain, "examples-grouped")
    labels = [example.label for example in grouped.examples]
    assert labels == sorted(labels, key=plain.scale.index)
    right = [example for example in plain.examples if example.label == "CORRECT"]
    assert [example for example in grouped.examples if example.label == "CORRECT"] == right
    places = [grouped.text.index(example.response) for example in grouped.examples[-2:]]
    assert places == sorted(places)


@pytest.mark.parametrize("reference", BY_LETTER)
def test_letters_permuted_are_a_derangement_told_in_the_whole_text(reference: str) -> None:
    plain = load_prompt(reference)
    mutated = mutate_prompt(plain, "letters-permuted")
    assert mutated.scale.letters == {"CORRECT": "B", "INCORRECT": "C", "NOT_ATTEMPTED": "A"}
    assert mutated.scale.labels == plain.scale.labels
    assert "## B: CORRECT" in mutated.text
    assert "## C: INCORRECT" in mutated.text
    # Articles are none of its letters.
    assert "A response may address you" in mutated.text
    assert "A little over 4,630" in mutated.text or "A little over" not in plain.text
    for example in mutated.examples:
        start = mutated.text.index(example.response.replace("$", "$$"))
        grade = mutated.text[start:].split("Grade: ", 1)[1][0]
        assert grade == mutated.scale.letters[example.label]


def test_a_fourth_letter_takes_part_too() -> None:
    mutated = mutate_prompt(load_prompt("omniscience@1.0.0"), "letters-permuted")
    letters = {"CORRECT": "B", "INCORRECT": "C", "PARTIAL_ANSWER": "D", "NOT_ATTEMPTED": "A"}
    assert mutated.scale.letters == letters
    assert all(f"{letter}, {label}" in mutated.text for label, letter in letters.items())


def test_letters_permuted_as_often_as_there_are_letters_are_the_prompt_again() -> None:
    plain = load_prompt("simpleqa@1.0.0")
    prompt = plain
    for _ in plain.scale.labels:
        prompt = mutate_prompt(prompt, "letters-permuted")
    assert (prompt.text, prompt.digest) == (plain.text, plain.digest)


def test_a_permuted_prompts_replies_read_back_as_the_labels_that_its_letters_stand_for() -> None:
    mutated = mutate_prompt(load_prompt("simpleqa@1.0.0"), "letters-permuted")
    said = {
        label: parse_completion(Completion(mutated.spoken(label), "m"), mutated.scale, mutated.channel).label
        for label in mutated.scale.labels
    }
    assert said == {label: label for label in mutated.scale.labels}
    assert parse_completion(Completion("A", "m"), mutated.scale, "letter").label == "NOT_ATTEMPTED"


@pytest.mark.parametrize(
    ("rules", "permuted"),
    [
        ("A: right. B: wrong. C: neither.", "B: right. C: wrong. A: neither."),
        ("Say A if right, B if wrong, C if neither.", "Say B if right, C if wrong, A if neither."),
        ("A or B, and C else.\nA right one gets\nA only.", "B or C, and A else.\nA right one gets\nB only."),
        ("- A response is graded A, B or C.", "- A response is graded B, C or A."),
        ("A means yes (B no, C open). Vitamin-A, U.S.A, A's, ABC stay.",
         "B means yes (C no, A open). Vitamin-A, U.S.A, A's, ABC stay."),
        ("Choose A B C", "Choose B C A"),
    ],
)  # fmt: skip
def test_a_letter_is_told_from_the_article(rules: str, permuted: str) -> None:
    assert rules_of(mutate_prompt(own_prompt(rules), "letters-permuted")) == permuted


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ("A CORRECT answer gets A, B or C", "'A CORRECT answer gets' may be the letter or the article"),
        ("A is right and B is wrong.", r"letters \['C'\] do not occur"),
        ("A: right, B: wrong, C: neither. One of A-C:", "'A-C' is a range"),
        ("A: right, B: wrong, C: neither. From A to C.", "'A to C' is a range"),
        ("Grade it.", r"letters \['A', 'B', 'C'\] do not occur"),
    ],
)
def test_a_doubtful_permutation_is_refused(rules: str, reason: str) -> None:
    with pytest.raises(PromptError, match=reason):
        mutate_prompt(own_prompt(rules), "letters-permuted")


def test_letters_that_are_numbers_or_words_are_refused() -> None:
    plain = own_prompt("A, B, C")
    for letters in ({"CORRECT": "1", "INCORRECT": "2", "NOT_ATTEMPTED": "3"}, {**SIMPLEQA.letters, "CORRECT": "I"}):
        with pytest.raises(PromptError, match="cannot be told from words or numbers"):
            mutate_prompt(replace(plain, scale=replace(plain.scale, letters=letters)), "letters-permuted")


def test_what_a_prompt_does_not_have_cannot_be_changed() -> None:
    with pytest.raises(PromptError, match="its verdicts are no letters"):
        mutate_prompt(load_prompt("simpleqa_short@1.0.0"), "letters-permuted")
    for mutation in ORDERS:
        with pytest.raises(PromptError, match="no worked examples are known apart"):
            mutate_prompt(own_prompt("A, B, C"), mutation)
    plain = load_prompt("simpleqa@1.0.0")
    with pytest.raises(PromptError, match="do not stand in its text as written"):
        mutate_prompt(replace(plain, text=plain.text.replace("Why:", "Reason:")), "examples-reversed")
    grouped = mutate_prompt(plain, "examples-grouped")
    with pytest.raises(PromptError, match="changes nothing"):
        mutate_prompt(grouped, "examples-grouped")
    with pytest.raises(PromptError, match=r"simpleqa@1\.0\.0: upside-down: no such mutation; expected one of"):
        mutate_prompt(plain, "upside-down")


def test_examples_with_dollars_and_delimiters_are_found_again() -> None:
    text = FILE.format(rules="A: right, B: wrong, C: neither\n\n$examples").replace(
        '"letter"\n',
        '"letter"\n'
        + "".join(
            f'[[examples]]\nquestion = "{question}"\nreference = "$5"\nresponse = "{response}"\nlabel = "{label}"\n'
            for question, response, label in (
                ("What did it cost in $?", "</response> $5", "CORRECT"),
                ("What did it cost in $?", "```$6```", "INCORRECT"),
                ("Cost?", "no idea", "NOT_ATTEMPTED"),
            )
        ),
    )
    plain = parse_prompt(text, name="own", version="1.0.0", where="own.md")
    mutated = mutate_prompt(plain, "examples-reversed")
    assert Counter(mutated.text.splitlines()) == Counter(plain.text.splitlines())
    assert mutated.text.index("no idea") < mutated.text.index("$$6") < mutated.text.index("&lt;/response> $$5")


def test_titles_tell_the_plain_prompt_and_the_mutation() -> None:
    plain = load_prompt("simpleqa@1.0.0")
    assert mutation_of(plain.title) == ("simpleqa@1.0.0", None)
    for mutation in MUTATIONS:
        assert mutation_of(mutate_prompt(plain, mutation).title) == ("simpleqa@1.0.0", mutation)
    assert mutation_of("own@1.0.0+build.2#abc") == ("own@1.0.0+build.2", None)
    assert mutation_of("") == ("", None)
