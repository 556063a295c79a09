"""Pass rates on probes: by hand, against the statistics called directly, and on the edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.analyses.probes.probing import Probing, probe_run
from experiments.analyses.probes.probing_page import probing_document, probing_fields
from experiments.errors import SpecError
from experiments.reports.inputs import RunData
from experiments.reports.render_text import render_document
from experiments.stats.comparisons import adjust_p_values, paired_comparison
from experiments.stats.intervals import rate_interval
from graders.exact import VerdictDistribution

Rows = Sequence[tuple[str, str, str]]
"""Kind, the label by construction, and the verdicts of an item."""


def run_of(runs: Any, rows: Rows, mutated: Sequence[Sequence[str]] = ()) -> RunData:
    """A run of a plain prompt and of mutated ones, whose verdicts are given item by item."""
    kinds = [kind or None for kind, _, _ in rows]
    data = runs.run([(label, verdicts) for _, label, verdicts in rows], kinds=kinds)
    chosen = replace(data.calibration_set, label_source="construction", rubric="rules@1.0.0")
    graders = list(data.graders)
    names = ("examples-reversed", "examples-grouped", "letters-permuted")
    for number, (name, letters) in enumerate(zip(names, mutated, strict=False), start=2):
        own = runs.grader(
            runs.verdicts(chosen.items, letters, f"g{number}"), graders[0].sampling["repeats"], grader_id=f"g{number}"
        )
        graders.append(replace(own, prompt=f"p+{name}@1.0.0#{number}"))
    made: RunData = replace(data, calibration_set=chosen, graders=graders)
    return made


def probed(data: RunData, *, floor: float = 0.9) -> Probing:
    return probe_run(data, floor=floor, level=0.95)


def page(found: Probing, most: int = 10) -> str:
    return " ".join(render_document(probing_document(found, most=most)).split())


def test_pass_rates_by_kind_are_item_means_with_the_exact_interval(runs: Any) -> None:
    rows = [("a", "C", "CCI"), ("a", "I", "II-"), ("a", "N", "CCC"), ("b", "C", "CCC")]
    (grader,) = probed(run_of(runs, rows)).graders
    first, second = grader.kinds
    expected = rate_interval([2 / 3, 1, 0], ["q0", "q1", "q2"], repeats=3, level=0.95, method="clopper-pearson")
    assert (first.kind, second.kind) == ("a", "b")
    assert first.estimate == expected
    assert first.coverage == pytest.approx(8 / 9)
    assert dict(first.failures) == {"unparsed": 1}
    assert list(first.bounds or ()) == pytest.approx([(2 / 3 + 0 + 2 / 3) / 3, (2 / 3 + 0 + 1) / 3])
    assert second.bounds is None
    assert grader.total.estimate.value == pytest.approx((2 / 3 + 1 + 0 + 1) / 4)


def test_a_weakness_is_shown_by_an_upper_limit_that_is_adjusted_for_the_kinds(runs: Any) -> None:
    """With two kinds left the level is 0.975; the second step, with one left, is at 0.95."""
    rows = [*[("bad", "C", "I")] * 12, *[("middling", "C", "C")] * 9, *[("middling", "C", "I")] * 5]
    (grader,) = probed(run_of(runs, rows)).graders
    kinds = {kind.kind: kind for kind in grader.kinds}
    assert kinds["bad"].outcome == "weak"
    ones = [1.0] * 9 + [0.0] * 5
    tight, wide = (
        rate_interval(ones, list(range(14)), repeats=1, level=level, method="clopper-pearson").high
        for level in (0.95, 0.975)
    )
    assert tight is not None
    assert wide is not None
    between = (tight + wide) / 2
    assert {kind.kind: kind.outcome for kind in probed(run_of(runs, rows), floor=between).graders[0].kinds} == {
        "bad": "weak", "middling": "weak",
    }  # fmt: skip
    alone = [*[("fine", "C", "C")] * 12, *rows[12:]]
    assert {kind.kind: kind.outcome for kind in probed(run_of(runs, alone), floor=between).graders[0].kinds} == {
        "fine": "undecided", "middling": "undecided",
    }  # fmt: skip


def test_a_kind_keeps_the_floor_only_with_enough_probes(runs: Any) -> None:
    rows = [*[("many", "C", "C")] * 60, *[("few", "C", "C")] * 5, *[("one", "C", "I")]]
    found = probed(run_of(runs, rows))
    assert {kind.kind: kind.outcome for kind in found.graders[0].kinds} == {
        "many": "keeps", "few": "undecided", "one": "undecided",
    }  # fmt: skip
    text = page(found)
    assert "No weakness is shown" in text
    assert "Shown to keep 90.0%: many (100.0%)." in text
    assert "Every verdict passes in few, too few probes to show 90.0%." in text
    assert "some verdicts fail in one (0.0%)" in text


def test_what_is_decided_hangs_on_no_missing_verdict(runs: Any) -> None:
    rows = [*[("a", "C", "I---")] * 12, *[("b", "C", "C...")] * 80]
    found = probed(run_of(runs, rows), floor=0.7)
    assert {kind.kind: kind.outcome for kind in found.graders[0].kinds} == {"a": "undecided", "b": "undecided"}
    assert found.graders[0].kinds[0].estimate.value == 0
    assert found.graders[0].kinds[0].bounds == (0, 0.75)


def test_kinds_without_any_verdict_come_first_and_have_no_number(runs: Any) -> None:
    rows = [("a", "C", "I"), ("b", "C", "-"), ("", "N", "N")]
    found = probed(run_of(runs, rows))
    assert [kind.kind for kind in found.graders[0].kinds] == ["b", "a", ""]
    silent = found.graders[0].kinds[0]
    assert (silent.estimate.value, silent.coverage, silent.outcome) == (None, 0, "undecided")
    text = page(found)
    assert "There is no verdict in b." in text
    assert "(no kind)" in text


def test_a_grader_with_only_failures_passes_and_fails_nothing(runs: Any) -> None:
    found = probed(run_of(runs, [("a", "C", "--"), ("b", "I", "..")], [["--", "-."]]))
    (grader,) = found.graders
    assert grader.total.estimate.value is None
    assert grader.failed == ()
    (effect,) = grader.effects
    assert (effect.changed, effect.adjusted, effect.comparison.difference.p_value) == (None, None, None)
    text = page(found)
    assert "no verdict, over the set's mix" in text
    assert "Nothing can be said of examples-reversed: no verdict." in text


def test_without_any_label_nothing_is_decided(runs: Any) -> None:
    data = run_of(runs, [("a", "C", "C")])
    found = probed(replace(data, calibration_set=replace(data.calibration_set, human_labels=())))
    assert found.graders[0].kinds == ()
    assert dict(found.graders[0].n_unlabelled) == {"a": 1}
    assert "Nothing is decided, as no item has a label." in page(found)


def test_failed_probes_take_turns_over_the_kinds_within_a_share(runs: Any) -> None:
    rows = [
        ("good", "C", "CC"), ("good", "C", "II"), ("good", "C", "CC"), ("bad", "C", "II"), ("bad", "I", "NN"),
        ("bad", "I", "CI"), ("bad", "N", "--"),
    ]  # fmt: skip
    (grader,) = probed(run_of(runs, rows)).graders
    assert [failed.item.item_id for failed in grader.failed] == ["item-003", "item-001", "item-004", "item-005"]
    assert grader.failed[-1].pass_share == 0.5
    text = page(probed(run_of(runs, rows)), most=2)
    assert "Most often failed (2 of 4" in text
    assert "item-003, bad: should be CORRECT, got INCORRECT 2" in text
    assert "item-004" not in text


def test_a_mutation_is_compared_item_by_item_and_adjusted(runs: Any) -> None:
    rows = [("a", "C", "CC")] * 12
    worse, same, mixed = ["II"] * 11 + ["-."], ["CC"] * 12, ["CI"] * 2 + ["CC"] * 10
    (grader,) = probed(run_of(runs, rows, [worse, same, mixed])).graders
    clusters = [f"q{place}" for place in range(12)]
    direct = [
        paired_comparison(shares, [1.0] * 12, clusters, rng=np.random.default_rng(20261201), repeats=2)
        for shares in ([0.0] * 11 + [float("nan")], [1.0] * 12, [0.5] * 2 + [1.0] * 10)
    ]
    adjusted = adjust_p_values([one.difference.p_value for one in direct])
    assert [effect.comparison.difference for effect in grader.effects] == [one.difference for one in direct]
    assert [effect.adjusted for effect in grader.effects] == [row.adjusted for row in adjusted.rows]
    assert [effect.changed for effect in grader.effects] == [True, False, False]
    assert [(effect.n_worse, effect.n_better) for effect in grader.effects] == [(11, 0), (0, 0), (2, 0)]
    assert grader.effects[0].comparison.left_out == 1
    text = page(probed(run_of(runs, rows, [worse, same, mixed])))
    assert "The prompt's form moves verdicts where it should not: examples-reversed (-100.0" in text
    assert "No change of the pass rate is shown by examples-grouped (+0.0" in text
    assert "Not tried" not in text
    assert "Not tried: examples-grouped, letters-permuted." in page(probed(run_of(runs, rows, [worse])))


def test_a_change_that_missing_verdicts_could_undo_is_not_decided(runs: Any) -> None:
    rows = [*[("a", "C", "C")] * 8, *[("b", "C", "I")] * 8]
    half, whole = ["I"] * 8 + ["."] * 8, ["I"] * 16
    found = probed(run_of(runs, rows, [half, whole]))
    first, second = found.graders[0].effects
    assert first.comparison.difference.p_value is not None
    assert first.comparison.difference.p_value < 0.01
    assert list(first.bounds or ()) == [-0.5, 0]
    assert [first.changed, first.hangs_on_missing] == [False, True]
    assert [second.bounds, second.changed, second.hangs_on_missing] == [None, True, False]
    text = page(found)
    assert "there is a change by examples-reversed (-100.0" in text
    assert "could undo it, so it is not decided." in text


def test_graders_that_are_no_mutations_stand_side_by_side(runs: Any) -> None:
    data = run_of(runs, [("a", "C", "C")] * 3, [["I", "I", "I"]])
    other = replace(data.graders[1], model="local/other")
    found = probed(replace(data, graders=[data.graders[0], other]))
    assert [len(grader.effects) for grader in found.graders] == [0, 0]
    assert [grader.total.estimate.value for grader in found.graders] == [1, 0]
    assert page(found).count("No mutation of the prompt was tried.") == 2


def test_nothing_is_decided_under_another_rubric_than_the_prompts(runs: Any) -> None:
    data = run_of(runs, [("a", "C", "I")] * 30)
    found = probed(replace(data, graders=[replace(data.graders[0], rubric="other@1.0.0")]))
    assert found.graders[0].kinds[0].outcome == "undecided"
    text = page(found)
    assert "The prompt states other@1.0.0, under which no probe has a label" in text
    assert "other rubric" in text
    assert "Shown to be weak" not in text


def test_labels_that_people_gave_are_no_probes(runs: Any) -> None:
    with pytest.raises(SpecError, match="labels of small are by human; expected a run over a set whose labels hold by"):
        probed(runs.run([("C", "C")]))


def test_computed_verdicts_count_as_chances(runs: Any) -> None:
    data = run_of(runs, [("a", "C", "C"), ("a", "C", " "), ("b", "I", "C")])
    chances = [{"CORRECT": 0.7, "INCORRECT": 0.2, "NOT_ATTEMPTED": 0.1}, None, {"CORRECT": 0.6, "INCORRECT": 0.4}]
    distributions = {
        item.digest: VerdictDistribution(
            item.digest,
            None if one is None else {label: one.get(label, 0.0) for label in data.calibration_set.scale.labels},
            "unparsed" if one is None else None,
        )
        for item, one in zip(data.calibration_set.items, chances, strict=True)
    }
    sampling = {**data.graders[0].sampling, "method": "exact", "repeats": 10}
    computed = replace(data.graders[0], distributions=distributions, sampling=sampling)
    (grader,) = probed(replace(data, graders=[computed])).graders
    rates = {kind.kind: kind for kind in grader.kinds}
    assert rates["a"].estimate.value == pytest.approx(0.7)
    assert rates["a"].estimate.repeats == 10
    assert list(rates["a"].bounds or ()) == pytest.approx([0.35, 0.85])
    assert rates["b"].estimate.value == pytest.approx(0.4)


def test_hostile_text_is_shown_harmless(runs: Any) -> None:
    data = run_of(runs, [("a\x1b[31m", "C", "I")])
    chosen = data.calibration_set
    assert "\x1b" not in render_document(probing_document(probed(data), most=5))
    assert chosen.items[0].kind in {
        kind["kind"] for kind in probing_fields(probed(data), most=5)["graders"][0]["kinds"]
    }


@given(
    rows=st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("CIN"), st.text("CIN-.", min_size=2, max_size=2)),
        min_size=1,
        max_size=30,
    ),
    floor=st.floats(0.05, 1),
    seed=st.randoms(use_true_random=False),
)
def test_rates_lie_in_their_bounds_and_hang_on_no_order(runs: Any, rows: Rows, floor: float, seed: Any) -> None:
    data = run_of(runs, rows)
    found = probed(data, floor=floor)
    for kind in found.graders[0].kinds:
        estimate = kind.estimate
        if estimate.value is None:
            assert kind.outcome == "undecided"
            continue
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low <= estimate.value <= estimate.high
        assert kind.outcome != "weak" or (estimate.value < floor and (kind.bounds or (0, estimate.value))[1] < floor)
        assert kind.outcome != "keeps" or (estimate.low >= floor and (kind.bounds or (estimate.value, 0))[0] >= floor)
    items = list(data.calibration_set.items)
    seed.shuffle(items)
    shuffled = replace(data, calibration_set=replace(data.calibration_set, items=tuple(items)))
    assert probing_fields(probed(shuffled, floor=floor), most=5) == probing_fields(found, most=5)
