from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.errors import SetFileError
from calibration_sets.tables import Row, Table, cell_text, read_csv, read_table


def write(tmp_path: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cells(table: Table) -> list[dict[str, object]]:
    return [dict(row.cells) for row in table.rows]


def message(path: Path) -> str:
    with pytest.raises(SetFileError) as caught:
        read_table(path)
    return str(caught.value)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.CSV"])
@pytest.mark.parametrize(
    "answer",
    [
        "NA",
        "None",
        "null",
        "nan",
        "NaN",
        "N/A",
        "0",
        "-",
        "",
        "0012",
        "31.20",
        "112.0",
        "6,061",
        "1e5",
        "True",
        "inf",
        " x ",
    ],
)
def test_cells_stay_the_text_that_stands_there(tmp_path: Path, name: str, answer: str) -> None:
    target = io.StringIO()
    writer = csv.writer(target, delimiter="\t" if name.endswith("tsv") else ",")
    writer.writerows([["id", "question", "answer"], ["0012", "Q?", answer]])
    table = read_table(write(tmp_path, target.getvalue(), name))
    assert cells(table) == [{"id": "0012", "question": "Q?", "answer": answer}]
    assert cell_text(table.rows[0], "answer") == answer


def test_a_byte_order_mark_does_not_stick_to_the_first_column(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "\ufeffid,question,answer\n1,Q,A\n"))
    assert table.columns == ("id", "question", "answer")
    assert table.rows[0].cells["id"] == "1"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("t.csv", "item;label\na;x, y\n", "parted by semicolons, found 'item;label'; expected commas"),
        ("t.csv", "item\tlabel\na\tb\n", "parted by tabs, found 'item\\tlabel'; expected commas"),
        ("t.tsv", "item,label\na,b\n", "parted by commas, found 'item,label'; expected tabs"),
    ],
)
def test_fields_parted_by_another_sign_are_named(tmp_path: Path, name: str, text: str, expected: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(SetFileError, match=re.escape(f"{name}:1: fields are {expected}")):
        read_table(tmp_path / name)


def test_a_mark_before_a_quoted_first_column(tmp_path: Path) -> None:
    assert read_table(write(tmp_path, '\ufeff"id","a"\n1,2\n')).columns == ("id", "a")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "cp1252"])
def test_other_encodings_are_an_error_not_mojibake(tmp_path: Path, encoding: str) -> None:
    assert "expected UTF-8" in message(write(tmp_path, "id,answer\n1,Málaga\n".encode(encoding)))


def test_line_breaks_and_outer_spaces_inside_fields(tmp_path: Path) -> None:
    text = 'id,question,answer\n1,"Two schools?","Lund \nTaipei"\n2,Week?,"Week 2\n"\n3,Name?,"\tJuan Perez"\n'
    table = read_table(write(tmp_path, text))
    assert [row.cells["answer"] for row in table.rows] == ["Lund \nTaipei", "Week 2\n", "\tJuan Perez"]
    assert [row.where for row in table.rows] == ["t.csv:2", "t.csv:4", "t.csv:6"]


@pytest.mark.parametrize("separator", ["\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\x1e"])
def test_other_line_breaks_inside_quoted_fields_split_nothing(tmp_path: Path, separator: str) -> None:
    table = read_table(write(tmp_path, f'id,answer\n1,"a{separator}b"\n2,c\n'))
    assert [row.cells["answer"] for row in table.rows] == [f"a{separator}b", "c"]


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_nor_do_they_outside_quotes(tmp_path: Path, separator: str) -> None:
    assert read_table(write(tmp_path, f"id,answer\n1,a{separator}b\n")).rows[0].cells["answer"] == f"a{separator}b"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_of_all_systems(tmp_path: Path, end: str, last: bool) -> None:
    text = end.join(["id,a", "1,x", "2,y"]) + (end if last else "")
    assert cells(read_table(write(tmp_path, text))) == [{"id": "1", "a": "x"}, {"id": "2", "a": "y"}]


@pytest.mark.parametrize("n_characters", [131_072, 131_073, 200_000, 1_000_000])
def test_fields_longer_than_the_csv_module_likes(tmp_path: Path, n_characters: int) -> None:
    before = csv.field_size_limit()
    table = read_table(write(tmp_path, f"id,a\n1,{'x' * n_characters}\n"))
    assert len(table.rows[0].cells["a"]) == n_characters
    assert csv.field_size_limit() == before


def test_blank_lines_are_passed_over(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "id,a\n\n1,x\n\n\n2,y\n\n"))
    assert [row.where for row in table.rows] == ["t.csv:3", "t.csv:6"]


@pytest.mark.parametrize(("row", "n"), [("1", 1), ("1,2,3", 3), ("1,a,b,c", 4)])
def test_rows_of_another_width_name_their_line(tmp_path: Path, row: str, n: int) -> None:
    assert message(write(tmp_path, f"id,a\n0,x\n{row}\n")) == f"t.csv:3: {n} fields; expected 2 (id, a)"


def test_an_unclosed_quote_names_where_it_began(tmp_path: Path) -> None:
    found = message(write(tmp_path, 'id,a\n1,x\n2,"never\nends\n3,y\n'))
    assert found.startswith("t.csv:3: not readable")
    assert "is the file cut off?" in found


def test_text_after_a_closing_quote_names_the_line(tmp_path: Path) -> None:
    assert message(write(tmp_path, 'id,a\n1,"x" y\n')).startswith("t.csv:2: not readable")


def test_an_error_does_not_keep_other_files_from_being_read(tmp_path: Path) -> None:
    bad, good = write(tmp_path, 'id,a\n1,"x" y\n', "bad.csv"), write(tmp_path, "id\n1\n", "good.csv")
    with pytest.raises(SetFileError) as caught:
        read_table(bad)
    assert len(read_table(good).rows) == 1
    assert "bad.csv" in str(caught.value)


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_empty_files(tmp_path: Path, content: str) -> None:
    assert message(write(tmp_path, content)) == "t.csv: empty; expected a line of column names"


def test_a_file_of_column_names_only(tmp_path: Path) -> None:
    assert message(write(tmp_path, "id,a\n")) == "t.csv: no records; expected at least one"


def test_columns_of_one_name(tmp_path: Path) -> None:
    assert message(write(tmp_path, "id,a,id\n1,2,3\n")) == "t.csv:1: column 'id' comes twice; expected different names"


def test_other_endings(tmp_path: Path) -> None:
    assert (
        message(write(tmp_path, "x", "t.xlsx"))
        == "t.xlsx: ending '.xlsx'; expected one of .csv, .tsv, .jsonl, .parquet"
    )


def test_missing_files(tmp_path: Path) -> None:
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        assert message(tmp_path / name) == f"{name}: no such file in {tmp_path}; expected a file of that name"


def test_wanted_columns_that_are_not_there_are_named_with_those_that_are(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "id,question, answer\n1,Q,A\n"))
    with pytest.raises(SetFileError) as caught:
        table.require({"question": "problem", "reference": "answer", "id": "id"})
    assert str(caught.value).splitlines() == [
        "t.csv: no column 'problem' for question; found 'id', 'question', ' answer' (and 1 more)",
        "t.csv: no column 'answer' for reference; found 'id', 'question', ' answer'",
    ]


def test_lenient_reading_and_other_column_names(tmp_path: Path) -> None:
    path = write(tmp_path, 'a\tb\tc\n1\t"x" y\n', "t.tsv")
    assert cells(read_csv(path, delimiter="\t", strict=False, columns=("id", "text"))) == [{"id": "1", "text": "x y"}]


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r")), min_size=2, max_size=2),
        min_size=1,
    )
)
def test_what_the_csv_module_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    target = io.StringIO()
    csv.writer(target, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([["a", "b"], *rows])
    path = write(tmp_path_factory.mktemp("t"), target.getvalue())
    assert [[row.cells["a"], row.cells["b"]] for row in read_table(path).rows] == rows


# JSONL


def test_columns_of_jsonl_are_all_keys(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, '{"id": "1"}\n{"id": "2", "a": null}\n', "t.jsonl"))
    assert table.columns == ("id", "a")
    assert [cell_text(row, "a") for row in table.rows] == [None, None]


def test_duplicate_keys_and_nan_in_jsonl_name_the_line(tmp_path: Path) -> None:
    found = message(write(tmp_path, '{"a": 1, "a": 2}\n{"a": NaN}\n', "t.jsonl"))
    assert found.startswith("t.jsonl:1: key 'a' comes twice")
    assert "t.jsonl:2: the number NaN" in found


# Parquet


def parquet(tmp_path: Path, columns: dict[str, object]) -> Path:
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def test_parquet_text_stays(tmp_path: Path) -> None:
    answers = ["NA", "0012", "nan", "a\nb\u2028c", "x" * 200_000, ""]
    table = read_table(parquet(tmp_path, {"id": pa.array(["a"] * 6), "answer": pa.array(answers, pa.large_string())}))
    assert [cell_text(row, "answer") for row in table.rows] == answers
    assert table.rows[1].where == "t.parquet:row 2"


def test_parquet_dictionaries_are_text(tmp_path: Path) -> None:
    path = parquet(tmp_path, {"label": pa.array(["Yes", "No", "Yes"]).dictionary_encode()})
    assert [cell_text(row, "label") for row in read_table(path).rows] == ["Yes", "No", "Yes"]


def test_whole_numbers_are_exact_text(tmp_path: Path) -> None:
    path = parquet(tmp_path, {"id": pa.array([12, 2**63 - 1, None], pa.int64())})
    assert [cell_text(row, "id") for row in read_table(path).rows] == ["12", str(2**63 - 1), None]


@pytest.mark.parametrize("number", [31.2, 12.0, float("nan"), float("inf")])
def test_fractions_are_an_error_that_names_row_and_column(tmp_path: Path, number: float) -> None:
    row = read_table(parquet(tmp_path, {"id": pa.array(["a", "b"]), "answer": pa.array([None, number])})).rows[1]
    with pytest.raises(SetFileError, match=r"t\.parquet:row 2: column 'answer' holds .*; expected text"):
        cell_text(row, "answer")


def test_fractions_in_columns_that_nobody_uses_do_no_harm(tmp_path: Path) -> None:
    row = read_table(parquet(tmp_path, {"id": pa.array(["a"]), "score": pa.array([0.5])})).rows[0]
    assert cell_text(row, "id") == "a"


def test_files_that_are_no_parquet(tmp_path: Path) -> None:
    found = message(write(tmp_path, b"PAR1 nonsense", "t.parquet"))
    assert found.startswith("t.parquet: not a readable Parquet file (")
    assert "\n" not in found


@pytest.mark.parametrize(
    ("value", "text"),
    [("x", "x"), (None, None), (True, "true"), (False, "false"), (0, "0"), (-7, "-7"), (10**30, str(10**30))],
)
def test_exact_forms_as_text(value: object, text: str | None) -> None:
    assert cell_text(Row("t:1", {"a": value}), "a") == text


@pytest.mark.parametrize("value", [1.0, b"x", [1], {"a": 1}, "x\0y"])
def test_values_without_an_exact_form(value: object) -> None:
    with pytest.raises(SetFileError, match="t:1: column 'a' holds"):
        cell_text(Row("t:1", {"a": value}), "a")


def test_json_and_csv_give_the_same_table(tmp_path: Path) -> None:
    rows = [{"id": "0012", "a": "NA"}, {"id": "31.20", "a": 'say "x", y\n'}]
    lines = write(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "t.jsonl")
    target = io.StringIO()
    csv.DictWriter(target, ["id", "a"]).writerows([{"id": "id", "a": "a"}, *rows])
    assert cells(read_table(lines)) == cells(read_table(write(tmp_path, target.getvalue()))) == rows
