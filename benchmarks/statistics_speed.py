"""Seconds and memory of all error rates and comparisons of graders, ours beside scipy and evalstats.

    python benchmarks/statistics_speed.py [--rounds 3] [--large | --short] [--work FOLDER]

Twelve graders, 1,000 items in questions of one to five, ten repeats; 10,000 resamples for the interval of each
false-negative and false-positive rate (24) and of each difference of two graders' error (66), and a sign-flip
permutation p-value for each difference. All resample questions, except evalstats, which has none above the items and
resamples these. With ``--large``: 100,000 items; there the others do one rate and one difference, and their seconds are
scaled up, since they would take minutes to hours.

Each contender runs in a process of its own, ours and scipy in this environment, evalstats in one under ``--work`` that
is made if it is not there. Every round runs each once, in an order that rotates; ratios are of one round. Values must
be equal, and bounds must agree within resampling error where questions are resampled. Seconds begin after imports and
reading; the peak is that of the whole process, which may not need more than 12 GiB.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CONTENDERS = HERE / "statistics_contenders"
RATES, DIFFERENCES, REPEATS = 24, 66, 10
ROUNDING = 1e-9
LONGEST = 1800
"""Seconds after which a contender is stopped."""

Account = Mapping[str, Any]


@dataclass(frozen=True)
class Contender:
    """A script and the packages that its own environment needs; none: this environment."""

    title: str
    script: str
    packages: tuple[str, ...] = ()
    by_question: bool = True


OURS = Contender("autorater-calibration", "ours")
SCIPY = Contender(f"scipy {importlib.metadata.version('scipy')}", "scipy_resampling")
EVALSTATS = Contender("evalstats 0.3.3, by item", "evalstats_pairs", ("evalstats==0.3.3",), by_question=False)
ALL = (OURS, SCIPY, EVALSTATS)


class Bench:
    """Environments and verdicts, in one folder."""

    def __init__(self, work: Path, *, items: int, scaled: bool) -> None:
        self.work, self.scaled = work, scaled
        self.verdicts = work / f"verdicts-{items}.npz"
        if not self.verdicts.exists():
            command = [sys.executable, str(CONTENDERS / "verdicts.py"), str(self.verdicts), str(items), str(REPEATS)]
            subprocess.run(command, check=True, env=environment())

    def python(self, contender: Contender) -> Path:
        """The interpreter of a contender's environment, which is made if it is not there."""
        if not contender.packages:
            return Path(sys.executable)
        folder = self.work / "environments" / contender.script.split("_")[0]
        if not (folder / "ready").exists():
            print(f"making an environment for {contender.script}", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
            install = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*install, *contender.packages], check=True)
            (folder / "ready").touch()
        return folder / "bin" / "python"

    def run(self, contender: Contender) -> Account:
        """One run; with ``scaled``, of others than ours only one rate and one difference, scaled up."""
        if not self.scaled or contender == OURS:
            return self.call(contender, [])
        rates = self.call(contender, ["--part", "rates", "--rates", "1"])
        pairs = self.call(contender, ["--part", "pairs", "--pairs", "1"])
        return {
            "rates": rates["rates"],
            "differences": pairs["differences"],
            "seconds": rates["seconds"] * RATES + pairs["seconds"] * DIFFERENCES,
            "cpu_seconds": rates["cpu_seconds"] * RATES + pairs["cpu_seconds"] * DIFFERENCES,
            "peak_mib": max(rates["peak_mib"], pairs["peak_mib"]),
            "parts": (rates["seconds"] * RATES, pairs["seconds"] * DIFFERENCES),
        }

    def call(self, contender: Contender, options: Sequence[str]) -> Account:
        script = CONTENDERS / f"{contender.script}.py"
        command = [str(self.python(contender)), str(script), str(self.verdicts), *options]
        done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=LONGEST)
        if "MemoryError" in done.stderr:
            return {"rates": [], "differences": [], **dict.fromkeys(("seconds", "cpu_seconds", "peak_mib"), math.inf)}
        if done.returncode:
            raise SystemExit(f"{contender.title}: {done.stderr[-2000:]}")
        account: Account = json.loads(done.stdout.splitlines()[-1])
        return account


def environment() -> dict[str, str]:
    """Nothing of this process's Python."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def check_values(contender: Contender, account: Account, ours: Account) -> list[float | None]:
    """Largest distance of bounds from ours, of rates and of differences, as a share of our interval's width."""
    largest = []
    for name in ("rates", "differences"):
        distances = []
        for theirs, mine in zip(account[name], ours[name], strict=False):
            if abs(theirs[0] - mine[0]) > ROUNDING:
                raise SystemExit(f"{contender.title}: {name} differ, {theirs[0]}; ours {mine[0]}")
            distances += [abs(theirs[end] - mine[end]) / (mine[2] - mine[1]) for end in (1, 2)]
        largest.append(max(distances, default=None))
    if contender.by_question and max(share or 0.0 for share in largest) > 0.05:
        raise SystemExit(f"{contender.title}: bounds differ by more than resampling error, {largest} of the width")
    return largest


def median_and_range(values: Sequence[float], digits: int) -> str:
    middle = statistics.median(values)
    return f"{middle:,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def seconds(accounts: Sequence[Account]) -> str:
    """Seconds of all, and those of rates and differences where they were scaled up apart."""
    whole = median_and_range([account["seconds"] for account in accounts], 2)
    parts = accounts[0].get("parts")
    return whole if parts is None else f"{whole}: rates {parts[0]:,.0f}, differences {parts[1]:,.0f}"


def print_table(rows: Mapping[Contender, Sequence[Account]]) -> None:
    print("| contender | seconds | CPU s | ratio to ours, by round | peak MiB | bounds of rates, differences apart |")
    print("|---|---|---|---|---|---|")
    for contender, accounts in rows.items():
        ratios = [theirs["seconds"] / mine["seconds"] for theirs, mine in zip(accounts, rows[OURS], strict=True)]
        apart = check_values(contender, accounts[0], rows[OURS][0])
        cells = [
            contender.title,
            seconds(accounts),
            f"{statistics.median(account['cpu_seconds'] for account in accounts):,.2f}",
            median_and_range(ratios, 1) if contender != OURS else "1",
            f"{max(account['peak_mib'] for account in accounts):,.0f}",
            ", ".join("none" if share is None else f"{share:.1%}" for share in apart) if contender != OURS else "",
        ]
        print(f"| {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="default: 3, or 1 with --large")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--large", action="store_true", help="100,000 items; the others scaled up from a part")
    size.add_argument("--short", action="store_true", help="one round, without what needs an environment of its own")
    parser.add_argument("--work", type=Path, help="where environments are kept; default: a temporary folder")
    options = parser.parse_args()
    work = options.work or Path(tempfile.mkdtemp(prefix="statistics-speed-"))
    work.mkdir(parents=True, exist_ok=True)
    try:
        run(Bench(work.resolve(), items=100_000 if options.large else 1000, scaled=options.large), options)
    finally:
        if options.work is None:
            shutil.rmtree(work)


def run(bench: Bench, options: argparse.Namespace) -> None:
    contenders = tuple(contender for contender in ALL if not (options.short and contender.packages))
    for contender in contenders:
        bench.python(contender)
    rows: dict[Contender, list[Account]] = {contender: [] for contender in contenders}
    rounds = options.rounds or (1 if options.large or options.short else 3)
    for turn in range(rounds):
        start = turn % len(contenders)
        for contender in (*contenders[start:], *contenders[:start]):
            rows[contender].append(bench.run(contender))
    items = 100_000 if options.large else 1000
    print(
        f"12 graders, {items:,} items, {REPEATS} repeats, 10,000 resamples; rounds: {rounds}; cores: {os.cpu_count()}"
    )
    print(f"Target of ours: under {'60 s and 2,048 MiB' if options.large else '5 s'}.")
    if options.large:
        print("The others' seconds are scaled up from one rate of 24 and one difference of 66; inf: they needed more")
        print("than 12 GiB, at which every process is stopped.")
    print()
    print_table(rows)
    print(
        "\nBounds apart from ours: the largest distance as a share of our interval's width. evalstats has no questions"
    )
    print("above the items: it resamples and flips items, which is another interval and another p-value.")


if __name__ == "__main__":
    main()
