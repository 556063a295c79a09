"""The robust rule: find every place that speaks of a label, and decide only where they agree.

The order of steps: an unusable reply (empty, refused by the service, thinking unfinished); a reply that
is a label and nothing else; then the places of `graders.parsing.verdict_cues` and JSON objects, of which the last
one said to be final wins, and otherwise all that are strong must agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, islice

from graders.parsing.decision import Decision, decide
from graders.parsing.json_verdict import find_objects
from graders.parsing.label_reading import read_off_scale, read_whole
from graders.parsing.label_words import Vocabulary
from graders.parsing.line_verdicts import find_lines, find_opening, find_words
from graders.parsing.object_verdicts import mark_objects, read_objects
from graders.parsing.refusals import find_refusal
from graders.parsing.reply_text import fold_characters, remove_markup, strip_thinking
from graders.parsing.verdict_cues import Mention, find_cued, find_statements
from graders.verdict import ParsedVerdict

__all__ = ["read_reply"]

_REFUSED = frozenset({"refusal", "content_filter", "safety", "prohibited_content", "blocklist"})
_CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_HEAD, _TAIL = 20_000, 60_000  # characters looked at of a longer reply
_MOST_MENTIONS = 400  # a reply with more is a loop, not a verdict
_SHORT = 300
_SYMBOL = re.compile(r"[^\x00-\x7f\u00a0-\u00bf\u2010-\u205f\u3000-\u303f]")  # neither space nor punctuation
_NOUN_LEAD = re.compile(r"\A(?:the )?(?:final )?(?:grade|verdict|label|rating|judge?ment) ", re.IGNORECASE)
_CROSS = re.compile("[❌✗✘✖❎🚫👎]")
_TICK = re.compile("[✅✓✔☑👍]")


def read_reply(
    text: str | None, vocabulary: Vocabulary, *, positive: str | None, stop_reason: str | None
) -> ParsedVerdict:
    """Read one reply; see `graders.parsing.parse_verdict`."""
    ended = (stop_reason or "").casefold()
    if ended in _REFUSED:
        return ParsedVerdict(None, "refused", "robust", f"stop reason {stop_reason}")
    cut_off = ended in _CUT_OFF
    raw = text or ""
    outcome = _exact(raw, vocabulary) or _read_text(raw, vocabulary, positive)
    if cut_off and not (outcome.label and outcome.is_complete):
        return ParsedVerdict(None, "truncated", "robust", f"cut off at its token limit; {outcome.evidence}")
    return ParsedVerdict(outcome.label, outcome.failure, "robust", outcome.evidence)


def _exact(text: str, vocabulary: Vocabulary) -> Decision | None:
    label = vocabulary.label_of_spelling(text)
    if label is None:
        return None
    return Decision(label, None, f"whole reply: {text.strip()[:80]!r}", not vocabulary.completions_of(text) - {label})


def _read_text(text: str, vocabulary: Vocabulary, positive: str | None) -> Decision:
    reply = strip_thinking(fold_characters(text))
    if reply.unfinished:
        return Decision(None, "unparsed", "thinking was never closed")
    shown = _shortened(reply.text)
    kept = _without_lone_cross(shown)
    plain = remove_markup(kept)
    if not re.search(r"\w", plain):
        return Decision(None, "unparsed" if _SYMBOL.search(shown) else "empty", f"no words: {plain[:40]!r}")
    whole = _read_whole(plain, vocabulary) if len(plain) <= _SHORT else None
    outcome = whole or _decide_places(kept, plain, vocabulary)
    best = positive or vocabulary.labels[-1]
    if outcome.label is not None and outcome.label == best and _CROSS.search(shown[:_SHORT]):
        return Decision(None, "ambiguous", f"a cross beside {outcome.evidence}")
    return outcome


def _without_lone_cross(text: str) -> str:
    """One cross and no tick decorate a verdict (``INCORRECT`` and a cross); several make a list of choices."""
    return _CROSS.sub("", text) if len(_CROSS.findall(text)) == 1 and not _TICK.search(text) else text


def _shortened(text: str) -> str:
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n{text[-_TAIL:]}"


def _read_whole(plain: str, vocabulary: Vocabulary) -> Decision | None:
    """A reply that is one label, or one off-scale value, and nothing else."""
    reading = read_whole(vocabulary, plain)
    if reading.status == "label":
        begun = vocabulary.completions_of(reading.text) - {reading.label} if reading.is_word else set()
        return Decision(reading.label, None, f"whole reply: {plain[:80]!r}", not begun)
    bare = _NOUN_LEAD.sub("", plain).strip(" \n\"'.,;:!()[]{}<>「」『』【】。")
    if reading.status == "none" and vocabulary.label_of_letter(bare) is None and read_off_scale(bare, 0) == bare:
        return Decision(None, "off_scale", f"whole reply: {plain[:80]!r}")
    return None


def _decide_places(raw: str, plain: str, vocabulary: Vocabulary) -> Decision:
    objects = find_objects(raw)
    text = remove_markup(mark_objects(raw, objects)) if objects else plain
    found = list(islice(_find_places(vocabulary, text), _MOST_MENTIONS + 1))
    if len(found) > _MOST_MENTIONS:
        return Decision(None, "ambiguous", f"more than {_MOST_MENTIONS} places speak of labels")
    found.extend(read_objects(vocabulary, objects, text))
    decided = decide(sorted(found, key=lambda mention: (mention.begin, mention.end)), text)
    if decided.label is None and (refusal := find_refusal(text)):
        return Decision(None, "refused", f"refusal: {refusal!r}")
    return decided


def _find_places(vocabulary: Vocabulary, text: str) -> Iterable[Mention]:
    return chain(
        find_opening(vocabulary, text),
        find_lines(vocabulary, text),
        find_cued(vocabulary, text),
        find_statements(vocabulary, text),
        islice(find_words(vocabulary, text), 40),
    )
