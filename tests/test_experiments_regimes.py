"""Regimes: the strict set, what a model reads under each, and the texts that are locked."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("aiohttp")

from regime_samples import TOLLS, write_experiment, write_questions

from calibration_sets.errors import SetFileError
from calibration_sets.item import Item
from calibration_sets.references.reference import Reference
from experiments.errors import SpecError
from experiments.regimes.label_scores import score_labels
from experiments.regimes.material import Document, Material, cut_middle
from experiments.regimes.question_set import load_question_set
from experiments.regimes.regime_names import REGIMES, RegimeName
from experiments.regimes.regime_prompts import SHIPPED, load_regime_prompt, read_regime_entry
from experiments.respondents.responses import as_asking, as_grading
from experiments.specs.experiment import load_experiment
from graders.client import Request
from graders.prompt_library import check_lock
from graders.token_estimate import estimate_request


def render(regime: RegimeName, item: Item) -> str:
    return load_regime_prompt(regime).render(item)


def questions(folder: Path, most: int = 30_000, **about: int) -> tuple[Item, ...]:
    return load_question_set(write_questions(folder, **about), max_characters=most).items


def test_each_regime_shows_what_it_is_named_after_and_never_the_reference(tmp_path: Path) -> None:
    item = questions(tmp_path)[2]
    shown = {regime: render(regime, item) for regime in REGIMES}
    toll = f"The toll at {TOLLS[2][0]} is {TOLLS[2][1]} marks a tonne."
    assert {regime for regime, text in shown.items() if toll in text} == set(REGIMES[1:])
    assert all(text.count(item.question) == 1 and item.reference.text not in text for text in shown.values())
    assert [shown[regime].count("Document ") for regime in REGIMES] == [0, 0, 1, 3]
    assert f"- {toll}\n" in shown["concepts_only"]
    assert "1802" not in shown["concepts_only"]
    for n in (3, 4):
        assert f"The toll at {TOLLS[n][0]} is" in shown["full_set"]
        assert f"The toll at {TOLLS[n][0]} is" not in shown["related_documents"]


def test_published_texts_are_what_the_lock_says() -> None:
    assert check_lock(SHIPPED, read=read_regime_entry) == []


def test_a_placeholder_in_a_question_or_document_stays_what_it_is() -> None:
    material = Material(("$question",), (Document("$documents", "${concepts} $ $$"),), ())
    item = Item("q", "$documents?", Reference("r", "r"), material.as_text(), "q")
    assert "Document 1: $documents\n\n${concepts} $ $$" in render("full_set", item)
    assert "- $question\n" in render("concepts_only", item)


@given(
    st.text(max_size=8),
    st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=3),
    st.lists(st.text(max_size=5), max_size=4),
)
def test_material_comes_back_from_its_text_and_the_order_does_not_hang_on_the_role(
    question: str, related: list[str], distractors: list[str]
) -> None:
    found = Material(
        ("c",), tuple(Document("t", one) for one in related), tuple(Document("u", one) for one in distractors)
    )
    assert Material.from_text(found.as_text()) == found
    turned = Material(("c",), found.distractors, found.related)
    assert found.list_documents(question, with_distractors=True) == turned.list_documents(
        question, with_distractors=True
    )


@given(st.text(max_size=300), st.integers(min_value=1, max_value=120))
def test_a_cut_text_keeps_begin_and_end_and_says_how_much_is_gone(text: str, most: int) -> None:
    cut = cut_middle(text, most=most)
    if len(text) <= most:
        assert cut == text
        return
    found = re.fullmatch(r"(.*?)\n\[\.\.\. ([\d,]+) characters are left out here \.\.\.\]\n(.*)", cut, re.DOTALL)
    assert found is not None
    head, marker, tail = found.groups()
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + int(marker.replace(",", "")) + len(tail) == len(text)
    assert 0 <= most - len(head) - len(tail) <= 32


def test_exactly_so_many_characters_are_kept_and_the_marker_comes_on_top() -> None:
    text = "".join(chr(97 + place % 26) for place in range(30_001))
    assert cut_middle(text[:30_000], most=30_000) == text[:30_000]
    marker = "\n[... 1 characters are left out here ...]\n"
    assert cut_middle(text, most=30_000) == text[:15_000] + marker + text[15_001:]
    assert cut_middle("abcdefghij", most=5) == "abc\n[... 5 characters are left out here ...]\nij"


def test_a_cut_keeps_letters_with_their_accents() -> None:
    """The letter e with its accent as a character of its own, at either side of the cut."""
    assert cut_middle("abe\u0301defghij", most=6) == "ab\n[... 6 characters are left out here ...]\nhij"
    assert cut_middle("abcdefge\u0301j", most=4) == "ab\n[... 7 characters are left out here ...]\nj"
    # Nothing but accents is cut all the same.
    assert len(cut_middle("\u0301" * 500, most=100)) < 150


def test_the_guide_s_example_is_an_experiment(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parent.parent / "docs" / "regimes.md").read_text(encoding="utf-8")
    (tmp_path / "questions").mkdir()
    for name in ("toml tolls.toml", "toml set.toml", "jsonl questions.jsonl", "jsonl documents.jsonl"):
        body = page.partition(f"```{name}\n")[2].partition("```")[0]
        file = name.split()[1]
        (tmp_path / file if file == "tolls.toml" else tmp_path / "questions" / file).write_text(body, encoding="utf-8")
    loaded = load_experiment(str(tmp_path / "tolls.toml"))
    assert [one.metadata["traits"].get("steps") for one in loaded.calibration_set.items] == [2, None]
    assert "Rules of the canal" in render("related_documents", loaded.calibration_set.items[0])


def test_long_documents_are_cut_and_counted(tmp_path: Path) -> None:
    whole, cut = questions(tmp_path / "a", filler=500), questions(tmp_path / "b", most=200, filler=500)
    assert [one.metadata["traits"]["cut"] for one in whole[:3]] == [0, 0, 0]
    assert [one.metadata["traits"]["cut"] for one in cut[:3]] == [1, 2, 3]
    assert "characters are left out here" in render("full_set", cut[0])
    assert whole[0].digest != cut[0].digest


def test_traits_are_counted_and_steps_are_left_out_where_nobody_told_them(tmp_path: Path) -> None:
    found = [one.metadata["traits"] for one in questions(tmp_path)]
    assert found[1] == {"concepts": 2, "related": 1, "distractors": 1, "steps": 2, "cut": 0}
    assert "steps" not in found[3]


GOOD = {
    "question_id": "q9",
    "question": "Why?",
    "reference": "So.",
    "concepts": ["c"],
    "related": ["d1"],
    "distractors": ["d2"],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"related": ["d99"]}, "questions.jsonl:13: related[0] 'd99'; expected a document_id of documents.jsonl"),
        ({"distractors": ["d1"]}, "questions.jsonl:13: distractors[0] 'd1' stands in related already"),
        ({"question_id": "q0"}, "questions.jsonl:13: question_id 'q0' is that of line 1 too"),
        ({"concepts": []}, "questions.jsonl:13: concepts"),
        ({"related": []}, "questions.jsonl:13: related"),
        ({"steps": 0}, "questions.jsonl:13: steps"),
        ({"steps": True}, "questions.jsonl:13: steps"),
        ({"steps": 1.5}, "questions.jsonl:13: steps"),
        ({"answer": "x"}, "questions.jsonl:13: unknown key 'answer'"),
        ({"reference": " "}, "questions.jsonl:13: reference"),
    ],
)
def test_a_bad_question_is_told_by_file_and_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    write_questions(tmp_path)
    with (tmp_path / "questions.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({**GOOD, "question_id": "new", **change}) + "\n")
    with pytest.raises(SetFileError) as caught:
        load_question_set(tmp_path, max_characters=1000)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("role", ["related", "distractors"])
def test_a_distractor_that_says_what_a_related_document_says_is_refused(tmp_path: Path, role: str) -> None:
    write_questions(tmp_path, n_questions=1)
    with (tmp_path / "documents.jsonl").open("a", encoding="utf-8") as file:
        text = json.loads((tmp_path / "documents.jsonl").read_text(encoding="utf-8").splitlines()[1])["text"]
        file.write(json.dumps({"document_id": "copy", "title": "Another title", "text": f" {text}\n"}) + "\n")
    row = {**GOOD, role: [*GOOD[role], "copy"], "distractors": ["copy"] if role == "distractors" else []}
    (tmp_path / "questions.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(SetFileError, match=rf"{role}\[\d\] 'copy' has the text of 'd1'; expected each text once"):
        load_question_set(tmp_path, max_characters=1000)


@pytest.mark.parametrize(
    ("scale", "scores"),
    [
        ('"der2_rubric"', (0.0, 0.25, 0.5, 0.75, 1.0)),
        ('"simpleqa"', (0.0, 0.0, 1.0)),
        ('"binary"', (0.0, 1.0)),
        ('{ labels = ["1", "2", "3", "5"], level = "interval" }', (0.0, 0.25, 0.5, 1.0)),
        ('{ labels = ["-1", "0", "1"], level = "ordinal" }', (0.0, 0.5, 1.0)),
        ('{ labels = ["BAD", "GOOD"], positive = "GOOD" }', (0.0, 1.0)),
    ],
)
def test_a_set_may_have_any_scale_whose_labels_are_scores(tmp_path: Path, scale: str, scores: Sequence[float]) -> None:
    write_questions(tmp_path)
    with (tmp_path / "set.toml").open("a", encoding="utf-8") as file:
        file.write(f'rubric = "mine@1.0.0"\nscale = {scale}\n')
    loaded = load_question_set(tmp_path, max_characters=1000)
    assert loaded.rubric == "mine@1.0.0"
    assert score_labels(loaded.scale) == scores


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ('"der2_errors"', "set.toml: scale 'der2_errors': labels ['PROCESS'"),
        ('"der2_concepts"', "expected ascending numbers of an ordered scale, or one that counts as right"),
        ('{ labels = ["0", "1"] }', "expected ascending numbers of an ordered scale"),
        ('"mine"', "set.toml: scale 'mine'; expected one of"),
        ("3", "set.toml: scale"),
    ],
)
def test_a_scale_whose_labels_are_no_scores_is_refused(tmp_path: Path, scale: str, message: str) -> None:
    write_questions(tmp_path)
    with (tmp_path / "set.toml").open("a", encoding="utf-8") as file:
        file.write(f"scale = {scale}\n")
    with pytest.raises(SetFileError) as caught:
        load_question_set(tmp_path, max_characters=1000)
    assert message in str(caught.value)


def test_files_that_are_missing_or_empty_are_told(tmp_path: Path) -> None:
    write_questions(tmp_path, n_questions=0)
    with pytest.raises(SetFileError, match=r"questions\.jsonl: no questions; expected one a line"):
        load_question_set(tmp_path, max_characters=1000)
    (tmp_path / "documents.jsonl").unlink()
    with pytest.raises(SetFileError, match=r"documents\.jsonl: no such file"):
        load_question_set(tmp_path, max_characters=1000)


def test_all_bad_lines_are_told_together(tmp_path: Path) -> None:
    write_questions(tmp_path)
    (tmp_path / "documents.jsonl").write_text(
        json.dumps({"document_id": "d0", "title": "t", "text": "x"}) + "\n", encoding="utf-8"
    )
    with pytest.raises(SetFileError, match=r"and \d+ more"):
        load_question_set(tmp_path, max_characters=1000)


def test_an_experiment_asks_four_regimes_twice_by_default(tmp_path: Path) -> None:
    write_questions(tmp_path / "questions")
    loaded = load_experiment(str(write_experiment(tmp_path, "http://127.0.0.1:9/v1", models="m1 m2")))
    assert loaded.answering is not None
    assert [one.prompt for one in loaded.answering.respondents[:4]] == [f"{regime}@1.0.0" for regime in REGIMES]
    assert len(loaded.answering.respondents) == 8
    assert loaded.answering.repeats == 2
    asked = as_asking(loaded).calibration_set.items[0]
    assert asked.reference.text == ""
    # What graders are given is the question alone, with its reference and, later, a response.
    assert as_grading(loaded, None).calibration_set.items == ()


def test_a_changed_document_is_another_question_and_another_run(tmp_path: Path) -> None:
    write_questions(tmp_path / "questions")
    path = str(write_experiment(tmp_path, "http://127.0.0.1:9/v1"))
    before = load_experiment(path)
    documents = tmp_path / "questions" / "documents.jsonl"
    documents.write_text(documents.read_text(encoding="utf-8").replace("1802", "1702"), encoding="utf-8")
    after = load_experiment(path)
    assert before.run_id != after.run_id
    both = zip(before.calibration_set.items, after.calibration_set.items, strict=True)
    assert [one.item_id for one, other in both if one.digest != other.digest] == ["q1", "q2"]


def test_documents_as_text_are_the_same_run_whether_or_not_it_is_said(tmp_path: Path) -> None:
    write_questions(tmp_path / "questions")

    def run_id(more: str) -> str:
        return load_experiment(str(write_experiment(tmp_path, "http://127.0.0.1:9/v1", more=more))).run_id

    assert run_id('documents = "text"') == run_id("")
    assert run_id("repeats = 3") != run_id("")


def test_calls_are_priced_by_what_each_regime_shows(tmp_path: Path) -> None:
    write_questions(tmp_path / "questions", filler=4000)
    loaded = load_experiment(str(write_experiment(tmp_path, "http://127.0.0.1:9/v1")))
    assert loaded.answering is not None
    item = as_asking(loaded).calibration_set.items[2]
    tokens = []
    for respondent in loaded.answering.respondents:
        grader = respondent.grader
        assert grader.prompt is not None
        expected, most = estimate_request(
            Request(item, (0,), grader.prompt, grader.sampling, grader.prompt.scale), grader, 1
        )
        assert (most.input_tokens or 0) >= len(grader.prompt.render(item)) / 2
        tokens.append(expected.input_tokens or 0)
    assert tokens[0] < tokens[1] < 200
    assert 1000 < tokens[2] < 1300
    assert 3000 < tokens[3] < 3600


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[regimes]", "[ab]\ncontrol = 'a'\nraise = 'correct'\n[regimes]", "ab: stands beside regimes"),
        ("[regimes]", "[regimes]\nregimes = ['concepts']", "regimes.regimes[0]"),
        ("[regimes]", "[regimes]\nregimes = []", "regimes.regimes"),
        ("[regimes]", "[regimes]\nregimes = ['full_set', 'full_set']", "asks what"),
        ("[regimes]", "[regimes]\nmax_characters = 10", "regimes.max_characters"),
        ("[regimes]", "[regimes]\nprompts = ['question_only']", "unknown key 'regimes.prompts'"),
        ("der2_rubric@1.0.0", "simpleqa@1.0.0", "graders[0]"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_its_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    write_questions(tmp_path / "questions")
    path = write_experiment(tmp_path, "http://127.0.0.1:9/v1")
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_experiment(str(path))
    assert message in str(caught.value)
