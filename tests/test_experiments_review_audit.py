"""An audit on the labelling page: what it shows, which links it makes, and how its labels reach the report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import autorater
from curation_samples import make_question
from hypothesis import given
from hypothesis import strategies as st
from review_browser import begin, item_of, open_page, press, serving, write_note
from review_pages import HOSTILE, open_client, page_of, send

import experiments.review.serving
from calibration_sets.audit.audit_counts import count_labels
from calibration_sets.audit.audit_folder import AUDIT_LABELS, label_question, start_audit
from calibration_sets.errors import SetFileError
from calibration_sets.question import Question
from calibration_sets.writer import write_lines
from experiments.errors import ReviewError
from experiments.review.audit_review import audit_store, plan_audit_review, read_page_labels, read_shown_responses
from experiments.review.desk import Desk
from experiments.review.exchange.freezing import FreezeOptions, freeze_labels
from experiments.review.label_store import LabelStore
from experiments.review.links import find_links, split_links

RANGED = "120 (acceptable range: anything between 118 and 122)"
SAMPLE = [
    make_question("q0", "How long is the Elwin?", RANGED, urls=("https://a.example/elwin", "javascript:alert(1)")),
    make_question("q1", "Who drew the map?", "Mary Brelin"),
    make_question("q2", "When was it drawn?", "1865"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    start_audit(SAMPLE, tmp_path / "audit", source="set.csv", size=50, seed=0)
    return tmp_path / "audit"


def _desk(folder: Path, responses: Any = None, *, double: float = 0.0) -> Desk:
    plan = plan_audit_review(folder, responses or {}, double_share=double)
    return Desk(LabelStore(audit_store(folder)), plan)


def _number_of(desk: Desk, question: Question) -> int:
    texts = [item.question for item in desk.review.items.values()]
    return texts.index(question.question) + 1


def test_a_question_is_shown_with_range_sources_and_responses_and_no_empty_response(folder: Path) -> None:
    desk = _desk(folder, {"q0": [("m<1>", HOSTILE[0])]})
    page = page_of(open_client(desk), item=_number_of(desk, SAMPLE[0]))
    assert "anything between 118 and 122" in page
    assert 'Response of <span dir="auto">m&lt;1&gt;</span>' in page
    assert HOSTILE[0] not in page
    assert "response is empty" not in page
    assert "Dispute the reference" not in page
    assert re.findall(r'name="label" value="(\w+)"', page) == list(AUDIT_LABELS)
    assert re.findall(r'<a href="(\w+:[^"]+)" target="_blank" rel="noopener noreferrer">', page) == [
        "https://a.example/elwin"
    ]
    assert "javascript:alert(1)" in page
    bare = page_of(open_client(desk), item=_number_of(desk, SAMPLE[1]))
    assert "Response" not in bare
    assert "Sources" not in bare


def test_labels_of_the_page_reach_the_report_with_note_and_evidence(folder: Path) -> None:
    client = open_client(_desk(folder))
    note = "two rivers (https://b.example/elwin), see ftp://c.example/"
    page = send(client, page_of(client), label="unanswerable", note=note)
    send(client, page, label="OK")
    counts = count_labels(folder, read_page_labels(folder))
    assert counts.labels == {**dict.fromkeys(AUDIT_LABELS, 0), "unanswerable": 1, "OK": 1}
    assert (counts.n_open, counts.n_without_evidence) == (1, 0)
    (fault,) = counts.faults
    assert (fault.evidence, fault.note) == ("https://b.example/elwin", note)
    ran = autorater(folder.parent, "audit", "report", "audit", "--format", "json")
    fields = json.loads(ran.out)
    assert (fields["rate"]["value"], fields["n_open"]) == (0.5, 1)
    assert fields["faults"][0]["evidence"] == "https://b.example/elwin"
    assert f"{fault.question_id}: unanswerable" in autorater(folder.parent, "audit", "report", "audit").out


def test_where_raters_differ_there_is_no_label_until_somebody_decides(folder: Path) -> None:
    desk = _desk(folder, double=1.0)
    client = open_client(desk)
    send(client, page_of(client, "Ann", item=1), label="OK")
    send(client, page_of(client, "Ben", item=1), label="unanswerable", note="https://b.example/x")
    counts = count_labels(folder, read_page_labels(folder))
    assert (sum(counts.labels.values()), counts.n_open, counts.n_several, counts.faults) == (0, 3, 1, ())
    (open_one,) = counts.differing
    assert (open_one.label, open_one.said) == (None, (("Ann", "OK"), ("Ben", "unanswerable")))
    told = autorater(folder.parent, "audit", "report", "audit").out
    assert "Several people labelled 1 questions and differ on 1, 1 of these not decided." in told
    assert f"Raters differ on:\n 1. {open_one.question_id}: not decided\n" in told
    assert re.search(r'Ann +"OK"\n +Ben +"unanswerable"', told)
    page = page_of(client, "Cho", "/adjudicate")
    assert '<a href="https://b.example/x" target="_blank" rel="noopener noreferrer">' in page
    send(client, page, "/adjudicate", label="unanswerable")
    counts = count_labels(folder, read_page_labels(folder))
    assert (counts.labels["unanswerable"], counts.n_open) == (1, 2)
    told = autorater(folder.parent, "audit", "report", "audit").out
    assert "Several people labelled 1 questions and differ on 1, 0 of these not decided." in told
    assert f"Raters differ on:\n 1. {open_one.question_id}: unanswerable\n" in told


def test_a_label_of_the_file_is_not_asked_again_and_never_contradicted(folder: Path) -> None:
    label_question(folder, "q1", label="OK", evidence="", note="")
    desk = _desk(folder)
    assert {item.question for item in desk.review.items.values()} == {SAMPLE[0].question, SAMPLE[2].question}
    client = open_client(desk)
    send(client, page_of(client, item=_number_of(desk, SAMPLE[0])), label="unanswerable")
    refused = autorater(folder.parent, "audit", "label", "audit", "q0", "OK")
    assert (refused.code, "question 'q0' is unanswerable on the page; expected" in refused.err) == (2, True)
    assert "2 labelled, 1 to go" in autorater(folder.parent, "audit", "label", "audit", "q0", "unanswerable").out
    label_question(folder, "q0", label="OK", evidence="", note="")
    with pytest.raises(SetFileError, match=r"labels.csv: question 'q0' is OK here and unanswerable on the page; exp"):
        count_labels(folder, read_page_labels(folder))
    for name in ("q0", "q2"):
        label_question(folder, name, label="OK", evidence="", note="")
    with pytest.raises(ReviewError, match=r"all questions have a label in labels.csv"):
        plan_audit_review(folder, {}, double_share=0)


def test_an_extended_sample_keeps_the_labels_of_the_page(tmp_path: Path) -> None:
    questions = [make_question(f"q{place}") for place in range(9)]
    start_audit(questions, tmp_path, source="set.csv", size=3, seed=0)
    client = open_client(_desk(tmp_path))
    send(client, page_of(client), label="OK")
    start_audit(questions, tmp_path, source="set.csv", size=6, seed=0)
    desk = _desk(tmp_path)
    assert len(desk.review.items) == 6
    assert "1 labelled by you, 5 open" in page_of(open_client(desk))
    assert count_labels(tmp_path, read_page_labels(tmp_path)).labels["OK"] == 1


def test_page_labels_of_another_audit_do_not_count_and_are_told(folder: Path) -> None:
    other = folder.parent / "other"
    start_audit([make_question("z", "Another?"), SAMPLE[1]], other, source="other.csv", size=50, seed=0)
    client = open_client(_desk(other))
    page = send(client, page_of(client), label="OK")
    send(client, page, label="unanswerable")
    (folder / "labels.sqlite").write_bytes((other / "labels.sqlite").read_bytes())
    ran = autorater(folder.parent, "audit", "report", "audit", "--format", "json")
    fields = json.loads(ran.out)
    assert (fields["n_open"], fields["n_strange"]) == (2, 1)
    told = autorater(folder.parent, "audit", "report", "audit").out
    assert "1 labels are of questions that are not in this sample; they do not count." in told


def test_evidence_of_a_command_is_a_link(folder: Path) -> None:
    words = ("audit", "label", "audit", "q0", "unanswerable", "--evidence")
    for wrong in ("page 3", "https://a.example/x y", "javascript:alert(1)", "see:https://a.example/"):
        refused = autorater(folder.parent, *words, wrong)
        assert (refused.code, f"--evidence: '{wrong}'; expected one http" in refused.err) == (2, True)
    assert autorater(folder.parent, *words, "https://a.example/#:~:text=cut,welded.").code == 0


def test_questions_changed_by_hand_are_refused(folder: Path) -> None:
    path = folder / "questions.jsonl"
    path.write_text(path.read_text().replace("Who drew", "Who stole"))
    with pytest.raises(SetFileError, match=r"questions.jsonl: not the questions that were drawn; expected those of"):
        plan_audit_review(folder, {}, double_share=0)


def test_labels_of_questions_are_no_calibration_set(folder: Path) -> None:
    desk = _desk(folder)
    client = open_client(desk)
    send(client, page_of(client), label="OK")
    events = desk.read().events
    with pytest.raises(ReviewError, match="labels of questions; expected labels of responses"):
        freeze_labels(desk.review, events, [desk.review], FreezeOptions(name="x", version="1.0.0"))


def test_responses_are_read_strictly(tmp_path: Path) -> None:
    write_lines(tmp_path / "r.jsonl", [{"question_id": "q0", "model": "m", "response": ""}])
    assert read_shown_responses(tmp_path / "r.jsonl") == {"q0": [("m", "")]}
    write_lines(tmp_path / "r.jsonl", [{"question_id": "q0", "model": "", "response": "x"}])
    with pytest.raises(SetFileError, match=r"r.jsonl:1: question_id 'q0', model ''; expected both"):
        read_shown_responses(tmp_path / "r.jsonl")
    write_lines(tmp_path / "r.jsonl", [{"question_id": "q0", "answer": "x"}])
    with pytest.raises(SetFileError, match="no column 'model'"):
        read_shown_responses(tmp_path / "r.jsonl")


def test_the_command_opens_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def serve(_app: object, address: experiments.review.serving.Address, *, open_browser: bool) -> None:
        address.listening.close()

    monkeypatch.setattr(experiments.review.serving, "serve", serve)
    write_lines(folder.parent / "r.jsonl", [{"question_id": "q0", "model": "m", "response": "120"}])
    words = ("--responses", "r.jsonl", "--rater", "Ann", "--port", "0")
    ran = autorater(folder.parent, "audit", "label", "audit", *words)
    assert ran.out.startswith("1 of 3 questions with responses\n")
    assert "3 items, 0 of 3 labels given" in ran.out
    assert "http://127.0.0.1:" in ran.out
    assert ran.out.endswith("autorater audit report audit\n")
    for words in (("q0",), ("--note", "x")):
        refused = autorater(folder.parent, "audit", "label", "audit", *words)
        assert (refused.code, "expected a question and its label, or neither" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("see https://a.example/x.", ["https://a.example/x"]),
        ("(HTTP://a.example/x_(y)) and 'https://b.example'", ["HTTP://a.example/x_(y)", "https://b.example"]),
        ("https://a.example https://a.example", ["https://a.example"]),
        ("javascript:alert(1) data:text/html,x ftp://a.example //a.example mailto:a@a.example", []),
        ("https://good.example@bad.example/ https:///x http://[::1 https://.,", []),
        ("https://a.example/\u202egpj https://a\u200b.example", []),
        ("xhttps://a.example", []),
        ('https://a.example/"onclick=x', ["https://a.example/"]),
    ],
)
def test_only_plain_web_addresses_are_links(text: str, links: list[str]) -> None:
    assert list(find_links(text)) == links


@given(st.lists(st.sampled_from(["https://", "http://", "a.example", "@", ")", "[", "\u202e", " ", ".", "x", "\\"])))
def test_no_text_is_lost_between_links(pieces: list[str]) -> None:
    text = "".join(pieces)
    parts = split_links(text)
    assert "".join(part.text for part in parts) == text.replace("\u202e", r"\u202e")
    assert all(part.href in (None, part.text) for part in parts)


@pytest.mark.browser
@pytest.mark.slow
def test_an_audit_is_worked_by_keys_in_a_browser(folder: Path, chromium: Any) -> None:
    desk = _desk(folder)
    with serving(desk) as url, open_page(chromium) as page:
        page.goto(url)
        begin(page, "Ann")
        page.keyboard.press("n")
        write_note(page, "too narrow: https://b.example/x javascript:alert(1)")
        page.reload()
        links = page.locator("form.answer a")
        assert [one.get_attribute("href") for one in links.all()] == ["https://b.example/x"]
        assert links.first.get_attribute("rel") == "noopener noreferrer"
        press(page, "3")
        press(page, "1")
        press(page, "2")
        assert item_of(page) == "Nothing is open to you"
    counts = count_labels(folder, read_page_labels(folder))
    assert counts.labels == dict(zip(AUDIT_LABELS, (1, 1, 1, 0), strict=True))
    assert counts.n_without_evidence == 1
