"""A grader's requests in a shared store: each is claimed before it is given out, in the order of asking."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from time import monotonic

from experiments.errors import BudgetError, StoreError
from experiments.running.sharing import Sharing
from experiments.store.claims import Outcome, Share
from graders.client import Answer, Request
from graders.grader import Grader
from graders.verdict import CallFailure, Completion

__all__ = ["MOST_CLAIMED", "ClaimLedger", "ClaimedRequests"]

_FIRST, MOST_CLAIMED = 4, 256
"""Requests that are claimed at once, at first and at most."""

_SHORT, _LONG = 1.0, 5.0
"""Requests that are claimed at once: twice as many where they last for less than so many seconds, half for more."""

_WORKERS_OWN = frozenset(
    {
        "bad_key",
        "engine_error",
        "not_found",
        "not_recorded",
        "overloaded",
        "quota_exhausted",
        "rate_limited",
        "unreachable",
        "unsupported",
    }
)
"""Failures that say something of this worker's machine, key or service: another worker may do better."""


class ClaimedRequests:
    """Iterates over what is free; ends when nothing is, perhaps as others have claimed the rest, or the server is away.

    Parameters
    ----------
    pending
        Requests for what the store lacks, in the order of asking.
    most
        Claimed at once at most; few where the workers are to keep together in that order.
    """

    def __init__(
        self, pending: Iterator[Request], grader: Grader, sharing: Sharing, *, most: int = MOST_CLAIMED
    ) -> None:
        self._pending, self._grader, self._sharing = pending, grader, sharing
        self._again: deque[Request] = deque()
        self._mine: deque[Request] = deque()
        self._theirs: deque[Request] = deque()
        self._generation: int | None = None
        self._most, self._n_ahead, self._filled_at = most, min(_FIRST, most), 0.0
        self._is_broken_off = False
        self._n_elsewhere = 0

    @property
    def is_unfinished(self) -> bool:
        """Whether others have claims among these requests, or they could not be looked at."""
        return bool(self._mine or self._theirs or self._again) or self._is_broken_off

    def __iter__(self) -> Iterator[Request]:
        return self

    def __next__(self) -> Request:
        try:
            if not self.fill(patient=False):
                raise StopIteration
        except (StoreError, BudgetError):
            # In the loop of the calls nobody waits for a server, or breaks off: that comes when they are answered.
            self._is_broken_off = True
            raise StopIteration from None
        return self._mine.popleft()

    def fill(self, *, patient: bool = True) -> bool:
        """Claim the next requests, unless some are at hand; whether there are any.

        Raises
        ------
        StoreError
            If the server is away.
        """
        self._is_broken_off = False
        while not self._has_mine(patient=patient):
            self._adapt()
            if not self._claim(self._next_wanted(), patient=patient):
                return False
        return True

    def try_again(self) -> int:
        """Claim what others have given back, or lost; how many verdicts are to be asked for now."""
        waiting, self._theirs = self._theirs, deque()
        self._again.extendleft(reversed(waiting))
        if not self.fill():
            return 0
        self._n_elsewhere = 0
        return _count(self._mine) + _count(self._again)

    def pop_elsewhere(self) -> int:
        """How many verdicts were passed over since this was asked last: others have them, or have claimed them."""
        n_verdicts, self._n_elsewhere = self._n_elsewhere, 0
        return n_verdicts

    def put_back(self, request: Request) -> None:
        """Have a request come again as the next."""
        self._mine.appendleft(request)

    def look_again(self, request: Request) -> None:
        """Have a request that was not answered in full come again, unless somebody else has it by now."""
        self._theirs.append(request)

    def _has_mine(self, *, patient: bool) -> bool:
        """Whether requests are at hand whose claims are still good; those of others are looked at again later."""
        if not self._mine:
            return False
        generation = self._sharing.generation()
        if generation is None and not patient:
            raise StoreError("the server is away; expected it to tell whether claims are still good")
        if generation != self._generation:
            self._n_elsewhere += _count(self._mine)
            self._theirs.extend(self._mine)
            self._mine.clear()
        return bool(self._mine)

    def _next_wanted(self) -> list[Request]:
        known = [self._again.popleft() for _ in range(min(self._n_ahead, len(self._again)))]
        return known or list(islice(self._pending, self._n_ahead))

    def _adapt(self) -> None:
        seconds, self._filled_at = monotonic() - self._filled_at, monotonic()
        if seconds < _SHORT:
            self._n_ahead = min(2 * self._n_ahead, self._most)
        elif seconds > _LONG:
            self._n_ahead = max(self._n_ahead // 2, 1)

    def _claim(self, wanted: Sequence[Request], *, patient: bool) -> bool:
        """Claim some; whether there was anything to claim."""
        if not wanted:
            return False
        digests = [request.item.digest for request in wanted]
        try:
            taken = self._sharing.take(self._grader.grader_id, digests, patient=patient)
            self._generation = self._sharing.generation()
            # Read after claiming: who had it before has stored what it has by now.
            found = self._still_missing([one for one in wanted if one.item.digest in taken.mine])
            others = [one for one in wanted if one.item.digest not in taken.mine | taken.failed]
            self._theirs.extend(self._still_missing(others))
        except (StoreError, BudgetError):
            self._again.extendleft(reversed(wanted))
            raise
        self._mine.extend(found)
        self._n_elsewhere += _count(wanted) - _count(found)
        left = {request.item.digest for request in found}
        paid = [digest for digest in taken.mine if digest not in left]
        if paid:
            self._sharing.settle(self._grader.grader_id, Outcome(done=paid))
        return True

    def _still_missing(self, requests: Sequence[Request]) -> list[Request]:
        if not requests:
            return []
        digests = [request.item.digest for request in requests]
        stored = self._sharing.store.stored_repeats(self._grader.grader_id, digests)
        lacking = (
            replace(request, repeats=_without(request.repeats, stored.get(request.item.digest, ())))
            for request in requests
        )
        return [request for request in lacking if request.repeats]


def _count(requests: Iterable[Request]) -> int:
    return sum(len(request.repeats) for request in requests)


def _without(repeats: tuple[int, ...], stored: Collection[int]) -> tuple[int, ...]:
    return tuple(repeat for repeat in repeats if repeat not in stored)


class ClaimLedger:
    """What a worker has out for a grader, and what it has delivered; ends each claim with its last answer."""

    def __init__(self, grader: Grader, sharing: Sharing) -> None:
        self._grader_id, self._sharing = grader.grader_id, sharing
        self._open: dict[str, set[int]] = {}
        self._begun: dict[str, Request] = {}
        self._worst: dict[str, str] = {}
        self._left_out: list[str] = []
        self._n_delivered = self._n_failed = 0

    def begin(self, request: Request) -> None:
        """A request is asked."""
        self._open[request.item.digest] = set(request.repeats)
        self._begun[request.item.digest] = request

    def leave_out(self, request: Request) -> None:
        """A request is not asked after all."""
        self._left_out.append(request.item.digest)

    def end_round(self) -> list[Request]:
        """Give back what was left out; the requests that were broken off."""
        left_out, self._left_out = self._left_out, []
        if left_out:
            self._sharing.settle(self._grader_id, Outcome(given_back=left_out))
        broken_off = list(self._begun.values())
        self._begun.clear()
        self._open.clear()
        self._worst.clear()
        return broken_off

    def end(self, answers: Sequence[Answer], *, stopping: bool) -> None:
        """Answers are stored; what failed while the worker is ``stopping`` was perhaps cut short, and is given back."""
        ended: dict[str, list[str]] = {"done": [], "failed": [], "given_back": []}
        for answer in answers:
            self._note(answer, stopping=stopping)
            still_open = self._open.get(answer.item_digest)
            if still_open is not None:
                still_open.discard(answer.repeat)
                if not still_open:
                    del self._open[answer.item_digest], self._begun[answer.item_digest]
                    ended[self._worst.pop(answer.item_digest, "done")].append(answer.item_digest)
        share = Share(self._n_delivered, self._n_failed)
        self._sharing.settle(self._grader_id, Outcome(**ended), share)

    def _note(self, answer: Answer, *, stopping: bool) -> None:
        outcome, digest = answer.outcome, answer.item_digest
        if isinstance(outcome, Completion):
            self._n_delivered += 1
            return
        self._n_failed += 1
        if self._worst.get(digest) != "given_back":
            self._worst[digest] = "given_back" if stopping or _is_workers_own(outcome) else "failed"


def _is_workers_own(failure: CallFailure) -> bool:
    return failure.reason in _WORKERS_OWN
