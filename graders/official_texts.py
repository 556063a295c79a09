"""Which published grader text a digest is; the texts themselves are not kept here."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

__all__ = ["KNOWN_TEXTS", "KnownText", "OfficialKind", "digest_of", "find_known", "squeezed_digest_of"]

OfficialKind = Literal["simpleqa", "simpleqa_verified"]
"""The two published rubrics."""

_SAME_PLACEHOLDER = {"{criterion}": "{target}", "{answer}": "{predicted_answer}"}


@dataclass(frozen=True, slots=True)
class KnownText:
    """A published text by its SHA-256 after ``strip``, and by that of its characters without white space."""

    kind: OfficialKind
    digest: str
    squeezed: str
    name: str


KNOWN_TEXTS: tuple[KnownText, ...] = (
    KnownText(
        "simpleqa",
        "063c04ea798f91c4706c050b66a721afc77a458b12d8f0d72286d4b0eee8a3ee",
        "3227c9b221ed776a5088de8178115dd2511068f216ea0a60b14f060e3240b043",
        "SimpleQA grader, original (simple-evals; nvidia-simple-evals 26.3)",
    ),
    KnownText(
        "simpleqa",
        "4bfbea8aeb6726cf8c23a663a8c3f43fd11f2a072c24229507f3a6d7c4890317",
        "3227c9b221ed776a5088de8178115dd2511068f216ea0a60b14f060e3240b043",
        "SimpleQA grader, original without trailing spaces (inspect-evals 0.3.102 to 0.5.2)",
    ),
    KnownText(
        "simpleqa",
        "fb8044b143aee186227b6351518665ff21a6b062fc1101fd3dcbfb6383e96061",
        "9f39a019ac3304d5d5dac4eedd575e6a010c43cbb185932b9474e0d9a7888aea",
        "SimpleQA grader, last request reworded (inspect-evals 0.6.0 to 0.28.0)",
    ),
    KnownText(
        "simpleqa_verified",
        "ffa4e9a6e14303b38624347252e79ac79fc5a14fad6c08dfa49e4a96e0f9eda4",
        "3434da752eec17cd8dd3bdbc0639c01f571e31aea90ab90992260f24e8a2a7ca",
        "SimpleQA Verified grader, the paper's text in the original's layout (arXiv:2509.07968)",
    ),
    KnownText(
        "simpleqa_verified",
        "a68d2e132aaea5d44f495f3f6796c1df2757a173214d2806d745840ef512a7d9",
        "ddffcf5d489c34e5944c6b32c7f3c0b8a87b26999604ab721c81389ebf08123c",
        "SimpleQA Verified grader, the paper's line breaks (inspect-evals 0.3.102 to 0.5.2)",
    ),
    KnownText(
        "simpleqa_verified",
        "1e6a50dccd0a97bea4dae7d84f0eddcabf8576de69f494fd0c7f957c0e6874e8",
        "ddffcf5d489c34e5944c6b32c7f3c0b8a87b26999604ab721c81389ebf08123c",
        "SimpleQA Verified grader, instructions apart (inspect-evals 0.6.0 to 0.28.0)",
    ),
)
"""Digests were taken from the packages named; a template that leaves its instructions to another constant is
counted with them filled in. A PDF defines no white space, so the paper's text is known in one layout by its digest, and
in any other by its characters (those of inspect-evals, between the original's code fences)."""


def digest_of(text: str) -> str:
    """SHA-256 of a text after ``strip``."""
    return hashlib.sha256(text.strip().encode()).hexdigest()


def squeezed_digest_of(text: str) -> str:
    """SHA-256 of a text without any white space, its placeholders named as the original names them."""
    for own, original in _SAME_PLACEHOLDER.items():
        text = text.replace(own, original)
    return hashlib.sha256(re.sub(r"\s+", "", text).encode()).hexdigest()


def find_known(text: str) -> tuple[KnownText, bool] | None:
    """The published text that this one is, and whether its white space is the same too; ``None`` for a stranger."""
    digest = digest_of(text)
    for known in KNOWN_TEXTS:
        if known.digest == digest:
            return known, True
    squeezed = squeezed_digest_of(text)
    return next(((known, False) for known in KNOWN_TEXTS if known.squeezed == squeezed), None)
