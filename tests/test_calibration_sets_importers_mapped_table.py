from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.errors import SetFileError
from calibration_sets.importers.mapped_table import import_table
from calibration_sets.loader import load_set
from calibration_sets.question import Question
from calibration_sets.records import SetHeader
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import BINARY
from calibration_sets.writer import write_set

HEADER = SetHeader("mine", "1.0.0", "own@1.0.0", BINARY, "human", "CC0-1.0", "here", "Mine.")
MAPPING = {"id": "n", "question": "q", "reference": "gold", "response": "answer", "label": "grade", "rater": "who"}
WORDS = {"Yes": "CORRECT", "No": "INCORRECT"}
ROW = {"n": "0012", "q": "ISO code?", "gold": "NA", "answer": "na", "grade": "Yes", "who": "anna"}


def csv_file(folder: Path, rows: list[Mapping[str, Any]], *, name: str = "t.csv") -> Path:
    with (folder / name).open("w", encoding="utf-8", newline="") as target:
        writer = csv.DictWriter(target, list(rows[0]), delimiter="\t" if name.endswith("tsv") else ",")
        writer.writeheader()
        writer.writerows(rows)
    return folder / name


def table(folder: Path, rows: list[Mapping[str, Any]], ending: str) -> Path:
    if ending in ("csv", "tsv"):
        return csv_file(folder, rows, name=f"t.{ending}")
    if ending == "jsonl":
        (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), folder / "t.parquet")
    return folder / f"t.{ending}"


def message(path: Path, mapping: Mapping[str, str] = MAPPING, **options: Any) -> str:
    with pytest.raises(SetFileError) as caught:
        import_table(path, mapping, HEADER, **({"labels": WORDS} | options))
    return str(caught.value)


def given(made: CalibrationSet) -> list[tuple[str, str, str]]:
    return [(label.item_id, label.rater, label.label) for label in made.human_labels]


ENDINGS = ["csv", "tsv", "jsonl", "parquet"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_all_kinds_of_tables_give_the_same_set(tmp_path: Path, ending: str) -> None:
    rows = [ROW, ROW | {"who": "ben", "grade": "No"}, ROW | {"n": "12", "gold": "31.20", "answer": "a\nb", "grade": ""}]
    made = import_table(table(tmp_path, rows, ending), MAPPING, HEADER, labels=WORDS)
    assert [(item.item_id, item.reference.text, item.response) for item in made.items] == [
        ("0012", "NA", "na"),
        ("12", "31.20", "a\nb"),
    ]
    assert given(made) == [("0012", "anna", "CORRECT"), ("0012", "ben", "INCORRECT")]
    assert made.consensus().unlabelled == ("12",)
    write_set(made, tmp_path / "set")
    assert load_set(tmp_path / "set") == made


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("answer", ["None", "null", "nan", "0", "0012", "112.0", "204,816", "x" * 200_000])
def test_answers_stay_text(tmp_path: Path, ending: str, answer: str) -> None:
    made = import_table(
        table(tmp_path, [ROW | {"gold": answer, "answer": answer}], ending), MAPPING, HEADER, labels=WORDS
    )
    assert (made.items[0].reference.text, made.items[0].response) == (answer, answer)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_whole_numbers_as_ids_are_taken_exactly(tmp_path: Path, ending: str) -> None:
    made = import_table(table(tmp_path, [ROW | {"n": 2**60 + 1}], ending), MAPPING, HEADER, labels=WORDS)
    assert made.items[0].item_id == str(2**60 + 1)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_fractions_are_never_taken_for_text(tmp_path: Path, ending: str) -> None:
    found = message(table(tmp_path, [ROW | {"gold": 31.2}], ending))
    assert "column 'gold' holds the fraction 31.2, not the text that it was; expected text" in found


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_truth_values_can_be_labels(tmp_path: Path, ending: str) -> None:
    path = table(tmp_path, [ROW | {"grade": True}], ending)
    assert given(import_table(path, MAPPING, HEADER, labels={"true": "CORRECT", "false": "INCORRECT"})) == [
        ("0012", "anna", "CORRECT")
    ]


def test_columns_that_are_not_mapped_do_not_matter(tmp_path: Path) -> None:
    assert (
        len(import_table(table(tmp_path, [ROW | {"score": 0.5}], "parquet"), MAPPING, HEADER, labels=WORDS).items) == 1
    )


def test_a_wrong_column_is_named_with_those_that_are_there(tmp_path: Path) -> None:
    found = message(csv_file(tmp_path, [ROW]), MAPPING | {"reference": "target"})
    assert found == "t.csv: no column 'target' for reference; found 'n', 'q', 'gold', 'answer', 'grade', 'who'"


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        (MAPPING | {"referense": "gold"}, "t.csv: unknown field 'referense'; expected id, question, reference"),
        ({"question": "q"}, "t.csv: no column mapped to reference, response; expected one for each"),
        ({key: value for key, value in MAPPING.items() if key != "id"}, "t.csv: rater is mapped without id and label"),
    ],
)
def test_mappings_that_make_no_set(tmp_path: Path, mapping: dict[str, str], expected: str) -> None:
    assert message(csv_file(tmp_path, [ROW]), mapping).startswith(expected)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"grade": "Maybe"},
            "t.csv:2: label 'Maybe' is not on the scale; expected one of [INCORRECT, CORRECT, Yes, No]",
        ),
        ({"grade": "nan"}, "t.csv:2: label 'nan' is not on the scale"),
        ({"grade": "yes"}, "t.csv:2: label 'yes' is not on the scale"),
        ({"q": " "}, "t.csv:2: question: text ' '; expected text that is not blank"),
        ({"gold": ""}, "t.csv:2: reference: text ''; expected text that is not blank"),
        ({"n": ""}, "t.csv:2: id: text ''; expected text, not empty"),
        ({"who": ""}, "t.csv:2: rater ''; expected a name"),
    ],
)
def test_bad_rows_name_their_line(tmp_path: Path, change: dict[str, str], expected: str) -> None:
    assert message(csv_file(tmp_path, [ROW | change])).startswith(expected)


def test_a_missing_response_is_an_error_an_empty_one_is_a_response(tmp_path: Path) -> None:
    assert (
        import_table(csv_file(tmp_path, [ROW | {"answer": ""}]), MAPPING, HEADER, labels=WORDS).items[0].response == ""
    )
    found = message(table(tmp_path, [ROW | {"answer": None}], "jsonl"))
    assert found == "t.jsonl:1: response: null; expected text"


def test_all_bad_rows_are_listed(tmp_path: Path) -> None:
    rows = [ROW | {"n": str(n), "grade": "?"} for n in range(3)]
    assert [line.split(": ")[0] for line in message(csv_file(tmp_path, rows)).splitlines()] == [
        "t.csv:2",
        "t.csv:3",
        "t.csv:4",
    ]


def test_one_id_for_two_contents(tmp_path: Path) -> None:
    found = message(csv_file(tmp_path, [ROW, ROW | {"who": "ben", "answer": "other"}]))
    assert found == "t.csv:3: item '0012' differs from the one at t.csv:2; expected the same"


def test_two_labels_by_one_rater(tmp_path: Path) -> None:
    found = message(csv_file(tmp_path, [ROW, ROW | {"grade": "No"}]))
    assert found.startswith("t.csv:3: second label of item '0012' by rater 'anna', first at t.csv:2")


def test_duplicate_ids_without_raters(tmp_path: Path) -> None:
    mapping = {key: value for key, value in MAPPING.items() if key != "rater"}
    assert "duplicate id '0012', first at t.csv:2" in message(csv_file(tmp_path, [ROW, ROW]), mapping)


def test_a_column_for_each_rater(tmp_path: Path) -> None:
    mapping = {"question": "q", "reference": "gold", "response": "answer", "label:anna": "a1", "label:ben": "a2"}
    rows = [ROW | {"a1": "Yes", "a2": "No"}, ROW | {"a1": "", "a2": "Yes"}]
    made = import_table(csv_file(tmp_path, rows), mapping, HEADER, labels=WORDS)
    assert given(made) == [("row-1", "anna", "CORRECT"), ("row-1", "ben", "INCORRECT"), ("row-2", "ben", "CORRECT")]


def test_a_table_without_labels(tmp_path: Path) -> None:
    mapping = {"question": "q", "reference": "gold", "response": "answer"}
    assert import_table(csv_file(tmp_path, [ROW]), mapping, HEADER).human_labels == ()


def test_further_fields_and_aliases(tmp_path: Path) -> None:
    row = ROW | {"al": "Nam| Namibia |", "c": "geo", "k": "near", "t": "Maps", "ty": "Other", "r": "gpt"}
    more = {"aliases": "al", "cluster": "c", "kind": "k", "topic": "t", "answer_type": "ty", "respondent": "r"}
    (item,) = import_table(csv_file(tmp_path, [row]), MAPPING | more, HEADER, labels=WORDS, alias_separator="|").items
    assert item.reference.extra_aliases == ("Nam", "Namibia")
    assert (item.cluster_id, item.kind, item.topic, item.answer_type, item.respondent) == (
        "geo",
        "near",
        "Maps",
        "Other",
        "gpt",
    )
    (item,) = import_table(csv_file(tmp_path, [row]), MAPPING | {"aliases": "al"}, HEADER, labels=WORDS).items
    assert item.reference.extra_aliases == ("Nam| Namibia |",)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_lists_of_aliases(tmp_path: Path, ending: str) -> None:
    path = table(tmp_path, [ROW | {"al": ["A/B", "C"]}], ending)
    (item,) = import_table(path, MAPPING | {"aliases": "al"}, HEADER, labels=WORDS).items
    assert item.reference.extra_aliases == ("A/B", "C")


QUESTIONS = [
    Question("simpleqa-0000", "Which river?", parse_reference("Elbe ", ["Labe"]), "Geo", "Place"),
    Question("simpleqa-0001", "Which year?", parse_reference("1925"), "History", "Date"),
]


def test_responses_find_their_question_by_text(tmp_path: Path) -> None:
    path = csv_file(tmp_path, [{"q": "Which year? ", "answer": "1926"}])
    (item,) = import_table(path, {"question": "q", "response": "answer"}, HEADER, questions=QUESTIONS).items
    assert (item.question, item.reference.text, item.cluster_id, item.topic) == (
        "Which year?",
        "1925",
        "simpleqa-0001",
        "History",
    )


def test_responses_find_their_question_by_id(tmp_path: Path) -> None:
    path = csv_file(tmp_path, [{"i": "simpleqa-0000", "answer": "Labe"}])
    (item,) = import_table(path, {"question_id": "i", "response": "answer"}, HEADER, questions=QUESTIONS).items
    assert (item.reference.text, item.reference.extra_aliases) == ("Elbe ", ("Labe",))


def test_an_answer_to_a_reworded_question_is_not_joined(tmp_path: Path) -> None:
    path = csv_file(tmp_path, [{"i": "simpleqa-0000", "q": "Which long river?", "answer": "Labe"}])
    mapping = {"question_id": "i", "question": "q", "response": "answer"}
    found = message(path, mapping, questions=QUESTIONS)
    assert found.startswith("t.csv:2: question 'Which long river?' is worded otherwise than simpleqa-0000")


def test_questions_that_the_benchmark_does_not_have(tmp_path: Path) -> None:
    path = csv_file(tmp_path, [{"q": "Which lake?", "answer": "x"}])
    assert message(path, {"question": "q", "response": "answer"}, questions=QUESTIONS) == (
        "t.csv:2: no question 'Which lake?' in the benchmark"
    )
    assert "no column mapped to question_id or question" in message(path, {"response": "answer"}, questions=QUESTIONS)
