"""From a grader to the service that takes its batch jobs."""

from __future__ import annotations

from graders.batch.batch_service import BatchService
from graders.errors import UnsupportedError
from graders.grader import Grader

__all__ = ["open_batch_service"]

_OPENAI_SHAPED = ("openai/", "openai-compatible/")


def open_batch_service(grader: Grader) -> BatchService:
    """The service that takes a grader's jobs; its package is imported now, not before.

    Raises
    ------
    UnsupportedError
        If there is no such service for the model.
    MissingDependencyError
        If the package is not installed.
    ServiceError
        If the key is missing.
    """
    if grader.model.startswith("anthropic/"):
        from graders.batch.anthropic_batch import open_anthropic_batch

        return open_anthropic_batch(grader)
    if grader.model.startswith(_OPENAI_SHAPED):
        from graders.batch.openai_batch import open_openai_batch

        return open_openai_batch(grader)
    raise UnsupportedError(f"--batch: {grader.model}: no batch jobs; expected a model of OpenAI or Anthropic")
