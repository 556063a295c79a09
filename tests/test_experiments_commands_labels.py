"""``autorater labels`` from a review to a frozen set that other commands take, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from calibration_sets.loader import load_set
from experiments.commands.labels import labels_app
from experiments.commands.queue import queue_app
from experiments.commands.run import run
from experiments.commands.score import score
from experiments.errors import ExperimentError, ReviewError, StoreError

app = typer.Typer()
app.add_typer(labels_app, name="labels")
app.add_typer(queue_app, name="queue")
app.command()(run)
app.command()(score)

IDS = [f"i{place}" for place in range(8)]


@pytest.fixture
def folder(study: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a study that has run, in which commands run."""
    monkeypatch.chdir(study.folder)
    monkeypatch.delenv("AUTORATER_STORE", raising=False)
    monkeypatch.delenv("AUTORATER_LABELS", raising=False)
    done("run", "study.toml")
    made: Path = study.folder
    return made


def autorater(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), env={"COLUMNS": "200"})


def done(*words: str) -> str:
    result = autorater(*words)
    assert result.exit_code == 0, (result.output, result.exception)
    return " ".join(result.output.split())


def refused(*words: str) -> str:
    result = autorater(*words)
    assert isinstance(result.exception, ExperimentError), (result.output, result.exception)
    return str(result.exception)


def write_labels(path: str, rows: Sequence[tuple[str, str, str]], *, role: str = "label") -> None:
    """A CSV file of (item, rater, label)."""
    lines = [f"{item},{rater},{label},{role}" for item, rater, label in rows]
    Path(path).write_text("\n".join(["item_id,rater,label,role", *lines, ""]))


def label_the_set(labels: str = "labels.sqlite") -> None:
    """All items of the set: two raters, who differ on one item, which a third decides."""
    done("labels", "start", "./small", "--set", "--labels", labels)
    ann = [(item, "Ann", "INCORRECT" if place % 2 else "CORRECT") for place, item in enumerate(IDS)]
    write_labels("said.csv", [*ann, ("i0", "Ben", "CORRECT"), ("i1", "Ben", "CORRECT")])
    done("labels", "import", "said.csv", "--blind", "--labels", labels)
    write_labels("decided.csv", [("i1", "Cho", "INCORRECT")], role="adjudication")
    done("labels", "import", "decided.csv", "--labels", labels)


@pytest.mark.parametrize("form", ["csv", "jsonl", "label-studio", "argilla"])
def test_labels_go_to_another_store_and_back(folder: Path, form: str) -> None:
    label_the_set()
    done("labels", "export", "--format", form, "--out", "first.out")
    done("labels", "start", "./small", "--set", "--labels", "other.sqlite")
    assert "11 rows added, 0 known" in done(
        "labels", "import", "first.out", "--format", form, "--labels", "other.sqlite"
    )
    assert "0 rows added, 11 known" in done(
        "labels", "import", "first.out", "--format", form, "--labels", "other.sqlite"
    )
    assert "0 rows added, 11 known" in done("labels", "import", "first.out", "--format", form)
    for labels, out in (("labels.sqlite", "a.jsonl"), ("other.sqlite", "b.jsonl")):
        done("labels", "export", "--format", "jsonl", "--out", out, "--labels", labels)
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()
    assert len(Path("a.jsonl").read_text().splitlines()) == 11


def test_a_frozen_set_is_run_and_corrects_a_score(folder: Path) -> None:
    label_the_set()
    printed = done("labels", "freeze", "small", "--name", "mine", "--version", "1.0.0", "--to", "mine")
    assert "10 labels by Ann (8), Ben (2)" in printed
    assert "wrote mine 1.0.0, 8 items" in printed
    consensus = load_set(folder / "mine").consensus()
    assert (consensus.labels["i1"], consensus.disputed, len(consensus.labels)) == ("INCORRECT", ("i1",), 8)
    assert "nothing to write" in done("labels", "freeze", "--name", "mine", "--version", "1.0.0", "--to", "mine")
    write_labels("more.csv", [("i2", "Ben", "INCORRECT")])
    done("labels", "import", "more.csv")
    message = refused("labels", "freeze", "--name", "mine", "--version", "1.0.0", "--to", "mine")
    assert "--to mine: mine 1.0.0 with other content" in message
    text = Path("study.toml").read_text().replace('name = "study"', 'name = "frozen"')
    Path("frozen.toml").write_text(text.replace('set = "small"', 'set = "./mine"'))
    assert "set mine 1.0.0" in done("run", "frozen.toml")
    assert "mine" in done("score", "study", "--grader", "baseline/lexical", "--calibration", "frozen")


def test_labels_of_a_queue_are_weighed_by_queue_rates(folder: Path) -> None:
    done("labels", "start", "study", "--most", "6", "--random-share", "0.5", "--double", "0")
    done("queue", "study", "--most", "6", "--random-share", "0.5", "--out", "queue.csv")
    rows = list(csv.DictReader(io.StringIO(Path("queue.csv").read_text())))
    output = io.StringIO()
    writer = csv.DictWriter(output, list(rows[0]))
    writer.writeheader()
    writer.writerows(row | {"label": "CORRECT" if number else ""} for number, row in enumerate(rows))
    Path("filled.csv").write_text(output.getvalue())
    assert "5 rows added, 0 known, 1 rows say nothing" in done("labels", "import", "filled.csv", "--rater", "Ann")
    assert "1 of them without a label" in done("labels", "export", "--format", "queue", "--out", "out.csv")
    assert "no label" in refused("queue", "rates", "out.csv")
    write_labels("last.csv", [(rows[0]["item_id"], "Ben", "INCORRECT")])
    done("labels", "import", "last.csv")
    done("labels", "export", "--format", "queue", "--out", "out.csv")
    page = json.loads(autorater("queue", "rates", "out.csv", "--format", "json").output)
    assert (page["n_rows"], page["queue_id"]) == (6, rows[0]["queue"])
    assert page["labels"] == {"CORRECT": 5, "INCORRECT": 1}
    freeze = ("labels", "freeze", "--name", "mine", "--version", "1.0.0", "--to", "mine")
    assert "--biased-queue-as-is" in refused(*freeze)
    assert not Path("mine").exists()
    assert "warning: this set is no sample" in done(*freeze, "--biased-queue-as-is")
    drawn = [item.metadata["review_queue"]["probability"] for item in load_set(folder / "mine").items]
    assert drawn == [pytest.approx(float(row["probability"])) for row in rows]


def test_labels_of_a_queue_are_not_taken_for_those_of_a_set(folder: Path) -> None:
    done("labels", "start", "study", "--most", "4")
    done("queue", "study", "--most", "4", "--out", "queue.csv")
    item = next(csv.DictReader(io.StringIO(Path("queue.csv").read_text())))["item_id"]
    write_labels("said.csv", [(item, "Ann", "CORRECT")])
    done("labels", "import", "said.csv")
    done("labels", "export", "--format", "label-studio", "--out", "tasks.json")
    done("labels", "start", "./small", "--set", "--labels", "set.sqlite")
    message = refused("labels", "import", "tasks.json", "--format", "label-studio", "--labels", "set.sqlite")
    assert "a label of a review queue, for the review of a set" in message


def test_conflicts_are_told_and_kept_or_replaced(folder: Path) -> None:
    label_the_set()
    write_labels("other.csv", [("i0", "Ann", "INCORRECT")])
    assert refused("labels", "import", "other.csv").startswith("other.csv:2: Ann says INCORRECT of 'i0', in the store")
    kept = done("labels", "import", "other.csv", "--on-conflict", "keep")
    assert "conflict, kept as in the store: other.csv:2" in kept
    assert "0 rows added, 0 known, 1 conflicts kept as in the store" in kept
    assert "1 rows added" in done("labels", "import", "other.csv", "--on-conflict", "replace")


def test_show_counts_raters_labels_and_what_is_open(folder: Path) -> None:
    label_the_set()
    printed = done("labels", "show")
    assert "8 items of set small" in printed
    assert "Ann 8 0 0 0 0" in printed
    page = json.loads(autorater("labels", "show", "--format", "json").output)
    assert page["labels"]["CORRECT"] == {"given": 6, "items": 4}
    assert page["agreement"]["pairwise"]["value"] == 0.5
    assert (page["disputed"], page["undecided"]) == ([], [])
    assert [one["rater"] for one in page["progress"]["raters"]] == ["Ann", "Ben", "Cho"]


def test_verdicts_of_a_run_are_shown_beside_and_make_labels_not_blind(folder: Path) -> None:
    done("labels", "start", "./small", "--set")
    done("labels", "export", "--format", "label-studio", "--out", "t.json", "--verdicts", "study", "--user", "Ann=7")
    tasks = json.loads(Path("t.json").read_text())
    assert [one["model_version"] for one in tasks[0]["predictions"]] == [
        "simpleqa@1.0.0 replay/said.jsonl", "baseline/lexical",
    ]  # fmt: skip
    assert tasks[0]["predictions"][0]["score"] == 1
    assert tasks[1]["predictions"][0]["score"] == pytest.approx(2 / 3)
    label = {"from_name": "label", "to_name": "response", "type": "choices", "value": {"choices": ["CORRECT"]}}
    tasks[0]["annotations"] = [{"completed_by": 7, "result": [label], "created_at": "2026-01-02T03:04:05Z"}]
    Path("back.json").write_text(json.dumps(tasks))
    done("labels", "import", "back.json", "--format", "label-studio", "--rater", "7=Ann")
    done("labels", "export", "--format", "jsonl", "--out", "a.jsonl")
    (row,) = map(json.loads, Path("a.jsonl").read_text().splitlines())
    assert (row["rater"], row["blind"], row["labelled_at"]) == ("Ann", False, "2026-01-02T03:04:05+00:00")


def test_programs_get_their_settings_beside_the_items(folder: Path) -> None:
    label_the_set()
    told = done("labels", "export", "--format", "label-studio", "--out", "t.json", "--user", "Ann=7")
    assert "note: no --user for Ben, Cho: Label Studio counts their labels as the importer's" in told
    assert Path("t.config.xml").read_text().startswith("<View>")
    done("labels", "export", "--format", "label-studio", "--out", "t.json", "--no-labels")
    tasks = json.loads(Path("t.json").read_text())
    assert [len(task["annotations"]) for task in tasks] == [0] * 8
    done("labels", "export", "--format", "argilla", "--out", "r.json", "--user", "Ann=9f")
    assert json.loads(Path("r.settings.json").read_text())["questions"][0]["name"] == "label"
    assert json.loads(Path("r.json").read_text())[0]["responses"]["label"][0]["user_id"] == "9f"


BAD = [
    (("export", "--format", "csv"), "--out: missing"),
    (("export", "--format", "csv", "--out", "x.csv", "--verdicts", "study"), "--format csv: with --user, --verdicts"),
    (("export", "--format", "label-studio", "--out", "x", "--user", "Ann=ab"), "--user: 'ab'; expected the number"),
    (("export", "--format", "label-studio", "--out", "x", "--user", "Ann"), "--user: ['Ann']; expected NAME=ID"),
    (("export", "--format", "queue", "--out", "x.csv"), "a review of a set"),
    (("export", "nothing", "--out", "x.csv"), "no review of 'nothing'"),
    (("export", "--out", "nowhere/x.csv"), "no folder"),
    (("import", "said.csv", "--review", "nothing"), "no review of 'nothing'"),
    (("import", "said.csv", "--rater", "Ann", "--rater", "Ben"), "--rater: ['Ann', 'Ben']"),
    (("freeze", "nothing", "--name", "a", "--version", "1.0.0", "--to", "a"), "no review of 'nothing'"),
    (("start", "nothing"), "neither a run"),
]


def test_what_a_person_must_mend_is_named(folder: Path) -> None:
    label_the_set()
    before = sorted(path.name for path in folder.iterdir())
    for words, message in BAD:
        assert message in refused("labels", *words)
        assert sorted(path.name for path in folder.iterdir()) == before


def test_a_store_that_is_not_there_is_not_made(folder: Path) -> None:
    for words in (("show",), ("export", "--out", "x.csv"), ("import", "said.csv")):
        write_labels("said.csv", [("i0", "Ann", "CORRECT")])
        result = autorater("labels", *words)
        assert isinstance(result.exception, StoreError)
    assert not Path("labels.sqlite").exists()
    assert not Path("x.csv").exists()


def test_of_several_reviews_one_must_be_named(folder: Path) -> None:
    label_the_set()
    done("labels", "start", "study", "--most", "3")
    assert isinstance(autorater("labels", "show").exception, ReviewError)
    assert "Labels: small-" in done("labels", "show", "small")
    assert "3 items of queue-" in done("labels", "show", "study")
