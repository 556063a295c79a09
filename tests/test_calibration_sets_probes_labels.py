"""Labels of the probes, derived a second time from what the responses say."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.item import Item
from calibration_sets.probes import build_probes
from calibration_sets.probes.fact import Fact
from calibration_sets.probes.facts import FACTS, KNOWN, take_turns
from calibration_sets.probes.last_figure import agrees_to_last_figure
from calibration_sets.probes.measurement import Measurement
from calibration_sets.probes.measurements import MEASUREMENTS
from calibration_sets.references.range_check import check_range

PROBES = build_probes()
LABELS = PROBES.consensus().labels
FIRST_LABELS = PROBES.consensus("simpleqa@1.0.0").labels
ONE_LABEL = {
    "exact": "CORRECT",
    "paraphrase": "CORRECT",
    "right_extra_true": "CORRECT",
    "right_extra_wrong": "CORRECT",
    "range_bound": "CORRECT",
    "sabotage": "CORRECT",
    "other_answer": "INCORRECT",
    "near_miss": "INCORRECT",
    "range_step_past": "INCORRECT",
    "injection": "INCORRECT",
    "fence": "INCORRECT",
    "hedge_uncommitted": "NOT_ATTEMPTED",
    "vague_number": "NOT_ATTEMPTED",
    "decline": "NOT_ATTEMPTED",
    "nonexistent": "NOT_ATTEMPTED",
    "empty": "NOT_ATTEMPTED",
    "content_free": "NOT_ATTEMPTED",
    "instruction_only": "NOT_ATTEMPTED",
}
SAYS_THE_REFERENCE = {
    *("exact", "right_extra_true", "right_extra_wrong", "sabotage", "special_tokens", "template_syntax"),
    *("premise_correction", "long", "hedge_committed"),
}


def of_kind(*kinds: str) -> list[Item]:
    return [item for item in PROBES.items if item.kind in kinds]


def says(response: str, words: str) -> bool:
    """Whether the response holds the words, as whole words."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", response) is not None


@pytest.mark.parametrize(("kind", "label"), ONE_LABEL.items())
def test_kinds_with_one_label(kind: str, label: str) -> None:
    assert {LABELS[item.item_id] for item in of_kind(kind)} == {label}


@pytest.mark.parametrize("kind", sorted({item.kind or "" for item in PROBES.items} - set(ONE_LABEL)))
def test_other_kinds_have_right_and_wrong_items(kind: str) -> None:
    labels = {LABELS[item.item_id] for item in of_kind(kind)}
    assert {"CORRECT", "INCORRECT"} <= labels


def test_right_answers_say_the_reference() -> None:
    for item in of_kind(*SAYS_THE_REFERENCE):
        if LABELS[item.item_id] == "CORRECT":
            assert says(item.response, item.reference.text), item.item_id


def test_exact_answers_are_little_more_than_the_reference() -> None:
    for item in of_kind("exact"):
        bare = item.response.removeprefix("Answer: ").strip('*".')
        assert bare == item.reference.text, item.item_id


def test_wrong_answers_do_not_say_the_reference() -> None:
    for item in PROBES.items:
        if LABELS[item.item_id] == "INCORRECT" and not item.reference.ranges and item.kind != "hedge_committed":
            assert not says(item.response, item.reference.text), item.item_id


def test_answers_that_are_none_do_not_say_the_reference_or_an_alias() -> None:
    for item in PROBES.items:
        if LABELS[item.item_id] == "NOT_ATTEMPTED" and item.kind != "hedge_uncommitted":
            known = (item.reference.answer, *item.reference.aliases)
            assert not any(says(item.response, alias) for alias in known), item.item_id


def test_empty_answers_have_nothing_to_see() -> None:
    for item in of_kind("empty"):
        assert all(unicodedata.category(character)[0] in "ZC" for character in item.response), item.item_id


def test_uncommitted_hedges_name_the_answer_and_a_rival() -> None:
    facts = {fact.question.key: fact for fact in FACTS}
    for item in of_kind("hedge_uncommitted"):
        fact = facts[item.cluster_id]
        assert says(item.response, fact.answer), item.item_id
        assert any(says(item.response, other) for other in fact.others), item.item_id


def test_uncommitted_hedges_split_the_rubrics() -> None:
    for item in of_kind("hedge_uncommitted"):
        assert (LABELS[item.item_id], FIRST_LABELS[item.item_id]) == ("NOT_ATTEMPTED", "INCORRECT")


def test_committed_hedges_end_with_their_choice() -> None:
    """The last candidate that a committed hedge names is the one that it is labelled for."""
    facts = {fact.question.key: fact for fact in FACTS}
    for item in of_kind("hedge_committed"):
        fact = facts[item.cluster_id]
        places = {name: item.response.rfind(name) for name in (fact.answer, fact.others[0])}
        chosen = max(places, key=lambda name: places[name])
        assert (chosen == fact.answer) == (LABELS[item.item_id] == "CORRECT"), item.item_id


def test_the_first_rubric_is_silent_where_it_does_not_decide() -> None:
    assert not any(item.item_id in FIRST_LABELS for item in of_kind("right_extra_wrong", "nonexistent"))
    agreeing = [i for i in LABELS if FIRST_LABELS.get(i) == LABELS[i]]
    differing = {i.rsplit("-", 1)[0] for i in LABELS if FIRST_LABELS.get(i, LABELS[i]) != LABELS[i]}
    assert len(agreeing) > 350
    assert differing == {"range_bound", "hedge_uncommitted"}


NUMERIC = of_kind("range_bound", "range_step_past", "number_words", "units")


def test_the_range_check_never_contradicts_a_label() -> None:
    agreeing = {"CORRECT": ("in", "undecided"), "INCORRECT": ("out", "undecided"), "NOT_ATTEMPTED": ("undecided",)}
    for item in PROBES.items:
        outcome = check_range(item.reference, item.response).outcome
        assert outcome in agreeing[LABELS[item.item_id]], f"{item.item_id}: {item.response[:100]!r} is {outcome}"


def test_the_range_check_decides_nearly_all_quantities() -> None:
    outcomes = [check_range(item.reference, item.response).outcome for item in NUMERIC]
    assert outcomes.count("undecided") < 0.2 * len(outcomes)


def test_every_range_is_parsed() -> None:
    ranged = {m.key: m for m in MEASUREMENTS}
    for item in PROBES.items:
        assert bool(item.reference.ranges) == (item.cluster_id in ranged), item.item_id


def as_number(text: str) -> Decimal:
    """A plain number, or a clock time in seconds."""
    if ":" not in text:
        return Decimal(text.replace(",", ""))
    hours, minutes, seconds = map(int, text.split(":"))
    return Decimal(3600 * hours + 60 * minutes + seconds)


@pytest.mark.parametrize("measurement", MEASUREMENTS, ids=lambda m: m.key)
def test_steps_past_are_one_digit_outside(measurement: Measurement) -> None:
    m = measurement
    below, low, target, high, above = map(as_number, (m.below, m.low, m.target, m.high, m.above))
    exponent = low.as_tuple().exponent
    assert isinstance(exponent, int)
    step = Decimal(1).scaleb(exponent)
    assert below + step == low < target < high == above - step


@pytest.mark.parametrize("fact", FACTS, ids=lambda f: f.question.key)
def test_wrong_answers_of_a_fact_are_not_its_answer(fact: Fact) -> None:
    right = {name.casefold() for name in (fact.answer, *fact.question.aliases)}
    wrong = [*fact.others, fact.near_miss]
    assert len(set(wrong)) == 3
    assert right.isdisjoint(name.casefold() for name in wrong)
    assert not any(says(extra, fact.answer) for extra in (fact.true_extra, fact.wrong_extra))
    assert bool(fact.true_extra) == bool(fact.wrong_extra) == (not fact.question.invented)


@given(n_turns=st.integers(0, 300), first=st.integers(0, 500))
def test_facts_take_turns(n_turns: int, first: int) -> None:
    for facts in (FACTS, KNOWN):
        counts = [facts.index(fact) for fact in take_turns(facts, n_turns, first=first)]
        often = [counts.count(position) for position in range(len(facts))]
        assert sum(often) == n_turns
        assert max(often) - min(often) <= 1


@pytest.mark.parametrize(
    ("target", "value", "agrees"),
    [
        ("8,282", "8,333", False),
        ("2,111,578", "2,111,532", False),
        ("105", "103", False),
        ("1.73", "1.731", True),
        ("1.73", "1.74", False),
        ("78.08", "78.079", True),
        ("120", "124", None),
        ("120", "126", False),
        ("3.0", "3", True),
        ("17", "17.5", None),
        ("-89.2", "-89.24", True),
        ("-89.2", "-89.3", False),
    ],
)
def test_last_significant_figure(target: str, value: str, agrees: bool | None) -> None:
    assert agrees_to_last_figure(target, value) is agrees


@given(st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-(10**9), max_value=10**9))
def test_a_number_agrees_with_itself(number: Decimal) -> None:
    assert agrees_to_last_figure(str(number), str(number)) is True
