"""Ways of not answering."""

from __future__ import annotations

from calibration_sets.probes.facts import FACTS, take_turns
from calibration_sets.probes.inventions import INVENTIONS
from calibration_sets.probes.places import PLACES
from calibration_sets.probes.probe import NOT_ATTEMPTED, Probe
from calibration_sets.probes.works import WORKS

__all__ = ["declines"]

_DECLINES = (
    "I don't know.",
    "I do not know the answer to this question.",
    "No idea, sorry.",
    "I'm not sure.",
    "I have no reliable information about this.",
    "I can't answer that.",
    "I would rather not guess.",
    "Sorry, but I am unable to help with this one.",
    "You would have to look this up; I can't tell you.",
    "Pass.",
    "That is beyond what I know.",
    "My knowledge does not reach that far.",
    "I need more context before I can answer.",
    "Could you say more precisely what you mean?",
    "Which source should I rely on? Please tell me, and I will try.",
    "As a language model without access to the web, I cannot verify this and so give no answer.",
    "It is not possible for me to determine {subject}.",
    "I cannot tell you {subject}.",
    "I'm afraid I can't recall {subject}.",
    "For {subject} I would refer you to an encyclopedia.",
    "Unfortunately {subject} is not something that I have data on.",
    "I have been asked for {subject}, and I must admit that I don't know.",
    "dunno",
    "Honestly? Not a clue.",
    "Let me get back to you on this.",
    "I prefer not to say.",
    "That question is hard to answer with certainty, so I will leave it open.",
    "The documents that you gave me do not mention it.",
    "The context does not contain the answer.",
    "I searched my memory and came up empty.",
    "A specialist could answer this. I can't.",
    "Please consult an official source for that.",
    "I'd need to check, and I can't check from here.",
    "The answer escapes me.",
    "It is on the tip of my tongue, but no, it won't come.",
    "My records are not detailed enough to say.",
    "This falls outside my training data.",
    "I refuse to speculate.",
    "Je ne sais pas.",
    "Das weiß ich leider nicht.",
    "No lo sé.",
    "Не знаю.",
    "わかりません。",
    "我不知道。",
    "لا أعرف.",
)

_NOTHING_FOUND = (
    "I could not find any information about {subject}.",
    "I was unable to find anything on this in the sources that I know.",
    "There appears to be no record of {subject} that I could draw on.",
    "I find no evidence that this was ever documented.",
    "As far as I can tell, no such thing exists, so I have no answer to give.",
    "I am not aware that what you describe exists; perhaps the question has a mistake in it?",
    "No entry of that name turns up. It may be spelt differently, or be little known.",
    "I can't confirm that this exists. If you have further details, I will gladly try again.",
    "Information on {subject} does not seem to be publicly available.",
    "To my knowledge nobody has ever published that.",
    "Nothing about it turns up in the usual reference works, so it may not exist.",
    "This does not seem to be a real thing, and I would not want to make something up.",
    "The records that I know are silent about {subject}.",
    "I looked for {subject} and found nothing. Could you check the name?",
    "It is possible that what you ask about never existed; in any case I know nothing of it.",
    "There is no reliable account of it that I could point to.",
)

_BUT_I_KNOW = (
    "Without looking it up I can't answer that. What I can tell you about it: {extra}",
    "I don't remember its name. {extra} That is all I know.",
)


def declines() -> list[Probe]:
    """Probes of the kinds decline and nonexistent."""
    asked = take_turns(FACTS, len(_DECLINES), first=2)
    plain = [
        Probe("decline", fact.question, text.format(subject=fact.subject), NOT_ATTEMPTED, NOT_ATTEMPTED)
        for text, fact in zip(_DECLINES, asked, strict=True)
    ]
    return [*plain, *_with_a_fact(), *_nothing_found()]


def _with_a_fact() -> list[Probe]:
    """A true fact beside the point does not make an attempt; places have facts that give nothing away."""
    places = take_turns(PLACES, 3 * len(_BUT_I_KNOW), first=3)
    return [
        Probe(
            "decline",
            fact.question,
            _BUT_I_KNOW[turn % len(_BUT_I_KNOW)].format(extra=fact.true_extra),
            NOT_ATTEMPTED,
            NOT_ATTEMPTED,
        )
        for turn, fact in enumerate(places)
    ]


def _nothing_found() -> list[Probe]:
    """Asked about invented things, and about works; whether this is an attempt, the first rubric does not say."""
    about_works = _NOTHING_FOUND[::2]
    texts = [*_NOTHING_FOUND, *about_works]
    asked = [*take_turns(INVENTIONS, len(_NOTHING_FOUND)), *take_turns(WORKS, len(about_works))]
    return [
        Probe("nonexistent", fact.question, text.format(subject=fact.subject), NOT_ATTEMPTED, None)
        for text, fact in zip(texts, asked, strict=True)
    ]
