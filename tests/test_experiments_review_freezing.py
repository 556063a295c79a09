"""Frozen labels: which label stands, what the set says of itself, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from review_pages import make_plan, make_set

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.errors import SetFileError
from calibration_sets.loader import load_set
from experiments.analyses.graded_samples import read_graded_samples
from experiments.analyses.queues.queueing import draw_queue
from experiments.errors import ReviewError
from experiments.review.events import Event
from experiments.review.exchange.freezing import FreezeOptions, FrozenLabels, before_adjudication, freeze_labels
from experiments.review.exchange.set_folder import write_frozen_set
from experiments.review.review_record import Review
from experiments.review.work_list import plan_run_review

SET_REVIEW = make_plan(make_set(n=4)).review
RUBRIC = SET_REVIEW.calibration_set.rubric
LETTERS = {"C": "CORRECT", "I": "INCORRECT", "N": "NOT_ATTEMPTED"}
OPTIONS = FreezeOptions(name="mine", version="1.0.0")


def told(review: Review, said: Sequence[tuple[int, str, str]], **changes: Any) -> list[Event]:
    """Events of (place, rater, letter); a rater in capitals adjudicates, a letter '!' disputes the reference."""
    events = []
    for number, (place, rater, letter) in enumerate(said, start=1):
        kind: Any = "flag" if letter == "!" else "adjudicate" if rater.isupper() else "label"
        event = Event(
            number, review.review_id, rater.title(), review.work[place].item_digest, kind, LETTERS.get(letter), None,
            True if letter == "!" else None, True, None, f"2026-01-{number:02}T00:00:00+00:00",
        )  # fmt: skip
        events.append(replace(event, **changes))
    return events


def freeze(review: Review, said: Sequence[tuple[int, str, str]], **options: Any) -> FrozenLabels:
    return freeze_labels(review, told(review, said), [review], replace(OPTIONS, **options))


def rows(frozen: CalibrationSet) -> list[tuple[str, str, str, str]]:
    return [(one.item_id, one.rater, one.label[0], one.rubric) for one in frozen.human_labels]


ALL = [(place, "ann", "C") for place in range(4)]


def test_each_rater_and_item_is_a_row(tmp_path: Path) -> None:
    frozen = freeze(SET_REVIEW, [*ALL, (0, "ben", "C"), (1, "ben", "I")]).calibration_set
    assert rows(frozen) == [
        ("i00", "Ann", "C", RUBRIC), ("i00", "Ben", "C", RUBRIC), ("i01", "Ann", "C", RUBRIC),
        ("i01", "Ben", "I", RUBRIC), ("i02", "Ann", "C", RUBRIC), ("i03", "Ann", "C", RUBRIC),
    ]  # fmt: skip
    assert (frozen.consensus().tied, frozen.label_source) == (("i01",), "human")
    assert (frozen.name, frozen.version, frozen.licence) == ("mine", "1.0.0", "CC0-1.0")
    assert write_frozen_set(frozen, tmp_path / "mine")
    assert load_set(tmp_path / "mine") == frozen


@pytest.mark.parametrize(
    ("labels", "decided", "moved"),
    [
        ("CI", "I", False),
        ("CI", "N", True),
        ("CCI", "I", True),
        ("CCI", "C", False),
        ("C", "I", True),
        ("", "I", False),
    ],
)
def test_the_adjudicated_label_is_the_reference_label(labels: str, decided: str, moved: bool) -> None:
    raters = ["ann", "ben", "cho"]
    said = [(0, rater, letter) for rater, letter in zip(raters, labels, strict=False)]
    frozen = freeze(SET_REVIEW, [*ALL[1:], *said, (0, "DEE", decided)]).calibration_set
    assert frozen.consensus().labels["i00"] == LETTERS[decided]
    own = [one for one in rows(frozen) if one[0] == "i00"]
    assert own[-1] == ("i00", "Dee (adjudication)", decided, RUBRIC)
    expected = before_adjudication(RUBRIC) if moved else RUBRIC
    assert [(one[2], one[3]) for one in own[:-1]] == [(letter, expected) for letter in labels], "no label is lost"


def test_who_adjudicates_an_own_label_has_two_rows_that_load(tmp_path: Path) -> None:
    frozen = freeze(SET_REVIEW, [*ALL, (0, "ben", "I"), (0, "ANN", "I")])
    write_frozen_set(frozen.calibration_set, tmp_path / "mine")
    assert load_set(tmp_path / "mine").consensus().labels["i00"] == "INCORRECT"


def test_a_rater_who_is_called_like_an_adjudicator_is_somebody_else(tmp_path: Path) -> None:
    said = [(0, "Cho (adjudication)", "C"), (0, "ben", "I"), (0, "CHO", "C")]
    events = told(SET_REVIEW, said)
    events[0] = replace(events[0], rater="Cho (adjudication)")
    frozen = freeze_labels(SET_REVIEW, events, [SET_REVIEW], OPTIONS).calibration_set
    assert [one.rater for one in frozen.human_labels] == [
        "Cho (adjudication)", "Ben", "Cho (adjudication) (adjudication)"
    ]  # fmt: skip
    write_frozen_set(frozen, tmp_path / "mine")
    assert load_set(tmp_path / "mine") == frozen


def test_the_last_of_several_adjudications_stands() -> None:
    frozen = freeze(SET_REVIEW, [*ALL, (0, "ben", "I"), (0, "CHO", "C"), (0, "DEE", "I")]).calibration_set
    assert frozen.consensus().labels["i00"] == "INCORRECT"
    assert not [one for one in frozen.human_labels if one.rater.startswith("Cho")]


def test_the_set_says_who_labelled_how_and_how_far_they_agree() -> None:
    said = [*ALL, (0, "ben", "C"), (1, "ben", "I"), (1, "CHO", "I"), (2, "ben", "!")]
    events = told(SET_REVIEW, said)
    events[0] = replace(events[0], blind=False)
    frozen = freeze_labels(SET_REVIEW, events, [SET_REVIEW], OPTIONS)
    text = frozen.calibration_set.description
    for part in (
        "5 labels by Ann (3), Ben (2), 2026-01-01 to 2026-01-07",
        "1 of 6 are not known to have been given without sight of graders' verdicts",
        "2 of 3 items (67%) have two labels or more; items on which raters differ: 1",
        "before any adjudication, agree in 50.0%",
        "Items adjudicated: 1, by Cho (1)",
        "Left out, as a rater holds the reference to be wrong or doubtful: 1 labelled items.",
    ):
        assert part in text
    assert SET_REVIEW.review_id in frozen.calibration_set.source
    assert "small 1.0.0" in frozen.calibration_set.source


def test_disputed_items_are_kept_by_choice() -> None:
    said = [*ALL, (2, "ben", "!")]
    assert len(freeze(SET_REVIEW, said).calibration_set.items) == 3
    kept = freeze(SET_REVIEW, said, keep_disputed=True).calibration_set
    assert len(kept.items) == 4
    assert "Kept, though a rater holds the reference to be wrong or doubtful: 1" in kept.description
    with pytest.raises(ReviewError, match="all 1 labelled items have a disputed reference"):
        freeze(SET_REVIEW, [(0, "ann", "C"), (0, "ben", "!")])


def test_items_without_a_label_are_left_out_and_told() -> None:
    frozen = freeze(SET_REVIEW, [(0, "ann", "C"), (1, "ben", "!")])
    assert [item.item_id for item in frozen.calibration_set.items] == ["i00"]
    assert "1 of the 4 items of the review; left out, without a label: 3" in frozen.selection.text
    with pytest.raises(ReviewError, match="no label"):
        freeze(SET_REVIEW, [(1, "ben", "!")])


# Review queues


@pytest.fixture(scope="module")
def data(runs: Any) -> Any:
    """A run of eight items, of which the grader contradicts itself on three."""
    return runs.run([("C", "CCI"), ("C", "CII"), ("I", "CII"), *[("C", "CCC")] * 5])


def queue_review(data: Any, *, most: int, random_share: float) -> Review:
    graded = read_graded_samples(data)
    queue = draw_queue(list(graded), most=most, random_share=random_share, seed=1)
    return plan_run_review(queue, data.calibration_set, name="exp", double_share=0).review


def all_of(review: Review) -> list[tuple[int, str, str]]:
    return [(place, "ann", "C") for place in range(len(review.work))]


def test_a_queue_is_no_set_without_a_word(data: Any) -> None:
    review = queue_review(data, most=5, random_share=0.4)
    with pytest.raises(
        ReviewError, match=r"3 of which are there because graders were unsure.*queue rates.*--biased-queue"
    ):
        freeze(review, all_of(review))
    frozen = freeze(review, all_of(review), queue_as_is=True)
    assert frozen.selection.is_biased
    assert frozen.calibration_set.description.startswith("NOT A SAMPLE: 5 of the 5 items of queue-")
    drawn = [item.metadata["review_queue"] for item in frozen.calibration_set.items]
    assert [one["probability"] for one in drawn] == [one.probability for one in review.work]
    assert {one["part"] for one in drawn} == {"ranked", "random"}
    assert {(one["queue"], one["run"]) for one in drawn} == {(review.queue_id, "run-1")}


def test_a_queue_drawn_at_random_is_a_sample(data: Any) -> None:
    review = queue_review(data, most=4, random_share=1.0)
    frozen = freeze(review, all_of(review)[:3])
    assert not frozen.selection.is_biased
    assert "all drawn at random; left out, without a label: 1" in frozen.calibration_set.description


def test_a_queue_of_all_items_is_all_items_only_if_all_are_labelled(data: Any) -> None:
    review = queue_review(data, most=8, random_share=0.2)
    assert {one.probability for one in review.work} == {1.0}
    assert not freeze(review, all_of(review)).selection.is_biased
    with pytest.raises(ReviewError, match="graders were unsure"):
        freeze(review, all_of(review)[:-1])


def test_labels_of_a_queue_are_no_sample_of_the_set_that_shares_them(data: Any) -> None:
    queue = queue_review(data, most=4, random_share=0.25)
    whole = make_plan(replace(data.calibration_set, human_labels=())).review
    assert whole.protocol == queue.protocol
    events = told(queue, all_of(queue))
    with pytest.raises(ReviewError, match="4 of them labelled in a review queue; left out, without a label: 4"):
        freeze_labels(whole, events, [queue, whole], OPTIONS)
    places = [place for place, one in enumerate(whole.work) if one.item_digest not in {e.item_digest for e in events}]
    rest = [replace(one, event_id=one.event_id + 50) for one in told(whole, [(place, "ben", "C") for place in places])]
    assert len(freeze_labels(whole, [*events, *rest], [queue, whole], OPTIONS).calibration_set.items) == 8


# The folder


def test_a_version_is_written_once(tmp_path: Path) -> None:
    frozen = freeze(SET_REVIEW, ALL).calibration_set
    assert write_frozen_set(frozen, tmp_path / "mine")
    assert not write_frozen_set(frozen, tmp_path / "mine")
    before = {path.name: path.read_bytes() for path in (tmp_path / "mine").iterdir()}
    other = freeze(SET_REVIEW, [(0, "ann", "I"), *ALL[1:]]).calibration_set
    with pytest.raises(ReviewError, match=r"mine: mine 1\.0\.0 with other content; expected a new folder"):
        write_frozen_set(other, tmp_path / "mine")
    with pytest.raises(ReviewError, match="with other content"):
        write_frozen_set(replace(frozen, description="Otherwise told."), tmp_path / "mine")
    assert {path.name: path.read_bytes() for path in (tmp_path / "mine").iterdir()} == before


def test_a_folder_of_something_else_stays(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("work")
    with pytest.raises(ReviewError, match="something with other content"):
        write_frozen_set(freeze(SET_REVIEW, ALL).calibration_set, tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "work"


@pytest.mark.parametrize(("name", "version"), [("my set", "1.0.0"), ("mine", "1")])
def test_a_bad_name_or_version_writes_nothing(tmp_path: Path, name: str, version: str) -> None:
    frozen = freeze(SET_REVIEW, ALL, name=name, version=version).calibration_set
    with pytest.raises(SetFileError, match=r"set\.toml: (name|version)"):
        write_frozen_set(frozen, tmp_path / "mine")
    assert not (tmp_path / "mine").exists()
