"""Data of strictly read files as pydantic models, with pydantic's complaints in our form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from calibration_sets.strict import kind_of, raise_problems, read_json_lines, shorten

__all__ = ["parse_model", "read_rows", "validate_row"]

ModelT = TypeVar("ModelT", bound=BaseModel)


def parse_model(model_type: type[ModelT], data: Mapping[str, Any], where: str, error_type: type[Exception]) -> ModelT:
    """Data of a file as a pydantic model, with pydantic's complaints in our form.

    ``where`` opens each message, such as ``items.jsonl:7``. Models should be strict and forbid
    extra keys; unknown and missing keys are then named together with what there is.
    """
    model, problems = validate_row(model_type, data, where)
    raise_problems(problems, error_type)
    assert model is not None
    return model


def read_rows(model_type: type[ModelT], path: Path, error_type: type[Exception]) -> list[tuple[int, ModelT]]:
    """The JSON objects of a file as models, each with its line number; all bad rows are reported together."""
    rows, problems = [], []
    for line in read_json_lines(path, error_type):
        model, complaints = validate_row(model_type, line.data, f"{path.name}:{line.line}")
        problems += complaints
        if model is not None:
            rows.append((line.line, model))
    raise_problems(problems, error_type)
    return rows


def validate_row(model_type: type[ModelT], data: Mapping[str, Any], where: str) -> tuple[ModelT | None, list[str]]:
    """The model, or ``None`` and at least one complaint that begins with ``where``."""
    try:
        return model_type.model_validate(data), []
    except ValidationError as error:
        details = error.errors(include_url=False)
        return None, [f"{where}: {_describe(detail, model_type, data)}" for detail in details]


def _describe(detail: ErrorDetails, model_type: type[BaseModel], data: Mapping[str, Any]) -> str:
    key = _key_path(detail["loc"])
    is_top = len(detail["loc"]) == 1
    if detail["type"] == "missing":
        found = f"; found {_listing(data)}" if is_top else ""
        return f"key {key!r} is missing{found}"
    if detail["type"] == "extra_forbidden":
        holder = _model_at(model_type, detail["loc"][:-1])
        known = f"; expected {_listing(_key_names(holder))}" if holder else ""
        return f"unknown key {key!r}{known}"
    wanted = _expectation(detail)
    prefix = f"{key}: " if key else ""
    if _is_unshown(detail["loc"], model_type):
        return f"{prefix}a value that is not shown; {wanted}"
    value = detail["input"]
    found = "null" if value is None else f"{kind_of(value)} {shorten(value)}"
    return f"{prefix}{found}; {wanted}"


def _is_unshown(location: tuple[int | str, ...], model_type: type[BaseModel]) -> bool:
    """Whether a value may be a secret that was put in the wrong place: its model says so under ``UNSHOWN``."""
    names = [place for place, part in enumerate(location) if isinstance(part, str)]
    if not names:
        return False
    holder = _model_at(model_type, location[: names[-1]])
    return location[names[-1]] in getattr(holder, "UNSHOWN", ())


def _key_path(location: tuple[int | str, ...]) -> str:
    path = ""
    for part in location:
        # A key that a table may not have is followed by a mark of pydantic's, which nobody wrote.
        if part != "[key]":
            path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def _model_at(model_type: type[BaseModel], location: Sequence[int | str]) -> type[BaseModel] | None:
    """The model that a key path leads to; ``None`` where the types leave more than one choice."""
    for part in location:
        if isinstance(part, int):
            continue
        fields = {field.alias or name: field for name, field in model_type.model_fields.items()}
        nested = _models_in(fields[part].annotation) if part in fields else []
        if len(nested) != 1:
            return None
        model_type = nested[0]
    return model_type


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if arguments := get_args(annotation):
        return [model for argument in arguments for model in _models_in(argument)]
    return [annotation] if isinstance(annotation, type) and issubclass(annotation, BaseModel) else []


def _key_names(model_type: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model_type.model_fields.items()]


def _listing(names: Mapping[str, Any] | Sequence[str]) -> str:
    return ", ".join(map(str, names)) or "no keys"


_EXPECTATIONS: Mapping[str, str] = {
    "string_type": "expected text",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "bool_type": "expected true or false",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "dict_type": "expected an object",
    "mapping_type": "expected an object",
    "model_type": "expected an object",
}


def _expectation(detail: ErrorDetails) -> str:
    message = detail["msg"]
    if detail["type"] == "value_error":
        return message.removeprefix("Value error, ")
    if detail["type"] in {"literal_error", "enum"}:
        return f"expected {detail.get('ctx', {}).get('expected', message)}"
    plain = re.sub(r"^\w+ should (?:be|have) | after validation, not \d+$", "", message)
    return _EXPECTATIONS.get(detail["type"]) or f"expected {plain[:1].lower()}{plain[1:]}"
