"""What is worked through, by whom, how far it is, and how raters agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_pages import make_plan, make_set, open_desk, with_verdicts

from calibration_sets.item import HumanLabel
from experiments.analyses.graded_samples import read_graded_samples
from experiments.analyses.queues.queueing import draw_queue
from experiments.errors import ReviewError
from experiments.review.desk import Desk, clean_name
from experiments.review.events import NewEvent
from experiments.review.label_store import LabelStore
from experiments.review.labels import load_labels
from experiments.review.progress import measure_agreement, measure_progress
from experiments.review.work_list import plan_run_review, plan_set_review


def say(desk: Desk, place: int, rater: str, label: str | None, kind: str = "label") -> None:
    digest = desk.review.work[place].item_digest
    token = f"{rater}{place}{kind}{label}"
    desk.record(NewEvent(token=token, rater=rater, item_digest=digest, kind=kind, label=label, blind=True))  # type: ignore[arg-type]


def test_a_queue_keeps_its_order_parts_and_probabilities(tmp_path: Path, runs) -> None:  # type: ignore[no-untyped-def]
    data = runs.run([("C", "CCI"), ("C", "CCC"), ("I", "III"), ("C", "CIN"), ("I", "III"), ("C", "CCC")])
    queue = draw_queue(read_graded_samples(data), most=4, random_share=0.5, seed=3)
    plan = plan_run_review(queue, data.calibration_set, name="exp", double_share=0.0)
    assert [one.item_id for one in plan.review.work] == [row.item.item_id for row in queue.rows]
    assert [one.probability for one in plan.review.work] == [row.probability for row in queue.rows]
    assert {one.part for one in plan.review.work} == {"ranked", "random"}
    assert (plan.review.run_id, plan.review.queue_id) == ("run-1", queue.queue_id)
    assert not plan.review.calibration_set.human_labels, "nobody leans on labels that are there"
    assert set(plan.verdicts) == set(plan.review.items)
    with LabelStore(tmp_path / "labels.sqlite") as store:
        desk = Desk(store, plan)
        say(desk, 0, "Ann", "CORRECT")
        (row,) = load_labels(store)
    assert (row.probability, row.part) == (queue.rows[0].probability, queue.rows[0].part)


def test_only_unlabelled_items_and_only_the_first() -> None:
    made = make_set(n=5)
    given_labels = [
        HumanLabel(made.items[0].item_id, made.items[0].digest, "r", "CORRECT", made.rubric),
        HumanLabel(made.items[1].item_id, made.items[1].digest, "r", "CORRECT", "another@1.0.0"),
    ]
    labelled = replace(made, human_labels=tuple(given_labels))
    plan = plan_set_review(labelled, double_share=0.0, seed=0, unlabelled=True, limit=3)
    assert [one.item_id for one in plan.review.work] == ["i01", "i02", "i03"]


def test_a_set_without_anything_to_label_is_refused() -> None:
    with pytest.raises(ReviewError, match="no item to label"):
        plan_set_review(replace(make_set(), items=()), double_share=0.0, seed=0)
    with pytest.raises(ReviewError, match="--limit"):
        plan_set_review(make_set(), double_share=0.0, seed=0, limit=0)


@pytest.mark.parametrize("share", [-0.1, 1.01, float("nan"), float("inf")])
def test_a_share_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(ReviewError, match="--double"):
        make_plan(double=share)


@given(n=st.integers(1, 40), share=st.floats(0, 1), seed=st.integers(0, 10**6))
def test_doubled_items_are_a_share_drawn_by_the_seed(n: int, share: float, seed: int) -> None:
    made = make_set(n=n)
    work = plan_set_review(made, double_share=share, seed=seed).review.work
    doubled = sum(one.raters == 2 for one in work)
    assert share * n - 1e-6 <= doubled < share * n + 1
    assert work == plan_set_review(made, double_share=share, seed=seed).review.work


def test_another_seed_doubles_other_items() -> None:
    made = make_set(n=40)
    first, second = (plan_set_review(made, double_share=0.5, seed=seed).review for seed in (1, 2))
    assert first.work != second.work
    assert first.review_id != second.review_id


def test_a_doubled_item_goes_to_two_raters_and_no_third(tmp_path: Path) -> None:
    desk = open_desk(tmp_path, make_plan(make_set(n=1), double=1.0))
    for rater in ("Ann", "Ben"):
        assert desk.hand_out(desk.read(), rater) is not None
        say(desk, 0, rater, "CORRECT")
        assert desk.hand_out(desk.read(), rater) is None
    assert desk.hand_out(desk.read(), "Cho") is None


def test_a_doubled_item_is_offered_to_as_many_as_it_still_wants(tmp_path: Path) -> None:
    desk = open_desk(tmp_path, make_plan(make_set(n=3), double=1.0))
    places = {one.item_digest: place for place, one in enumerate(desk.review.work)}

    def offered(*raters: str) -> list[int]:
        return [places[desk.hand_out(desk.read(), rater) or ""] for rater in raters]

    assert offered("Ann", "Ben", "Cho", "Dee", "Ann") == [0, 0, 1, 1, 0]
    say(desk, 0, "Ann", "CORRECT")
    assert offered("Ann") == [2], "of the second item two labels are coming"
    say(desk, 0, "Ben", None, "skip")
    assert offered("Eve") == [0], "who skipped an item does not look at it"


def test_an_item_that_another_looks_at_comes_last_and_again_after_a_while(tmp_path: Path) -> None:
    now = [0.0]
    plan = make_plan(make_set(n=2))
    first, second = (one.item_digest for one in plan.review.work)
    with LabelStore(tmp_path / "labels.sqlite") as store:
        desk = Desk(store, plan, clock=lambda: now[0])
        assert desk.hand_out(desk.read(), "Ann") == first
        assert desk.hand_out(desk.read(), "Ann") == first, "a reload shows the same"
        assert desk.hand_out(desk.read(), "Ben") == second
        assert desk.hand_out(desk.read(), "Cho") == first, "better twice than never"
        now[0] = 601.0
        assert desk.hand_out(desk.read(), "Dee") == first


def test_what_was_adjudicated_is_asked_of_nobody(tmp_path: Path) -> None:
    desk = open_desk(tmp_path, make_plan(make_set(n=1), double=1.0))
    say(desk, 0, "Ann", "CORRECT")
    say(desk, 0, "Ben", "INCORRECT")
    assert desk.read().disagreements() == [desk.review.work[0].item_digest]
    labelled = desk.read().events[-1]
    say(desk, 0, "Cho", "CORRECT", "adjudicate")
    state = desk.read()
    assert state.disagreements() == []
    assert state.open_to("Dee") == []
    undo = NewEvent(token="u", rater="Ben", item_digest=labelled.item_digest, kind="undo", undoes=labelled.event_id)
    desk.record(undo)
    found = measure_progress(desk.read())
    assert (found.n_given, found.n_wanted, found.n_adjudicated) == (1, 1, 1), "labels are counted, not decisions"


def test_progress_counts(tmp_path: Path) -> None:
    desk = open_desk(tmp_path, with_verdicts(make_plan(make_set(n=4), double=0.5, seed=1)))
    doubled = [place for place, one in enumerate(desk.review.work) if one.raters == 2]
    single = [place for place, one in enumerate(desk.review.work) if one.raters == 1]
    say(desk, doubled[0], "Ann", "CORRECT")
    say(desk, doubled[0], "Ben", "INCORRECT")
    say(desk, single[0], "Ann", "CORRECT")
    say(desk, single[0], "Ben", "CORRECT")
    say(desk, single[1], "Ann", None, "skip")
    found = measure_progress(desk.read())
    assert (found.n_items, found.n_labelled, found.n_wanted, found.n_given) == (4, 2, 6, 3)
    assert (found.n_double, found.n_disagreements, found.n_open_disagreements) == (2, 1, 1)
    ann, ben = found.raters
    assert (ann.rater, ann.n_labelled, ann.n_skipped, ann.n_open) == ("Ann", 2, 1, 1)
    assert (ben.rater, ben.n_labelled, ben.n_skipped, ben.n_open) == ("Ben", 2, 0, 2)


def test_agreement_is_not_defined_without_pairs_and_counts_no_adjudication(tmp_path: Path) -> None:
    desk = open_desk(tmp_path, make_plan(make_set(n=4), double=1.0))
    found = measure_agreement(desk.read())
    assert (found.alpha.value, found.kappa.value, found.raw.value) == (None, None, None)
    for place, (ann, ben) in enumerate([("CORRECT",) * 2, ("INCORRECT",) * 2, ("CORRECT", "INCORRECT")]):
        say(desk, place, "Ann", ann)
        say(desk, place, "Ben", ben)
    found = measure_agreement(desk.read())
    # Three of six labels are CORRECT: two labels of one item differ by chance in 3/6 of pairs, or 9/15 without repeats.
    assert found.raw.value == pytest.approx(2 / 3)
    assert found.kappa.value == pytest.approx(1 - (1 / 3) / (1 / 2))
    assert found.alpha.value == pytest.approx(1 - (1 / 3) / (9 / 15))
    assert found.raw.n == 3
    say(desk, 2, "Cho", "CORRECT", "adjudicate")
    assert measure_agreement(desk.read()) == found
    assert desk.agreement(desk.read()) is desk.agreement(desk.read()), "computed once as long as nothing happens"


@pytest.mark.parametrize("text", ["", "  ", "x" * 81, "a\x00b", "a\u202eb", "a\u200bb"])
def test_a_name_that_is_none(text: str) -> None:
    with pytest.raises(ReviewError, match="name"):
        clean_name(text)


@given(st.text(max_size=60))
def test_a_clean_name_stays_clean(text: str) -> None:
    try:
        name = clean_name(text)
    except ReviewError:
        return
    assert clean_name(f"  {name}\n") == name
    assert clean_name(name.upper(), [name]) == name or name.upper().casefold() != name.casefold()


def test_names_that_differ_in_capitals_are_one_person() -> None:
    assert clean_name("ann  LEE", ["Ben", "Ann Lee"]) == "Ann Lee"
