"""Verdicts from elsewhere: what a table may say, and that nothing is stored of one that is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibration_sets.errors import CalibrationSetError
from experiments.errors import ExperimentError, ImportFileError
from experiments.reports import build_report
from experiments.running.verdict_import import import_verdicts
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore


class Desk:
    """Imports tables into a store of its own."""

    def __init__(self, study: Any) -> None:
        self.folder: Path = study.folder
        self.store = RunStore(self.folder / "s.sqlite")

    def put(self, content: str | bytes, ending: str = "csv", **options: Any) -> str:
        file = self.folder / f"v.{ending}"
        file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return self.take(file, **options)

    def take(self, file: Path, **options: Any) -> str:
        options.setdefault("grader", "g")
        return import_verdicts(file, str(self.folder / "small"), self.store, **options)

    def section(self, run_id: str) -> Mapping[str, Any]:
        data, analyses = load_run_data(self.store, run_id)
        (section,) = build_report(data, level=analyses.level)["graders"]
        return section

    def refused(self, content: str | bytes, ending: str = "csv", **options: Any) -> str:
        with pytest.raises((ImportFileError, CalibrationSetError)) as caught:
            self.put(content, ending, **options)
        assert self.store.list_runs() == []
        assert self.store.count_completions() == 0
        return str(caught.value).splitlines()[0]


@pytest.fixture
def desk(study: Any) -> Any:
    made = Desk(study)
    yield made
    made.store.close()


def table(*rows: str, columns: str = "item,label") -> str:
    return "\n".join([columns, *rows]) + "\n"


WHOLE = table(*(f"i{place},{'CORRECT' if place < 6 else 'NOT_ATTEMPTED'}" for place in range(8)))


def test_a_whole_table_becomes_a_run_whose_numbers_can_be_counted_by_hand(desk: Desk) -> None:
    run_id = desk.put(WHOLE)
    section = desk.section(run_id)
    assert run_id.startswith("small-verdicts-")
    assert (section["n_items"], section["n_verdicts"], section["coverage"]) == (8, 8, 1.0)
    # People: even items CORRECT, odd ones INCORRECT. The grader: CORRECT up to i5.
    assert section["false_negative_rate"]["value"] == pytest.approx(1 / 4)
    assert section["false_positive_rate"]["value"] == pytest.approx(3 / 4)
    assert section["confusion"]["counts"] == [[0, 1, 3], [0, 0, 0], [0, 1, 3]]
    assert section["agreement"]["raw"]["value"] == pytest.approx(3 / 8)
    assert section["model"] == "imported/g"
    assert section["sampling"]["temperature"] is None


def test_a_byte_order_mark_tabs_json_lines_and_parquet_say_the_same(desk: Desk, study: Any) -> None:
    rows = [line.split(",") for line in WHOLE.splitlines()[1:]]
    expected = desk.put(WHOLE)
    assert desk.put("\ufeff" + WHOLE) == expected
    assert desk.put(WHOLE.replace("\n", "\r\n")) == expected
    assert desk.put(WHOLE.replace(",", "\t"), "tsv") == expected
    lines = "".join(json.dumps({"item": item, "label": label}) + "\n" for item, label in reversed(rows))
    assert desk.put(lines, "jsonl") == expected
    file = study.folder / "v.parquet"
    pq.write_table(pa.table({"item": [row[0] for row in rows], "label": [row[1] for row in rows]}), file)
    assert desk.take(file) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["i0,CORRECT", "i0,CORRECT"], "v.csv:3: grader 'g', item 'i0', repeat 0: a second verdict"),
        (["i0,CORRECT", "i0,INCORRECT"], "v.csv:3: grader 'g', item 'i0', repeat 0: a second verdict"),
        (["i9,CORRECT"], "v.csv:2: item 'i9': not in set small"),
        ([",CORRECT"], "v.csv:2: item: missing"),
        (["i0,correct"], "v.csv:2: label 'correct' is not on the scale"),
        (["i0, CORRECT"], "v.csv:2: label ' CORRECT' is not on the scale"),
        (["i0,NA"], "v.csv:2: label 'NA' is not on the scale"),
        (["i0,None"], "v.csv:2: label 'None' is not on the scale"),
        (["i0,0"], "v.csv:2: label '0' is not on the scale"),
        (["i0,CORRECT,more"], "v.csv:2: 3 fields; expected 2"),
        (["i0"], "v.csv:2: 1 fields; expected 2"),
        ([], "v.csv: no records"),
    ],
)
def test_a_wrong_row_is_an_error_that_names_its_line(desk: Desk, rows: list[str], expected: str) -> None:
    assert desk.refused(table(*rows)).startswith(expected)


@pytest.mark.parametrize(
    ("content", "ending", "expected"),
    [
        ("", "csv", "v.csv: empty"),
        ("item,label\ni0,CORRECT".encode("utf-16"), "csv", "v.csv: text in UTF-16"),
        (b"item,label\ni0,CORREC\xe9\n", "csv", "v.csv:2: byte 0xe9"),
        ("item,label,label\ni0,CORRECT,CORRECT\n", "csv", "v.csv:1: column 'label' comes twice"),
        ("a,b\n1,2\n", "csv", "v.csv: no column 'item' or 'digest', found a, b"),
        ("item,b\ni0,2\n", "csv", "v.csv: no column 'label' or 'text', found item, b"),
        ("item,failure\ni0,x\n", "csv", "v.csv: no column 'label' or 'text', found item, failure; expected a col"),
        ("item,digest,label\ni0,deadbeef,CORRECT\n", "csv", "v.csv:2: item 'i0': judged with other content"),
        ("digest,label\ndeadbeef,CORRECT\n", "csv", "v.csv:2: item 'deadbeef': not in set"),
        ("item,label\ni0,CORRECT\n", "txt", "v.txt: ending '.txt'"),
        ("item,label\ni0,CORRECT\n", "parquet", "v.parquet: not a readable Parquet file"),
        ("[1]\n", "jsonl", "v.jsonl:1: JSON list"),
        ('{"item": "i0", "label": 1.5}\n', "jsonl", "v.jsonl:1: column 'label' holds the fraction"),
        ('{"item": "i0", "label": NaN}\n', "jsonl", "v.jsonl:1: the number NaN"),
        ('{"item": "i0", "label": true}\n', "jsonl", "v.jsonl:1: label 'true' is not on the scale"),
        ('{"item": "i0", "label": "CORRECT", "repeat": 1.0}\n', "jsonl", "v.jsonl:1: column 'repeat' holds"),
        ('{"item": "i0", "text": "\\ud800"}\n', "jsonl", "v.jsonl:1: half a surrogate pair"),
    ],
)
def test_a_wrong_file_is_an_error_that_names_it(desk: Desk, content: str | bytes, ending: str, expected: str) -> None:
    assert desk.refused(content, ending).startswith(expected)


@pytest.mark.parametrize("repeat", ["-1", "1.0", "x", "1e3", "100000", "٣", " 0", ""])
def test_a_repeat_is_a_plain_whole_number(desk: Desk, repeat: str) -> None:
    told = desk.refused(table(f"i0,CORRECT,{repeat}", columns="item,label,repeat"))
    assert told.startswith(f"v.csv:2: repeat: {repeat!r}; expected a whole number from 0")


@pytest.mark.parametrize("repeats", [[1, 2, 3], [0, 2], [0, 1, 5], [42, 1234], [99999]])
def test_repeats_that_nobody_gave_are_not_taken_for_missing_answers(desk: Desk, repeats: list[int]) -> None:
    rows = [f"i{place},CORRECT,{repeat}" for place in range(8) for repeat in repeats]
    told = desk.refused(table(*rows, columns="item,label,repeat"))
    assert told.startswith("v.csv: grader 'g': no row of repeat ")
    assert told.endswith("expected 0, 1, 2 and so on")


def test_a_repeat_that_one_item_lacks_is_a_missing_answer_of_that_item(desk: Desk) -> None:
    rows = [f"i{place},CORRECT,{repeat}" for place in range(8) for repeat in range(2 if place else 1)]
    section = desk.section(desk.put(table(*rows, columns="item,label,repeat")))
    assert section["n_verdicts"] == 15
    assert section["failures"] == {"not_answered": 1}
    assert section["coverage"] == pytest.approx(15 / 16)


@pytest.mark.parametrize(
    ("failure", "counted"),
    [(reason, reason) for reason in ("empty", "truncated", "refused", "unparsed", "ambiguous", "off_scale")]
    + [("not_answered", "not_answered"), ("timeout", "not_answered")],
)
@pytest.mark.parametrize("text", ["", "A", "CORRECT"])
def test_a_stated_failure_stays_one_whatever_text_came_with_it(
    desk: Desk, failure: str, counted: str, text: str
) -> None:
    rows = [f"i{place},{text},{failure}" for place in range(8)]
    run_id = desk.put(table(*rows, columns="item,text,failure"))
    assert desk.section(run_id)["failures"] == {counted: 8}
    data, _ = load_run_data(desk.store, run_id, parser="official")
    assert {verdict.failure for verdict in data.graders[0].verdicts} == {counted}


def test_a_label_and_a_failure_together_are_an_error(desk: Desk) -> None:
    told = desk.refused(table("i0,CORRECT,timeout", columns="item,label,failure"))
    assert told == "v.csv:2: label 'CORRECT' and failure 'timeout'; expected one of them"


def test_labels_and_raw_texts_can_be_mixed_and_an_empty_label_is_none(desk: Desk) -> None:
    rows = ["i0,INCORRECT,A", "i1,,B", "i2,,", *(f"i{place},CORRECT," for place in range(3, 8))]
    section = desk.section(desk.put(table(*rows, columns="item,label,text")))
    assert section["failures"] == {"empty": 1}
    assert section["verdicts"] == {"INCORRECT": 2, "NOT_ATTEMPTED": 0, "CORRECT": 5}


def test_graders_come_from_a_column_or_from_a_name_but_not_from_both(desk: Desk) -> None:
    both = table("i0,CORRECT,x", columns="item,label,grader")
    assert "both a column and --grader" in desk.refused(both)
    assert "no column 'grader'" in desk.refused(table("i0,CORRECT"), grader=None)
    for blank in ("", " "):
        told = desk.refused(table(f"i0,CORRECT,{blank}", columns="item,label,grader"), grader=None)
        assert told == "v.csv:2: grader: missing; expected a name"
    data, _ = load_run_data(desk.store, desk.put(both + "i0,INCORRECT,y\n", grader=None))
    assert [grader.model for grader in data.graders] == ["imported/x", "imported/y"]


@pytest.mark.parametrize("column", ["", "x", "=", "item=", "colour=label", "item"])
def test_a_column_option_of_another_form_is_an_error(desk: Desk, column: str) -> None:
    assert desk.refused(table("i0,CORRECT"), columns=[column]).startswith(
        f"--column: {column!r}; expected FIELD=COLUMN"
    )


def test_columns_of_other_names_are_found_and_absent_ones_named(desk: Desk) -> None:
    other = WHOLE.replace("item,label", "qid,said")
    assert desk.put(other, columns=["item=qid", "label=said"]) == desk.put(WHOLE)
    desk.store.close()
    with pytest.raises(CalibrationSetError, match="no column 'nowhere' for item"):
        desk.put(WHOLE, columns=["item=nowhere"])


@pytest.mark.parametrize("name", ["", "a b", "a\nb", "../a", "-"])
def test_a_run_name_that_could_be_misread_is_refused(desk: Desk, name: str) -> None:
    assert desk.refused(WHOLE, name=name).startswith("--name: ")


def test_the_same_verdicts_are_the_same_run_and_others_another(desk: Desk) -> None:
    first = desk.put(WHOLE)
    assert desk.put(WHOLE) == first
    assert desk.put(WHOLE, grader="h") != first
    assert desk.put(WHOLE.replace("i0,CORRECT", "i0,INCORRECT")) != first
    assert desk.put(WHOLE, name="mine").startswith("mine-")
    assert desk.section(first)["confusion"]["counts"] == [[0, 1, 3], [0, 0, 0], [0, 1, 3]]


@pytest.mark.parametrize("place", ["absent.csv", "small", "study.toml"])
def test_a_file_that_is_no_table_is_an_error(desk: Desk, place: str) -> None:
    with pytest.raises((CalibrationSetError, ExperimentError), match=r"expected|no such file"):
        desk.take(desk.folder / place)


def test_labels_of_another_spelling_are_taken_as_what_they_mean(desk: Desk) -> None:
    run_id = desk.put(table("i0,yes", "i1,no", "i2,CORRECT"), labels=["yes=CORRECT", "no=INCORRECT"])
    assert desk.section(run_id)["verdicts"] == {"INCORRECT": 1, "NOT_ATTEMPTED": 0, "CORRECT": 2}


@pytest.mark.parametrize("entries", [["yes"], ["=CORRECT"], ["yes=Right"], ["yes=CORRECT", "yes=INCORRECT"]])
def test_a_bad_spelling_of_a_label_is_refused(desk: Desk, entries: list[str]) -> None:
    assert desk.refused(table("i0,yes"), labels=entries).startswith(f"--label: {entries[-1]!r}; expected TEXT=LABEL")
