"""Places of a reply where a label stands as a verdict, and how strongly each says so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from graders.parsing.label_reading import Reading, read_label, read_off_scale
from graders.parsing.label_words import Vocabulary
from graders.verdict import Failure

__all__ = ["Kind", "Mention", "find_cued", "find_statements", "is_negated", "is_quoted"]

Kind = Literal["final", "cue", "json", "line", "opening", "statement", "word"]
"""``final``: said to be final. ``cue``: behind a word such as *grade*. ``json``: in an object. ``line``: a
line or sentence of its own. ``opening``: first word of the reply. ``statement``: *the answer is correct*.
``word``: a label word in running text, which decides nothing."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A place that speaks of a label: one label, or the failure that it stands for.

    ``quote`` is what stands there, where the text itself does not show it.
    """

    kind: Kind
    label: str | None
    failure: Failure | None
    begin: int
    end: int
    quote: str = ""


_NOUN = (
    r"grade|verdict|label|judge?ment|rating|score|classification|判定|评分|评价|评级|等级|判断|評価|판정|평가|"
    r"verdikt|hodnocení|známka|bewertung|urteil|veredicto|calificación|évaluation|jugement|оценка|вердикт"
)
_LOOSE_NOUN = (
    r"assessment|evaluation|decision|conclusion|ruling|determination|category|result|outcome|output|grader|"
    r"结论|結論|结果"
)
_OBJECT = (
    r"(?:it|this|that|the|its|their|his|her|one|item|question|answer|answers?'s|response|reply|predicted|prediction|"
    r"candidate|candidate's|model|model's|student|student's|submission|submitted|given|assistant's|example|case|above)"
)
_ARTICLE = r"(?:(?-i:an?) )?"  # in small letters only: "a" is an article, "A" may be the verdict
_CHOICES = r"(?: ?[(\[](?:[\w-]{1,15}(?: ?[/,|] ?(?:or )?| or )){1,5}[\w-]{1,15}[)\]])?"  # "(A, B or C)", as in a form
_FORM = re.compile(r"[(\[][^()\[\]\n]{1,60}[)\]] ?[:=]")
_WORD_START = r"(?<![\w'-])"
_WORD_END = r"(?![\w'-])"
_CLAUSE_START = r"(?:(?<=^)|(?<=[.;:,!\n][ \n])|(?<=\n))"

# "final grade for this answer: ", "the verdict is ", or a heading with the label on the next line
_NOUN_CUE = re.compile(
    rf"{_WORD_START}(?P<final>(?:final|overall|ultimate|definitive|最终|最終|최종)\s*)?(?:letter )?"
    rf"(?:(?P<noun>{_NOUN})|(?P<loose>{_LOOSE_NOUN})"
    rf"|(?P<own>(?:(?<=final )|(?<=my )|(?<=my final ))(?:answer|choice))){_WORD_END}"
    rf"(?: (?:letter|label|grade|category))?(?: (?:for|on|to)(?: {_OBJECT}){{1,4}})?"
    rf"{_CHOICES}"
    r"(?:(?P<mark> ?\"? ?(?:: ?[=-]?|=+>?|-+>?|[→–—|]) ?(?:\n{1,8})?)|(?P<break> ?\n{1,8})"
    r"|(?P<verb> (?:is|was|of|as|would be|should be|must be|will be|equals|remains|becomes|has to be)\b"
    rf"(?: (?:therefore|thus|hence|clearly|simply|then|definitely))? ?[:,-]?[ \n]{{1,8}}{_ARTICLE}))",
    re.IGNORECASE,
)

# "I grade this response as ", "should be marked ", "it deserves a "
_VERBS = (
    r"grad(?:e|ed|ing)|rat(?:e|ed|ing)|mark(?:ed|ing)?|label(?:l?ed|l?ing)?|classif(?:y|ied|ying)|judg(?:e|ed|ing)|"
    r"scor(?:e|ed|ing)|assess(?:ed|ing)?|evaluat(?:e|ed|ing)|deem(?:ed)?|consider(?:ed)?|assign(?:ed|ing)?|"
    r"giv(?:e|en|ing)|award(?:ed|ing)?|choose|chose|select(?:ed)?|pick(?:ed)?|call(?:ed)?|treat(?:ed)?|count(?:s|ed)?|"
    r"categori[sz]ed?|deserves?|earns?|receives?|gets|merits?|falls|"
    r"(?:(?<=\bi )|(?<=\bwe ))find(?= (?:it|this|that|the)\b)"
)
_VERB_CUE = re.compile(
    rf"{_WORD_START}(?P<who>(?:i|we)(?:'d|'ll|'ve|'m"
    r"| (?:would|will|must|have|to|should|therefore|thus|hence|hereby|am|do)){0,3} "
    rf"|{_OBJECT} (?:(?:is|was|gets|should|must|to|be|will|therefore|thus|hence|has|been) ){{0,4}}"
    rf"|{_CLAUSE_START})?(?:{_VERBS}){_WORD_END}"
    rf"(?P<fill>(?: ?:)?(?: (?:{_OBJECT}|(?-i:an?)|as|to|be|grade|label|letter|of|into|under|category|verdict)"
    rf"{_WORD_END}){{0,8}}) ?:? ?",
    re.IGNORECASE,
)

# "the student chose A" tells of the response, not of the verdict
_RESPONDENT_CHOSE = re.compile(
    rf"(?:{_OBJECT} )+(?:choose|chose|select(?:ed)?|pick(?:ed)?|giv(?:e|ing)|call(?:ed)?|mark(?:ed)?|label(?:l?ed)?"
    rf"|assign(?:ed)?|assess(?:ed)?|consider(?:ed)?){_WORD_END}",
    re.IGNORECASE,
)

# "hence ", "so it is ", "overall: ", an arrow
_CONCLUSION = re.compile(
    rf"(?:{_WORD_START}(?:hence|therefore|thus|ergo|accordingly|consequently|因此|所以){_WORD_END} ?[,:–—-]? ?"
    rf"|{_CLAUSE_START}(?:so|overall|finally|in conclusion|in summary|to conclude) ?[,:–—-] ?|{_CLAUSE_START}so )"
    rf"(?:{_OBJECT} ){{0,4}}(?:(?:is|gets|deserves|earns|receives) )?{_ARTICLE}(?:(?:{_NOUN}) (?:(?:is|of) )?)?"
    r"|(?<!\b\w)(?:→|[-=]>|⇒) ?",
    re.IGNORECASE,
)
_RETRACTION = re.compile(
    rf"{_WORD_START}(?:actually|on (?:reflection|second thoughts?)|wait|correction|scratch that|rather|instead|"
    r"upon review|(?:edit|edited|update|revised)(?=:))[,:–—]? ?(?:(?:it|this)(?: is|'s) )?",
    re.IGNORECASE,
)
_OPINION = re.compile(
    rf"{_WORD_START}(?:i|we)(?:'d|'ll| would| will)? (?:say|go with|going with|opt for|settle on|vote(?: for)?) "
    rf"{_ARTICLE}",
    re.IGNORECASE,
)
# In Chinese, with what in its clause negates it: "应判定为【", "不能归类为【"
_CHINESE_VERB = re.compile(
    r"(?P<negated>[^。.,;:!?、\n]{0,40}[不非没無无勿别][^。.,;:!?、\n]{0,40}?)?"
    r"(?:(?:判定|判断|评定|评判|归类|归|标记|视|判|评)为"
    r"|(?:应|應)(?:该|當|当)?(?:为|是)|认为是|属于|(?:结论|结果|评级|等级|判定)是) ?[:]? ?"
)
_FINAL_MARK = re.compile(rf"{_WORD_START}final(?:ly)? ?[:–—-] ?", re.IGNORECASE)
_ANSWER_LINE = re.compile(
    r"^(?:(?:the )?(?:final )?(?:answer|choice|option|letter) ?[:=]"
    r"|the (?:(?:appropriate|corresponding|matching|chosen|single) )?letter (?:is|would be)) ?(?=[^\n]*\Z)",
    re.IGNORECASE | re.MULTILINE,
)
_ECHOED_QUESTION = re.compile(r"^(?:question|q) ?[:=]", re.IGNORECASE | re.MULTILINE)

# "the candidate's answer is clearly "
_STATEMENT = re.compile(
    rf"{_WORD_START}(?<!gold )(?<!reference )(?<!expected )(?<!target )(?<!truth )(?<!correct )"
    r"(?:candidate(?:'s)?|answer|response|prediction|submission|reply|it|this|student(?:'s)?)"
    r"(?: (?:answer|response|above|given))?(?: (?:is|was)|'s)"
    r"(?: (?:therefore|thus|hence|clearly|indeed|definitely|simply|fully|entirely|completely|factually|also|still))? "
    rf"{_ARTICLE}",
    re.IGNORECASE,
)
_JOINT = re.compile(r"[\"')\]]? ?[:=.(\[–—→-]")
_SENTENCE_BREAK = re.compile(r"[.!?。\n]")
_CLAUSE_BREAK = re.compile(r"[.,;:!?。、\n–—()]|\b(?:but|so|hence|therefore|thus|and|because)\b", re.IGNORECASE)
_NEGATIVE = re.compile(
    r"\b(?:not|never|cannot|neither|nor|none|nothing|nobody|without|fails?|lacks?|anything but|less than|hardly|"
    r"scarcely|barely|refuse|hesitate|doubt|wrong to|far from|"
    r"(?:hard|difficult|impossible|premature|tempting|tempted|reluctant) to|no(?! ?[,.;:–—-]))\b|n't\b",
    re.IGNORECASE,
)
_CONDITIONAL = re.compile(r"\b(?:if|unless|whether|suppose|assuming)\b", re.IGNORECASE)
_POSSIBLE = re.compile(r"\b(?:could|might|may)\b", re.IGNORECASE)
_CLAIMED = re.compile(
    r"\b(?:claims?|claiming|said|saying|states|stated|insists?|asks?|asked|argues?|demands?|instruct\w*|tells?|"
    r"pretends?|thought|wants?|(?<!i )(?:says?|believes?|thinks?))\b",  # "I think" is the grader's own judgement
    re.IGNORECASE,
)
_QUOTED_START = re.compile(r"^\"[^\"]*[^\s\"(]\"(?=[\s.,;:)])")  # a quoted word that opens a line and is closed
_WINDOW = 200  # characters looked back over


def find_cued(vocabulary: Vocabulary, text: str) -> Iterator[Mention]:
    """Labels behind a cue: a noun, a verb of grading, a conclusion, ``final``; also off-scale values of a noun."""
    for cue in _NOUN_CUE.finditer(text):
        yield from _after_noun(vocabulary, text, cue)
    for cue in _VERB_CUE.finditer(text):
        if _RESPONDENT_CHOSE.match(cue.group()) or _FORM.match(text, cue.end()):
            continue
        reading = read_label(vocabulary, text, cue.end())
        if reading.is_word or cue["who"] is not None:
            named = reading.is_emphatic or " as" in cue["fill"].casefold()
            yield from _as_mention(vocabulary, "cue" if named else "statement", reading, text, cue)
    for cue in _CONCLUSION.finditer(text):
        reading = read_label(vocabulary, text, cue.end())
        yield from _as_mention(vocabulary, "cue", reading, text, cue, is_conclusion=True)
    for cue in _RETRACTION.finditer(text):
        reading = read_label(vocabulary, text, cue.end())
        yield from _as_mention(vocabulary, "cue" if reading.is_emphatic else "statement", reading, text, cue)
    for cue in _OPINION.finditer(text):
        yield from _as_mention(vocabulary, "cue", read_label(vocabulary, text, cue.end()), text, cue)
    for cue in _CHINESE_VERB.finditer(text):
        if not cue["negated"]:
            yield from _as_mention(vocabulary, "cue", read_label(vocabulary, text, cue.end()), text, cue)
    for cue in _FINAL_MARK.finditer(text):
        yield from _as_mention(vocabulary, "final", read_label(vocabulary, text, cue.end()), text, cue)
    for cue in _ANSWER_LINE.finditer(text):
        if not _ECHOED_QUESTION.search(text):
            yield from _as_mention(vocabulary, "cue", read_label(vocabulary, text, cue.end()), text, cue)


def find_statements(vocabulary: Vocabulary, text: str) -> Iterator[Mention]:
    """Sentences such as *the candidate is correct*, and a letter with its word in running text."""
    for subject in _STATEMENT.finditer(text):
        reading = read_label(vocabulary, text, subject.end())
        if reading.is_word:
            yield from _as_mention(vocabulary, "statement", reading, text, subject)
    for letter in vocabulary.letter.finditer(text):
        if not _JOINT.match(text, letter.end()):
            continue
        reading = read_label(vocabulary, text, letter.start())
        if reading.is_word:  # the word that explains the letter
            yield from _as_mention(vocabulary, "statement", reading, text, letter)


def is_negated(text: str, position: int, *, is_conclusion: bool = False) -> bool:
    """Whether the clause before ``position`` negates, or its sentence makes it a condition or a claim.

    What a conclusion is drawn from may negate (``not the same year, hence``); only a negation right before counts.
    """
    before = text[max(0, position - _WINDOW) : position]
    sentence = _last_part(_SENTENCE_BREAK, before)
    clause = _last_part(_CLAUSE_BREAK, sentence)
    negated = _NEGATIVE.search(clause[-6:] if is_conclusion else clause)
    in_clause = negated or _POSSIBLE.search(clause) or _CLAIMED.search(clause)
    return bool(in_clause or _CONDITIONAL.search(sentence))


def is_quoted(text: str, position: int) -> bool:
    """Whether ``position`` lies inside quotation marks that its line opened, other than around the whole line."""
    line = text[max(0, position - _WINDOW) : position].rpartition("\n")[2]
    line = _QUOTED_START.sub("", line)
    return line.lstrip('"').count('"') % 2 == 1 or line.endswith((" '", "('", "«", "「"))


def _after_noun(vocabulary: Vocabulary, text: str, cue: re.Match[str]) -> Iterator[Mention]:
    if cue["break"] and not _fills_line_so_far(text, cue.start()):
        return
    if cue["loose"] and not cue["final"] and not (cue["mark"] or cue["break"]):
        return
    reading = read_label(vocabulary, text, cue.end(), any_case=bool(cue["mark"]))
    is_key = '"' in (cue["mark"] or "")  # the mark closes the quotes around a key
    if is_key and text[reading.begin - 1 : reading.begin] == '"' != text[reading.end : reading.end + 1]:
        return
    kind: Kind = "final" if cue["final"] or cue["own"] else "cue"
    if is_key or (cue["verb"] and not reading.is_emphatic):
        kind = "statement"  # an object that cannot be read as one may be cut off
    if reading.status != "none":
        yield from _as_mention(vocabulary, kind, reading, text, cue, is_key=is_key)
    elif (cue["noun"] or cue["final"]) and (stranger := read_off_scale(text, cue.end())):
        if is_negated(text, cue.start()) or is_quoted(text, cue.start()):
            return
        kind = kind if stranger[0].isalpha() else "word"  # a score may stand beside a verdict
        yield Mention(kind, None, "off_scale", cue.start(), text.index(stranger, cue.end()) + len(stranger))


def _as_mention(
    vocabulary: Vocabulary,
    kind: Kind,
    reading: Reading,
    text: str,
    cue: re.Match[str],
    *,
    is_key: bool = False,
    is_conclusion: bool = False,
) -> Iterator[Mention]:
    if (
        reading.status == "none"
        or is_negated(text, cue.start(), is_conclusion=is_conclusion)
        or _NEGATIVE.search(cue.group())
    ):
        return
    if not is_key and is_quoted(text, cue.start()):
        return
    failure: Failure | None = "ambiguous" if reading.status == "several" else None
    if reading.n_labels == len(vocabulary.labels) > 2:
        kind = "word"  # a list of all that there is to choose from
    yield Mention(kind, reading.label, failure, cue.start(), reading.end)


def _fills_line_so_far(text: str, position: int) -> bool:
    return not text[max(0, position - 40) : position].rpartition("\n")[2].strip(" \t\"'([|0123456789.)")


def _last_part(pattern: re.Pattern[str], text: str) -> str:
    end = 0
    for found in pattern.finditer(text):
        end = found.end()
    return text[end:]
