"""Replies in which a grader declines to grade."""

from __future__ import annotations

import re

__all__ = ["find_refusal"]

_HEAD = 400  # characters; a refusal opens a reply, what comes late is talk about the response

_CANNOT = (
    r"(?:can't|cannot|can not|could not|couldn't|won't|will not|am not able to|'m not able to|am unable to|"
    r"'m unable to|not going to|not comfortable|(?:do not|don't) feel comfortable|"
    r"must decline to|have to decline to|decline to|refuse to|"
    r"am not allowed to|'m not allowed to|not permitted to)"
)
_TASK = (
    r"(?:fulfil+|help|assist|grad(?:e|ing)|evaluat(?:e|ing)|judg(?:e|ing)|assess(?:ing)?|comply|complete|process|"
    r"provide|answer|respond|continue|engage|perform|rat(?:e|ing)|scor(?:e|ing)|do (?:that|this|so)|discuss|review|"
    r"carry out|give|support|participate|proceed|classify|label|verify)"
)
_REFUSAL = re.compile(
    rf"\b(?:i|we)\b(?:\s+(?:am|'m))?[\s,]*(?:\w+[\s,]+){{0,2}}?{_CANNOT}\b(?:\s+[\w']+){{0,3}}?\s+{_TASK}\b"
    rf"|\bi'm (?:unable to|not able to|not comfortable|not allowed to)(?:\s+[\w']+){{0,3}}?\s+{_TASK}\b"
    r"|\bas an ai\b[^.\n]{0,60}(?:can't|cannot|unable|not able|don't have)"
    r"|\b(?:sorry|apologi[sz]e)\b[^.\n]{0,40}(?:can't|cannot|unable|not able)"
    r"|\b(?:against|violates?) (?:my|our|the) (?:guidelines|polic(?:y|ies)|usage|content)"
    r"|\bcannot comply\b|\brequest (?:was|is|has been) (?:rejected|blocked|refused|declined)\b"
    r"|抱歉.{0,10}(?:无法|不能)|我无法|我不能|申し訳.{0,20}(?:できません|お答え)|죄송.{0,30}(?:없습니다)"
    r"|\bich kann (?:\w+ ){0,4}nicht\b|\bje ne peux pas\b|\bno puedo\b|\bnemohu\b|\bnon posso\b|\bnão posso\b",
    re.IGNORECASE,
)


def find_refusal(text: str) -> str | None:
    """The words in which the head of a reply declines the task, or ``None``."""
    found = _REFUSAL.search(text[:_HEAD])
    return found.group() if found else None
