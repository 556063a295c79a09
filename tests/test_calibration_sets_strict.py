from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from calibration_sets.strict import parse_json, raise_problems, read_json_lines, read_text, read_toml, shorten
from calibration_sets.strict_models import parse_model, read_rows


class FileError(Exception):
    pass


def write(tmp_path: Path, content: str | bytes, name: str = "rows.jsonl") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def message(path: Path, read: Any = read_json_lines) -> str:
    with pytest.raises(FileError) as caught:
        read(path, FileError)
    return str(caught.value)


# Text


def test_a_byte_order_mark_is_removed(tmp_path: Path) -> None:
    assert read_text(write(tmp_path, b"\xef\xbb\xbfid"), FileError) == "id"


def test_a_byte_order_mark_alone_is_an_empty_file(tmp_path: Path) -> None:
    assert read_json_lines(write(tmp_path, b"\xef\xbb\xbf"), FileError) == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_wide_encodings_are_named_not_read_as_something_else(tmp_path: Path, encoding: str) -> None:
    path = write(tmp_path, json.dumps({"answer": "Brno"}).encode(encoding))
    assert message(path).startswith("rows.jsonl: text in UTF-")
    assert "expected UTF-8" in message(path)


def test_wide_encodings_with_a_mark_of_big_endian(tmp_path: Path) -> None:
    assert "UTF-16" in message(write(tmp_path, b"\xfe\xff" + "{}".encode("utf-16-be")))


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "cp1250", "iso8859-2"])
def test_one_byte_encodings_name_the_line(tmp_path: Path, encoding: str) -> None:
    text = '{"a": "plain"}\n{"a": "Málaga"}\n'
    found = message(write(tmp_path, text.encode(encoding)))
    assert found.startswith("rows.jsonl:2: byte 0xe1 is not UTF-8")


def test_surrogates_in_raw_bytes_name_the_line(tmp_path: Path) -> None:
    assert message(write(tmp_path, b'{}\n{}\n{"a": "\xed\xa0\x80"}')).startswith("rows.jsonl:3: byte 0xed")


def test_a_missing_file_names_its_folder(tmp_path: Path) -> None:
    assert message(tmp_path / "none.jsonl") == f"none.jsonl: no such file in {tmp_path}; expected a file of that name"


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").mkdir()
    assert message(tmp_path / "rows.jsonl").startswith("rows.jsonl: cannot be read (")


# JSON lines


@pytest.mark.parametrize(
    "separator", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
)
@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_line_breaks_inside_strings_split_no_record(tmp_path: Path, separator: str, ensure_ascii: bool) -> None:
    answers = [f"Lund{separator}Taipei", f"{separator}", f"Week 2{separator}"]
    text = "".join(json.dumps({"a": answer}, ensure_ascii=ensure_ascii) + "\n" for answer in answers)
    rows = read_json_lines(write(tmp_path, text), FileError)
    assert [(row.line, row.data["a"]) for row in rows] == [(1, answers[0]), (2, answers[1]), (3, answers[2])]


def test_blank_lines_are_passed_over_and_counted(tmp_path: Path) -> None:
    rows = read_json_lines(write(tmp_path, '\n{"a": 1}\r\n \t\r\n\n{"a": 2}'), FileError)
    assert [(row.line, row.data["a"]) for row in rows] == [(2, 1), (5, 2)]


@pytest.mark.parametrize("cut", range(1, 18))
def test_a_cut_last_line_is_an_error_with_its_number(tmp_path: Path, cut: int) -> None:
    whole = '{"id": "0012", "x": "y"}'
    found = message(write(tmp_path, f"{whole}\n{whole[:-cut]}"))
    assert found.startswith("rows.jsonl:2: not JSON")
    assert "is the file cut off?" in found


def test_a_bad_line_in_the_middle_is_not_called_cut(tmp_path: Path) -> None:
    assert "cut off" not in message(write(tmp_path, '{"a": \n{}\n'))


@pytest.mark.parametrize("line", ["{'a': 1}", "{'a': None}", "{'a': True, 'b': \"it's\"}", "[('a', 1)]"])
def test_python_literals_are_called_by_their_name(tmp_path: Path, line: str) -> None:
    assert message(write(tmp_path, line + "\n")).startswith("rows.jsonl:1: a Python literal, not JSON")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e400"])
def test_numbers_that_json_has_not(tmp_path: Path, number: str) -> None:
    found = message(write(tmp_path, f'{{"a": 1}}\n{{"a": {number}}}\n'))
    assert found.startswith("rows.jsonl:2: the number")
    assert number in found


def test_numbers_too_long_for_python_are_an_error_with_a_line(tmp_path: Path) -> None:
    assert message(write(tmp_path, '{"a": ' + "9" * 5000 + "}")).startswith("rows.jsonl:1: ")


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"b": {"a": 1, "a": 1}}', '{"a": 1, "\\u0061": 2}'])
def test_a_key_twice_is_an_error_never_last_one_wins(text: str) -> None:
    with pytest.raises(ValueError, match="key 'a' comes twice"):
        parse_json(text)


@pytest.mark.parametrize(
    "text",
    [r'{"a": "\ud800"}', r'{"a": "x\udfffy"}', r'{"\udc00": 1}', r'{"a": [{"b": "\ud83d"}]}', r'{"a": "\ude00\ud83d"}'],
)
def test_half_surrogate_pairs_are_an_error_with_a_line(tmp_path: Path, text: str) -> None:
    assert message(write(tmp_path, f"{{}}\n{text}\n")).startswith("rows.jsonl:2: half a surrogate pair in ")


def test_whole_surrogate_pairs_are_one_character() -> None:
    assert parse_json(r'"\ud83d\ude00"') == "😀"


@pytest.mark.parametrize("text", [r'{"a": "x\u0000y"}', r'{"\u0000": 1}', r'[["\u0000"]]'])
def test_null_characters_are_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="null character"):
        parse_json(text)


def test_raw_null_bytes_are_an_error_with_a_line(tmp_path: Path) -> None:
    assert message(write(tmp_path, '{"a": "long enough not to look like UTF-16"}\n{"a": "x\0y"}')).startswith(
        "rows.jsonl:2"
    )


def test_deep_nesting_is_an_error_not_a_crash(tmp_path: Path) -> None:
    assert message(write(tmp_path, '{"a": ' + "[" * 100_000)).startswith("rows.jsonl:1: JSON nested too deeply")


@pytest.mark.parametrize(
    ("text", "kind"), [("[]", "list"), ("null", "null"), ("3", "number"), ('"x"', "text"), ("true", "truth value")]
)
def test_a_line_that_is_no_object(tmp_path: Path, text: str, kind: str) -> None:
    assert message(write(tmp_path, text)).startswith(f"rows.jsonl:1: JSON {kind}")


def test_all_bad_lines_are_reported_together(tmp_path: Path) -> None:
    found = message(write(tmp_path, "{}\n{\n{}\n[]\n")).splitlines()
    assert found[0].startswith("rows.jsonl:2: ")
    assert found[0].endswith("(and 1 more)")
    assert found[1].startswith("rows.jsonl:4: ")


def test_very_long_values_load(tmp_path: Path) -> None:
    long = "x" * 300_000
    assert read_json_lines(write(tmp_path, json.dumps({"a": long})), FileError)[0].data["a"] == long


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.lists(st.dictionaries(texts, texts, max_size=3), max_size=5), st.booleans())
def test_what_json_dumps_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], ascii_: bool
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_bytes("".join(json.dumps(row, ensure_ascii=ascii_) + "\n" for row in rows).encode())
    assert [line.data for line in read_json_lines(path, FileError)] == rows


@given(st.binary(max_size=60))
def test_any_bytes_are_rows_or_an_error_that_names_the_file(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_bytes(data)
    found = ""
    try:
        rows = read_json_lines(path, FileError)
    except FileError as error:
        found = str(error)
    assert found.startswith("rows.jsonl:") if found else all(isinstance(row.data, dict) for row in rows)


# TOML


def test_toml_is_read_and_its_mark_removed(tmp_path: Path) -> None:
    assert read_toml(write(tmp_path, "\ufeffa = '0012'\n", "x.toml"), FileError) == {"a": "0012"}


@pytest.mark.parametrize(
    ("text", "line"), [("a = \n", 1), ("a = 1\nb = nope\n", 2), ("a = 1\na = 2\n", 2), ("[t]\nx = 1\n[t]\n", 3)]
)
def test_bad_toml_names_the_line(tmp_path: Path, text: str, line: int) -> None:
    assert message(write(tmp_path, text, "x.toml"), read_toml).startswith(f"x.toml:{line}: not TOML, ")


def test_toml_cut_off_names_the_file(tmp_path: Path) -> None:
    found = message(write(tmp_path, 'a = "open', "x.toml"), read_toml)
    assert found.startswith("x.toml")
    assert "\n" not in found


def test_null_characters_in_toml(tmp_path: Path) -> None:
    assert message(write(tmp_path, 'a = "x\\u0000"', "x.toml"), read_toml).startswith("x.toml: a null character")


# Models


class Inner(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    size: int


class Outer(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    id: str
    level: Literal["nominal", "ordinal"] = "nominal"
    inner: Inner | None = None
    names: list[str] = Field(default_factory=list)
    share: float = Field(default=0.5, le=1.0)
    flag: bool = False
    pair: list[str] = Field(default=["a", "b"], min_length=2, max_length=2)
    limits: dict[Literal["one", "two"], float] = Field(default_factory=dict)


def complaint(data: dict[str, Any]) -> str:
    with pytest.raises(FileError) as caught:
        parse_model(Outer, data, "x.toml", FileError)
    return str(caught.value)


def test_a_good_model_is_returned() -> None:
    assert parse_model(Outer, {"id": "0012", "inner": {"size": 3}}, "x", FileError).inner == Inner(size=3)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"ID": "a"}, "x.toml: key 'id' is missing; found ID (and 1 more)"),
        ({}, "x.toml: key 'id' is missing; found no keys"),
        ({"id": "a", "b": 1}, "x.toml: unknown key 'b'; expected id, level, inner, names, share, flag, pair, limits"),
        ({"id": 12}, "x.toml: id: number 12; expected text"),
        ({"id": None}, "x.toml: id: null; expected text"),
        ({"id": True}, "x.toml: id: truth value True; expected text"),
        ({"id": ["a"]}, "x.toml: id: list ['a']; expected text"),
        ({"id": "a", "level": "nominel"}, "x.toml: level: text 'nominel'; expected 'nominal' or 'ordinal'"),
        ({"id": "a", "inner": {}}, "x.toml: key 'inner.size' is missing"),
        ({"id": "a", "inner": {"size": 1, "sise": 2}}, "x.toml: unknown key 'inner.sise'; expected size"),
        ({"id": "a", "inner": {"size": 1.0}}, "x.toml: inner.size: number 1.0; expected a whole number"),
        ({"id": "a", "inner": 3}, "x.toml: inner: number 3; expected an object"),
        ({"id": "a", "names": "b"}, "x.toml: names: text 'b'; expected a list"),
        ({"id": "a", "names": ["b", 3]}, "x.toml: names[1]: number 3; expected text"),
        ({"id": "a", "share": "1"}, "x.toml: share: text '1'; expected a number"),
        ({"id": "a", "share": 2.0}, "x.toml: share: number 2.0; expected less than or equal to 1"),
        ({"id": "a", "flag": 1}, "x.toml: flag: number 1; expected true or false"),
        ({"id": "a", "pair": ["b"]}, "x.toml: pair: list ['b']; expected at least 2 items"),
        ({"id": "a", "pair": ["b"] * 3}, "x.toml: pair: list ['b', 'b', 'b']; expected at most 2 items"),
        ({"id": "a", "limits": {"nope": 1.0}}, "x.toml: limits.nope: text 'nope'; expected 'one' or 'two'"),
    ],
)
def test_complaints_are_one_line_in_our_form(data: dict[str, Any], expected: str) -> None:
    assert complaint(data).splitlines()[0] == expected


def test_rows_are_numbered_and_their_problems_gathered(tmp_path: Path) -> None:
    path = write(tmp_path, '{"size": 1}\n\n{"size": "2"}\n{"sise": 3}\n')
    with pytest.raises(FileError) as caught:
        read_rows(Inner, path, FileError)
    lines = str(caught.value).splitlines()
    assert lines[0] == "rows.jsonl:3: size: text '2'; expected a whole number (and 2 more)"
    assert lines[1:] == [
        "rows.jsonl:4: key 'size' is missing; found sise",
        "rows.jsonl:4: unknown key 'sise'; expected size",
    ]


def test_good_rows_come_with_their_lines(tmp_path: Path) -> None:
    assert read_rows(Inner, write(tmp_path, '\n{"size": 1}\n'), FileError) == [(2, Inner(size=1))]


def test_long_values_are_cut_in_messages() -> None:
    assert len(shorten("x" * 10_000)) == 60
    assert shorten("Pas") == "'Pas'"


def test_no_problem_no_error() -> None:
    raise_problems([], FileError)


def test_many_problems_are_listed_up_to_twenty() -> None:
    with pytest.raises(FileError) as caught:
        raise_problems([f"f:{i}: bad\nbreak" for i in range(100)], FileError)
    lines = str(caught.value).splitlines()
    assert lines[0] == "f:0: bad break (and 99 more)"
    assert len(lines) == 1 + 19 + 1
    assert lines[-1] == "... and 80 more"
