"""A report's file is whole, or as it was before."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from experiments.errors import ExperimentError
from experiments.reports.report_file import check_report_file, write_report_file


def test_a_report_is_written_and_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a report é.md"
    for text in ("first\n", "second, äöü €\n"):
        write_report_file(path, text)
        assert path.read_bytes() == text.encode("utf-8")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_name_as_long_as_names_can_be_is_taken(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    write_report_file(path, "text")
    assert path.read_text() == "text"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "latest.md").symlink_to(tmp_path / "of today.md")
    write_report_file(tmp_path / "latest.md", "text")
    assert (tmp_path / "latest.md").is_symlink()
    assert (tmp_path / "of today.md").read_text() == "text"


def test_a_device_or_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    write_report_file(Path(os.devnull), "text")
    assert not Path(os.devnull).is_file()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_report_file(pipe, "text")
    reader.join(timeout=10)
    assert read == ["text"]


def test_what_cannot_be_a_file_is_an_error_beforehand(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, told in [
        (tmp_path, "a folder"),
        (Path(), "a folder"),
        (Path("/"), "a folder"),
        (tmp_path / "no" / "r.md", "no folder"),
        (tmp_path / "file" / "r.md", "no folder"),
        (tmp_path / ("x" * 300), "too long"),
    ]:
        for act in (check_report_file, lambda place: write_report_file(place, "text")):
            with pytest.raises(ExperimentError, match=rf"^--out .*{told}.*; expected"):
                act(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_cannot_be_written_is_an_error_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ExperimentError, match="no permission; expected a file that can be written"):
        check_report_file(tmp_path / "r.md")


def test_a_full_disk_leaves_the_report_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.md"
    write_report_file(path, "before")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(ExperimentError, match="No space left on device; expected"):
        write_report_file(path, "after")
    assert path.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["r.md"]
