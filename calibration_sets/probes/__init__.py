"""Constructed responses whose label follows from how they were made."""

from __future__ import annotations

from calibration_sets.probes.builder import build_probes
from calibration_sets.probes.kinds import KINDS

__all__ = ["KINDS", "build_probes"]
