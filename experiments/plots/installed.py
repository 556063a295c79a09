"""Whether figures can be drawn here: their libraries are optional."""

from __future__ import annotations

from importlib.util import find_spec

from experiments.errors import ExperimentError

__all__ = ["check_plots_installed"]

_PACKAGES = {"altair": "altair", "vl_convert": "vl-convert-python"}


def check_plots_installed(where: str) -> None:
    """Raise ``ExperimentError``, which begins with ``where``, if a library that draws is missing."""
    missing = [package for module, package in _PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise ExperimentError(
            f"{where}: {', '.join(missing)} not installed; expected it for figures: "
            "pip install 'autorater-calibration[pages]'"
        )
