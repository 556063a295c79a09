"""Answers to questions that ask for a quantity."""

from __future__ import annotations

from decimal import InvalidOperation

from calibration_sets.probes.last_figure import agrees_to_last_figure
from calibration_sets.probes.measurement import Measurement
from calibration_sets.probes.measurements import MEASUREMENTS
from calibration_sets.probes.probe import CORRECT, INCORRECT, NOT_ATTEMPTED, Probe

__all__ = ["quantities_told"]


def quantities_told() -> list[Probe]:
    """Probes of the kinds range_bound, range_step_past, number_words, units and vague_number."""
    return [
        *_bounds(),
        *_steps_past(),
        *(_whole("number_words", m, m.in_words, CORRECT) for m in MEASUREMENTS if m.in_words),
        *(_whole("number_words", m, m.wrong_words, INCORRECT) for m in MEASUREMENTS if m.wrong_words),
        *(_whole("units", m, m.in_other_units, CORRECT) for m in MEASUREMENTS if m.in_other_units),
        *(_whole("units", m, m.wrong_units, INCORRECT) for m in MEASUREMENTS if m.wrong_units),
        *(Probe("vague_number", m.question, m.vague, NOT_ATTEMPTED, NOT_ATTEMPTED) for m in MEASUREMENTS if m.vague),
    ]


def _bounds() -> list[Probe]:
    told = [(m, value) for m in MEASUREMENTS for value in (m.low, m.high)]
    return [_told("range_bound", m, value, CORRECT, turn) for turn, (m, value) in enumerate(told)]


def _steps_past() -> list[Probe]:
    told = [(m, value) for m in MEASUREMENTS for value in (m.below, m.above)]
    return [_told("range_step_past", m, value, INCORRECT, turn) for turn, (m, value) in enumerate(told)]


def _told(kind: str, measurement: Measurement, value: str, label: str, turn: int) -> Probe:
    forms = (
        measurement.with_unit(value),
        measurement.state(value),
        value,
        f"The answer is {measurement.with_unit(value)}.",
    )
    return Probe(kind, measurement.question, forms[turn % 4], label, _first_label(measurement.target, value))


def _first_label(target: str, value: str) -> str | None:
    """The label under the first rubric; none for clock times, which have no last significant figure."""
    try:
        agrees = agrees_to_last_figure(target, value)
    except InvalidOperation:
        return None
    return None if agrees is None else CORRECT if agrees else INCORRECT


def _whole(kind: str, measurement: Measurement, response: str, label: str) -> Probe:
    """A response that is the target, or far from it, so that both rubrics agree."""
    return Probe(kind, measurement.question, f"{response[0].upper()}{response[1:]}.", label, label)
