"""Made-up sets on the scales of rubric graders, and whole runs of such graders against a loopback server."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

from rubric_server import RubricServer, Say

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SCALES
from calibration_sets.writer import write_set
from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.run_store import RunStore
from graders.providers import open_client

__all__ = ["made_set", "run_study"]

EXPERIMENT = """
name = "{name}"
set = "made"
sampling = {{ temperature = 1.0, repeats = {repeats} }}

{items}
[[graders]]
prompt = "{prompt}"
model = "openai-compatible/judge"
base_url = "{url}"
"""


def made_set(scale: str, labels: list[str], *, respondents: str = "s", reference: str = "r") -> CalibrationSet:
    """Two items a question, each with a label of people."""
    rubric = f"{scale}@1.0.0"
    items = tuple(
        Item(f"i{n}", f"q{n // 2}?", parse_reference(reference), f"a{n}", f"q{n // 2}", respondent=who)
        for n, who in zip(range(len(labels)), cycle(respondents), strict=False)
    )
    given = tuple(
        HumanLabel(one.item_id, one.digest, "p", label, rubric) for one, label in zip(items, labels, strict=True)
    )
    return CalibrationSet(
        "made", "1.0.0", rubric, SCALES[scale], "human", "CC0-1.0", "made up", "Made up.", items, given
    )


def run_study(
    folder: Path,
    found: CalibrationSet,
    prompt: str,
    say: Say,
    *,
    repeats: int = 2,
    items: str = "",
    name: str = "study",
) -> str:
    """Run one grader over the whole set in the store ``runs.sqlite`` of a folder; the run's id."""
    if not (folder / "made").exists():
        write_set(found, folder / "made")
    file = folder / f"{name}.toml"
    with RubricServer(found, prompt, say) as server, RunStore(folder / "runs.sqlite") as store:
        text = EXPERIMENT.format(name=name, repeats=repeats, items=items, prompt=prompt, url=server.openai_url)
        file.write_text(text, encoding="utf-8")
        experiment = load_experiment(file)
        run_experiment(experiment, store, open_client)
    return experiment.run_id
