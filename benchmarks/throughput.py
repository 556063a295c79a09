"""Verdicts a second against a loopback server: a run of this project beside what a user would otherwise write or pick.

    python benchmarks/throughput.py [--rounds 3] [--items 1000] [--short] [--work FOLDER]

Each contender has an environment of its own in ``--work``, made if it is not there. Every round runs each contender
once, in an order that rotates; ratios are of one round, and their median and range are printed. The server waits 50 ms
before it answers; there are 50 connections. Ours stores everything durably and parses every verdict; the bare SDK keeps
nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CONTENDERS = HERE / "throughput_contenders"
CONNECTIONS, LATENCY = 50, 0.05
KEY = "no-key"


@dataclass(frozen=True)
class Contender:
    """A script, the environment that it needs, and how it is run."""

    title: str
    script: str
    packages: tuple[str, ...]
    variant: str = ""
    choices: int = 1
    resumes: bool = False


OURS = (str(HERE.parent) + "[openai]",)
SDK = ("openai[aiohttp]>=3",)
INSPECT = ("inspect-ai==0.3.285", "openai>=3")
MISTRIAL = ("mistrial==0.2.2",)
OUR_SINGLE = Contender("autorater run, n = 1", "ours", OURS, choices=1, resumes=True)
OUR_TEN = Contender("autorater run, n = 10", "ours", OURS, choices=10, resumes=True)
BARE_SINGLE = Contender("openai SDK, aiohttp, n = 1", "bare_openai", SDK, "aiohttp")
BARE_TEN = Contender("openai SDK, aiohttp, n = 10", "bare_openai", SDK, "aiohttp", 10)
BARE_DEFAULT = Contender("openai SDK, default, n = 1", "bare_openai", SDK, "default")
BARE_DEFAULT_TEN = Contender("openai SDK, default, n = 10", "bare_openai", SDK, "default", 10)
INSPECT_SCORE = Contender("inspect-ai score()", "inspect_score", INSPECT)
INSPECT_EVAL = Contender("inspect-ai eval()", "inspect_eval", INSPECT, "default", resumes=True)
INSPECT_TUNED = Contender("inspect-ai eval(), tuned", "inspect_eval", INSPECT, "tuned", resumes=True)
MISTRIAL_RUN = Contender("mistrial run", "mistrial_run", MISTRIAL, resumes=True)
ALL = (
    OUR_SINGLE,
    OUR_TEN,
    BARE_SINGLE,
    BARE_TEN,
    BARE_DEFAULT,
    BARE_DEFAULT_TEN,
    INSPECT_SCORE,
    INSPECT_EVAL,
    INSPECT_TUNED,
    MISTRIAL_RUN,
)
SHORT = (OUR_SINGLE, OUR_TEN, BARE_SINGLE, BARE_TEN, BARE_DEFAULT)
INSPECT_PATHS = (INSPECT_SCORE, INSPECT_EVAL, INSPECT_TUNED)

Figures = Mapping[str, float]


class Bench:
    """Environments, prompts and a server, in one folder."""

    def __init__(self, work: Path, n_prompts: int) -> None:
        self.work = work
        self.prompts = work / f"prompts-{n_prompts}.jsonl"
        self.n_prompts = n_prompts

    def prepare(self, contenders: Sequence[Contender]) -> None:
        for contender in contenders:
            self.python(contender)
        if not self.prompts.exists():
            command = [self.python(OUR_SINGLE), CONTENDERS / "make_prompts.py", self.prompts, str(self.n_prompts)]
            subprocess.run(list(map(str, command)), check=True)

    def python(self, contender: Contender) -> Path:
        """The interpreter of a contender's environment, which is made if it is not there."""
        folder = self.work / "environments" / contender.script.split("_")[0]
        if not (folder / "ready").exists():
            print(f"making an environment for {contender.script}", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
            install = [folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*install, *contender.packages], check=True)
            (folder / "ready").touch()
        return folder / "bin" / "python"

    def command(self, contender: Contender, url: str, folder: Path, items: int) -> list[str]:
        parts: list[Any] = [self.python(contender), CONTENDERS / f"{contender.script}.py", "--url", url]
        parts += ["--prompts", self.prompts, "--items", items, "--choices", contender.choices]
        parts += ["--connections", CONNECTIONS, "--folder", folder, "--variant", contender.variant]
        return list(map(str, parts))

    def run(self, contender: Contender, url: str, items: int) -> Figures:
        """One run in a fresh folder."""
        with tempfile.TemporaryDirectory(dir=self.work) as name:
            done = subprocess.run(
                self.command(contender, url, Path(name), items), capture_output=True, text=True, env=environment()
            )
        if done.returncode:
            raise SystemExit(f"{contender.title}: {done.stderr[-2000:]}")
        figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        expected = items * contender.choices
        if figures["verdicts"] != expected:
            raise SystemExit(f"{contender.title}: {figures['verdicts']} verdicts; expected {expected}")
        return figures

    def killed(self, contender: Contender, url: str, items: int) -> Mapping[str, int]:
        """Kill a run with signal 9 after four tenths of its calls, run it again, and count what was paid twice."""
        call(url, "reset")
        with tempfile.TemporaryDirectory(dir=self.work) as name:
            command = self.command(contender, url, Path(name), items)
            first = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(), start_new_session=True
            )
            while call(url, "calls")["calls"] < 0.4 * items and first.poll() is None:
                time.sleep(0.02)
            os.killpg(first.pid, signal.SIGKILL)
            first.wait()
            time.sleep(2 * LATENCY)
            before = call(url, "calls")["choices"]
            again = subprocess.run(command, capture_output=True, text=True, env=environment())
        if again.returncode:
            raise SystemExit(f"{contender.title}, resumed: {again.stderr[-2000:]}")
        counted = call(url, "calls")
        return {"before": before, "paid": counted["choices"], "again": counted["choices_again"]}


def environment() -> dict[str, str]:
    """Nothing of this process's Python, and keys that open nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "OPENAI_API_KEY": KEY, "MISTRIAL_API_KEY": KEY, "CUSTOM_API_KEY": KEY}


@contextmanager
def open_server(python: Path, latency: float) -> Iterator[str]:
    """A loopback server in a process of its own; gives its address."""
    command = [str(python), str(CONTENDERS / "loopback_server.py"), "--latency", str(latency)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdin and server.stdout
    try:
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
    finally:
        server.stdin.close()
        server.wait(timeout=10)


def call(url: str, path: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/{path}", timeout=10) as reply:
        counted: dict[str, int] = json.loads(reply.read())
    return counted


async def _load(port: int, body: bytes, connections: int, seconds: float) -> float:
    head = f"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    end, count = time.perf_counter() + seconds, 0

    async def client() -> None:
        nonlocal count
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < end:
            writer.write((head + body) * 16)
            for _ in range(16):
                reply = await reader.readuntil(b"\r\n\r\n")
                length = int(reply.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                await reader.readexactly(length)
            count += 16
        writer.close()

    await asyncio.gather(*(client() for _ in range(connections)))
    return count / seconds


def server_speed(python: Path, prompt: str, n: int) -> float:
    """Calls a second that the server answers without latency, asked over raw sockets with requests in a row."""
    asked = {"model": "letter", "messages": [{"role": "user", "content": prompt}], "n": n}
    with open_server(python, 0.0) as url:
        port = int(url.split(":")[2].split("/")[0])
        return asyncio.run(_load(port, json.dumps(asked).encode(), connections=8, seconds=2.0))


def median_and_range(values: Sequence[float], digits: int = 2) -> str:
    middle = statistics.median(values)
    return f"{middle:,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def print_table(rows: Mapping[Contender, Sequence[Figures]], twice: Mapping[Contender, str]) -> None:
    print(
        "| contender | verdicts/s | CPU ms a verdict | peak MiB | bytes stored a verdict | paid twice after kill -9 |"
    )
    print("|---|---|---|---|---|---|")
    for contender, figures in rows.items():
        speed = median_and_range([entry["verdicts"] / entry["seconds"] for entry in figures], 0)
        cpu = statistics.median(1000 * entry["cpu_seconds"] / entry["verdicts"] for entry in figures)
        peak = statistics.median(entry["peak_mib"] for entry in figures)
        stored = statistics.median(entry["stored_bytes"] / entry["verdicts"] for entry in figures)
        cells = [contender.title, speed, f"{cpu:.2f}", f"{peak:.0f}", f"{stored:,.0f}", twice.get(contender, "")]
        print(f"| {' | '.join(cells)} |")


def ratios(rows: Mapping[Contender, Sequence[Figures]], one: Contender, others: Sequence[Contender]) -> list[float]:
    """Verdicts a second of one contender over the best of others, round by round."""

    def speeds(contender: Contender) -> list[float]:
        return [entry["verdicts"] / entry["seconds"] for entry in rows[contender]]

    best = [max(round_) for round_ in zip(*map(speeds, others), strict=True)]
    return [mine / theirs for mine, theirs in zip(speeds(one), best, strict=True)]


def print_ratios(rows: Mapping[Contender, Sequence[Figures]]) -> None:
    print("\n| ratio, within a round | target | median (range) |")
    print("|---|---|---|")
    wanted = [
        ("n = 1 to the bare SDK on its faster transport", OUR_SINGLE, (BARE_SINGLE, BARE_DEFAULT), "0.9"),
        ("n = 10 to the bare SDK on its faster transport", OUR_TEN, (BARE_TEN, BARE_DEFAULT_TEN), "0.8"),
        ("n = 1 to the best inspect-ai path", OUR_SINGLE, INSPECT_PATHS, "4"),
        ("n = 10 to the best inspect-ai path", OUR_TEN, INSPECT_PATHS, "20"),
        ("n = 1 to mistrial", OUR_SINGLE, (MISTRIAL_RUN,), ""),
    ]
    for title, one, others, target in wanted:
        there = [other for other in others if other in rows]
        if there:
            print(f"| {title} | {target} | {median_and_range(ratios(rows, one, there))} |")


def print_memory(bench: Bench, url: str, n_verdicts: int) -> None:
    small, large = bench.run(OUR_TEN, url, 100), bench.run(OUR_TEN, url, n_verdicts // 10)
    print(
        f"\nPeak memory of our run, report data included: {small['peak_mib']:.0f} MiB at 1,000 verdicts, "
        f"{large['peak_mib']:.0f} MiB at {n_verdicts:,}, {large['verdicts'] / large['seconds']:,.0f} verdicts/s there."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--memory", type=int, default=100_000, help="verdicts of the long run; 0 leaves it out")
    parser.add_argument("--short", action="store_true", help="only ours and the bare SDK, without kills")
    parser.add_argument("--work", type=Path, help="where environments are kept; default: a temporary folder")
    options = parser.parse_args()
    work = options.work or Path(tempfile.mkdtemp(prefix="throughput-"))
    work.mkdir(parents=True, exist_ok=True)
    try:
        run(options, Bench(work.resolve(), max(options.items, options.memory // 10)))
    finally:
        if options.work is None:
            shutil.rmtree(work)


def run(options: argparse.Namespace, bench: Bench) -> None:
    contenders = SHORT if options.short else ALL
    bench.prepare(contenders)
    python = bench.python(OUR_SINGLE)
    prompt = json.loads(bench.prompts.read_text(encoding="utf-8").partition("\n")[0])["prompt"]
    rows: dict[Contender, list[Figures]] = {contender: [] for contender in contenders}
    twice: dict[Contender, str] = {}
    with open_server(python, LATENCY) as url:
        for turn in range(options.rounds):
            for contender in (*contenders[turn:], *contenders[:turn]):
                rows[contender].append(bench.run(contender, url, options.items))
        for contender in contenders if not options.short else ():
            counted = bench.killed(contender, url, options.items)
            twice[contender] = f"{counted['again']:,} of {counted['before']:,}"
        print(f"{options.items:,} items, {LATENCY * 1000:.0f} ms, {CONNECTIONS} connections, {options.rounds} rounds\n")
        print_table(rows, twice)
        print_ratios(rows)
        if options.memory:
            print_memory(bench, url, options.memory)
    fastest = max(
        entry["verdicts"] / contender.choices / entry["seconds"] for contender in rows for entry in rows[contender]
    )
    for n in (1, 10):
        speed = server_speed(python, prompt, n)
        print(f"Server without latency, n = {n}: {speed:,.0f} calls/s, {speed / fastest:.1f} times the fastest client.")


if __name__ == "__main__":
    main()
