"""One decision out of every place of a reply that speaks of a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graders.parsing.verdict_cues import Mention
from graders.verdict import Failure

__all__ = ["Decision", "decide"]

_STRONG = frozenset({"final", "cue", "json", "line", "opening"})
_NEAR_START = 60  # characters


@dataclass(frozen=True, slots=True)
class Decision:
    """A label or a failure, before it is known how the reply ended.

    ``is_complete`` is whether the label stands even if the reply was cut off where it ends.
    """

    label: str | None
    failure: Failure | None
    evidence: str
    is_complete: bool = False


def decide(mentions: Sequence[Mention], text: str) -> Decision:
    """Decide by the last mention said to be final, else by all strong ones if they agree, else by statements.

    Parameters
    ----------
    mentions
        In the order of their places in the text.
    text
        What they were found in.
    """
    strong = [mention for mention in mentions if mention.kind in _STRONG]
    statements = [mention for mention in mentions if mention.kind == "statement"]
    words = [mention for mention in mentions if mention.kind == "word"]
    finals = [mention for mention in strong if mention.kind == "final"]
    if finals:
        return _agreeing(finals[-1], [mention for mention in strong if mention.begin > finals[-1].end], text)
    if strong:
        # what is stated before a verdict is the way to it, what is stated after it must not contradict it
        turn = strong[0].begin if strong[-1].kind == "opening" else strong[-1].begin
        return _agreeing(strong[-1], [*strong, *(mention for mention in statements if mention.begin > turn)], text)
    if statements:
        return _agreeing(statements[-1], [*statements, *(word for word in words if word.label)], text)
    return _undecided(words, text)


def _agreeing(verdict: Mention, others: Sequence[Mention], text: str) -> Decision:
    against = next((other for other in others if _meaning(other) != _meaning(verdict)), None)
    if against is not None:
        return Decision(None, "ambiguous", f"{_show(verdict, text)} against {_show(against, text)}")
    goes_on = bool(text[verdict.end :].strip())
    at_start = verdict.begin <= _NEAR_START and "\n" not in text[: verdict.begin].strip()
    complete = verdict.kind == "json" or (
        goes_on and verdict.kind != "statement" and (at_start or verdict.kind == "final")
    )
    return Decision(verdict.label, verdict.failure, _show(verdict, text), complete)


def _undecided(words: Sequence[Mention], text: str) -> Decision:
    if not words:
        return Decision(None, "unparsed", "no label stands as a verdict")
    if any(word.failure == "ambiguous" for word in words) or len({word.label for word in words if word.label}) > 1:
        return Decision(None, "ambiguous", f"several labels are named, as in {_show(words[0], text)}")
    strangers = [word for word in words if word.failure == "off_scale"]
    if strangers and len(strangers) == len(words):
        return Decision(None, "off_scale", _show(strangers[0], text))
    return Decision(None, "unparsed", f"a label is named but not as a verdict: {_show(words[0], text)}")


def _meaning(mention: Mention) -> str | None:
    return mention.label or mention.failure


def _show(mention: Mention, text: str) -> str:
    return f"{mention.kind}: {mention.quote or repr(text[mention.begin : mention.end][:120])}"
