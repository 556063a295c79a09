"""Throughput of the vLLM client against bare ``LLM.chat``: same kind of prompts, same engine, in turns.

Each round has items of its own, as the engine keeps prompts; both sides draw ten verdicts an item, held to the
labels. A round's ratio compares its two sides, whichever came first.

Run: python benchmarks/vllm_offline.py MODEL_FOLDER [--items 32] [--rounds 6]
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from calibration_sets.item import Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from graders.client import Request
from graders.grader import Grader
from graders.ledger import find_model
from graders.prompt import GraderPrompt
from graders.providers.vllm_offline import VllmClient
from graders.sampling import Sampling

RUBRIC = "Grade the response right (A), wrong (B) or none (C). " * 20
TEXT = RUBRIC + "\n\n$question\n$reference\n$response\n\nYour letter:"
PROMPT = GraderPrompt("short", "1.0.0", "simpleqa@1.0.0", SIMPLEQA, "letter", "chat", TEXT)
SAMPLING = Sampling()


def make_item(number: int, n_words: int = 0) -> Item:
    reference = Reference(f"Ines Okafor {number}", f"Ines Okafor {number}")
    response = f"Brandt of house {number}" + " and others" * n_words
    return Item(f"i{number}", f"Who wrote book {number}?", reference, response, "c")


def make_items(first: int, n_items: int) -> list[Item]:
    """Of many lengths: the engine keeps whole blocks of tokens, so that with one length a single token decides."""
    return [make_item(first + place, place % 32) for place in range(n_items)]


def time_client(client: VllmClient, items: list[Item]) -> float:
    requests = [Request(item, tuple(range(10)), PROMPT, SAMPLING, SIMPLEQA) for item in items]
    start = time.perf_counter()
    n_answers = sum(len(batch) for batch in client.complete(iter(requests)))
    seconds = time.perf_counter() - start
    assert n_answers == 10 * len(items)
    return n_answers / seconds


def time_bare(llm: Any, items: list[Item]) -> float:
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    chats = [[{"role": "user", "content": PROMPT.render(item)}] for item in items]
    choice = StructuredOutputsParams(choice=["A", "B", "C"])
    params = [
        SamplingParams(n=10, temperature=2.0, seed=16 * place, max_tokens=1, structured_outputs=choice)
        for place in range(len(items))
    ]
    start = time.perf_counter()
    outputs = llm.chat(chats, params, use_tqdm=False)
    return 10 * len(outputs) / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--items", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=6)
    given = parser.parse_args()
    model = f"vllm/{given.model}"
    grader = Grader(model, SAMPLING, PROMPT, capabilities=find_model(model).capabilities)
    ratios = []
    with VllmClient(grader) as client:
        llm = client.engine.llm
        time_client(client, [make_item(10_000_000)])
        time_bare(llm, [make_item(10_000_001)])
        for turn in range(given.rounds):
            first = 1_000 + 2 * turn * given.items
            ours_items = make_items(first, given.items)
            bare_items = make_items(first + given.items, given.items)
            if turn % 2:
                bare, ours = time_bare(llm, bare_items), time_client(client, ours_items)
            else:
                ours, bare = time_client(client, ours_items), time_bare(llm, bare_items)
            ratios.append(ours / bare)
            print(f"client {ours:.1f} verdicts/s, bare LLM.chat {bare:.1f}, ratio {ours / bare:.2f}")
    print(f"ratio: median {statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()
