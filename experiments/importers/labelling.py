"""What a tool's verdicts mean on a scale of ours: said by a name, or entry by entry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from calibration_sets.scale import BINARY, OMNISCIENCE, SCALES, LabelScale
from experiments.errors import ImportFileError

__all__ = ["INSPECT_LABELLINGS", "PASS_OR_FAIL", "Labelling", "extend_scale", "read_labelling"]


@dataclass(frozen=True, slots=True)
class Labelling:
    """A scale whose words are what the tool's graders answer with, and the label of each of the tool's verdicts."""

    scale: LabelScale
    meanings: Mapping[str, str]

    def on_set(self, scale: LabelScale) -> Labelling:
        """The same meanings on the scale of a set.

        Raises
        ------
        ImportFileError
            If a meaning is not on it.
        """
        strangers = sorted(set(self.meanings.values()) - set(scale.labels))
        if strangers:
            known = ", ".join(scale.labels)
            raise ImportFileError(f"--labels: {strangers[0]} is not on the set's scale; expected one of [{known}]")
        spoken = any(self.scale.words.values())
        return Labelling(extend_scale(scale, self.meanings) if spoken else scale, self.meanings)

    def label_of(self, own: str | None) -> str | None:
        """The label of a verdict in the tool's words; ``None`` where it has none here."""
        return None if own is None else self.meanings.get(own)


def _labelling(name: str, base: LabelScale, meanings: Mapping[str, str], *, spoken: bool = True) -> Labelling:
    """``spoken`` is whether graders answer with the same words, so that a reply can be read by them."""
    words: dict[str, list[str]] = defaultdict(list)
    for text, label in meanings.items():
        words[label].append(text)
    said = {label: tuple(texts) for label, texts in words.items()} if spoken else {}
    return Labelling(LabelScale(name, base.labels, base.level, {}, said, base.positive), meanings)


_RIGHT, _WRONG = "CORRECT", "INCORRECT"
INSPECT_LABELLINGS: Mapping[str, Labelling] = {
    "binary": _labelling("inspect", BINARY, {"C": _RIGHT, "I": _WRONG}),
    "partial": _labelling(
        "inspect_partial", OMNISCIENCE, {"C": _RIGHT, "I": _WRONG, "P": "PARTIAL_ANSWER", "N": "NOT_ATTEMPTED"}
    ),
    "partial-is-wrong": _labelling(
        "inspect_partial_is_wrong", BINARY, {"C": _RIGHT, "I": _WRONG, "P": _WRONG, "N": _WRONG}
    ),
    "partial-is-right": _labelling(
        "inspect_partial_is_right", BINARY, {"C": _RIGHT, "I": _WRONG, "P": _RIGHT, "N": _WRONG}
    ),
}
"""Named meanings of Inspect's letters; with ``binary`` a ``P`` or an ``N`` is no label, and counts as a failure."""

PASS_OR_FAIL: Mapping[str, Labelling] = {
    "binary": _labelling("pass_or_fail", BINARY, {"pass": _RIGHT, "fail": _WRONG}, spoken=False)
}
"""Of an assertion that a grader decides."""


def read_labelling(entries: Sequence[str], scale: str | None, named: Mapping[str, Labelling]) -> Labelling:
    """What ``--labels`` and ``--scale`` say.

    Parameters
    ----------
    entries
        One name of ``named``, or ``TEXT=LABEL`` entries; nothing means the first name.
    scale
        A scale of :data:`calibration_sets.scale.SCALES`, for entries alone; default ``binary``.

    Raises
    ------
    ImportFileError
        If a name is unknown, an entry is none, or a label is not on the scale.
    """
    names = ", ".join(named)
    if not any("=" in entry for entry in entries):
        name = entries[0] if entries else next(iter(named))
        if len(entries) > 1 or name not in named:
            raise ImportFileError(f"--labels: {', '.join(entries)}; expected one of {names}, or TEXT=LABEL entries")
        if scale is not None:
            raise ImportFileError(f"--scale: given with --labels {name}; expected it with TEXT=LABEL entries alone")
        return named[name]
    if (scale or BINARY.name) not in SCALES:
        raise ImportFileError(f"--scale: {scale!r}; expected one of {', '.join(SCALES)}")
    base = SCALES[scale or BINARY.name]
    meanings = _split(entries, base, names)
    extended = extend_scale(base, meanings)
    return Labelling(replace(extended, name=f"{base.name}_as_mapped"), meanings)


def extend_scale(base: LabelScale, meanings: Mapping[str, str]) -> LabelScale:
    """The scale with further words that mean its labels; its own letters give way where a word is one of them.

    Raises
    ------
    ImportFileError
        If one word would stand for two labels.
    """
    words = {label: list(base.words.get(label, ())) for label in base.labels}
    for text, label in meanings.items():
        if text.casefold() not in {word.casefold() for word in (label, *words[label])}:
            words[label].append(text)
    taken = {text.casefold() for text in meanings}
    letters = {label: letter for label, letter in base.letters.items() if letter.casefold() not in taken}
    try:
        said = {label: tuple(texts) for label, texts in words.items() if texts}
        return replace(base, letters=letters, words=said)
    except ValueError as error:
        raise ImportFileError(f"--labels: {error}; expected each text for one label") from error


def _split(entries: Sequence[str], scale: LabelScale, names: str) -> Mapping[str, str]:
    meanings: dict[str, str] = {}
    for entry in entries:
        text, equals, label = entry.rpartition("=")
        if not equals or not text.strip() or label not in scale or text in meanings:
            known = ", ".join(scale.labels)
            told = f"{names}, or TEXT=LABEL" if names else "TEXT=LABEL"
            raise ImportFileError(f"--labels: {entry!r}; expected {told}, each text once, with one of [{known}]")
        meanings[text] = label
    return meanings
