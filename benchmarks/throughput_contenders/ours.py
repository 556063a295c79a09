"""This project: an experiment with one grader behind an address, its store on disk, and every verdict parsed again."""

from __future__ import annotations

import argparse

from measured import measured, read_options, read_prompts

from calibration_sets import SIMPLEQA, CalibrationSet, Item, parse_reference
from calibration_sets.item import HumanLabel
from experiments.running.runner import run_experiment
from experiments.specs.experiment import Experiment
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from graders.capabilities import Capabilities, Price
from graders.endpoint import Endpoint
from graders.grader import Grader
from graders.prompt_library import load_prompt
from graders.providers import check_model, open_client
from graders.sampling import Sampling

PRICE = Price(input=1.0, output=4.0)


def build_experiment(options: argparse.Namespace) -> Experiment:
    prompt = load_prompt("simpleqa@1.0.0")
    rows = read_prompts(options)
    items = tuple(
        Item(row["id"], row["question"], parse_reference(row["reference"]), row["response"], row["id"]) for row in rows
    )
    labels = tuple(HumanLabel(item.item_id, item.digest, "nobody", "CORRECT", prompt.rubric) for item in items)
    calibration_set = CalibrationSet(
        "load", "1.0.0", prompt.rubric, SIMPLEQA, "none", "none", "made", "", items, labels
    )
    grader = Grader(
        model="openai-compatible/letter",
        sampling=Sampling(temperature=2.0, repeats=options.choices, max_tokens=8),
        prompt=prompt,
        endpoint=Endpoint(base_urls=(options.url,), max_connections=options.connections),
        capabilities=Capabilities(max_choices=options.choices, price=PRICE),
    )
    return Experiment("load", "", calibration_set, len(items), calibration_set.digest, (grader,))


def main() -> None:
    options = read_options(__doc__)
    experiment = build_experiment(options)
    check_model(experiment.graders[0])  # imports the SDK, as every contender has done by now
    with measured(options) as measure, RunStore(options.folder / "store.sqlite") as store:
        run_experiment(experiment, store, open_client)
        data, _ = load_run_data(store, experiment.run_id)
        measure.verdicts = sum(verdict.label is not None for verdict in data.graders[0].verdicts)


main()
