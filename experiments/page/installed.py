"""Whether the page can be made here: its libraries are optional."""

from __future__ import annotations

from importlib.util import find_spec

from experiments.errors import ExperimentError

__all__ = ["check_page_installed"]

_PACKAGES = {"altair": "altair", "jinja2": "jinja2", "vl_convert": "vl-convert-python"}


def check_page_installed(asked: str = "--format html") -> None:
    """Raise ``ExperimentError`` if a library that the page is made with is missing; ``asked`` begins it."""
    missing = [package for module, package in _PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise ExperimentError(
            f"{asked}: {', '.join(missing)} not installed; expected what the page is made with: "
            'pip install "autorater-calibration[pages]"'
        )
