"""What a person has to mend in a calibration set.

    CalibrationSetError
    ├── SetFileError        a file of a set, or an imported table, is not what it should be
    ├── SetNotFoundError    no set of that name or at that path
    └── SourceError         public data could not be fetched, or is not the data it should be

Every message has the form ``where: what, got; expected`` and fits one line.
"""

from __future__ import annotations

__all__ = ["CalibrationSetError", "SetFileError", "SetNotFoundError", "SourceError"]


class CalibrationSetError(Exception):
    """Base of every error that this package raises on purpose."""


class SetFileError(CalibrationSetError):
    """A file is malformed; the message begins with its name and, where there is one, the line."""


class SetNotFoundError(CalibrationSetError):
    """There is no shipped set of that name and no folder at that path."""


class SourceError(CalibrationSetError):
    """Public data could not be had, or its hash is not the published one."""
