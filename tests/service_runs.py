"""An experiment at a loopback service."""

from __future__ import annotations

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from experiments.specs.experiment import Experiment
from graders.capabilities import Capabilities
from graders.endpoint import Endpoint
from graders.grader import Grader
from graders.prompt_library import load_prompt
from graders.sampling import Sampling

__all__ = ["asked_of"]


def asked_of(url: str) -> Experiment:
    """Sixty verdicts of a service, four calls at a time."""
    prompt = load_prompt("simpleqa@1.0.0")
    items = tuple(
        Item(f"i{number}", f"Which is number {number}?", parse_reference(f"n{number}"), "It is.", f"q{number}")
        for number in range(60)
    )
    labels = tuple(HumanLabel(item.item_id, item.digest, "nobody", "CORRECT", prompt.rubric) for item in items)
    judged = CalibrationSet("s", "1.0.0", prompt.rubric, SIMPLEQA, "construction", "none", "made", "", items, labels)
    reached = Endpoint((url,), key_variable="CUTS_KEY", max_connections=4, timeout_seconds=20.0)
    grader = Grader(
        "openai-compatible/m", Sampling(repeats=1, max_tokens=8), prompt, endpoint=reached, capabilities=Capabilities()
    )
    return Experiment("cuts", "", judged, len(items), judged.digest, (grader,))
