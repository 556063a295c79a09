"""The concepts that a response uses, from the JSON object that ends a reply."""

from __future__ import annotations

import re
from collections import Counter

from calibration_sets.scale import LabelScale
from graders.parsing.json_verdict import Pairs, find_objects
from graders.parsing.label_words import canonical_phrase
from graders.parsing.refusals import find_refusal
from graders.parsing.written_reply import Unread, open_reply, with_failure, with_label
from graders.verdict import ConceptUse, ParsedVerdict

__all__ = ["read_concepts"]

_LISTS = {"used": "true_positives", "missing": "false_negatives", "foreign": "false_positives"}
"""Each list and the key of its count."""
_NOTHING = frozenset({"", "none", "nothing", "n a", "empty", "null"})
"""What stands in a list in place of a name; an empty list has nothing in it."""


def read_concepts(text: str | None, scale: LabelScale, stop_reason: str | None) -> ParsedVerdict:
    """Read lists of concepts and their counts; see :func:`graders.parsing.parse_completion`.

    The object with the three lists that ends the reply is read, or one that all such objects are equal to. A reply
    whose counts are not those of its lists, or that names a concept twice, contradicts itself: ``ambiguous``. What is
    no name, such as "none" in place of an empty list, is no concept: ``unparsed``. The label tells how many of the
    reference's concepts are used, by the lists alone: the first of the scale for none, the last for all, the middle one
    for some.
    """
    opened = open_reply(text, stop_reason, keep_marks=True)
    if isinstance(opened, Unread):
        return with_failure(opened)
    objects = find_objects(opened)
    contents = [dict(found.content) for found in objects if _repeats_no_key(found.content)]
    whole = [content for content in contents if _LISTS.keys() <= content.keys()]
    if not whole:
        refusal = find_refusal(opened)
        return with_failure(Unread("refused", refusal) if refusal else Unread("unparsed", "no object with the lists"))
    goes_on = re.search(r"\w", opened[objects[-1].end :])
    if goes_on and any(content != whole[-1] for content in whole):
        return with_failure(Unread("ambiguous", f"{len(whole)} objects with lists, and text behind them"))
    use = _read_lists(whole[-1])
    if isinstance(use, Unread):
        return with_failure(use)
    if not use.used and not use.missing:
        return with_failure(Unread("unparsed", "no concept of the reference in any list"))
    worst, some, best = scale.labels
    label = worst if not use.used else best if not use.missing else some
    shown = f"{len(use.used)} used, {len(use.missing)} missing, {len(use.foreign)} foreign"
    return with_label(label, f"lists: {shown}", use)


def _repeats_no_key(content: Pairs) -> bool:
    return len({key for key, _ in content}) == len(content)


def _read_lists(content: dict[str, object]) -> ConceptUse | Unread:
    lists: dict[str, tuple[str, ...]] = {}
    for name, count_name in _LISTS.items():
        listed = content[name]
        if not isinstance(listed, list) or not all(isinstance(concept, str) and concept.strip() for concept in listed):
            return Unread("unparsed", f"{name}: {str(listed)[:60]}; expected a list of names")
        if any(canonical_phrase(concept) in _NOTHING for concept in listed):
            return Unread("unparsed", f"{name}: {str(listed)[:60]}; expected names of concepts, or an empty list")
        count = content.get(count_name)
        if not isinstance(count, int) or isinstance(count, bool):
            return Unread("unparsed", f"{count_name}: {str(count)[:60]}; expected a count")
        if count != len(listed):
            return Unread("ambiguous", f"{count_name}: {count}, but {name} lists {len(listed)}")
        lists[name] = tuple(concept.strip() for concept in listed)
    seen = Counter(canonical_phrase(concept) for concepts in lists.values() for concept in concepts)
    repeated = [concept for concept, times in seen.items() if times > 1]
    if repeated:
        return Unread("ambiguous", f"concept {repeated[0]!r} is listed {seen[repeated[0]]} times")
    return ConceptUse(lists["used"], lists["missing"], lists["foreign"])
