"""The page: one file that holds all of the report, is the same each time, and lets nobody's text act."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from figure_runs import (
    answering_run,
    full_run,
    make_grader,
    make_items,
    make_run,
    make_truths,
    small_run,
    without_labels,
)
from page_runs import HOSTILE, hostile_run, page_of, reply_texts

from calibration_sets.item import HumanLabel
from experiments.page import build
from experiments.page.packing import Packed, unpack_lines
from experiments.reports import RunData, build_report
from experiments.reports.escaping import visible
from experiments.reports.figures import percent, rate_text
from experiments.reports.pages import build_document

LIMIT = 5_000_000
OWN_SCRIPTS = [{"type": "application/json"}, {"type": "application/json"}, {"type": "module"}]


class Reader(HTMLParser):
    """Elements with their attributes, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


def packed_lines(page: str, name: str) -> list[Any]:
    (text,) = re.findall(rf'id="{name}">"([^"]*)"</script>', page)
    return [json.loads(line) for line in unpack_lines(Packed(text, 0))]


def digest_text(seed: str, times: int) -> str:
    """Text that hardly compresses."""
    return "".join(hashlib.sha256(f"{seed} {place}".encode()).hexdigest() for place in range(times))


@pytest.fixture(scope="module")
def data() -> RunData:
    return full_run(n=36)


@pytest.fixture(scope="module")
def page(data: RunData) -> str:
    return page_of(data, reply_texts(data))


def test_every_number_is_the_reports_own(data: RunData, page: str) -> None:
    report, text = build_report(data), Reader(page).text
    for grader in report["graders"]:
        assert rate_text(grader["false_negative_rate"]) in text
        assert rate_text(grader["false_positive_rate"]) in text
        assert percent(grader["coverage"]) in text
        assert grader["grader_id"] in text
    assert report["set"]["digest"] in text
    headings = {section.heading for section in build_document(report).sections}
    assert {"Confusion matrix", "Error rates", "Most inconsistent items"} <= headings
    assert all(text.count(heading) >= len(data.graders) for heading in ("Confusion matrix", "Error rates"))
    for warning in report["warnings"]:
        assert " ".join(visible(warning).split()) in text


def test_the_same_run_gives_the_same_bytes_whatever_the_order_of_its_parts(data: RunData, page: str) -> None:
    turned = replace(
        data,
        calibration_set=replace(data.calibration_set, items=tuple(reversed(data.calibration_set.items))),
        graders=[replace(one, verdicts=list(reversed(one.verdicts))) for one in data.graders],
    )
    assert page_of(turned, reply_texts(data)) == page


def test_nothing_but_its_own_script_and_style_runs(page: str) -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    assert policy.replace("&#39;", "'") == (
        f"default-src 'none'; script-src 'sha256-{digest(script)}'; style-src 'sha256-{digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    attributes = [(name, value) for _, attrs in Reader(page).elements for name, value in attrs.items()]
    assert not [name for name, _ in attrs_of(attributes, "style") if name == "style"]
    assert not [name for name, _ in attributes if name.startswith("on")]
    assert not [value for name, value in attributes if name in ("src", "href") and not (value or "").startswith("#")]


def attrs_of(attributes: list[tuple[str, str | None]], name: str) -> list[tuple[str, str | None]]:
    return [pair for pair in attributes if pair[0] == name]


def test_hostile_texts_make_no_element_and_no_attribute_and_stay_readable() -> None:
    data = hostile_run()
    page = page_of(data, reply_texts(data, (*HOSTILE, "lone \ud800 half")))
    read = Reader(page)
    assert [attrs for tag, attrs in read.elements if tag == "script"] == [
        {"type": "application/json", "id": "item-data"},
        {"type": "application/json", "id": "reply-data"},
        {"type": "module"},
    ]
    assert {"iframe", "img", "base", "link", "object", "input onfocus"}.isdisjoint(tag for tag, _ in read.elements)
    assert (read.count("style"), read.count("title") > 0) == (1, True)
    assert not [name for _, attrs in read.elements for name in attrs if name.startswith("on")]
    assert "alert(1)" in read.text
    assert "{{ 6*7 }}" in read.text
    assert "&#x3c;i&#x3e;" in read.text
    for char in ("\u202e", "\u2066", "\u200b", "\x00", "\x07", "\x1b", "\u2028", "\r"):
        assert char not in page
    assert r"left \u202egnorw\u202c" in read.text
    page.encode("utf-8")
    _, *items = packed_lines(page, "item-data")
    assert len(items) == 4 * len(HOSTILE)
    assert {item[5] for item in items} <= {kind.encode("utf-8", "backslashreplace").decode() for kind in HOSTILE}
    assert "\u202e" not in json.dumps([item[1:5] for item in items], ensure_ascii=False)


def test_items_and_replies_are_all_there_in_the_same_order(data: RunData, page: str) -> None:
    replies = reply_texts(data)
    head, *items = packed_lines(page, "item-data")
    told = packed_lines(page, "reply-data")
    assert len(items) == len(told) == 36
    assert len(head["graders"]) == 4
    digests = {item.item_id: item.digest for item in data.calibration_set.items}
    for item, lines in zip(items, told, strict=True):
        for results, own in zip(data.graders, lines, strict=True):
            expected = replies[results.grader_id][digests[item[0]]]
            assert [line if isinstance(line, str) else None for line in own] == expected
    assert "Raw replies are" not in page


def test_without_javascript_all_of_it_is_there_but_the_filter(data: RunData, page: str) -> None:
    (plain,) = re.findall(r"<noscript>(.*?)</noscript>", page, re.DOTALL)
    rows = Reader(plain)
    assert rows.count("tr") == 1 + 36
    for item in data.calibration_set.items:
        assert f"{item.item_id} ·" in rows.text
        assert item.response in rows.text
    first = next(text for texts in reply_texts(data)[data.graders[0].grader_id].values() for text in texts if text)
    assert first in rows.text


def test_people_who_disagree_are_shown_by_name() -> None:
    made = small_run(n=6, repeats=2)
    item = made.calibration_set.items[0]
    extra = HumanLabel(item.item_id, item.digest, "second <b>", "INCORRECT", "rules@1.0.0")
    chosen = replace(made.calibration_set, human_labels=(*made.calibration_set.human_labels, extra))
    text = Reader(page_of(replace(made, calibration_set=chosen))).text
    assert "second <b>: INCORRECT" in text
    assert "no common label" not in text.split("second <b>")[1][:40]


def test_an_answering_run_says_what_it_says_without_labels() -> None:
    data = answering_run()
    text = Reader(page_of(data, reply_texts(data))).text
    assert "Nobody has labelled these answers, so nothing here says how often the grader is wrong" in text
    assert "Graders side by side" not in text
    assert "Verdicts of judge@1.0.0#a made/judge" in text
    assert "Which wording: made-run" in text


def test_a_run_without_labels_and_one_without_graders_verdicts_have_a_page() -> None:
    assert "No item has a label" in Reader(page_of(without_labels(full_run(n=8)))).text
    items = make_items(3)
    silent = make_grader(None, "x/a", items, make_truths(items), missing=1.0)
    page = page_of(make_run(items, make_truths(items), [replace(silent, verdicts=[])]))
    assert len(packed_lines(page, "item-data")) == 4
    assert "not answered" in Reader(page).text


def test_what_has_no_room_is_left_out_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    data = full_run(n=60, n_graders=3)
    monkeypatch.setattr(build, "PAGE_BYTES", 400_000)
    monkeypatch.setattr(build, "_DETAIL_BYTES", 20_000)
    monkeypatch.setattr(build, "_STATIC_BYTES", 20_000)
    noise = {
        grader: {
            digest: [digest_text(f"{grader}{digest}{place}", 8) for place in range(len(own))]
            for digest, own in found.items()
        }
        for grader, found in reply_texts(data).items()
    }
    page = page_of(data, noise)
    assert len(page.encode()) <= 400_000
    items, told = packed_lines(page, "item-data")[1:], packed_lines(page, "reply-data")
    assert len(items) == 60
    assert 0 < len(told) < 60
    assert f"Raw replies are here for {len(told)} of 60 items" in Reader(page).text
    assert "more parts have no room on this page" in Reader(page).text


@pytest.mark.slow
def test_a_run_far_beyond_the_budget_has_a_page_below_it() -> None:
    noisy = [replace(item, response=digest_text(item.item_id, 60)) for item in make_items(3_000, n_kinds=6)]
    truths = make_truths(noisy)
    graders = [make_grader(f"p{n}@1.0.0#a", "x/a", noisy, truths, repeats=2, seed=n) for n in range(2)]
    page = page_of(make_run(noisy, truths, graders), None)
    assert len(page.encode()) < LIMIT
    kept = len(packed_lines(page, "item-data")) - 1
    assert 0 < kept < 3_000
    assert f"{kept:,} of 3,000 items have room on this page, the most inconsistent" in Reader(page).text
