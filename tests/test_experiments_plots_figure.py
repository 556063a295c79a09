"""What every figure is in its forms: an SVG for a page, files for a paper; its colours, names and links."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs
from xml.etree import ElementTree

import pandas as pd
import pytest
from figure_runs import HOSTILE, full_run, wordings_run
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.analyses.choice.choosing import choose_grader
from experiments.analyses.wordings.grader_wordings import read_grader_wordings
from experiments.analyses.wordings.wording_comparison import compare_wordings
from experiments.errors import ExperimentError
from experiments.plots import installed
from experiments.plots.colours import COLOURS, for_page, for_print, stand_in
from experiments.plots.figure import Figure, render_svg, write_figures
from experiments.plots.item_links import FILTERS, item_link
from experiments.plots.names import cut_names, describe_range, whole_names
from experiments.plots.report_figures import build_figures
from experiments.plots.text_widths import text_width
from experiments.reports import build_report
from experiments.reports.escaping import visible

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def figures() -> tuple[Figure, ...]:
    data = full_run(n=48, n_graders=3, repeats=3)
    compared = wordings_run(n=24)
    effects = compare_wordings(read_grader_wordings(compared), None, level=0.95, resamples=200)
    drawn = build_figures(data, build_report(data), choice=choose_grader(data, None, level=0.95))
    return drawn + build_figures(compared, None, wordings=effects)


@pytest.fixture(scope="module")
def pages(figures: Sequence[Figure]) -> dict[str, str]:
    return {figure.name: render_svg(figure) for figure in figures}


@pytest.fixture(scope="module")
def folder(figures: Sequence[Figure], tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("figures")
    write_figures(figures, where / "new" / "ones")
    return where / "new" / "ones"


def test_a_run_with_all_data_has_these_figures_in_the_order_of_the_page(figures: Sequence[Figure]) -> None:
    assert [figure.name for figure in figures] == [
        "error_rates",
        "error_cost",
        "confusion",
        "majority",
        "agreement",
        "by_kind",
        "by_topic",
        "by_answer_type",
        "failures",
        "wording_effects",
    ]


def test_an_svg_of_a_page_tells_what_it_is_and_holds_nothing_that_runs_or_loads(
    figures: Sequence[Figure], pages: dict[str, str]
) -> None:
    for figure in figures:
        root = ElementTree.fromstring(pages[figure.name])
        title, description = list(root)[:2]
        assert (title.tag, title.text) == (f"{SVG}title", figure.title)
        assert (description.tag, description.text) == (f"{SVG}desc", figure.description)
        assert root.get("aria-labelledby") == title.get("id")
        assert root.get("aria-describedby") == description.get("id")
        assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
            *("svg", "title", "desc", "g", "a", "path", "line", "rect", "text", "tspan")
        }
        addresses = [value for one in root.iter() for name, value in one.attrib.items() if "href" in name]
        assert all(address.startswith("#items?") for address in addresses)
        assert root.get("role") == ("graphics-document" if addresses else "img")
        assert not [name for one in root.iter() for name in one.attrib if name.startswith("on") or name == "style"]
        assert "url(" not in pages[figure.name]


def test_ids_of_several_figures_on_one_page_do_not_meet(pages: dict[str, str]) -> None:
    ids = [found for svg in pages.values() for found in re.findall(r'\bid="([^"]*)"', svg)]
    assert len(ids) == len(set(ids)) == 2 * len(pages)


def test_names_of_strangers_come_out_as_text(figures: Sequence[Figure], pages: dict[str, str]) -> None:
    with_name = 0
    for figure in figures:
        svg = pages[figure.name]
        assert "<script" not in svg
        assert "<svg onload" not in svg
        assert "\x1b" not in svg
        root = ElementTree.fromstring(svg)
        told = [*(one.get("aria-label") or "" for one in root.iter()), *(one.text or "" for one in root.iter())]
        with_name += any(visible(HOSTILE) in text for text in told)
    assert with_name == len(figures) - 1  # all but the other run's


def test_marks_tell_their_numbers_and_lead_to_their_items(pages: dict[str, str]) -> None:
    root = ElementTree.fromstring(pages["error_rates"])
    links = list(root.iter(f"{SVG}a"))
    assert len(links) == 6  # three graders, two kinds of error
    told = [link.get("aria-label") or "" for link in links]
    assert all(re.search(r"\d%.*, \d+ items, \d+ questions", words) for words in told), told
    assert any("% of verdicts missing" in words for words in told)
    queries = [parse_qs(str(link.get("href")).partition("?")[2]) for link in links]
    assert {(query["error"][0], query["grader"][0]) for query in queries} == {
        (error, str(number)) for error in ("false_negative", "false_positive") for number in (1, 2, 3)
    }


def test_the_whole_name_stands_by_the_one_that_is_cut(figures: Sequence[Figure], pages: dict[str, str]) -> None:
    root = ElementTree.fromstring(pages["error_rates"])
    titles = [one.text for text in root.iter(f"{SVG}text") for one in text.iter(f"{SVG}title")]
    assert titles == [
        "1. wording_number_0@1.0.0 provider/a-model-with-a-long-name-0",
        f"2. wording_number_1@1.1.0 {visible(HOSTILE)}",
        "3. wording_number_2@1.2.0 provider/a-model-with-a-long-name-2",
    ]


def test_a_page_has_variables_for_colours_and_a_paper_has_colours(pages: dict[str, str], folder: Path) -> None:
    for name, svg in pages.items():
        used = set(re.findall(r"var\(--figure-([a-z]+), (#[0-9a-f]{6})\)", svg))
        assert used
        assert all(COLOURS[colour].light == shown for colour, shown in used)
        assert set(re.findall(r'(?:fill|stroke)="([^"]*)"', svg)) <= {
            "none",
            *(f"var(--figure-{colour}, {shown})" for colour, shown in used),
        }
        printed = (folder / f"{name}.svg").read_text("utf-8")
        assert "var(" not in printed
        assert set(re.findall(r'"(#[0-9a-f]{6})"', printed)) <= {colour.light for colour in COLOURS.values()}
        assert "href" not in printed


def test_files_for_a_paper(figures: Sequence[Figure], folder: Path) -> None:
    assert len(list(folder.iterdir())) == 3 * len(figures)
    for figure in figures:
        ElementTree.fromstring((folder / f"{figure.name}.svg").read_bytes())
        pdf = (folder / f"{figure.name}.pdf").read_bytes()
        assert pdf.startswith(b"%PDF-")
        assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
        assert b"/FontFile" in pdf
        assert b"/URI" not in pdf


def test_the_data_of_a_figure_come_back_from_its_csv(figures: Sequence[Figure], folder: Path) -> None:
    for figure in figures:
        back = pd.read_csv(folder / f"{figure.name}.csv", dtype=str, keep_default_na=False)
        assert list(back.columns) == list(figure.table.columns)
        assert len(back) == len(figure.table)
        for name in figure.table.columns:
            for shown, drawn in zip(back[name], figure.table[name], strict=True):
                assert _same(shown, drawn), (figure.name, name, shown, drawn)


def _same(shown: object, drawn: object) -> bool:
    if drawn is None or drawn != drawn or drawn == "":
        return shown == ""
    return str(shown) == str(drawn) or float(str(shown)) == float(str(drawn))


def test_a_cell_that_would_be_a_formula_is_none(tmp_path: Path, figures: Sequence[Figure]) -> None:
    table = pd.DataFrame({"grader": ["=1+1", " +x", "-", "@a", "plain", None], "value": [-1.0, 2, 3, 4, 5, 6]})
    write_figures([Figure("one", "t", "d", table, figures[0].chart)], tmp_path)
    rows = list(csv.reader(io.StringIO((tmp_path / "one.csv").read_text("utf-8"))))[1:]
    assert [row[0] for row in rows] == ["'=1+1", "' +x", "'-", "'@a", "plain", ""]
    assert rows[0][1] == "-1.0"


def test_the_same_report_gives_the_same_bytes(figures: Sequence[Figure], folder: Path, tmp_path: Path) -> None:
    data = full_run(n=48, n_graders=3, repeats=3)
    again = build_figures(data, build_report(data), choice=choose_grader(data, None, level=0.95))
    write_figures(again, tmp_path)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (folder / path.name).read_bytes(), path.name


def test_other_files_of_a_folder_stay_and_old_figures_are_replaced(tmp_path: Path, figures: Sequence[Figure]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "error_rates.csv").write_text("old")
    written = write_figures(figures[:1], tmp_path)
    assert [path.name for path in written] == ["error_rates.svg", "error_rates.pdf", "error_rates.csv"]
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "error_rates.csv").read_text() != "old"
    assert len(list(tmp_path.iterdir())) == 4


def test_a_folder_that_cannot_be_one_is_an_error(tmp_path: Path, figures: Sequence[Figure]) -> None:
    (tmp_path / "file").write_text("")
    for where in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ExperimentError, match=r"--figures .*file.*: not a folder; expected a folder"):
            write_figures(figures[:1], where)
    (tmp_path / "taken" / "error_rates.svg").mkdir(parents=True)
    with pytest.raises(ExperimentError, match=r"--figures .*error_rates\.svg: Is a directory; expected a file"):
        write_figures(figures[:1], tmp_path / "taken")
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["error_rates.svg"]


def test_missing_libraries_are_named_with_what_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    installed.check_plots_installed("--figures")
    monkeypatch.setattr(installed, "find_spec", lambda _: None)
    with pytest.raises(ExperimentError, match=r"^--figures: altair, vl-convert-python not installed; .*\[pages\]'$"):
        installed.check_plots_installed("--figures")


# Colours -------------------------------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def over(colour: str, ground: str, opacity: float) -> str:
    pairs = [(int(colour[place : place + 2], 16), int(ground[place : place + 2], 16)) for place in (1, 3, 5)]
    return "#" + "".join(f"{round(opacity * top + (1 - opacity) * below):02x}" for top, below in pairs)


@pytest.mark.parametrize(("theme", "ground"), [("light", "#ffffff"), ("dark", "#14171a")])
def test_colours_have_the_contrast_that_text_and_marks_need(theme: str, ground: str) -> None:
    shown = {name: getattr(colour, theme) for name, colour in COLOURS.items()}
    for name in ("ink", "muted"):
        assert contrast(shown[name], ground) >= 4.5, name
    for name in ("negative", "positive", "missing", "rise", "fall", "front", "fill"):
        assert contrast(shown[name], ground) >= 3, name
    for name in ("fill", "missing", "rise", "fall"):  # the strongest that cells are filled with
        assert contrast(shown["ink"], over(shown[name], ground, 0.5)) >= 4.5, name


def test_stand_ins_are_replaced_whole() -> None:
    drawn = "".join(f'<g fill="{stand_in(name)}"/>' for name in COLOURS)
    assert len({stand_in(name) for name in COLOURS}) == len(COLOURS)
    assert [for_page(drawn).count(f"var(--figure-{name}, ") for name in COLOURS] == [1] * len(COLOURS)
    assert re.findall('"(#.*?)"', for_print(drawn)) == [colour.light for colour in COLOURS.values()]


# Links and names -----------------------------------------------------------------------------------------------------


def test_a_link_has_its_filters_sorted_and_escaped() -> None:
    assert item_link(grader=2, error="false_negative") == "#items?error=false_negative&grader=2"
    assert item_link(kind="a b&c=d#/é", grader=None) == "#items?kind=a%20b%26c%3Dd%23%2F%C3%A9"
    assert item_link() == "#items?"
    assert item_link(agreement_low=1 / 3, agreement_high=1.0).endswith("high=1.0&agreement_low=0.3333333333333333")
    with pytest.raises(ValueError, match="no filter 'colour'"):
        item_link(colour="red")


@given(st.dictionaries(st.sampled_from(FILTERS), st.text(min_size=1), max_size=4))
def test_a_link_leads_back_to_its_filters(filters: dict[str, str]) -> None:
    link = item_link(**filters)
    assert re.fullmatch(r"#items\?[\w%&=.~-]*", link, re.ASCII)
    back = {name: values[0] for name, values in parse_qs(link.partition("?")[2], keep_blank_values=True).items()}
    assert back == filters


@given(st.lists(st.text(max_size=60), max_size=12), st.integers(8, 30))
@settings(deadline=None)
def test_cut_names_are_short_and_distinct(names: list[str], most: int) -> None:
    short = cut_names(names, most=most)
    assert list(short) == list(dict.fromkeys(names))
    assert len(set(short.values())) == len(short)
    assert all(len(cut) <= most and cut.isprintable() for cut in short.values())
    assert all(len(visible(name)) > most or cut.startswith(visible(name)) for name, cut in short.items() if name)
    whole = whole_names(short)
    assert all(whole.get(cut, cut) == visible(name) for name, cut in short.items())


def test_names_that_would_be_cut_alike_are_told_apart() -> None:
    short = cut_names(["a" * 20 + "1" + "b" * 20, "a" * 20 + "2" + "b" * 20], most=12)
    assert list(short.values()) == ["aaaaaa…bbbbb", "aaaaa…bbbb~2"]


def test_text_is_as_wide_as_its_place_in_any_font(pages: dict[str, str]) -> None:
    assert text_width("Aa…", 10) == pytest.approx(6.67 + 5.56 + 10)
    assert text_width("", 10) == 0
    assert text_width("零", 10) is None
    root = ElementTree.fromstring(pages["error_rates"])
    texts = [text for text in root.iter(f"{SVG}text") if (text.text or "").isascii()]
    assert texts
    assert all(text.get("lengthAdjust") == "spacingAndGlyphs" for text in texts)


def test_a_range_in_words() -> None:
    assert describe_range("Rates", []) == "Rates: not defined."
    assert describe_range("Rates", [("a", None, "-"), ("b", 0.2, "20%")]) == "Rates: 20% (b)."
    told = describe_range("Rates", [("a", 0.3, "30%"), ("b", 0.2, "20%"), ("c", 0.4, "40%")])
    assert told == "Rates: from 20% (b) to 40% (c)."
