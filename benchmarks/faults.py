"""What a run loses and pays twice under each fault of a service: the table of docs/benchmarks.md.

    python benchmarks/faults.py

Every row is an experiment of 40 items with 10 repeats each, run over loopback through a real SDK into a real store. The
fault is met by every fifth call, the first excepted. "Broken off" are replies that were paid for and could not be read
to their end; "failed" are repeats without a reply, kept with their reason; "lost" are repeats that are neither stored
nor kept as failed; "paid twice" are whole replies beyond those that are stored. The last rows kill a run with signal 9
in the middle of its calls and give the same command again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import fault_replies as replies
from fault_server import FaultServer, Script

from calibration_sets import SIMPLEQA, CalibrationSet, Item, parse_reference
from calibration_sets.item import HumanLabel
from experiments.running.runner import run_experiment
from experiments.specs.experiment import Experiment
from experiments.store.run_store import RunStore
from graders.capabilities import Capabilities
from graders.endpoint import Endpoint
from graders.grader import Grader
from graders.prompt_library import load_prompt
from graders.providers import open_client
from graders.sampling import Sampling

N_ITEMS, REPEATS, CONNECTIONS, EVERY = 40, 10, 8, 5
WIRES = ("openai", "anthropic")
FAULTS: tuple[tuple[str, replies.Fault], ...] = (
    ("none", replies.Ok()),
    ("429 without Retry-After", replies.Status(429)),
    ("429 with Retry-After", replies.Status(429, headers=(("retry-after", "0.2"),))),
    ("529 overloaded", replies.Status(529)),
    ("500", replies.Status(500)),
    ("slow by 200 ms", replies.Slow(0.2)),
    ("hangs, time-out 1 s", replies.Hang()),
    ("connection dropped", replies.DropConnection()),
    ("reset in the middle of a body", replies.ResetMidBody()),
    ("half a JSON", replies.HalfJson()),
    ("no JSON", replies.NotJson()),
    ("empty content", replies.EmptyContent()),
    ("null content", replies.NullContent()),
    ("reasoning beside an empty content", replies.ReasoningBesideEmpty()),
    ("refusal", replies.Refusal()),
    ("content filter", replies.ContentFilter()),
    ("n ignored", replies.IgnoreN()),
    ("another model's name", replies.ChangedModel()),
    ("wrong usage", replies.WrongUsage()),
)


@dataclass(frozen=True)
class Outcome:
    """What was asked, paid for and kept."""

    calls: int
    paid: int
    broken_off: int
    stored: int
    failed: int

    @property
    def lost(self) -> int:
        return N_ITEMS * REPEATS - self.stored - self.failed

    @property
    def twice(self) -> int:
        return self.paid - self.broken_off - self.stored


def experiment(wire: str, url: str) -> Experiment:
    prompt = load_prompt("simpleqa@1.0.0")
    items = tuple(
        Item(
            f"i{number}", f"Which is number {number}?", parse_reference(f"n{number}"), f"It is n{number}.", f"q{number}"
        )
        for number in range(N_ITEMS)
    )
    labels = tuple(HumanLabel(item.item_id, item.digest, "nobody", "CORRECT", prompt.rubric) for item in items)
    judged = CalibrationSet(
        "faults", "1.0.0", prompt.rubric, SIMPLEQA, "construction", "none", "made", "", items, labels
    )
    anthropic = wire == "anthropic"
    able = Capabilities(api="messages", temperature=None) if anthropic else Capabilities(max_choices=REPEATS)
    grader = Grader(
        "anthropic/m" if anthropic else "openai-compatible/m",
        Sampling(repeats=REPEATS, max_tokens=8),
        prompt,
        endpoint=Endpoint((url,), key_variable="FAULTS_KEY", max_connections=CONNECTIONS, timeout_seconds=1.0),
        capabilities=able,
    )
    return Experiment("faults", "", judged, N_ITEMS, judged.digest, (grader,))


def address(server: FaultServer, wire: str) -> str:
    return str(server.anthropic_url if wire == "anthropic" else server.openai_url)


def count(server: FaultServer, asked: Experiment, path: Path) -> Outcome:
    with RunStore(path) as store:
        stored = store.stored_keys(asked.graders[0].grader_id)
        failed = store.call_failures(asked.graders[0].grader_id).keys() - stored
    paid, broken = sum(server.paid.values()), sum(server.wasted.values())
    return Outcome(len(server.requests), paid, broken, len(stored), len(failed))


def meet(fault: replies.Fault, wire: str, folder: Path) -> Outcome:
    """A run in which every fifth call meets the fault."""
    script: Script = lambda number: fault if number % EVERY == 1 else replies.Ok()  # noqa: E731
    with FaultServer(script) as server:
        asked = experiment(wire, address(server, wire))
        with RunStore(folder / "store.sqlite") as store:
            run_experiment(asked, store, open_client)
        return count(server, asked, folder / "store.sqlite")


def kill(wire: str, folder: Path) -> Outcome:
    """A run that is killed after half of its calls, and run again."""
    with FaultServer(latency=0.05) as server:
        asked = experiment(wire, address(server, wire))
        command = [sys.executable, __file__, wire, address(server, wire), str(folder / "store.sqlite")]
        first = subprocess.Popen(command)
        half = len(tuple(calls_of(asked))) // 2
        while len(server.requests) < half:
            time.sleep(0.005)
        first.kill()
        first.wait()
        subprocess.run(command, check=True)
        return count(server, asked, folder / "store.sqlite")


def calls_of(asked: Experiment) -> Iterator[int]:
    together = asked.graders[0].capabilities.max_choices
    return iter(range(N_ITEMS * REPEATS // together))


def run_once(arguments: Sequence[str]) -> None:
    """The run of a process that is going to be killed."""
    wire, url, path = arguments
    with RunStore(Path(path)) as store:
        run_experiment(experiment(wire, url), store, open_client)


def main() -> None:
    os.environ["FAULTS_KEY"] = "none"
    if sys.argv[1:]:
        run_once(sys.argv[1:])
        return
    print(f"{N_ITEMS} items, {REPEATS} repeats, {CONNECTIONS} connections; every {EVERY}th call meets the fault\n")
    print("| fault | wire | calls | replies paid | broken off | stored | failed | lost | paid twice |")
    print("|---|---|---|---|---|---|---|---|---|")
    for title, fault in (*FAULTS, ("kill -9 in the middle", None)):
        for wire in WIRES:
            with tempfile.TemporaryDirectory() as name:
                found = kill(wire, Path(name)) if fault is None else meet(fault, wire, Path(name))
            cells = (found.calls, found.paid, found.broken_off, found.stored, found.failed, found.lost, found.twice)
            print(f"| {title} | {wire} | {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
