"""How long a service asks to wait, read from its headers; what cannot be read asks for nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["parse_duration", "parse_reset_wait", "parse_retry_after"]

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhd])")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_MILLISECONDS_FROM = 1e11
_NO_TIME = 1e-3
_KINDS = ("requests", "tokens", "input-tokens", "output-tokens")
_PREFIXES = ("x-ratelimit", "anthropic-ratelimit")


def parse_duration(text: str) -> float | None:
    """Seconds of a duration such as ``6m0s``, ``1h2m3s``, ``20ms`` or ``1.5``; ``None`` for anything else."""
    text = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return _finite(float(text))
    if not re.fullmatch(rf"(?:{_PART.pattern})+", text):
        return None
    return _finite(sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text)))


def parse_retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that ``Retry-After`` (seconds or an HTTP date) or ``retry-after-ms`` asks for, not below zero.

    Parameters
    ----------
    headers
        Names in lower case.
    now
        The time of the answer, with its zone.
    """
    precise = _milliseconds(headers.get("retry-after-ms", ""))
    if precise is not None:
        return precise
    asked = headers.get("retry-after", "").strip()
    seconds = _since_epoch(asked, now) or parse_duration(asked)
    return _until(_http_date(asked), now) if seconds is None else seconds


def parse_reset_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds until a spent allowance is renewed: the longest of those of which nothing remains, or ``None``.

    Reads ``x-ratelimit-*`` (durations or times) and ``anthropic-ratelimit-*`` (RFC 3339 times).
    """
    waits = []
    for prefix, kind in _names(headers):
        # Two orders of words are in use: x-ratelimit-remaining-tokens, anthropic-ratelimit-tokens-remaining.
        remaining = headers.get(f"{prefix}-remaining-{kind}") or headers.get(f"{prefix}-{kind}-remaining") or ""
        reset = headers.get(f"{prefix}-reset-{kind}") or headers.get(f"{prefix}-{kind}-reset") or ""
        if not re.fullmatch(r"\s*0+(\.0*)?\s*", remaining):
            continue
        seconds = _since_epoch(reset, now) or parse_duration(reset)
        wait = _until(_iso_time(reset), now) if seconds is None else seconds
        if wait is not None:
            waits.append(wait)
    return max(waits, default=None)


def _names(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    there = [prefix for prefix in _PREFIXES if any(name.startswith(prefix) for name in headers)]
    return [(prefix, kind) for prefix in there for kind in _KINDS]


def _milliseconds(text: str) -> float | None:
    if not re.fullmatch(r"\s*\d+(\.\d+)?\s*", text):
        return None
    return _finite(float(text) / 1000)


def _since_epoch(text: str, now: datetime) -> float | None:
    """Seconds until a moment that is told as seconds or milliseconds since 1970; ``None`` for anything smaller."""
    if not re.fullmatch(r"\s*\d{10,13}(\.\d+)?\s*", text):
        return None
    number = float(text)
    moment = number / 1000 if number >= _MILLISECONDS_FROM else number
    return max(_NO_TIME, moment - now.timestamp())


def _finite(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None


def _until(moment: datetime | None, now: datetime) -> float | None:
    if moment is None:
        return None
    return max(0.0, (moment - now).total_seconds())


def _http_date(text: str) -> datetime | None:
    try:
        return _aware(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _iso_time(text: str) -> datetime | None:
    try:
        return _aware(datetime.fromisoformat(text.strip()))
    except ValueError:
        return None


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
