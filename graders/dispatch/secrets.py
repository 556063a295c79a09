"""Keeping keys out of what is stored or shown."""

from __future__ import annotations

import re

__all__ = ["HIDDEN", "hide_secrets"]

_LOOKS_SECRET = re.compile(
    r"""\b(?:sk|pk|rk|key|xai|gsk|hf|AIza)[-_][A-Za-z0-9*_\-]{6,}  # the beginnings that services give their keys
    |\bAIza[A-Za-z0-9_\-]{10,}
    |(?<=Bearer\s)\S+
    |(?<=api[-_]key[:=])\s*\S+""",
    re.VERBOSE | re.IGNORECASE,
)
HIDDEN = "[key hidden]"
"""What stands in place of a key."""


def hide_secrets(text: str, *secrets: str | None) -> str:
    """The text without these secrets, and without anything that looks like a service's key."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN)
    return _LOOKS_SECRET.sub(HIDDEN, text)
