"""An event loop whose clock jumps to the next timer when nothing is ready: hours of waiting take no time."""

from __future__ import annotations

import asyncio
import selectors


class _Jumping(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    """Waits for nothing: what it would have waited for is added to the clock."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout:
            self.loop.ahead += timeout
        # With no timer at all something outside has to come, such as a word from another thread.
        return super().select(0.001 if timeout is None else 0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """To be used in place of the usual loop, where all that is waited for is time."""

    def __init__(self) -> None:
        self.ahead = 0.0
        selector = _Jumping()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.ahead
