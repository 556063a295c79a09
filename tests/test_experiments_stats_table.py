"""What may not change a statistic, and what must: order, names, copies, turned scales, over one table of all."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import statistics_data as made
from statistics_data import LABELS, Data, estimates, mapped, plain, reordered, values, width
from statistics_table import EXEMPT, ROOMS, STATISTICS, WITH_ESTIMATES, WITHOUT_ESTIMATES, public_functions

import experiments.stats

every = pytest.mark.parametrize("name", STATISTICS)
SMALL = made.example()
LARGE = made.example(n=300, questions=120, resamples=300)
OF_SINGLE_ITEMS = {"mcnemar_test", "newcombe_interval", "paired_table"}


def test_the_table_holds_every_public_statistic() -> None:
    in_table = {name.split()[0] for name in STATISTICS}
    assert public_functions() == in_table | set(EXEMPT)
    assert not in_table & set(EXEMPT)


def test_the_table_knows_every_room() -> None:
    root = Path(experiments.stats.__file__).parent
    assert sorted(ROOMS) == sorted(place.parent.name for place in root.glob("*/__init__.py"))


def shown(name: str, result: Any) -> Any:
    """What may be held against another result: of samples, which list items, their totals; strata in one order."""
    if name == "stratum_corrections":
        return plain(sorted(result, key=lambda one: str(one.stratum)))
    return plain(result.totals() if name == "build_samples" else result)


@every
@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_items_does_not_matter(name: str, seed: int) -> None:
    """Not even in the last bit, and not in a bootstrap."""
    order = np.random.default_rng(seed).permutation(SMALL.n).tolist()
    before, after = shown(name, STATISTICS[name](SMALL)), shown(name, STATISTICS[name](SMALL.take(order)))
    assert after == reordered(before, order)


@every
def test_the_names_of_questions_do_not_matter(name: str) -> None:
    renamed = replace(SMALL, clusters=[(97 - int(str(one)[1:]), str(one)[::-1]) for one in SMALL.clusters])
    assert plain(STATISTICS[name](renamed)) == plain(STATISTICS[name](SMALL))


@every
def test_the_names_of_labels_do_not_matter(name: str) -> None:
    new = dict(zip(LABELS, ("schlecht", "", "✓"), strict=True))
    renamed = replace(
        SMALL,
        labels=tuple(new[label] for label in SMALL.labels),
        reference=[new[label] for label in SMALL.reference],
        ratings=[[None if label is None else new[label] for label in given] for given in SMALL.ratings],
        positive=new[SMALL.positive],
        not_attempted=new["NOT_ATTEMPTED"],
    )
    expected = mapped(plain(STATISTICS[name](SMALL)), lambda leaf: new.get(leaf, leaf))
    assert plain(STATISTICS[name](renamed)) == expected


BY_LABEL = {"bootstrap_sums", "build_samples", "confusion_matrix", "dawid_skene", "item_shares", "score_gradient"}
"""Tables with a column a label (or, of sums, in an order of their own)."""


@every
def test_a_scale_turned_round_gives_the_same_values(name: str) -> None:
    """Worst first or best first: distances are the same, and so is every rate. Tables by label are turned with it."""
    turned = replace(
        SMALL,
        labels=SMALL.labels[::-1],
        counts=[row[::-1] for row in SMALL.counts],
        second=[row[::-1] for row in SMALL.second],
    )
    before, after = STATISTICS[name](SMALL), STATISTICS[name](turned)
    if name in BY_LABEL:
        assert found_numbers(after) == found_numbers(before)
    else:
        assert values(after) == pytest.approx(values(before), abs=1e-9)


def found_numbers(result: Any) -> list[float]:
    """All numbers but 0 in a result, in the order of their size."""
    return sorted(round(one, 9) for one in made.numbers(plain(result)) if one)


@pytest.mark.parametrize("name", sorted(set(STATISTICS) - {"clustered_covariance", "tune_power"}))
def test_whether_numbers_come_as_lists_or_arrays_does_not_matter(name: str) -> None:
    numeric = {"baseline", "changed", "counts", "first", "item_means", "means", "second", "shares", "values"}
    arguments = STATISTICS[name].arguments(SMALL)
    as_lists = {
        key: np.asarray(value).tolist() if key in numeric and not is_dataclass(value) else value
        for key, value in arguments.items()
    }
    as_arrays = {
        key: np.asarray(value) if key in numeric and not is_dataclass(value) else value
        for key, value in as_lists.items()
    }
    fresh = {"rng": np.random.default_rng(2)} if "rng" in arguments else {}
    again = {"rng": np.random.default_rng(2)} if "rng" in arguments else {}
    function = STATISTICS[name].function
    assert plain(function(**{**as_arrays, **fresh})) == plain(function(**{**as_lists, **again}))


def copied(data: Data, *, as_questions: bool) -> Data:
    """The data twice: the copy as questions of its own, or inside the same questions."""
    twice = data.take([*range(data.n), *range(data.n)])
    names = [f"copy of {one}" if as_questions else one for one in data.clusters]
    return replace(twice, clusters=[*data.clusters, *names])


MOVES_BY_LITTLE = ("agreement", "alpha", "components", "crossed", "human_", "powered")
"""Chance terms, unbiased variances and tuned weights count items, and so move a little with copies."""

OF_MODELS = (".sampled", ".resampled")
"""Their intervals are for other models as well, of which copied questions are no more."""


def test_those_without_estimates_have_none() -> None:
    assert {name for name in STATISTICS if not estimates(STATISTICS[name](SMALL))} == WITHOUT_ESTIMATES


@pytest.mark.parametrize("name", sorted(WITH_ESTIMATES))
def test_copies_as_questions_keep_values_and_narrow_intervals(name: str) -> None:
    """About by the root of two, for twice as many questions; by more where three or four questions err."""
    once, twice = estimates(STATISTICS[name](LARGE)), estimates(STATISTICS[name](copied(LARGE, as_questions=True)))
    assert twice.keys() == once.keys()
    near = 0.03 if any(part in name for part in MOVES_BY_LITTLE) else 1e-9
    for where, one in once.items():
        two = twice[where]
        assert two.value == pytest.approx(one.value, abs=near), where
        assert (two.n, two.repeats) == (2 * one.n, one.repeats), where
        before, after = width(one), width(two)
        if before is not None and after is not None and not where.startswith(OF_MODELS):
            assert 0.4 < after / before < 0.82, (where, one, two)


OF_COMPONENTS = {
    "correctness_components",
    "crossed_components",
    "crossed_correctness_components",
    "variance_components",
}
"""Copies inside a question, or other questions, are other components."""


CAPPED_BY_ITEMS = {"weighted_rate"}
"""Takes repeats for no information, however much they tell, but copies of items for some, up to what clusters allow."""


@pytest.mark.parametrize("name", sorted(WITH_ESTIMATES - OF_SINGLE_ITEMS - OF_COMPONENTS - CAPPED_BY_ITEMS))
def test_copies_inside_questions_add_no_information(name: str) -> None:
    """Up to a little where the number of verdicts caps the effective sample size, and up to the draws."""
    once, twice = estimates(STATISTICS[name](LARGE)), estimates(STATISTICS[name](copied(LARGE, as_questions=False)))
    for where, one in once.items():
        two = twice[where]
        assert two.clusters == one.clusters, where
        before, after = width(one), width(two)
        if before is not None and after is not None:
            assert after / before > 0.92, (where, one, two)


@pytest.mark.parametrize("name", sorted(CAPPED_BY_ITEMS))
def test_many_copies_inside_questions_tell_no_more_than_some(name: str) -> None:
    four = copied(copied(LARGE, as_questions=False), as_questions=False)
    many, more = STATISTICS[name](four), STATISTICS[name](copied(four, as_questions=False))
    assert (more.low, more.high) == pytest.approx((many.low, many.high))


PAIRED_BY_QUESTION = {name for name in STATISTICS if name.startswith("paired_score_differences")}
"""Other questions are other pairs, and so other values."""


@pytest.mark.parametrize("name", sorted(WITH_ESTIMATES - OF_SINGLE_ITEMS - OF_COMPONENTS - PAIRED_BY_QUESTION))
def test_fewer_questions_do_not_tell_more(name: str) -> None:
    """Merging questions at random leaves the variance alone on average, and takes degrees of freedom."""
    once = estimates(STATISTICS[name](LARGE))
    ratios: dict[str, list[float]] = {}
    for seed in range(4):
        place = np.random.default_rng(seed).permutation(120) // 2
        merged = replace(LARGE, clusters=[int(place[int(str(one)[1:])]) for one in LARGE.clusters])
        for where, two in estimates(STATISTICS[name](merged)).items():
            assert two.value == pytest.approx(once[where].value, abs=1e-9), where
            before, after = width(once[where]), width(two)
            if before is not None and after is not None:
                ratios.setdefault(where, []).append(after / before)
    for where, found in ratios.items():
        assert np.mean(found) > 0.87, (where, found)


ASKED_OF_ALL = {
    "bounded_error_rates",
    "coverage",
    "error_rate_bounds",
    "exact_bounds",
    "hallucination_bounds",
    "score_bounds",
    "score_error_bounds",
}


@every
def test_items_without_any_verdict_change_nothing_but_bounds(name: str) -> None:
    """In an old question and in a new one; statistics that list items list these too."""
    empty: made.Counts = [[0, 0, 0], [0, 0, 0]]
    more = replace(
        SMALL,
        reference=[*SMALL.reference, "CORRECT", "INCORRECT"],
        counts=SMALL.counts + empty,
        second=SMALL.second + empty,
        ratings=[[*given, None, None] for given in SMALL.ratings],
        clusters=[*SMALL.clusters, "q3", "a new one"],
    )
    before, after = STATISTICS[name](SMALL), STATISTICS[name](more)
    if name in ASKED_OF_ALL:
        assert plain(after) != plain(before)
    elif estimates(before):
        assert estimates(after) == estimates(before)
    else:
        assert without_new(shown(name, after), shown(name, before)) == shown(name, before)


NOTED = {"left_out", "n_unlabelled", "no_verdict"}
"""What counts items without a verdict."""


def without_new(after: Any, before: Any) -> Any:
    """A result without the items that are new in it, which stand last."""
    if isinstance(before, dict):
        return {key: before[key] if key in NOTED else without_new(after[key], before[key]) for key in before}
    if isinstance(before, list):
        cut = after[: len(before)] if len(before) == SMALL.n else after
        return [without_new(one, other) for one, other in zip(cut, before, strict=True)]
    return after


NEEDS_ALL_LABELS = {"box_ranges", "check_identification", "correct_scores", "correct_scores bootstrap"}
NEEDS_ALL_LABELS |= {"corrected_differences", "corrected_differences bootstrap", "corrected_pairs"}
NEEDS_ALL_LABELS |= {"error_budget", "stratum_corrections"}
GWET = {name for name in STATISTICS if name.startswith(("agreement", "multi_rater_agreement", "human_ceiling"))}
"""Gwet's chance agreement counts the labels of the scale, and weights are shares of the longest distance."""


@pytest.mark.parametrize("name", sorted(set(STATISTICS) - NEEDS_ALL_LABELS - GWET - {"score_gradient"}))
def test_a_label_that_nobody_uses_changes_no_value(name: str) -> None:
    longer = replace(
        SMALL,
        labels=(*LABELS, "PERFECT"),
        counts=[[*row, 0] for row in SMALL.counts],
        second=[[*row, 0] for row in SMALL.second],
    )
    before, after = STATISTICS[name](SMALL), STATISTICS[name](longer)
    if estimates(before):
        assert values(after) == pytest.approx(values(before), abs=1e-9)
    else:
        assert found_numbers(after) == found_numbers(before)


def single_verdicts(times: int) -> Data:
    """One verdict an item of either grader, what it said most often, counted several times."""

    def once(counts: made.Counts) -> made.Counts:
        return [[times * (place == int(np.argmax(row)) and sum(row) > 0) for place in range(3)] for row in counts]

    return replace(LARGE, counts=once(LARGE.counts), second=once(LARGE.second), expected=times, resamples=70)


OF_REPEATS = OF_COMPONENTS | {"error_budget", "error_split", "flip_rate", "majority_error_rates", "mean_item_entropy"}
OF_REPEATS |= {"movement_test", "pairwise_disagreement", "split_wrong_verdicts"}
OF_REPEATS |= {name for name in STATISTICS if name.startswith("alpha_repeats")}
COUNT_VERDICTS = {"build_samples", "confusion_matrix", "majority_curve"}


@pytest.mark.parametrize("name", sorted(set(STATISTICS) - COUNT_VERDICTS))
def test_repeats_that_all_agree_count_as_one(name: str) -> None:
    """What one verdict says of an item, ten equal ones say too; only what compares repeats needs two."""
    one, ten = STATISTICS[name](single_verdicts(1)), STATISTICS[name](single_verdicts(10))
    for before, after in zip(values(one), values(ten), strict=True):
        if before is None:
            assert after is None or name in OF_REPEATS
        else:
            assert after == pytest.approx(before, abs=1e-9)
    for where, estimate in estimates(one).items():
        narrow, wide = width(estimates(ten)[where]), width(estimate)
        if narrow is not None and wide is not None:
            assert narrow > 0.95 * wide, (where, estimate, estimates(ten)[where])
