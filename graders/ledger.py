"""The ledger of what models can be asked for and what they cost: ``models.toml``, dated, with sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from importlib import resources
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from calibration_sets.strict import read_toml
from calibration_sets.strict_models import parse_model
from graders.capabilities import Api, Capabilities, Price, TokenLimit
from graders.errors import LedgerError

__all__ = ["LedgerEntry", "apply_overrides", "find_model", "ledger_date", "list_entries"]

_FILE = "models.toml"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What the ledger says of one model.

    ``known`` is false where it has no entry and its service's cautious defaults stand in. ``read``
    is when ``source`` was read; ``ends`` when the service stops serving the model, if announced;
    ``snapshots`` are names of unchanging versions.
    """

    name: str
    capabilities: Capabilities
    source: str
    read: date
    known: bool = True
    note: str = ""
    ends: date | None = None
    snapshots: tuple[str, ...] = ()


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _PriceRecord(_Strict):
    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cached_input: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    cache_write: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    batch: float = Field(default=1.0, ge=0, le=1)


class _CapabilityRecord(_Strict):
    """The fields of `Capabilities`, all optional; ``false`` stands for what a model does not take."""

    api: Api | None = None
    temperature: list[float] | Literal[False] | None = None
    zero_temperature: bool | None = None
    max_choices: int | None = Field(default=None, ge=1)
    top_logprobs: int | None = Field(default=None, ge=0)
    label_logprobs: bool | None = None
    json_schema: bool | None = None
    tool_call: bool | None = None
    choice: bool | None = None
    seed: bool | None = None
    completions: bool | None = None
    efforts: list[str] | None = None
    sampling_efforts: list[str] | None = None
    token_limit: TokenLimit | None = None
    default_max_tokens: int | None = Field(default=None, ge=1)
    batch: bool | None = None
    context_tokens: int | None = Field(default=None, ge=1)
    pinned: bool | None = None
    price: _PriceRecord | None = None


class _ServiceRecord(_CapabilityRecord):
    like: str | None = None
    source: str = Field(min_length=1)
    read: date
    note: str = ""


class _ModelRecord(_ServiceRecord):
    name: str = Field(min_length=3)
    snapshots: list[str] = Field(default_factory=list)
    ends: date | None = None


class _LedgerRecord(_Strict):
    as_of: date
    families: dict[str, _CapabilityRecord]
    services: dict[str, _ServiceRecord]
    models: list[_ModelRecord]


def find_model(model: str) -> LedgerEntry:
    """The entry of a model, by its name or one of its snapshots; else what is assumed of its service.

    Parameters
    ----------
    model
        ``provider/name``.

    Raises
    ------
    LedgerError
        If there is no such service, or the ledger is malformed.
    """
    entry = _entries().get(model)
    if entry is not None:
        return entry
    service = _read().services.get(model.partition("/")[0])
    if service is None:
        raise LedgerError(f"model: {model!r}; expected one of the services {list(_read().services)}")
    free = service.price is not None and service.price.input == 0
    note = service.note or ("" if free else "not in the ledger")
    return LedgerEntry(model, _capabilities(service), service.source, service.read, known=free, note=note)


def list_entries() -> tuple[LedgerEntry, ...]:
    """The entries of all models, in the ledger's order, without their snapshots."""
    return tuple(_entries()[record.name] for record in _read().models)


def ledger_date() -> date:
    """When the ledger was last gone through."""
    return _read().as_of


def apply_overrides(capabilities: Capabilities, overrides: Mapping[str, Any], where: str) -> Capabilities:
    """Capabilities with what an experiment says about its model.

    Raises
    ------
    LedgerError
        If a key is unknown or a value is of another kind.
    """
    if not overrides:
        return capabilities
    record = parse_model(_CapabilityRecord, dict(overrides), where, LedgerError)
    return replace(capabilities, **_fields(record, where))


@cache
def _read() -> _LedgerRecord:
    with resources.as_file(resources.files("graders") / _FILE) as path:
        return parse_model(_LedgerRecord, read_toml(path, LedgerError), _FILE, LedgerError)


@cache
def _entries() -> Mapping[str, LedgerEntry]:
    entries: dict[str, LedgerEntry] = {}
    for record in _read().models:
        entry = LedgerEntry(
            name=record.name,
            capabilities=_capabilities(record),
            source=record.source,
            read=record.read,
            note=record.note,
            ends=record.ends,
            snapshots=tuple(record.snapshots),
        )
        service = record.name.partition("/")[0]
        pinned = replace(entry.capabilities, pinned=True)
        named = {
            f"{service}/{name}": replace(entry, name=f"{service}/{name}", capabilities=pinned)
            for name in record.snapshots
        }
        entries |= {record.name: entry, **named}
    return entries


def _capabilities(record: _ServiceRecord) -> Capabilities:
    """A record over its family over what is assumed of any model; a name is no version unless said so."""
    families = _read().families
    if record.like is not None and record.like not in families:
        raise LedgerError(f"{_FILE}: like = {record.like!r}; expected one of {list(families)}")
    shared = _fields(families[record.like], _FILE) if record.like is not None else {}
    own = _fields(record, _FILE)
    return replace(Capabilities(pinned=False), **{**shared, **own})


def _fields(record: _CapabilityRecord, where: str) -> dict[str, Any]:
    """What a record sets, as the fields of `Capabilities`."""
    names = _CapabilityRecord.model_fields
    given = {name: getattr(record, name) for name in names if name in record.model_fields_set}
    if "temperature" in given:
        given["temperature"] = _temperature(given["temperature"], where)
    for name in ("efforts", "sampling_efforts"):
        if name in given:
            given[name] = tuple(given[name] or ())
    if record.price is not None:
        given["price"] = Price(**record.price.model_dump())
    return given


def _temperature(value: list[float] | Literal[False] | None, where: str) -> tuple[float, float] | None:
    if not value:
        return None
    if len(value) != 2 or not 0 <= value[0] <= value[1]:
        raise LedgerError(f"{where}.temperature: {value}; expected [lowest, highest] or false")
    return float(value[0]), float(value[1])
