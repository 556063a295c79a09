"""Benchmark scores with intervals: oracles, degenerate data, missing verdicts, coverage."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from experiments.stats import Estimate, clustered_wilson, coverage, wilson
from experiments.stats.clusters.cluster_bootstrap import sum_by_cluster
from experiments.stats.clusters.clustered_mean import clustered_covariance
from experiments.stats.scores.benchmark_scores import benchmark_scores, score_bounds
from experiments.stats.scores.score_functions import SCORES, item_shares
from experiments.stats.scores.score_influence import linearise

SCALE = ["NOT_ATTEMPTED", "INCORRECT", "CORRECT"]
OTHERS = ("f1", "index", "penalised")


def single(correct: int, incorrect: int, not_attempted: int) -> NDArray[np.float64]:
    """Single labels as 0 and 1, columns in the order of the scale."""
    return np.eye(3)[[2] * correct + [1] * incorrect + [0] * not_attempted]


def estimates(shares: Any, clusters: Sequence[Any] | None = None, **options: Any) -> dict[str, Estimate]:
    roles = {"labels": SCALE, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
    return benchmark_scores(shares, range(len(shares)) if clusters is None else clusters, **{**roles, **options})


def bounds(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def random_shares(seed: int, *, n: int = 60, repeats: int = 4) -> tuple[NDArray[np.float64], list[int]]:
    """Item shares of unequal clusters, with an item or two without a verdict."""
    rng = np.random.default_rng(seed)
    clusters = rng.integers(n // 3, size=n).tolist()
    chance = rng.dirichlet([0.6, 0.8, 1.0], size=n)
    counts = rng.multinomial(rng.integers(0, repeats + 1, size=n), chance)
    return item_shares(counts), clusters


def test_shares_and_accuracy_given_attempted_of_single_labels_are_statsmodels_wilson() -> None:
    found = estimates(single(12, 18, 20))
    for name, successes, n in [
        ("correct", 12, 50),
        ("incorrect", 18, 50),
        ("not_attempted", 20, 50),
        ("attempted", 30, 50),
        ("accuracy", 12, 50),
        ("accuracy_given_attempted", 12, 30),
    ]:
        assert found[name].value == pytest.approx(successes / n, abs=1e-15)
        assert_allclose(bounds(found[name]), proportion_confint(successes, n, method="wilson"), rtol=0, atol=1e-12)
        assert (found[name].method, found[name].n, found[name].clusters) == ("wilson-clustered", n, n)


@given(seed=st.integers(0, 10**6))
def test_attempted_items_alone_give_the_same_accuracy_given_attempted(seed: int) -> None:
    """Where every item is wholly attempted or not, the ratio is the clustered Wilson interval of the attempted ones."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(5, rng.dirichlet([1, 1]), size=40)
    silent = rng.random(40) < 0.4
    shares = np.column_stack([silent, np.where(silent[:, None], 0, counts / 5)])
    clusters = rng.integers(12, size=40)
    found = estimates(shares, clusters.tolist(), repeats=5)["accuracy_given_attempted"]
    expected = clustered_wilson(shares[~silent, 2], clusters[~silent].tolist(), repeats=5)
    assert_allclose([found.value, *bounds(found)], [expected.value, *bounds(expected)], rtol=0, atol=1e-9)
    assert (found.n, found.clusters, found.repeats) == (expected.n, expected.clusters, 5)


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_delta_method_of_single_labels_is_the_textbook_multinomial(name: str, level: float) -> None:
    """Independent: numeric gradient, multinomial covariance, normal quantile, on the logit of the place in the span."""
    counts, low, width = np.array([12.0, 18.0, 20.0]), *{"f1": (0, 1), "index": (-100, 200), "penalised": (-2, 3)}[name]

    def place(share: NDArray[np.float64]) -> float:
        c, i, _ = share
        score = {"f1": 2 * c / (1 + c + i), "index": 100 * (c - i), "penalised": c - 2 * i}[name]
        return float(np.log((score - low) / (low + width - score)))

    share = counts / 50
    slopes = np.array([(place(share + 1e-6 * unit) - place(share - 1e-6 * unit)) / 2e-6 for unit in np.eye(3)])
    error = np.sqrt(slopes @ (np.diag(share) - np.outer(share, share)) @ slopes / 50)
    logit = place(share) + np.array([-1, 1]) * stats.norm.ppf((1 + level) / 2) * error
    found = estimates(single(12, 18, 20), level=level, penalty=2.0)[name]
    assert_allclose(bounds(found), low + width / (1 + np.exp(-logit)), rtol=1e-8)
    assert (found.method, found.n, found.clusters) == ("delta-clustered", 50, 50)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("seed", range(3))
def test_influences_give_statsmodels_cluster_robust_variance(name: str, seed: int) -> None:
    """The score is the slope of its numerator on its denominator, weighted by 1 / denominator, without a constant."""
    rng = np.random.default_rng(seed)
    classes, codes = rng.dirichlet([1, 1, 1], size=80), rng.integers(15, size=80)
    score = SCORES[name]
    top, bottom = classes @ score.numerator_weights(1.5), classes @ np.array(score.denominator)
    fit = sm.WLS(top, bottom[:, None], weights=1 / bottom).fit(
        cov_type="cluster", cov_kwds={"groups": codes, "use_correction": False}
    )
    part = linearise(sum_by_cluster(classes, codes), score, penalty=1.5)
    assert float(score.value(classes.sum(axis=0), 1.5)) == pytest.approx(float(fit.params[0]), abs=1e-12)
    assert (part.influences**2).sum() == pytest.approx(float(fit.cov_params()[0, 0]), rel=1e-9)
    balanced = linearise(sum_by_cluster(np.eye(3)[rng.integers(3, size=60)], np.arange(60) // 4), score, penalty=1.5)
    if name != "accuracy_given_attempted":
        assert balanced.variance is not None
        assert balanced.variance > (balanced.influences**2).sum()


@pytest.mark.parametrize("name", [name for name in SCORES if SCORES[name].denominator == (1, 1, 1)])
def test_variance_of_a_mean_is_the_shared_covariance(name: str) -> None:
    rng = np.random.default_rng(3)
    classes, codes = rng.dirichlet([1, 1, 1], size=50), rng.permutation(np.r_[np.arange(11), rng.integers(11, size=39)])
    weights = SCORES[name].numerator_weights(1.0)
    expected = weights @ clustered_covariance(classes, codes) @ weights
    found = linearise(sum_by_cluster(classes, codes), SCORES[name], penalty=1.0).variance
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", OTHERS)
def test_bootstrap_is_scipys_percentile_interval_up_to_chance(name: str) -> None:
    """One item a question; scipy.stats.bootstrap resamples items."""
    labels = np.repeat([0, 1, 2], [50, 60, 90])
    classes = single(90, 60, 50)[:, [2, 1, 0]]

    def score(drawn: NDArray[np.int64], axis: int) -> NDArray[np.float64]:
        counts = np.stack([(drawn == label).sum(axis=axis) for label in (2, 1, 0)], axis=-1)
        return SCORES[name].value(counts.astype(float), 1.0)

    rng = np.random.default_rng(0)
    oracle = stats.bootstrap((labels,), score, n_resamples=20_000, method="percentile", rng=rng).confidence_interval
    found = estimates(classes[:, [2, 1, 0]], method="bootstrap", rng=rng, resamples=20_000)[name]
    low, high = SCORES[name].span(1.0)
    assert_allclose(bounds(found), (oracle.low, oracle.high), rtol=0, atol=0.006 * (high - low))
    assert found.method == "cluster-bootstrap"
    assert found.value == estimates(classes[:, [2, 1, 0]])[name].value


def test_bootstrap_resamples_questions_and_not_items() -> None:
    shares, questions = single(30, 30, 40), [row // 10 for row in range(100)]
    rng = np.random.default_rng(0)
    alone = bounds(estimates(shares, method="bootstrap", rng=rng, resamples=4000)["f1"])
    together = bounds(estimates(shares, questions, method="bootstrap", rng=rng, resamples=4000)["f1"])
    assert together[1] - together[0] > 2 * (alone[1] - alone[0])


def test_one_attempt_in_fifty_shows_how_little_it_says() -> None:
    found = estimates(single(1, 0, 49))
    given_attempted, f1 = found["accuracy_given_attempted"], found["f1"]
    assert given_attempted.value == 1.0
    assert_allclose(bounds(given_attempted), (0.207, 1.0), atol=5e-4)
    assert (given_attempted.n, given_attempted.clusters) == (1, 1)
    assert f1.value == pytest.approx(2 * 1 / (50 + 1 + 0))
    low, high = bounds(f1)
    assert 0.0 < low < 0.0392 < high < 0.3
    assert f1.method == "delta-clustered"


def test_nothing_attempted() -> None:
    found = estimates(single(0, 0, 50))
    assert found["accuracy_given_attempted"] == Estimate(None, None, None, 0.95, "wilson-clustered", 0, 0, 0)
    unseen = 1.96**2 / (50 + 1.96**2)
    assert found["f1"].value == 0.0
    assert_allclose(bounds(found["f1"]), (0.0, 2 * unseen / (1 + unseen)), atol=1e-5)
    assert_allclose(bounds(found["index"]), (-100 * unseen, 100 * unseen), atol=1e-3)
    wrong = estimates(single(0, 50, 0))
    assert wrong["accuracy_given_attempted"].value == 0.0
    assert wrong["f1"].value == 0.0
    assert_allclose(bounds(wrong["f1"]), bounds(wilson(0, 50)), atol=1e-12)


@pytest.mark.parametrize("method", ["delta", "bootstrap"])
def test_all_correct_is_no_certainty(method: str) -> None:
    found = estimates(single(20, 0, 0), method=method, rng=np.random.default_rng(0))
    for name in ("f1", "accuracy_given_attempted", "accuracy"):
        assert found[name].value == 1.0
        assert_allclose(bounds(found[name]), bounds(wilson(20, 20)), rtol=0, atol=1e-12)
    assert_allclose(bounds(found["index"]), (200 * bounds(wilson(20, 20))[0] - 100, 100), atol=1e-9)
    assert found["f1"].method == "wilson-clustered"


def test_one_item_is_one_item() -> None:
    found = estimates(single(1, 0, 0), repeats=10)
    assert_allclose(bounds(found["f1"]), (0.2065, 1.0), atol=5e-5)
    assert (found["f1"].n, found["f1"].clusters, found["f1"].repeats) == (1, 1, 10)
    mixed = estimates([[0.0, 0.5, 0.5]] * 30, ["q"] * 30)["f1"]
    assert bounds(mixed)[0] <= 0.0945
    assert bounds(mixed)[1] >= 0.9055  # at least as wide as Wilson's for half of one


def test_no_items() -> None:
    for shares in ([], np.zeros((0, 3)), np.zeros((4, 3))):
        for estimate in estimates(shares, method="bootstrap", rng=np.random.default_rng(0)).values():
            assert (estimate.value, estimate.low, estimate.high, estimate.n, estimate.clusters) == (
                None,
                None,
                None,
                0,
                0,
            )


@given(
    rows=st.lists(st.sampled_from([(0, 0, 1), (0, 1, 0), (1, 0, 0), (0.5, 0.5, 0), (0.1, 0.2, 0.7)]), min_size=1),
    n_clusters=st.integers(1, 12),
    bootstrap=st.booleans(),
)
def test_never_zero_width_never_outside_and_always_around_the_value(
    rows: list[tuple[float, ...]], n_clusters: int, bootstrap: bool
) -> None:
    clusters = [row % n_clusters for row in range(len(rows))]
    options = {"method": "bootstrap", "rng": np.random.default_rng(0), "resamples": 50} if bootstrap else {}
    for name, found in estimates(rows, clusters, repeats=10, penalty=2.0, **options).items():
        if name == "accuracy_given_attempted" and all(row[0] == 1 for row in rows):
            assert found.value is None
            continue
        low, high = bounds(found)
        least, most = SCORES[name].span(2.0)
        assert found.value is not None
        assert least <= low < high <= most
        assert low <= found.value + 1e-12 or bootstrap
        assert found.value <= high + 1e-12 or bootstrap


@given(seed=st.integers(0, 10**6))
def test_order_of_items_and_names_move_no_digit(seed: int) -> None:
    shares, clusters = random_shares(seed)
    order = np.random.default_rng(seed).permutation(len(shares))
    turned = [2, 0, 1]
    names = {"NOT_ATTEMPTED": "c", "INCORRECT": "a", "CORRECT": "b"}
    one = estimates(shares, clusters, method="bootstrap", rng=np.random.default_rng(1), resamples=40)
    other = benchmark_scores(
        shares[order][:, turned],
        [f"question {clusters[row]}" for row in order],
        labels=[names[SCALE[column]] for column in turned],
        correct="b",
        not_attempted="c",
        method="bootstrap",
        rng=np.random.default_rng(1),
        resamples=40,
    )
    assert one == other
    assert estimates(shares, clusters) == estimates(shares[order], [clusters[row] for row in order])


def test_degrees_of_freedom_count_the_questions_that_err() -> None:
    """Repeats that vary, so that the first rule wins: t on the questions over which wrong and missing are spread."""
    rng = np.random.default_rng(2)
    chance = np.r_[np.tile([0.1, 0.2, 0.7], (12, 1)), np.tile([0.0, 0.0, 1.0], (88, 1))]
    shares = rng.multinomial(50, chance) / 50
    silent, wrong, right = shares.mean(axis=0)
    influences = (100 * (shares[:, 2] - shares[:, 1]) - 100 * (right - wrong)) / 100
    variance = (influences**2).sum() / (1 - 1 / 100)
    index = 100 * (right - wrong)
    below = shares @ np.array([index, 100 + index, 0])  # how far each class lies below the index, as weights
    spread = below.sum() ** 2 / (below**2).sum()
    assert 10 < spread < 12.5
    place = (index + 100) / 200
    step = stats.t.ppf(0.975, spread - 1) * np.sqrt(variance) / 200 / (place * (1 - place))
    logit = np.log(place / (1 - place)) + np.array([-step, step])
    found = estimates(shares, repeats=50)["index"]
    assert_allclose(bounds(found), 200 / (1 + np.exp(-logit)) - 100, rtol=1e-9)
    assert silent > 0


def test_repeats_and_clusters_that_agree_do_not_narrow() -> None:
    single_items = estimates(single(20, 15, 15))
    repeated = estimates(single(20, 15, 15), repeats=10)
    copied = estimates(np.repeat(single(20, 15, 15), 10, axis=0), np.repeat(np.arange(50), 10).tolist())
    for name in OTHERS:
        assert_allclose(bounds(repeated[name]), bounds(single_items[name]), rtol=1e-12)
        assert_allclose(bounds(copied[name]), bounds(single_items[name]), rtol=1e-12)
        assert (copied[name].n, copied[name].clusters) == (500, 50)


def test_informative_repeats_narrow_f1() -> None:
    rng = np.random.default_rng(0)
    shares = rng.multinomial(10, [0.2, 0.3, 0.5], size=100) / 10
    many, few = (bounds(estimates(shares, repeats=repeats)["f1"]) for repeats in (10, 1))
    alone = bounds(estimates(single(50, 30, 20))["f1"])
    assert many[1] - many[0] < 0.5 * (alone[1] - alone[0])
    assert few[1] - few[0] > 0.9 * (alone[1] - alone[0])  # one verdict an item cannot say more than one verdict


def test_printed_wilson_figures_of_the_simpleqa_audits() -> None:
    """15 false negatives among 1,000 responses: 1.50% [0.91, 2.46]; 5 of 50 questions flawed: 10% [4.3, 21.4]."""
    for hits, n, printed in [(15, 1000, (1.5, 0.91, 2.46)), (5, 50, (10.0, 4.3, 21.4))]:
        found = estimates(single(hits, 0, n - hits))["correct"]
        digits = 2 if n == 1000 else 1
        assert tuple(round(100 * part, digits) for part in (found.value or 0, *bounds(found))) == printed
    assert bounds(found)[1] > 0.2


def test_near_duplicate_questions_widen_every_interval() -> None:
    """A template of 119 questions among 300 others, answered alike."""
    shares = np.concatenate([single(119, 0, 0), single(100, 100, 100)])
    alone = estimates(shares)
    together = estimates(shares, ["template"] * 119 + list(range(300)))
    for name in ("f1", "index", "accuracy", "accuracy_given_attempted"):
        assert np.ptp(bounds(together[name])) > 2 * np.ptp(bounds(alone[name]))


def test_failed_items_do_not_raise_the_score_unseen() -> None:
    """Five of ten items graded, all correct: 100% over valid verdicts, 50% to 100% in truth, half covered."""
    counts = np.array([[0, 0, 1]] * 5 + [[0, 0, 0]] * 5)
    found = estimates(item_shares(counts))["accuracy"]
    assert (found.value, found.n) == (1.0, 5)
    assert missing(counts, 1)["accuracy"] == (0.5, 1.0)
    assert coverage(counts, 1) == 0.5


def test_an_exception_is_neither_wrong_nor_dropped() -> None:
    """Graded right, right, wrong, and one error: between 2/4 and 3/4, not 2/3 alone."""
    counts = [[0, 0, 1], [0, 0, 1], [0, 1, 0], [0, 0, 0]]
    assert missing(counts, 1)["accuracy"] == (2 / 4, (2 + 1) / 4)
    assert missing(counts, 1)["incorrect"] == (1 / 4, (1 + 1) / 4)
    assert missing(counts, 1)["not_attempted"] == (0 / 4, 1 / 4)
    assert missing(counts, 1)["f1"] == (2 * 2 / (4 + 4), 2 * 3 / (4 + 4))


@given(seed=st.integers(0, 10**6))
def test_bounds_equal_those_of_every_way_to_fill_in(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(1, [0.2, 0.3, 0.5], size=7) * (np.arange(7) >= rng.integers(5))[:, None]
    gaps = np.flatnonzero(counts.sum(axis=1) == 0)
    filled = []
    for labels in itertools.product(range(3), repeat=len(gaps)):
        table = counts.copy()
        table[gaps, list(labels)] = 1
        filled.append(table.sum(axis=0)[[2, 1, 0]])
    for name, found in missing(counts, 1, penalty=2.0).items():
        values = SCORES[name].value(np.array(filled, dtype=float), 2.0)
        values = values[~np.isnan(values)]
        assert (found is None) == (not len(values))
        if found is not None:
            assert_allclose(found, (values.min(), values.max()), rtol=0, atol=1e-12)


def test_bounds_without_missing_verdicts_are_the_value() -> None:
    counts = np.array([[0, 1, 3], [4, 0, 0], [1, 1, 2]])
    for name, found in missing(counts, 4).items():
        assert found is not None
        assert_allclose(found, [estimates(item_shares(counts))[name].value] * 2, rtol=0, atol=1e-12)


def test_bounds_where_nothing_is_known() -> None:
    assert all(found is None for found in missing(np.zeros((0, 3)), 1).values())
    assert missing([[0, 0, 0]], 1)["accuracy_given_attempted"] == (0.0, 1.0)
    assert missing([[1, 0, 0]], 1)["accuracy_given_attempted"] is None
    two = score_bounds([[0, 1], [0, 0]], 1, labels=["no", "yes"], correct="yes", not_attempted=None)
    assert two["not_attempted"] == (0.0, 0.0)
    assert two["attempted"] == (1.0, 1.0)


def missing(counts: Any, expected: int, penalty: float = 1.0) -> dict[str, tuple[float, float] | None]:
    return score_bounds(
        counts, expected, labels=SCALE, correct="CORRECT", not_attempted="NOT_ATTEMPTED", penalty=penalty
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"shares": [[0.5, 0.6, 0.0]]}, r"shares\[0\]: not shares"),
        ({"shares": [[0.0, 0.0, 1.0], [-0.5, 0.5, 1.0]]}, r"shares\[1\]: not shares"),
        ({"shares": [[0.0, float("nan"), 1.0]]}, r"shares\[0\]: not shares"),
        ({"shares": [[0.0, 0.3, 0.0]]}, r"shares\[0\]: not shares"),
        ({"shares": [[0.5, 0.5]]}, "shares: wrong shape"),
        ({"shares": [0.0, 0.0, 1.0]}, "shares: wrong shape"),
        ({"clusters": ["q", "r"]}, "clusters: wrong length"),
        ({"correct": "RIGHT"}, "correct: label not on the scale"),
        ({"level": 95}, "level: not a confidence level"),
        ({"penalty": -0.1}, "penalty: not a cost"),
        ({"method": "jackknife"}, "method: unknown"),
        ({"method": "bootstrap"}, "rng: none for the bootstrap"),
        ({"method": "bootstrap", "rng": np.random.default_rng(0), "resamples": 0}, "resamples: too few"),
    ],
)
def test_bad_input_is_refused(changed: dict[str, Any], message: str) -> None:
    arguments = {"shares": [[0.0, 0.0, 1.0]], "clusters": ["q"], **changed}
    with pytest.raises(ValueError, match=rf"^{message}, got .*; expected "):
        estimates(arguments.pop("shares"), arguments.pop("clusters"), **arguments)


def test_bad_counts_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^counts\[0\]: more verdicts than asked for, got 2; expected 1"):
        missing([[0, 0, 2]], 1)
    with pytest.raises(ValueError, match=r"^counts: wrong shape, got .*; expected "):
        missing([[0, 2]], 2)


def test_five_models_on_czech_simpleqa(calibration_data: Path) -> None:
    """400 questions for each of five models, graded by a model: all scores follow from plain counting."""
    file = calibration_data / "czech_simpleqa" / "czech_simpleqa_graded_400.jsonl"
    verdicts: dict[str, list[str]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        verdicts.setdefault(row["system"], []).extend(row["graders"].values())
    assert [len(labels) for labels in verdicts.values()] == [400] * 5
    for labels in verdicts.values():
        right, wrong = labels.count("CORRECT"), labels.count("INCORRECT")
        found = estimates([[float(label == column) for column in SCALE] for label in labels])
        assert found["f1"].value == pytest.approx(2 * right / (400 + right + wrong), abs=1e-12)
        assert found["accuracy_given_attempted"].value == pytest.approx(right / (right + wrong), abs=1e-12)
        assert_allclose(
            bounds(found["accuracy_given_attempted"]),
            proportion_confint(right, right + wrong, method="wilson"),
            atol=1e-9,
        )
        assert found["index"].value == pytest.approx(100 * (right - wrong) / 400, abs=1e-9)
        low, high = bounds(found["f1"])
        assert 0.04 < high - low < 0.13


@pytest.mark.slow
@pytest.mark.parametrize(("repeats", "correlation"), [(1, 0.0), (10, 0.5)])
@pytest.mark.parametrize("chances", [(0.5, 0.3, 0.2), (0.05, 0.35, 0.6)])
def test_coverage_of_the_intervals(chances: tuple[float, float, float], repeats: int, correlation: float) -> None:
    """95% intervals over 600 data sets of 100 questions: no fewer than .93 hold, binomial bound at one in 1,000."""
    names = ("f1", "index", "penalised", "accuracy_given_attempted")
    rng, held = np.random.default_rng(7), dict.fromkeys(names, 0)
    for _ in range(600):
        chance = np.tile(chances, (100, 1))
        if correlation:
            chance = rng.dirichlet(np.array(chances) * (1 - correlation) / correlation, size=100)
        shares = rng.multinomial(repeats, chance)[:, [2, 1, 0]] / repeats
        found = estimates(shares, repeats=repeats)
        for name in names:
            low, high = bounds(found[name])
            held[name] += low <= float(SCORES[name].value(np.array(chances), 1.0)) <= high
    assert min(held.values()) >= stats.binom.ppf(0.001, 600, 0.93), held
