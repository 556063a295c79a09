"""Which graders the official parser can be asked about."""

from __future__ import annotations

from calibration_sets.scale import LabelScale
from graders.sampling import Channel

__all__ = ["answers_by_letter"]


def answers_by_letter(model: str, channel: Channel, scale: LabelScale, *, has_prompt: bool) -> bool:
    """Whether the letters that the official parser looks for mean something in a grader's replies.

    It takes the first letter of the scale anywhere in a reply, and else that of ``NOT_ATTEMPTED``. Of
    a recorded or imported grader nobody knows what its prompt asked for; whoever compares, knows.
    """
    recorded = not has_prompt and model.startswith(("imported/", "replay/"))
    return (channel == "letter" or recorded) and "NOT_ATTEMPTED" in scale.letters
