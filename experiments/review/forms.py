"""What the forms of the pages send."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from experiments.errors import ReviewError
from experiments.review.desk import Desk, clean_name
from experiments.review.review_state import ReviewState

__all__ = ["Answer", "clean_note", "read_answer", "read_fields"]

_MOST_FIELDS = 20
_TOKEN = re.compile(r"[0-9a-f]{32}")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Answer:
    """Who says what of which item, from a page that was made for ``token``."""

    rater: str
    token: str
    digest: str
    fields: Mapping[str, str]

    @property
    def note(self) -> str | None:
        """The note; ``None`` where the form has none, or sends along one that was not changed on its page.

        A page that was loaded before another page's note must not wipe it out.
        """
        note, before = (clean_note(self.fields.get(name, "")) for name in ("note", "noted"))
        is_given = "note" in self.fields and (note != before or self.saves_note)
        return note if is_given else None

    @property
    def saves_note(self) -> bool:
        """Whether the form is sent for the note's sake alone."""
        return "label" not in self.fields and self.fields.get("action") == "note"


def clean_note(text: str) -> str:
    """A note with plain line ends, and without control characters and white space around it.

    Nobody types an escape character on purpose, and it would drive the terminal in which labels are shown.
    """
    return _CONTROLS.sub("", text.replace("\r\n", "\n")).strip()


def read_fields(body: bytes) -> Mapping[str, str]:
    """The fields of a form; of one that comes twice, the last.

    Raises
    ------
    ReviewError
        More fields than any form of ours has.
    """
    try:
        pairs = parse_qsl(body.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise ReviewError(f"form: {error}; expected at most {_MOST_FIELDS} fields") from error
    return dict(pairs)


def read_answer(desk: Desk, state: ReviewState, fields: Mapping[str, str]) -> Answer:
    """The answer of a form.

    Raises
    ------
    ReviewError
        A page of another review, an unknown item, no rater, a token that is none.
    """
    if fields.get("review") != desk.review.review_id:
        raise ReviewError(f"this page is of another review; expected {desk.review.review_id}: load the page again")
    digest, token = fields.get("item", ""), fields.get("token", "")
    if digest not in state.places:
        raise ReviewError("form: an unknown item; expected one of this review: load the page again")
    if not _TOKEN.fullmatch(token):
        raise ReviewError("form: no token; expected the one of its page: load the page again")
    return Answer(clean_name(fields.get("rater", ""), state.raters), token, digest, fields)
