"""What people said: items, their labels, label scales, references and their ranges, and sets of them."""

from __future__ import annotations

from calibration_sets.calibration_set import CalibrationSet, Consensus, strict_majority
from calibration_sets.errors import CalibrationSetError, SetFileError, SetNotFoundError, SourceError
from calibration_sets.item import HumanLabel, Item
from calibration_sets.loader import list_shipped_sets, load_set
from calibration_sets.question import Question
from calibration_sets.references.range_check import RangeCheck, check_range
from calibration_sets.references.reference import AcceptableRange, Reference
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import BINARY, SIMPLEQA, LabelScale

__all__ = [
    "BINARY",
    "SIMPLEQA",
    "AcceptableRange",
    "CalibrationSet",
    "CalibrationSetError",
    "Consensus",
    "HumanLabel",
    "Item",
    "LabelScale",
    "Question",
    "RangeCheck",
    "Reference",
    "SetFileError",
    "SetNotFoundError",
    "SourceError",
    "check_range",
    "list_shipped_sets",
    "load_set",
    "parse_reference",
    "strict_majority",
]
