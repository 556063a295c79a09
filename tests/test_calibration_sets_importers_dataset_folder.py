"""Local folders of the datasets library as tables and sets."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from command_line import autorater

from calibration_sets.errors import SetFileError
from calibration_sets.importers import read_dataset
from calibration_sets.loader import load_set

ROWS: dict[str, list[Any]] = {
    "id": ["a", "b", "c"],
    "question": ["Which town?", "Which town?", "Which lake?"],
    "gold": ["Ullenby", "Ullenby", "Sirvo"],
    "other_names": [["Ulnby"], [], []],
    "answer": ["Ullenby", "Tessen", "I do not know."],
    "human": [1, 0, -1],
}


@pytest.fixture
def dataset() -> Any:
    import datasets

    made = datasets.Dataset.from_dict(ROWS)
    return made.cast_column("human", datasets.ClassLabel(names=["wrong", "right"]))


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


OPTIONS = (
    *("--rubric", "simpleqa@1.0.0", "--licence", "CC0-1.0", "--column", "id=id", "--column", "question=question"),
    *("--column", "reference=gold", "--column", "response=answer", "--column", "label=human"),
    *("--column", "aliases=other_names", "--label", "right=CORRECT", "--label", "wrong=INCORRECT"),
)


def test_a_saved_dataset_becomes_a_set_with_its_classes_as_labels(dataset: Any, tmp_path: Path) -> None:
    dataset.save_to_disk(str(tmp_path / "answers"))
    ran = autorater(tmp_path, "sets", "import", "dataset", "answers", "--to", "mine", *OPTIONS)
    assert ran.code == 0, ran.err
    made = load_set(tmp_path / "mine")
    assert [item.response for item in made.items] == ROWS["answer"]
    assert made.items[0].reference.extra_aliases == ("Ulnby",)
    # The row of class -1 has no label, and gets none.
    assert [(label.item_id, label.label) for label in made.human_labels] == [("a", "CORRECT"), ("b", "INCORRECT")]
    assert made.source == "answers"


def test_splits_are_chosen_by_name(dataset: Any, tmp_path: Path) -> None:
    import datasets

    both = datasets.DatasetDict({"train": dataset, "test": dataset.select([2])})
    both.save_to_disk(str(tmp_path / "answers"))
    assert len(read_dataset(tmp_path / "answers", split="test").rows) == 1
    for split in (None, "dev"):
        with pytest.raises(SetFileError, match=r"splits train, test, .*; expected --split with one of them"):
            read_dataset(tmp_path / "answers", split=split)


def test_a_folder_of_data_files_is_read_as_it_is_shared(dataset: Any, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    dataset.to_parquet(str(folder / "train.parquet"))
    table = read_dataset(folder)
    assert table.columns == tuple(ROWS)
    assert [row.cells["id"] for row in table.rows] == ROWS["id"]
    assert table.rows[0].where == "shared:row 1"


def test_one_dataset_has_no_splits(dataset: Any, tmp_path: Path) -> None:
    dataset.save_to_disk(str(tmp_path / "answers"))
    with pytest.raises(SetFileError, match="one dataset without splits, asked for 'test'"):
        read_dataset(tmp_path / "answers", split="test")


def test_a_name_of_a_hub_is_never_fetched(tmp_path: Path) -> None:
    with pytest.raises(SetFileError, match="no such folder; expected a local dataset"):
        read_dataset(Path("someone/answers"))


def test_folders_that_are_no_dataset_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "dataset_info.json").write_text("{")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "train.parquet").write_bytes(b"no parquet")
    for name in ("empty", "broken", "bad"):
        with pytest.raises(SetFileError, match=rf"{name}: cannot be read as a dataset"):
            read_dataset(tmp_path / name)
