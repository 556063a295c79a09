"""Who can be asked at the same time, and the one engine that stays loaded meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from experiments.running.grader_work import GraderWork
from graders.client import ModelClient
from graders.grader import Grader
from graders.providers import is_service, share_engine

__all__ = ["KeptEngine", "group_graders"]

_MOST_TOGETHER = 16
"""Services asked at once: each has its own pool of connections, and a process may not open any number of them."""


def group_graders(works: Sequence[GraderWork]) -> list[list[GraderWork]]:
    """Services in groups that are asked at the same time; whatever computes in this process alone."""
    services = [work for work in works if is_service(work.grader.model)]
    groups = [services[first : first + _MOST_TOGETHER] for first in range(0, len(services), _MOST_TOGETHER)]
    return [*groups, *([work] for work in works if not is_service(work.grader.model))]


class KeptEngine:
    """Keeps a model loaded for the next grader that is asked through it; to be used as a context manager.

    Two models are never loaded at once, as they may not fit.
    """

    def __init__(self, open_client: Callable[[Grader], ModelClient]) -> None:
        self._open_client = open_client
        self._loaded: tuple[Grader, ModelClient] | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Unload it."""
        self._stack.close()

    def client(self, grader: Grader) -> ModelClient | None:
        """The client of a grader that computes in this process; ``None`` for a service."""
        if is_service(grader.model):
            return None
        if self._loaded is not None and share_engine(self._loaded[0], grader):
            return self._loaded[1]
        self._loaded = None
        self._stack.close()
        client = self._stack.enter_context(self._open_client(grader))
        self._loaded = grader, client
        return client
