"""Stopping a run from outside: first in good order, then at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Self

__all__ = ["RunControl"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_FIRST = "stopping: waiting for the answers that are under way (Ctrl-C again stops at once)\n"


def _tell_stderr(message: str) -> None:
    # Not through Python's buffers: the signal may have come in the middle of writing to them.
    with suppress(OSError):
        os.write(2, message.encode())


class RunControl:
    """Whether a run is to go on; to be used as a context manager while it asks its models.

    The first Ctrl-C (SIGINT) or SIGTERM asks the run to stop in good order: it gives out no more
    requests, and what is under way is stored. The second raises ``KeyboardInterrupt`` on the spot.
    Signals are only looked after in the main thread, and only those that were not ignored before;
    afterwards everything is as it was.

    Parameters
    ----------
    tell
        Called inside the signal handler with one line for the person who waits; standard error by default.
    """

    def __init__(self, tell: Callable[[str], None] = _tell_stderr) -> None:
        self._tell = tell
        self._stopping = False
        self._before: dict[signal.Signals, Any] = {}
        self.on_stop: Callable[[], None] | None = None
        """Called once when the run is asked to stop, perhaps inside a signal handler."""

    @property
    def stopping(self) -> bool:
        """Whether the run has been asked to stop."""
        return self._stopping

    def stop(self) -> None:
        """Ask the run to stop in good order, or, asked a second time, at once.

        Raises
        ------
        KeyboardInterrupt
            If it was asked before.
        """
        if self._stopping:
            raise KeyboardInterrupt
        self._stopping = True
        self._tell(_FIRST)
        if self.on_stop is not None:
            self.on_stop()

    def __enter__(self) -> Self:
        """Take over the signals."""
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        """Give the signals back."""
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, handler)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self.stop()
