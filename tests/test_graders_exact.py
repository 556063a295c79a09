"""Distributions of verdicts from the log-probabilities of one reply."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.scale import SIMPLEQA
from graders.exact import MOST_MOVED, VerdictDistribution, compute_distribution
from graders.verdict import Completion

LABELS = SIMPLEQA.labels
EVEN = dict.fromkeys(LABELS, math.log(0.3))


def read(
    logprobs: Mapping[str, float] | None,
    *,
    temperature: float = 2.0,
    others: Sequence[float] = (),
    stop: str | None = "stop",
    **in_force: Any,
) -> VerdictDistribution:
    completion = Completion(
        "A", "m", stop, label_logprobs=logprobs, other_logprobs=tuple(others), effective_sampling=in_force
    )
    return compute_distribution("d", completion, SIMPLEQA, temperature)


def log_shares(rng: np.random.Generator, size: int, spread: float) -> np.ndarray[Any, Any]:
    logits = rng.normal(0, spread, size)
    return np.asarray(logits - np.log(np.exp(logits).sum()))


def test_a_distribution_has_chances_or_a_failure() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        VerdictDistribution("d", None)
    with pytest.raises(ValueError, match="exactly one"):
        VerdictDistribution("d", {"a": 1.0}, "unparsed")


def test_temperature_two_takes_square_roots() -> None:
    shares = {LABELS[0]: 0.64, LABELS[1]: 0.04, LABELS[2]: 0.32}
    found = read({label: math.log(share) for label, share in shares.items()}, constrained=True)
    total = 0.8 + 0.2 + math.sqrt(0.32)
    assert found.probabilities == pytest.approx(
        {LABELS[0]: 0.8 / total, LABELS[1]: 0.2 / total, LABELS[2]: math.sqrt(0.32) / total}
    )
    assert found.outside == 0.0


@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(4, 400),
    spread=st.sampled_from([0.5, 2.0, 6.0]),
    temperature=st.sampled_from([0.3, 0.7, 1.0, 1.5, 2.0]),
    data=st.data(),
)
def test_the_mass_outside_the_labels_is_never_above_its_bound(
    seed: int, size: int, spread: float, temperature: float, data: st.DataObject
) -> None:
    everything = log_shares(np.random.default_rng(seed), size, spread)
    ranked = np.argsort(-everything)
    n_listed = data.draw(st.integers(len(LABELS), size))
    labels = data.draw(st.permutations(range(n_listed)).map(lambda order: order[: len(LABELS)]))
    others = [float(everything[ranked[place]]) for place in range(n_listed) if place not in labels]
    given_labels = {label: float(everything[ranked[place]]) for label, place in zip(LABELS, labels, strict=True)}
    weights = np.exp(everything / temperature)
    inside = float(np.exp(np.array(list(given_labels.values())) / temperature).sum())
    for told in ({"vocabulary": size}, {}):
        found = read(given_labels, temperature=temperature, others=others, **told)
        assert found.outside is not None
        assert 1.0 - inside / weights.sum() <= found.outside + 1e-9
        assert found.outside <= 1.0


def test_with_all_tokens_listed_the_bound_is_the_mass_itself() -> None:
    everything = log_shares(np.random.default_rng(5), 40, 2.0)
    found = read(dict(zip(LABELS, everything[:3], strict=True)), others=everything[3:].tolist(), vocabulary=40)
    weights = np.exp(everything / 2.0)
    # What rounding leaves over stays, as it grows by its square root.
    assert found.outside == pytest.approx(1 - weights[:3].sum() / weights.sum(), abs=1e-4)


@given(
    values=st.lists(st.floats(-12, 0), min_size=3, max_size=3),
    shift=st.floats(-20, 0),
    temperature=st.floats(0.1, 2.0),
)
def test_order_of_labels_and_a_common_factor_move_no_chance(
    values: list[float], shift: float, temperature: float
) -> None:
    logprobs = dict(zip(LABELS, values, strict=True))
    first = read(logprobs, temperature=temperature, constrained=True).probabilities
    turned = read(dict(reversed(logprobs.items())), temperature=temperature, constrained=True).probabilities
    lower = {label: value + shift for label, value in logprobs.items()}
    assert first is not None
    assert turned == pytest.approx(first)
    assert read(lower, temperature=temperature, constrained=True).probabilities == pytest.approx(first)
    assert sum(first.values()) == pytest.approx(1)


@pytest.mark.parametrize(("smallest", "is_read"), [(-4.0, False), (-9.0, False), (-12.0, True), (-30.0, True)])
def test_a_label_that_is_not_listed_must_be_next_to_impossible(smallest: float, is_read: bool) -> None:
    # At temperature 2 a listed token of e**-9 bounds the label's share by about e**-4.5, more than .005.
    found = read({LABELS[0]: -0.01}, others=[-5.0, smallest])
    assert (found.probabilities is not None) is is_read
    if not is_read:
        assert found.failure == "unparsed"
        assert "too few alternatives" in found.detail


@given(seed=st.integers(0, 2**32 - 1), temperature=st.sampled_from([0.5, 1.0, 2.0]))
def test_an_unlisted_label_that_is_read_moves_no_share_by_more_than_is_said(seed: int, temperature: float) -> None:
    everything = np.sort(log_shares(np.random.default_rng(seed), 30, 6.0))[::-1]
    hidden = float(everything[25])
    seen = {LABELS[0]: float(everything[0]), LABELS[1]: float(everything[1])}
    found = read(seen, temperature=temperature, others=everything[2:25].tolist())
    if found.probabilities is None:
        return
    weights = np.exp(np.array([*seen.values(), hidden]) / temperature)
    true = weights / weights.sum()
    for label, share in zip(LABELS, true, strict=True):
        assert abs(found.probabilities[label] - share) <= MOST_MOVED + 1e-9


@pytest.mark.parametrize(
    "logprobs",
    [None, {}, {"ELSE": -0.1}, {**EVEN, LABELS[0]: math.nan}, {**EVEN, LABELS[0]: 0.5}, dict.fromkeys(LABELS, -9999.0)],
)
def test_without_usable_log_probabilities_there_is_no_verdict(logprobs: dict[str, float] | None) -> None:
    found = read(logprobs)
    assert (found.probabilities, found.failure) == (None, "unparsed")
    assert found.detail


@pytest.mark.parametrize("stop", ["refusal", "content_filter"])
def test_a_refusal_is_no_verdict_whatever_was_listed(stop: str) -> None:
    assert read(EVEN, stop=stop).failure == "refused"


def test_a_masked_token_says_nothing_of_the_unlisted() -> None:
    found = read({LABELS[0]: -0.1, LABELS[1]: -9999.0, LABELS[2]: -3.0}, others=[-9999.0])
    assert found.probabilities is not None
    assert found.probabilities[LABELS[1]] == pytest.approx(0.0, abs=1e-12)
