"""What a store holds of one grader, read once and as a stream: verdicts, distributions, tokens, cost."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.scale import LabelScale
from calibration_sets.service_messages import is_service_message
from experiments.batch.records import batch_keys
from experiments.reports.call_times import GraderTimes, sum_call_times
from experiments.store.run_store import CompletionKey, RunStore
from experiments.store.sessions import sum_sessions
from graders.capabilities import Price
from graders.exact import VerdictDistribution, compute_distribution
from graders.parsing import parse_completion, parse_verdict
from graders.pricing import NO_COST, Cost, cost
from graders.sampling import Channel
from graders.verdict import CallFailure, Completion, ParsedVerdict, ParserRule, Usage, Verdict

__all__ = ["GraderReading", "GraderRecord", "read_grader"]


@dataclass(frozen=True, slots=True)
class GraderRecord:
    """A grader as a run remembers it: enough to read its completions again.

    ``sampling`` holds what was asked, ``repeats`` included; values are ``None`` where an imported
    grader's settings are not known. ``scale`` carries the letters and words of its prompt. ``price``
    is the ledger's when the run was recorded, ``notes`` what was to be known of the model then.
    """

    grader_id: str
    model: str
    prompt: str | None
    rubric: str | None
    channel: Channel
    scale: LabelScale
    sampling: Mapping[str, Any]
    price: Mapping[str, Any] | None = None
    notes: Sequence[str] = ()

    @property
    def is_exact(self) -> bool:
        """Whether its repeats are computed from one completion an item."""
        return self.sampling.get("method") == "exact"


@dataclass
class GraderReading:
    """What was read: verdicts and times by the rule that read them, and the rest once.

    ``label_logprobs`` are those of the first completion of each item that has any.
    """

    verdicts: dict[ParserRule, list[Verdict]]
    distributions: dict[str, VerdictDistribution] = field(default_factory=dict)
    label_logprobs: dict[str, Mapping[str, float]] = field(default_factory=dict)
    effective_sampling: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    served: Counter[str] = field(default_factory=Counter)
    fingerprints: Counter[str] = field(default_factory=Counter)
    failed_calls: Mapping[str, int] = field(default_factory=dict)
    item_tokens: Counter[str] = field(default_factory=Counter)
    usage: Usage | None = None
    cost: Cost = NO_COST
    times: dict[ParserRule, GraderTimes] = field(default_factory=dict)


def read_grader(
    store: RunStore,
    grader: GraderRecord,
    calibration_set: CalibrationSet,
    rules: Sequence[ParserRule],
    *,
    take: Callable[[Verdict], None] | None = None,
) -> GraderReading:
    """Read a grader's completions for a set, one at a time, and derive what a report needs.

    With ``take`` each verdict goes there as it is read, and the reading holds none.
    """
    digests = {item.digest: is_service_message(item) for item in calibration_set.items}
    return _Reader(store, grader, digests, rules, take).read()


class _Reader:
    def __init__(
        self,
        store: RunStore,
        grader: GraderRecord,
        digests: Mapping[str, bool],
        rules: Sequence[ParserRule],
        take: Callable[[Verdict], None] | None,
    ) -> None:
        self._store, self._grader, self._digests, self._rules = store, grader, digests, rules
        self._n_asked = 1 if grader.is_exact else int(grader.sampling["repeats"])
        self._price = None if grader.price is None else Price(**grader.price)
        self._reading = GraderReading({rule: [] for rule in rules})
        self._keeps = take is None
        self._keep = {rule: take or verdicts.append for rule, verdicts in self._reading.verdicts.items()}
        self._totals: dict[str, int] = {}
        self._found: dict[str, int] = {}
        # One text for each digest and for each evidence, not one for each row that is read.
        self._one_digest = {digest: digest for digest in digests}
        self._one_evidence: dict[str, str] = {}
        self._dollars = array("d")
        self._complete = True
        self._seconds, self._shared_by = array("d"), array("q")
        self._n_untimed = 0
        self._n_valid = dict.fromkeys(rules, 0)

    def read(self) -> GraderReading:
        grader_id = self._grader.grader_id
        in_batch = batch_keys(self._store, grader_id)
        for key, completion in self._store.iter_completions(grader_id):
            digest = self._one_digest.get(key.item_digest)
            if digest is not None and key.repeat < self._n_asked:
                self._found[digest] = self._found.get(digest, 0) | 1 << key.repeat
                self._take(CompletionKey(digest, key.repeat), completion, batch=key in in_batch)
        self._add_unanswered(self._take_failures(grader_id))
        # Rounded once, at the end: the order in which completions were stored moves no digit.
        self._reading.cost = Cost(math.fsum(self._dollars), self._complete)
        known = {entry.name: self._totals.get(entry.name) for entry in fields(Usage)}
        self._reading.usage = Usage(**known) if self._totals else None
        self._reading.times = self._sum_times()
        return self._reading

    def _take(self, key: CompletionKey, completion: Completion, *, batch: bool) -> None:
        reading = self._reading
        settings = {name: value for name, value in completion.effective_sampling.items() if name != "seed"}
        if settings:
            reading.effective_sampling.setdefault(repr(sorted(settings.items(), key=repr)), settings)
        reading.served[completion.served_model] += 1
        if completion.fingerprint:
            reading.fingerprints[completion.fingerprint] += 1
        if completion.label_logprobs and key.item_digest not in reading.label_logprobs:
            reading.label_logprobs[key.item_digest] = completion.label_logprobs
        tokens = (completion.usage.input_tokens or 0) + (completion.usage.output_tokens or 0)
        if tokens:
            reading.item_tokens[key.item_digest] += tokens
        self._charge(completion.usage, batch=batch)
        self._note_time(completion)
        if self._grader.is_exact:
            self._compute(key, completion)
            return
        for rule in self._rules:
            parsed = _parse(completion, self._grader, rule)
            self._add(key, parsed, rule, timed=completion.call_time is not None)

    def _take_failures(self, grader_id: str) -> dict[CompletionKey, CallFailure]:
        """Count and charge every failed call for the run's items; the newest of each key."""
        newest: dict[CompletionKey, CallFailure] = {}
        reasons: Counter[str] = Counter()
        for key, failure in self._store.iter_call_failures(grader_id):
            if key.item_digest not in self._digests or key.repeat >= self._n_asked:
                continue
            newest[key] = failure
            reasons[failure.reason] += 1
            if failure.usage is not None:
                self._charge(failure.usage, batch=False)
        self._reading.failed_calls = dict(sorted(reasons.items()))
        return newest

    def _compute(self, key: CompletionKey, completion: Completion) -> None:
        temperature = float(self._grader.sampling["temperature"])
        found = compute_distribution(key.item_digest, completion, self._grader.scale, temperature)
        self._reading.distributions[key.item_digest] = found
        likeliest = max(found.probabilities, key=found.probabilities.__getitem__) if found.probabilities else None
        for rule in self._rules:
            parsed = ParsedVerdict(likeliest, found.failure, rule, found.detail or "likeliest label")
            self._add(key, parsed, rule, timed=completion.call_time is not None)

    def _note_time(self, completion: Completion) -> None:
        if completion.call_time is None:
            self._n_untimed += 1
        else:
            self._seconds.append(completion.call_time.seconds)
            self._shared_by.append(completion.call_time.n_completions)

    def _sum_times(self) -> dict[ParserRule, GraderTimes]:
        sessions = sum_sessions(self._store, self._grader.grader_id)
        times = sum_call_times(self._seconds, self._shared_by, n_untimed=self._n_untimed)
        pace = None if sessions is None else sessions.n_completions / sessions.seconds
        return {rule: replace(times, n_valid=self._n_valid[rule], pace=pace) for rule in self._rules}

    def _add(self, key: CompletionKey, parsed: ParsedVerdict, rule: ParserRule, *, timed: bool) -> None:
        self._n_valid[rule] += timed and parsed.label is not None
        verdict = Verdict(
            key.item_digest,
            self._grader.grader_id,
            key.repeat,
            parsed.label,
            parsed.failure,
            parsed.rule,
            self._one_evidence.setdefault(parsed.evidence, parsed.evidence) if self._keeps else parsed.evidence,
            parsed.finding,
        )
        self._keep[rule](verdict)

    def _add_unanswered(self, failures: Mapping[CompletionKey, CallFailure]) -> None:
        for digest, is_message in self._digests.items():
            for repeat in range(self._n_asked):
                if self._found.get(digest, 0) >> repeat & 1:
                    continue
                failure = failures.get(CompletionKey(digest, repeat))
                detail = "service_message" if is_message else failure.reason if failure else "not_asked"
                for rule in self._rules:
                    verdict = Verdict(digest, self._grader.grader_id, repeat, None, "not_answered", rule, detail)
                    self._keep[rule](verdict)

    def _charge(self, usage: Usage, *, batch: bool) -> None:
        for entry in fields(Usage):
            count = getattr(usage, entry.name)
            if count is not None:
                self._totals[entry.name] = self._totals.get(entry.name, 0) + count
        charged = cost(usage, self._price, batch=batch)
        self._dollars.append(charged.amount)
        self._complete = self._complete and charged.complete


def _parse(completion: Completion, grader: GraderRecord, rule: ParserRule) -> ParsedVerdict:
    if completion.stated_failure is not None:
        return ParsedVerdict(None, completion.stated_failure, "label", "stated with the reply")
    if completion.stated_label is not None:
        return parse_verdict(completion.stated_label, grader.scale, rule="label")
    return parse_completion(completion, grader.scale, grader.channel, rule=rule)
