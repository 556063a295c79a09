"""One verdict out of several: by the most, by the mean; ties and failures are told and never numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.scale import BINARY, DER2_ERRORS, DER2_RUBRIC, OMNISCIENCE, SIMPLEQA, LabelScale
from experiments.outlets.aggregation import AGGREGATIONS, Aggregate, aggregate_verdicts, label_value
from graders.verdict import FAILURES, Verdict


def verdicts(*said: str) -> list[Verdict]:
    return [
        Verdict("d", "g", repeat, None if word in FAILURES else word, word if word in FAILURES else None, "robust")  # type: ignore[arg-type]
        for repeat, word in enumerate(said)
    ]


@pytest.mark.parametrize(
    ("label", "scale", "value"),
    [
        ("CORRECT", SIMPLEQA, "C"),
        ("INCORRECT", SIMPLEQA, "I"),
        ("NOT_ATTEMPTED", SIMPLEQA, "N"),
        ("PARTIAL_ANSWER", OMNISCIENCE, "P"),
        ("INCORRECT", BINARY, "I"),
        ("0.75", DER2_RUBRIC, 0.75),
        ("0", DER2_RUBRIC, 0.0),
    ],
)
def test_labels_are_worth_what_inspect_takes_them_for(label: str, scale: LabelScale, value: str | float) -> None:
    assert label_value(label, scale) == value


def test_a_scale_without_right_or_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="neither a label for right nor numbers"):
        label_value(DER2_ERRORS.labels[0], DER2_ERRORS)


def test_the_most_frequent_label_wins_and_failures_have_no_vote() -> None:
    found = aggregate_verdicts(
        verdicts("CORRECT", "unparsed", "unparsed", "empty", "CORRECT", "INCORRECT"), SIMPLEQA, "majority"
    )
    assert (found.value, found.label, found.unscored) == ("C", "CORRECT", None)
    assert found.counts == {"INCORRECT": 1, "CORRECT": 2}
    assert found.failures == {"empty": 1, "unparsed": 2}


def test_a_tie_is_no_verdict_and_names_its_labels() -> None:
    found = aggregate_verdicts(verdicts("CORRECT", "INCORRECT", "unparsed"), SIMPLEQA, "majority")
    assert (found.value, found.label, found.unscored) == (None, None, "tied")
    assert found.tied == ("INCORRECT", "CORRECT")


def test_the_mean_takes_a_tie_for_a_half() -> None:
    found = aggregate_verdicts(verdicts("CORRECT", "INCORRECT", "refused"), SIMPLEQA, "mean")
    assert found.value == (1 + 0) / 2
    assert aggregate_verdicts(verdicts("0.25", "1", "1"), DER2_RUBRIC, "mean").value == (0.25 + 1 + 1) / 3
    assert aggregate_verdicts(verdicts("PARTIAL_ANSWER"), OMNISCIENCE, "mean").value == 0.5


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (["not_answered"] * 3, "scoring_failed"),
        (["not_answered", "unparsed"], "grader_failed"),
        (["refused"], "grader_failed"),
        ([], "scoring_failed"),
    ],
)
@pytest.mark.parametrize("rule", AGGREGATIONS)
def test_without_a_usable_verdict_there_is_a_reason_and_no_value(said: list[str], reason: str, rule: str) -> None:
    found = aggregate_verdicts(verdicts(*said), SIMPLEQA, rule)  # type: ignore[arg-type]
    assert (found.value, found.unscored) == (None, reason)
    assert sum(found.failures.values()) == len(said)


def test_a_value_xor_a_reason() -> None:
    for value, reason in (("C", "tied"), (None, None)):
        with pytest.raises(ValueError, match="exactly one"):
            Aggregate(value, reason, None, (), {}, {})  # type: ignore[arg-type]


WORDS = st.lists(st.sampled_from([*SIMPLEQA.labels, "unparsed", "not_answered"]), max_size=12)


@given(WORDS, st.sampled_from(AGGREGATIONS), st.randoms())
def test_order_does_not_matter_and_every_verdict_is_counted_once(said: list[str], rule: str, chance: object) -> None:
    found = aggregate_verdicts(verdicts(*said), SIMPLEQA, rule)  # type: ignore[arg-type]
    mixed = list(said)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    assert aggregate_verdicts(verdicts(*mixed), SIMPLEQA, rule) == found  # type: ignore[arg-type]
    assert sum(found.counts.values()) + sum(found.failures.values()) == len(said)
    more = aggregate_verdicts(verdicts(*said, "unparsed", "not_answered"), SIMPLEQA, rule)  # type: ignore[arg-type]
    assert more.value == found.value


@given(st.lists(st.sampled_from(SIMPLEQA.labels), min_size=1, max_size=12))
def test_a_majority_of_more_than_half_always_wins(said: list[str]) -> None:
    found = aggregate_verdicts(verdicts(*said), SIMPLEQA, "majority")
    for label in SIMPLEQA.labels:
        if 2 * said.count(label) > len(said):
            assert found.label == label
