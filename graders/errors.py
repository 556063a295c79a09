"""What a person has to mend in a grader.

    GraderError
    ├── PromptError             a prompt file is malformed, unknown, or not what its lock says
    ├── UnknownModelError       no provider serves that model name
    ├── MissingDependencyError  an optional package is not installed; the message names the command
    ├── WeightsError            a local model's weights could not be had, or are not the right ones
    ├── RecordingError          a file of recorded completions is malformed
    ├── LedgerError             the capability ledger, or an override of it, is malformed
    ├── UnsupportedError        a model cannot do what its grader asks
    └── ServiceError            a service refuses to work on: key, quota, unknown model, or out of reach

Every message has the form ``where: what, got; expected`` and fits one line. A reply that cannot be
used is not an error: it is a verdict with a failure.
"""

from __future__ import annotations

__all__ = [
    "GraderError",
    "LedgerError",
    "MissingDependencyError",
    "PromptError",
    "RecordingError",
    "ServiceError",
    "UnknownModelError",
    "UnsupportedError",
    "WeightsError",
]


class GraderError(Exception):
    """Base of every error that this package raises on purpose."""


class PromptError(GraderError):
    """A grader prompt is malformed, unknown, or differs from what was published under its version."""


class UnknownModelError(GraderError):
    """No provider serves a model of that name."""


class MissingDependencyError(GraderError):
    """A provider's package is not installed; the message names the command that installs it."""


class WeightsError(GraderError):
    """The weights of a local model are missing, unreachable or not the expected ones."""


class RecordingError(GraderError):
    """A file of recorded completions is malformed; the message names file and line."""


class LedgerError(GraderError):
    """The capability ledger, or what an experiment says about a model, is malformed."""


class UnsupportedError(GraderError):
    """A model cannot do what its grader asks; the message has one line."""


class ServiceError(GraderError):
    """A service will not go on: wrong key, no quota, unknown model, out of reach. Its answers so far are kept."""
