"""What a run did and what it cost, counted as the answers come; the number of answers costs no memory."""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import median

from experiments.running.budget import may_be_billed
from graders.capabilities import Price
from graders.client import Answer
from graders.grader import Grader
from graders.pricing import Cost, cost
from graders.verdict import CallFailure, Completion, Usage

__all__ = ["CostOutlier", "GraderSummary", "RunAccount", "RunSummary"]

_SAMPLED = 1_000
"""Costs of items kept to tell the median: that it is within a few per cent is enough here."""

_TIMES_MEDIAN, _SHARE = 20.0, 0.1
"""An item is an outlier if it costs more than so many medians, and more than that share of everything."""

_KEPT = round(1 / _SHARE)
"""No more items than this can have more than that share."""

_MOST_NAMES = 20
"""Different served models that are told apart."""


@dataclass(frozen=True, slots=True)
class CostOutlier:
    """An item that cost far more than others, in dollars; a model that thinks without end does that."""

    item_id: str
    amount: float
    median: float


@dataclass(frozen=True, slots=True)
class GraderSummary:
    """What one grader did in this run.

    ``call_failures`` are verdicts that did not come, by reason (they stay pending), ``failed_attempts``
    calls that went wrong before a later one told the outcome. ``usage`` and ``cost`` hold all of them;
    ``cost`` is ``None`` where no price is known. ``served_models`` are in the order of their appearance.
    """

    title: str
    n_stored: int
    call_failures: Counter[str]
    failed_attempts: Counter[str]
    usage: Usage
    cost: Cost | None
    served_models: tuple[str, ...]
    outliers: tuple[CostOutlier, ...] = ()

    @property
    def model_changed(self) -> bool:
        """Whether more than one model has answered under the one name."""
        return len(self.served_models) > 1

    def warnings(self) -> Sequence[str]:
        """What a person should know of this grader, a line each."""
        lines = []
        if self.model_changed:
            lines.append(f"{self.title}: the served model changed within the run: {', '.join(self.served_models)}")
        lines += [
            f"{self.title}: item {outlier.item_id} cost ${outlier.amount:.4f}, "
            f"{outlier.amount / outlier.median:.0f} times the median of ${outlier.median:.4f}"
            for outlier in self.outliers
        ]
        return lines


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run did, by grader and in all."""

    run_id: str
    graders: tuple[GraderSummary, ...]

    @property
    def n_stored(self) -> int:
        """Completions stored now."""
        return sum(grader.n_stored for grader in self.graders)

    @property
    def call_failures(self) -> Counter[str]:
        """Verdicts that did not come, by reason; they stay pending."""
        return sum((grader.call_failures for grader in self.graders), Counter[str]())

    @property
    def failed_attempts(self) -> Counter[str]:
        """Calls that went wrong before a later one told the outcome, by reason."""
        return sum((grader.failed_attempts for grader in self.graders), Counter[str]())

    @property
    def usage(self) -> Usage:
        """Tokens, failed calls included."""
        total = _Tokens()
        for grader in self.graders:
            total.add(grader.usage)
        return total.usage()

    @property
    def cost(self) -> Cost | None:
        """Dollars, failed calls included; incomplete ("at least") where some are not known, ``None`` where all are."""
        known = [grader.cost for grader in self.graders if grader.cost is not None]
        if not known:
            return None
        complete = all(grader.cost is not None and grader.cost.complete for grader in self.graders if _worked(grader))
        return Cost(sum(one.amount for one in known), complete)

    def warnings(self) -> Sequence[str]:
        """What a person should know, a line each."""
        return [line for grader in self.graders for line in grader.warnings()]


def _worked(grader: GraderSummary) -> bool:
    return bool(grader.n_stored or grader.call_failures or grader.failed_attempts)


class _Tokens:
    """Sums of token counts; a count stays unknown while nobody has told it."""

    def __init__(self) -> None:
        self._sums: list[int | None] = [None] * len(fields(Usage))

    def add(self, usage: Usage) -> None:
        counts = (
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.cache_write_tokens,
            usage.reasoning_tokens,
        )
        for place, count in enumerate(counts):
            if count is not None:
                self._sums[place] = (self._sums[place] or 0) + count

    def usage(self) -> Usage:
        return Usage(*self._sums)


class RunAccount:
    """Counts one grader's answers.

    Parameters
    ----------
    grader
        Its price is used where it has one.
    """

    def __init__(self, grader: Grader) -> None:
        self._title = grader.title
        self._price: Price | None = grader.capabilities.price
        self._n_stored = self._n_timed = 0
        self._failures: Counter[str] = Counter()
        self._attempts: Counter[str] = Counter()
        self._tokens = _Tokens()
        self._amount, self._complete = 0.0, True
        self._served: dict[str, None] = {}
        self._items = _ItemCosts()

    @property
    def n_timed(self) -> int:
        """Completions so far that came with the time of their call."""
        return self._n_timed

    @property
    def amount(self) -> float | None:
        """Dollars so far, at least; ``None`` where no price is known."""
        return self._amount if self._price is not None else None

    def begin(self, digest: str, item_id: str, n_repeats: int) -> None:
        """Note that an item is asked about."""
        if self._price is not None:
            self._items.begin(digest, item_id, n_repeats)

    def record(self, answers: Sequence[Answer]) -> int:
        """Count answers; how many of them are failures."""
        n_failures = 0
        for answer in answers:
            amount = 0.0
            for failure in answer.failed_attempts:
                self._attempts[failure.reason] += 1
                amount += self._charge_failure(failure)
            outcome = answer.outcome
            if isinstance(outcome, Completion):
                amount += self._charge(outcome.usage)
                self._n_stored += 1
                self._n_timed += outcome.call_time is not None
                if outcome.served_model not in self._served and len(self._served) < _MOST_NAMES:
                    self._served[outcome.served_model] = None
            else:
                n_failures += 1
                amount += self._charge_failure(outcome)
                self._failures[outcome.reason] += 1
            if self._price is not None:
                self._items.add(answer.item_digest, amount)
        return n_failures

    def summary(self) -> GraderSummary:
        """All that was counted."""
        return GraderSummary(
            title=self._title,
            n_stored=self._n_stored,
            call_failures=self._failures,
            failed_attempts=self._attempts,
            usage=self._tokens.usage(),
            cost=None if self._price is None else Cost(self._amount, self._complete),
            served_models=tuple(self._served),
            outliers=self._items.outliers(self._amount),
        )

    def _charge_failure(self, failure: CallFailure) -> float:
        if failure.usage is not None:
            return self._charge(failure.usage)
        self._complete = self._complete and not may_be_billed(failure)
        return 0.0

    def _charge(self, usage: Usage) -> float:
        self._tokens.add(usage)
        if self._price is None:
            return 0.0
        charged = cost(usage, self._price)
        self._amount += charged.amount
        self._complete = self._complete and charged.complete
        return charged.amount


@dataclass(slots=True)
class _OpenItem:
    item_id: str
    n_open: int
    amount: float = 0.0


class _ItemCosts:
    """Costs of whole items: a sample of all, and the highest."""

    def __init__(self) -> None:
        self._open: dict[str, _OpenItem] = {}
        self._n_items = 0
        self._sample: list[float] = []
        self._highest: list[tuple[float, str]] = []
        self._random = random.Random(0)

    def begin(self, digest: str, item_id: str, n_repeats: int) -> None:
        self._open[digest] = _OpenItem(item_id, n_repeats)

    def add(self, digest: str, amount: float) -> None:
        item = self._open.get(digest)
        if item is None:
            return
        item.amount += amount
        item.n_open -= 1
        if item.n_open <= 0:
            del self._open[digest]
            self._close(item)

    def outliers(self, total: float) -> tuple[CostOutlier, ...]:
        if not self._sample:
            return ()
        usual = median(self._sample)
        return tuple(
            CostOutlier(item_id, amount, usual)
            for amount, item_id in sorted(self._highest, reverse=True)
            if usual > 0 and amount > _TIMES_MEDIAN * usual and amount > _SHARE * total
        )

    def _close(self, item: _OpenItem) -> None:
        self._n_items += 1
        if len(self._sample) < _SAMPLED:
            self._sample.append(item.amount)
        elif (place := self._random.randrange(self._n_items)) < _SAMPLED:
            self._sample[place] = item.amount
        entry = (item.amount, item.item_id)
        if len(self._highest) < _KEPT:
            heapq.heappush(self._highest, entry)
        else:
            heapq.heappushpop(self._highest, entry)
