"""Defects of data files that have spoilt evaluations, each with variants of its kind."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from calibration_sets import (
    SIMPLEQA,
    CalibrationSet,
    CalibrationSetError,
    Item,
    load_set,
    parse_reference,
)
from calibration_sets.importers.mapped_table import import_table
from calibration_sets.importers.simpleqa import load_simpleqa
from calibration_sets.records import SetHeader
from calibration_sets.references.reference_lint import lint_reference
from calibration_sets.tables import read_csv
from calibration_sets.validation import compare_sets, validate_set
from calibration_sets.writer import stamp_labels
from graders.providers.baseline import grade_lexically

HEADER = SetHeader("t", "1.0.0", "simpleqa@1.0.0", SIMPLEQA, "human", "CC0-1.0", "us", "made up")
MAPPING = {"id": "id", "question": "question", "reference": "answer", "response": "response"}
COLUMNS = "id,question,answer,response\n"
TOML = (
    'name = "t"\nversion = "1.0.0"\nrubric = "simpleqa@1.0.0"\nscale = "simpleqa"\nlabel_source = "human"\n'
    'licence = "CC0-1.0"\nsource = "us"\ndescription = "made up"\n'
)
ITEM = '{"id": "1", "question": "q", "reference": "r", "response": "a"}\n'
LABEL = '{"item": "1", "rater": "anna", "label": "CORRECT"}\n'


def take(folder: Path, name: str, content: str | bytes) -> CalibrationSet:
    """What a file with the usual columns is as a set."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return import_table(path, MAPPING, HEADER)


def complaint(folder: Path, name: str, content: str | bytes) -> str:
    with pytest.raises(CalibrationSetError) as caught:
        take(folder, name, content)
    return str(caught.value)


def write_folder(folder: Path, *, toml: str = TOML, items: str = ITEM, labels: str = LABEL) -> Path:
    for name, text in (("set.toml", toml), ("items.jsonl", items), ("human_labels.jsonl", labels)):
        (folder / name).write_bytes(text.encode())
    return folder


def item(question: str, reference: str, response: str) -> Item:
    return Item("1", question, parse_reference(reference), response, "c")


# --- columns ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "missing"),
    [
        ("id,problem,answer,response", "question"), ("id,Question,answer,response", "question"),
        ("id, question,answer,response", "question"), ("id,question,gold,response", "answer"),
        ("id,question,answer,prediction", "response"), ("item,question,answer,response", "id"),
    ],
)  # fmt: skip
def test_a_missing_column_is_an_error_that_lists_the_columns(tmp_path: Path, columns: str, missing: str) -> None:
    found = complaint(tmp_path, "t.csv", f"{columns}\n1,q,a,r\n")
    assert f"no column '{missing}'" in found
    assert "found " in found


@pytest.mark.parametrize(("mark", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_fields_parted_by_another_sign_are_an_error_that_names_it(tmp_path: Path, mark: str, name: str) -> None:
    columns = mark.join(["id", "question", "answer", "response"])
    found = complaint(tmp_path, "t.csv", f"{columns}\n{mark.join('1qar')}\n")
    assert f"parted by {name}, found {columns!r}; expected commas" in found


@pytest.mark.parametrize(("column", "field"), [(1, "question"), (2, "reference"), (0, "id")])
@pytest.mark.parametrize("blank", ["", "  ", "\t"])
def test_an_empty_field_is_an_error_with_its_line(tmp_path: Path, column: int, field: str, blank: str) -> None:
    cells = ["2", "q", "a", "r"]
    cells[column] = blank
    found = complaint(tmp_path, "t.csv", f"{COLUMNS}1,q,a,r\n{','.join(cells)}\n")
    assert found.startswith(f"t.csv:3: {field}: ")


def test_an_empty_response_is_a_response(tmp_path: Path) -> None:
    assert take(tmp_path, "t.csv", f"{COLUMNS}1,q,a,\n").items[0].response == ""


# --- text that looks like something else ----------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["NA", "None", "null", "nan", "N/A", "#N/A", "NaN", "-", "0", "007", "TRUE", "1e5", "1/2", "1-2", "31.20", "1,000"],
)
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_answers_stay_text(tmp_path: Path, text: str, ending: str) -> None:
    cells = dict(zip(COLUMNS.strip().split(","), ("0012", "q", text, text), strict=True))
    if ending == "jsonl":
        content = json.dumps(cells)
    else:
        mark = "," if ending == "csv" else "\t"
        content = mark.join(cells) + "\n" + mark.join(f'"{cell}"' for cell in cells.values())
    (found,) = take(tmp_path, f"t.{ending}", f"{content}\n").items
    assert (found.item_id, found.reference.text, found.response) == ("0012", text, text)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e400", "31.20", "null", "[]", '["a", "b"]', '{"text": "a"}'])
def test_values_that_are_no_text_are_errors_with_their_line(tmp_path: Path, value: str) -> None:
    row = f'{{"id": "1", "question": "q", "answer": {value}, "response": "r"}}\n'
    assert complaint(tmp_path, "t.jsonl", row).startswith("t.jsonl:1: ")


# --- the file itself --------------------------------------------------------------------------------


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfid,question,answer\n1,Q,A\n")
    assert read_csv(path).columns == ("id", "question", "answer")


@pytest.mark.parametrize(
    ("encoding", "words"),
    [("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-32", "UTF-32"), ("cp1252", "t.csv:2: byte"),
     ("latin-1", "t.csv:2: byte"), ("shift_jis", "t.csv:2: byte"), ("gbk", "t.csv:2: byte")],
)  # fmt: skip
def test_other_encodings_are_named_and_never_guessed(tmp_path: Path, encoding: str, words: str) -> None:
    answer = {"shift_jis": "東京", "gbk": "北京"}.get(encoding, "Malmö")
    found = complaint(tmp_path, "t.csv", f"{COLUMNS}1,q,{answer},r\n".encode(encoding))
    assert words in found
    assert "expected UTF-8" in found


def test_line_breaks_tabs_and_outer_spaces_split_no_record(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        'id,question,answer\n1,"Which two schools?","Lund \nTaipei"\n2,Which week?,"Week 2\n"\n'
        '3,Which name?,"\tJuan Perez"\n4,Which cities?,"A\r\nB\u2028C\u0085D"\n',
        newline="",
    )
    answers = [row.cells["answer"] for row in read_csv(path).rows]
    assert answers == ["Lund \nTaipei", "Week 2\n", "\tJuan Perez", "A\r\nB\u2028C\u0085D"]
    assert [parse_reference(answer).answer for answer in answers[1:3]] == ["Week 2", "Juan Perez"]


@pytest.mark.parametrize("n_characters", [131_073, 200_000, 2_000_000])
def test_a_very_long_field_loads(tmp_path: Path, n_characters: int) -> None:
    (found,) = take(tmp_path, "t.csv", f"{COLUMNS}1,q,a,{'x' * n_characters}\n").items
    assert len(found.response) == n_characters


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (f"{COLUMNS}1,q,a\n", "t.csv:2: 3 fields; expected 4"), (f"{COLUMNS}1,q,a,r,more\n", "t.csv:2: 5 fields"),
        (f'{COLUMNS}1,"q,a,r\n2,q,a,r\n', "t.csv:2: not readable"),
     (f'{COLUMNS}1,"q" x,a,r\n', "t.csv:2: not readable"),
        (f"{COLUMNS}1,q,a\0b,r\n", "t.csv:2: column 'answer' holds a null character"), ("", "t.csv: empty"),
        (COLUMNS, "t.csv: no records"),
     ("id,question,answer,answer\n1,q,a,b\n", "t.csv:1: column 'answer' comes twice"),
        (f"{COLUMNS}1,q,a,r\n{COLUMNS}2,q,a,r\n", "t.csv:3: the column names once more"),
    ],
)  # fmt: skip
def test_broken_tables_name_file_and_line(tmp_path: Path, content: str, words: str) -> None:
    assert complaint(tmp_path, "t.csv", content).startswith(words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{'id': '1', 'question': 'q'}\n", "a Python literal, not JSON"), ('["1"]\n', "expected an object"),
        ('{"id": "1"}{"id": "2"}\n', "Extra data"), ('{"id": "1"},\n', "a comma at column 12 behind the value"),
        ('{"id": "1", "id": "2"}\n', "key 'id' comes twice"), ('{"id": "1", "que', "is the file cut off?"),
        ('{"id": "\\ud83d"}\n', "half a surrogate pair"), ('{"id": "\\u0000"}\n', "null character"),
    ],
)  # fmt: skip
def test_broken_json_lines_name_file_and_line(tmp_path: Path, content: str, words: str) -> None:
    found = complaint(tmp_path, "t.jsonl", content)
    assert found.startswith("t.jsonl:1: ")
    assert words in found


def test_lost_records_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    metadata = "\"{'topic': 'Art', 'answer_type': 'Person', 'urls': []}\""
    path.write_text(f"metadata,problem,answer\n{metadata},q,a\n")
    assert len(load_simpleqa(path, n_questions=1)) == 1
    with pytest.raises(CalibrationSetError, match=r"t\.csv: 1 records; expected 4326"):
        load_simpleqa(path)


# --- ids ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("second", ["30,q,a,r", "30,q,a,other", "30,other,a,r"])
def test_duplicate_ids_are_an_error_also_where_the_rows_are_equal(tmp_path: Path, second: str) -> None:
    found = complaint(tmp_path, "t.csv", f"{COLUMNS}30,q,a,r\n31,q,a,r\n{second}\n32,q,a,r\n")
    assert found.startswith("t.csv:4: ")
    assert "'30'" in found
    assert "t.csv:2" in found


def test_all_duplicate_ids_of_a_set_are_listed(tmp_path: Path) -> None:
    items = "".join(ITEM.replace('"1"', f'"{number}"') for number in (30, 31, 30, 31, 32))
    with pytest.raises(CalibrationSetError) as caught:
        load_set(write_folder(tmp_path, items=items))
    assert "duplicate id '30', on lines 1, 3" in str(caught.value)
    assert "duplicate id '31', on lines 2, 4" in str(caught.value)


def test_ids_are_joined_as_text(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, items=ITEM.replace('"1"', '"0012"'), labels=LABEL.replace('"1"', '"12"'))
    with pytest.raises(CalibrationSetError, match=r"human_labels\.jsonl:1: item '12' is not in items\.jsonl"):
        load_set(folder)


@pytest.mark.parametrize("label", ['"Correct"', '"A"', '"CORRECT "', '""', '"NA"', "null", "1", "true", '["CORRECT"]'])
def test_strangers_to_the_scale_name_their_line(tmp_path: Path, label: str) -> None:
    folder = write_folder(tmp_path, labels=LABEL.replace('"CORRECT"', label))
    with pytest.raises(CalibrationSetError, match=r"human_labels\.jsonl:1: label"):
        load_set(folder)


# --- references -----------------------------------------------------------------------------------------


def test_a_corrected_reference_is_another_item_and_is_told(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, items=ITEM.replace('"r"', '"12 May 1994"'))
    stamp_labels(folder)
    before = load_set(folder)
    corrected = replace(before.items[0], reference=parse_reference("19 May 1994"))
    after = HEADER.with_content((corrected,), ())
    assert before.items[0].digest != corrected.digest
    assert before.digest != after.digest
    messages = [finding.message for finding in compare_sets(before, after) if finding.code == "reference-changed"]
    assert messages == ["reference was '12 May 1994', is '19 May 1994'"]
    (folder / "items.jsonl").write_text(ITEM.replace('"r"', '"19 May 1994"'))
    with pytest.raises(CalibrationSetError, match=r"human_labels\.jsonl:1: item '1' was reworded"):
        load_set(folder)


@pytest.mark.parametrize(
    ("reference", "responses"),
    [
        ("barge (or lighter)", ["barge", "a lighter", "Lighter."]), ("Blue / Teal", ["teal", "blue", "It was teal."]),
        ("A, B, D♯, F (or E♯), G", ["A, B, D♯, E♯, G", "A, B, D♯, F, G"]),
        ("Carry me home (when the day is done)", ["Carry me home", "carry me home (when the day is done)"]),
        ('Whooping cough (then called "chincough")', ["chincough", "whooping cough"]), ("Kiev/Kyiv", ["Kyiv", "Kiev"]),
        ("Mumbai (formerly Bombay)", ["Bombay", "Mumbai"]), ("World Bank Group (WBG)", ["WBG", "World Bank Group"]),
        ("Order of the British Empire (OBE)", ["OBE"]), ("Week 2.", ["Week 2"]), ("Smith (also Smyth)", ["Smyth"]),
    ],
)  # fmt: skip
def test_any_listed_alternative_is_the_answer(reference: str, responses: Sequence[str]) -> None:
    for response in responses:
        assert grade_lexically(item("Which?", reference, response), SIMPLEQA) == "CORRECT", response


@pytest.mark.parametrize(
    ("reference", "response"),
    [("barge (or lighter)", "tugboat"), ("Blue / Teal", "green"), ("IIT (BHU)", "BHU"), ("AC/DC", "AC"),
     ("A, B, D♯, F (or E♯), G", "A, B, D♯, G"), ("World Bank Group (USA)", "USA"), ("1/2", "2")],
)  # fmt: skip
def test_no_alternative_is_made_up(reference: str, response: str) -> None:
    assert grade_lexically(item("Which?", reference, response), SIMPLEQA) == "INCORRECT"


@pytest.mark.parametrize("name", ["Bréndís Hallórsdóttir", "กรุงเทพ", "Ångström", "Đỗ Mười", "Škoda"])
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC"])
def test_composed_and_decomposed_letters_are_the_same_name(name: str, form: str) -> None:
    response = unicodedata.normalize(form, name)  # type: ignore[arg-type]
    assert grade_lexically(item("Who?", unicodedata.normalize("NFC", name), response), SIMPLEQA) == "CORRECT"
    assert grade_lexically(item("Who?", unicodedata.normalize("NFD", name), response), SIMPLEQA) == "CORRECT"


def test_missing_diacritics_are_a_spelling_and_another_name_is_not() -> None:
    assert grade_lexically(item("Who?", "Bréndís Hallórsdóttir", "Brendis Hallorsdottir"), SIMPLEQA) == "CORRECT"
    assert grade_lexically(item("Who?", "Bréndís Hallórsdóttir", "Brandur Hallorsson"), SIMPLEQA) == "INCORRECT"


@pytest.mark.parametrize(
    ("date", "ambiguous"),
    [("03/04/1996", True), ("3.4.1996", True), ("03-04-1996", True), ("13/04/1996", False), ("04/04/1996", False),
     ("1996-04-03", False), ("3 April 1996", False)],
)  # fmt: skip
def test_a_date_whose_day_and_month_could_be_swapped_is_reported(date: str, ambiguous: bool) -> None:
    assert any("ambiguous numeric date" in text for text in lint_reference(parse_reference(date))) == ambiguous


# --- responses --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "is_message"),
    [
        ("You have reached your session limit", True), ("You've hit your usage limit.", True),
     ("[object Object]", True),
        ("Rate limit exceeded, try again later", True), ("Error 429: too many requests", True), ("undefined", True),
        ("503 Service Unavailable", True), ("HTTP/1.1 404 Not Found", True), ("<error: resource not found>", True),
        ("Incorrect API key provided: sk-***", True), ("You have reached Paris", False), ("429 BC", False),
     ("404", False),
        ("An internal server error made it fail in 2003", False), ("Undefined behaviour", False), ("None", False),
        ("The error of 1925", False), ("", False),
    ],
)  # fmt: skip
def test_the_message_of_a_service_in_place_of_an_answer_is_reported(response: str, is_message: bool) -> None:
    made = HEADER.with_content((item("q", "r", response),), ())
    assert any(finding.code == "provider-message" for finding in validate_set(made)) == is_message
