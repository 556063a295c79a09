"""What the verdict keys of a JSON object say, as mentions beside those of the text around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graders.parsing.json_verdict import JsonObject, Pairs, flag_values, verdict_values
from graders.parsing.label_reading import read_label, read_off_scale, read_whole
from graders.parsing.label_words import Vocabulary
from graders.parsing.reply_text import remove_markup
from graders.parsing.verdict_cues import Mention
from graders.verdict import Failure

__all__ = ["OBJECT_MARK", "mark_objects", "read_objects"]

OBJECT_MARK = "\ue000"
"""Stands where an object was taken out; a private character that no pattern reads."""

_Said = tuple[str | None, Failure | None]


def mark_objects(text: str, objects: Sequence[JsonObject]) -> str:
    """The text with each object taken out and a mark in its place."""
    ends = [0, *(found.end for found in objects)]
    begins = [*(found.begin for found in objects), len(text)]
    parts = [text[end:begin].replace(OBJECT_MARK, "") for end, begin in zip(ends, begins, strict=True)]
    return f"\n{OBJECT_MARK}\n".join(parts)


def read_objects(vocabulary: Vocabulary, objects: Sequence[JsonObject], marked: str) -> Iterator[Mention]:
    """One mention for each object that has a verdict key, placed at its mark.

    A flag such as ``is_correct`` is on no scale of labels: alone it is off the scale, and beside a label it must not
    contradict it.
    """
    position = -1
    for found in objects:
        position = marked.find(OBJECT_MARK, position + 1)
        flags = flag_values(found.content)
        values = verdict_values(found.content) or sorted(flags)
        if not values:
            continue
        label, failure, is_certain = _combine([_read_value(vocabulary, value) for value in values])
        if _contradicts(vocabulary, label, flags):
            label, failure = None, "ambiguous"
        quote = ", ".join(repr(value)[:60] for value in values[:4])
        yield Mention("json" if is_certain else "word", label, failure, position, position + 1, quote)


def _contradicts(vocabulary: Vocabulary, label: str | None, flags: set[bool]) -> bool:
    """``"is_correct": false`` beside the best label of the scale, or true beside the worst."""
    best, worst = vocabulary.labels[-1], vocabulary.labels[0]
    return (label == best and False in flags) or (label == worst and True in flags)


def _combine(said: Sequence[_Said | None]) -> tuple[str | None, Failure | None, bool]:
    """The one thing that all readable values say; values that are no verdict at all do not count beside it."""
    meanings = {value for value in said if value is not None}
    if len(meanings) > 1:
        return None, "ambiguous", True
    if meanings:
        return *meanings.pop(), True
    return None, "off_scale", False


def _read_value(vocabulary: Vocabulary, value: object) -> _Said | None:
    if isinstance(value, str):
        return _read_string(vocabulary, remove_markup(value))
    if isinstance(value, int) and not isinstance(value, bool):
        label = vocabulary.label_of_letter(str(value)) if abs(value) < 1000 else None
        return (label, None) if label else None
    if isinstance(value, list) and not isinstance(value, Pairs) and len(value) > 1:
        return None, "ambiguous"
    return None


def _read_string(vocabulary: Vocabulary, text: str) -> _Said | None:
    reading = read_whole(vocabulary, text)
    if reading.status == "none":
        reading = read_label(vocabulary, text, 0)
    if reading.status == "label":
        return reading.label, None
    if reading.status == "several":
        return None, "ambiguous"
    bare = text.strip(" \"'.,;:!()[]")
    return (None, "off_scale") if bare and read_off_scale(bare, 0) == bare else None
