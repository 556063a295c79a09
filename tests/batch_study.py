"""A small experiment for tests of batch jobs: items, one grader, and a server to hand them in to."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from experiments.specs.experiment import Experiment
from graders.capabilities import Capabilities
from graders.endpoint import Endpoint
from graders.grader import Grader
from graders.prompt_library import load_prompt
from graders.sampling import Sampling

__all__ = ["Clock", "make_experiment", "make_grader", "make_items"]


class Clock:
    """Time that passes only by sleeping; remembers how long each sleep was."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)
        self.sleeps: list[float] = []

    def __call__(self) -> datetime:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += timedelta(seconds=seconds)


def make_items(n_items: int) -> tuple[Item, ...]:
    return tuple(
        Item(f"i{n}", f"Question number {n}?", parse_reference(f"answer {n}"), f"It is answer {n}.", f"q{n}")
        for n in range(n_items)
    )


def make_grader(url: str, style: str, *, repeats: int = 3, max_choices: int = 1) -> Grader:
    """A grader whose model is asked in one of the forms: chat, responses or messages."""
    provider, path = ("anthropic", "") if style == "messages" else ("openai", "/v1")
    base = Capabilities(api="chat", batch=True, max_choices=max_choices)
    capabilities = {
        "chat": base,
        "responses": replace(base, api="responses", token_limit="max_output_tokens"),
        "messages": replace(base, api="messages", temperature=None),
    }[style]
    return Grader(
        model=f"{provider}/some-model",
        sampling=Sampling(temperature=1.0, repeats=repeats, max_tokens=16),
        prompt=load_prompt("simpleqa@1.0.0"),
        endpoint=Endpoint(base_urls=(url + path,), on_unsupported="provider-default"),
        capabilities=capabilities,
    )


def make_experiment(*graders: Grader, n_items: int = 5) -> Experiment:
    items = make_items(n_items)
    calibration_set = CalibrationSet(
        name="small",
        version="1.0.0",
        rubric="simpleqa@1.0.0",
        scale=SIMPLEQA,
        label_source="human",
        licence="CC0-1.0",
        source="made up",
        description="Made up.",
        items=items,
        human_labels=(),
    )
    return Experiment("small", "", calibration_set, len(items), calibration_set.digest, graders)
