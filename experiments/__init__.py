"""What is asked of graders: experiments, their runs, statistics and reports.

From an experiment's file to its verdicts in pandas::

    from experiments import RunStore, load_experiment, load_run, run_experiment
    from graders.providers import open_client

    experiment = load_experiment("mine.toml")
    with RunStore("autorater.sqlite") as store:
        run_experiment(experiment, store, open_client)
    load_run("autorater.sqlite", experiment.run_id).verdicts()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from experiments.frames.run_frames import RunFrames, load_run
    from experiments.running.runner import run_experiment
    from experiments.specs.experiment import Experiment, load_experiment
    from experiments.store.run_store import RunStore

__all__ = ["Experiment", "RunFrames", "RunStore", "load_experiment", "load_run", "run_experiment"]

_HOMES = {
    "Experiment": "experiments.specs.experiment",
    "RunFrames": "experiments.frames.run_frames",
    "RunStore": "experiments.store.run_store",
    "load_experiment": "experiments.specs.experiment",
    "load_run": "experiments.frames.run_frames",
    "run_experiment": "experiments.running.runner",
}


def __getattr__(name: str) -> object:
    """A public name, imported when it is asked for: every module of this package passes by here, also small ones."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
