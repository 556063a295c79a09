"""From a reply to a verdict: a label of the scale, or the reason why there is none.

Nothing here falls back on a class. Only the ``official`` rule does, because it repeats what SimpleQA's
reference implementation does, so that what that does can be measured.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from calibration_sets.scale import LabelScale
from graders.parsing.concept_lists import read_concepts
from graders.parsing.confidence_line import read_confidence
from graders.parsing.label_words import build_vocabulary
from graders.parsing.reasons_line import read_reasons
from graders.parsing.robust_rule import read_reply
from graders.parsing.score_line import read_score
from graders.sampling import Channel
from graders.verdict import Completion, Failure, ParsedVerdict, ParserRule

__all__ = ["PARSER_VERSION", "parse_completion", "parse_verdict"]

PARSER_VERSION = "1.0.0"
"""Raised whenever a rule reads any reply differently than before."""

_REFUSED = frozenset({"refusal", "content_filter"})

_WRITTEN: Mapping[Channel, Callable[[str | None, LabelScale, str | None], ParsedVerdict]] = {
    "score": read_score,
    "reasons": read_reasons,
    "confidence": read_confidence,
    "concepts": read_concepts,
}
"""Readers of the replies that are written out: text, scale, stop reason."""


def parse_verdict(
    text: str | None, scale: LabelScale, *, rule: ParserRule = "robust", stop_reason: str | None = None
) -> ParsedVerdict:
    """Read a grader's reply.

    Parameters
    ----------
    text
        The reply; ``None`` where the service sent no content. Of one longer than 80,000 characters,
        thinking left out, the robust rule looks at the first 20,000 and the last 60,000.
    scale
        The labels, with the letters and words that the grader's prompt asked for.
    rule
        ``robust`` reads whole label words before letters, and letters only where they stand as a
        verdict; ``label`` takes a text that is one of the labels, spelt exactly; ``official`` takes the
        first of the scale's letters anywhere in the text and else the letter of ``NOT_ATTEMPTED``, as
        https://github.com/openai/simple-evals does.
    stop_reason
        Why the reply ended; ``length`` and ``max_tokens`` make a reply ``truncated`` unless its verdict
        is complete beyond doubt. Only the robust rule looks at it.

    Returns
    -------
    ParsedVerdict
        A label or a failure; ``evidence`` says what was matched, and how.

    Raises
    ------
    ValueError
        For the official rule, if the scale has no letter for ``NOT_ATTEMPTED``; for an unknown rule.
    """
    if rule == "robust":
        return read_reply(text, build_vocabulary(scale), positive=scale.positive, stop_reason=stop_reason)
    if rule == "official":
        return _first_letter(text or "", scale)
    if rule == "label":
        return _exact_label(text or "", scale)
    raise ValueError(f"parser rule: {rule!r}; expected 'robust', 'official' or 'label'")


def parse_completion(
    completion: Completion, scale: LabelScale, channel: Channel, *, rule: ParserRule = "robust"
) -> ParsedVerdict:
    """Read a completion through the channel by which its verdict was asked for.

    The ``logprobs`` channel takes the label with the highest log-probability, and nothing else: where
    these are missing, or two labels are exactly equal, there is no verdict, whatever the text says.
    The other channels read the text; a tool call's arguments are its text. Of a reply that is written
    out they read its end: the line of its score, of its reasons or of its verdict with a confidence, or
    its lists of concepts; a list or a confidence stands in the verdict's ``finding``.

    Raises
    ------
    ValueError
        As `parse_verdict`.
    """
    if channel == "logprobs" and rule == "robust":
        return _most_probable(completion, scale)
    if channel in _WRITTEN and rule == "robust":
        return _WRITTEN[channel](completion.text, scale, completion.stop_reason)
    return parse_verdict(completion.text, scale, rule=rule, stop_reason=completion.stop_reason)


def _exact_label(text: str, scale: LabelScale) -> ParsedVerdict:
    if text in scale:
        return ParsedVerdict(text, None, "label", f"exact label: {text!r}")
    if not text.strip():
        return ParsedVerdict(None, "empty", "label", "no text")
    return ParsedVerdict(None, "off_scale", "label", f"not a label of the scale: {text[:80]!r}")


def _first_letter(text: str, scale: LabelScale) -> ParsedVerdict:
    labels = {letter: label for label, letter in scale.letters.items()}
    default = scale.letters.get("NOT_ATTEMPTED")
    if default is None:
        raise ValueError(
            f"official rule: scale {scale.name!r} has no letter for NOT_ATTEMPTED; expected one, it is the default"
        )
    found = re.search("|".join(map(re.escape, labels)), text)
    if found is None:
        return ParsedVerdict(labels[default], None, "official", f"no letter anywhere: default {default!r}")
    around = text[max(0, found.start() - 20) : found.end() + 20]
    evidence = f"first letter {found.group()!r} at {found.start()}, in {around!r}"
    return ParsedVerdict(labels[found.group()], None, "official", evidence)


def _most_probable(completion: Completion, scale: LabelScale) -> ParsedVerdict:
    def fail(failure: Failure, evidence: str) -> ParsedVerdict:
        return ParsedVerdict(None, failure, "robust", f"log-probabilities: {evidence}")

    logprobs = completion.label_logprobs
    if completion.stop_reason in _REFUSED:
        return fail("refused", f"stop reason {completion.stop_reason}")
    if not logprobs:
        return fail("unparsed", "none were given")
    if any(math.isnan(value) for value in logprobs.values()):
        return fail("unparsed", "one is not a number")
    best = max(logprobs.values())
    winners = sorted(label for label, value in logprobs.items() if value == best)
    if best == -math.inf:
        return fail("unparsed", "every label has probability zero")
    if len(winners) > 1:
        return fail("ambiguous", f"{', '.join(winners)} equal at {best:.6g}")
    if winners[0] not in scale:
        return fail("off_scale", f"highest is {winners[0]!r}, which is not on the scale")
    return ParsedVerdict(winners[0], None, "robust", f"log-probabilities: highest is {winners[0]} at {best:.6g}")
