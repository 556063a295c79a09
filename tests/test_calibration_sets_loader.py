from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calibration_sets.errors import SetFileError, SetNotFoundError
from calibration_sets.item import Item
from calibration_sets.loader import list_shipped_sets, load_set
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import BINARY, SCALES, SIMPLEQA

SET: dict[str, str] = {
    "name": '"tiny"',
    "version": '"1.0.0"',
    "rubric": '"simpleqa@1.0.0"',
    "scale": '"simpleqa"',
    "label_source": '"human"',
    "licence": '"CC0-1.0"',
    "source": '"written for this test"',
    "description": '"Two rivers."',
}
ITEMS: list[dict[str, Any]] = [
    {"id": "0012", "question": "Which river?", "reference": "Elbe", "response": "The Elbe."},
    {
        "id": "b",
        "question": "How long?",
        "reference": "31.20",
        "response": "",
        "aliases": ["31"],
        "cluster": "c",
        "kind": "near",
    },
]


def digest(row: dict[str, Any]) -> str:
    reference = parse_reference(row["reference"], row.get("aliases", ()))
    return Item(row["id"], row["question"], reference, row["response"], "c").digest


def label(row: dict[str, Any], rater: str = "anna", given: str = "CORRECT") -> dict[str, Any]:
    return {"item": row["id"], "digest": digest(row), "rater": rater, "label": given}


def lines(rows: list[Any]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def folder(tmp_path: Path, *, header: dict[str, str] | None = None, items: Any = None, labels: Any = None) -> Path:
    """A set on disk; ``items`` and ``labels`` are rows, or the text or bytes of the whole file."""
    entries = SET | (header or {})
    toml = "".join(f"{key} = {value}\n" for key, value in entries.items() if value)
    files = {
        "set.toml": toml,
        "items.jsonl": ITEMS if items is None else items,
        "human_labels.jsonl": [label(ITEMS[0])] if labels is None else labels,
    }
    tmp_path.mkdir(exist_ok=True)
    for name, content in files.items():
        text = lines(content) if isinstance(content, list) else content
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path


def message(path: Path | str) -> str:
    with pytest.raises(SetFileError) as caught:
        load_set(path)
    return str(caught.value)


def with_response(response: str) -> dict[str, Any]:
    return ITEMS[0] | {"response": response}


def test_a_set_loads(tmp_path: Path) -> None:
    loaded = load_set(folder(tmp_path))
    assert (loaded.name, loaded.version, loaded.rubric, loaded.scale) == ("tiny", "1.0.0", "simpleqa@1.0.0", SIMPLEQA)
    first, second = loaded.items
    assert (first.item_id, first.reference.text, first.response, first.kind) == ("0012", "Elbe", "The Elbe.", None)
    assert (second.reference.text, second.reference.extra_aliases, second.response) == ("31.20", ("31",), "")
    assert (second.cluster_id, second.kind) == ("c", "near")
    assert [(given.item_id, given.rater, given.label, given.rubric) for given in loaded.human_labels] == [
        ("0012", "anna", "CORRECT", "simpleqa@1.0.0")
    ]


def test_a_path_may_be_text(tmp_path: Path) -> None:
    assert load_set(str(folder(tmp_path))).digest == load_set(tmp_path).digest


def test_items_of_one_question_share_a_cluster_of_their_own(tmp_path: Path) -> None:
    rows = [
        ITEMS[0],
        ITEMS[0] | {"id": "x", "question": " Which river? "},
        ITEMS[0] | {"id": "y", "question": "Which lake?"},
    ]
    first, same, other = load_set(folder(tmp_path, items=rows)).items
    assert first.cluster_id == same.cluster_id != other.cluster_id


# What stays text


@pytest.mark.parametrize(
    "answer", ["NA", "None", "null", "0", "nan", "none", "31.20", "6,061", "0012", "-1", "1e5", "true", "NaN"]
)
def test_answers_that_look_like_something_else_stay_text(tmp_path: Path, answer: str) -> None:
    row = {"id": answer, "question": answer, "reference": answer, "response": answer}
    (item,) = load_set(folder(tmp_path, items=[row], labels=[label(row)])).items
    assert (item.item_id, item.question, item.reference.text, item.response) == (answer,) * 4


def test_ids_that_are_equal_as_numbers_differ(tmp_path: Path) -> None:
    rows = [ITEMS[0] | {"id": i} for i in ("12", "0012", "12.0", "1.2e1")]
    assert [item.item_id for item in load_set(folder(tmp_path, items=rows, labels=[label(rows[0])])).items] == [
        row["id"] for row in rows
    ]


def test_version_numbers_that_are_equal_as_numbers_differ_in_digest(tmp_path: Path) -> None:
    rows = [ITEMS[0] | {"id": i, "reference": i} for i in ("31.2", "31.20")]
    one, two = load_set(folder(tmp_path, items=rows, labels=[label(rows[0])])).items
    assert one.digest != two.digest


def test_outer_white_space_and_line_breaks_of_a_reference_are_kept(tmp_path: Path) -> None:
    row = ITEMS[0] | {"reference": "\tLund \nTaipei\n"}
    (item,) = load_set(folder(tmp_path, items=[row], labels=[label(row)])).items
    assert item.reference.text == "\tLund \nTaipei\n"
    assert item.reference.answer == "Lund \nTaipei"


def test_composed_and_decomposed_letters_are_kept_as_published(tmp_path: Path) -> None:
    rows = [
        ITEMS[0] | {"id": "nfc", "reference": "Bréndís"},
        ITEMS[0] | {"id": "nfd", "reference": "Bre\u0301ndi\u0301s"},
    ]
    one, two = load_set(folder(tmp_path, items=rows, labels=[label(rows[0])])).items
    assert one.reference.text != two.reference.text


@pytest.mark.parametrize("separator", ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x1e", "\x85", "\u2028", "\u2029"])
def test_line_breaks_in_a_response_split_nothing(tmp_path: Path, separator: str) -> None:
    row = with_response(f"one{separator}two")
    assert load_set(folder(tmp_path, items=[row], labels=[label(row)])).items[0].response == f"one{separator}two"


def test_very_long_responses_load(tmp_path: Path) -> None:
    row = with_response("long " * 60_000)
    assert len(load_set(folder(tmp_path, items=[row], labels=[label(row)])).items[0].response) == 300_000


def test_byte_order_marks_in_all_three_files(tmp_path: Path) -> None:
    plain = load_set(folder(tmp_path / "plain")).digest
    marked = folder(tmp_path / "marked")
    for path in marked.iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_set(marked).digest == plain


@pytest.mark.parametrize("end", ["\r\n", "\n\n"])
def test_other_line_ends_and_no_last_one(tmp_path: Path, end: str) -> None:
    text = end.join(json.dumps(row) for row in ITEMS)
    assert len(load_set(folder(tmp_path, items=text)).items) == 2


def test_items_of_one_content_are_allowed(tmp_path: Path) -> None:
    loaded = load_set(folder(tmp_path, items=[ITEMS[0], ITEMS[0] | {"id": "again"}]))
    assert len({item.digest for item in loaded.items}) == 1


# What is an error: items


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"id": 12}, "id: number 12; expected text"),
        ({"reference": 31.2}, "reference: number 31.2; expected text"),
        ({"response": None}, "response: null; expected text"),
        ({"response": ["a"]}, "response: list ['a']; expected text"),
        ({"question": ""}, "question: text ''; expected text that is not blank"),
        ({"question": " \n"}, r"question: text ' \n'; expected text that is not blank"),
        ({"reference": ""}, "reference: text ''; expected text that is not blank"),
        ({"reference": "\u00a0"}, r"reference: text '\xa0'; expected text that is not blank"),
        ({"id": ""}, "id: text ''; expected text, not empty, without outer white space"),
        ({"id": " a"}, "id: text ' a'; expected text, not empty, without outer white space"),
        ({"aliases": "x"}, "aliases: text 'x'; expected a list"),
        ({"aliases": [3]}, "aliases[0]: number 3; expected text"),
        ({"aliases": [""]}, "aliases[0]: text ''; expected text that is not blank"),
        ({"cluster": 3}, "cluster: number 3; expected text"),
        ({"metadata": "{'topic': 'Art'}"}, "metadata: text \"{'topic': 'Art'}\"; expected an object"),
    ],
)
def test_values_of_items_that_are_not_what_they_should_be(
    tmp_path: Path, change: dict[str, Any], expected: str
) -> None:
    assert message(folder(tmp_path, items=[ITEMS[1], ITEMS[0] | change])) == f"items.jsonl:2: {expected}"


def test_other_field_names_are_listed(tmp_path: Path) -> None:
    found = message(folder(tmp_path, items=[{"id": "a", "problem": "Q", "answer": "A", "response": "R"}])).splitlines()
    assert found[0] == "items.jsonl:1: key 'question' is missing; found id, problem, answer, response (and 3 more)"
    assert "items.jsonl:1: unknown key 'problem'; expected id, question, reference, response" in found[2]


def test_all_duplicate_ids_are_listed_with_their_lines(tmp_path: Path) -> None:
    rows = [ITEMS[0] | {"id": i} for i in ("30", "31", "30", "31", "32", "30")]
    assert message(folder(tmp_path, items=rows)).splitlines() == [
        "items.jsonl:3: duplicate id '30', on lines 1, 3, 6; expected one line each (and 1 more)",
        "items.jsonl:4: duplicate id '31', on lines 2, 4; expected one line each",
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "items.jsonl: empty; expected at least one item"),
        ("\n\n", "items.jsonl: empty; expected at least one item"),
        ('{"id": "a"', "items.jsonl:1: not JSON"),
        ("{'id': 'a'}\n", "items.jsonl:1: a Python literal, not JSON"),
        ('{"id": "a", "id": "b"}', "items.jsonl:1: key 'id' comes twice"),
        (r'{"id": "\ud800"}', "items.jsonl:1: half a surrogate pair"),
        (r'{"id": "a", "response": "x\u0000y"}', "items.jsonl:1: a null character"),
        ('{"id": NaN}', "items.jsonl:1: the number NaN"),
        ('{"metadata": {"score": Infinity}}', "items.jsonl:1: the number Infinity"),
        ("[]", "items.jsonl:1: JSON list"),
        ('{"id": "Málaga"}'.encode("cp1252"), "items.jsonl:1: byte 0xe1 is not UTF-8"),
        ('{"id": "a"}'.encode("utf-16"), "items.jsonl: text in UTF-16; expected UTF-8"),
    ],
)
def test_broken_item_files_name_file_and_line(tmp_path: Path, content: str | bytes, expected: str) -> None:
    assert message(folder(tmp_path, items=content)).startswith(expected)


@pytest.mark.parametrize("name", ["set.toml", "items.jsonl", "human_labels.jsonl"])
def test_missing_files_are_named(tmp_path: Path, name: str) -> None:
    (folder(tmp_path) / name).unlink()
    assert message(tmp_path).startswith(f"{name}: no such file in {tmp_path}")


# What is an error: labels


def test_strangers_to_the_scale(tmp_path: Path) -> None:
    rows = [label(ITEMS[0], f"rater{n}") for n in range(6)] + [label(ITEMS[0], given="Pas")]
    assert message(folder(tmp_path, labels=rows)) == (
        "human_labels.jsonl:7: label 'Pas' is not on the scale [CORRECT, INCORRECT, NOT_ATTEMPTED]"
    )


@pytest.mark.parametrize("given", ["correct", " CORRECT", "CORRECT ", "A", "yes", "", "NA", "1"])
def test_labels_are_taken_exactly(tmp_path: Path, given: str) -> None:
    assert f"label {given!r} is not on the scale" in message(folder(tmp_path, labels=[label(ITEMS[0], given=given)]))


def test_a_reworded_item_does_not_keep_its_label(tmp_path: Path) -> None:
    for key, text in {"question": "Which great river?", "reference": "Labe", "response": "Elbe"}.items():
        found = message(folder(tmp_path, items=[ITEMS[0] | {key: text}]))
        assert found.startswith("human_labels.jsonl:1: item '0012' was reworded since")
        assert "have it labelled again" in found


def test_a_new_cluster_or_kind_is_no_rewording(tmp_path: Path) -> None:
    assert load_set(
        folder(tmp_path, items=[ITEMS[0] | {"cluster": "new", "kind": "other", "respondent": "x"}])
    ).human_labels


def test_a_missing_digest_names_the_command_that_fills_it_in(tmp_path: Path) -> None:
    row = {key: value for key, value in label(ITEMS[0]).items() if key != "digest"}
    assert message(folder(tmp_path, labels=[row])) == (
        f"human_labels.jsonl:1: digest is missing; run 'autorater sets stamp {tmp_path}' to fill it in"
    )


@pytest.mark.parametrize("text", ["", "abc", "G" * 64, "a" * 63, "A" * 64])
def test_digests_of_another_form(tmp_path: Path, text: str) -> None:
    assert "expected 64 hexadecimal digits" in message(folder(tmp_path, labels=[label(ITEMS[0]) | {"digest": text}]))


def test_labels_of_items_that_are_not_there(tmp_path: Path) -> None:
    found = message(folder(tmp_path, labels=[label(ITEMS[0]), label(ITEMS[0]) | {"item": "12"}]))
    assert found == "human_labels.jsonl:2: item '12' is not in items.jsonl"


def test_two_labels_by_one_rater(tmp_path: Path) -> None:
    rows = [label(ITEMS[0]), label(ITEMS[0], "ben"), label(ITEMS[0], given="INCORRECT")]
    assert message(folder(tmp_path, labels=rows)) == (
        "human_labels.jsonl:3: duplicate item, rater and rubric '0012', 'anna', 'simpleqa@1.0.0', on lines 1, 3; "
        "expected one line each"
    )


def test_two_labels_by_one_rater_under_two_rubrics(tmp_path: Path) -> None:
    other = label(ITEMS[0], given="NOT_ATTEMPTED") | {"rubric": "simpleqa_verified@1.0.0"}
    loaded = load_set(folder(tmp_path, labels=[label(ITEMS[0], given="INCORRECT"), other]))
    assert loaded.rubrics == ("simpleqa@1.0.0", "simpleqa_verified@1.0.0")
    assert loaded.consensus().labels == {"0012": "INCORRECT"}
    assert loaded.consensus("simpleqa_verified@1.0.0").labels == {"0012": "NOT_ATTEMPTED"}


def test_naming_the_sets_own_rubric_makes_no_second_label_possible(tmp_path: Path) -> None:
    rows = [label(ITEMS[0]), label(ITEMS[0]) | {"rubric": "simpleqa@1.0.0"}]
    assert "duplicate item, rater and rubric" in message(folder(tmp_path, labels=rows))


def test_all_bad_labels_are_listed(tmp_path: Path) -> None:
    rows = [label(ITEMS[0], given="x"), label(ITEMS[1], given="y"), label(ITEMS[1], "ben")]
    assert [line.split(":")[1] for line in message(folder(tmp_path, labels=rows)).splitlines()] == ["1", "2"]


@pytest.mark.parametrize("content", ["", "\n"])
def test_an_empty_file_of_labels(tmp_path: Path, content: str) -> None:
    assert message(folder(tmp_path, labels=content)).startswith("human_labels.jsonl: empty; expected labels")


def test_a_set_without_labels_says_so(tmp_path: Path) -> None:
    path = folder(tmp_path, header={"labelled": "false"})
    assert message(path).startswith("human_labels.jsonl: present, but set.toml says labelled = false")
    (path / "human_labels.jsonl").unlink()
    assert load_set(path).human_labels == ()


# set.toml


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("version", '"1.0"', "version: text '1.0'; expected a semantic version such as 1.0.0"),
        ("version", '"1.0.0\\n"', r"version: text '1.0.0\n'; expected a semantic version such as 1.0.0"),
        ("version", "1.0", "version: number 1.0; expected text"),
        ("rubric", '"simpleqa"', "rubric: text 'simpleqa'; expected name@version such as simpleqa@1.0.0"),
        ("label_source", '"people"', "label_source: text 'people'; expected 'human', 'published' or 'construction'"),
        ("licence", '""', "licence: text ''; expected text that is not blank"),
        ("licence", "", "key 'licence' is missing; found name, version"),
        ("license", '"MIT"', "unknown key 'license'; expected name, version"),
        ("scale", '"simple"', f"scale 'simple'; expected one of {', '.join(SCALES)}, or a table with labels"),
        ("scale", "3", "scale: number 3; expected the name of a scale, or a table with labels"),
        ("scale", "{}", "scale: key 'labels' is missing; found no keys"),
        ("scale", '{labels = ["a"]}', "scale 'custom': labels ['a']; expected two or more, all different"),
        ("scale", '{labels = ["a", "b"], positive = "c"}', "scale 'custom': ['c'] not on the scale"),
        ("scale", '{labels = ["a", "b"], levels = "x"}', "scale: unknown key 'levels'; expected labels, name"),
        ("name", '"two words"', "name: text 'two words'; expected letters, digits, '.', '_' or '-'"),
        ("name", '"../up"', "name: text '../up'; expected letters"),
    ],
)
def test_bad_headers_name_the_key(tmp_path: Path, key: str, value: str, expected: str) -> None:
    assert message(folder(tmp_path, header={key: value})).startswith(f"set.toml: {expected}")


def test_a_scale_of_the_sets_own(tmp_path: Path) -> None:
    table = '{labels = ["bad", "fair", "good"], level = "ordinal", words = {good = ["fine"]}, positive = "good"}'
    scale = load_set(folder(tmp_path, header={"scale": table}, labels=[label(ITEMS[0], given="fair")])).scale
    assert (scale.labels, scale.level, scale.words, scale.positive) == (
        ("bad", "fair", "good"), "ordinal", {"good": ("fine",)}, "good",
    )  # fmt: skip


def test_labels_of_an_ordinal_scale_are_named_in_its_order(tmp_path: Path) -> None:
    table = '{labels = ["poor", "fair", "good"], level = "ordinal"}'
    assert message(folder(tmp_path, header={"scale": table})).endswith("is not on the scale [poor, fair, good]")


def test_the_binary_scale(tmp_path: Path) -> None:
    assert load_set(folder(tmp_path, header={"scale": '"binary"'})).scale == BINARY


# Finding a set


def test_shipped_sets_load_by_name() -> None:
    for name in list_shipped_sets():
        assert load_set(name).name == name


def test_names_of_nothing_list_the_shipped_sets() -> None:
    with pytest.raises(SetNotFoundError) as caught:
        load_set("prob")
    assert str(caught.value).startswith("'prob': no such set; expected a shipped set (")
    assert all(name in str(caught.value) for name in list_shipped_sets())
    assert "path of a folder with a set.toml" in str(caught.value)


@pytest.mark.parametrize("name", ["", "x" * 5000, "a\0b", "~no-such-user/x", "probes\n"])
def test_names_that_can_be_no_path(name: str) -> None:
    with pytest.raises(SetNotFoundError) as caught:
        load_set(name)
    assert "expected a shipped set" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    path = folder(tmp_path) / "set.toml"
    with pytest.raises(SetNotFoundError, match="a file, not a folder"):
        load_set(path)


def test_an_empty_folder_lacks_its_set_file(tmp_path: Path) -> None:
    assert message(tmp_path).startswith("set.toml: no such file in")


# Provenance


def test_a_corrected_reference_changes_the_digest_of_item_and_set(tmp_path: Path) -> None:
    rows = [ITEMS[0] | {"reference": text} for text in ("12 May 1994", "19 May 1994")]
    before, after = (load_set(folder(tmp_path / row["reference"], items=[row], labels=[label(row)])) for row in rows)
    assert before.digest != after.digest
    assert before.items[0].digest != after.items[0].digest


def test_the_order_of_lines_does_not_change_the_digest(tmp_path: Path) -> None:
    labels = [label(ITEMS[0]), label(ITEMS[1])]
    one = folder(tmp_path / "one", items=ITEMS, labels=labels)
    other = folder(tmp_path / "other", items=ITEMS[::-1], labels=labels[::-1])
    assert load_set(one).digest == load_set(other).digest
