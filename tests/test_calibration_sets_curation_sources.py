"""What sources answer: texts by address, prompts that show no reference, and replies that are never taken for more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import pytest
from curation_samples import ids, make_question
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.curation.judge import NoReply
from calibration_sets.curation.numeric_conflicts import drop_numeric_conflicts, numeric_review
from calibration_sets.curation.source_answers import SourceAnswers, read_source_answers
from calibration_sets.curation.source_conflicts import conflict_review, settle_source_conflicts
from calibration_sets.curation.source_reading import (
    SourceReading,
    list_sources,
    load_source_prompts,
    read_sources,
    reading_data,
)
from calibration_sets.curation.source_texts import SourceTexts, read_source_texts
from calibration_sets.curation.source_urls import url_key
from calibration_sets.errors import SetFileError
from calibration_sets.tables import read_csv
from calibration_sets.writer import write_lines

SITE, OTHER = "https://example.org/wiki/Caf%C3%A9", "https://example.net/b?x=1"
QUESTION = make_question("q", "Which river flows by $source?", "Brelinsk", urls=(SITE, OTHER))
TEXTS = SourceTexts({url_key(SITE): "The Ulm runs by $question and ${address}."})


def _read(reply: str | NoReply) -> SourceReading:
    return read_sources(list_sources([QUESTION], TEXTS, without_text=False), lambda texts: [reply] * len(texts))[0]


@pytest.mark.parametrize(
    ("reply", "answer", "outcome", "failure"),
    [
        ("answer: Ulm", "Ulm", "answered", None),
        ("The text is clear.\n\n**Answer:** the Ulm.\n", "the Ulm.", "answered", None),
        ("answer: -5 °C", "-5 °C", "answered", None),
        ("answer: 12:30", "12:30", "answered", None),
        ("answer: Ulm\r\nanswer: Ulm", "Ulm", "answered", None),
        ("answer: not stated", None, "not stated", None),
        ("Answer: Not stated.", None, "not stated", None),
        ("**answer: not stated**", None, "not stated", None),
        ("answer: not stated in this text", None, "not stated", None),
        ("answer: Nota", "Nota", "answered", None),
        ("answer: Ulm\nanswer: not stated", None, "failed", "more than one answer"),
        ("answer:\nUlm", None, "failed", "no line 'answer: ...'"),
        ("It is the Ulm.", None, "failed", "no line 'answer: ...'"),
        ("", None, "failed", "no line 'answer: ...'"),
        (NoReply("overloaded"), None, "failed", "no reply, overloaded"),
    ],
)
def test_replies(reply: str | NoReply, answer: str | None, outcome: str, failure: str | None) -> None:
    found = _read(reply)
    assert (found.answer, found.outcome, found.failure) == (answer, outcome, failure)


@given(st.text())
def test_any_reply_is_an_answer_or_a_failure_or_neither_never_both(reply: str) -> None:
    found = _read(reply)
    assert not (found.answer and found.failure)
    assert found.answer is None or found.answer.strip()


def test_a_model_reads_the_text_as_it_stands_and_never_the_reference() -> None:
    asked = list_sources([QUESTION], TEXTS, without_text=True)
    assert [(one.url, one.basis) for one in asked] == [(SITE, "text"), (OTHER, "address")]
    assert "Question: Which river flows by $source?" in asked[0].prompt
    assert "The Ulm runs by $question and ${address}." in asked[0].prompt
    assert f"Source: {OTHER}\n" in asked[1].prompt
    assert not any("Brelinsk" in one.prompt for one in asked)
    assert asked[0].prompt_title.startswith("source_answer@1.0.0#")
    assert asked[1].prompt_title.startswith("source_recall@1.0.0#")
    assert len({prompt.title for prompt in load_source_prompts().values()}) == 2


def test_a_source_without_text_is_not_asked_for() -> None:
    prompts: list[str] = []

    def judge(texts: Sequence[str]) -> list[str | NoReply]:
        prompts.extend(texts)
        return ["answer: Ulm"] * len(texts)

    found = read_sources(list_sources([QUESTION], TEXTS, without_text=False), judge)
    assert [one.outcome for one in found] == ["answered", "no text"]
    assert len(prompts) == 1
    nothing = read_sources(list_sources([QUESTION], SourceTexts(), without_text=False), judge)
    assert [one.outcome for one in nothing] == ["no text", "no text"]
    assert len(prompts) == 1


def test_two_spellings_of_an_address_are_one_source() -> None:
    question = make_question("q", urls=("https://www.example.org/a/", "http://example.org/a#part"))
    asked = list_sources([question], SourceTexts({"example.org/a": "Text."}), without_text=False)
    assert [one.url for one in asked] == ["https://www.example.org/a/"]


def test_a_judge_that_loses_a_reply_is_a_bug() -> None:
    with pytest.raises(ValueError, match="shorter"):
        read_sources(list_sources([QUESTION], TEXTS, without_text=True), lambda _: ["answer: a"])


def test_texts_from_a_folder_and_from_a_table_are_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / f"{quote(SITE, safe='')}.txt").write_text("One\r\ntwo.", encoding="utf-8-sig", newline="")
    (folder / f"{quote(OTHER.removeprefix('https://'), safe='')}.txt").write_text("Three.", encoding="utf-8")
    (folder / "notes.md").write_text("not a source", encoding="utf-8")
    write_lines(
        tmp_path / "texts.jsonl",
        [{"url": SITE, "text": "One\r\ntwo."}, {"url": OTHER, "text": "Three."}, {"url": SITE, "text": " "}],
    )
    found = read_source_texts(folder)
    assert found == read_source_texts(tmp_path / "texts.jsonl")
    assert (found.find("http://www.example.org/wiki/Café"), found.find("https://example.net/b")) == (
        "One\r\ntwo.",
        None,
    )
    assert found.count_strangers([SITE]) == 1


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"url": "", "text": "x"}], r"texts.jsonl:1: url ''; expected an address"),
        ([{"url": "Elbe", "text": "x"}], r"texts.jsonl:1: url 'Elbe'; expected an address"),
        (
            [{"url": SITE, "text": "x"}, {"url": f"{SITE}/", "text": "y"}],
            r"texts.jsonl:2: a second text of .*/; expected",
        ),
        ([{"url": SITE, "text": ""}], r"no text of a source; expected .txt files, or a table with url and text"),
        ([{"url": SITE, "body": "x"}], r"no column 'text'; found 'url', 'body'"),
        ([{"url": SITE, "text": ["x"]}], r"column 'text' holds \['x'\]; expected text"),
    ],
)
def test_texts_that_are_none(tmp_path: Path, rows: list[dict[str, object]], told: str) -> None:
    write_lines(tmp_path / "texts.jsonl", rows)
    with pytest.raises(SetFileError, match=told):
        read_source_texts(tmp_path / "texts.jsonl")


def test_a_folder_of_texts_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(SetFileError, match="no text of a source"):
        read_source_texts(tmp_path)
    (tmp_path / "example.org%2Fa.txt").write_bytes(b"caf\xe9")
    with pytest.raises(SetFileError, match=r"example.org%2Fa.txt:1: byte 0xe9 is not UTF-8"):
        read_source_texts(tmp_path)


def test_answers_go_into_the_stages_and_what_a_model_remembers_decides_nothing(tmp_path: Path) -> None:
    number = make_question("n", answer="100", answer_type="Number", urls=(SITE, OTHER))
    name = make_question("p", answer="Ulm", answer_type="Place", urls=(SITE, OTHER))
    asked = list_sources([number, name], TEXTS, without_text=True)
    replies = ["answer: 101", "answer: 900", "answer: not stated", "answer: Ulm"]
    write_lines(tmp_path / "answers.jsonl", reading_data(read_sources(asked, lambda _: replies), "m"))
    answers = read_source_answers(tmp_path / "answers.jsonl")
    assert answers.answers == {
        ("n", url_key(SITE)): "101",
        ("n", url_key(OTHER)): "900",
        ("p", url_key(OTHER)): "Ulm",
    }
    numbers = drop_numeric_conflicts(
        [number], answers, numeric_review(tmp_path), tolerance=0.05, numeric_types=["Number"]
    )
    words = settle_source_conflicts([name], answers, conflict_review(tmp_path), numeric_types=["Number"])
    assert ids(numbers.kept) + ids(words.kept) == ["n", "p"]
    told = "1 answers are a model's memory of a source that was not read: compared with nothing"
    assert told in numbers.notes
    assert told in words.notes
    compared = [row.cells["compared"] for row in read_csv(numeric_review(tmp_path).path).rows]
    assert compared == ["agrees, 1.0% away", "undecided, a model's memory"]
    read = SourceAnswers(answers.answers)
    assert read.digest != answers.digest, "a stage is done again when it turns out that nobody read a source"
    assert not drop_numeric_conflicts(
        [number], read, numeric_review(tmp_path), tolerance=0.05, numeric_types=["Number"]
    ).kept
