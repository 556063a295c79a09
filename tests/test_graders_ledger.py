"""The ledger: every entry dated, sourced and consistent; overrides checked."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import date
from pathlib import Path

import pytest

from graders.capabilities import Capabilities, Price
from graders.errors import LedgerError
from graders.ledger import LedgerEntry, apply_overrides, find_model, ledger_date, list_entries

DATED = re.compile(r"-20\d\d-?\d\d-?\d\d$")
PAGE = Path(__file__).resolve().parent.parent / "docs" / "models.md"


@pytest.mark.parametrize("entry", list_entries(), ids=lambda entry: entry.name)
def test_an_entry_is_sourced_dated_and_consistent(entry: LedgerEntry) -> None:
    able, price = entry.capabilities, entry.capabilities.price
    assert entry.known
    assert entry.source.startswith("https://")
    assert date(2025, 1, 1) < entry.read <= ledger_date()
    assert price is not None
    assert 0 < price.input < price.output
    assert price.cached_input is None or price.cached_input <= price.input
    assert price.cache_write is None or price.cache_write >= price.input
    assert set(able.sampling_efforts or ()) <= set(able.efforts)
    assert able.pinned in (True, False)
    for name in entry.snapshots:
        snapshot = find_model(f"{entry.name.partition('/')[0]}/{name}")
        assert DATED.search(name)
        assert snapshot.capabilities.pinned is True
        assert snapshot.capabilities.price == price


def test_names_are_unique_and_a_dozen_can_be_pinned() -> None:
    names = [entry.name for entry in list_entries()]
    assert len(names) == len(set(names))
    assert sum(bool(entry.snapshots) or entry.capabilities.pinned is True for entry in list_entries()) >= 12


def test_a_dated_name_is_pinned() -> None:
    assert all(entry.capabilities.pinned for entry in list_entries() if DATED.search(entry.name))
    assert find_model("openai/gpt-4.1").capabilities.pinned is False


def test_an_unlisted_model_has_its_services_defaults_and_no_price() -> None:
    entry = find_model("openai/gpt-99")
    assert (entry.known, entry.capabilities.price, entry.capabilities.temperature) == (False, None, None)
    assert find_model("vllm-server/any").capabilities.price == Price(0.0, 0.0)


@pytest.mark.parametrize("model", ["", "nobody/x", "OpenAI/gpt-4.1"])
def test_another_service_is_an_error_that_lists_them(model: str) -> None:
    with pytest.raises(LedgerError, match=r"expected one of the services .*anthropic"):
        find_model(model)


def test_overrides_replace_what_they_name_alone() -> None:
    known = find_model("openai/gpt-4.1").capabilities
    changed = apply_overrides(known, {"temperature": [0.0, 1.0], "price": {"input": 1.0, "output": 2.0}}, "here")
    assert (changed.temperature, changed.price) == ((0.0, 1.0), Price(1.0, 2.0))
    assert changed.max_choices == known.max_choices
    assert apply_overrides(known, {"temperature": False}, "here").temperature is None
    assert apply_overrides(known, {}, "here") is known


@pytest.mark.parametrize(
    "overrides",
    [
        {"temprature": [0, 1]},
        {"temperature": [1.0, 0.5]},
        {"temperature": [0.5]},
        {"temperature": True},
        {"temperature": [-1.0, 1.0]},
        {"temperature": [float("nan"), 1.0]},
        {"max_choices": 0},
        {"max_choices": "8"},
        {"top_logprobs": -1},
        {"seed": "yes"},
        {"efforts": "low"},
        {"token_limit": "limit"},
        {"price": {"input": -1.0, "output": 2.0}},
        {"price": {"input": 1.0}},
        {"price": {"input": 1.0, "output": float("inf")}},
        {"price": 3.0},
        {"price": {"input": 1.0, "output": 1.0, "batch": 2.0}},
    ],
)
def test_a_wrong_override_names_its_place_in_the_first_line(overrides: dict[str, object]) -> None:
    with pytest.raises(LedgerError) as caught:
        apply_overrides(Capabilities(), overrides, "x.toml: graders[0].capabilities")
    first = str(caught.value).partition("\n")[0]
    assert first.startswith("x.toml: graders[0].capabilities")
    assert next(iter(overrides)) in first


def test_the_page_names_every_key_that_may_be_overridden() -> None:
    text = PAGE.read_text(encoding="utf-8")
    names = [field.name for field in (*fields(Capabilities), *fields(Price))]
    assert [name for name in names if f"`{name}`" not in text] == []
