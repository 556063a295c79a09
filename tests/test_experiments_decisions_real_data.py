"""Two decisions on real labels of people, by the commands alone: tables in, a paragraph to sign out."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from command_line import autorater, decision_of

SYSTEMS = ("chatgpt", "fid", "gpt35", "gpt4", "newbing")
DOCS = Path(__file__).resolve().parent.parent / "docs" / "decisions.md"


def told(beginning: str) -> list[str]:
    """What the page shows of the decision that begins so, as stretches between ``[...]``."""
    page = " ".join(DOCS.read_text(encoding="utf-8").split())
    _, found, rest = page.partition(beginning)
    assert found, f"{DOCS.name} shows no decision that begins: {beginning}"
    return [stretch.strip() for stretch in (found + rest.partition("```")[0]).split("[...]")]


@pytest.fixture(scope="module")
def judges(calibration_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the labels as a table, and the verdicts of eleven graders as another."""
    folder = tmp_path_factory.mktemp("judges")
    source = calibration_data / "judging_judges_v1" / "judging_judges_v1_labels.jsonl"
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "question", "reference", "answer", "system", "label"))
        for row in rows:
            # The answers were not published; verdicts are kept by content, so each row needs one of its own.
            answer = f"the answer {row['id']} of {row['system']}"
            writer.writerow((row["id"], row["question"], row["target"][0], answer, row["system"], row["label"]))
    with (folder / "judged.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("item", "grader", "label", "failure"))
        for row in rows:
            for grader, verdict in row["graders"].items():
                writer.writerow((row["id"], grader, verdict, "" if verdict else "unparsed"))
    return folder


@pytest.mark.slow
def test_eleven_graders_are_imported_and_one_is_chosen(judges: Path) -> None:
    for words in (
        "sets import table people.csv --to judges --rubric simpleqa@1.0.0 --licence MIT --scale binary"
        " --column id=id --column question=question --column reference=reference --column response=answer"
        " --column respondent=system --column label=label",
        "import verdicts judged.csv --set ./judges --name judging",
    ):
        ran = autorater(judges, *words.split())
        assert ran.code == 0, ran.err
    decision = decision_of(autorater(judges, "choose", "judging"))
    assert "11 candidates were compared on 3,465 items of 400 questions" in decision
    assert "2 are not distinguishable from the best: imported/Llama3-70B, imported/GPT-4" in decision
    parts = told("Not decided; if one must be taken, imported/Llama3-70B.")
    assert [part for part in parts if part not in decision] == []


@pytest.fixture(scope="module")
def evouna(calibration_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evouna")
    shutil.copy(calibration_data / "evouna_tq" / "TQ.json", folder / "TQ.json")
    ran = autorater(folder, "sets", "import", "evouna", "TQ.json", "--to", "evouna")
    assert ran.code == 0, ran.err
    return folder


def split_labels(folder: Path, seed: int = 1) -> dict[str, float]:
    """A set of a fifth of the questions with labels, one of the others without; people's shares of the others."""
    items = [json.loads(line) for line in (folder / "evouna" / "items.jsonl").read_text("utf-8").splitlines()]
    labels = [json.loads(line) for line in (folder / "evouna" / "human_labels.jsonl").read_text("utf-8").splitlines()]
    questions = sorted({item["question"] for item in items})
    fifth = set(np.random.default_rng(seed).permutation(questions)[: len(questions) // 5])
    known = {item["id"] for item in items if item["question"] in fifth}
    header = (folder / "evouna" / "set.toml").read_text("utf-8")
    for name, kept in (("labelled", known), ("systems", {item["id"] for item in items} - known)):
        (folder / name).mkdir()
        own = re.sub(r'^name = ".*"$', f'name = "{name}"', header, flags=re.MULTILINE)
        if name == "labelled":
            write_lines(folder / name / "human_labels.jsonl", [label for label in labels if label["item"] in kept])
        else:
            own = own.replace('\nversion = "', '\nlabelled = false\nversion = "')
        (folder / name / "set.toml").write_text(own, encoding="utf-8")
        write_lines(folder / name / "items.jsonl", [item for item in items if item["id"] in kept])
        graders = '[{ model = "baseline/lexical", sampling = { repeats = 1 } }]'
        experiment = f'name = "{name}"\nset = "{name}"\ngraders = {graders}\n'
        (folder / f"{name}.toml").write_text(experiment, encoding="utf-8")
    said = {label["item"]: label["label"] == "CORRECT" for label in labels}
    hidden = [item for item in items if item["id"] not in known]
    return {
        system: float(np.mean([said[item["id"]] for item in hidden if item["respondent"] == system]))
        for system in SYSTEMS
    }


def write_lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")


@pytest.mark.slow
def test_five_systems_are_imported_graded_and_scored_as_people_score_them(evouna: Path) -> None:
    people = split_labels(evouna)
    for name in ("systems", "labelled"):
        ran = autorater(evouna, "run", f"{name}.toml")
        assert ran.code == 0, ran.err
    decision = decision_of(autorater(evouna, "score", "systems", "--calibration", "labelled"))
    assert [part for part in told("5 respondents, 7,755 responses") if part not in decision] == []
    scored = re.findall(r"(\w+) ([\d.]+)% \[([\d.]+), ([\d.]+)\] \(as graded ([\d.]+)%\)", decision)
    assert {name for name, *_ in scored} == set(SYSTEMS)
    for name, _, low, high, graded in scored:
        # A share of right answers, as F1 where nobody declines; string matching takes some eight points off.
        assert float(low) <= 100 * people[name] <= float(high), name
        assert float(graded) < 100 * people[name] - 5, name
    # Pairs that are called decided stand as people have them.
    decided = re.findall(r"(\w+) over (\w+)", decision.partition("Decided only if")[0])
    assert len(decided) == 7
    assert [(higher, lower) for higher, lower in decided if people[higher] <= people[lower]] == []
