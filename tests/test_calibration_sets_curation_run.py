"""A whole curation: each stage once, reproducible, never half written; its settings, table and commands."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import autorater
from curation_samples import embedder_of, fill_in, ids, make_question, make_responses
from filelock import FileLock

from calibration_sets.curation import curation_run
from calibration_sets.curation.curation_run import LOCK, find_questions_before, read_records, run_stages
from calibration_sets.curation.lexical_duplicates import lexical_review
from calibration_sets.curation.proposed_ranges import range_review
from calibration_sets.curation.question_file import load_questions, question_data, read_question_lines
from calibration_sets.curation.reference_responses import read_responses
from calibration_sets.curation.robots_files import RobotsRules
from calibration_sets.curation.settings import STAGES, CurationSettings, default_settings_text, read_settings
from calibration_sets.curation.stage_folder import read_kept, read_record
from calibration_sets.curation.stage_table import render_stages
from calibration_sets.curation.steps import Evidence
from calibration_sets.errors import SetFileError
from calibration_sets.writer import write_lines

TOWNS = ("Ullenby", "Sandrey", "Korrin", "Malvet", "Tessick", "Orland")
QUESTIONS = tuple(
    make_question(
        f"{kind}{place}",
        f"{asked} {town}?",
        answer,
        answer_type=kind,
        topic=("Art", "Sports")[place % 2],
        urls=(f"https://site.example/{kind}/{place // 2}",),
    )
    for kind, asked, answer in (
        ("Date", "In which month and year did the great storm reach", "May 1865"),
        ("Number", "How many people live around", "1376"),
        ("Person", "Who drew the first map of", "Mary Brelin"),
    )
    for place, town in enumerate(TOWNS)
)
UNLIKE = embedder_of({one.question: row for one, row in zip(QUESTIONS, np.eye(len(QUESTIONS)).tolist(), strict=True)})
RESPONSES = make_responses({one.question_id: ("II", "CI", "CC")[place % 3] for place, one in enumerate(QUESTIONS)})


def _evidence(folder: Path, **more) -> Evidence:
    settings = CurationSettings.model_validate({"balance": {"size": 6}, "hardest": {"size": 4}})
    evidence = Evidence(settings, folder / "reviews", UNLIKE, RESPONSES)
    return replace(evidence, **more)


def _run(folder: Path, questions=QUESTIONS, **more) -> dict[str, bool]:
    done = run_stages(tuple(questions), folder, _evidence(folder, **more), STAGES)
    return {stage.record.stage: stage.was_done for stage in done}


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_each_stage_is_done_once_and_comes_to_the_same_elsewhere(tmp_path: Path) -> None:
    assert all(_run(tmp_path / "one").values())
    before = _tree(tmp_path / "one")
    assert not any(_run(tmp_path / "one").values())
    assert _tree(tmp_path / "one") == before
    _run(tmp_path / "two")
    assert _tree(tmp_path / "two") == before
    counts = [record.n_after for record in read_records(tmp_path / "one")]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 4


def test_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    _run(tmp_path / "one")
    _run(tmp_path / "two", tuple(reversed(QUESTIONS)))
    kept = [ids(read_kept(tmp_path / name / "9_hardest")) for name in ("one", "two")]
    assert kept[0] == list(reversed(kept[1]))


def test_what_is_kept_and_dropped_adds_up_at_every_stage(tmp_path: Path) -> None:
    _run(tmp_path)
    questions = list(QUESTIONS)
    for record in read_records(tmp_path):
        folder = tmp_path / f"{record.number}_{record.stage}"
        kept = read_kept(folder)
        dropped = [json.loads(line)["question_id"] for line in (folder / "dropped.jsonl").read_text().splitlines()]
        assert sorted([*ids(kept), *dropped]) == sorted(ids(questions))
        assert sum(record.reasons.values()) == len(dropped)
        questions = list(kept)


def test_only_what_depends_on_a_change_is_done_again(tmp_path: Path) -> None:
    _run(tmp_path)
    changed = CurationSettings.model_validate({"balance": {"size": 6}, "hardest": {"size": 3}})
    done = _run(tmp_path, settings=changed)
    assert [name for name, was_done in done.items() if was_done] == ["hardest"]
    done = _run(tmp_path, robots=RobotsRules({}, without=["site.example"]), settings=changed)
    assert [name for name, was_done in done.items() if was_done] == ["publishers"], "what follows has the same input"
    typed = CurationSettings.model_validate({**changed.model_dump(), "source_conflicts": {"numeric_types": ["Age"]}})
    done = _run(tmp_path, robots=RobotsRules({}, without=["site.example"]), settings=typed)
    assert [name for name, was_done in done.items() if was_done] == ["source_conflicts", "numeric_conflicts", "ranges"]
    alike = replace(embedder_of({one.question: (1, 0) for one in QUESTIONS}), name="another model")
    done = _run(tmp_path, embedder=alike, settings=changed)
    assert not done["unique_urls"]
    assert all(done[name] for name in STAGES[1:])


def test_a_filled_in_file_is_taken_up_and_later_stages_follow(tmp_path: Path) -> None:
    _run(tmp_path)
    assert fill_in(lexical_review(tmp_path / "reviews"), {}, {"decision": "keep_both"})
    assert fill_in(range_review(tmp_path / "reviews"), {}, {"decision": "confirm"})
    done = _run(tmp_path)
    assert [name for name, was_done in done.items() if was_done] == ["lexical_duplicates", "ranges", "hardest"]
    record = read_record(tmp_path / "8_ranges")
    assert record is not None
    assert record.n_changed > 0
    assert any(one.reference.ranges for one in read_kept(tmp_path / "8_ranges"))


def test_questions_that_are_the_same_twice_share_a_decision(tmp_path: Path) -> None:
    bare = [replace(one, urls=()) for one in QUESTIONS if one.answer_type == "Number"]
    twice = (*bare, *(replace(one, question_id=f"{one.question_id}again") for one in bare))
    run_stages(twice, tmp_path, _evidence(tmp_path), ("lexical_duplicates", "ranges"))
    assert len(read_kept(tmp_path / "8_ranges")) == 12
    fill_in(range_review(tmp_path / "reviews"), {}, {"decision": "confirm"})
    run_stages(twice, tmp_path, _evidence(tmp_path), ("lexical_duplicates", "ranges"))
    assert all(one.reference.ranges for one in read_kept(tmp_path / "8_ranges"))
    fill_in(lexical_review(tmp_path / "reviews"), {"cosine": "1.000"}, {"decision": "drop_first"})
    run_stages(twice, tmp_path, _evidence(tmp_path), ("lexical_duplicates",))
    kept = read_kept(tmp_path / "3_lexical_duplicates")
    assert sorted(one.question for one in kept) == sorted(one.question for one in bare)


@pytest.mark.parametrize("spoil", ["kept.jsonl", "dropped.jsonl", "stage.json"])
def test_a_stage_that_was_changed_by_hand_is_done_again(tmp_path: Path, spoil: str) -> None:
    _run(tmp_path)
    before = _tree(tmp_path)
    path = tmp_path / "5_balance" / spoil
    path.write_text(path.read_text()[:-20])
    assert [name for name, was_done in _run(tmp_path).items() if was_done] == ["balance"]
    assert _tree(tmp_path) == before


def test_a_missing_review_file_is_written_again(tmp_path: Path) -> None:
    _run(tmp_path)
    lexical_review(tmp_path / "reviews").path.unlink()
    assert _run(tmp_path)["lexical_duplicates"]
    assert lexical_review(tmp_path / "reviews").path.exists()


def test_a_stage_that_breaks_off_leaves_the_one_before_as_it_was(tmp_path: Path, monkeypatch) -> None:
    _run(tmp_path)
    before = _tree(tmp_path / "5_balance")
    monkeypatch.setattr(
        "calibration_sets.curation.stage_folder.write_lines", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    settings = CurationSettings.model_validate({"balance": {"size": 3}})
    with pytest.raises(KeyboardInterrupt):
        _run(tmp_path, settings=settings)
    assert _tree(tmp_path / "5_balance") == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".5")]


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    with FileLock(tmp_path / LOCK), pytest.raises(SetFileError, match="another curation is at work"):
        _run(tmp_path)


def test_a_stage_alone_begins_where_the_last_one_before_it_stopped(tmp_path: Path) -> None:
    run_stages(QUESTIONS, tmp_path, _evidence(tmp_path), ("unique_urls", "balance"))
    assert find_questions_before("unique_urls", tmp_path) is None
    found = find_questions_before("publishers", tmp_path)
    assert found is not None
    assert ids(found) == ids(read_kept(tmp_path / "1_unique_urls"))


def test_the_table_has_shares_scores_and_marks_what_is_stale(tmp_path: Path) -> None:
    _run(tmp_path)
    records = read_records(tmp_path)
    lines = render_stages(records)
    assert lines[0].split() == ["stage", "left", "removed", "F1", "m0", "F1", "m1"]
    assert lines[1].split() == ["(as", "given)", "18", "66.7", "33.3"]
    assert lines[2].split()[:4] == ["1", "unique_urls", "9", "50.0%"]
    assert not any("*" in line for line in lines)
    stale = render_stages([records[0], records[8]])
    assert any(line.startswith("9 hardest *") for line in stale)
    assert any(line.startswith("* made from other questions") for line in stale)


def test_a_folder_without_stages_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SetFileError, match="no stage of a curation"):
        read_records(tmp_path)


def test_the_printed_settings_are_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "curation.toml"
    path.write_text(default_settings_text(), encoding="utf-8")
    assert read_settings(path) == CurationSettings() == read_settings(None)
    assert set(tomllib.loads(default_settings_text())) == set(CurationSettings.model_fields)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("seed = 1", "key 'version' is missing"),
        ("version = 2", "version"),
        ("version = 1\nthreshold = 0.5", "unknown key 'threshold'"),
        ("version = 1\n[lexical_duplicates]\nthreshold = 1.5", "lexical_duplicates.threshold"),
        ('version = 1\nstages = ["hardest", "balance"]', "in this order"),
        ("version = 1\nstages = []", "in this order"),
        ("version = 1\n[hardest]\nsize = 0", "hardest.size"),
        ("version = 1\n[balance.topics]\nArt = -1", "balance.topics.Art"),
    ],
)
def test_settings_are_read_strictly(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "curation.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SetFileError, match=f"^curation.toml.*{told}"):
        read_settings(path)


def test_questions_come_back_from_json_lines(tmp_path: Path) -> None:
    question = make_question(
        "q", "Who?\u2028Him?", "=Mary", topic="Art", urls=("https://a.example/",), original_index=0, metadata={"x": [1]}
    )
    write_lines(tmp_path / "q.jsonl", [question_data(question)])
    (again,) = read_question_lines(tmp_path / "q.jsonl")
    assert again == question
    assert again.metadata == {"x": [1]}
    write_lines(tmp_path / "q.jsonl", [question_data(question)] * 2)
    with pytest.raises(SetFileError, match="id 'q' comes twice"):
        load_questions(tmp_path / "q.jsonl")


def test_other_tables_and_empty_files_are_errors(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SetFileError, match=r"other.csv: columns a, b; expected those of SimpleQA"):
        load_questions(tmp_path / "other.csv")
    (tmp_path / "none.jsonl").write_text("")
    with pytest.raises(SetFileError, match=r"none.jsonl: no questions"):
        load_questions(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("Date0,m,GOOD\n", "graded.csv:2: label 'GOOD'; expected one of CORRECT"),
        ("Date0,m,CORRECT\nDate0,m,INCORRECT\n", "graded.csv:3: a second row for question 'Date0' and model 'm'"),
        ("Date0,,CORRECT\n", "graded.csv:2: question_id 'Date0', model ''"),
        ("other,m,CORRECT\n", "no row is about one of the questions"),
    ],
)
def test_bad_responses_are_told(tmp_path: Path, rows: str, told: str) -> None:
    path = tmp_path / "graded.csv"
    path.write_text(f"question_id,model,label\n{rows}", encoding="utf-8")
    with pytest.raises(SetFileError, match=told):
        read_responses(path, QUESTIONS)


def test_the_commands_from_a_file_to_the_table(tmp_path: Path) -> None:
    write_lines(tmp_path / "questions.jsonl", map(question_data, QUESTIONS))
    (tmp_path / "graded.csv").write_text("question_id,model,label\nDate0,m,CORRECT\nDate1,m,\nDate2,m,INCORRECT\n")
    words = ("curate", "run", "questions.jsonl", "--to", "curated", "--responses", "graded.csv")
    ran = autorater(tmp_path, *words, "--until", "balance")
    assert ran.code == 0, ran.err
    assert "1 unique_urls: done" in ran.err
    assert "F1 m" in ran.out
    assert "(16 missing)" in ran.out
    assert "6 source_conflicts" not in ran.out
    assert ran.out.endswith("questions: curated/5_balance/kept.jsonl\n")
    assert "1 unique_urls: unchanged, not done again" in autorater(tmp_path, *words, "--until", "balance").err
    shown = autorater(tmp_path, "curate", "show", "curated")
    assert shown.out == ran.out
    alone = autorater(tmp_path, "curate", "stage", "hardest", "--to", "curated")
    assert alone.code == 0, alone.err
    assert "9 hardest" in alone.out
    apart = autorater(tmp_path, "curate", "stage", "ranges", "--from", "curated/5_balance/kept.jsonl", "--to", "ranged")
    assert (tmp_path / "ranged" / "reviews" / "ranges.csv").exists(), apart.err
    assert tomllib.loads(autorater(tmp_path, "curate", "settings").out)["version"] == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("run", "questions.jsonl", "--to", "x", "--until", "balanced"),
            "--until: 'balanced'; expected one of unique_urls",
        ),
        (
            ("run", "questions.jsonl", "--to", "x", "--settings", "late.toml", "--until", "balance"),
            "--until: 'balance'",
        ),
        (("stage", "balance", "--to", "x"), "x: no stage before balance is there"),
        (("show", "x"), "x: no stage of a curation"),
        (("run", "none.csv", "--to", "x"), "none.csv: no such file"),
        (("run", "questions.jsonl", "--to", "x", "--robots", "none"), "none: no such folder"),
    ],
)
def test_what_a_person_must_mend_is_one_line(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    write_lines(tmp_path / "questions.jsonl", map(question_data, QUESTIONS))
    (tmp_path / "late.toml").write_text('version = 1\nstages = ["ranges", "hardest"]\n')
    ran = autorater(tmp_path, "curate", *words)
    assert ran.code == 2
    assert ran.err.startswith(f"error: {told}")
    assert len(ran.err.splitlines()) == 1


def test_the_robots_command_asks_every_host_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_lines(tmp_path / "questions.jsonl", map(question_data, QUESTIONS))
    fetched = curation_run.__name__.replace("curation_run", "commands.fetch_text")
    hosts: list[str] = []

    def fetch(host: str):
        from calibration_sets.curation.robots_files import Fetched

        hosts.append(host)
        return Fetched(404)

    monkeypatch.setattr(fetched, fetch)
    ran = autorater(tmp_path, "curate", "robots", "questions.jsonl", "--to", "robots")
    assert (ran.out, hosts) == ("1 hosts: 0 with rules, 1 without, 0 unknown\n", ["site.example"])


def test_a_stage_that_the_settings_leave_out_later_is_taken_out_of_the_table(tmp_path: Path) -> None:
    write_lines(tmp_path / "questions.jsonl", map(question_data, QUESTIONS))
    words = ("curate", "run", "questions.jsonl", "--to", "curated")
    assert autorater(tmp_path, *words).code == 0
    (tmp_path / "less.toml").write_text('version = 1\nstages = ["unique_urls", "balance", "hardest"]\n')
    assert autorater(tmp_path, *words, "--settings", "less.toml").code == 0
    shown = autorater(tmp_path, "curate", "show", "curated").out
    assert "publishers" not in shown
    assert " *" not in shown
    assert (tmp_path / "curated" / "reviews" / "ranges.csv").exists()


def test_what_a_killed_run_left_half_written_is_cleared_away(tmp_path: Path) -> None:
    left = tmp_path / ".1_unique_urls.x1y2" / "new"
    left.mkdir(parents=True)
    (left / "kept.jsonl").write_text("{")
    _run(tmp_path)
    assert not left.parent.exists()


SIMPLEQA_CSV = (
    "metadata,problem,answer\n\"{'topic': 'Art', 'answer_type': 'Place', 'urls': ['https://a.example/b']}\","
    '"Where, and with ""whom"",\nis it?",Ulm\n'
)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + SIMPLEQA_CSV.encode(),
        SIMPLEQA_CSV.replace("\n", "\r\n").replace(",\r\nis", ",\nis").encode(),
        f"{SIMPLEQA_CSV}\n\n".encode(),
    ],
)
def test_a_csv_says_the_same_in_any_dialect_with_commas(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "plain.csv").write_text(SIMPLEQA_CSV, encoding="utf-8", newline="")
    (tmp_path / "other.CSV").write_bytes(data)
    assert load_questions(tmp_path / "other.CSV") == load_questions(tmp_path / "plain.csv")
    assert load_questions(tmp_path / "plain.csv")[0].question == 'Where, and with "whom",\nis it?'


@pytest.mark.parametrize(("sign", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_a_csv_that_is_parted_otherwise_is_told_so_whatever_its_quotes_hold(
    tmp_path: Path, sign: str, name: str
) -> None:
    path = tmp_path / "other.csv"
    path.write_text(SIMPLEQA_CSV.replace("metadata,problem,answer", f"metadata{sign}problem{sign}answer"), "utf-8")
    with pytest.raises(SetFileError, match=rf"other.csv:1: fields are parted by {name}; expected commas"):
        load_questions(path)


def test_json_lines_are_known_by_their_ending_in_any_case(tmp_path: Path) -> None:
    write_lines(tmp_path / "q.JSONL", map(question_data, QUESTIONS))
    assert ids(load_questions(tmp_path / "q.JSONL")) == ids(QUESTIONS)
