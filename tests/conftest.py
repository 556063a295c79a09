"""Shared fixtures: where the real data lie, and the order of tests (fast ones first)."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from postgres_server import PostgresServer, find_postgres

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference import Reference
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA, LabelScale
from calibration_sets.writer import write_set
from experiments.reports import GraderResults, RunData, build_report
from graders.errors import WeightsError
from graders.providers.replay import Recorded, write_recording
from graders.providers.weights import ensure_weights
from graders.verdict import Completion, Verdict

# Machines differ in speed, and what lands must not hang on chance; elsewhere every run tries new examples.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A run in the background ignores Ctrl-C, and the processes that are interrupted by tests would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """What ``-n auto`` means: each worker may start a browser, a database server and engines of its own."""
    return min(4, os.cpu_count() or 1)


ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def calibration_data() -> Path:
    """Folder of real human-labelled data; the test is skipped, and says so, where it is absent."""
    folder = Path(os.environ.get("AUTORATER_CALIBRATION_DATA", ROOT.parent / "shared" / "calibration_data"))
    if not (folder / "README.md").is_file():
        pytest.skip(
            f"SKIPPED, NOT PASSED: no calibration data at {folder}; set AUTORATER_CALIBRATION_DATA to its folder"
        )
    return folder


@pytest.fixture(scope="session")
def inspect_logs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Logs of real evaluations by Inspect, which takes long to start: made once for all tests."""
    from inspect_studies import run_inspect

    return run_inspect(tmp_path_factory.mktemp("inspect"))


@pytest.fixture(autouse=True, scope="session")
def _no_prompts_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests see the shipped prompts alone, whatever the user who runs them has added."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTORATER_PROMPTS", str(tmp_path_factory.mktemp("prompts")))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow tests last, in their own order."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


@pytest.fixture(scope="session")
def weights() -> Path:
    """Weights of the small local model, fetched once; skipped, and says so, where engine or weights are missing."""
    try:
        import xllamacpp  # noqa: F401
    except ImportError as error:
        pytest.skip(f"SKIPPED, NOT PASSED: the local engine is not installed ({error})")
    try:
        return ensure_weights("smollm2")
    except WeightsError as error:
        pytest.skip(f"SKIPPED, NOT PASSED: {error}")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Chromium, driven by Playwright, for the whole session; skipped, and says so, where either is missing."""
    path = os.environ.get("AUTORATER_CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("SKIPPED, NOT PASSED: no Chromium; install it or name it in AUTORATER_CHROMIUM")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        pytest.skip(f"SKIPPED, NOT PASSED: playwright is not installed ({error})")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A private PostgreSQL server for the whole session; skipped, and says so, where its programs are missing."""
    programs = find_postgres()
    if programs is None:
        pytest.skip("SKIPPED, NOT PASSED: no PostgreSQL; install it or name its folder in AUTORATER_POSTGRES")
    with PostgresServer(programs) as server:
        yield server


@dataclass(frozen=True)
class Study:
    """A folder with a small set, a recording of its grader, and the experiment that joins them.

    Eight items on four questions; people say CORRECT to the even ones and INCORRECT to the odd ones. The
    recorded grader agrees in repeats 0 and 1, and in repeat 2 calls the first four items CORRECT.
    """

    folder: Path
    items: tuple[Item, ...]

    @property
    def experiment(self) -> Path:
        return self.folder / "study.toml"

    @property
    def recording(self) -> Path:
        return self.folder / "said.jsonl"

    def write_experiment(self, changes: Mapping[str, str] | None = None) -> Path:
        """The experiment file, some of its text replaced."""
        text = EXPERIMENT
        for old, new in (changes or {}).items():
            assert old in text
            text = text.replace(old, new)
        self.experiment.write_text(text, encoding="utf-8")
        return self.experiment

    def write_set(self, items: tuple[Item, ...]) -> None:
        shutil.rmtree(self.folder / "small", ignore_errors=True)
        labels = tuple(
            HumanLabel(item.item_id, item.digest, "rater", "INCORRECT" if place % 2 else "CORRECT", "simpleqa@1.0.0")
            for place, item in enumerate(items)
        )
        write_set(
            CalibrationSet(
                name="small",
                version="1.0.0",
                rubric="simpleqa@1.0.0",
                scale=SIMPLEQA,
                items=items,
                human_labels=labels,
                label_source="human",
                licence="CC0-1.0",
                source="made up",
                description="Made up.",
            ),
            self.folder / "small",
        )

    def write_recording(self, replies: Mapping[tuple[int, int], str]) -> None:
        """Replies by item and repeat."""
        write_recording(
            self.recording,
            [
                Recorded(self.items[place].digest, repeat, Completion(text=text, served_model="recorded"))
                for (place, repeat), text in replies.items()
            ],
        )


EXPERIMENT = """
name = "study"
set = "small"
sampling = { temperature = 2.0, repeats = 3, seed = 1 }

[[graders]]
prompt = "simpleqa@1.0.0"
model = "replay/said.jsonl"

[[graders]]
model = "baseline/lexical"
sampling = { repeats = 1 }
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A small study in a folder of its own."""
    items = tuple(
        Item(
            f"i{place}",
            f"Which number is number {place}?",
            parse_reference(f"number {place}"),
            f"number {place}",
            f"q{place // 2}",
            kind="even" if place % 2 == 0 else "odd",
        )
        for place in range(8)
    )
    made = Study(tmp_path / "a study", items)
    made.folder.mkdir()
    made.write_set(items)
    made.write_recording(
        {
            (place, repeat): "A" if place % 2 == 0 or (repeat == 2 and place < 4) else "B"
            for place in range(8)
            for repeat in range(3)
        }
    )
    made.write_experiment()
    return made


LETTERS = {"C": "CORRECT", "I": "INCORRECT", "N": "NOT_ATTEMPTED"}
FAILURE_SIGNS = {"-": "unparsed", "?": "ambiguous", ".": "not_answered"}
SMALL_RUBRIC = "rules@1.0.0"


class SmallRuns:
    """Data of small runs, spelt with one letter a label: people's labels of an item, and a grader's repeats."""

    def item(
        self, number: int, *, kind: str | None = None, reference: Reference | None = None, response: str = ""
    ) -> Item:
        return Item(
            item_id=f"item-{number:03}",
            question=f"Question {number}?",
            reference=reference or Reference("right", "right"),
            response=response or f"response {number}",
            cluster_id=f"question-{number}",
            kind=kind,
        )

    def labelled(self, items: Sequence[Item], people: Sequence[str], *, scale: LabelScale = SIMPLEQA) -> CalibrationSet:
        """``people`` holds one letter a rater for each item."""
        labels = tuple(
            HumanLabel(item.item_id, item.digest, f"rater-{rater}", LETTERS[letter], SMALL_RUBRIC)
            for item, letters in zip(items, people, strict=True)
            for rater, letter in enumerate(letters)
        )
        return CalibrationSet("small", "1.0.0", SMALL_RUBRIC, scale, "human", "CC0", "us", "", tuple(items), labels)

    def verdicts(self, items: Sequence[Item], letters: Sequence[str], grader_id: str = "g1") -> list[Verdict]:
        """One letter a repeat; a space is a repeat that is absent."""
        return [
            Verdict(
                item.digest,
                grader_id,
                repeat,
                LETTERS.get(letter),
                FAILURE_SIGNS.get(letter),  # type: ignore[arg-type]
                "robust",
                "timeout" if letter == "." else "",
            )
            for item, row in zip(items, letters, strict=True)
            for repeat, letter in enumerate(row)
            if letter != " "
        ]

    def grader(
        self, verdicts: Sequence[Verdict], repeats: int, *, grader_id: str = "g1", rubric: str | None = None
    ) -> GraderResults:
        sampling = {"temperature": 2.0, "repeats": repeats, "seed": 0, "max_tokens": 64, "channel": "letter"}
        return GraderResults(grader_id, "p@1.0.0#0", rubric, "local/tiny", sampling, [], [], verdicts)

    def run(self, rows: Sequence[tuple[str, str]], *, kinds: Sequence[str | None] | None = None) -> RunData:
        """A run of one grader: people's letters and the grader's for each item."""
        items = [self.item(number, kind=kinds[number] if kinds else None) for number in range(len(rows))]
        people, letters = [row[0] for row in rows], [row[1] for row in rows]
        grader = self.grader(self.verdicts(items, letters), max(map(len, letters), default=1))
        return RunData("run-1", "exp", self.labelled(items, people), len(items), "robust", [grader])

    def graded(self, rows: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """The section of the run's only grader."""
        section: dict[str, Any] = build_report(self.run(rows))["graders"][0]
        return section


@pytest.fixture(scope="session")
def runs() -> SmallRuns:
    """Builders of small runs for tests of reports."""
    return SmallRuns()
