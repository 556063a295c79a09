"""What a person has to mend in a grader.

    GraderError
    ├── PromptError             a prompt file is malformed, unknown, or not what its lock says
    ├── UnknownModelError       no provider serves that model name
    ├── MissingDependencyError  an optional package is not installed; the message names the command
    ├── WeightsError            a local model's weights could not be had, or are not the right ones
    └── RecordingError          a file of recorded completions is malformed

Every message has the form ``where: what, got; expected`` and fits one line. A reply that cannot be
used is not an error: it is a verdict with a failure.
"""

from __future__ import annotations

__all__ = [
    "GraderError",
    "MissingDependencyError",
    "PromptError",
    "RecordingError",
    "UnknownModelError",
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
