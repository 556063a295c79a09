"""What a person has to mend in an experiment.

    ExperimentError
    ├── SpecError       an experiment file is malformed or asks for what cannot be
    ├── StoreError      the store cannot be opened, or is not one
    │   └── UnsavedError  its server stays away; what was paid for is kept in a file that the message names
    ├── RunNotFoundError  no run of that name in the store
    ├── ImportFileError a file of a grader's verdicts is malformed
    ├── ExportError     a folder is no export of a run, or not a whole one, or cannot be written
    ├── ReviewError     no review of that name, or something that it does not allow
    └── BudgetError     the limit of a run's cost is reached, or cannot be kept

Every message has the form ``where: what, got; expected`` and fits one line.
"""

from __future__ import annotations

__all__ = [
    "BudgetError",
    "ExperimentError",
    "ExportError",
    "ImportFileError",
    "ReviewError",
    "RunNotFoundError",
    "SpecError",
    "StoreError",
    "UnsavedError",
]


class ExperimentError(Exception):
    """Base of every error that this package raises on purpose."""


class SpecError(ExperimentError):
    """An experiment file is malformed; the message names the key."""


class StoreError(ExperimentError):
    """The store cannot be opened, or is not one of ours."""


class UnsavedError(StoreError):
    """A store's server stays away; what was paid for is kept in a file that the message names."""


class RunNotFoundError(ExperimentError):
    """The store has no run of that name."""


class ImportFileError(ExperimentError):
    """A file of a grader's verdicts is malformed; the message names file and line."""


class ExportError(ExperimentError):
    """A folder is no export of a run, or not a whole one, or cannot be written; the message names the file."""


class ReviewError(ExperimentError):
    """A label store has no review of that name, or a label or undoing is none that the review allows."""


class BudgetError(ExperimentError):
    """No more may be asked for within the limit of a run's cost, or a price is missing. What is stored stays."""
