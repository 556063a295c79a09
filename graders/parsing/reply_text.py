"""A grader's reply made plain: no invisible characters, no thinking, no Markdown."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass

__all__ = ["PlainReply", "fold_characters", "remove_markup", "strip_thinking"]

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_SAME: dict[int, int | str] = {
    **_FULL_WIDTH,
    **dict.fromkeys(map(ord, "‘’‚‛ʼ"), "'"),
    **dict.fromkeys(map(ord, "“”„‟"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒−"), "-"),
    **dict.fromkeys(map(ord, "\r\v\f\x85\u2028\u2029"), "\n"),
}
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]+"
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")

_BLOCKS = "think(?:ing)?|thoughts?|reasoning|reflection|analysis|scratchpad|seed:think"
_THINKING_TAG = re.compile(
    rf"<(?P<slash>/?)(?:{_BLOCKS})(?:\s[^<>\n]{{0,80}})?>|\[(?P<bracket>/?)think(?:ing)?\]|◁(?P<bar>/?)think(?:ing)?▷"
    r"|<\|(?:begin|(?P<end>end))_of_thought\|>",
    re.IGNORECASE,
)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s*final\b[^<]{0,80}<\|message\|>")
_CHANNEL = "<|channel|>"

_FORMATTING_TAG = re.compile(
    r"</?(?:b|strong|i|em|u|p|br|div|span|code|pre|center|mark|h[1-6]|li|ul|ol|body|html|response)\s*/?>"
)  # in small letters only: <B> is a verdict in brackets
_CUE_TAG = re.compile(
    r"<(?P<close>/)?(?P<name>(?:final_?)?(?:grade|verdict|label|judge?ment|rating|score|result|answer|decision|output"
    r"|classification|evaluation|assessment|conclusion)|final)\s*>",
    re.IGNORECASE,
)
_BRACKETED_CUE = re.compile(
    r"(?<![\w)\]])\[(?P<name>(?:final )?(?:grade|verdict|label|judge?ment|rating|score|result|decision))\][^\S\n]?:?",
    re.IGNORECASE,
)
_SPECIAL_TOKEN = re.compile(r"<\|[^<>|\n]{1,40}\|>|</?s>|\[/?INST\]|<(?:eos|bos|end_of_turn)>", re.IGNORECASE)
_TEX_STYLE = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathit|mathsf|texttt|emph)\s{0,4}\{([^{}\n]{0,200})\}")
_ENTITY = re.compile(r"&(?:quot|amp|lt|gt|apos|nbsp|#39|#34|#x27);")
_TEX_LETTER = re.compile(r"(?<![\w$])\$([A-Za-z])\$(?![\w$])")
_TEX_BOX = re.compile(r"\\(?:boxed|fbox)\s{0,4}\{([^{}\n]{0,200})\}")
_FENCE = re.compile(r"^[^\S\n]*(?:```|~~~)[\w+-]*[^\S\n]*$", re.MULTILINE)
_LINE_LEAD = re.compile(r"^(?:[^\S\n]*(?:#{1,6}(?=[\s\w])|>+|[-+•‣▪·*](?=[^\S\n])|\|))+", re.MULTILINE)
_ITEM = r"^[^\S\n]*(?:[-*+•] |\d{1,2}[.)] )?"
_UNTICKED = re.compile(
    rf"{_ITEM}(?:\[[ _]\]|\([ _]\)|[☐□⬜])[^\n]*$|^[^\n]{{1,60}}(?:\[[ _]\]|\([ _]\)|[☐□⬜])[^\S\n]*$", re.MULTILINE
)
_TICKED = re.compile(
    rf"(?P<item>{_ITEM})(?:\[[xX✓✔]\]|\([xX✓✔]\)|☑)(?=[^\S\n])|(?<=\S)[^\S\n]{{1,4}}(?:\[[xX✓✔]\]|\([xX✓✔]\))[^\S\n]*$",
    re.MULTILINE,
)
_SPACES = re.compile(r"[^\S\n]+")  # runs made single: no later pattern can be slow on them
_LINE_EDGES = re.compile(r" ?\n ?")
_BLANK_LINES = re.compile(r"\n{3,}")
_OUTER_UNDERSCORE = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")


@dataclass(frozen=True, slots=True)
class PlainReply:
    """What is left of a reply without its thinking.

    ``unfinished`` says that a thinking block was opened and never closed: what follows it is
    reasoning, in which no verdict may be looked for.
    """

    text: str
    unfinished: bool


def fold_characters(text: str) -> str:
    """Composed letters, ASCII forms of full-width ones, plain quotes; no invisible characters."""
    text = _INVISIBLE.sub("", text.replace("\r\n", "\n")).translate(_SAME)
    return unicodedata.normalize("NFC", _CONTROL.sub(" ", text))


def strip_thinking(text: str) -> PlainReply:
    """Drop thinking blocks; what stands before a lone closing mark is thinking too."""
    if _CHANNEL in text:
        return _take_final_channel(text)
    if not _may_think(text):
        return PlainReply(text, unfinished=False)
    kept: list[str] = []
    depth, begin = 0, 0
    for tag in _THINKING_TAG.finditer(text):
        if any(tag.groups()):
            if depth == 0:  # the opening mark was part of the prompt
                kept.clear()
            depth, begin = max(depth - 1, 0), tag.end()
        else:
            if depth == 0:
                kept.append(text[begin : tag.start()])
            depth += 1
    if depth == 0:
        kept.append(text[begin:])
    return PlainReply("\n".join(kept), unfinished=depth > 0)


def _may_think(text: str) -> bool:
    """Whether any name of a thinking block occurs at all: much faster than to look for its marks."""
    lowered = text.lower()
    return any(name in lowered for name in ("think", "thought", "reasoning", "reflection", "analysis", "scratchpad"))


def _take_final_channel(text: str) -> PlainReply:
    """The last ``final`` message of a reply in the form of several channels."""
    begins = [found.end() for found in _FINAL_CHANNEL.finditer(text)]
    if not begins:
        return PlainReply("", unfinished=True)
    return PlainReply(text[begins[-1] :], unfinished=_CHANNEL in text[begins[-1] :])


def remove_markup(text: str) -> str:
    """Text without Markdown, TeX and HTML decoration; code marks become quotation marks.

    A box, a tag or a bracket named like a verdict becomes a line that begins with the cue it stands for; choices
    of a list that are not ticked are left out.
    """
    text = _ENTITY.sub(lambda entity: html.unescape(entity.group()), text)
    text = _TEX_BOX.sub(r"\nfinal answer: \1\n", _TEX_LETTER.sub(r"\1", _TEX_STYLE.sub(r"\1", text)))
    text = _CUE_TAG.sub(_as_cue, _BRACKETED_CUE.sub(r"\n\g<name>: ", _FORMATTING_TAG.sub("", text)))
    text = _TICKED.sub(lambda box: box["item"] or "", _UNTICKED.sub("", _SPECIAL_TOKEN.sub("\n", text)))
    text = _FENCE.sub("", text).replace("\\_", "_").replace("\\*", "").replace("*", "").replace("`", '"')
    text = _OUTER_UNDERSCORE.sub("", text)
    text = _LINE_LEAD.sub("", _SPACES.sub(" ", text))
    return _BLANK_LINES.sub("\n\n", _LINE_EDGES.sub("\n", text)).strip()


def _as_cue(tag: re.Match[str]) -> str:
    return "\n" if tag["close"] else "\n" + re.sub(r"(?i)^final_?", "final ", tag["name"]) + ": "
