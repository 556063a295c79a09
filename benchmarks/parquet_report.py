"""The report of many verdicts in little memory: time, peak memory, size, and whether it says what was put in.

Graders with known error rates judge made-up items; their verdicts go straight into the form of `autorater export`.
Then a process that may not take more than ``--memory`` GiB reports them, and beside it processes count the same
verdicts in other ways. Run from the repository:

    python benchmarks/parquet_report.py                       # 100 million verdicts, about 10 minutes
    python benchmarks/parquet_report.py --verdicts 1000000    # the short form
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from calibration_sets.scale import SIMPLEQA
from experiments.parquet.columns import ITEMS, ITEMS_FILE, LABELS, LABELS_FILE, TEXTS, TEXTS_FILE, VERDICTS
from experiments.parquet.description import (
    DESCRIPTION_FILE,
    SCHEMA,
    ExportDescription,
    ExportedGrader,
    ExportedScale,
    RunFields,
)
from experiments.parquet.export_folder import new_folder
from experiments.parquet.part_writer import VerdictWriter, write_table

LABEL_WORDS, RUBRIC = list(SIMPLEQA.labels), "simpleqa@1.0.0"
WRONG, DECLINED, RIGHT = (SIMPLEQA.index(label) for label in ("INCORRECT", "NOT_ATTEMPTED", "CORRECT"))
FAILURE_WORDS = ["unparsed", "truncated", "not_answered"]
FAILURE_RATE = 0.01
ITEMS_A_QUESTION, ITEMS_AT_A_TIME = 4, 100_000
SPREAD = 6.0
"""Sum of the parameters of the beta distribution from which each question's error rate comes."""
HELD_AT_LEAST = 0.8
"""Share of the 95% intervals that have to hold the rate they are about: of 20, four may miss by chance (1 in 400)."""
GIB = 2**30


@dataclass(frozen=True)
class Grader:
    """A made-up grader: its mean error rates, over questions."""

    grader_id: str
    number: int
    false_negative_rate: float
    false_positive_rate: float


@dataclass(frozen=True)
class Size:
    n_graders: int
    n_items: int
    repeats: int

    @property
    def n_verdicts(self) -> int:
        return self.n_graders * self.n_items * self.repeats


def make_export(folder: Path, size: Size, seed: int) -> tuple[list[Grader], dict[str, list[int]]]:
    """The export, its graders, and how often each gave each label."""
    rng = np.random.default_rng(seed)
    people = rng.choice([WRONG, DECLINED, RIGHT], p=[0.3, 0.1, 0.6], size=size.n_items)
    graders = [
        Grader(f"{place:016x}", place, *map(float, rng.uniform([0.01, 0.02], [0.1, 0.2])))
        for place in range(1, size.n_graders + 1)
    ]
    given = {}
    with new_folder(folder, replace=True) as partial:
        exported = []
        for grader in graders:
            with VerdictWriter(partial, grader.grader_id) as writer:
                given[grader.grader_id] = write_verdicts(writer, grader, people, size.repeats, rng)
            exported.append(describe_grader(grader, writer, size))
        description = describe(partial, people, size, exported)
        (partial / DESCRIPTION_FILE).write_text(description.dump(), encoding="utf-8")
    return graders, given


def write_verdicts(
    writer: VerdictWriter, grader: Grader, people: np.ndarray, repeats: int, rng: np.random.Generator
) -> list[int]:
    totals = np.zeros(len(LABEL_WORDS), dtype=np.int64)
    for start in range(0, len(people), ITEMS_AT_A_TIME):
        part = people[start : start + ITEMS_AT_A_TIME]
        labels, failures = draw(grader, part, repeats, rng)
        totals += np.bincount(labels[failures < 0], minlength=len(LABEL_WORDS))
        keys = np.arange(start, start + len(part), dtype=np.int32)
        columns = [
            pa.array(np.repeat(keys, repeats)),
            pa.array(np.tile(np.arange(repeats, dtype=np.int32), len(part))),
            words(labels, failures >= 0, LABEL_WORDS),
            words(failures, failures < 0, FAILURE_WORDS),
            words(np.zeros_like(failures), failures != FAILURE_WORDS.index("not_answered"), ["timeout"]),
        ]
        writer.write(pa.Table.from_arrays(columns, schema=VERDICTS))
    return totals.tolist()


def draw(grader: Grader, people: np.ndarray, repeats: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Label and failure of each verdict, item by item; the items of a question share their chance of an error."""
    is_right = people == RIGHT
    question = np.arange(len(people)) // ITEMS_A_QUESTION
    chance = np.where(
        is_right,
        *(
            rng.beta(SPREAD * rate, SPREAD * (1 - rate), size=question[-1] + 1)[question]
            for rate in (grader.false_negative_rate, grader.false_positive_rate)
        ),
    )
    errs = rng.random((len(people), repeats)) < chance[:, None]
    refused = np.where(rng.random(errs.shape) < 0.8, WRONG, DECLINED)
    labels = np.where(errs, np.where(is_right[:, None], refused, RIGHT), people[:, None]).ravel()
    failed = rng.random(labels.shape) < FAILURE_RATE
    return labels, np.where(failed, rng.integers(len(FAILURE_WORDS), size=labels.shape), -1)


def words(codes: np.ndarray, missing: np.ndarray, named: list[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=missing), pa.array(named))


def describe_grader(grader: Grader, writer: VerdictWriter, size: Size) -> ExportedGrader:
    usage = dict.fromkeys(("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens"))
    identity = {
        "number": grader.number,
        "grader_id": grader.grader_id,
        "prompt": None,
        "rubric": RUBRIC,
        "model": f"baseline/made-up-{grader.number}",
        "sampling": {"repeats": size.repeats},
        "effective_sampling": [],
        "served_models": [],
        "served": {},
        "fingerprints": {},
        "usage": usage,
        "cost": None,
        "failed_calls": {},
        "notes": [],
    }
    labels = {"rubric": RUBRIC, "n_labelled": size.n_items, "n_tied": 0, "n_unlabelled": 0, "n_disputed": 0}
    return ExportedGrader(
        method="draws",
        expected=size.repeats,
        parser_rule="robust",
        identity=identity,
        labels=labels,
        costly_items=(),
        parts=tuple(writer.records),
    )


def describe(folder: Path, people: np.ndarray, size: Size, graders: list[ExportedGrader]) -> ExportDescription:
    n, numbers = size.n_items, np.arange(size.n_items, dtype=np.int32)
    names = [f"item-{number:09d}" for number in range(n)]
    questions = [f"question-{number // ITEMS_A_QUESTION:09d}" for number in range(n)]
    absent = words(numbers, np.ones(n, dtype=bool), [])
    items = [numbers, numbers, names, names, questions, absent, absent, absent, absent]
    labels = [
        numbers,
        words(np.zeros(n), np.zeros(n, dtype=bool), [RUBRIC]),
        words(people, np.zeros(n, dtype=bool), LABEL_WORDS),
        np.ones(n, dtype=np.int32),
        np.zeros(n, dtype=bool),
    ]
    counts = np.bincount(people, minlength=len(LABEL_WORDS)).tolist()
    scale = ExportedScale(name="simpleqa", labels=SIMPLEQA.labels, level="nominal", positive=SIMPLEQA.positive)
    about: dict[str, Any] = {
        "name": "made_up",
        "version": "1.0.0",
        "digest": "0" * 64,
        "rubric": RUBRIC,
        "label_source": "construction",
        "scale": scale.model_dump(mode="json"),
        "n_items": n,
        "n_labelled": n,
        "n_tied": 0,
        "n_unlabelled": 0,
        "n_disputed": 0,
        "n_questions": len(set(questions)),
        "n_same_content": 0,
        "label_counts": dict(zip(LABEL_WORDS, counts, strict=True)),
    }
    return ExportDescription(
        schema=SCHEMA,
        run=RunFields(run_id="made-up", experiment="made_up", parser_rule="robust", level=0.95, n_items_in_set=n),
        scale=scale,
        set=about,
        human_agreement=None,
        n_stale=0,
        content_digest="0" * 64,
        n_contents=n,
        items=write_table(folder, ITEMS_FILE, table_of(items, ITEMS)),
        labels=write_table(folder, LABELS_FILE, table_of(labels, LABELS)),
        texts=write_table(folder, TEXTS_FILE, table_of([numbers, names, names, names], TEXTS)),
        graders=tuple(graders),
    )


def table_of(columns: list[Any], schema: pa.Schema) -> pa.Table:
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column, type=field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


REPORT = (
    "import cli, sys; sys.argv = ['autorater', 'report', {folder!r}, '--format', 'json', '--out', {out!r}]; cli.main()"
)
COUNT = """
import numpy as np
from pathlib import Path
from experiments.parquet.counted_items import read_items
from experiments.parquet.counting import count_verdicts
from experiments.parquet.description import load_description
folder = Path({folder!r})
about = load_description(folder)
items_of = np.bincount(read_items(folder, about).content, minlength=about.n_contents)
for grader in about.graders:
    counts = count_verdicts(folder, grader, labels=about.scale.labels, items_of=items_of)
    print(int(counts.labels.sum()))
"""
DUCKDB = """
import duckdb
base = duckdb.connect(config=dict(memory_limit='3GB', threads=2, temp_directory={spill!r}))
base.execute("SET enable_progress_bar = false")
base.execute("CREATE TABLE counts AS SELECT grader, content, label, failure, count(*) AS n FROM read_parquet('" +
    {folder!r} + "/verdicts/*/*.parquet', hive_partitioning = true) GROUP BY ALL")
for row in base.execute("SELECT sum(n) FROM counts WHERE label IS NOT NULL GROUP BY grader ORDER BY grader").fetchall():
    print(row[0])
"""
PANDAS = """
import pandas
frame = pandas.read_parquet({folder!r} + '/verdicts')
counts = frame.groupby(['grader', 'content', 'label', 'failure'], observed=True, dropna=False).size()
for n in counts[counts.index.get_level_values('label').notna()].groupby('grader', observed=True).sum():
    print(n)
"""


@dataclass(frozen=True)
class Measured:
    """Seconds by the clock and of processors, GiB at the peak, and what was printed."""

    seconds: float
    processor: float
    peak: float
    said: str


def measure(code: str, memory: float | None) -> Measured | None:
    """What a process takes that runs the code, its memory resident; ``None`` where it failed, as without memory."""
    limit = None if memory is None else int(memory * GIB)

    def bound() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    with tempfile.TemporaryFile("w+") as said:
        begun = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-c", code], stdout=said, preexec_fn=bound)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            return None
        said.seek(0)
        processor = usage.ru_utime + usage.ru_stime
        return Measured(seconds, processor, usage.ru_maxrss * 1024 / GIB, said.read())


def told(found: Measured) -> str:
    return f"{found.seconds:.1f} s ({found.processor:.1f} s of processors), peak {found.peak:.2f} GiB"


def check_report(report: dict[str, Any], graders: list[Grader], given: dict[str, list[int]]) -> str:
    """Counts must be those that were drawn; of the intervals nearly all have to hold their rate."""
    held, n_intervals = 0, 0
    for grader, section in zip(graders, report["graders"], strict=True):
        assert [section["verdicts"][label] for label in LABEL_WORDS] == given[grader.grader_id], grader
        for field in ("false_negative_rate", "false_positive_rate"):
            held += section[field]["low"] <= getattr(grader, field) <= section[field]["high"]
            n_intervals += 1
    assert held >= HELD_AT_LEAST * n_intervals, f"{held} of {n_intervals}"
    return f"all counts as drawn; {held} of {n_intervals} intervals hold the rate that was put in"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verdicts", type=int, default=100_000_000, help="in all, over 10 graders with 10 repeats")
    parser.add_argument("--memory", type=float, default=4.0, help="GiB that the report may take")
    parser.add_argument("--beside", action=argparse.BooleanOptionalAction, default=True, help="count in other ways too")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, help="folder for the verdicts, which are deleted afterwards")
    asked = parser.parse_args()
    work = Path(tempfile.mkdtemp(dir=asked.work))
    try:
        run(work, Size(10, asked.verdicts // 100, 10), asked)
    finally:
        shutil.rmtree(work)


def run(work: Path, size: Size, asked: argparse.Namespace) -> None:
    folder, out = work / "export", work / "report.json"
    begun = time.perf_counter()
    graders, given = make_export(folder, size, asked.seed)
    n_bytes = sum(path.stat().st_size for path in (folder / "verdicts").rglob("*.parquet"))
    print(
        f"{size.n_verdicts:,} verdicts: {size.n_graders} graders, {size.n_items:,} items on "
        f"{-(-size.n_items // ITEMS_A_QUESTION):,} questions, {size.repeats} repeats; made in "
        f"{time.perf_counter() - begun:.0f} s, {n_bytes / 2**20:,.1f} MiB, {n_bytes / size.n_verdicts:.2f} bytes each",
        flush=True,
    )
    report = measure(REPORT.format(folder=str(folder), out=str(out)), asked.memory)
    assert report is not None, f"the report failed within {asked.memory} GiB"
    print(f"report, at most {asked.memory:g} GiB: {told(report)}", flush=True)
    print(check_report(json.loads(out.read_text(encoding="utf-8")), graders, given), flush=True)
    ours = measure(COUNT.format(folder=str(folder)), asked.memory)
    assert ours is not None
    print(f"counts alone: {told(ours)}", flush=True)
    others = {"DuckDB, 3 GB and spilling": DUCKDB, "pandas, all verdicts in a frame": PANDAS} if asked.beside else {}
    for name, code in others.items():
        found = measure(code.format(folder=str(folder), spill=str(work / "spill")), None)
        if found is None:
            print(f"{name}: failed")
            continue
        assert found.said == ours.said, f"{name}: {found.said} against {ours.said}"
        ratios = f"{found.processor / ours.processor:.1f}x the processor time, {found.peak / ours.peak:.1f}x the memory"
        print(f"{name}: {told(found)}; {ratios}", flush=True)


if __name__ == "__main__":
    main()
