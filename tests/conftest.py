"""Shared fixtures: where the real data lie, and the order of tests (fast ones first)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from graders.errors import WeightsError
from graders.providers.weights import ensure_weights

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def calibration_data() -> Path:
    """Folder of real human-labelled data; the test is skipped, and says so, where it is absent."""
    folder = Path(os.environ.get("AUTORATER_CALIBRATION_DATA", ROOT.parent / "shared" / "calibration_data"))
    if not (folder / "README.md").is_file():
        pytest.skip(
            f"SKIPPED, NOT PASSED: no calibration data at {folder}; set AUTORATER_CALIBRATION_DATA to its folder"
        )
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow tests last, in their own order."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


@pytest.fixture(scope="session")
def weights() -> Path:
    """Weights of the small local model, fetched once; skipped, and says so, where engine or weights are missing."""
    try:
        import xllamacpp  # noqa: F401
    except ImportError as error:
        pytest.skip(f"SKIPPED, NOT PASSED: the local engine is not installed ({error})")
    try:
        return ensure_weights("smollm2")
    except WeightsError as error:
        pytest.skip(f"SKIPPED, NOT PASSED: {error}")
