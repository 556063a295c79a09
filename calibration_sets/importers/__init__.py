"""Calibration sets and questions out of other people's files."""

from __future__ import annotations

from calibration_sets.importers.dataset_folder import read_dataset
from calibration_sets.importers.evouna import import_evouna
from calibration_sets.importers.imported import Imported, RecordedVerdict
from calibration_sets.importers.mapped_table import import_table, map_table
from calibration_sets.importers.nq301 import import_nq301
from calibration_sets.importers.saf import import_saf
from calibration_sets.importers.simpleqa import load_simpleqa
from calibration_sets.importers.simpleqa_verified import load_simpleqa_verified

__all__ = [
    "Imported",
    "RecordedVerdict",
    "import_evouna",
    "import_nq301",
    "import_saf",
    "import_table",
    "load_simpleqa",
    "load_simpleqa_verified",
    "map_table",
    "read_dataset",
]
