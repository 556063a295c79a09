"""From results to plain JSON values, and seeds that depend on content alone."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from calibration_sets.item import content_digest
from experiments.stats.estimate import Estimate

__all__ = ["content_rng", "estimate_fields", "plain_value", "undefined_estimate"]


def estimate_fields(estimate: Estimate) -> dict[str, Any]:
    """The eight fields of an estimate; a number that is not finite is a mistake and raises ``ValueError``."""
    fields = asdict(estimate)
    broken = [name for name in ("value", "low", "high") if fields[name] is not None and not math.isfinite(fields[name])]
    if broken:
        raise ValueError(f"estimate: {broken} not finite in {estimate}; expected a number or None")
    return {name: _native(value) for name, value in fields.items()}


def undefined_estimate(*, method: str, level: float) -> dict[str, Any]:
    """An estimate of something that the data cannot have, resting on nothing."""
    return estimate_fields(Estimate(None, None, None, level, method, n=0, clusters=0, repeats=0))


def plain_value(value: object) -> Any:
    """The nearest JSON value: string keys, lists, and the name of a number that is not finite (``"nan"``)."""
    value = _native(value)
    if isinstance(value, Mapping):
        return {str(key): plain_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        inner_values = [plain_value(inner) for inner in value]
        return sorted(inner_values, key=json.dumps) if isinstance(value, set | frozenset) else inner_values
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _native(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def content_rng(*content: str) -> np.random.Generator:
    """A generator whose seed is a digest of content, so that the same data give the same intervals."""
    return np.random.default_rng(int(content_digest(list(content))[:16], 16))
