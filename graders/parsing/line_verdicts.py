"""Labels that stand alone: a line, a sentence, the first word of a reply; and label words in running text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from graders.parsing.label_reading import Reading, read_label, read_whole
from graders.parsing.label_words import Vocabulary
from graders.parsing.refusals import find_refusal
from graders.parsing.verdict_cues import Mention

__all__ = ["find_lines", "find_opening", "find_words"]

_LONGEST_LINE = 120
_LEAD = re.compile(
    r"(?:\d{1,2}[.)] |[-•] )?"
    r"(?:(?:sure(?: thing)?|ok(?:ay)?|all ?right|certainly|of course|understood|got it|very well) ?[,:.!–—-]{1,3} )?"
    r"(?:(?:(?:the )?(?:final )?(?:grade|verdict|label|rating|judge?ment) (?!\([^()\n]{1,60}\) ?[:=]))"
    r"|(?:this|it)(?: is|'s) an? (?=[A-Z]\b))?",
    re.IGNORECASE,
)
_WRAPPED = 60  # characters; a line of prose this long without a full stop goes on in the next
_LEADS_ON = re.compile(
    r"\s(?:option|choice|vitamin|hepatitis|group|class|type|plan|team|section|the|of|with|and|or|is|was|to|than|an?|"
    r"answer|in|on|for|by|major|minor|point|part|line|series|level|letter)$",
    re.IGNORECASE,
)
_NAMES_LETTER = re.compile(
    r"\b(?:options?|choices?|vitamin|hepatitis|group|class|type|plan|team|section|part|point|level|series|letter)$",
    re.IGNORECASE,
)
_ABOUT_ANSWER = re.compile(r"\b(?:answers?|options?|choices?|letter|question|target)\b", re.IGNORECASE)
_ABOUT_VERDICT = re.compile(
    r"\b(?:grad(?:e|ing)|verdict|label|judge?ment|rating|score|classification|evaluation|assessment|decision|"
    r"conclusion|(?:final|my) answer)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!)\"] )(?<!\b\w\) )|(?<=。)")  # not between a choice's letter and its word
_SENTENCE_END = re.compile(r"[\"')\]]?(?:$|\n|[.!。](?:$|[\s\"'])(?! ?\d))")
_REASON = re.compile(
    r"(?: (?=because\b|since\b|as (?:it|the)\b|due to\b)|[\"')\]]?(?:[.:,)\]] ?| ?[(–—-] ?))\n{0,2}"
    r"(?:because|since|as the|as it|given|due to|it\b|this\b|both|no |not |wrong|matches|different|same|exact|"
    r"contradict\w*|missing|incorrect|correct|does|gives|names|states|says|explanation|reason\w*|"
    r"the (?:predicted|prediction|response|reply|candidate|gold|model|reference|target|student|submitted|submission|"
    r"year|date|name)|"
    r"the answer (?:matches|match|gives|contradicts|agrees|does|states|contains|omits|differs|names|fully))",
    re.IGNORECASE,
)
_PLAIN_REASON = re.compile(
    r":? ?(?:the (?:predicted|response|candidate|answer|model|gold|student|submission)|it\b|this\b|because|both)",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"[A-Za-z][)\]](?=[^\S\n])")  # "B) The year is wrong"
_FILLS_LINE = re.compile(r"[\"')\]}.!:]{0,4}(?:$|\n)")
_NUMBERED = re.compile(r"\. ?\d")
_FORM_ENTRY = re.compile(  # "CORRECT: no" fills in a form that has an entry for each label
    r"[\"')\]]? ?[:=|–—-] ?[\"'(\[]?(?:yes|no|true|false|y|n|n/?a|x|none|null|\d[\d.,]*(?: ?%| ?/ ?\d+)?)[\"')\]]?"
    r" ?(?:$|[,;|.\n])",
    re.IGNORECASE,
)
_ASKS = re.compile(r" ?[(\[][^()\[\]\n]{1,60}[)\]] ?[:=]")  # "Correct (yes/no): no"
_SHARE = re.compile(
    r"[\"')\]]? ?(?:[:=|] ?[x✓✔✅-]?(?:$|\n)|[:=|–—-]? ?(?:\(\d[\d.,]* ?%?\)|[\[(][x✓✔ ]?[\])]|[☐☑☒□■]))",
    re.IGNORECASE,
)
_LAST_LETTER = re.compile(r"(?:[^\W\d_]{3,}|\d)[\"')\]]?[.!] [\"'(\[]?(?P<letter>[^\W_])[\"')\]]?[.!]?\Z")
_ATTRIBUTE = re.compile(
    r" (?:answers?|responses?|dates?|years?|names?|ones?|targets?|values?|information|details?|episodes?|spelling|"
    r"numbers?|persons?|locations?|facts?|terms?|choices?|options?|titles?|order|identification|identity)\b",
    re.IGNORECASE,
)
_QUALIFIER = re.compile(
    r"(?:\b(?:not|never|neither|nor|un|in|non|partially|partly|mostly|largely|nearly|almost|somewhat|half|semi|quite)|n't)"
    r"[\s-]+(?:\w+ )?\Z",
    re.IGNORECASE,
)


def find_opening(vocabulary: Vocabulary, text: str) -> Iterator[Mention]:
    """A label as the first word of a reply that goes on: ``No, the year is wrong``, ``B - other year``."""
    position = next((found.start() for found in re.finditer(r"\w", text[:_LONGEST_LINE])), 0)
    reading = read_label(vocabulary, text, position)
    if _FILLS_LINE.match(text, reading.end):
        return  # a line of its own
    if reading.status == "several":
        yield _several(vocabulary, reading)
    elif reading.status == "label" and _opens(vocabulary, text, reading):
        yield Mention("opening", reading.label, None, reading.begin, reading.end)
    elif bracket := _BRACKETED.match(text, position):
        inner = read_label(vocabulary, bracket.group(), 0)
        if inner.status == "label" and _opens(vocabulary, text, replace(inner, end=bracket.end() - 1)):
            yield Mention("opening", inner.label, None, position, bracket.end())


def find_lines(vocabulary: Vocabulary, text: str) -> Iterator[Mention]:
    """Lines, and sentences within lines, that are a label and nothing else; a list of all labels is none."""
    yield from _without_lists(vocabulary, list(_label_lines(vocabulary, text)))
    for place in _SENTENCE.finditer(text):
        reading = read_label(vocabulary, text, place.start())
        if reading.status == "label" and reading.is_word and _SENTENCE_END.match(text, reading.end):
            yield Mention("line", reading.label, None, reading.begin, reading.end)
    yield from _find_last_letter(vocabulary, text)


def _find_last_letter(vocabulary: Vocabulary, text: str) -> Iterator[Mention]:
    """A letter that is the last sentence of the reply: ``The year is wrong. B``; weaker than a line of its own."""
    found = _LAST_LETTER.search(text, max(0, len(text) - _LONGEST_LINE))
    if found is None or found["letter"] not in vocabulary.letters or found["letter"].isdigit():
        return
    sentence = text[: found.start("letter")].rstrip(" \"'([.!")
    if _NAMES_LETTER.search(sentence) or find_refusal(text):
        return
    reading = read_label(vocabulary, text, found.start("letter"))
    if reading.status == "label":
        yield Mention("statement", reading.label, None, reading.begin, reading.end)


def find_words(vocabulary: Vocabulary, text: str) -> Iterator[Mention]:
    """Label words in running text, without negated ones and without attributes such as *the correct year*."""
    for word in vocabulary.word.finditer(text):
        if word.end() - word.start() <= 3 and word.group().isascii():  # "no" is an everyday word
            continue
        if _ATTRIBUTE.match(text, word.end()) or _QUALIFIER.search(text[max(0, word.start() - 30) : word.start()]):
            continue
        yield Mention("word", vocabulary.label_of_word(word.group()), None, word.start(), word.end())


def _several(vocabulary: Vocabulary, reading: Reading) -> Mention:
    """All labels in a row are a list of what there is; some of them are a verdict that cannot be used."""
    kind = "word" if reading.n_labels == len(vocabulary.labels) > 2 else "line"
    return Mention("word" if kind == "word" else "line", None, "ambiguous", reading.begin, reading.end)


def _opens(vocabulary: Vocabulary, text: str, reading: Reading) -> bool:
    if reading.is_word:
        colon = text[reading.end : reading.end + 2].strip().startswith(":")
        if _NUMBERED.match(text, reading.end) or _fills_in_form(vocabulary, text, reading):
            return False
        return (
            not colon or (reading.is_emphatic and len(reading.text) > 1) or bool(_PLAIN_REASON.match(text, reading.end))
        )
    if reading.text.isdigit() or not _REASON.match(text, reading.end):
        return False
    others = (
        found
        for found in vocabulary.letter.finditer(text, reading.end)
        if text[found.end() : found.end() + 1] in (")", ":")
    )
    return all(vocabulary.label_of_letter(found.group()) == reading.label for found in others)


def _fills_in_form(vocabulary: Vocabulary, text: str, reading: Reading) -> bool:
    """Whether the label heads an entry such as ``CORRECT: no``, or one of several shares or boxes."""
    if _FORM_ENTRY.match(text, reading.end) or _ASKS.match(text, reading.end):
        return True
    return reading.label in _labels_of_form(vocabulary, text)


def _labels_of_form(vocabulary: Vocabulary, text: str) -> set[str | None]:
    """Labels that each have a share, a box or a blank behind them; one alone makes no form."""
    entries = [word for word in vocabulary.word.finditer(text) if _SHARE.match(text, word.end())]
    labels = {vocabulary.label_of_word(word.group()) for word in entries}
    return labels if len(labels) > 1 else set()


def _label_lines(vocabulary: Vocabulary, text: str) -> Iterator[tuple[int, Reading, Mention]]:
    """Number of the line, what was read in it, and the mention."""
    lines = text.split("\n")
    last = len(lines) - 1
    begin = 0
    form = _labels_of_form(vocabulary, text)
    for number, line in enumerate(lines):
        if line and len(line) <= _LONGEST_LINE:
            lead = _LEAD.match(line)
            skipped = lead.end() if lead else 0
            reading = read_whole(vocabulary, line[skipped:])
            alone = reading.is_word or (number in (0, last) and _stands_alone(vocabulary, lines, number, reading))
            at, end = begin + skipped + reading.begin, begin + skipped + reading.end
            if reading.status == "several":
                yield number, reading, Mention("line", None, "ambiguous", at, end)
            elif reading.status == "label" and _is_entry(line, reading, form):
                pass
            elif reading.status == "label" and alone and not _QUALIFIER.search(text[max(0, at - 30) : at]):
                yield number, reading, Mention("line", reading.label, None, at, end)
        begin += len(line) + 1


def _is_entry(line: str, reading: Reading, form: set[str | None]) -> bool:
    return reading.is_word and reading.label in form and re.search(r"[\w\"')\]]$", line) is None


def _stands_alone(vocabulary: Vocabulary, lines: Sequence[str], number: int, reading: Reading) -> bool:
    """Whether a letter on the first or last line is a verdict and not the rest of a wrapped sentence or a list."""
    if reading.text not in vocabulary.letters:
        return False
    if number == 0:
        return len(lines) == 1 or not lines[1][:1].islower()
    lead_in = next((line.strip() for line in reversed(lines[:number]) if line.strip()), "")
    if lead_in.endswith(":") and not _ABOUT_VERDICT.search(lead_in):
        return not reading.text.isdigit() and not _ABOUT_ANSWER.search(lead_in)
    before = lines[number - 1].strip()
    runs_on = bool(before) and (before[-1].isalnum() or before[-1] == ",")
    return not (runs_on and (len(before) > _WRAPPED or before[-1] == "," or _LEADS_ON.search(before)))


def _without_lists(vocabulary: Vocabulary, found: list[tuple[int, Reading, Mention]]) -> Iterator[Mention]:
    """Drop runs of lines that name every label once, as a repeated list of choices does."""
    size, position = len(vocabulary.labels), 0
    while position < len(found):
        run = found[position : position + size]
        is_list = (
            len({mention.label for _, _, mention in run}) == size
            and run[-1][0] - run[0][0] == size - 1
            and (
                size > 2
                or all(":" in reading.text or reading.end - reading.begin > len(reading.text) for _, reading, _ in run)
            )
        )
        if is_list:
            yield Mention("word", None, "ambiguous", run[0][2].begin, run[-1][2].end)
            position += size
            continue
        mention = found[position][2]
        if mention.failure and found[position][1].n_labels == size > 2:
            mention = Mention("word", None, "ambiguous", mention.begin, mention.end)
        yield mention
        position += 1
