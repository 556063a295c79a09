"""Items and people's labels of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from calibration_sets.references.reference import Reference

__all__ = ["HumanLabel", "Item", "content_digest"]


def content_digest(content: object) -> str:
    """SHA-256, in hex, of the canonical JSON form of plain data (str, int, bool, None, list, dict)."""
    canonical = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True)
class Item:
    """One response to one question, with its reference.

    ``cluster_id`` names the question (or a wider group of near-duplicates): statistics treat
    items of one cluster as dependent. ``respondent`` is who gave the response, ``kind`` what sort
    of case it is. ``digest`` is computed from what a grader can see: question, reference, response.
    """

    item_id: str
    question: str
    reference: Reference
    response: str
    cluster_id: str
    kind: str | None = None
    topic: str | None = None
    answer_type: str | None = None
    respondent: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, compare=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        content = {
            "question": self.question,
            "reference": self.reference.text,
            "aliases": list(self.reference.extra_aliases),
            "response": self.response,
        }
        object.__setattr__(self, "digest", content_digest(content))


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """One person's label of one item under one rubric.

    ``item_digest`` ties the label to the content that the person saw; ``rubric`` is the
    ``name@version`` of the rules the person followed.
    """

    item_id: str
    item_digest: str
    rater: str
    label: str
    rubric: str
