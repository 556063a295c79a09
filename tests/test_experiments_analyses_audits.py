"""An audit's error rate against a threshold: it decides by the whole interval, or says that it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import autorater
from curation_samples import make_question
from scipy.stats import binomtest

from calibration_sets.audit.audit_folder import AuditCounts
from calibration_sets.curation.question_file import question_data
from calibration_sets.writer import write_lines
from experiments.analyses.audits.auditing import Audit, AuditRule, judge_audit


def _audit(faults: int, n: int, *, n_population: int = 1000, n_open: int = 0, **rule: float) -> Audit:
    counts = AuditCounts(n_population, {"OK": n - faults, "unanswerable": faults}, n_open, 0)
    return judge_audit(counts, AuditRule(**rule))


@pytest.mark.parametrize(("faults", "n"), [(0, 50), (3, 50), (10, 50), (30, 50), (50, 50), (17, 100)])
def test_the_interval_is_the_exact_one(faults: int, n: int) -> None:
    found = _audit(faults, n).rate
    wanted = binomtest(faults, n).proportion_ci(0.95, method="exact")
    assert (found.value, found.low, found.high) == pytest.approx((faults / n, wanted.low, wanted.high), abs=1e-9)


@pytest.mark.parametrize(
    ("faults", "n", "outcome"),
    [(0, 50, "pass"), (3, 50, "pass"), (4, 50, "pass"), (5, 50, "undecided"), (10, 50, "undecided"), (25, 50, "fail")],
)
def test_it_decides_by_the_whole_interval(faults: int, n: int, outcome: str) -> None:
    assert _audit(faults, n).outcome == outcome


def test_how_many_more_would_decide_is_the_first_that_does() -> None:
    found = _audit(13, 50)
    assert found.outcome == "undecided"
    assert found.n_more is not None
    n = 50 + found.n_more
    assert _audit(round(13 * n / 50), n).outcome == "fail"
    assert _audit(round(13 * (n - 5) / 50), n - 5).outcome == "undecided"


def test_a_rate_at_the_threshold_needs_the_whole_set() -> None:
    assert _audit(10, 50, n_population=400).n_more == 350


def test_a_whole_set_is_decided_without_an_interval() -> None:
    found = _audit(10, 50, n_population=50)
    assert (found.rate.low, found.rate.high, found.outcome) == (0.2, 0.2, "pass")
    assert _audit(11, 50, n_population=50).outcome == "fail"
    assert _audit(11, 40, n_population=50, n_open=10).outcome == "undecided"


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
        (12, 60, 80, True),
    ],
)
def test_the_sample_is_extended_between_15_and_25_percent(faults: int, n: int, n_population: int, extend: bool) -> None:
    assert _audit(faults, n, n_population=n_population).extend is extend


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
    assert json.loads((tmp_path / "changes.jsonl").read_text()) == {
        "what": "changed answers",
        "question_id": "b",
        "before": "Brelin",
        "after": "Sandrey",
    }


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
