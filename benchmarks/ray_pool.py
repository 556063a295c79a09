"""Verdicts a second through replicas on a local Ray cluster, beside one process, and bytes of a store for each verdict.

    python benchmarks/ray_pool.py                 # baseline and local model, a minute or two
    python benchmarks/ray_pool.py --short         # the baseline alone

Each pair is measured in one run of this program, in turn, as machines differ and are never idle: look at the ratios.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import sqlalchemy

from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from experiments.store.run_store import CompletionKey, RunStore
from experiments.store.store_place import parse_place
from graders.client import ModelClient, Request
from graders.endpoint import Endpoint, RayReplicas
from graders.grader import Grader
from graders.prompt_library import load_prompt
from graders.providers import model_digest, open_client
from graders.sampling import Sampling
from graders.verdict import CallTime, Completion, Usage

REPEATS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="the baseline alone, with fewer items")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--items", type=int, default=60, help="items for the local model")
    parser.add_argument("--model", help="another engine's model, such as vllm/FOLDER, in the place of the local one")
    parser.add_argument("--store", help="postgresql+psycopg://... to measure there what a verdict takes in a store")
    asked = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {asked.replicas} replicas, {REPEATS} repeats")
    pairs = [("baseline/lexical", 1000 if asked.short else 4000)]
    pairs += [] if asked.short else [(asked.model or "local/smollm2", asked.items)]
    for model, n_items in pairs:
        compare(model, n_items, n_replicas=asked.replicas, n_rounds=1 if asked.short else asked.rounds)
    measure_store(asked.store, 10_000 if asked.short else 100_000)


def compare(model: str, n_items: int, *, n_replicas: int, n_rounds: int) -> None:
    """Time the same requests in one process and through replicas, loading left out."""
    one = build_grader(model)
    many = replace(one, endpoint=Endpoint(ray=RayReplicas("local", n_replicas)))
    rates: dict[str, list[float]] = {"alone": [], "ray": []}
    for round_number in range(n_rounds):
        items = some_items(n_items, start=round_number * n_items)
        for name, grader in (("alone", one), ("ray", many)):
            began = time.perf_counter()
            with open_client(grader) as client:
                # The second replica, and what all items of a prompt share.
                list(client.complete(requests(grader, some_items(8 * n_replicas, start=10_000_000))))
                ready = time.perf_counter()
                n_verdicts, seconds = run(client, requests(grader, items))
            rates[name].append(n_verdicts / seconds)
            print(f"  {model} {name}: ready {ready - began:.1f} s, {n_verdicts / seconds:,.1f} verdicts/s")
    alone, ray = statistics.median(rates["alone"]), statistics.median(rates["ray"])
    print(f"{model}: one process {alone:,.1f}, ray {ray:,.1f} verdicts/s (medians); ratio {ray / alone:.2f}")


def run(client: ModelClient, asked: Iterable[Request]) -> tuple[int, float]:
    """Verdicts and seconds."""
    began = time.perf_counter()
    n_verdicts = sum(len(together) for together in client.complete(asked))
    return n_verdicts, time.perf_counter() - began


def build_grader(model: str) -> Grader:
    if model.startswith("baseline/"):
        return Grader(model, Sampling(repeats=REPEATS), model_digest=f"{model_digest(model)}; x")
    prompt = load_prompt("simpleqa_short@1.0.0")
    sampling = Sampling(temperature=2.0, repeats=REPEATS, constrained=True, channel=prompt.channel)
    return Grader(model, sampling, prompt, model_digest(model))


def some_items(n_items: int, *, start: int) -> list[Item]:
    numbers = range(start, start + n_items)
    reference = parse_reference("Albert Einstein")
    return [
        Item(f"i{n}", f"Who wrote paper number {n}?", reference, f"I think that paper {n} is by Einstein.", f"q{n}")
        for n in numbers
    ]


def requests(grader: Grader, items: Iterable[Item]) -> Iterable[Request]:
    repeats = tuple(range(REPEATS))
    return (Request(item, repeats, grader.prompt, grader.sampling, SIMPLEQA) for item in items)


def measure_store(address: str | None, n_rows: int) -> None:
    """Bytes of a store for each completion; how many a second it takes, and says that it has when a run is planned."""
    items = some_items(n_rows // REPEATS, start=0)
    rows = [
        (CompletionKey(item.digest, repeat), completion(7919 * place + repeat, repeat))
        for place, item in enumerate(items)
        for repeat in range(REPEATS)
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "store.sqlite")
        with RunStore(file) as store:
            fill(store, rows, lambda: file.stat().st_size, "SQLite")
    if address is not None:
        with RunStore(parse_place(address)) as store:
            fill(store, rows, lambda: server_size(address), "PostgreSQL")


def completion(seed: int, repeat: int) -> Completion:
    """As a vLLM engine gives it, with the labels' log-probabilities."""
    return Completion(
        "CORRECT",
        "Qwen/Qwen2.5-7B-Instruct 0123456789ab",
        label_logprobs={"CORRECT": -0.1 - seed * 1e-9, "INCORRECT": -2.3 - seed * 1e-9, "NOT_ATTEMPTED": -7.7},
        usage=Usage(412, 1, 380) if repeat == 0 else Usage(0, 1, 0),
        effective_sampling={
            "temperature": 2.0,
            "seed": seed * 104_729,
            "max_tokens": 1,
            "constrained": True,
            "dtype": "bfloat16",
            "engine": "vllm 0.32.0",
        },
        call_time=CallTime(1.234 + seed % 1000 * 1e-4, 2560),
    )


def fill(store: RunStore, rows: Sequence[tuple[CompletionKey, Completion]], size: Callable[[], int], name: str) -> None:
    empty, began = size(), time.perf_counter()
    for start in range(0, len(rows), 2560):
        store.append_many("f" * 16, rows[start : start + 2560])
    written = time.perf_counter() - began
    digests = list(dict.fromkeys(key.item_digest for key, _ in rows))
    began = time.perf_counter()
    for start in range(0, len(digests), 500):
        store.stored_repeats("f" * 16, digests[start : start + 500])
    planned = time.perf_counter() - began
    print(
        f"{name}: {(size() - empty) / len(rows):.0f} bytes a completion; {len(rows) / written:,.0f} written/s "
        f"in batches of 2,560; {len(rows) / planned:,.0f} looked up/s when a run is planned"
    )


def server_size(address: str) -> int:
    with sqlalchemy.create_engine(address).connect() as connection:
        return int(connection.execute(sqlalchemy.text("select pg_database_size(current_database())")).scalar_one())


if __name__ == "__main__":
    main()
