"""From the published text of a target answer to a :class:`Reference`."""

from __future__ import annotations

from collections.abc import Sequence

from calibration_sets.references.answer_aliases import derive_aliases
from calibration_sets.references.range_notes import find_range_note, parse_range_note
from calibration_sets.references.reference import Reference

__all__ = ["parse_reference"]


def parse_reference(text: str, aliases: Sequence[str] = ()) -> Reference:
    """Parse a target answer; never raises on any string.

    Parameters
    ----------
    text
        The reference as published, such as ``105 km (acceptable range: anything between 103 and
        107 km)``; kept unchanged.
    aliases
        Further strings that are the answer, given beside the text.

    Returns
    -------
    Reference
        With ``ranges`` empty where the text has no note on a range or the note is not understood
        (:func:`calibration_sets.references.reference_lint.lint_reference` tells the two apart). Clock times
        are in seconds; each range keeps the unit in which it was written.
    """
    note = find_range_note(text)
    answer = text.strip() if note is None else note.answer
    extra = tuple(dict.fromkeys(alias.strip() for alias in aliases if alias.strip()))
    derived = derive_aliases(answer)
    return Reference(
        text=text,
        answer=answer,
        aliases=tuple(dict.fromkeys((*derived, *extra))),
        extra_aliases=extra,
        ranges=() if note is None else parse_range_note(note),
    )
