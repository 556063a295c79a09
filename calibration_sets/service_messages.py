"""Messages of a service that stand where a response should be: nobody answered, so nothing can be graded."""

from __future__ import annotations

import re

from calibration_sets.item import Item

__all__ = ["is_service_message"]

_LONGEST = 300
"""A longer response says more than that it failed."""

_SERVICE = re.compile(
    r"\A\W*(?:you(?:'ve| have) (?:reached|hit|exceeded) (?:your|the) (?:[\w-]+ ){0,3}(?:limit|quota)\b"
    r"|(?:rate|usage|session|quota|token) limit (?:reached|exceeded)|error:? (?:code:? )?[45]\d\d\b"
    r"|(?:http(?:/[\d.]+)? )?[45]\d\d (?:too many requests|internal server error|bad gateway|service unavailable"
    r"|gateway time-?out|unauthorized|forbidden|not found|bad request)\W*\Z|too many requests\b"
    r"|internal server error\b|service unavailable\b"
    r"|insufficient_quota|(?:invalid|incorrect) api key|error: |\[object object\]\W*\Z|undefined\W*\Z)",
    re.IGNORECASE,
)


def is_service_message(item: Item) -> bool:
    """Whether the response is a known message of a provider, such as a used-up quota, and not an answer.

    A response that holds the reference is an answer, also to a question about such messages.
    """
    if len(item.response) > _LONGEST or not _SERVICE.search(item.response):
        return False
    return not any(_stands_in(alias, item.response) for alias in item.reference.aliases if alias)


def _stands_in(alias: str, response: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(alias)}(?!\w)", response, re.IGNORECASE) is not None
