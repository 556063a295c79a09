"""Keys of rows that have none of their own, made by who writes them: the same row written twice is one row."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from typing import Any

__all__ = ["derive_key", "new_key"]


def new_key() -> str:
    """A key that no other row has."""
    return uuid.uuid4().hex


def derive_key(row: Mapping[str, Any], column: str) -> str:
    """The key of a row of an earlier version, which has none: always the same for the same row of a store.

    It is by the row's whole content, its number in the store included; ``column``, which is to hold it, and what is
    not known are left out.
    """
    content = {name: value for name, value in row.items() if name != column and value is not None}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()[:32]
