"""Seeds of draws: fixed, spaced, and never shared within an item."""

from __future__ import annotations

import hashlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders.providers.seeds import CHILDREN, SPACING, draw_seed


def digest_of(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def test_a_run_of_10000_items_times_10_shares_no_seed_and_no_block() -> None:
    seeds = [[draw_seed(0, digest_of(item), repeat) for repeat in range(10)] for item in range(10_000)]
    assert len({seed for item in seeds for seed in item}) == 100_000
    firsts = sorted(item[0] for item in seeds)
    assert min(b - a for a, b in pairwise(firsts)) >= SPACING


def test_ten_repeats_are_the_children_of_one_request() -> None:
    first = draw_seed(7, digest_of(1), 20)
    assert first % SPACING == 0
    assert [draw_seed(7, digest_of(1), 20 + child) - first for child in range(CHILDREN)] == list(range(CHILDREN))


def test_the_seeds_stay_what_they_are() -> None:
    # stored runs are resumed with them: a change here would mix two series of draws
    block = int.from_bytes(hashlib.sha256(f"3:{digest_of(5)}".encode()).digest()[:8], "big") % 2**28
    assert draw_seed(3, digest_of(5), 4) == 16 * block + 4


@given(st.integers(), st.integers(0, 10**6), st.lists(st.integers(0, 10**5), min_size=2, unique=True))
def test_repeats_of_one_item_never_share_a_seed(base: int, item: int, repeats: list[int]) -> None:
    seeds = [draw_seed(base, digest_of(item), repeat) for repeat in repeats]
    assert len(set(seeds)) == len(repeats)
    assert all(0 <= seed < 0xFFFFFFFF for seed in seeds)


@given(st.integers(0, 10**6))
def test_another_base_seed_or_item_moves_the_block(item: int) -> None:
    ours = draw_seed(0, digest_of(item), 0)
    assert abs(ours - draw_seed(1, digest_of(item), 0)) >= CHILDREN
    assert abs(ours - draw_seed(0, digest_of(item + 1), 0)) >= CHILDREN


def test_adjacent_base_seeds_are_not_adjacent_draws() -> None:
    # base seeds 7 and 8 must not share nine of ten draws
    ours = {draw_seed(7, digest_of(1), repeat) for repeat in range(10)}
    assert not ours & {draw_seed(8, digest_of(1), repeat) for repeat in range(10)}


def test_a_negative_repeat_is_refused() -> None:
    with pytest.raises(ValueError, match=r"repeat: -1; expected 0 or more"):
        draw_seed(0, digest_of(1), -1)
