"""A call on its way: the repeats that it asks for, and what has gone wrong so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from graders.client import Answer, Request
from graders.dispatch.retry import MOST_ATTEMPTS
from graders.dispatch.service import CallError
from graders.verdict import CallFailure, Usage

__all__ = ["Call"]

_MOST_THROTTLED = 100
"""A call that is turned away so often, while others get through, is given up."""

_MOST_FORMS = 8
"""Forms that one call is sent in while a service's refusals are learnt."""

_MOST_MOVED = 12
"""Failures of a server with a healthy one beside it that cost a call none of its attempts."""

_BROKEN_OFF = "broken_off"
"""Reason that what a conversation's turns cost is kept under; the call that broke it may have cost something too."""


@dataclass(slots=True)
class Call:
    """Repeats of one item that are asked for together."""

    request: Request
    failures: list[CallFailure] = field(default_factory=list)
    n_failed: int = 0
    n_throttled: int = 0
    n_forms: int = 0
    n_moved: int = 0
    paid_before: Usage | None = None

    def note(self, error: CallError) -> None:
        """Keep what went wrong, with what it cost."""
        self.failures.append(CallFailure(error.kind, error.message, error.usage))
        self.paid_before = error.paid_before

    def may_take_another_form(self) -> bool:
        """Count a refused parameter."""
        self.n_forms += 1
        return self.n_forms <= _MOST_FORMS

    def may_wait_again(self) -> bool:
        """Count being turned away."""
        self.n_throttled += 1
        return self.n_throttled < _MOST_THROTTLED

    def may_try_again(self, error: CallError, *, elsewhere: bool) -> bool:
        """Count a failure; ``elsewhere`` if another server is healthy and the fault may be this one's."""
        if elsewhere and self.n_moved < _MOST_MOVED:
            self.n_moved += 1
            return True
        self.n_failed += 1
        return self.n_failed < MOST_ATTEMPTS[error.kind]

    def take_from(self, n_together: int) -> Call | None:
        """Keep as many repeats as a service takes at once; the call for the rest, if there is one."""
        repeats = self.request.repeats
        if n_together >= len(repeats):
            return None
        rest = Call(replace(self.request, repeats=repeats[n_together:]))
        self.request = replace(self.request, repeats=repeats[:n_together])
        return rest

    def answered(self, answers: list[Answer]) -> tuple[list[Answer], Call | None]:
        """The answers in the order of repeats, the failures before them at the first; and the call for what is missing.

        Parameters
        ----------
        answers
            At least one.
        """
        found = {answer.repeat: answer for answer in answers}
        first, *others = sorted(found.values(), key=lambda answer: answer.repeat)
        if self.failures:
            first = replace(first, failed_attempts=(*self.failures, *first.failed_attempts))
        missing = tuple(repeat for repeat in self.request.repeats if repeat not in found)
        return [first, *others], Call(replace(self.request, repeats=missing)) if missing else None

    def given_up(self) -> list[Answer]:
        """No completion: the last failure is the outcome of each repeat, the earlier ones are its history."""
        repeats, digest = self.request.repeats, self.request.item.digest
        *earlier, last = self.failures
        if self.paid_before is not None:
            earlier.append(CallFailure(_BROKEN_OFF, "turns of a conversation that came to no reply", self.paid_before))
        first = Answer(digest, repeats[0], last, tuple(earlier))
        # What the call cost stands at its first repeat alone.
        return [first, *(Answer(digest, repeat, replace(last, usage=None)) for repeat in repeats[1:])]
