"""Claims on a real server: exclusive, given back when a worker is lost, and never good again after that."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import pytest
from postgres_server import PostgresServer
from service_runs import asked_of
from sqlalchemy import text

from experiments.errors import BudgetError
from experiments.running.claimed_requests import ClaimedRequests
from experiments.running.plan import pending_requests
from experiments.running.shared_budget import open_budget
from experiments.running.sharing import Sharing, WorkerTerms
from experiments.store.allowances import Spending, allot, sum_spending
from experiments.store.claims import Outcome, Share, Taken, settle, take
from experiments.store.run_store import RunStore
from experiments.store.work_sessions import Worker, beat, is_at_work, join, leave, note_paid, read_session
from experiments.store.worker_listing import list_holders, list_workers
from graders.capabilities import Capabilities, Price

pytestmark = pytest.mark.postgres

GRADER = "g" * 16
ITEMS = [f"item-{number:02}" for number in range(10)]


@pytest.fixture
def store(postgres: PostgresServer) -> Iterator[RunStore]:
    with RunStore(postgres.new_database()) as opened:
        yield opened


class Member:
    """A worker, as its process would act."""

    def __init__(self, store: RunStore, name: str, *, run: str = "run-1", lease: float = 60.0) -> None:
        self.store, self.worker = store, Worker(f"{run} {name}", run, name, "here", 7, lease)
        self.session = ""

    def join(self, max_cost: float | None = None, *, resumes: bool = False) -> Member:
        new = f"session of {self.worker.worker_id} {time.monotonic_ns()}"
        found = join(self.store, self.worker, new_session=new, max_cost=max_cost, resumes=resumes)
        assert found is not None
        self.session = found.session_id
        return self

    def take(self, digests: Sequence[str] = ITEMS) -> Taken | None:
        return take(self.store, self.worker, self.session, GRADER, digests, patient=True)

    def mine(self, digests: Sequence[str] = ITEMS) -> set[str]:
        taken = self.take(digests)
        assert taken is not None
        return set(taken.mine)

    def settle(self, **ends: Sequence[str]) -> None:
        settle(self.store, self.worker, self.session, GRADER, Outcome(**ends), Share(1, 2))

    def allot(self, spent: float, reserved: float, more: float, *, ahead: float = 0.0) -> tuple[float, bool]:
        own = Spending(spent, 0.0, reserved)
        given = allot(self.store, self.session, self.worker.worker_id, own, more=more, ahead=ahead, patient=True)
        return given.allotted, given.may_grow


def test_what_one_has_claimed_nobody_else_gets(store: RunStore) -> None:
    first, second = Member(store, "a").join(), Member(store, "b").join()
    assert first.session == second.session
    assert first.mine(ITEMS[:4]) == set(ITEMS[:4])
    assert second.mine(ITEMS[2:6]) == set(ITEMS[4:6])
    assert first.mine(ITEMS[:4]) == set(ITEMS[:4]), "its own claims count again: a transaction may be repeated"


def test_another_run_with_the_same_grader_does_not_get_them_either(store: RunStore) -> None:
    first, second = Member(store, "a").join(), Member(store, "a", run="run-2").join()
    assert first.session != second.session
    assert first.mine(ITEMS[:4]) == set(ITEMS[:4])
    assert second.mine() == set(ITEMS[4:])


def test_many_at_once_share_without_overlap_and_without_waiting_for_each_other(store: RunStore) -> None:
    members = [Member(store, str(number)).join() for number in range(8)]
    many = [f"many-{number:04}" for number in range(400)]
    got: dict[int, list[str]] = {number: [] for number in range(8)}

    def claim(number: int) -> None:
        for first in range(0, 400, 20):
            got[number] += members[number].mine(many[first : first + 20])

    threads = [threading.Thread(target=claim, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(chain.from_iterable(got.values())) == many


def test_a_worker_that_leaves_gives_back_at_once(store: RunStore) -> None:
    first, second = Member(store, "a").join(), Member(store, "b").join()
    first.mine()
    assert second.mine() == set()
    leave(store, first.worker.worker_id)
    assert second.mine() == set(ITEMS)


def test_a_worker_that_is_not_heard_of_loses_its_claims_and_what_it_does_later_ends_none(store: RunStore) -> None:
    frozen, other = Member(store, "a", lease=0.3).join(), Member(store, "b").join()
    assert frozen.mine(ITEMS[:3]) == set(ITEMS[:3])
    time.sleep(0.4)
    assert other.mine() == set(ITEMS)
    assert not store.write(lambda connection: beat(connection, frozen.worker))
    assert frozen.take(ITEMS) is None, "who was lost joins again before it claims"
    frozen.settle(done=ITEMS[:1], failed=ITEMS[1:2], given_back=ITEMS[2:3])
    assert other.mine() == set(ITEMS), "the late worker ended no claim of the other"
    frozen.join()
    assert frozen.session == other.session
    assert frozen.mine() == set()
    other.settle(given_back=ITEMS[:2])
    assert frozen.mine() == set(ITEMS[:2])


def test_a_worker_that_is_late_but_was_not_taken_for_lost_goes_on(store: RunStore) -> None:
    late = Member(store, "a", lease=0.2).join()
    late.mine()
    time.sleep(0.3)
    assert not is_at_work(store, "run-1")
    assert store.write(lambda connection: beat(connection, late.worker))
    assert is_at_work(store, "run-1")
    assert late.mine() == set(ITEMS)


def test_signs_of_life_keep_claims(store: RunStore) -> None:
    alive, other = Member(store, "a", lease=0.5).join(), Member(store, "b").join()
    alive.mine()
    for _ in range(5):
        time.sleep(0.15)
        assert store.write(lambda connection: beat(connection, alive.worker))
        assert other.mine() == set()


def test_what_failed_is_asked_again_in_the_next_session_and_not_before(store: RunStore) -> None:
    first, second = Member(store, "a").join(), Member(store, "b").join()
    first.mine(ITEMS[:3])
    first.settle(done=ITEMS[:1], failed=ITEMS[1:2], given_back=ITEMS[2:3])
    taken = second.take(ITEMS[:3])
    assert taken == Taken(frozenset({ITEMS[0], ITEMS[2]}), frozenset({ITEMS[1]}))
    leave(store, first.worker.worker_id)
    assert ITEMS[1] not in second.mine(), "the session lasts as long as anybody is at it"
    leave(store, second.worker.worker_id)
    assert Member(store, "c").join().mine() == set(ITEMS)


def test_workers_are_listed_with_what_they_have(store: RunStore) -> None:
    first, second = Member(store, "a").join(), Member(store, "b", lease=0.2).join()
    first.mine(ITEMS[:3])
    first.settle(done=ITEMS[:1])
    time.sleep(0.3)
    listed = list_workers(store, "run-1")
    assert listed is not None
    assert [(one.name, one.status) for one in listed] == [("a", "at work"), ("b", "silent")]
    assert (listed[0].n_claimed, listed[0].n_delivered, listed[0].n_failed) == ({GRADER: 2}, {GRADER: 1}, {GRADER: 2})
    assert listed[1].seconds_silent >= 0.3
    first.mine()
    leave(store, first.worker.worker_id)
    assert [one.status for one in list_workers(store, "run-1") or ()] == ["ended", "lost"]
    assert list_workers(store, "run-2") == ()
    assert second.worker.name == "b"


def test_dollars_are_set_aside_for_all_workers_together(store: RunStore) -> None:
    first, second = Member(store, "a").join(1.0), Member(store, "b").join()
    assert first.allot(0.0, 0.0, 0.1) == (0.0, True), "nobody spends before what was paid is counted"
    note_paid(store, first.session, paid=0.3, uncertain=0.1)
    note_paid(store, first.session, paid=0.0, uncertain=0.0)
    assert read_session(store, first.session).paid_before == 0.3, "it is counted once"
    assert first.allot(0.0, 0.0, 0.4) == (0.4, False)
    assert second.allot(0.0, 0.0, 0.3) == (0.0, True), "0.6 of 0.6 would be passed, but the first may give back"
    assert second.allot(0.0, 0.0, 0.2) == (pytest.approx(0.2), True)
    assert first.allot(0.25, 0.0, 0.0) == (0.25, True), "what was set aside and not spent is free"
    assert second.allot(0.2, 0.0, 0.1) == (pytest.approx(0.3), False)
    assert sum_spending(store, first.session).spent == pytest.approx(0.3 + 0.25 + 0.2)


def test_what_a_lost_worker_had_set_aside_may_have_been_spent(store: RunStore) -> None:
    lost, other = Member(store, "a", lease=0.2).join(1.0), Member(store, "b").join()
    note_paid(store, lost.session, paid=0.0, uncertain=0.0)
    assert lost.allot(0.0, 0.0, 0.7) == (0.7, False)
    time.sleep(0.3)
    other.mine()
    assert other.allot(0.0, 0.0, 0.4) == (0.0, False)
    assert other.allot(0.0, 0.0, 0.3) == (pytest.approx(0.3), False)


def test_plenty_is_set_aside_ahead_and_scarcity_is_not(store: RunStore) -> None:
    first = Member(store, "a").join(1.0)
    note_paid(store, first.session, paid=0.0, uncertain=0.0)
    assert first.allot(0.0, 0.0, 0.1, ahead=0.2)[0] == pytest.approx(0.3)
    assert first.allot(0.0, 0.0, 0.1, ahead=0.8)[0] == pytest.approx(0.5), "no more than half of what there is"
    assert first.allot(0.6, 0.0, 0.4, ahead=0.4)[0] == pytest.approx(1.0)


def test_a_limit_comes_with_the_first_worker_and_the_newest_one_holds(store: RunStore) -> None:
    unlimited = Member(store, "a").join()
    with pytest.raises(BudgetError, match="workers are at it without a limit"):
        Member(store, "b").join(1.0)
    leave(store, unlimited.worker.worker_id)
    limited = Member(store, "c").join(1.0)
    Member(store, "d").join(2.0)
    Member(store, "e").join()
    assert read_session(store, limited.session).max_cost == 2.0


def test_a_worker_that_begins_again_has_the_limit_and_the_account_of_before(store: RunStore) -> None:
    first = Member(store, "a").join(1.0)
    note_paid(store, first.session, paid=0.5, uncertain=0.0)
    first.mine(ITEMS[:1])
    first.settle(failed=ITEMS[:1])
    assert first.allot(0.3, 0.0, 0.0) == (0.3, False)
    leave(store, first.worker.worker_id)
    again = Member(store, "b").join(resumes=True)
    assert again.session == first.session
    assert again.allot(0.0, 0.0, 0.3) == (0.0, False), "0.8 of 1.0 are spent"
    assert again.allot(0.0, 0.0, 0.2) == (pytest.approx(0.2), False)
    assert again.mine(ITEMS[:1]) == set(ITEMS[:1]), "what failed for good before is asked again"
    leave(store, again.worker.worker_id)
    raised = Member(store, "c").join(2.0, resumes=True)
    assert (raised.session, read_session(store, first.session).max_cost) == (first.session, 2.0)
    leave(store, raised.worker.worker_id)
    free = Member(store, "d").join()
    assert read_session(store, free.session).max_cost is None, "who begins a run anew says whether there is a limit"
    leave(store, free.worker.worker_id)
    assert read_session(store, Member(store, "e").join(resumes=True).session).max_cost is None


def test_a_worker_that_counts_goes_on_where_the_limit_is_gone_meanwhile(store: RunStore) -> None:
    member = Member(store, "a").join()
    assert member.allot(0.5, 0.1, 0.2, ahead=0.4) == (pytest.approx(1.2), False)


def test_a_worker_that_does_not_count_stops_where_there_is_a_limit_since_it_was_lost(store: RunStore) -> None:
    terms = WorkerTerms("run-1", lease_seconds=60.0)
    with Sharing(store, terms, max_cost=None, waits_for_limit=lambda: None) as frozen:
        # As another worker would note it, after a whole lease of silence, before it leaves; then somebody sets a limit.
        store.write(lambda connection: connection.execute(text("UPDATE workers SET lost_at = 1, expires_at = 1")))
        Member(store, "b").join(1.0)
        with pytest.raises(BudgetError, match="--max-cost: run-1: it has a limit since this worker was not heard of"):
            frozen.take(GRADER, ITEMS, patient=True)
        (state,) = (one for one in list_workers(store, "run-1") or () if one.name == terms.name)
        assert not state.n_claimed


def test_who_does_not_know_all_graders_cannot_count_what_was_paid(store: RunStore) -> None:
    asked = asked_of("http://127.0.0.1:1")
    (grader,) = asked.graders
    priced = replace(asked, graders=(replace(grader, capabilities=Capabilities(price=Price(1.0, 1.0))),))
    terms = WorkerTerms("run-1", has_all_graders=False)
    with (
        Sharing(store, terms, max_cost=1.0, waits_for_limit=lambda: None) as sharing,
        pytest.raises(BudgetError, match="left to others is not counted here"),
    ):
        open_budget(sharing, priced, 1.0, None)
    terms = replace(terms, has_all_graders=True)
    with Sharing(store, terms, max_cost=1.0, waits_for_limit=lambda: None) as sharing:
        assert open_budget(sharing, priced, 1.0, None) is not None
        # One that comes to them later may be of some graders alone: it is counted by then.
        some = replace(terms, has_all_graders=False)
        with Sharing(store, some, max_cost=2.0, waits_for_limit=lambda: None) as later:
            assert open_budget(later, priced, 2.0, None) is not None


def test_who_has_claims_is_told_with_the_run_where_it_is_another(store: RunStore) -> None:
    first, second = Member(store, "a").join(), Member(store, "b", run="run-2").join()
    assert list_holders(store, [GRADER], first.worker) == []
    first.mine(ITEMS[:1])
    second.mine(ITEMS[1:])
    assert list_holders(store, [GRADER], first.worker) == ["b (of run run-2)"]
    assert list_holders(store, [GRADER], Member(store, "c").worker) == ["a", "b (of run run-2)"]
    assert list_holders(store, ["another"], first.worker) == []


def test_requests_that_others_have_are_counted_as_theirs(store: RunStore) -> None:
    asked = asked_of("http://127.0.0.1:1")
    (grader,) = asked.graders
    requests = list(pending_requests(asked, grader, store))
    with Sharing(store, WorkerTerms("run-1"), max_cost=None, waits_for_limit=lambda: None) as sharing:
        other = Member(store, "b").join()
        theirs = [request.item.digest for request in requests[:20]]
        assert take(store, other.worker, other.session, grader.grader_id, theirs, patient=True) is not None
        claimed = ClaimedRequests(iter(requests), grader, sharing)
        assert len(list(claimed)) == len(requests) - 20
        assert (claimed.pop_elsewhere(), claimed.pop_elsewhere()) == (20, 0)
        assert claimed.try_again() == 0
        leave(store, other.worker.worker_id)
        assert claimed.try_again() == 20
        assert len(list(claimed)) == 20
        assert claimed.pop_elsewhere() == 0


def test_two_runs_with_limits_do_not_work_at_the_same_time(store: RunStore) -> None:
    first = Member(store, "a").join(1.0)
    other = Member(store, "a", run="run-2")
    assert join(store, other.worker, new_session="s", max_cost=1.0) is None
    assert other.join().session, "one without a limit may"
    leave(store, other.worker.worker_id)
    leave(store, first.worker.worker_id)
    assert other.join(1.0).session
