"""How much of what its runs ask for a store holds, and what that cost: counted, without reading a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from sqlalchemy import select

from calibration_sets.service_messages import is_service_message
from experiments.batch.records import batch_keys
from experiments.reports.holdings import GraderHolding, RunHolding
from experiments.specs.grader_reading import GraderRecord
from experiments.store.run_descriptions import RunDescription
from experiments.store.run_store import CompletionKey, RunStore
from experiments.store.set_snapshot import load_set
from experiments.store.tables import runs
from graders.capabilities import Price
from graders.pricing import Cost, cost
from graders.verdict import Usage

__all__ = ["list_holdings"]


def list_holdings(store: RunStore, described: Sequence[RunDescription]) -> tuple[RunHolding, ...]:
    """What is stored of runs, in their order; graders that several runs share are read once.

    Raises
    ------
    StoreError
        If the store cannot be read.
    """
    reader = _Reader(store)
    return tuple(
        RunHolding(
            run_id=run.run_id,
            experiment=run.name,
            recorded_at=run.recorded_at,
            set_name=run.set_title,
            set_digest=run.set_digest,
            n_items=run.n_items,
            n_items_in_set=run.n_items_in_set,
            graders=tuple(reader.read(run.run_id, grader) for grader in run.graders),
            rules=tuple(sorted(run.decisions.model_dump(exclude_none=True))),
        )
        for run in described
    )


class _Reader:
    """Reads each set and each grader once, whichever runs use them."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        with store.reading() as connection:
            rows = connection.execute(select(runs.c.run_id, runs.c.snapshot)).all()
        self._snapshots: dict[str, str] = {row.run_id: row.snapshot for row in rows}
        self._digests: dict[str, frozenset[str]] = {}
        self._keys: dict[str, set[CompletionKey]] = {}
        self._usage: dict[str, list[tuple[CompletionKey, Usage, bool]]] = {}

    def read(self, run_id: str, grader: GraderRecord) -> GraderHolding:
        digests, repeats = self._askable(run_id), int(grader.sampling["repeats"])
        n_calls = 1 if grader.is_exact else repeats
        if grader.grader_id not in self._keys:
            self._keys[grader.grader_id] = self._store.stored_keys(grader.grader_id)
        stored = sum(key.item_digest in digests and key.repeat < n_calls for key in self._keys[grader.grader_id])
        return GraderHolding(
            grader_id=grader.grader_id,
            model=grader.model,
            prompt=grader.prompt,
            repeats=repeats,
            n_stored=stored,
            n_asked=n_calls * len(digests),
            cost=self._cost(grader, digests, n_calls),
        )

    def _askable(self, run_id: str) -> frozenset[str]:
        """Contents of a run's items that a model is asked about."""
        snapshot = self._snapshots[run_id]
        if snapshot not in self._digests:
            payload = self._store.load_set_snapshot(run_id)
            with self._store.damage_named(f"the set of run {run_id}"):
                items = load_set(payload).items
            self._digests[snapshot] = frozenset(item.digest for item in items if not is_service_message(item))
        return self._digests[snapshot]

    def _cost(self, grader: GraderRecord, digests: frozenset[str], n_calls: int) -> Cost | None:
        price = None if grader.price is None else Price(**grader.price)
        if price is None or price.input == price.output == 0:
            return None if price is None else Cost(0.0)
        if grader.grader_id not in self._usage:
            self._usage[grader.grader_id] = list(self._charged(grader.grader_id))
        charged = [
            cost(usage, price, batch=batch)
            for key, usage, batch in self._usage[grader.grader_id]
            if key.item_digest in digests and key.repeat < n_calls
        ]
        return Cost(math.fsum(one.amount for one in charged), all(one.complete for one in charged))

    def _charged(self, grader_id: str) -> Iterator[tuple[CompletionKey, Usage, bool]]:
        """What was paid for: completions, whether a batch job brought them, and failed calls with known tokens."""
        in_batch = batch_keys(self._store, grader_id)
        for key, completion in self._store.iter_completions(grader_id):
            yield key, completion.usage, key in in_batch
        for key, failure in self._store.iter_call_failures(grader_id):
            if failure.usage is not None:
                yield key, failure.usage, False
