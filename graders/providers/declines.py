"""Ways of declining to answer: for the grader without a model."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["is_content_free", "is_decline"]

_KNOW = r"(?:know|remember|recall|have (?:that|the|this|any|enough|access|reliable|specific|an answer|a record)|say)"
_NOT = r"(?:do not|don't|dont|did not|didn't|cannot|can't|cant|can not|could not|couldn't|am not able to|never)"
_FIND = r"(?:find|locate|verify|confirm|identify|determine|answer|provide|tell|access|be (?:sure|certain)|help|name)"
_OWN = (
    rf"\b(?:i|we)\b(?: (?:really|honestly|simply|just|actually|currently|personally|am afraid i|still|truly))* {_NOT}"
    rf"(?: (?:really|honestly|actually|currently|reliably|confidently))* (?:{_KNOW}|{_FIND})\b",
    r"^(?:sorry |honestly )*(?:dunno|don't know|do not know|no idea|no clue|not sure|unsure|unknown|idk|pass|"
    r"n a|na|no answer|none given|no comment|not available|not known|cannot say|can't say|hard to say|beats me|"
    r"skip|declined?)(?: sorry)?$",
    r"\b(?:i|we)(?:'m| am|'re| are)? (?:have|got|has) (?:no|not a|not any) (?:\w+ )?"
    r"(?:idea|clue|information|knowledge|records?|data|way of|memory|sources?|answer)",
    r"^(?:honestly |sorry |really |i'm afraid )*(?:no idea|no clue|not a clue|not the faintest idea)\b",
    r"\b(?:i|we) (?:can't|cannot|could not|couldn't|can not)$|\b(?:escapes|eludes) me\b",
    r"\bnot something (?:that )?(?:i|we)\b|\b(?:i|we) find no\b",
    r"\bmy (?:knowledge|records?|memory|data|training|sources?) (?:does|do|is|are|was|has|have)(?:n't| not| no)\b",
    r"\bmy (?:memory|mind) (?:fails|is (?:a )?blank|went blank)\b|\bbeyond what (?:i|we) know\b|\bcame up empty\b",
    r"\b(?:i|we) (?:would|must|have to|will have to|can only) (?:refer|point|direct) you\b|\bget back to you\b",
    r"\bon the tip of my tongue\b|\bweiss ich (?:leider |auch )?nicht\b",
    r"\bich .{0,40}nicht (?:sagen|sicher|beantworten)\b",
    r"\b(?:i'm|i am|we're|we are)(?: \w+)? not (?:sure|certain|aware|familiar|able)\b",
    r"\b(?:i'm|i am|we're|we are)(?: \w+)? (?:unsure|uncertain|unable|unaware)\b",
    r"\b(?:i|we) (?:lack|would have to (?:look|check|guess)|would need to|need more (?:information|context)|give up|"
    r"prefer not|would rather not|must decline|decline to|won't (?:guess|answer)|will not (?:guess|answer)|refuse)\b",
    r"\bich weiss (?:es |das |die antwort |leider )*nicht\b|\bkeine ahnung\b",
    r"\bje ne (?:sais|connais) pas\b|\baucune idée\b|\bno (?:lo )?sé\b|\bno tengo (?:ni )?idea\b|\bnon (?:lo )?so\b",
    r"\bnão sei\b|\bnevím\b|\bne vím\b|\bnie wiem\b|\bik weet het niet\b|\bjag vet inte\b|\bне знаю\b|\bbilmiyorum\b",
    r"不知道|不清楚|无法(?:回答|确定)|無法|分かりません|わかりません|知りません|모르겠|모릅니다",
    r"لا أعرف|לא יודע|ไม่ทราบ|ไม่รู้",
)
_IMPERSONAL = (
    r"\b(?:unable|not able|impossible|not possible|hard|difficult) (?:for me )?to (?:\w+ )?"
    r"(?:answer|determine|say|know|find|verify|tell|provide|confirm|identify)\b",
    r"\b(?:there is|there's|there are|i found|we found|i see|found) no (?:\w+ ){0,3}"
    r"(?:information|record|records|evidence|data|such|mention|source|sources|way to know|reliable|results?)\b",
    r"\bno such (?:\w+ ){0,3}(?:exists?|existed|is known|ever lived)\b|^(?:there is |there was )?no such \w+",
    r"\b(?:does not|doesn't|did not|didn't|do not|never) (?:seem to |appear to |actually )?exist(?:ed)?\b",
    r"\b(?:is|are|was|were) (?:not|never) (?:publicly |widely |generally |clearly )?"
    r"(?:known|available|recorded|documented|disclosed|given|specified|provided|stated|mentioned)\b",
    r"\b(?:beyond|outside|not in|not within|not part of) my (?:knowledge|training|data|information|abilities)\b",
    r"\bas of my (?:last |latest )?(?:knowledge|training|update|cutoff)\b.*\b(?:no|not)\b|\bas an ai\b",
    r"\b(?:please|you (?:could|should|may|might|would have to)) (?:check|consult|look|refer|provide|clarify|ask)\b",
    r"\b(?:context|text|documents?|passage|sources?)\b.{0,40}\b(?:does|do|did)(?:n't| not) "
    r"(?:contain|mention|say|include|state|give|provide|specify)\b",
    r"^(?:could|can|would|do) you (?:please )?(?:say|tell|mean|clarify|specify|explain|provide|rephrase)\b",
    r"\b(?:there was|there were|there has been|there is|there are) (?:never|not) (?:an?|any)\b",
    r"\b(?:could|can|might) be (?:any|anyone|anything|either)(?: of them)?$",
)
_OWN_DECLINE = re.compile("|".join(_OWN))
_ANY_DECLINE = re.compile("|".join((*_OWN, *_IMPERSONAL)))
_ANSWERS_YET = re.compile(
    r"\b(?:but|however|though|although|nevertheless|still|yet)\b.{0,60}?\b(?:think|believe|guess|say|probably|likely|"
    r"possibly|perhaps|maybe|may|might|would|was|is|were|are|it's)\b"
    r"|\b(?:i (?:do )?(?:think|believe|guess|suppose|would say|would guess)|i'd (?:say|guess)|my (?:best )?guess|"
    r"my answer|final answer|the answer is|if i had to guess|most likely|most probably)\b"
)
_COURTESIES = frozenset(
    {"sorry", "i'm sorry", "i am sorry", "apologies", "i apologize", "unfortunately", "hmm", "well"}
)
_UNCOMMITTED = re.compile(
    r"\b(?:i|we) (?:cannot|can't|could not|couldn't|am unable to|won't) (?:say|tell|decide|determine|choose) "
    r"(?:which|between)\b|\b(?:cannot|can't) say which\b|\bnot sure which\b"
)
_PARTS = re.compile(r"[.!?;\n。！？]+(?:\s|$)|\n")
_ASIDES = re.compile(r"[^\w'%\s]+")


def is_content_free(text: str) -> bool:
    """Whether a text has neither letter nor digit in any script, like ``:`` or an empty answer."""
    return not any(unicodedata.category(char)[0] in "LN" for char in text)


def is_decline(text: str, *, in_own_words: bool = False) -> bool:
    """Whether a response declines and offers no answer of its own.

    Its first sentence must decline, or its last one refuse to choose between candidates, and no
    part of it may go on to answer nevertheless (``I am not sure, but I think it was 1912``). With
    ``in_own_words`` only what the respondent says of itself counts (``I don't know``), not what
    may as well be said of the matter (``it is not known``).
    """
    plain = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
    parts = [part for piece in _PARTS.split(plain) if (part := " ".join(_ASIDES.sub(" ", piece).split()))]
    if not parts or _ANSWERS_YET.search(" ".join(parts)):
        return False
    opening = parts[1] if len(parts) > 1 and parts[0] in _COURTESIES else parts[0]
    pattern = _OWN_DECLINE if in_own_words else _ANY_DECLINE
    return bool(pattern.search(opening) or _UNCOMMITTED.search(parts[-1]))
