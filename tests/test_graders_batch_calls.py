"""Calls of batch jobs: their ids, their sizes, and how they are spread over jobs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from batch_study import make_grader, make_items
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from graders.batch.calls import BatchCall, BatchLimits, measure_body, new_label, split_calls, split_repeats
from graders.client import Request

GRADER = make_grader("http://localhost", "chat")


def request(item: Item, *repeats: int) -> Request:
    return Request(item, repeats, GRADER.prompt, GRADER.sampling, SIMPLEQA)


def written(body: Mapping[str, Any], custom_id: str, *, escaped: bool) -> bytes:
    """A call as services want it, in the longer of their forms."""
    line = {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(line, ensure_ascii=escaped).encode() + b"\n"


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(st.lists(TEXTS, max_size=40), st.integers(1, 9), st.integers(3_000, 9_000))
def test_no_job_is_above_its_limits_and_every_call_is_in_one(texts: list[str], most: int, n_bytes: int) -> None:
    items = [Item(f"i{n}", text, parse_reference("yes"), "r", "q") for n, text in enumerate(texts)]
    jobs = list(
        split_calls(
            [request(item, 0) for item in items],
            lambda asked: {"text": asked.item.question},
            BatchLimits(most, n_bytes),
        )
    )
    for job in jobs:
        assert 1 <= len(job.calls) <= most
        for escaped in (True, False):
            assert sum(len(written(c.body, c.custom_id, escaped=escaped)) for c in job.calls) <= n_bytes
    assert [call.request.item for job in jobs for call in job.calls] == items
    ids = [call.custom_id for job in jobs for call in job.calls]
    assert len(set(ids)) == len(items)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", custom_id) for custom_id in ids)


@given(st.lists(TEXTS, min_size=1, max_size=20), st.integers(1, 5))
def test_a_job_is_as_full_as_its_limits_let_it_be(texts: list[str], most: int) -> None:
    items = [Item(f"i{n}", text, parse_reference("yes"), "r", "q") for n, text in enumerate(texts)]
    limits = BatchLimits(most, 5_000)
    jobs = list(split_calls([request(i, 0) for i in items], lambda asked: {"text": asked.item.question}, limits))
    for job, following in pairwise(jobs):
        size = sum(call.n_bytes for call in job.calls)
        assert len(job.calls) == most or size + following.calls[0].n_bytes > limits.bytes


def test_bodies_are_built_only_when_their_job_is_wanted() -> None:
    built = []
    jobs = split_calls(
        [request(item, 0) for item in make_items(6)],
        lambda asked: built.append(asked.item.item_id) or {},
        BatchLimits(2, 10_000),
    )
    next(jobs)
    assert built == ["i0", "i1", "i2"]


def test_a_call_larger_than_a_whole_job_is_named() -> None:
    with pytest.raises(ValueError, match="expected at most 400"):
        list(split_calls([request(make_items(1)[0], 0)], lambda _: {"text": "x" * 400}, BatchLimits(5, 400)))


def test_the_measure_bounds_both_spellings_of_other_letters() -> None:
    body = {"text": "żółć 漢字 \u2028 😀" * 50}
    assert max(len(written(body, "a" * 64, escaped=e)) for e in (True, False)) <= measure_body(body)


@given(st.sets(st.integers(0, 40), min_size=1), st.integers(1, 12))
def test_repeats_are_split_without_loss(repeats: set[int], most: int) -> None:
    asked = request(make_items(1)[0], *sorted(repeats))
    parts = list(split_repeats([asked], lambda rest: min(most, len(rest.repeats))))
    assert [r for part in parts for r in part.repeats] == sorted(repeats)
    assert all(1 <= len(part.repeats) <= most for part in parts)


@pytest.mark.parametrize("custom_id", ["", "x" * 65, "ä", "a b", "a/b", "a\n"])
def test_ids_that_services_refuse_are_refused(custom_id: str) -> None:
    with pytest.raises(ValueError, match="custom_id"):
        BatchCall(custom_id, request(make_items(1)[0], 0), {}, 1)


def test_labels_leave_room_for_the_place_of_the_last_call() -> None:
    assert len(f"{new_label()}-{100_000}") <= 64
    assert new_label() != new_label()


@pytest.mark.parametrize(("requests", "n_bytes"), [(0, 1), (1, 0), (-1, 5)])
def test_limits_that_no_call_fits_into_are_refused(requests: int, n_bytes: int) -> None:
    with pytest.raises(ValueError, match="batch limits"):
        BatchLimits(requests, n_bytes)
