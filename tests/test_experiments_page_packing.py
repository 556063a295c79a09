"""Lines packed for a page come out as they went in, and never take more room than they may."""

from __future__ import annotations

import base64
import gzip
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.page.packing import pack_lines, unpack_lines

LINES = st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40), max_size=30)


@given(LINES)
def test_lines_come_back(lines: list[str]) -> None:
    packed = pack_lines(lines, most=10**6)
    assert packed.n_lines == len(lines)
    assert unpack_lines(packed) == lines
    assert pack_lines(lines, most=10**6) == packed


@pytest.mark.parametrize("most", [0, 50, 3_000, 20_000, 60_000, 10**7])
def test_as_many_lines_as_have_room_are_kept_from_the_first(most: int) -> None:
    draw = random.Random(1)
    lines = [f"{draw.getrandbits(900):x}" for _ in range(900)]
    packed = pack_lines(lines, most=most)
    assert len(packed.text) <= most
    assert unpack_lines(packed) == lines[: packed.n_lines]
    assert (packed.n_lines == len(lines)) is (most == 10**7)
    assert (packed.n_lines > 0) is (most > 20_000 or (most == 20_000 and packed.n_lines > 0))


def test_it_is_gzip_without_a_date_as_a_browser_unpacks_it() -> None:
    packed = base64.b64decode(pack_lines(['{"a":1}', "[2]"], most=1000).text)
    assert gzip.decompress(packed) == b'{"a":1}\n[2]\n'
    assert packed[4:8] == b"\0\0\0\0"


def test_what_repeats_takes_little_room() -> None:
    lines = ['["CORRECT","CORRECT","INCORRECT"]'] * 20_000
    assert len(pack_lines(lines, most=10**6).text) < 10_000
