"""A plan for people: rows, costs and notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.running.plan import build_plan
from experiments.running.plan_listing import describe_plan, estimate_cost
from experiments.specs.experiment import Experiment, load_experiment
from graders.ledger import ledger_date
from graders.support import require_support

PRICED = "capabilities = { price = { input = 1.0, output = 2.0, batch = 0.5 } }"


@pytest.fixture(scope="module")
def twelve() -> Experiment:
    return load_experiment("twelve_models")


def load(tmp_path: Path, lines: str) -> Experiment:
    path = tmp_path / "e.toml"
    path.write_text(
        f'name = "e"\nset = "probes"\n[items]\nsample = 5\n[[graders]]\nprompt = "simpleqa_verified"\n{lines}\n',
        encoding="utf-8",
    )
    return load_experiment(str(path))


def listing(experiment: Experiment, *, batch: bool = False) -> str:
    return describe_plan(experiment, build_plan(experiment, None), None, batch=batch)


def test_the_shipped_twelve_are_pinned_priced_and_can_run(twelve: Experiment) -> None:
    assert len(twelve.graders) == 12
    assert all(grader.capabilities.pinned and grader.capabilities.price for grader in twelve.graders)
    assert {grader.model.partition("/")[0] for grader in twelve.graders} == {"openai", "anthropic"}
    require_support(twelve.graders)


def test_every_grader_has_a_row_and_the_total_is_their_sum(twelve: Experiment) -> None:
    text = listing(twelve)
    costs = [estimate_cost(twelve, grader, None, batch=False) for grader in twelve.graders]
    assert all(0 < each.expected.amount <= each.most.amount and each.most.complete for each in costs)
    assert all(text.count(grader.model) >= 1 for grader in twelve.graders)
    total = sum(each.expected.amount for each in costs)
    assert f"expected ${total:,.2f}" in text
    assert "not pinned" not in text
    assert "temperature 2 asked, none accepted: left to the service" in text


def test_batch_jobs_are_told_at_their_price(tmp_path: Path) -> None:
    experiment = load(tmp_path, f'model = "openai/gpt-99"\n{PRICED}\non_unsupported = "provider-default"')
    live, batch = (estimate_cost(experiment, experiment.graders[0], None, batch=each) for each in (False, True))
    assert batch.expected.amount == pytest.approx(live.expected.amount / 2)
    assert "cost at batch prices" in listing(experiment, batch=True)


def test_prices_are_those_of_who_gave_them(tmp_path: Path) -> None:
    own = f'model = "openai/gpt-99"\n{PRICED}\non_unsupported = "provider-default"'
    listed = 'model = "openai/gpt-4.1"'
    both = f'{own}\n[[graders]]\nprompt = "simpleqa_verified"\n{listed}'
    ledger = f"the ledger of {ledger_date().isoformat()}"
    told = {lines: listing(load(tmp_path, lines)) for lines in (own, listed, both)}
    assert ", prices of the experiment, without" in told[own]
    assert f", prices of {ledger}, without" in told[listed]
    assert f", prices of the experiment and of {ledger}, without" in told[both]


def test_a_free_model_that_runs_here_has_no_say_in_whose_prices_they_are(tmp_path: Path) -> None:
    own = f'model = "openai/gpt-99"\n{PRICED}\non_unsupported = "provider-default"'
    experiment = load(tmp_path, f'{own}\n[[graders]]\nmodel = "baseline/lexical"')
    assert ", prices of the experiment, without" in listing(experiment)


def test_an_unknown_price_is_no_free_lunch(tmp_path: Path) -> None:
    text = listing(load(tmp_path, 'model = "openai/gpt-99"\non_unsupported = "provider-default"'))
    assert "unknown" in text
    assert "cost: not known" in text
    assert "not in the ledger" in text


def test_a_plan_without_services_speaks_of_no_money() -> None:
    text = listing(load_experiment("quickstart", limit=3))
    assert "$" not in text
    assert "expected" not in text
