"""Whether a model can do what its grader asks, before anything is paid for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from graders.errors import UnsupportedError
from graders.grader import Grader
from graders.ledger import find_model

__all__ = ["Problem", "check_support", "effective_temperature", "require_support", "warnings_of"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is asked and cannot be had; ``leavable`` where the service's own setting can take its place."""

    text: str
    leavable: bool = False


def check_support(grader: Grader) -> tuple[Problem, ...]:
    """What a grader asks that its model cannot do, as far as the ledger and the experiment say."""
    found = (_temperature(grader), _effort(grader), _logprobs(grader), _channel(grader), _form(grader))
    return tuple(problem for problem in found if problem is not None)


def require_support(graders: Iterable[Grader]) -> None:
    """Stop before a run whose models cannot do what is asked.

    Raises
    ------
    UnsupportedError
        One line a grader. Settings that a service can choose itself are let through where the grader
        says ``on_unsupported = "provider-default"``.
    """
    lines = []
    for grader in graders:
        chosen = grader.endpoint.on_unsupported == "provider-default"
        problems = [problem for problem in check_support(grader) if not (chosen and problem.leavable)]
        if problems:
            lines.append(f"{grader.title}: {'; '.join(problem.text for problem in problems)}{_way_out(problems)}")
    if lines:
        raise UnsupportedError("\n".join(lines))


def effective_temperature(grader: Grader) -> float | None:
    """The temperature that calls will carry; ``None`` where it is left to the service."""
    return None if _temperature(grader) is not None else grader.sampling.temperature


def warnings_of(grader: Grader, today: date | None = None) -> tuple[str, ...]:
    """What a reader of this grader's results should know about its model's name.

    Parameters
    ----------
    today
        For end dates; the present day by default.
    """
    entry = find_model(grader.model)
    told = []
    if not entry.known:
        told.append("not in the ledger: what it can do and costs is assumed")
    if grader.capabilities.pinned is False and entry.known:
        pinned = f", such as {entry.snapshots[0]}" if entry.snapshots else ""
        told.append(f"the name is not pinned to one version{pinned}: what it stands for may change")
    if entry.ends is not None:
        left = (entry.ends - (today or date.today())).days
        told.append(f"{'was to be' if left < 0 else 'is to be'} shut down on {entry.ends.isoformat()}")
    return tuple(told)


def _way_out(problems: Iterable[Problem]) -> str:
    if all(problem.leavable for problem in problems):
        return '; on_unsupported = "provider-default" leaves that to the service'
    return ""


def _temperature(grader: Grader) -> Problem | None:
    sampling, able = grader.sampling, grader.capabilities
    asked = f"temperature {sampling.temperature:g} asked"
    if grader.model.startswith(("baseline/", "replay/")) or sampling.method == "exact":
        return None
    if able.temperature is None:
        return Problem(f"{asked}, none accepted", leavable=True)
    low, high = able.temperature
    if not low <= sampling.temperature <= high:
        return Problem(f"{asked}, {low:g} to {high:g} accepted", leavable=True)
    if sampling.temperature == 0 and not able.zero_temperature:
        return Problem(f"{asked}, above 0 to {high:g} accepted", leavable=True)
    if able.sampling_efforts is not None and sampling.reasoning_effort not in able.sampling_efforts:
        efforts = " or ".join(able.sampling_efforts) or "none"
        return Problem(f"{asked}, accepted with reasoning_effort {efforts} alone", leavable=True)
    return None


def _effort(grader: Grader) -> Problem | None:
    effort, able = grader.sampling.reasoning_effort, grader.capabilities
    if effort is None or effort in able.efforts:
        return None
    if not find_model(grader.model).known and not able.efforts:
        return None  # a server of one's own: it will say so itself
    expected = f"{', '.join(able.efforts)} accepted" if able.efforts else "none accepted"
    return Problem(f"reasoning_effort {effort} asked, {expected}", leavable=True)


def _logprobs(grader: Grader) -> Problem | None:
    sampling, able = grader.sampling, grader.capabilities
    if not sampling.wants_logprobs:
        return None
    asked = f"log-probabilities asked ({'method exact' if sampling.method == 'exact' else 'channel logprobs'})"
    if able.sampling_efforts is not None and sampling.reasoning_effort not in able.sampling_efforts:
        return Problem(f"{asked}, given with reasoning_effort {' or '.join(able.sampling_efforts) or 'none'} alone")
    n_labels = len(grader.prompt.scale.labels) if grader.prompt else 0
    if able.label_logprobs or able.top_logprobs >= max(n_labels, 1):
        return None
    return Problem(f"{asked}, {'too few' if able.top_logprobs else 'none'} given")


def _channel(grader: Grader) -> Problem | None:
    channel, able = grader.sampling.channel, grader.capabilities
    if grader.prompt is None:
        return None
    if channel == "json" and not able.json_schema and find_model(grader.model).known:
        return Problem("channel json asked, no JSON schema accepted")
    if channel == "tool" and not able.tool_call and find_model(grader.model).known:
        return Problem("channel tool asked, no tool accepted")
    return None


def _form(grader: Grader) -> Problem | None:
    if grader.prompt is None or grader.prompt.form == "chat" or grader.capabilities.completions:
        return None
    if grader.model.startswith(("baseline/", "replay/")):
        return None
    return Problem(f"{grader.prompt.name} is continued as plain text, only chats accepted")
