"""Items of the page: who said what of each, the most inconsistent first, and their lines of JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from figure_runs import full_run, make_grader, make_items, make_run, make_truths, without_labels

from calibration_sets.item import HumanLabel
from calibration_sets.references.reference import AcceptableRange
from experiments.page.item_json import MOST_TEXT, head_line, item_line, reply_line, short_labels
from experiments.page.item_table import build_item_table, range_text
from experiments.page.texts import cut, link_value, shown
from experiments.plots.agreement import item_agreement
from experiments.reports import RunData, build_report
from experiments.reports.label_words import PEOPLE
from graders.exact import VerdictDistribution


def test_verdicts_add_up_to_those_of_the_report() -> None:
    data = full_run()
    report, table = build_report(data), build_item_table(data)
    for place, grader in enumerate(report["graders"]):
        said: dict[str, int] = {}
        for row in table.rows:
            for word in row.cells[place].verdicts:
                said[word] = said.get(word, 0) + 1
        assert said == {name: n for name, n in (grader["verdicts"] | grader["failures"]).items() if n}
        assert table.graders[place].grader_id == grader["grader_id"]
        assert table.graders[place].name.startswith(f"{place + 1}. ")
    labels = [row.references[0] for row in table.rows]
    assert {name: labels.count(name) for name in report["set"]["label_counts"]} == report["set"]["label_counts"]


def test_agreement_is_that_of_the_figure_to_the_last_digit() -> None:
    data = full_run(n=40)
    table = build_item_table(data)
    ordered = sorted(table.rows, key=lambda row: row.item.item_id)
    for place, results in enumerate(data.graders):
        shares = [row.cells[place].agreement for row in ordered]
        expected = [None if np.isnan(share) else float(share) for share in item_agreement(data, results)]
        assert shares == expected


def test_the_most_inconsistent_come_first_whatever_the_order_of_the_items(runs: Any) -> None:
    rows = [("C", "CCC"), ("C", "CIN"), ("C", "CCI"), ("C", "---"), ("C", "III")]
    data: RunData = runs.run(rows)
    table = build_item_table(data)
    assert [row.item.item_id for row in table.rows] == ["item-001", "item-002", "item-000", "item-003", "item-004"]
    turned = replace(
        data, calibration_set=replace(data.calibration_set, items=tuple(reversed(data.calibration_set.items)))
    )
    assert build_item_table(turned) == table


def test_with_one_verdict_each_graders_that_differ_come_first() -> None:
    items = make_items(6)
    truths = make_truths(items)
    alike = make_grader("a@1.0.0#a", "x/a", items, truths, accuracy=5)
    other = make_grader("b@1.0.0#a", "x/b", items, truths, accuracy=5)
    wrong = replace(other.verdicts[3], label="NOT_ATTEMPTED")
    moved = replace(other, verdicts=[*other.verdicts[:3], wrong, *other.verdicts[4:]])
    first, *rest = build_item_table(make_run(items, truths, [alike, moved])).rows
    assert first.item.item_id == "i0003"
    assert [row.item.item_id for row in rest] == sorted(row.item.item_id for row in rest)


def test_each_grader_is_held_to_the_labels_of_its_rubric_and_votes_are_all_there() -> None:
    items = make_items(2)
    graders = [
        make_grader("a@1.0.0#a", "x/a", items, ["CORRECT"] * 2),
        replace(make_grader("b@1.0.0#a", "x/b", items, ["CORRECT"] * 2), rubric="strict@1.0.0"),
    ]
    made = make_run(items, ["CORRECT", None], graders)
    strict = HumanLabel("i0000", items[0].digest, "second", "INCORRECT", "strict@1.0.0")
    stale = HumanLabel("i0001", "old", "second", "INCORRECT", "strict@1.0.0")
    chosen = replace(made.calibration_set, human_labels=(*made.calibration_set.human_labels, strict, stale))
    table = build_item_table(replace(made, calibration_set=chosen))
    assert [table.rubrics[grader.rubric] for grader in table.graders] == ["rules@1.0.0", "strict@1.0.0"]
    labelled, bare = sorted(table.rows, key=lambda row: row.item.item_id)
    assert labelled.references == ("CORRECT", "INCORRECT")
    assert labelled.votes == (("rater", "CORRECT", "rules@1.0.0"), ("second", "INCORRECT", "strict@1.0.0"))
    assert (bare.references, bare.votes) == ((None, None), ())


def test_computed_repeats_have_chances_and_one_verdict() -> None:
    items = make_items(2)
    grader = make_grader("a@1.0.0#a", "x/a", items, ["CORRECT"] * 2)
    shares = {"INCORRECT": 0.25, "NOT_ATTEMPTED": 0.0, "CORRECT": 0.75}
    found = {item.digest: VerdictDistribution(item.digest, shares, outside=0.0) for item in items}
    exact = replace(grader, distributions=found, sampling={"repeats": 10, "method": "exact", "temperature": 1.0})
    table = build_item_table(make_run(items, ["CORRECT"] * 2, [exact]))
    (cell,) = table.rows[0].cells
    assert (len(cell.verdicts), cell.agreement, dict(cell.shares)) == (1, 0.75, shares)
    assert json.loads(item_line(table.rows[0], table))[-1][0][1:] == [0.75, [0.25, 0.0, 0.75]]


def test_a_line_has_codes_of_labels_and_reasons_and_texts_that_act_on_nobody(runs: Any) -> None:
    data: RunData = runs.run([("CCI", "CI-?.")], kinds=["a\u202eb"])
    table = build_item_table(data)
    head = json.loads(head_line(table, PEOPLE))
    read = json.loads(item_line(table.rows[0], table))
    (codes, agreement) = read[-1][0]
    names = [*head["labels"], *head["failures"]]
    said = [names[ord(code) - 48] for code in codes]
    assert said == ["CORRECT", "INCORRECT", "unparsed", "ambiguous", "not_answered"]
    assert agreement == 0.5
    assert head["labels"][read[9][0]] == "CORRECT"
    assert [vote[1] for vote in read[10]] == [2, 2, 0]
    assert read[5] == "a\u202eb"
    replies = {"g1": {table.rows[0].item.digest: ["A\u202e\x00", None, "", "x" * 9]}}
    assert json.loads(reply_line(table.rows[0], table, replies)) == [["A\\u202e\\x00", None, "", "x" * 9, ["timeout"]]]
    assert item_line(table.rows[0], table).isascii()


def test_long_texts_are_cut_and_say_so() -> None:
    data = full_run(n=4, n_graders=1)
    items = tuple(replace(item, response="y" * (MOST_TEXT + 1234)) for item in data.calibration_set.items[:1])
    made = make_run(items, ["CORRECT"], [make_grader(None, "x/a", items, ["CORRECT"])])
    table = build_item_table(made)
    assert json.loads(item_line(table.rows[0], table))[3] == "y" * MOST_TEXT + "… [1,234 more characters]"
    assert cut("abc", 3) == "abc"


@pytest.mark.parametrize(
    ("low", "high", "unit", "words"),
    [
        ("90", "110", "metre", "90 to 110 metre"),
        ("1.50", "2", None, "1.50 to 2"),
        ("-Infinity", "7", None, "at most 7"),
        ("7", "Infinity", "seat", "at least 7 seat"),
        ("1E+3", "2E+3", None, "1000 to 2000"),
    ],
)
def test_ranges_in_words(low: str, high: str, unit: str | None, words: str) -> None:
    assert range_text(AcceptableRange(Decimal(low), Decimal(high), None, unit)) == words


@pytest.mark.parametrize(
    ("labels", "short"),
    [
        (["INCORRECT", "NOT_ATTEMPTED", "CORRECT"], ["I", "N", "C"]),
        (["bad", "better", "best"], ["ba", "bet", "bes"]),
        (["1", "10", "2"], ["1", "10", "2"]),
    ],
)
def test_short_labels_are_distinct(labels: list[str], short: list[str]) -> None:
    assert short_labels(labels) == short


def test_without_labels_nobody_said_anything() -> None:
    table = build_item_table(without_labels(full_run(n=6)))
    assert {row.references for row in table.rows} == {(None,)}


def test_lines_and_tabs_stay_and_the_rest_is_shown() -> None:
    assert shown("a\r\nb\tc\x07\u2028") == "a\nb\tc\\x07\\u2028"
    assert shown("100\u00a0°C\u3000\u200b\r") == "100\u00a0°C\u3000\\u200b\\r"
    assert link_value("a\ud800\u202e") == "a\\ud800\u202e"
