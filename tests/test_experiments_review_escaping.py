"""Hostile texts on the labelling pages: nothing of them is more than text."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest
from review_pages import HOSTILE, make_plan, make_set, open_client, open_desk, page_of, send

from experiments.review.display import shown_text
from experiments.review.work_list import ReviewPlan


class Tags(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parse(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    return tags


def parse_pages(folder: Path, text: str, rater: str) -> list[Tags]:
    """Each page with a text as response, note, grader's name and verdict."""
    plan = make_plan(make_set([text, "other"]), double=1.0)
    plan = ReviewPlan(plan.review, {digest: {text: text} for digest in plan.review.items})
    client = open_client(open_desk(folder, plan, show_verdicts=True))
    found = [page_of(client, rater)]
    found.append(send(client, found[0], label="CORRECT", note=text[:4000]))
    send(client, page_of(client, "Ben"), label="INCORRECT", note=text[:4000])
    found += [page_of(client, rater, path) for path in ("/label", "/adjudicate", "/progress", "/people")]
    return [parse(page) for page in (*found, page_of(client, rater, item=1))]


@pytest.fixture(scope="module")
def plain_pages(tmp_path_factory: pytest.TempPathFactory) -> list[Tags]:
    return parse_pages(tmp_path_factory.mktemp("plain"), "x", "x")


@pytest.mark.parametrize("text", [text for text in HOSTILE if text], ids=range(len(HOSTILE) - 1))
def test_nothing_of_a_text_becomes_an_element_or_an_attribute(
    tmp_path: Path, plain_pages: list[Tags], text: str
) -> None:
    """Its pages have the elements and attributes of pages with plain text, and say it whole."""
    name = "".join(char for char in text if char.isprintable())[:80]
    pages = parse_pages(tmp_path, text, " ".join(name.split()))
    assert [tags.found for tags in pages] == [tags.found for tags in plain_pages]
    assert shown_text(text).strip() in "".join(pages[0].text)


def test_an_empty_response_is_said_to_be_empty(tmp_path: Path) -> None:
    assert "(the response is empty)" in page_of(open_client(open_desk(tmp_path, make_plan(make_set(["", "x"])))))


def test_what_cannot_be_seen_is_spelt_out() -> None:
    assert shown_text("\x1b[31m\u202eab\u200b\x00") == r"\x1b[31m\u202eab\u200b\x00"
    assert shown_text("a\r\nb\tc d") == "a\nb\tc d"
    assert shown_text("👩\u200d👧 می\u200cخواهم") == "👩\u200d👧 می\u200cخواهم", "joiners belong to their words"
