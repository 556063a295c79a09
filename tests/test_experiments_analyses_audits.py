"""An audit's error rate against a threshold: it decides by the whole interval, or says that it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import autorater
from curation_samples import make_question

from calibration_sets.audit.audit_counts import AuditCounts
from calibration_sets.audit.audit_sample import draw_sample
from calibration_sets.curation.question_file import question_data
from calibration_sets.writer import write_lines
from experiments.analyses.audits.auditing import Audit, AuditRule, judge_audit
from experiments.analyses.audits.auditing_page import audit_text


def _audit(faults: int, n: int, *, n_population: int = 1000, n_open: int = 0, **rule: float) -> Audit:
    counts = AuditCounts(n_population, {"OK": n - faults, "unanswerable": faults}, n_open, 0)
    return judge_audit(counts, AuditRule(**rule))


def test_the_interval_is_that_of_a_sample_from_a_set_of_this_size() -> None:
    found = _audit(10, 50, n_population=60).rate
    assert (found.value, found.low, found.high) == (0.2, pytest.approx(10 / 60), pytest.approx(15 / 60))
    large = _audit(25, 50, n_population=10**5).rate
    assert (large.low, large.high) == (pytest.approx(0.3553, abs=2e-4), pytest.approx(0.6447, abs=2e-4))


def _sampled(rates: list[float], sizes: list[int], seed: int) -> tuple[float, Audit]:
    """A set whose topics have these rates, and the audit of a sample of 50 of it."""
    faulty = {f"t{topic}-{one}" for topic, n in enumerate(sizes) for one in range(round(rates[topic] * n))}
    questions = [
        make_question(f"t{topic}-{one}", topic=f"t{topic}") for topic, n in enumerate(sizes) for one in range(n)
    ]
    n_faulty = sum(one.question_id in faulty for one in draw_sample(questions, size=50, seed=seed))
    return len(faulty) / len(questions), _audit(n_faulty, 50, n_population=len(questions))


@pytest.mark.parametrize("rates", [[0.2, 0.2, 0.2, 0.2], [0.0, 0.5, 0.1, 0.8], [0.02, 0.02, 0.02, 0.02]])
def test_the_interval_covers_the_rate_of_a_stratified_set(rates: list[float]) -> None:
    covered = 0
    for seed in range(80):
        true, found = _sampled(rates, [90, 60, 30, 11], seed)
        covered += (found.rate.low or 0) <= true <= (found.rate.high or 0)
    assert covered >= 73, "76 of 80 are 95%"


@pytest.mark.parametrize(
    ("faults", "n", "outcome"),
    [(0, 50, "pass"), (3, 50, "pass"), (4, 50, "pass"), (5, 50, "undecided"), (10, 50, "undecided"), (25, 50, "fail")],
)
def test_it_decides_by_the_whole_interval(faults: int, n: int, outcome: str) -> None:
    assert _audit(faults, n).outcome == outcome


def test_a_rate_at_the_threshold_needs_the_whole_set() -> None:
    assert _audit(10, 50, n_population=400).n_more == 350


def test_a_whole_set_is_decided_without_an_interval() -> None:
    found = _audit(10, 50, n_population=50)
    assert (found.rate.low, found.rate.high, found.outcome) == (0.2, 0.2, "pass")
    assert _audit(11, 50, n_population=50).outcome == "fail"
    assert _audit(0, 40, n_population=50).outcome == "pass"


@pytest.mark.parametrize(
    ("faults", "n", "n_open", "outcome"),
    [
        (0, 49, 1, "pass"),
        (0, 47, 3, "pass"),
        (0, 40, 10, "undecided"),
        (20, 48, 2, "fail"),
        (18, 40, 10, "fail"),
        (16, 20, 30, "undecided"),
    ],
)
def test_a_question_without_a_label_is_neither_sound_nor_faulty(faults: int, n: int, n_open: int, outcome: str) -> None:
    found = _audit(faults, n, n_open=n_open)
    assert found.outcome == outcome
    assert found.rate.n == n
    best, worst = _audit(faults, n + n_open), _audit(faults + n_open, n + n_open)
    assert (found.low, found.high) == (best.rate.low, worst.rate.high)
    if outcome == "undecided":
        assert (found.n_more or 0) >= n_open


def test_an_audit_whose_open_questions_could_change_it_says_so() -> None:
    told = audit_text(_audit(0, 40, n_open=10))
    assert told.startswith(
        "UNDECIDED: with the 10 open questions all sound or all faulty, [0.0, 33.3] holds 20.0%. About"
    )
    assert audit_text(_audit(0, 48, n_open=2)).endswith("20.0%, whatever the 2 open questions are.")


def test_nothing_labelled_is_no_rate() -> None:
    found = _audit(0, 0, n_open=50)
    assert (found.rate.value, found.rate.low, found.outcome, found.n_more) == (None, None, "undecided", None)


@pytest.mark.parametrize(
    ("faults", "n", "n_population", "extend"),
    [
        (7, 50, 1000, False),
        (8, 50, 1000, True),
        (12, 50, 1000, True),
        (13, 50, 1000, False),
        (20, 100, 1000, False),
        (10, 50, 50, False),
        (8, 50, 55, False),
        (12, 60, 80, True),
    ],
)
def test_the_sample_is_extended_between_15_and_25_percent(faults: int, n: int, n_population: int, extend: bool) -> None:
    assert _audit(faults, n, n_population=n_population).extend is extend


def test_a_sample_is_extended_where_it_is_near_its_own_threshold_and_whole() -> None:
    assert not _audit(10, 50, threshold=0.05).extend, "decided"
    assert _audit(5, 50, threshold=0.1).extend
    assert not _audit(8, 45, n_open=5).extend


def test_from_a_sample_to_the_verdict_by_commands(tmp_path: Path) -> None:
    questions = [make_question(f"q{place}", topic="Art") for place in range(60)]
    write_lines(tmp_path / "set.jsonl", map(question_data, questions))
    ran = autorater(tmp_path, "audit", "sample", "set.jsonl", "--to", "audit", "--seed", "4")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "50 of 60 questions, seed 4")
    report = autorater(tmp_path, "audit", "report", "audit")
    assert report.code == 3
    assert "UNDECIDED: nothing is labelled yet." in report.out
    assert "not defined" in report.out
    path = tmp_path / "audit" / "labels.csv"
    path.write_text(path.read_text().replace(",,,\n", ",OK,,\n"))
    first = path.read_text().splitlines()[1].split(",")[1]
    label = autorater(tmp_path, "audit", "label", "audit", first, "unanswerable", "--evidence", "https://a.example/")
    assert label.out == "50 labelled, 0 to go\n"
    report = autorater(tmp_path, "audit", "report", "audit", "--format", "json")
    fields = json.loads(report.out)
    assert (report.code, fields["outcome"], fields["rate"]["value"]) == (0, "pass", 0.02)
    assert fields["labels"]["unanswerable"] == 1
    for wrong in ("nan", "-0.1", "20"):
        refused = autorater(tmp_path, "audit", "report", "audit", "--threshold", wrong)
        assert (refused.code, "--threshold: " in refused.err) == (2, True)
    strict = autorater(tmp_path, "audit", "report", "audit", "--threshold", "0.0001")
    assert strict.code == 1
    assert "FAIL: the error rate is above" in strict.out


def test_two_versions_by_command(tmp_path: Path) -> None:
    write_lines(tmp_path / "one.jsonl", [question_data(make_question("a")), question_data(make_question("b"))])
    write_lines(tmp_path / "two.jsonl", [question_data(make_question("b", answer="Sandrey"))])
    same = autorater(tmp_path, "audit", "compare", "one.jsonl", "one.jsonl")
    assert (same.code, same.out.splitlines()[0]) == (0, "2 questions in both, 0 added, 0 removed")
    other = autorater(tmp_path, "audit", "compare", "one.jsonl", "two.jsonl", "--out", "changes.jsonl")
    assert other.code == 1
    assert "1 changed answers\n  b: 'Brelin' -> 'Sandrey'" in other.out
    assert other.out.endswith("removed: a\n")
    assert [json.loads(line) for line in (tmp_path / "changes.jsonl").read_text().splitlines()] == [
        {"what": "changed answers", "question_id": "b", "before": "Brelin", "after": "Sandrey"},
        {"what": "removed", "question_id": "a"},
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("report", "none"), "audit.json: no such file in none"),
        (("report", "none", "--level", "2"), "--level: 2; expected a number between 0.5 and 1"),
        (("sample", "none.jsonl", "--to", "x"), "none.jsonl: no such file"),
    ],
)
def test_what_a_person_must_mend_is_one_line(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    ran = autorater(tmp_path, "audit", *words)
    assert (ran.code, ran.err.startswith(f"error: {told}"), len(ran.err.splitlines())) == (2, True, 1)
