"""Text, Markdown and JSON: the same figures, hostile text made harmless."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference import AcceptableRange, Reference
from calibration_sets.scale import SIMPLEQA
from experiments.reports import GraderResults, RunData, build_report, render_json, render_markdown, render_text
from experiments.reports.document import Table
from experiments.reports.escaping import escape_markdown, quote, shorten, visible
from experiments.reports.figures import coefficient_text, percent, rate_text
from experiments.reports.table_layout import GAP, lay_out
from experiments.reports.wrapping import wrap
from graders.verdict import Verdict

HOSTILE = [
    "\x1b[31mred\x1b[0m and \x07 bell",
    "one\ntwo\r\nthree\u2028four\x85five",
    "[bold]loud[/bold] [/] [link=http://evil.example]x[/link]",
    "| a | b |\n|---|---|",
    "`code` ``` fence\n```\nA",
    "<script>alert(1)</script><!-- gone --> &amp;",
    "\u202eright to left\u2066 \u200b zero width",
    "# heading\n- list\n> quote\n[a](http://evil.example) ![i](x)",
    "\\x1b is spelt out, \\n too",
    "日本語の長い答え" * 200,
    "e\u0301" * 500,
    ":smiley: {0} %s ${x} {{ 7*7 }}",
    "",
    " ",
    "\t\v\f\b",
]


def hostile_run(texts: Sequence[str], *, graders: int = 1) -> RunData:
    """Each text is id, kind, question, reference and response of an item on which the grader flips."""
    items = tuple(
        Item(f"{number} {text}", text, Reference(text, text), text, f"q{number}", kind=text)
        for number, text in enumerate(texts)
    )
    labels = tuple(
        HumanLabel(item.item_id, item.digest, text, "CORRECT", "r@1") for item, text in zip(items, texts, strict=True)
    )
    whole = CalibrationSet(texts[0], texts[0], "r@1", SIMPLEQA, "human", "", "", "", items, labels)
    results = []
    for number in range(graders):
        verdicts = [
            Verdict(digest, f"g{number}", repeat, label, None if label else "not_answered", "robust", texts[0])
            for digest in {item.digest for item in items}
            for repeat, label in enumerate(("CORRECT", "INCORRECT", None))
        ]
        asked: dict[str, Any] = {"repeats": 3, texts[0]: texts[0]}
        results.append(
            GraderResults(
                f"g{number}", texts[0], None, f"x/{texts[0]}", asked, [{"note": texts[0]}], [texts[0]], verdicts
            )
        )
    return RunData(texts[0], texts[0], whole, len(items), "robust", results)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [60, 100, 160])
def test_hostile_text_cannot_leave_its_line(text: str, width: int) -> None:
    shown = render_text(build_report(hostile_run([text, text + "2"])), width=width)
    assert all(line.isprintable() for line in shown.split("\n"))
    assert max(cell_len(line) for line in shown.split("\n")) <= width
    assert len([line for line in shown.split("\n") if line.lstrip().startswith("response ")]) == 2
    shown.encode("utf-8")


def test_rich_markup_is_shown_and_not_obeyed() -> None:
    shown = render_text(build_report(hostile_run([HOSTILE[2]])))
    assert 'response   "[bold]loud[/bold] [/] [link=http://evil.example]x[/link]"' in shown


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_cannot_act_in_markdown(text: str) -> None:
    shown = render_markdown(build_report(hostile_run([text, text + "2"])))
    assert all(line.isprintable() for line in shown.split("\n"))
    assert "<" not in shown
    assert "](" not in shown.replace("\\](", "")
    assert re.search(r"(?<!\\)`", shown.replace("\\\\", "")) is None
    tables = re.findall(r"(?m)^\|.*(?:\n\|.*)*", shown)
    assert tables
    for table in tables:
        cells = {len(re.findall(r"(?<!\\)\|", line.replace("\\\\", ""))) for line in table.split("\n")}
        assert len(cells) == 1, table
    headings = [line for line in shown.split("\n") if line.startswith("#")]
    assert sum(line.startswith("# ") for line in headings) == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_json_brings_every_text_back(text: str) -> None:
    shown = render_json(build_report(hostile_run([text])))
    assert shown.isascii()
    assert json.loads(shown)["graders"][0]["most_inconsistent"][0]["response"] == text


def test_json_is_stable_sorted_and_without_nan() -> None:
    report = build_report(hostile_run(["plain"]))
    shown = render_json(report)
    assert shown == render_json(json.loads(shown))
    assert shown.endswith("}\n")
    assert json.loads(shown)["schema"] == "autorater.report/1"
    assert json.loads(shown, parse_constant=pytest.fail) == report
    with pytest.raises(ValueError, match="Out of range float"):
        render_json({"value": float("nan")})


def test_the_terminal_does_not_move_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    report = build_report(hostile_run(["plain"]))
    before = render_text(report)
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": "40", "TERM": "xterm-256color", "NO_COLOR": ""}.items():
        monkeypatch.setenv(name, value)
    assert render_text(report) == before
    assert "\x1b" not in before


def test_the_same_counts_stand_in_text_markdown_and_json() -> None:
    report = build_report(hostile_run(["a", "b", "c", "d"]))
    grader = json.loads(render_json(report))["graders"][0]
    assert (grader["n_items"], grader["n_verdicts"], grader["n_expected"]) == (4, 8, 12)
    for text in (render_text(report), render_markdown(report)):
        assert "8 valid verdicts of 12 asked for" in text
        assert "4 of 12 verdicts missing" in text
        assert "4 items of 4 in the set" in text
        assert text.count("66.7%") >= 3
        assert "2/3" in text
        assert "33.3% to 66.7%" in text


def test_the_summary_has_one_line_a_grader() -> None:
    report = build_report(hostile_run(["plain"], graders=3))
    lines = render_text(report, width=100).split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith("#  grader"))
    assert [line[0] for line in lines[start + 2 : start + 5]] == ["1", "2", "3"]
    assert lines[start + 5] == "-: not defined; the reasons stand below."
    assert lines[start + 6].startswith("- 1 = ")
    assert all("66.7%" in line for line in lines[start + 2 : start + 5])


def test_the_text_explains_what_it_shows() -> None:
    shown = " ".join(render_text(build_report(hostile_run(["a", "b"]))).split())
    for words in (
        "single-draw rates",
        "People in rows",
        "grows with the number R of repeats",
        "Prevalence of people's labels",
        "a failure is never counted as a label",
    ):
        assert words in shown


def test_a_long_list_of_graders_and_labels_keeps_the_width() -> None:
    shown = render_text(build_report(hostile_run(["a" * 200, "b" * 200], graders=4)), width=100)
    assert max(map(cell_len, shown.split("\n"))) <= 100


INTERVAL = re.compile(r"-?[\d.]+%? \[-?[\d.]+, -?[\d.]+\]|[\d.]+% \([\d,]+\)|[\d.]+% to [\d.]+%")


def named_run(graders: int, source: str) -> RunData:
    """Graders with a long name that flip, on forty items of kinds with long names."""
    data = hostile_run([f"a_kind_with_a_name_{number}" for number in range(40)], graders=graders)
    shown = [replace(grader, model="vendor/text-davinci-003-2022-11-28", prompt="p@1") for grader in data.graders]
    return replace(data, graders=shown, calibration_set=replace(data.calibration_set, label_source=source))


@pytest.mark.parametrize("width", [60, 61, 73, 80, 90, 100, 120, 140, 200])
def test_no_width_splits_an_interval_or_a_count(width: int) -> None:
    report = build_report(named_run(2, "human"))
    wide, shown = render_text(report, width=500), render_text(report, width=width)
    assert sorted(INTERVAL.findall(shown)) == sorted(INTERVAL.findall(wide))
    assert len(INTERVAL.findall(wide)) > 90
    assert shown.count("[") == wide.count("[")
    assert max(map(cell_len, shown.split("\n"))) <= width


def test_a_wide_page_is_used_and_a_narrow_one_goes_on_below() -> None:
    report = build_report(named_run(2, "human"))
    heads = {
        width: [line.split() for line in render_text(report, width=width).split("\n") if line.startswith("#  grader")]
        for width in (80, 100, 140)
    }
    assert len(heads[100]) == len(heads[140]) == 1
    assert [head[-1] for head in heads[80]] == ["coverage", "alpha"]
    wide = render_text(report, width=140)
    assert "1  text-davinci-003-2022-11-28  " in wide
    narrow = render_text(report, width=100).split("\n")
    start = next(number for number, line in enumerate(narrow) if line.startswith("#  grader"))
    assert narrow[start + 2].startswith("1  text-davinci-")
    assert "2022-11-28" in narrow[start + 3]


def test_what_is_explained_once_is_not_explained_again() -> None:
    reference = Reference("5", "5", ranges=(AcceptableRange(Decimal(4), Decimal(6), Decimal(5), None),))
    data = named_run(3, "human")
    items = tuple(replace(item, reference=reference) for item in data.calibration_set.items)
    digests = {old.digest: new.digest for old, new in zip(data.calibration_set.items, items, strict=True)}
    labels = tuple(
        replace(label, item_digest=digests[label.item_digest]) for label in data.calibration_set.human_labels
    )
    graders = [
        replace(grader, verdicts=[replace(given, item_digest=digests[given.item_digest]) for given in grader.verdicts])
        for grader in data.graders
    ]
    whole = replace(data.calibration_set, items=items, human_labels=labels)
    report = build_report(replace(data, calibration_set=whole, graders=graders))
    for text in (render_text(report, width=300), render_markdown(report)):
        assert text.count("Range check against the grader") == 3
        for words in ("is never the verdict", "Kappa falls", "in rows, the grader in columns", "The last column is"):
            assert text.count(words) == 1, words
        assert text.count("Prevalence of people's labels") == 3


@pytest.mark.parametrize("source", ["published", "construction"])
def test_labels_that_nobody_gave_are_not_called_peoples(source: str) -> None:
    shown = render_text(build_report(named_run(1, source)), width=300)
    assert "Agreement with the reference" in shown
    assert "False negatives: the reference said CORRECT" in shown
    assert "the reference CORRECT; grader" in shown
    (kept,) = [line for line in shown.split("\n") if re.search("people", line, re.IGNORECASE)]
    assert kept.startswith("- people among themselves: not defined")


@settings(deadline=None)
@given(st.text(st.sampled_from("ab 1.%[],()-_日\u0301"), max_size=80), st.integers(4, 40))
@example("11日.\u0301", 4)
def test_wrapping_loses_no_letter_and_keeps_the_width(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cell_len(line) <= width for line in lines)


@pytest.mark.parametrize("name", ["push@0.1.0", "a_long_name@12.10.3#0a1b", "service/gpt-4.1-mini v1.0.0"])
@pytest.mark.parametrize("width", [8, 10, 12])
def test_a_version_is_not_broken_inside(name: str, width: int) -> None:
    (version,) = re.findall(r"\d+(?:\.\d+)+(?!.*\d\.\d)", name)
    assert any(version in line for line in wrap(name, width))


@given(
    st.lists(st.lists(st.text("ab -1", max_size=30), min_size=4, max_size=4), min_size=1, max_size=5),
    st.integers(60, 200),
)
def test_a_layout_shows_each_column_and_fits(rows: list[list[str]], width: int) -> None:
    table = Table(("name", "x", "y y", "z"), tuple(map(tuple, rows)))  # type: ignore[arg-type]
    parts = lay_out(table, width)
    assert sorted({position for part in parts for position in part.positions}) == [0, 1, 2, 3]
    assert all(part.positions[0] == 0 for part in parts)
    assert all(sum(part.widths) + GAP * (len(part.widths) - 1) <= width for part in parts)


@given(st.text(st.characters(), max_size=60))
def test_visible_text_prints_on_one_line(text: str) -> None:
    assert visible(text).isprintable()
    assert visible(visible(text)) == visible(text)
    visible(text).encode("utf-8")


@given(st.text(st.characters(), max_size=40))
def test_quoted_texts_that_differ_look_different(text: str) -> None:
    assert json.loads(json.dumps(text)) == text
    shown = quote(text)[1:-1]
    assert shown.encode("latin-1", "backslashreplace").decode("unicode_escape") == text


@settings(deadline=None)
@given(st.text(max_size=80), st.integers(2, 40))
def test_shortened_text_fits(text: str, width: int) -> None:
    short = shorten(visible(text), width)
    assert cell_len(short) <= width
    assert short == visible(text) or short.endswith("…")


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b`c*d", "a\\|b\\`c\\*d"),
        ("NOT_ATTEMPTED", "NOT_ATTEMPTED"),
        ("_stress_", "\\_stress\\_"),
        ("<b>&", "&lt;b&gt;&amp;"),
        ("[t](u) ![i][r]", "[t\\](u) ![i\\][r]"),
        ("# head", "\\# head"),
        ("1. one", "1\\. one"),
        ("- point", "\\- point"),
        ("-0.5", "-0.5"),
        ("12.5% [3.0, 20.1]", "12.5% [3.0, 20.1]"),
        ("https://x www.y", "https&#58;//x www&#46;y"),
    ],
)
def test_markdown_escapes(text: str, escaped: str) -> None:
    assert escape_markdown(text) == escaped


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.0, "0.0%"), (1.0, "100.0%"), (0.0001, "<0.1%"), (0.9999, ">99.9%"), (0.1234, "12.3%"), (None, "not defined")],
)
def test_percent_never_rounds_to_certainty(share: float | None, shown: str) -> None:
    assert percent(share) == shown


def test_estimates_in_words() -> None:
    assert rate_text({"value": 0.5, "low": 0.25, "high": 0.75}) == "50.0% [25.0, 75.0]"
    assert rate_text({"value": 0.5, "low": None, "high": None}) == "50.0% [no interval]"
    assert coefficient_text({"value": -0.5, "low": -1.0, "high": 0.0}) == "-0.500 [-1.000, 0.000]"
    assert coefficient_text({"value": None}, "one class, n = 5") == "not defined (one class), n = 5"


def test_a_table_refuses_uneven_rows() -> None:
    with pytest.raises(ValueError, match="expected 2 cells"):
        Table(("a", "b"), (("1",),))
