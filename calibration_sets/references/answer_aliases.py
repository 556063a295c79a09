"""All strings that are the answer, where a reference lists alternatives or carries an aside."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["derive_aliases"]

_MAX_LENGTH = 300
_MAX_ALIASES = 24
_BRACKETS = re.compile(r"\s*(?:\(([^()]*)\)|\[([^\[\]]*)\])")
_OR = re.compile(
    r"(?:or|alternatively|also accept(?:ed|able)?|accept|also(?!\s+(?:know|called|named|spel|writ|titled|ref)))\b"
    r"[:,]?\s*(?:also\s+)?",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?:(?:also|then|now|formerly|previously|originally|later|sometimes|commonly|locally|otherwise|better|once)\s+)*"
    r"(?:(?:know[n]?|called|named|spelled|spelt|written|titled|referred\s+to|abbreviated)\b(?:\s+(?:as|to))?"
    r"|a\.?k\.?a\.?(?!\w)|formerly\b|previously\b|i\.e\.,?|=|(?:now|then|once)\s+(?=(?-i:[A-Z])))\s*",
    re.IGNORECASE,
)
_ALSO_KNOWN = re.compile(
    r",?\s+(?:(?:locally|also|better|formerly|sometimes)\s+)*(?:a\.k\.a\.?|aka|(?:also\s+)?known(?:\s+\w+)?\s+as)\s+",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]")
_QUOTES = "\"'“”‘’ "
# Each word is matched in one way only (possessive), or long chains of slashes would take for ever.
_WORD = r"(?=[^\W\d_]*[a-zà-ÿ]{2})[^\W\d_]++"
_SLASHED_WORDS = re.compile(rf"{_WORD}(?:/{_WORD})+")


def derive_aliases(answer: str) -> tuple[str, ...]:
    """Return every string that is the answer, ``answer`` itself first, without doubles.

    Alternatives: ``barge (or lighter)``, ``A, F (or E), G`` (each put in its place), ``Blue / Teal``
    (never inside dates, numbers, units or names), other names and initials in brackets, and the answer without
    an aside. A final full stop is dropped.
    """
    if len(answer) > _MAX_LENGTH or "://" in answer:
        return (answer,)
    aliases = [answer]
    for alias in aliases:
        aliases += [new for new in _once(alias) if new and new not in aliases][: _MAX_ALIASES - len(aliases)]
    return tuple(dict.fromkeys(aliases))


def _once(alias: str) -> Iterator[str]:
    """Yield what one step makes of a string; the caller applies it again to what comes out."""
    if match := _BRACKETS.search(alias):
        yield from _resolve_brackets(alias, match)
        return
    yield from _split_slash(alias)
    named = _ALSO_KNOWN.split(alias)
    if len(named) == 2 and all(len(part.strip()) > 1 for part in named):
        yield from (part.strip(" .") for part in named)
    if alias.endswith(".") and not alias.endswith(".."):
        yield alias[:-1].rstrip()


def _resolve_brackets(alias: str, match: re.Match[str]) -> Iterator[str]:
    inner = (match.group(1) if match.group(1) is not None else match.group(2)).strip()
    before, after = alias[: match.start()], alias[match.end() :]
    yield _join(before, after)
    if alternative := _OR.match(inner):
        for part in _alternatives(inner[alternative.end() :]):
            yield _replace_last(before, part, after)
    elif name := _NAMED.match(inner):
        yield from _alternatives(inner[name.end() :])
    elif _is_acronym(inner, before):
        yield _join(inner, after)


def _is_acronym(letters: str, name: str) -> bool:
    """Whether capitals abbreviate the name before them: its initials in order, the last one included."""
    initials = re.findall(r"\b[A-Z]", name)
    if not re.fullmatch(r"[A-Z]{2,8}", letters) or initials[-1:] != [letters[-1]]:
        return False
    remaining = iter(initials)
    return all(letter in remaining for letter in letters)


def _alternatives(text: str) -> list[str]:
    quoted = _QUOTED.findall(text)
    parts = quoted or re.split(r"\s+or\s+|\s*;\s*", text)
    return [part.strip(_QUOTES) for part in parts if part.strip(_QUOTES)]


def _replace_last(before: str, alternative: str, after: str) -> str:
    """Put an alternative in the place of what stands before its bracket.

    In a list that is the last element; with words behind the bracket, as many words as the
    alternative has; otherwise everything.
    """
    head, comma, element = before.rpartition(",")
    if not comma and not after.strip(" .,"):
        return _join(alternative, after)
    if after.strip() and not after.lstrip().startswith((",", ".", ";")):
        kept = element.split()[: -len(alternative.split())]
        element_kept = " ".join(kept)
    else:
        element_kept = ""
    prefix = f"{head}{comma} {element_kept}".strip() if comma else element_kept
    return _join(f"{prefix} {alternative}".strip(), after)


def _join(before: str, after: str) -> str:
    after = after if after[:1] in {"", *",.;:!?\"'”’»"} else f" {after.lstrip()}"
    return f"{before.rstrip()}{after}".strip()


def _split_slash(alias: str) -> list[str]:
    """Split ``Blue / Teal`` and ``Blue/Teal``; a slash beside digits, symbols or in a longer name stays."""
    parts = [part.strip() for part in re.split(r"\s+/\s+", alias)]
    if len(parts) > 1:
        return parts if all(part and not re.search(r"[\d/]", part) for part in parts) else []
    return alias.split("/") if _SLASHED_WORDS.fullmatch(alias) else []
