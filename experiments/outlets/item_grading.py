"""Grading items that come one by one: what has come while others were asked is asked together."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import anyio
import anyio.to_thread
from sqlalchemy import select

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import Item
from calibration_sets.scale import LabelScale
from calibration_sets.service_messages import is_service_message
from experiments.batch.records import held_keys
from experiments.errors import SpecError
from experiments.running.grouping import KeptEngine
from experiments.running.runner import run_experiment
from experiments.specs.experiment import Experiment
from experiments.store.completion_records import load_completion
from experiments.store.run_store import CompletionKey, RunStore
from experiments.store.tables import completions
from graders.client import Answer, ModelClient, Request
from graders.dispatch.retry import ITEMS_OWN
from graders.errors import ServiceError
from graders.exact import compute_distribution
from graders.grader import Grader
from graders.parsing import parse_completion
from graders.providers import open_client
from graders.verdict import Completion, ParsedVerdict, Verdict

__all__ = ["GradedItem", "ItemGrader", "build_items_set"]


@dataclass(frozen=True, slots=True)
class GradedItem:
    """An item's verdicts, one a repeat, and the replies that they were read in; ``None`` where there is none."""

    item: Item
    verdicts: tuple[Verdict, ...]
    replies: tuple[str | None, ...]


@dataclass(slots=True, eq=False)
class _Waiting:
    item: Item
    outcome: GradedItem | BaseException | None = None


class ItemGrader:
    """Grades items with one grader, through a store: what it holds is not asked again, what is answered is in it.

    Calls, retries and limits are those of a run. An engine that computes in this process stays loaded as long as this
    object lives.

    Parameters
    ----------
    grader
        Who judges, and how often.
    scale
        The labels, where its prompt brings none.
    store
        The store's file, or its address.
    """

    def __init__(self, grader: Grader, scale: LabelScale, store: str) -> None:
        self.grader = grader
        self.scale = grader.prompt.scale if grader.prompt else scale
        self._store = store
        self._waiting: list[_Waiting] = []
        self._turn = anyio.Lock()
        self._engine = KeptEngine(open_client)
        weakref.finalize(self, self._engine.__exit__, None, None, None)

    async def grade(self, item: Item) -> GradedItem:
        """Grade one item, together with all others that wait.

        Raises
        ------
        experiments.errors.ExperimentError, graders.errors.GraderError
            What a person has to mend: the store cannot be used, a key is missing, a service refuses to go on.
        """
        mine = _Waiting(item)
        self._waiting.append(mine)
        async with self._turn:
            if mine.outcome is None:
                together, self._waiting = self._waiting, []
                await anyio.to_thread.run_sync(self._settle, together)
        if isinstance(mine.outcome, BaseException):
            raise mine.outcome
        assert mine.outcome is not None  # settled by whoever had the turn
        return mine.outcome

    def _settle(self, together: Sequence[_Waiting]) -> None:
        """Give everybody an outcome, in a thread of its own: also where whoever waits for it has given up."""
        try:
            graded = self.grade_items([one.item for one in together])
        except BaseException as error:  # noqa: BLE001  raised again by each of those who wait
            for one in together:
                one.outcome = error
            return
        for one, found in zip(together, graded, strict=True):
            one.outcome = found

    def grade_items(self, items: Sequence[Item]) -> list[GradedItem]:
        """Ask for what the store lacks of these items, and read all of it.

        Raises
        ------
        experiments.errors.ExperimentError, graders.errors.GraderError
            As :meth:`grade`.
        """
        with RunStore(self._store) as store:
            self._check_not_out(store, items)
            self._ask(store, items)
            return self._read(store, items)

    def _ask(self, store: RunStore, items: Sequence[Item]) -> None:
        """Ask about all; where the service has refused some items' calls for good, go on with the others.

        A run stops after three calls in a row that are refused, as its first ones tell that it asks wrongly. Here a
        few items are asked at a time, and one that is refused at each of its repeats says nothing of the next.
        """
        waiting = list(items)
        while waiting:
            try:
                run_experiment(self._ask_about(waiting), store, self._open, recorded=False)
                return
            except ServiceError:
                left = self._unsettled(store, waiting)
                if len(left) == len(waiting) or not self._is_proven(store):
                    raise
                waiting = left

    def _unsettled(self, store: RunStore, items: Sequence[Item]) -> list[Item]:
        """Those that lack a reply that was not refused as the item's own fault."""
        settled = set(_read_completions(store, self.grader.grader_id, {item.digest for item in items}))
        settled |= {
            key
            for key, why in store.iter_call_failures(self.grader.grader_id)
            if why.reason in (*ITEMS_OWN, "bad_request")
        }
        repeats = range(self.grader.sampling.asked_repeats)
        return [item for item in items if any(CompletionKey(item.digest, repeat) not in settled for repeat in repeats)]

    def _is_proven(self, store: RunStore) -> bool:
        """Whether the service has ever answered this grader, so that it does not ask wrongly in all of its calls."""
        query = select(completions.c.repeat).where(completions.c.grader_id == self.grader.grader_id).limit(1)
        with store.reading() as connection, store.damage_named():
            return connection.execute(query).first() is not None

    def _check_not_out(self, store: RunStore, items: Sequence[Item]) -> None:
        """What a batch job is to bring would be paid twice."""
        digests = {item.digest for item in items}
        n_out = sum(key.item_digest in digests for key in held_keys(store, self.grader.grader_id))
        if n_out:
            raise SpecError(
                f"{self.grader.title}: {n_out} verdicts are in batch jobs that are out; expected a store without them "
                "(autorater run --batch collects them)"
            )

    def _ask_about(self, items: Sequence[Item]) -> Experiment:
        asked = build_items_set(items, self.scale)
        return Experiment("items", "", asked, len(items), asked.digest, (self.grader,))

    def _open(self, grader: Grader) -> ModelClient:
        engine = self._engine.client(grader)
        return open_client(grader) if engine is None else _Kept(engine)

    def _read(self, store: RunStore, items: Sequence[Item]) -> list[GradedItem]:
        found = _read_completions(store, self.grader.grader_id, {item.digest for item in items})
        repeats = range(self.grader.sampling.asked_repeats)
        complete = all(CompletionKey(item.digest, repeat) in found for item in items for repeat in repeats)
        failed = {} if complete else store.call_failures(self.grader.grader_id)
        reasons = {key: failure.reason for key, failure in failed.items()}
        return [self._judge(item, found, reasons) for item in items]

    def _judge(
        self, item: Item, found: Mapping[CompletionKey, Completion], reasons: Mapping[CompletionKey, str]
    ) -> GradedItem:
        verdicts, replies = [], []
        for repeat in range(self.grader.sampling.asked_repeats):
            key = CompletionKey(item.digest, repeat)
            completion = found.get(key)
            replies.append(None if completion is None else completion.text)
            if completion is None:
                why = "service_message" if is_service_message(item) else reasons.get(key, "not_asked")
                verdicts.append(self._verdict(key, ParsedVerdict(None, "not_answered", "robust", why)))
            else:
                verdicts.append(self._verdict(key, self._parse(item, completion)))
        return GradedItem(item, tuple(verdicts), tuple(replies))

    def _parse(self, item: Item, completion: Completion) -> ParsedVerdict:
        sampling = self.grader.sampling
        if sampling.method == "sampled":
            return parse_completion(completion, self.scale, sampling.channel)
        shares = compute_distribution(item.digest, completion, self.scale, sampling.temperature)
        likeliest = max(shares.probabilities, key=shares.probabilities.__getitem__) if shares.probabilities else None
        return ParsedVerdict(likeliest, shares.failure, "robust", shares.detail or "likeliest label")

    def _verdict(self, key: CompletionKey, parsed: ParsedVerdict) -> Verdict:
        return Verdict(
            key.item_digest,
            self.grader.grader_id,
            key.repeat,
            parsed.label,
            parsed.failure,
            parsed.rule,
            parsed.evidence,
            parsed.finding,
        )


@dataclass(frozen=True, slots=True)
class _Kept:
    """A client that stays open when those who use it are done."""

    client: ModelClient = field(repr=False)

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        yield from self.client.complete(requests)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


def build_items_set(items: Sequence[Item], scale: LabelScale) -> CalibrationSet:
    """Items without people's labels as a set, each content once."""
    contents = {item.digest: item for item in items}
    return CalibrationSet(
        name="items",
        version="0",
        rubric="none@0",
        scale=scale,
        label_source="human",
        licence="",
        source="",
        description="",
        items=tuple(contents.values()),
        human_labels=(),
    )


def _read_completions(store: RunStore, grader_id: str, digests: set[str]) -> dict[CompletionKey, Completion]:
    """What a grader answered about some items, without reading what it answered about all others."""
    table = completions.c
    query = select(table.item_digest, table.repeat, table.payload).where(
        table.grader_id == grader_id, table.item_digest.in_(digests)
    )
    with store.reading() as connection, store.damage_named():
        return {
            CompletionKey(digest, repeat): load_completion(payload)
            for digest, repeat, payload in connection.execute(query)
        }
