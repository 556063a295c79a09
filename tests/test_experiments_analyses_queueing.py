"""Review queues: a fixed rule, a random part with its chance, and rates that are weighted or refused."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.tables import read_table
from experiments.analyses.graded_samples import GradedSample, read_graded_samples
from experiments.analyses.queues.queue_file import COLUMNS, read_labelled_queue, write_queue_text
from experiments.analyses.queues.queue_rates import estimate_queue_rates
from experiments.analyses.queues.queueing import Queue, draw_queue
from experiments.analyses.queues.queueing_page import (
    queue_document,
    queue_fields,
    queue_text,
    rates_document,
    rates_text,
)
from experiments.analyses.queues.ranking import rank_items
from experiments.errors import ImportFileError, SpecError
from experiments.reports.render_text import render_document
from experiments.stats.errors import false_negative_rate, weighted_rate

SCALE = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")


def _graded(runs: Any, rows: list[tuple[str, str]]) -> tuple[GradedSample, ...]:
    return read_graded_samples(runs.run(rows))


def _two(runs: Any, rows: list[tuple[str, str, str]], **texts: Any) -> tuple[GradedSample, ...]:
    """Two graders; people, first, second."""
    items = [runs.item(number, **texts) for number in range(len(rows))]
    graders = [
        replace(
            runs.grader(runs.verdicts(items, [row[place] for row in rows], name), 3, grader_id=name),
            model=f"local/{name}",
        )
        for place, name in ((1, "one"), (2, "two"))
    ]
    data = runs.run([("C", "C")])
    people = runs.labelled(items, [row[0] for row in rows])
    return read_graded_samples(replace(data, calibration_set=people, graders=graders))


def test_the_rule_ranks_inconsistent_then_divided_then_doubtful(runs: Any) -> None:
    rows = [
        ("C", "CCC", "CCC"),  # nothing
        ("I", "CCC", "CCC"),  # against people
        ("C", "CCC", "III"),  # graders disagree
        ("C", "CCI", "CCC"),  # inconsistent
        ("C", "CIN", "CCC"),  # more so
        ("", "---", "---"),  # no verdicts
    ]
    found = rank_items(_two(runs, rows))
    assert [(one.item.item_id[-1], one.tier) for one in found] == [("4", 0), ("3", 0), ("2", 1), ("1", 3)]
    assert "entropy 1.58 bits" in found[0].reason
    assert found[3].reason == "people say INCORRECT, p@1.0.0 local/one CORRECT"


def test_the_range_check_comes_before_people(runs: Any) -> None:
    reference = parse_reference("120k (acceptable range: anything between 118k and 122k)")
    assert reference.ranges
    texts = {"reference": reference, "response": "It is 500,000."}
    found = rank_items(_two(runs, [("I", "CCC", "CCC"), ("I", "III", "III")], **texts))
    assert [(one.item.item_id[-1], one.tier) for one in found] == [("0", 2)]
    assert "outside the range" in found[0].reason


MANY = [("C", "CCI")] * 12 + [("C", "CCC")] * 30 + [("I", "III")] * 18


def test_ranked_items_are_certain_and_all_others_have_one_chance(runs: Any) -> None:
    queue = draw_queue(_graded(runs, MANY), most=10, random_share=0.2, seed=4)
    assert (queue.n_items, queue.n_flagged, queue.n_ranked, queue.n_random) == (60, 12, 8, 2)
    assert Counter((row.part, row.probability) for row in queue.rows) == {("ranked", 1.0): 8, ("random", 2 / 52): 2}
    ranked = [row.item.item_id for row in queue.rows if row.part == "ranked"]
    assert ranked == sorted(ranked)
    assert sum(1 / row.probability for row in queue.rows) == pytest.approx(60)


def test_room_that_the_ranked_part_leaves_is_drawn(runs: Any) -> None:
    queue = draw_queue(_graded(runs, MANY), most=30, random_share=0.2)
    assert (queue.n_ranked, queue.n_random, queue.random_probability) == (12, 18, 18 / 48)


def test_a_queue_larger_than_the_run_holds_all_for_certain(runs: Any) -> None:
    queue = draw_queue(_graded(runs, MANY[:20]), most=50)
    assert len(queue.rows) == 20
    assert {row.probability for row in queue.rows} == {1.0}


def test_a_queue_of_one_is_random(runs: Any) -> None:
    queue = draw_queue(_graded(runs, MANY), most=1)
    assert [(row.part, row.probability) for row in queue.rows] == [("random", 1 / 60)]


def test_no_items_make_no_rows(runs: Any) -> None:
    queue = draw_queue(_graded(runs, []), most=5)
    assert queue.rows == ()
    assert "nothing to label" in queue_text(queue)


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1, float("nan")])
def test_a_random_part_is_always_mixed_in(runs: Any, share: float) -> None:
    with pytest.raises(SpecError, match="--random-share"):
        draw_queue(_graded(runs, MANY), most=10, random_share=share)
    with pytest.raises(SpecError, match="--most"):
        draw_queue(_graded(runs, MANY), most=0)


def test_the_seed_fixes_the_queue_and_every_other_item_comes_up_as_often(runs: Any) -> None:
    graded = _graded(runs, MANY)
    assert draw_queue(graded, most=10, seed=1) == draw_queue(graded, most=10, seed=1)
    drawn: Counter[str] = Counter()
    places = []
    for seed in range(400):
        rows = draw_queue(graded, most=10, random_share=0.5, seed=seed).rows
        drawn.update(row.item.item_id for row in rows if row.part == "random")
        places += [place for place, row in enumerate(rows) if row.part == "random"]
    assert len(drawn) == 55
    # 400 * 5 / 55 = 36 each, with a standard deviation of 5.8.
    assert min(drawn.values()) > 36 - 5 * 5.8
    assert max(drawn.values()) < 36 + 5 * 5.8
    assert abs(np.mean(places) - 4.5) < 0.3


def _fill(queue: Queue, path: Path, labels: dict[str, str], *, drop: int = 0) -> Path:
    rows = list(csv.DictReader(io.StringIO(write_queue_text(queue))))
    for row in rows:
        row["label"] = labels.get(row["item_digest"], "")
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows[drop:])
    return path


def _truth(graded: tuple[GradedSample, ...]) -> dict[str, str]:
    sample = graded[0].sample
    return {item.digest: str(label) for item, label in zip(sample.items, sample.reference, strict=True)}


def test_rates_of_a_whole_queue_are_weighted(runs: Any, tmp_path: Path) -> None:
    graded = _graded(runs, MANY)
    drawn = draw_queue(graded, most=20, random_share=0.5, seed=2)
    table = read_table(_fill(drawn, tmp_path / "q.csv", _truth(graded)))
    queue = read_labelled_queue(table, SCALE)
    found = estimate_queue_rates(graded, queue, level=0.95)
    right = [row for row in drawn.rows if _truth(graded)[row.item.digest] == "CORRECT"]
    wrong = {
        item.digest: 1 - counts[2] / 3
        for item, counts in zip(graded[0].sample.items, graded[0].sample.counts, strict=True)
    }
    expected = weighted_rate(
        [wrong[row.item.digest] for row in right],
        [row.probability for row in right],
        [row.item.cluster_id for row in right],
        repeats=3,
    )
    rate = found.graders[0].false_negative_rate
    assert (rate.value, rate.low, rate.high) == pytest.approx((expected.value, expected.low, expected.high), abs=1e-8)
    plain = np.mean([wrong[row.item.digest] for row in right])
    assert rate.value is not None
    assert rate.value < 0.6 * plain
    page = render_document(rates_document(found))
    assert f"{100 * plain:.1f}%" not in page


def test_over_queues_the_weighted_rate_centres_on_the_rate_of_the_run(runs: Any, tmp_path: Path) -> None:
    graded = _graded(runs, MANY)
    sample = graded[0].sample
    whole = false_negative_rate(
        sample.labels_given, sample.counts, sample.clusters, labels=SCALE, positive="CORRECT"
    ).value
    values = []
    for seed in range(60):
        drawn = draw_queue(graded, most=24, random_share=0.75, seed=seed)
        table = read_table(_fill(drawn, tmp_path / "q.csv", _truth(graded)))
        found = estimate_queue_rates(graded, read_labelled_queue(table, SCALE), level=0.95)
        values.append(found.graders[0].false_negative_rate.value)
    error = np.std(values) / len(values) ** 0.5
    assert abs(np.mean(values) - whole) < 4 * error + 0.003


def test_labels_may_be_written_small(runs: Any, tmp_path: Path) -> None:
    graded = _graded(runs, MANY)
    labels = {digest: f" {label.lower()} " for digest, label in _truth(graded).items()}
    table = read_table(_fill(draw_queue(graded, most=8), tmp_path / "q.csv", labels))
    assert {row.label for row in read_labelled_queue(table, SCALE).rows} <= set(SCALE)


def test_a_part_of_a_queue_is_refused(runs: Any, tmp_path: Path) -> None:
    graded = _graded(runs, MANY)
    drawn, truth = draw_queue(graded, most=10), _truth(graded)
    with pytest.raises(ImportFileError, match="9 rows that are not those of"):
        read_labelled_queue(read_table(_fill(drawn, tmp_path / "q.csv", truth, drop=1)), SCALE)
    truth.pop(drawn.rows[3].item.digest)
    with pytest.raises(ImportFileError, match=r"q.csv:\d+: no label; expected one of"):
        read_labelled_queue(read_table(_fill(drawn, tmp_path / "q.csv", truth)), SCALE)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("probability", "0.5", "not those of"),
        ("probability", "0", "probability '0'"),
        ("probability", "much", "probability 'much'"),
        ("part", "ranked", "not those of"),
        ("label", "PERHAPS", "label 'PERHAPS'"),
        ("queue", "queue-0", "2 values in column 'queue'"),
        ("item_digest", "0", "not those of"),
    ],
)
def test_a_changed_row_is_refused(runs: Any, tmp_path: Path, column: str, value: str, message: str) -> None:
    graded = _graded(runs, MANY)
    drawn = draw_queue(graded, most=10)
    place = next(place for place, row in enumerate(drawn.rows) if row.part == "random")
    path = _fill(drawn, tmp_path / "q.csv", _truth(graded))
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    rows[place][column] = value
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(ImportFileError, match=message):
        read_labelled_queue(read_table(path), SCALE)


def test_another_order_and_a_spreadsheets_digits_are_the_same_queue(runs: Any, tmp_path: Path) -> None:
    graded = _graded(runs, MANY)
    path = _fill(draw_queue(graded, most=10), tmp_path / "q.csv", _truth(graded))
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    for row in rows:
        row["probability"] = f"{float(row['probability']):.15f}"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, [*reversed(COLUMNS), "remark"])
        writer.writeheader()
        writer.writerows(reversed(rows))
    assert len(read_labelled_queue(read_table(path), SCALE).rows) == 10


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "  =HYPERLINK(1)", "＝1"])
def test_no_cell_is_a_formula(runs: Any, text: str) -> None:
    rows = csv.DictReader(
        io.StringIO(write_queue_text(draw_queue(_two(runs, [("C", "CCC", "III")], response=text), most=1)))
    )
    assert next(rows)["response"] == f"'{text}"


def test_line_breaks_stay_and_control_characters_are_escaped(runs: Any) -> None:
    graded = _two(runs, [("C", "CCC", "III")], response='a\nb, "c"\x1b[31m\x00')
    text = write_queue_text(draw_queue(graded, most=1))
    assert next(csv.DictReader(io.StringIO(text)))["response"] == 'a\nb, "c"\\x1b[31m\\x00'
    text.encode("utf-8")


def test_the_page_ends_in_how_labels_may_be_used(runs: Any) -> None:
    queue = draw_queue(_two(runs, [("C", "CCC", "III")] * 3, response="\x1b[31mred"), most=3)
    page = render_document(queue_document(queue))
    assert "\x1b" not in page
    assert page.rstrip().endswith("without knowing them.")
    assert queue_fields(queue)["schema"] == "autorater.queue/1"


def test_one_of_a_thing_is_told_as_one(runs: Any) -> None:
    lone = draw_queue(_graded(runs, [("C", "CCC")]), most=1)
    text = " ".join(render_document(queue_document(lone), width=300).split())
    assert "0 of 1 item give" in text
    assert "1 items" not in text
    assert "1 others" not in text
    many = draw_queue(_graded(runs, [("C", "CCI")] * 11), most=11)
    assert "1 more row is in the file" in render_document(queue_document(many), width=300)


def test_a_grader_with_only_failures_has_no_rates(runs: Any, tmp_path: Path) -> None:
    graded = _graded(runs, [("C", "-"), ("I", "-")])
    table = read_table(_fill(draw_queue(graded, most=2), tmp_path / "q.csv", _truth(graded)))
    found = estimate_queue_rates(graded, read_labelled_queue(table, SCALE), level=0.95)
    assert found.graders[0].false_negative_rate.value is None
    assert found.positive_share.value == 0.5
    assert "missing on the queue: 2." in rates_text(found)


def test_labels_of_another_runs_items_are_refused(runs: Any, tmp_path: Path) -> None:
    graded = _graded(runs, MANY)
    table = read_table(_fill(draw_queue(graded, most=10), tmp_path / "q.csv", _truth(graded)))
    with pytest.raises(ImportFileError, match="is not in run"):
        estimate_queue_rates(_graded(runs, MANY[:2]), read_labelled_queue(table, SCALE), level=0.95)


def test_a_class_that_is_in_the_ranked_part_alone_has_no_rate(runs: Any, tmp_path: Path) -> None:
    """All its weights are equal: the weighted rate would be the plain one over the items that graders find hard."""
    graded = _graded(runs, [("C", "CCI")] * 4 + [("C", "CCC")] * 30)
    drawn = draw_queue(graded, most=8, random_share=0.5, seed=1)
    labels = {row.item.digest: "CORRECT" if row.part == "ranked" else "INCORRECT" for row in drawn.rows}
    table = read_table(_fill(drawn, tmp_path / "q.csv", labels))
    found = estimate_queue_rates(graded, read_labelled_queue(table, SCALE), level=0.95)
    (one,) = found.graders
    assert (one.false_negative_rate.value, one.false_negative_rate.low) == (None, None)
    assert one.false_positive_rate.value == 1
    assert set(one.refused) == {"false_negative_rate"}
    page = " ".join(render_document(rates_document(found)).split())
    assert "false negatives not defined" in page
    assert "none of the 4 labelled items of its class was drawn at random" in page
    assert "33.3%" not in page, "which is what a plain rate over the queue would be"


def test_random_items_without_a_verdict_stand_for_nobody(runs: Any, tmp_path: Path) -> None:
    graded = _graded(runs, [("C", "CCI")] * 4 + [("C", "---")] * 30)
    drawn = draw_queue(graded, most=8, random_share=0.5, seed=1)
    table = read_table(_fill(drawn, tmp_path / "q.csv", _truth(graded)))
    found = estimate_queue_rates(graded, read_labelled_queue(table, SCALE), level=0.95)
    assert found.graders[0].false_negative_rate.value is None
    assert "false_negative_rate" in found.graders[0].refused


def test_a_queue_of_all_items_is_a_census_and_has_all_rates(runs: Any, tmp_path: Path) -> None:
    graded = _graded(runs, [("C", "CCI")] * 4 + [("I", "III")] * 4)
    drawn = draw_queue(graded, most=8, random_share=0.5, seed=1)
    assert {row.probability for row in drawn.rows} == {1.0}
    table = read_table(_fill(drawn, tmp_path / "q.csv", _truth(graded)))
    (one,) = estimate_queue_rates(graded, read_labelled_queue(table, SCALE), level=0.95).graders
    assert one.false_negative_rate.value == pytest.approx(1 / 3)
    assert not one.refused
