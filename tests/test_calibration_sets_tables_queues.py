"""A review queue is no set of labels, unless all of it was drawn at random."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibration_sets.errors import SetFileError
from calibration_sets.tables import read_table, refuse_queue

HEADER = "row,part,item_digest,probability,queue,label"


def write(folder: Path, *rows: str, header: str = HEADER) -> Path:
    path = folder / "labels.csv"
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "rows",
    [
        ("1,ranked,d1,1,q,CORRECT", "2,random,d2,0.5,q,CORRECT"),
        ("2,random,d2,0.5,q,CORRECT",),  # the ranked row was taken out: what is left is no sample of all
        ("1,random,d1,0.5,q,CORRECT", "3,random,d3,0.5,q,CORRECT"),
    ],
)
def test_a_queue_that_is_not_all_random_or_not_whole_is_refused(tmp_path: Path, rows: tuple[str, ...]) -> None:
    with pytest.raises(SetFileError, match=r"labels.csv: a review queue, .*; expected 'autorater queue rates'"):
        refuse_queue(read_table(write(tmp_path, *rows)))


def test_a_whole_queue_drawn_at_random_is_a_table_like_others(tmp_path: Path) -> None:
    refuse_queue(read_table(write(tmp_path, "1,random,d1,0.5,q,CORRECT", "2,random,d2,0.5,q,")))


def test_without_its_row_numbers_a_queue_cannot_be_known_to_be_whole(tmp_path: Path) -> None:
    path = write(tmp_path, "random,d1,0.5,q,CORRECT", header=HEADER.removeprefix("row,"))
    with pytest.raises(SetFileError, match="a review queue"):
        refuse_queue(read_table(path))


def test_other_tables_are_not_looked_into(tmp_path: Path) -> None:
    refuse_queue(read_table(write(tmp_path, "1,anything", header="row,part")))
