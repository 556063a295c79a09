"""Changes of a grader prompt that should change no verdict: its examples in another order, its letters permuted.

A mutated prompt says the same, so a grader that judges by the rules gives the same verdicts. Its name is that of the
plain prompt with ``+`` and the mutation's, its digest differs, and its scale reads its own letters, so that verdicts
come back as labels whatever the letters are. A mutation that cannot be made without a doubt is refused: half a
permutation would be another prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from graders.errors import PromptError
from graders.prompt import GraderPrompt, PromptExample
from graders.prompt_text import expand_examples

__all__ = ["MUTATIONS", "mutate_prompt", "mutation_of"]

_SIGN = "+"
_CONNECTIVES = r"(?:or|and|if|for|when|unless|means?|is|stands)\b"
_ARTICLE = re.compile(r"\s+[a-z]")
_NOT_ARTICLE = re.compile(rf"\s+{_CONNECTIVES}")
_CAPITAL = re.compile(r"[^\S\n]+[A-Z]")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;#*>-]|\n[^\S\n]*\n)\s*$")


@dataclass(frozen=True, slots=True)
class _Change:
    """What of a prompt is put in place of what it has."""

    examples: tuple[PromptExample, ...]
    letters: Mapping[str, str]
    body: str


def mutate_prompt(prompt: GraderPrompt, mutation: str) -> GraderPrompt:
    """The prompt with one of ``MUTATIONS``.

    Parameters
    ----------
    prompt
        A plain prompt.
    mutation
        ``examples-reversed``: the worked examples, last first. ``examples-grouped``: all examples of a label
        together, worst label first. ``letters-permuted``: each label takes the next one's letter, everywhere in
        the text and in the examples.

    Raises
    ------
    PromptError
        If there is no such mutation, or it would change nothing or cannot be made for certain; the message says why.
    """
    where = f"{prompt.name}@{prompt.version}: {mutation}"
    if mutation not in MUTATIONS:
        raise PromptError(f"{where}: no such mutation; expected one of {list(MUTATIONS)}")
    change = MUTATIONS[mutation](prompt, where)
    scale = replace(prompt.scale, letters=change.letters)
    text = expand_examples(change.body, change.examples, scale=scale, channel=prompt.channel, form=prompt.form)
    mutated = replace(prompt, name=f"{prompt.name}{_SIGN}{mutation}", scale=scale, text=text, examples=change.examples)
    if mutated.digest == prompt.digest:
        raise PromptError(f"{where}: changes nothing; expected examples that stand in another order")
    return mutated


def mutation_of(title: str) -> tuple[str, str | None]:
    """A prompt's title (``name@version#digest``) as the plain ``name@version`` and its mutation, if it is mutated."""
    name, at, version = title.partition("#")[0].partition("@")
    plain, _, mutation = name.partition(_SIGN)
    return f"{plain}{at}{version}", mutation or None


def _reverse(prompt: GraderPrompt, where: str) -> _Change:
    return _Change(prompt.examples[::-1], prompt.scale.letters, _body_with_examples(prompt, where))


def _group(prompt: GraderPrompt, where: str) -> _Change:
    grouped = tuple(sorted(prompt.examples, key=lambda example: prompt.scale.index(example.label)))
    return _Change(grouped, prompt.scale.letters, _body_with_examples(prompt, where))


def _permute(prompt: GraderPrompt, where: str) -> _Change:
    given = prompt.scale.letters
    if prompt.channel not in ("letter", "logprobs") or any(
        prompt.spoken(label) != given.get(label) for label in prompt.scale.labels
    ):
        raise PromptError(f"{where}: its verdicts are no letters; expected a prompt that asks for a letter")
    odd = [letter for letter in given.values() if not letter.isascii() or not letter.isupper() or letter == "I"]
    if odd:
        raise PromptError(f"{where}: letters {odd} cannot be told from words or numbers; expected capitals, not I")
    order = sorted(given, key=given.__getitem__)
    letters = {label: given[following] for label, following in zip(order, [*order[1:], order[0]], strict=True)}
    body = _body_with_examples(prompt, where) if prompt.examples else prompt.text
    swapped = _swap(body, {given[label]: letters[label] for label in order}, where)
    return _Change(prompt.examples, {label: letters[label] for label in given}, swapped)


MUTATIONS: Mapping[str, Callable[[GraderPrompt, str], _Change]] = MappingProxyType(
    {"examples-reversed": _reverse, "examples-grouped": _group, "letters-permuted": _permute}
)
"""Name of each mutation to what makes it."""


def _body_with_examples(prompt: GraderPrompt, where: str) -> str:
    """The text with ``$examples`` in place of its written examples, from which it can be written again."""
    if not prompt.examples:
        raise PromptError(f"{where}: no worked examples are known apart; expected [[examples]] in the prompt's file")
    for body in _bodies(prompt):
        again = expand_examples(body, prompt.examples, scale=prompt.scale, channel=prompt.channel, form=prompt.form)
        if again == prompt.text:
            return body
    raise PromptError(f"{where}: its examples do not stand in its text as written; expected $examples in it once")


def _bodies(prompt: GraderPrompt) -> Iterator[str]:
    """Candidates for the body: the text, cut where the first and behind where the last example can stand."""
    text, last = prompt.text, prompt.examples[-1]
    said = prompt.spoken(last.label)
    starts = [
        match.start() for match in re.finditer(r"^.*" + re.escape(_in_text(prompt.examples[0].question)), text, re.M)
    ]
    ends = [match.end() for match in re.finditer(rf"(?<!\w){re.escape(_in_text(said))}(?=\n|$)", text)]
    for start in starts:
        for end in ends:
            if end > start:
                yield f"{text[:start]}$examples{text[end:]}"


def _in_text(value: str) -> str:
    return value.splitlines()[0].replace("$", "$$") if value else ""


def _swap(body: str, letters: Mapping[str, str], where: str) -> str:
    """The body with each letter that stands alone replaced; articles stay."""
    either = "|".join(letters)
    ranged = re.search(rf"(?<!\w)(?:{either})\s*(?:[-–—]|to|through)\s*(?:{either})(?!\w)", body)
    if ranged:
        raise PromptError(f"{where}: {ranged[0]!r} is a range; expected each letter by itself")
    alone = re.compile(rf"(?<![\w$.{{'’])(?<!\w-)(?:{either})(?![\w'’]|[.-]\w)")
    parts, end, seen = [], 0, set()
    for match in alone.finditer(body):
        if match[0] == "A" and _is_article(body, match, letters, where):
            continue
        parts += [body[end : match.start()], letters[match[0]]]
        end = match.end()
        seen.add(match[0])
    missing = sorted(letters.keys() - seen)
    if missing:
        raise PromptError(f"{where}: letters {missing} do not occur in its text; expected a text that tells them all")
    return "".join([*parts, body[end:]])


def _is_article(body: str, match: re.Match[str], letters: Mapping[str, str], where: str) -> bool:
    """Whether an ``A`` is the article: at a sentence's start, with a word behind it that no letter has there."""
    after = body[match.end() :]
    word = re.match(r"\s+(\w+)", after)
    if word and word[1] in letters:
        return False
    if _CAPITAL.match(after):
        told = " ".join(body[match.start() :].split()[:4])
        raise PromptError(f"{where}: {told!r} may be the letter or the article; expected the letter in other words")
    started = _SENTENCE_START.search(body[: match.start()]) is not None
    return started and _ARTICLE.match(after) is not None and _NOT_ARTICLE.match(after) is None
