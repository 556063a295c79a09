"""Two runs compared: what differs is named, and rates are held against each other on the items that both judged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.calibration_set import CalibrationSet
from experiments.analyses.graded_samples import read_graded_samples
from experiments.analyses.runs.run_comparison import RunComparison, compare_runs, item_flips
from experiments.analyses.runs.run_comparison_page import run_comparison_document, run_comparison_fields, summary_text
from experiments.errors import SpecError
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.plain import estimate_fields
from experiments.reports.render_text import render_document

LETTERS = ["CCCC", "CCCI", "IIII", "IIIC", "CCCC", "CICI", "IICC", "IIII", "CCCC", "CCCC", "IIII", "CIII"]
PEOPLE = "CCIICCIICCII"
ROWS = list(zip(PEOPLE, LETTERS, strict=True))
WORSE = [(person, "IIII" if person == "C" else letters) for person, letters in ROWS]


def compare(first: RunData, second: RunData, **options: Any) -> RunComparison:
    given = {"level": 0.95, "same_store": False} | options
    return compare_runs(replace(first, run_id="a-1"), replace(second, run_id="b-2"), **given)


def renamed(data: RunData, **changes: Any) -> RunData:
    """The run with its only grader changed, its verdicts too where the id is another."""
    (results,) = data.graders
    if "grader_id" in changes:
        changes["verdicts"] = [replace(one, grader_id=changes["grader_id"]) for one in results.verdicts]
    return replace(data, graders=(replace(results, **changes),))


def page(found: RunComparison) -> str:
    return " ".join(render_document(run_comparison_document(found)).split())


def test_a_run_beside_its_like_shows_nothing(runs: Any) -> None:
    found = compare(runs.run(ROWS), runs.run(ROWS))
    (pair,) = found.pairs
    assert (pair.matched, pair.n_common, pair.changes) == ("id", 12, ())
    for one in pair.measures:
        assert one.first == one.second
        assert one.comparison is not None
        assert one.comparison.difference.estimate.value == 0
        assert one.adjusted == 1
    assert "no difference is shown; that does not prove that there is none" in summary_text(found)


def test_differences_by_hand(runs: Any) -> None:
    found = compare(runs.run(ROWS), runs.run(WORSE))
    measures = {one.name: one for one in found.pairs[0].measures}
    false_negatives = measures["false_negative_rate"]
    # Six items that people call correct: one draw in four of the second, half of the fifth are wrong; later all are.
    assert false_negatives.first.value == pytest.approx((0 + 1 / 4 + 0 + 2 / 4 + 0 + 0) / 6)
    assert false_negatives.second.value == 1
    assert false_negatives.comparison is not None
    assert false_negatives.comparison.difference.estimate.value == pytest.approx(1 - 0.125)
    assert measures["false_positive_rate"].comparison is not None
    assert measures["false_positive_rate"].comparison.difference.estimate.value == 0
    assert measures["flip_rate"].first.value == pytest.approx(5 / 12)  # CCCI, IIIC, CICI, IICC, CIII
    assert measures["flip_rate"].second.value == pytest.approx(3 / 12)
    assert measures["coverage"].first.value == measures["coverage"].second.value == 1


def test_p_values_are_adjusted_over_all_tests(runs: Any) -> None:
    found = compare(runs.run(ROWS * 3), runs.run(WORSE * 3))
    tested = [one for pair in found.pairs for one in pair.measures if one.comparison is not None]
    raw = sorted((one.comparison.difference.p_value, one.adjusted) for one in tested if one.comparison is not None)
    assert raw[0][1] == pytest.approx(min(1, len(raw) * raw[0][0]))  # Holm: the smallest times their number
    assert [adjusted for _, adjusted in raw] == sorted(adjusted for _, adjusted in raw)
    assert "B differs from A in: p@1.0.0 local/tiny (points: false negatives +87.5" in summary_text(found)


def test_the_other_order_turns_the_differences_round(runs: Any) -> None:
    there, back = compare(runs.run(ROWS), runs.run(WORSE)), compare(runs.run(WORSE), runs.run(ROWS))
    for one, other in zip(there.pairs[0].measures, back.pairs[0].measures, strict=True):
        assert one.comparison is not None
        assert other.comparison is not None
        assert one.first.value == other.second.value
        assert one.comparison.difference.estimate.value == pytest.approx(-other.comparison.difference.estimate.value)


def test_only_common_content_is_compared(runs: Any) -> None:
    found = compare(runs.run(ROWS), runs.run(ROWS[:8]))
    assert (found.pairs[0].n_common, found.items.n_common, found.items.n_items) == (8, 8, (12, 8))
    assert found.items.only_first == ("item-008", "item-009", "item-010", "item-011")
    assert (found.items.only_second, found.items.changed, found.items.relabelled) == ((), (), ())


def with_item(data: RunData, place: int, **changes: Any) -> RunData:
    """The run with one of its items changed; a verdict of it stays with it, and so do labels."""
    old = data.calibration_set.items[place]
    new = replace(old, **changes)
    moved = replace(
        data.calibration_set,
        items=tuple(new if item is old else item for item in data.calibration_set.items),
        human_labels=tuple(
            replace(label, item_digest=new.digest) if label.item_id == old.item_id else label
            for label in data.calibration_set.human_labels
        ),
    )
    (results,) = data.graders
    verdicts = [
        replace(one, item_digest=new.digest) if one.item_digest == old.digest else one for one in results.verdicts
    ]
    return replace(data, calibration_set=moved, graders=(replace(results, verdicts=verdicts),))


def test_changed_content_is_named_and_left_out(runs: Any) -> None:
    found = compare(runs.run(ROWS), with_item(runs.run(ROWS), 2, response="edited"))
    assert found.items.changed == ("item-002",)
    assert (found.items.only_first, found.items.only_second) == ((), ())
    assert found.pairs[0].n_common == 11
    assert "changed content under the same id: 1 (item-002)" in page(found)


def test_the_labels_of_the_second_run_count(runs: Any) -> None:
    first, second = (
        runs.run(ROWS),
        runs.run([("I" if place == 0 else one, two) for place, (one, two) in enumerate(ROWS)]),
    )
    found = compare(first, second)
    assert found.items.relabelled == ("item-000",)
    rate = found.pairs[0].measures[0]
    assert (rate.first.n, rate.second.n) == (5, 5)
    assert rate.first == rate.second


def test_runs_without_a_common_item(runs: Any) -> None:
    second = runs.run(ROWS)
    for place in range(len(ROWS)):
        second = with_item(second, place, question=f"other {place}?")
    found = compare(runs.run(ROWS), second)
    assert found.pairs[0].n_common == 0
    assert all(one.first.value is None and one.adjusted is None for one in found.pairs[0].measures)
    assert "Without common items no grader is compared" in summary_text(found)
    assert "nan" not in page(found).lower()


def test_runs_without_verdicts_compare_nothing(runs: Any) -> None:
    found = compare(runs.run([("C", "----"), ("I", "----")]), runs.run([("C", "CCCC"), ("I", "IIII")]))
    measures = {one.name: one for one in found.pairs[0].measures}
    assert measures["false_negative_rate"].first.value is None
    assert measures["false_negative_rate"].untested == "no item for which both have a number"
    assert measures["coverage"].first.value == 0
    assert "false negatives: not tested, no item for which both have a number" in page(found)


def test_graders_of_another_id_match_by_prompt_and_model(runs: Any) -> None:
    changed = renamed(runs.run(ROWS), grader_id="g2", sampling={"repeats": 4, "temperature": 0.5, "channel": "letter"})
    (pair,) = compare(runs.run(ROWS), changed).pairs
    assert pair.matched == "prompt and model"
    assert "sampling: temperature" in [change.what for change in pair.changes]


def test_other_models_are_compared_if_they_are_named(runs: Any) -> None:
    first, second = runs.run(ROWS), renamed(runs.run(ROWS), grader_id="g2", model="local/big")
    found = compare(first, second)
    assert (found.pairs, found.only_first, found.only_second) == ((), ("p@1.0.0 local/tiny",), ("p@1.0.0 local/big",))
    assert "No grader is in both" in summary_text(found)
    (pair,) = compare(first, second, named=[("local/tiny", "big")]).pairs
    assert (pair.matched, pair.names) == ("--pair", ("p@1.0.0 local/tiny", "p@1.0.0 local/big"))


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ([("nobody", "tiny")], "--pair nobody=tiny: 'nobody'.*0 graders of that name; expected one of"),
        ([("tiny", "nobody")], "--pair tiny=nobody: 'nobody'.*0 graders"),
        (
            [("tiny", "tiny"), ("tiny", "tiny")],
            "--pair tiny=tiny: a grader that is in another pair; expected each once",
        ),
    ],
)
def test_pairs_that_are_none(runs: Any, named: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        compare(runs.run(ROWS), runs.run(ROWS), named=named)


def test_two_graders_of_one_name_are_not_guessed(runs: Any) -> None:
    (results,) = runs.run(ROWS).graders

    def twin(grader_id: str) -> GraderResults:
        verdicts = [replace(one, grader_id=grader_id) for one in results.verdicts]
        return replace(results, grader_id=grader_id, verdicts=verdicts)

    first = replace(runs.run(ROWS), graders=(twin("aaaaaa1"), twin("bbbbbb1")))
    found = compare(first, replace(first, graders=(twin("cccccc1"),)))
    assert found.pairs == ()
    assert len(found.only_first) == 2


def test_one_store_s_completions_are_not_tested(runs: Any) -> None:
    found = compare(runs.run(ROWS), runs.run(ROWS[:8]), same_store=True)
    (pair,) = found.pairs
    assert pair.shares_store
    assert all(one.comparison is None and one.adjusted is None for one in pair.measures)
    assert "The same completions stand in both runs" in summary_text(found)
    other = compare(runs.run(ROWS), renamed(runs.run(WORSE), grader_id="g2"), same_store=True)
    assert not other.pairs[0].shares_store


def test_flip_rates_of_other_numbers_of_repeats_are_not_tested(runs: Any) -> None:
    fewer = renamed(runs.run([(person, letters[:2]) for person, letters in ROWS]), grader_id="g2")
    measures = {one.name: one for one in compare(runs.run(ROWS), fewer).pairs[0].measures}
    assert measures["flip_rate"].untested == "it grows with the repeats, of which there are 4 and 2"
    assert measures["pairwise_disagreement"].comparison is not None


def test_other_scales_are_refused(runs: Any) -> None:
    first = runs.run(ROWS)
    scale = replace(first.calibration_set.scale, labels=tuple(reversed(first.calibration_set.scale.labels)))
    other: CalibrationSet = replace(first.calibration_set, scale=scale)
    with pytest.raises(SpecError, match=r"run b-2: scale \['CORRECT'.*expected \['INCORRECT'"):
        compare(first, replace(first, calibration_set=other))


@given(st.lists(st.text("CIN-", min_size=4, max_size=4), min_size=1, max_size=8))
def test_item_flips_are_whether_valid_verdicts_differ(runs: Any, letters: list[str]) -> None:
    (graded,) = read_graded_samples(runs.run([("C", row) for row in letters]))
    flips = item_flips(graded.sample)
    for item, flip in zip(graded.sample.items, flips, strict=True):
        valid = letters[int(item.item_id[-3:])].replace("-", "")
        assert np.isnan(flip) if len(valid) < 2 else flip == (len(set(valid)) > 1)


def test_the_plain_values_are_the_page_s(runs: Any) -> None:
    found = compare(runs.run(ROWS), runs.run(WORSE))
    fields = run_comparison_fields(found)
    assert fields["schema"] == "autorater.runs_compared/1"
    assert fields["graders"][0]["measures"][0]["first"] == estimate_fields(found.pairs[0].measures[0].first)
    assert fields["summary"] == summary_text(found)
    assert "'autorater drift' asks whether one grader" in page(found)


@pytest.mark.parametrize("width", [60, 100, 160])
def test_the_page_keeps_its_width(runs: Any, width: int) -> None:
    shown = render_document(run_comparison_document(compare(runs.run(ROWS), runs.run(WORSE))), width=width)
    assert max(map(len, shown.splitlines())) <= width
