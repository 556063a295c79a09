"""Processes that begin with the program's modules at hand: to import them anew takes seconds on a busy machine."""

from __future__ import annotations

from multiprocessing import get_context
from multiprocessing.context import ForkServerContext

__all__ = ["ready_processes"]

_READY = [
    "cli",
    "openai",
    "aiohttp",
    "alembic.command",
    "alembic.config",
    "psycopg",
    "experiments.store.postgres_database",
    "graders.providers.openai_client",
]


def ready_processes() -> ForkServerContext:
    """What makes processes, each forked from one that has imported what is slow and done nothing else."""
    context = get_context("forkserver")
    context.set_forkserver_preload(_READY)
    return context
