"""A report as JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["render_json"]


def render_json(report: Mapping[str, Any]) -> str:
    """Stable JSON: sorted keys, ASCII only, no NaN (``ValueError``), one line break at the end."""
    return json.dumps(report, indent=2, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n"
