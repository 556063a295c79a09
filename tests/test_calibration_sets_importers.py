from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from calibration_sets.errors import SetFileError
from calibration_sets.importers.evouna import import_evouna, split_references
from calibration_sets.importers.imported import Imported
from calibration_sets.importers.nq301 import import_nq301
from calibration_sets.importers.simpleqa import load_simpleqa
from calibration_sets.importers.simpleqa_verified import load_simpleqa_verified

# NQ301


@pytest.fixture(scope="module")
def nq301(calibration_data: Path) -> Imported:
    return import_nq301(calibration_data / "nq301")


def test_nq301_has_every_answer_and_every_persons_label(nq301: Imported) -> None:
    made = nq301.calibration_set
    assert len(made.items) == 1490
    assert len({item.cluster_id for item in made.items}) == 301
    assert Counter(label.rater for label in made.human_labels) == {
        "annotator1": 1490,
        "annotator2": 1490 - 7,
        "annotator3": 223,
    }
    assert made.rubric == "nq301@1.0.0"
    assert made.scale.name == "binary"


def test_nq301_agrees_with_the_joined_form_item_by_item(nq301: Imported, calibration_data: Path) -> None:
    path = calibration_data / "nq301" / "nq301.jsonl"
    joined = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    consensus = nq301.calibration_set.consensus()
    assert consensus.tied == consensus.unlabelled == ()
    verdicts = {(verdict.item_digest, verdict.grader): verdict.label for verdict in nq301.verdicts}
    for item, row in zip(nq301.calibration_set.items, joined, strict=True):
        assert item.item_id == row["id"]
        assert (item.question, item.response, item.cluster_id) == (row["question"], row["response"], row["question_id"])
        assert [item.reference.text, *item.reference.extra_aliases] == list(dict.fromkeys(row["target"]))
        assert consensus.labels[item.item_id] == row["label"]
        found = {grader: verdicts.get((item.digest, grader)) for grader in ("gpt-4", "text-davinci-003", "bem")}
        assert {grader: label for grader, label in found.items() if label} == row["graders"]


def test_nq301_from_the_joined_form_is_the_same_set(nq301: Imported, calibration_data: Path) -> None:
    joined = import_nq301(calibration_data / "nq301" / "nq301.jsonl")
    assert joined.calibration_set.digest == nq301.calibration_set.digest
    one, other = ({(v.item_digest, v.grader, v.label) for v in made.verdicts} for made in (joined, nq301))
    assert one == other
    assert len(one) == 4467 - 3  # one answer comes twice
    first, second = joined.calibration_set.items[:2]
    assert first.respondent is None
    assert len(first.metadata["systems"]) == 8
    assert second.respondent == "NQ301_text-davinci-003_zeroshot"


def test_nq301_leaves_out_verdicts_on_other_answers_and_keeps_refusals_to_judge(nq301: Imported) -> None:
    assert nq301.left_out == {
        "gpt-4: verdict on another answer": 1,
        "bem: verdict on another answer": 2,
        "gpt-4: second verdict on the same answer": 1,
    }
    assert Counter(verdict.grader for verdict in nq301.verdicts) == {
        "gpt-4": 1488,
        "text-davinci-003": 1490,
        "bem": 1488,
    }
    undecided = [verdict for verdict in nq301.verdicts if verdict.label is None]
    assert [(verdict.item_id, verdict.grader) for verdict in undecided] == [
        ("nq301-0067", "gpt-4"),
        ("nq301-0497", "gpt-4"),
    ]
    assert all("cannot determine" in (verdict.text or "") for verdict in undecided)


def test_nq301_reads_both_revisions_of_the_file_that_lacks_a_tab(
    nq301: Imported, calibration_data: Path, tmp_path: Path
) -> None:
    for name in ("human", "BEM", "gpt-4"):
        (tmp_path / f"NQ301_{name}.tsv").symlink_to(calibration_data / "nq301" / f"NQ301_{name}.tsv")
    older = calibration_data / "nq301" / "NQ301_text-davinci-003.rev34c8cbd.tsv"
    (tmp_path / "NQ301_text-davinci-003.tsv").symlink_to(older)
    assert import_nq301(tmp_path).verdicts == nq301.verdicts


def test_nq301_verdicts_are_written_one_a_line(nq301: Imported, tmp_path: Path) -> None:
    nq301.write_verdicts(tmp_path / "verdicts.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text(encoding="utf-8").split("\n")[:-1]]
    assert len(rows) == 4466
    assert rows[0] == {
        "item": "nq301-0000",
        "digest": nq301.calibration_set.items[0].digest,
        "grader": "gpt-4",
        "repeat": 0,
        "label": "CORRECT",
        "text": nq301.verdicts[0].text,
    }


def tiny_nq301(folder: Path, *, davinci: str | None = None, human_label: str = "No", bem_question: str = "who") -> Path:
    files = {
        "human": "id\tQuestion\tModel answer\tAcceptable?\tannotator1\tannotator2\tannotator3\n"
        f'1\twho\tAnna "Ann" K\tYes\tYes\t{human_label}\tNo',
        "BEM": "id\tQuestion\tGold answers\tModel answer\tAcceptable?\tBEM\n"
        f'7\t{bem_question}\t"Anna | Ann"\tAnna "Ann" K\tYes\t[]',
        "gpt-4": 'id\tQuestion\tModel answer\tAcceptable?\tgpt-4\n1\twho\tAnna "Ann" K\tYes\tYes, right.',
        "text-davinci-003": davinci
        or 'id\tQuestion\tModel answer\tAcceptable?\ttext-davinci-003\n1\twhoAnna "Ann" K\tNo\tNo.\n',
    }
    for name, text in files.items():
        (folder / f"NQ301_{name}.tsv").write_text(text, encoding="utf-8")
    return folder


def test_a_graders_acceptable_column_is_the_graders_verdict(tmp_path: Path) -> None:
    made = import_nq301(tiny_nq301(tmp_path))
    assert made.calibration_set.consensus().labels == {"nq301-0000": "INCORRECT"}
    assert {verdict.grader: verdict.label for verdict in made.verdicts} == {
        "gpt-4": "CORRECT", "text-davinci-003": "INCORRECT", "bem": "CORRECT",
    }  # fmt: skip
    assert made.calibration_set.items[0].reference.extra_aliases == ("Ann",)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"human_label": "Maybe"}, "NQ301_human.tsv:2: column 'annotator2' holds 'Maybe'; expected Yes, No or nothing"),
        ({"bem_question": "where"}, "NQ301_BEM.tsv:2: another question than at NQ301_human.tsv:2"),
        (
            {"davinci": "id\tQuestion\tModel answer\tAcceptable?\ttext-davinci-003\n"},
            "NQ301_text-davinci-003.tsv: 0 rows; expected 1",
        ),
        ({"davinci": "id\tQ\n1\tx\n"}, "NQ301_text-davinci-003.tsv: no column 'Acceptable?'; found 'id', 'Q'"),
    ],
)
def test_files_that_do_not_belong_together(tmp_path: Path, change: dict[str, str], expected: str) -> None:
    with pytest.raises(SetFileError) as caught:
        import_nq301(tiny_nq301(tmp_path, **change))
    assert str(caught.value).startswith(expected)


def test_a_missing_file_of_nq301_is_named(tmp_path: Path) -> None:
    (tiny_nq301(tmp_path) / "NQ301_BEM.tsv").unlink()
    with pytest.raises(SetFileError, match=r"NQ301_BEM\.tsv: no such file"):
        import_nq301(tmp_path)


def test_the_joined_form_is_read_strictly(tmp_path: Path) -> None:
    row = {"id": "a", "question": "Q", "question_id": "1", "target": ["A"], "response": "R", "annotators": ["CORRECT"]}
    path = tmp_path / "nq301.jsonl"
    for rows, expected in (
        ([row, row], "nq301.jsonl: duplicate ids 'a'"),
        (
            [row | {"annotators": ["Yes"]}],
            "nq301.jsonl:1: annotators[0]: text 'Yes'; expected 'CORRECT' or 'INCORRECT'",
        ),
        ([row | {"target": []}], "nq301.jsonl:1: target: list []; expected"),
        ([row | {"response": None}], "nq301.jsonl:1: response: null; expected text"),
        ([], "nq301.jsonl: no answers; expected at least one"),
    ):
        path.write_text("".join(json.dumps(one) + "\n" for one in rows))
        with pytest.raises(SetFileError) as caught:
            import_nq301(path)
        assert str(caught.value).startswith(expected)


# EVOUNA


def test_evouna_leaves_out_what_cannot_be_used_and_counts_it(calibration_data: Path) -> None:
    made = import_evouna(calibration_data / "evouna_tq" / "TQ.json")
    items, labels = made.calibration_set.items, made.calibration_set.human_labels
    assert (len(items), len(labels), sum(made.left_out.values())) == (9690, 9690, 310)
    assert Counter(item.respondent for item in items) == dict.fromkeys(
        ("fid", "gpt35", "chatgpt", "gpt4", "newbing"), 1938
    )
    assert len({item.cluster_id for item in items}) == 1938
    assert Counter(label.label for label in labels) == {"CORRECT": 8221, "INCORRECT": 1469}


RECORD = {"question": "Q?", "golden_answer": "Jul 20/20 July/9/11", "improper": False} | {
    key: value
    for system in ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
    for key, value in ((f"answer_{system}", " None"), (f"judge_{system}", True))
}


def evouna(tmp_path: Path, records: object) -> Imported:
    path = tmp_path / "TQ.json"
    path.write_text(json.dumps(records))
    return import_evouna(path)


def test_evouna_keeps_text_as_published(tmp_path: Path) -> None:
    item = evouna(tmp_path, [RECORD]).calibration_set.items[0]
    assert (item.response, item.reference.text) == (" None", "Jul 20/20 July/9/11")


def test_evouna_rows_without_a_label_are_counted_apart(tmp_path: Path) -> None:
    made = evouna(tmp_path, [RECORD | {"judge_gpt4": "nan"}, RECORD | {"improper": True}])
    assert made.left_out == {"no label": 1, "question marked improper": 5}
    assert len(made.calibration_set.items) == 4


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ({}, "TQ.json: no list of questions"),
        ([3], "TQ.json: question 1: no object"),
        ([RECORD, RECORD | {"judge_gpt4": "yes"}], "TQ.json: question 2: judge_gpt4"),
        ([RECORD | {"judge_gpt4": 1}], "TQ.json: question 1: judge_gpt4"),
        ([RECORD | {"golden_answer": None}], "TQ.json: question 1: golden_answer: null; expected text"),
        ([RECORD | {"improper": True}], "TQ.json: no usable answers"),
    ],
)
def test_evouna_files_that_are_not_what_they_should_be(tmp_path: Path, records: object, expected: str) -> None:
    with pytest.raises(SetFileError) as caught:
        evouna(tmp_path, records)
    assert str(caught.value).startswith(expected)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("David Seville", ()),
        ("Scorpio/Skorpio/Scorpio", ("Scorpio", "Skorpio")),
        ("55,646/55646", ("55,646", "55646")),
        ("1132/1,132", ("1132", "1,132")),
        ("9/11", ()),
        ("7/7/2005", ()),
        ("Road from 9/11/Hersh", ("Road from 9/11", "Hersh")),
        ("July 20/20 July/Jul 20th", ("July 20/20 July", "Jul 20th")),
        ("2004/05 season/next", ("2004/05 season", "next")),
        ("Bruce Wayne / Batman/Bat-Man", ("Bruce Wayne / Batman", "Bat-Man")),
        ("UN/LOCODE:ATVIE/Wien", ("UN/LOCODE:ATVIE", "Wien")),
        ("AC/DC/ACDC", ("AC/DC", "ACDC")),
        ("Google//Google!", ()),
        ("Song (a/b)/Song", ("Song (a/b)", "Song")),
        ("U.S.A.)/America (USA)/US", ("U.S.A.)", "America (USA)", "US")),
    ],
)
def test_references_are_split_where_a_slash_can_only_separate(text: str, names: tuple[str, ...]) -> None:
    assert split_references(text) == names


# SimpleQA


def test_simpleqa_has_every_question_and_keeps_its_answers(calibration_data: Path) -> None:
    path = calibration_data / "simpleqa" / "simple_qa_test_set.csv"
    questions = load_simpleqa(path)
    texts = [question.reference.text for question in questions]
    assert len(questions) == len({question.question_id for question in questions}) == 4326
    assert sum(text != text.strip() for text in texts) == 211
    assert sum("\n" in text for text in texts) == 6
    assert texts.count("none") == 1
    assert all(question.reference.answer == question.reference.answer.strip() for question in questions)
    assert not any(question.reference.ranges for question in questions)
    with path.open(encoding="utf-8", newline="") as source:
        assert texts == [row["answer"] for row in csv.DictReader(source)]
    assert (questions[0].topic, questions[0].answer_type, len(questions[0].urls)) == (
        "Science and technology",
        "Person",
        4,
    )


def test_simpleqa_verified_has_every_question_and_88_ranges(calibration_data: Path) -> None:
    questions = load_simpleqa_verified(calibration_data / "simpleqa_verified" / "simpleqa_verified.csv")
    assert len(questions) == 1000
    assert sum(bool(question.reference.ranges) for question in questions) == 88
    assert all("range" in question.reference.text for question in questions if question.reference.ranges)
    assert sum(question.metadata["requires_reasoning"] for question in questions) == 24 + 13
    assert (questions[0].question_id, questions[0].original_index) == ("simpleqa_verified-0005", 5)
    assert all(
        url.startswith(("http", "chrome-extension", "Hillhttps")) for question in questions for url in question.urls
    )


def simpleqa(
    tmp_path: Path, rows: list[list[str]], columns: tuple[str, ...] = ("metadata", "problem", "answer")
) -> Path:
    path = tmp_path / "simpleqa.csv"
    with path.open("w", encoding="utf-8", newline="") as target:
        csv.writer(target).writerows([columns, *rows])
    return path


GOOD = "{'topic': 'Art', 'answer_type': 'Date', 'urls': [\"https://a/it's\"]}"


def test_metadata_of_simpleqa_are_a_python_literal(tmp_path: Path) -> None:
    (question,) = load_simpleqa(simpleqa(tmp_path, [[GOOD, "Q?", "NA"]]), n_questions=None)
    assert (question.topic, question.urls, question.reference.text) == ("Art", ("https://a/it's",), "NA")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            ["__import__('os').getcwd()", "Q", "A"],
            "simpleqa.csv:3: metadata \"__import__('os').getcwd()\"; expected a Python literal",
        ),
        (["{'topic': 'Art'", "Q", "A"], "simpleqa.csv:3: metadata"),
        (["['Art']", "Q", "A"], "simpleqa.csv:3: metadata \"['Art']\"; expected a Python literal of a dict"),
        (["{'topic': 'Art', 'urls': []}", "Q", "A"], "simpleqa.csv:3: metadata: key 'answer_type' is missing"),
        ([GOOD, "", "A"], "simpleqa.csv:3: column 'problem' is empty"),
        ([GOOD, "Q", " \n"], "simpleqa.csv:3: column 'answer' is empty"),
        ([GOOD, "Q"], "simpleqa.csv:3: 2 fields; expected 3"),
    ],
)
def test_bad_records_of_simpleqa_name_their_line(tmp_path: Path, row: list[str], expected: str) -> None:
    with pytest.raises(SetFileError) as caught:
        load_simpleqa(simpleqa(tmp_path, [[GOOD, "Q", "A"], row]), n_questions=None)
    assert str(caught.value).startswith(expected)


def test_lost_records_are_noticed(tmp_path: Path) -> None:
    with pytest.raises(SetFileError, match=r"simpleqa\.csv: 1 records; expected 4326, is the file complete\?"):
        load_simpleqa(simpleqa(tmp_path, [[GOOD, "Q", "A"]]))


def test_other_columns_are_listed(tmp_path: Path) -> None:
    with pytest.raises(SetFileError, match="no column 'problem'; found 'metadata', 'question', 'answer'"):
        load_simpleqa(simpleqa(tmp_path, [[GOOD, "Q", "A"]], ("metadata", "question", "answer")), n_questions=None)


VERIFIED = ("original_index", "problem", "answer", "topic", "answer_type", "multi_step", "requires_reasoning", "urls")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [["5.0", "Q", "A", "t", "a", "True", "False", "u"]],
            "simpleqa.csv:2: original_index '5.0'; expected a whole number",
        ),
        ([["5", "Q", "A", "t", "a", "yes", "False", "u"]], "simpleqa.csv:2: multi_step 'yes'; expected True or False"),
        ([["5", "Q", "A", "t", "a", "True", "False", "u"]] * 2, "simpleqa.csv: an original_index comes twice"),
    ],
)
def test_bad_records_of_simpleqa_verified(tmp_path: Path, rows: list[list[str]], expected: str) -> None:
    with pytest.raises(SetFileError) as caught:
        load_simpleqa_verified(simpleqa(tmp_path, rows, VERIFIED), n_questions=None)
    assert str(caught.value).startswith(expected)
