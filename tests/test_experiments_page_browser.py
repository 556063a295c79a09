"""The page in a browser: filter, sort, hover, links, themes, print, phones, screen readers, hostile texts, size."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from figure_runs import answering_run, full_run
from page_runs import HOSTILE, hostile_run, open_file, page_of, reply_texts

from experiments.plots.item_links import item_link
from experiments.reports import RunData, build_report

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROWS = "#rows > tr:not(.within)"


@pytest.fixture(scope="module")
def data() -> RunData:
    return full_run(n=60)


@pytest.fixture(scope="module")
def text(data: RunData) -> str:
    return page_of(data, reply_texts(data))


@pytest.fixture
def page(chromium: Any, text: str, tmp_path: Path) -> Iterator[Any]:
    with open_file(chromium, text, tmp_path) as opened:
        yield opened


def told(page: Any) -> str:
    return str(page.locator("#count").inner_text())


def n_fit(page: Any) -> int:
    found = re.match(r"(?:([\d,]+) of )?([\d,]+) items,|No item", told(page))
    assert found is not None, told(page)
    return 0 if found[0] == "No item" else int((found[1] or found[2]).replace(",", ""))


def expected(data: RunData, **wanted: Any) -> int:
    """Items that a link leads to, counted from the verdicts themselves."""
    labels = data.calibration_set.consensus().labels
    results = data.graders[wanted["grader"] - 1]
    said: dict[str, list[Any]] = {}
    for verdict in results.verdicts:
        said.setdefault(verdict.item_digest, []).append(verdict)
    fit = 0
    for item in data.calibration_set.items:
        own, label = said[item.digest], labels[item.item_id]
        wrong = [one for one in own if one.label and (one.label == "CORRECT") != (label == "CORRECT")]
        kind = "false_negative" if label == "CORRECT" else "false_positive"
        fit += all(
            (
                wanted.get("reference") in (None, label),
                wanted.get("verdict") is None or any(one.label == wanted["verdict"] for one in own),
                wanted.get("failure") is None
                or any(one.failure and wanted["failure"] in ("any", one.failure) for one in own),
                wanted.get("error") is None or (wanted["error"] == kind and bool(wrong)),
                wanted.get("kind") in (None, item.kind),
            )
        )
    return fit


@pytest.mark.parametrize(
    "wanted",
    [
        {"grader": 1},
        {"grader": 3, "reference": "INCORRECT", "verdict": "CORRECT"},
        {"grader": 4, "error": "false_negative"},
        {"grader": 4, "error": "false_positive", "kind": "kind 01 of the items"},
        {"grader": 4, "failure": "any", "reference": "CORRECT"},
        {"grader": 1, "failure": "not_answered"},
        {"grader": 2, "failure": "empty"},
    ],
)
def test_a_link_leads_to_its_items(
    chromium: Any, text: str, data: RunData, tmp_path: Path, wanted: dict[str, Any]
) -> None:
    with open_file(chromium, text, tmp_path, where=item_link(**wanted)) as page:
        assert n_fit(page) == expected(data, **wanted)
        assert page.evaluate("document.getElementById('item-list').getBoundingClientRect().top") < 200


def test_every_mark_of_the_figures_leads_to_items_or_to_none(page: Any, data: RunData) -> None:
    links = page.evaluate("[...document.querySelectorAll('.drawing a')].map((a) => a.getAttribute('href'))")
    assert len(links) > 100
    agreement = [link for link in links if "agreement_low" in link]
    counted = 0
    for link in agreement:
        page.evaluate("(link) => { location.hash = link; }", link)
        page.wait_for_function("(link) => location.hash === link", arg=link)
        assert n_fit(page) > 0, link
        counted += n_fit(page)
    assert counted == len(data.calibration_set.items) * len(data.graders)


def test_a_click_on_a_mark_filters_and_moves_the_focus(page: Any) -> None:
    mark = page.locator("#figure-confusion .drawing a").first
    mark.scroll_into_view_if_needed()
    mark.click()
    page.wait_for_function("document.activeElement.id === 'items-heading'")
    assert page.evaluate("location.hash") == "#items?grader=1&reference=INCORRECT&verdict=INCORRECT"
    assert page.locator("#f-grader").evaluate("(field) => field.selectedIndex") == 1
    assert page.locator("#f-verdict").input_value() == "INCORRECT"
    page.evaluate("scrollTo(0, 0)")
    mark.click()
    page.wait_for_function("document.getElementById('item-list').getBoundingClientRect().top < 200")
    page.go_back()
    page.wait_for_function("location.hash === ''")
    page.wait_for_function("document.getElementById('count').textContent.startsWith('60 items')")
    assert page.locator("#f-grader").evaluate("(field) => field.selectedIndex") == 0
    assert page.locator("#filter .set").count() == 0
    page.go_forward()
    page.wait_for_function("document.getElementById('f-grader').selectedIndex === 1")


def test_back_keeps_the_filter_of_where_it_goes_and_leaves_typed_text_behind(page: Any, data: RunData) -> None:
    page.evaluate("location.hash = '#items?grader=4&error=false_negative'")
    page.wait_for_function("document.getElementById('f-grader').selectedIndex === 4")
    page.evaluate("location.hash = '#items?text=response%207'")
    page.wait_for_function("document.getElementById('f-text').value === 'response 7'")
    page.go_back()
    page.wait_for_function("document.getElementById('f-text').value === ''")
    assert n_fit(page) == expected(data, grader=4, error="false_negative")
    page.go_back()
    page.wait_for_function("document.getElementById('count').textContent.startsWith('60 items')")
    page.evaluate("location.hash = '#details'")
    page.wait_for_function("location.hash === '#details'")
    assert n_fit(page) == 60


def test_what_can_be_scrolled_sideways_says_so_and_notes_fit_a_phone(chromium: Any, text: str, tmp_path: Path) -> None:
    said = "(box) => getComputedStyle(box, '::before').content.includes('scroll sideways')"
    with open_file(chromium, text, tmp_path, width=400) as page:
        for box in page.locator(".wide:visible").all():
            assert box.evaluate(said) == box.evaluate("(box) => box.scrollWidth > box.clientWidth")
        assert page.locator(".wide.scrolls").count() > 5
        note = page.get_by_text("Bands: intervals.")
        assert note.count() == 1
        assert note.evaluate("(note) => note.closest('svg') === null && note.scrollWidth <= note.clientWidth")
        page.emulate_media(media="print")
        hidden = "(box) => getComputedStyle(box, '::before').display === 'none'"
        assert page.locator(".wide.scrolls").first.evaluate(hidden)
    with open_file(chromium, text, tmp_path, width=1280) as page:
        assert not page.locator("#evidence .wide").first.evaluate(said)


def test_the_form_filters_and_the_address_follows(page: Any, data: RunData) -> None:
    page.locator("#f-grader").select_option(index=4)
    page.locator("#f-error").select_option("false negative")
    assert n_fit(page) == expected(data, grader=4, error="false_negative")
    assert page.evaluate("location.hash") == item_link(grader=4, error="false_negative")
    page.locator("#f-text").fill("response 7")
    assert n_fit(page) <= 2
    page.locator("#f-text").fill("nobody said this")
    assert told(page) == "No item of 60 fits the filter"
    assert page.locator(ROWS).count() == 0
    page.locator("#f-clear").click()
    assert n_fit(page) == 60
    page.locator("#f-agreement_low").fill("0.9")
    n_alike = n_fit(page)
    page.locator("#f-agreement_low").fill("0")
    page.locator("#f-agreement_high").fill("0.899")
    assert 0 < n_alike <= 60
    assert n_fit(page) > 0
    page.evaluate("location.hash = '#items?grader=99'")
    page.wait_for_function("document.getElementById('count').textContent.startsWith('No item')")


def test_columns_sort_both_ways_and_say_so(page: Any) -> None:
    def ids() -> list[str]:
        return [one.split(" ")[0] for one in page.locator(f"{ROWS} .id").all_inner_texts()]

    first = ids()
    page.get_by_role("button", name="Item", exact=True).click()
    assert ids() == [f"i{place:04}" for place in range(25)]
    assert page.locator("th[data-sort=id]").get_attribute("aria-sort") == "ascending"
    page.get_by_role("button", name="Item", exact=True).press("Enter")
    assert ids()[0] == "i0059"
    page.get_by_role("button", name="Wrong").click()
    assert page.locator("th[data-sort=wrong]").get_attribute("aria-sort") == "descending"
    assert page.locator("th[data-sort=id]").get_attribute("aria-sort") is None
    shares = [int(one.rstrip("%")) for one in page.locator(f"{ROWS} td:nth-child(5)").all_inner_texts()]
    assert shares == sorted(shares, reverse=True)
    assert first != ids()


def test_pages_turn_and_all_items_are_on_one(page: Any) -> None:
    seen: list[str] = []
    for _ in range(3):
        seen += page.locator(f"{ROWS} .id").all_inner_texts()
        if page.locator("#next").is_enabled():
            page.locator("#next").click()
    assert len(seen) == len(set(seen)) == 60
    assert page.locator("#page-of").inner_text() == "page 3 of 3"


def test_replies_come_on_demand(page: Any, data: RunData) -> None:
    replies = reply_texts(data)
    item_id = page.locator(f"{ROWS} .id").first.inner_text().split(" ")[0]
    digest = next(item.digest for item in data.calibration_set.items if item.item_id == item_id)
    button = page.get_by_role("button", name=f"Texts and replies of {item_id}")
    button.press("Enter")
    inside = page.locator("tr.within")
    page.wait_for_selector("tr.within li")
    assert button.get_attribute("aria-expanded") == "true"
    shown = inside.locator(".reply").all_inner_texts()
    assert shown == [text for one in data.graders for text in replies[one.grader_id][digest] if text is not None]
    assert inside.locator("li").count() == 4 * 5
    assert "rater: " in inside.inner_text()
    button.press("Enter")
    assert page.locator("tr.within").count() == 0


def test_a_mark_says_what_it_is_when_pointed_at_or_reached_by_key(page: Any) -> None:
    mark = page.locator("#figure-error_rates .drawing a").first
    mark.scroll_into_view_if_needed()
    mark.hover()
    tip = page.locator("#tip")
    assert tip.is_visible()
    assert tip.inner_text() == mark.get_attribute("aria-label")
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    links = page.locator("#figure-error_rates .drawing a")
    assert [links.nth(place).get_attribute("tabindex") for place in (0, 1)] == [None, "-1"]
    links.first.focus()
    page.keyboard.press("ArrowRight")
    assert tip.inner_text() == links.nth(1).get_attribute("aria-label")
    box, width = tip.bounding_box(), page.viewport_size["width"]
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_themes_follow_the_system_and_can_be_turned(chromium: Any, text: str, tmp_path: Path, scheme: str) -> None:
    def ground() -> int:
        red = page.evaluate("getComputedStyle(document.body).backgroundColor").split("(")[1].split(",")[0]
        return int(red)

    def ink() -> str:
        return str(page.evaluate("getComputedStyle(document.querySelector('.drawing text')).fill"))

    with open_file(chromium, text, tmp_path, color_scheme=scheme) as page:
        dark = scheme == "dark"
        assert (ground() < 64) is dark
        before = ink()
        assert page.locator("#theme").get_attribute("aria-pressed") == str(dark).lower()
        page.locator("#theme").click()
        assert (ground() < 64) is not dark
        assert ink() != before
        assert page.locator("#theme").get_attribute("aria-pressed") == str(not dark).lower()


def test_print_has_all_parts_and_the_items_as_filtered(chromium: Any, text: str, tmp_path: Path) -> None:
    with open_file(chromium, text, tmp_path) as page:
        page.evaluate(
            "addEventListener('beforeprint', () => { window.rows = document.querySelectorAll('#rows > tr').length; })"
        )
        printed = page.pdf(format="A4")
        assert printed.startswith(b"%PDF")
        assert page.evaluate("window.rows") == 50
        assert told(page) == "60 items, 1 to 25 shown"
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator(ROWS).count() == 50
        assert page.locator("details:not([open])").count() == 0
        assert page.get_by_role("heading", name="Confusion matrix").first.is_visible()
        assert page.get_by_text("The numbers of this figure").first.is_visible() is False
        margins = "[...document.styleSheets[0].cssRules].filter((rule) => rule instanceof CSSPageRule)"
        assert "mm" in page.evaluate(f"{margins}.map((rule) => rule.style.margin).join()")
        assert not page.locator("#filter").is_visible()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        page.set_viewport_size({"width": 720, "height": 1000})
        assert page.evaluate("document.documentElement.scrollWidth") <= 720
        page.set_viewport_size({"width": 1280, "height": 900})
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="screen")
        page.evaluate("location.hash = '#items?error=false_negative&grader=4'")
        page.wait_for_function("document.getElementById('count').textContent.includes(' of 60')")
        n = n_fit(page)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator(ROWS).count() == n
        assert told(page).endswith(f"1 to {n} shown")


SHIFTS = """() => new Promise((done) => {
  let shifted = 0;
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) shifted += entry.value; })
    .observe({ type: 'layout-shift', buffered: true });
  let y = 0;
  const step = () => {
    scrollTo(0, y);
    y += 700;
    if (y < document.documentElement.scrollHeight) setTimeout(step, 20);
    else setTimeout(() => done(shifted), 200);
  };
  step();
})"""


@pytest.mark.parametrize("where", ["", "#items?error=false_negative&grader=4"])
@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_is_wider_than_a_phone_and_nothing_jumps(
    chromium: Any, text: str, tmp_path: Path, width: int, where: str
) -> None:
    with open_file(chromium, text, tmp_path, width=width, where=where) as page:
        assert page.evaluate(SHIFTS) < 0.01
        page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_nothing_serious(chromium: Any, text: str, tmp_path: Path, scheme: str, width: int) -> None:
    axe_module = pytest.importorskip("axe_playwright_python.sync_playwright")
    with open_file(chromium, text, tmp_path, width=width, color_scheme=scheme, bypass_csp=True) as page:
        page.locator(f"{ROWS} button").first.click()
        page.wait_for_selector("tr.within li")
        page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        found = axe_module.Axe().run(page).response["violations"]
        bad = [
            (one["id"], [node["html"][:200] for node in one["nodes"][:3]])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert bad == []


def test_hostile_texts_stay_texts(chromium: Any, tmp_path: Path) -> None:
    data = hostile_run()
    page_text = page_of(data, reply_texts(data, HOSTILE))
    with open_file(chromium, page_text, tmp_path) as page:
        for place in range(10):
            page.locator(f"{ROWS} button").nth(place).click()
        page.wait_for_function("document.querySelectorAll('tr.within .reply').length > 40")
        for mark in page.locator(".drawing a").all()[:20]:
            mark.focus()
        page.locator("#f-text").fill(HOSTILE[0])
        page.wait_for_timeout(200)
        assert page.locator("main iframe, main img, main svg script, tr input, tr style").count() == 0
        assert page.title().endswith("autorater report")
        for kind in {item.kind for item in data.calibration_set.items}:
            page.evaluate("(link) => { location.hash = link; }", item_link(kind=kind))
            page.wait_for_timeout(20)
            assert n_fit(page) == sum(item.kind == kind for item in data.calibration_set.items)
    with open_file(chromium, page_text, tmp_path, java_script_enabled=False) as page:
        assert page.locator("main iframe, main img, main svg script, tr input").count() == 0
        assert page.locator("noscript").count() == 1


def test_without_javascript_there_is_a_table_and_no_form(chromium: Any, text: str, tmp_path: Path) -> None:
    with open_file(chromium, text, tmp_path, java_script_enabled=False, width=400) as page:
        assert not page.locator("#filter").is_visible()
        assert not page.locator("#theme").is_visible()
        rows = page.locator("noscript tbody > tr")
        assert rows.count() == 60
        assert rows.nth(59).is_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert page.locator(".drawing svg").count() > 5


def test_a_run_of_answers_opens_too(chromium: Any, tmp_path: Path) -> None:
    data = answering_run()
    with open_file(chromium, page_of(data, reply_texts(data)), tmp_path) as page:
        assert n_fit(page) == 160
        assert not page.locator("#f-error").is_visible()


OPENED = """() => {
  const entry = performance.getEntriesByType('navigation')[0];
  return { loaded: entry.loadEventEnd, rows: performance.now() };
}"""

FILTERED = """([id, index]) => {
  const field = document.getElementById(id);
  const began = performance.now();
  if (field.tagName === 'SELECT') field.selectedIndex = index; else field.value = index;
  field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }));
  document.body.getBoundingClientRect();
  return performance.now() - began;
}"""


def test_a_thousand_items_by_twelve_graders_by_ten_repeats_stay_smooth(
    chromium: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = full_run(n=1_000, n_graders=12, repeats=10, n_kinds=12, n_topics=10, n_types=6)
    assert build_report(data)["graders"][11]["n_expected"] == 10_000
    big = page_of(data, reply_texts(data))
    size = len(big.encode())
    assert size < 5_000_000
    with open_file(chromium, big, tmp_path) as page:
        opened = page.evaluate(OPENED)
        steps = [
            ("f-grader", 3),
            ("f-error", 1),
            ("f-kind", 2),
            ("f-kind", 0),
            ("f-text", "response 7"),
            ("f-text", ""),
            ("f-error", 0),
            ("f-grader", 0),
            ("f-failure", 1),
        ]
        times = {f"{name} {value}": page.evaluate(FILTERED, [name, value]) for name, value in steps}
        page.locator(f"{ROWS} button").first.click()
        page.wait_for_selector("tr.within li")
        assert page.locator("tr.within li").count() == 120
    told_times = {name: round(time, 1) for name, time in times.items()}
    with capsys.disabled():
        print(f"\n{size / 1e6:.2f} MB; opens in {opened['rows']:.0f} ms; filter, in ms: {json.dumps(told_times)}")
    assert opened["rows"] < 2_000
    assert max(times.values()) < 100
