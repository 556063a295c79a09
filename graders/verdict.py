"""Completions, which cost money, and verdicts, which are derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

__all__ = [
    "FAILURES",
    "CallFailure",
    "CallTime",
    "Completion",
    "ConceptUse",
    "Failure",
    "Finding",
    "ParsedVerdict",
    "ParserRule",
    "Usage",
    "Verdict",
]

Failure = Literal["empty", "truncated", "refused", "unparsed", "ambiguous", "off_scale", "not_answered"]
"""Why there is no label. All but ``not_answered`` come from parsing a reply; that one is a call without a reply."""

FAILURES: tuple[str, ...] = get_args(Failure)
"""All of :data:`Failure`."""

ParserRule = Literal["robust", "official", "label"]
"""How a reply is read. ``label`` takes it as a label of the scale, spelt exactly; for imported verdicts."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one completion adds to the bill; ``None`` where the service did not say.

    A call for several repeats is billed once: its counts stand at the first of them, zeros at the
    others. ``input_tokens`` includes ``cached_tokens`` (read from a prompt cache) and
    ``cache_write_tokens`` (written to one); ``output_tokens`` includes ``reasoning_tokens``.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class CallTime:
    """How long the call of a completion took: the one that brought it, from its start to its reply being complete.

    Waiting to be allowed to start it, and calls that failed before, are no part of it. ``n_completions``
    share the ``seconds``: all choices of one call, all draws from one computation, all that an engine
    answered as one batch.
    """

    seconds: float
    n_completions: int = 1


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered, as it was paid for.

    Attributes
    ----------
    text
        The reply; ``None`` where the service sent no content.
    served_model
        The model that the service says has answered.
    stop_reason
        Normalised: ``stop``, ``length``, ``refusal``, ``content_filter``, or ``None``.
    label_logprobs
        Label to natural-log probability of its verdict token(s), before temperature, or ``None``.
    other_logprobs
        Natural-log probabilities of the listed tokens that stand for no label, before temperature.
    usage
        Token counts.
    effective_sampling
        The sampling settings that were really in force, by name.
    stated_label
        The label that came with an imported reply; ``None`` for replies that are ours to read.
    stated_failure
        Why there is no label, where an imported reply came with that instead; its text is not read.
    fingerprint
        What the service calls the state of its backend, where it says.
    turns
        Of a conversation in which documents were opened, the turns before its reply, oldest first: what the model
        ``said``, the arguments that it ``asked`` with, and the numbers of the documents ``opened``.
    call_time
        How long its call took; ``None`` where nobody timed one: batch jobs, recordings, imports. Neither
        compared nor spelt out: the same reply is the same however long it took.
    """

    text: str | None
    served_model: str
    stop_reason: str | None = "stop"
    label_logprobs: Mapping[str, float] | None = None
    usage: Usage = field(default_factory=Usage)
    effective_sampling: Mapping[str, Any] = field(default_factory=dict)
    stated_label: str | None = None
    stated_failure: Failure | None = None
    other_logprobs: tuple[float, ...] = ()
    fingerprint: str | None = None
    # Imported graders are known by what their replies look like, and replies of one turn look as ever.
    turns: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    call_time: CallTime | None = field(default=None, compare=False, repr=False)

    def timed(self, call_time: CallTime) -> Completion:
        """The same completion with the time of its call."""
        # Spelt out, as every verdict comes by here: `dataclasses.replace` takes three times as long.
        return Completion(
            self.text,
            self.served_model,
            self.stop_reason,
            self.label_logprobs,
            self.usage,
            self.effective_sampling,
            self.stated_label,
            self.stated_failure,
            self.other_logprobs,
            self.fingerprint,
            self.turns,
            call_time,
        )


@dataclass(frozen=True, slots=True)
class CallFailure:
    """A call that brought no completion; kept as history, asked again on the next run.

    ``usage`` is what it cost all the same, where that is known.
    """

    reason: str
    message: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class ConceptUse:
    """The concepts that a grader found in a response, held against the reference's.

    ``used`` and ``missing`` are of the reference (true positives, false negatives), ``foreign`` are used but not of
    the reference (false positives). No concept stands twice.
    """

    used: tuple[str, ...]
    missing: tuple[str, ...]
    foreign: tuple[str, ...]


Finding = ConceptUse | float
"""What a reply says beside its label: concepts, or the grader's confidence in the label, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class ParsedVerdict:
    """What a parser read in one reply: a label xor a failure.

    ``rule`` is the parser's name; ``evidence`` the part of the reply that decided; ``finding`` what the reply says
    beside its label, in the channels that ask for more than a label.
    """

    label: str | None
    failure: Failure | None
    rule: ParserRule
    evidence: str = ""
    finding: Finding | None = None

    def __post_init__(self) -> None:
        _check_label_xor_failure(self.label, self.failure)
        _check_finding(self.label, self.finding)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One grader's judgement of one item in one repeat: a label xor a failure; ``finding`` only beside a label."""

    item_digest: str
    grader_id: str
    repeat: int
    label: str | None
    failure: Failure | None
    rule: ParserRule
    detail: str = ""
    finding: Finding | None = None

    def __post_init__(self) -> None:
        _check_label_xor_failure(self.label, self.failure)
        _check_finding(self.label, self.finding)


def _check_label_xor_failure(label: str | None, failure: str | None) -> None:
    if (label is None) == (failure is None):
        raise ValueError(f"verdict: label {label!r} and failure {failure!r}; expected exactly one of them")


def _check_finding(label: str | None, finding: Finding | None) -> None:
    if finding is not None and label is None:
        raise ValueError(f"verdict: finding {finding!r} without a label; expected none beside a failure")
