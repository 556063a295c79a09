"""Experiments: what a file may say, what its run's id depends on, and what is told of a mistake."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.errors import SpecError
from experiments.specs.experiment import check_run_name, list_experiments, load_experiment

GRADER = '[[graders]]\nmodel = "baseline/lexical"\n'
PLAIN = f'name = "t"\nset = "small"\n{GRADER}'


def write(study: Any, text: str) -> str:
    path = study.folder / "t.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def message(study: Any, text: str) -> str:
    with pytest.raises(SpecError) as caught:
        load_experiment(write(study, text))
    return str(caught.value).splitlines()[0]


def test_a_good_file_is_read_whole(study: Any) -> None:
    loaded = load_experiment(str(study.experiment))
    assert loaded.name == "study"
    assert [grader.model for grader in loaded.graders] == ["replay/said.jsonl", "baseline/lexical"]
    assert [grader.sampling.repeats for grader in loaded.graders] == [3, 1]
    assert [grader.sampling.seed for grader in loaded.graders] == [1, 1]
    assert (len(loaded.calibration_set.items), loaded.n_items_in_set) == (8, 8)


@pytest.mark.parametrize(
    ("line", "key", "expected"),
    [
        ("bogus = 1\n" + PLAIN, "bogus", "name, set, graders"),
        (PLAIN + "bogus = 1\n", "graders[0].bogus", "model, prompt, sampling"),
        (PLAIN + "sampling = { bogus = 1 }\n", "graders[0].sampling.bogus", "temperature, repeats"),
        (PLAIN + "[sampling]\nbogus = 1\n", "sampling.bogus", "temperature, repeats"),
        (PLAIN + "[items]\nbogus = 1\n", "items.bogus", "sample"),
        (PLAIN + "[analyses]\nbogus = 1\n", "analyses.bogus", "level"),
    ],
)
def test_an_unknown_key_is_named_at_every_level(study: Any, line: str, key: str, expected: str) -> None:
    assert message(study, line).startswith(f"t.toml: unknown key '{key}'; expected {expected}")


@pytest.mark.parametrize(
    ("table", "key", "values"),
    [
        ("sampling", "temperature", ["-1", "-0.1", "2.1", "nan", "inf", "1e400", '"2"', "true", "[]"]),
        ("sampling", "repeats", ["0", "-1", "1.0", '"2"', "true", "10001", "9" * 30]),
        ("sampling", "seed", ["-1", "1.0", '"2"', "true", "9" * 30]),
        ("sampling", "max_tokens", ["0", "-5", "1.0", '"2"', "true"]),
        ("sampling", "constrained", ["1", '"yes"']),
        ("items", "sample", ["0", "-3", "1.5", '"all"', "true"]),
        ("items", "stratify", ['"colour"', "1", '""']),
        ("items", "seed", ["1.5", '"1"', "true"]),
        ("items", "exclude_kinds", ['"even"', "[1]", '["unheard of"]']),
        ("analyses", "level", ["0", "0.5", "1", "1.0", "95", "-1", "nan", '"0.9"']),
        ("analyses", "parser", ['"both"', '"label"', "1"]),
        ("analyses", "compare_parsers", ["1", '"yes"']),
    ],
)
def test_a_value_that_cannot_be_is_an_error_that_names_its_key(
    study: Any, table: str, key: str, values: list[str]
) -> None:
    for value in values:
        assert message(study, f"{PLAIN}[{table}]\n{key} = {value}\n").startswith(f"t.toml: {table}.{key}"), value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "key 'name' is missing"),
        ("not toml", "not TOML"),
        ('name = "t"\nset = "small"\n', "key 'graders' is missing"),
        ('name = "t"\nset = "small"\ngraders = []\n', "graders: list []"),
        ('name = "t"\nset = "small"\ngraders = {}\n', "graders: object {}; expected a list"),
        ('name = "t"\nset = "small"\ngraders = ["baseline/lexical"]\n', "graders[0]: text"),
        (PLAIN.replace('"small"', '["small"]'), "set: list"),
        (PLAIN.replace('"small"', '""'), "set: text ''"),
        (PLAIN.replace('"t"', "5"), "name: number 5"),
        (PLAIN.replace('"t"', '"a b"'), "name: text 'a b'; expected up to 100 letters"),
        (PLAIN.replace('"t"', '"../up"'), "name: text '../up'"),
        (PLAIN.replace('"small"', '"elsewhere"'), "set: 'elsewhere': no such set"),
        (PLAIN.replace('"small"', f'"{"x" * 5000}"'), "set: "),
        (PLAIN.replace('"small"', '"small/items.jsonl"'), "set: 'small/items.jsonl': no such set"),
        (PLAIN + '[items]\nexclude_kinds = ["even", "odd"]\n', "items: none of 8 is left"),
        (PLAIN + GRADER, "graders[1]: baseline/lexical is listed twice"),
    ],
)
def test_a_malformed_file_is_an_error_that_says_where(study: Any, text: str, expected: str) -> None:
    told = message(study, text)
    assert told.startswith(("t.toml: ", "t.toml:1: "))
    assert expected in told


@pytest.mark.parametrize(
    "model",
    ["nope", "baseline", "baseline/", "baseline/other", "local/", "local/other", "openai/", "replay/",
     "Local/smollm2", " baseline/lexical", "imported/someone", "x" * 500],
)  # fmt: skip
def test_an_unknown_model_is_said_to_be_unknown_whatever_else_is_missing(study: Any, model: str) -> None:
    told = message(study, PLAIN.replace("baseline/lexical", model))
    assert told.startswith("t.toml: graders[0]: model: ")
    assert "expected one of baseline/lexical" in told


@pytest.mark.parametrize("file", ["absent.jsonl", ".", "small", "y" * 400])
def test_a_recording_that_cannot_be_read_is_an_error_of_its_grader(study: Any, file: str) -> None:
    told = message(study, PLAIN.replace("baseline/lexical", f"replay/{file}"))
    assert told.startswith("t.toml: graders[0]: ")
    assert told.endswith("expected a recording (JSONL)")


@pytest.mark.parametrize(
    "prompt", ["nope", "simpleqa@9.9.9", "simpleqa@", "", "absent.md", "simpleqa@1.0.0#abcdef", "z" * 400]
)
def test_an_unknown_prompt_is_an_error_of_its_grader(study: Any, prompt: str) -> None:
    assert message(study, f'{PLAIN}prompt = "{prompt}"\n').startswith("t.toml: graders[0]: ")


def test_a_model_that_reads_a_prompt_needs_one(study: Any) -> None:
    told = message(study, PLAIN.replace("baseline/lexical", "local/smollm2"))
    assert told.startswith("t.toml: graders[0]: prompt, missing; expected a grader prompt")


def test_a_prompt_of_other_labels_than_the_set_is_refused(study: Any) -> None:
    header = study.folder / "small" / "set.toml"
    text = header.read_text(encoding="utf-8")
    scale = '[scale]\nname = "two"\nlabels = ["INCORRECT", "CORRECT"]\npositive = "CORRECT"\n'
    header.write_text(text[: text.index("[scale]")] + scale if "[scale]" in text else
                      "\n".join(line for line in text.splitlines() if not line.startswith("scale")) + "\n" + scale,
                      encoding="utf-8")  # fmt: skip
    told = message(study, study.experiment.read_text(encoding="utf-8"))
    assert told.startswith("t.toml: graders[0].prompt: simpleqa@1.0.0")
    assert "expected the labels of set small" in told


@pytest.mark.parametrize("name", ["nope", "nope.toml", "", ".", "/", "small", "x" * 300, "a\nb", "\x1b[31m"])
def test_an_experiment_that_is_not_there_is_an_error_on_one_line(name: str) -> None:
    with pytest.raises(SpecError, match="no such file; expected a TOML file or one of") as caught:
        load_experiment(name)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_at_least_one(study: Any, limit: int) -> None:
    with pytest.raises(SpecError, match=f"--limit: {limit}; expected 1 or more"):
        load_experiment(str(study.experiment), limit=limit)


def test_a_limit_beyond_the_set_is_the_whole_set_and_the_same_run(study: Any) -> None:
    whole = load_experiment(str(study.experiment))
    assert load_experiment(str(study.experiment), limit=10**20).run_id == whole.run_id
    assert load_experiment(str(study.experiment), limit=7).run_id != whole.run_id


def test_what_a_report_depends_on_is_in_the_run_id_and_nothing_else(study: Any) -> None:
    run_id = load_experiment(str(study.experiment)).run_id
    same = [
        {"\nset =": '\ndescription = "said otherwise"\nset ='},
        {"temperature = 2.0": "temperature = 2"},
        {'"small"': f'"{study.folder / "small"}"'},
        {'"simpleqa@1.0.0"': '"simpleqa"'},
    ]
    other = [
        {"repeats = 3": "repeats = 4"},
        {"seed = 1": "seed = 2"},
        {"temperature = 2.0": "temperature = 1.9"},
        {'"simpleqa@1.0.0"': '"simpleqa_verified@1.0.0"'},
        {"\n[[graders]]\nprompt": "\nanalyses = { level = 0.9 }\n[[graders]]\nprompt"},
        {'name = "study"': 'name = "other"'},
    ]
    for changes in same:
        assert load_experiment(str(study.write_experiment(changes))).run_id == run_id, changes
    for changes in other:
        assert load_experiment(str(study.write_experiment(changes))).run_id != run_id, changes


@pytest.mark.parametrize(
    ("old", "new"), [('version = "1.0.0"', 'version = "1.0.1"'), ('"human"', '"construction"'), ('"small"', '"little"')]
)
def test_what_a_report_tells_of_the_set_is_in_the_run_id(study: Any, old: str, new: str) -> None:
    before = load_experiment(str(study.experiment))
    header = study.folder / "small" / "set.toml"
    text = header.read_text(encoding="utf-8")
    assert old in text
    header.write_text(text.replace(old, new), encoding="utf-8")
    after = load_experiment(str(study.experiment))
    assert after.run_id != before.run_id
    assert [grader.grader_id for grader in after.graders] == [grader.grader_id for grader in before.graders]


def test_a_set_that_has_grown_is_another_run_of_the_same_first_items(study: Any) -> None:
    before = load_experiment(str(study.experiment), limit=3)
    study.write_set((*study.items, replace(study.items[0], item_id="i8", question="Which comes last?")))
    after = load_experiment(str(study.experiment), limit=3)
    assert before.calibration_set.digest == after.calibration_set.digest
    assert (before.n_items_in_set, after.n_items_in_set) == (8, 9)
    assert before.run_id != after.run_id


def test_a_moved_study_is_the_same_run(study: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = load_experiment(str(study.experiment)).run_id
    shutil.move(study.folder, tmp_path / "moved")
    monkeypatch.chdir(tmp_path / "moved")
    assert load_experiment("study.toml").run_id == run_id


def test_an_edited_recording_is_another_grader_and_the_other_grader_stays(study: Any) -> None:
    before = load_experiment(str(study.experiment))
    study.recording.write_bytes(study.recording.read_bytes().replace(b'"text": "A"', b'"text": "C"', 1))
    after = load_experiment(str(study.experiment))
    assert before.run_id != after.run_id
    assert before.graders[0].grader_id != after.graders[0].grader_id
    assert before.graders[1].grader_id == after.graders[1].grader_id


NEEDS_DATA = {"score_simpleqa_verified", "labels_simpleqa_verified"}
"""Shipped experiments whose set is fetched, or made of people's labels; the tests of the library run them."""


def test_the_shipped_experiments_load() -> None:
    assert "quickstart" in list_experiments()
    for name in set(list_experiments()) - NEEDS_DATA:
        assert load_experiment(name).name == name


@pytest.mark.parametrize("name", ["a", "A1", "0.1_b-c", "x" * 100])
def test_plain_names_are_taken(name: str) -> None:
    assert check_run_name(name) == name


@pytest.mark.parametrize("name", ["", "-a", ".a", "a b", "a\n", "é", "x" * 101, "a/b"])
def test_names_that_could_be_misread_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="expected up to 100"):
        check_run_name(name)


@pytest.mark.parametrize("analyses", ['parser = "official"', "compare_parsers = true"])
def test_the_official_parser_is_refused_at_the_start_where_no_grader_answers_by_letter(
    tmp_path: Path, analyses: str
) -> None:
    path = tmp_path / "e.toml"
    graders = '[[graders]]\nmodel = "local/smollm2"\nprompt = "{}"\n[[graders]]\nmodel = "baseline/lexical"\n'
    header = f'name = "e"\nset = "probes"\nanalyses = {{ {analyses} }}\n'
    path.write_text(header + graders.format("simpleqa_short@1.0.0"))
    with pytest.raises(SpecError, match=r"e\.toml: analyses\.\w+: no grader answers with letters"):
        load_experiment(str(path))
    path.write_text(header + graders.format("simpleqa@1.0.0"))
    assert len(load_experiment(str(path)).graders) == 2
