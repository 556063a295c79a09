"""What an export writes, and that its folder is whole or not there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from filelock import FileLock
from parquet_runs import made_set, random_run, random_said, record
from typer.testing import CliRunner, Result

import cli
from calibration_sets.scale import SIMPLEQA
from experiments.errors import ExperimentError, ExportError
from experiments.parquet import part_writer
from experiments.parquet.columns import ITEMS, LABELS, TEXTS, VERDICTS
from experiments.parquet.export_report import report_export
from experiments.parquet.part_writer import VerdictWriter
from experiments.parquet.run_export import export_run
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore


@pytest.fixture
def store(tmp_path: Path) -> Path:
    random_run(tmp_path / "s.sqlite", SIMPLEQA, seed=7)
    return tmp_path / "s.sqlite"


def write(store: Path, folder: Path, **options: Any) -> Any:
    with RunStore(store) as opened:
        return export_run(opened, "made", folder, **options)


def content_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def ask(*words: str) -> Result:
    return CliRunner().invoke(cli.app, list(words))


def test_every_verdict_is_a_row_with_a_label_or_a_failure(store: Path, tmp_path: Path) -> None:
    about = write(store, tmp_path / "x")
    with RunStore(store) as opened:
        data, _ = load_run_data(opened, "made")
    contents = pq.read_table(tmp_path / "x" / "items.parquet", columns=["content", "digest"]).to_pylist()
    digest_of = {row["content"]: row["digest"] for row in contents}
    for grader, results in zip(about.graders, data.graders, strict=True):
        rows = [row for part in grader.parts for row in pq.read_table(tmp_path / "x" / part.file).to_pylist()]
        assert Counter(
            (digest_of[row["content"]], row["repeat"], row["label"], row["failure"], row["detail"]) for row in rows
        ) == Counter(
            (one.item_digest, one.repeat, one.label, one.failure, one.detail if one.failure == "not_answered" else None)
            for one in results.verdicts
        )
        assert all((row["label"] is None) != (row["failure"] is None) for row in rows)
        assert grader.n_verdicts == len(rows) == 4 * len(digest_of)


def test_items_labels_and_texts(store: Path, tmp_path: Path) -> None:
    write(store, tmp_path / "x")
    with RunStore(store) as opened:
        data, _ = load_run_data(opened, "made")
    found = data.calibration_set
    items = pq.read_table(tmp_path / "x" / "items.parquet").to_pylist()
    texts = pq.read_table(tmp_path / "x" / "texts.parquet").to_pylist()
    assert [row["item"] for row in items] == [row["item"] for row in texts] == list(range(60))
    for row, text, item in zip(items, texts, found.items, strict=True):
        for name in ("item_id", "digest", "cluster_id", "kind", "topic", "answer_type", "respondent"):
            assert row[name] == getattr(item, name), name
        assert (text["question"], text["reference"], text["response"]) == (
            item.question,
            item.reference.text,
            item.response,
        )
    fresh = {item.item_id: item.digest for item in found.items}
    given = [one for one in found.human_labels if fresh[one.item_id] == one.item_digest]
    people = pq.read_table(tmp_path / "x" / "labels.parquet").to_pylist()
    assert {row["rubric"] for row in people} == {"own@1.0.0", "other@1.0.0"}
    assert sum(row["n_raters"] for row in people) == len(given) < len(found.human_labels)
    for row in people:
        votes = Counter(
            one.label for one in given if one.item_id == items[row["item"]]["item_id"] and one.rubric == row["rubric"]
        )
        label, count = votes.most_common(1)[0]
        assert row["label"] == (label if 2 * count > votes.total() else None)
        assert (row["n_raters"], row["disputed"]) == (votes.total(), len(votes) > 1)


def test_files_have_the_documented_columns_and_bounded_rows(store: Path, tmp_path: Path) -> None:
    about = write(store, tmp_path / "x", rows_a_part=50)
    for record_, schema in ((about.items, ITEMS), (about.labels, LABELS), (about.texts, TEXTS)):
        assert pq.read_schema(tmp_path / "x" / record_.file).remove_metadata() == schema
    page = (Path(__file__).parent.parent / "docs" / "parquet.md").read_text(encoding="utf-8")
    for schema in (VERDICTS, ITEMS, LABELS, TEXTS):
        assert all(f"`{name}`" in page for name in schema.names)
    for grader in about.graders:
        assert len(grader.parts) > 3
        assert max(part.rows for part in grader.parts) == 50
        for part in grader.parts:
            assert pq.read_metadata(tmp_path / "x" / part.file).num_rows == part.rows
            assert pq.read_schema(tmp_path / "x" / part.file).remove_metadata() == VERDICTS


def test_verdicts_are_written_as_they_come(tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_writer, "ROWS_A_GROUP", 8)
    held: list[int] = []
    add = VerdictWriter.add

    def count(writer: VerdictWriter, *verdict: Any) -> None:
        add(writer, *verdict)
        held.append(len(writer._held))

    monkeypatch.setattr(VerdictWriter, "add", count)
    about = write(store, tmp_path / "x", rows_a_part=50)
    assert len(held) == sum(grader.n_verdicts for grader in about.graders)
    assert max(held) < 8
    groups = pq.read_metadata(tmp_path / "x" / about.graders[0].parts[0].file)
    assert max(groups.row_group(number).num_rows for number in range(groups.num_row_groups)) <= 8


def test_the_same_store_gives_the_same_bytes(store: Path, tmp_path: Path) -> None:
    for name in ("x", "y"):
        write(store, tmp_path / name)
    assert content_of(tmp_path / "x") == content_of(tmp_path / "y")


def test_a_database_counts_the_same(store: Path, tmp_path: Path) -> None:
    write(store, tmp_path / "x", rows_a_part=50)
    base = duckdb.connect()
    base.execute(
        f"CREATE VIEW verdicts AS FROM read_parquet('{tmp_path}/x/verdicts/*/*.parquet', hive_partitioning = true)"
    )
    base.execute(f"CREATE VIEW items AS FROM '{tmp_path}/x/items.parquet'")
    rows = base.execute(
        "SELECT grader, label, failure, count(*) FROM verdicts JOIN items USING (content) GROUP BY ALL"
    ).fetchall()
    for grader in report_export(tmp_path / "x")["graders"]:
        mine = [row for row in rows if row[0] == grader["grader_id"]]
        assert {label: n for _, label, _, n in mine if label} == {k: n for k, n in grader["verdicts"].items() if n}
        assert {failure: n for _, _, failure, n in mine if failure} == grader["failures"]


def test_ids_that_are_no_file_names(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    found = made_set(SIMPLEQA, rng, n_items=12, raters=1)
    said = {name: random_said(found, rng, repeats=2, failing=0) for name in ("a/b", "../up", "ü = 1", "CON.")}
    with RunStore(tmp_path / "s.sqlite") as opened:
        record(opened, found, said, repeats=2)
    write(tmp_path / "s.sqlite", tmp_path / "x")
    assert len(list((tmp_path / "x" / "verdicts").iterdir())) == 4
    graders = duckdb.sql(f"SELECT DISTINCT grader FROM '{tmp_path}/x/verdicts/*/*.parquet'").fetchall()
    assert {name for (name,) in graders} == set(said)
    assert [one["grader_id"] for one in report_export(tmp_path / "x")["graders"]] == list(said)


def test_what_is_there_is_replaced_only_on_request_and_only_an_export(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    write(store, folder)  # an empty folder is as good as none
    before = content_of(folder)
    with pytest.raises(ExportError, match=r"holds the export of run made-1; expected a new folder, or --replace"):
        write(store, folder)
    assert content_of(folder) == before
    write(store, folder, replace=True)
    assert content_of(folder) == before
    (folder / "verdicts" / "of_mine.txt").touch()
    with pytest.raises(ExportError, match=r"holds verdicts/of_mine.txt beside the export of run made-1; expected "):
        write(store, folder, replace=True)
    (folder / "verdicts" / "of_mine.txt").unlink()
    assert content_of(folder) == before
    other = tmp_path / "photos"
    other.mkdir()
    (other / "one.jpg").touch()
    for replace in (False, True):
        with pytest.raises(ExportError, match="holds something else"):
            write(store, other, replace=replace)
    assert (other / "one.jpg").exists()
    with pytest.raises(ExportError, match=r"no folder .*nowhere"):
        write(store, tmp_path / "nowhere" / "x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["photos", "s.sqlite", "x"]


def test_an_error_on_the_way_leaves_nothing_and_keeps_what_was_there(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, tmp_path / "x")
    before = content_of(tmp_path / "x")
    for stop in (KeyboardInterrupt, OSError("No space left on device")):
        with monkeypatch.context() as patch:

            def fail(*_: object, stop: Any = stop) -> None:
                raise stop

            patch.setattr(VerdictWriter, "add", fail)
            for name in ("x", "new"):
                with pytest.raises((KeyboardInterrupt, ExportError)):
                    write(store, tmp_path / name, replace=True)
    assert content_of(tmp_path / "x") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.sqlite", "x"]


def test_an_export_comes_back_where_the_new_one_cannot_take_its_name(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, tmp_path / "x")
    before = content_of(tmp_path / "x")
    rename = Path.rename

    def fail(path: Path, target: Path) -> Path:
        if path.name.endswith(".partial"):
            raise OSError("Device or resource busy")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(ExportError, match="Device or resource busy; expected a folder that can be written"):
        write(store, tmp_path / "x", replace=True)
    assert content_of(tmp_path / "x") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.sqlite", "x"]


def test_a_link_stays_one(store: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "x")
    with pytest.raises(ExportError, match=r"--out .*link: no folder .*disk; expected an existing folder"):
        write(store, tmp_path / "link")
    (tmp_path / "disk").mkdir()
    for replace in (False, True, True):
        write(store, tmp_path / "link", replace=replace)
        assert (tmp_path / "link").is_symlink()
        assert [path.name for path in (tmp_path / "disk").iterdir()] == ["x"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "disk" / "x" / "more").symlink_to(tmp_path / "mine")
    with pytest.raises(ExportError, match="holds more beside the export"):
        write(store, tmp_path / "link", replace=True)


def test_the_folder_that_one_is_in(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    for folder in (Path(), Path(".."), tmp_path / "a", Path("/")):
        with pytest.raises(ExportError, match=r"--out .*: the command was given inside it; expected "):
            write(store, folder)
    assert Path.cwd().is_dir()


KILLED = """
import os, signal, sys
from pathlib import Path
from experiments.parquet.part_writer import VerdictWriter
from experiments.parquet.run_export import export_run
from experiments.store.run_store import RunStore
add, left = VerdictWriter.add, [150]
def count(writer, *verdict):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    add(writer, *verdict)
VerdictWriter.add = count
with RunStore(sys.argv[1]) as store:
    export_run(store, "made", Path(sys.argv[2]), rows_a_part=50)
"""


def test_a_process_that_was_killed_leaves_no_export_and_the_next_one_starts_anew(store: Path, tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED, store, tmp_path / "x"], check=False, timeout=120)
    assert ended.returncode == -signal.SIGKILL
    assert not (tmp_path / "x").exists()
    assert list((tmp_path / ".x.partial").rglob("*.parquet"))
    write(store, tmp_path / "x")
    assert report_export(tmp_path / "x")["graders"] != []
    write(store, tmp_path / "y")
    assert content_of(tmp_path / "x") == content_of(tmp_path / "y")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.sqlite", "x", "y"]


def test_two_at_once_do_not_mix(store: Path, tmp_path: Path) -> None:
    with FileLock(tmp_path / ".x.lock"), pytest.raises(ExportError, match="another export is being written there"):
        write(store, tmp_path / "x")
    write(store, tmp_path / "x")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(store: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    unreadable = tmp_path / "unreadable"
    unreadable.mkdir(mode=0o000)
    for folder in (closed / "x", unreadable / "x", unreadable):
        with pytest.raises(ExportError, match=r"--out .*expected a folder that can be written"):
            write(store, folder)


@pytest.mark.parametrize("place", [".", "verdicts", "verdicts/grader=g1"])
def test_a_write_protected_export_stays(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    write(store, tmp_path / "x")
    before = content_of(tmp_path / "x")
    held = tmp_path / "x" / place
    access = os.access
    # Root may write everywhere, so what the system says of this folder is said here.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != held and access(path, mode))
    with pytest.raises(ExportError, match=r"x.* is write-protected; expected a folder that can be replaced"):
        write(store, tmp_path / "x", replace=True)
    assert content_of(tmp_path / "x") == before


def test_no_such_run_and_no_store(store: Path, tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="nightly"), RunStore(store) as opened:
        export_run(opened, "nightly", tmp_path / "x")
    assert not (tmp_path / "x").exists()
    result = ask("export", "made", "--out", str(tmp_path / "x"), "--store", str(tmp_path / "none.sqlite"))
    assert isinstance(result.exception, ExperimentError)


def test_the_command_says_what_it_wrote(store: Path, tmp_path: Path) -> None:
    result = ask("export", "made", "--out", str(tmp_path / "x"), "--store", str(store))
    assert result.exit_code == 0, result.output
    about = json.loads((tmp_path / "x" / "run.json").read_text(encoding="utf-8"))
    n_verdicts = sum(part["rows"] for grader in about["graders"] for part in grader["parts"])
    assert result.stderr == f"wrote {tmp_path / 'x'}: run made-1, 2 graders, 60 items, {n_verdicts} verdicts\n"
    assert about["schema"] == "autorater.export/1"
    assert ask("export", "made", "--out", str(tmp_path / "y"), "--format", "csv", "--store", str(store)).exit_code == 2
