"""What graders really replied, read from the store for the items that a page has room for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from experiments.page.texts import cut
from experiments.reports.inputs import GraderResults
from experiments.store.run_store import RunStore

__all__ = ["MOST_READ", "MOST_REPLY", "Replies", "read_replies"]

MOST_REPLY = 2_000
"""Characters of one reply on a page; a longer one is cut, and says so."""

MOST_READ = 250_000
"""Replies that are read at all: more than a page ever has room for."""

Replies = Mapping[str, Mapping[str, Sequence[str | None]]]
"""Grader id to item digest to replies by repeat; ``None`` where there is none or it has no text."""


def read_replies(store: RunStore, graders: Sequence[GraderResults], digests: Collection[str]) -> Replies:
    """Read replies of some items, one grader after another; no model is called."""
    return {results.grader_id: _read(store, results.grader_id, frozenset(digests)) for results in graders}


def _read(store: RunStore, grader_id: str, digests: Collection[str]) -> Mapping[str, Sequence[str | None]]:
    found: dict[str, list[str | None]] = {}
    for key, completion in store.iter_completions(grader_id):
        if key.item_digest not in digests:
            continue
        own = found.setdefault(key.item_digest, [])
        own += [None] * (key.repeat - len(own))
        own.append(None if completion.text is None else cut(completion.text, MOST_REPLY))
    return found
