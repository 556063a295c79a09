"""What rebuilds the graders of a run anywhere, without its files: kept in the run's record, checked by their ids.

Nothing of it is a secret: of a key only the name of its environment variable is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from experiments.errors import SpecError
from experiments.store.set_snapshot import load_scale
from graders.capabilities import Capabilities, Price
from graders.endpoint import Endpoint
from graders.errors import GraderError
from graders.grader import Grader
from graders.prompt import GraderPrompt
from graders.providers import model_digest
from graders.sampling import Sampling

__all__ = ["dump_grader", "rebuild_grader"]

_PROMPT_FIELDS = ("name", "version", "rubric", "channel", "form", "text", "description")


def dump_grader(grader: Grader) -> Mapping[str, Any] | None:
    """All that a grader is made of, as plain data; ``None`` for a prompt that is more than its text."""
    prompt = grader.prompt
    if prompt is not None and type(prompt) is not GraderPrompt:
        return None
    return {
        "model": grader.model,
        "address": grader.address,
        "model_digest": grader.model_digest,
        "sampling": asdict(grader.sampling),
        # Where it was computed is nothing that a worker elsewhere is bound to.
        "endpoint": asdict(replace(grader.endpoint, ray=None)),
        "capabilities": asdict(grader.capabilities),
        "prompt": None if prompt is None else _dump_prompt(prompt),
    }


def _dump_prompt(prompt: GraderPrompt) -> Mapping[str, Any]:
    plain = {name: getattr(prompt, name) for name in _PROMPT_FIELDS}
    return {**plain, "scale": asdict(prompt.scale), "unused": list(prompt.unused)}


def rebuild_grader(fields: Mapping[str, Any] | None, *, grader_id: str, title: str) -> Grader:
    """The grader of a run's record, with the model that this machine has.

    Parameters
    ----------
    fields
        By :func:`dump_grader`; ``None`` where an earlier version recorded the run.
    grader_id
        What its id was.
    title
        What messages call it.

    Raises
    ------
    SpecError
        If it cannot be rebuilt, or would be another grader; the message says what to do.
    """
    if fields is None:
        raise SpecError(
            f"{title}: its run was recorded without what rebuilds it, by an earlier version or an import; "
            "expected --experiment FILE, the file that made the run"
        )
    try:
        grader = _build(fields)
    except (KeyError, TypeError, ValueError) as error:
        raise SpecError(f"{title}: its record cannot be read ({error}); expected --experiment FILE") from error
    except (GraderError, OSError) as error:
        raise SpecError(f"{title}: {error}; or expected --experiment FILE, where its model is") from error
    if grader.grader_id != grader_id:
        raise SpecError(
            f"{title}: rebuilt here it is grader {grader.grader_id}, as its model is another one on this machine; "
            f"expected {grader_id}: the model that the run was recorded with, or --experiment FILE beside it"
        )
    return grader


def _build(fields: Mapping[str, Any]) -> Grader:
    prompt, endpoint = fields["prompt"], _build_endpoint(fields["endpoint"])
    address = fields["address"] or fields["model"]
    digest = model_digest(address, endpoint)
    # A grader without a prompt has the labels of the set behind the digest of its model.
    labels = fields["model_digest"].partition("; ")[2] if prompt is None else ""
    return Grader(
        model=fields["model"],
        sampling=Sampling(**fields["sampling"]),
        prompt=None if prompt is None else _build_prompt(prompt),
        model_digest=f"{digest}; {labels}" if labels else digest,
        address=fields["address"],
        endpoint=endpoint,
        capabilities=_build_capabilities(fields["capabilities"]),
    )


def _build_endpoint(fields: Mapping[str, Any]) -> Endpoint:
    return Endpoint(**{**fields, "base_urls": tuple(fields["base_urls"])})


def _build_capabilities(fields: Mapping[str, Any]) -> Capabilities:
    price = fields["price"]
    tuples = {name: _as_tuple(fields[name]) for name in ("temperature", "efforts", "sampling_efforts")}
    return Capabilities(**{**fields, **tuples, "price": None if price is None else Price(**price)})


def _as_tuple(value: list[Any] | None) -> tuple[Any, ...] | None:
    return None if value is None else tuple(value)


def _build_prompt(fields: Mapping[str, Any]) -> GraderPrompt:
    plain = {name: fields[name] for name in _PROMPT_FIELDS}
    return GraderPrompt(**plain, scale=load_scale(fields["scale"]), unused=tuple(fields["unused"]))
