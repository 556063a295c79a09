"""One copy of a model in a process of Ray's: what runs on a cluster's nodes. It knows nothing of Ray."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version

from graders.client import Answer, ModelClient, Request
from graders.errors import GraderError, MissingDependencyError, ServiceError
from graders.grader import Grader
from graders.providers import model_digest, open_client
from graders.providers.vllm_engine import prefer_arguments

__all__ = ["Delivery", "Replica", "own_version"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """What came of a batch: answers, the error that ended it before all were there, and seconds of computing.

    Errors are values here: raised, they would come out of Ray as others.
    """

    answers: Sequence[Answer]
    error: GraderError | None
    seconds: float


def own_version() -> str:
    """Version of this program; ``""`` where it runs without being installed."""
    try:
        return version("autorater-calibration")
    except PackageNotFoundError:
        return ""


class Replica:
    """A model, loaded by the client that would load it without a cluster.

    Parameters
    ----------
    program
        Version of the program that asks.
    variables
        Environment variables that the engine is started by.
    gpus
        How many it has to itself.
    """

    def __init__(self, grader: Grader, *, program: str, variables: Mapping[str, str], gpus: float) -> None:
        os.environ.update(variables)
        self._grader = replace(grader, endpoint=replace(grader.endpoint, ray=None))
        self._program, self._gpus = program, gpus
        self._stack = ExitStack()
        self._client: ModelClient | None = None

    def find_place(self) -> str:
        """The node that it was given a place on."""
        return socket.gethostname()

    def load(self) -> GraderError | None:
        """Load the model; what keeps it from that."""
        try:
            self._check_same()
            if self._gpus > 1:
                prefer_arguments({"tensor_parallel_size": int(self._gpus)})
            self._client = self._stack.enter_context(open_client(self._grader))
        except MissingDependencyError as error:
            # Where the program was started it may well be installed.
            return MissingDependencyError(f"ray: node {self.find_place()}: {error}")
        except GraderError as error:
            return error
        return None

    def _check_same(self) -> None:
        """The node would answer as the one that asks: the same program, the same weights."""
        node, name = self.find_place(), self._grader.address or self._grader.model
        if own_version() != self._program:
            raise ServiceError(
                f"ray: node {node} has autorater-calibration {own_version() or 'uninstalled'}; "
                f"expected {self._program or 'it uninstalled'}, as where the run was started"
            )
        if self._grader.model_digest.partition(";")[0] != model_digest(name, self._grader.endpoint):
            raise ServiceError(
                f"ray: {name} on node {node} is not the model that the run was started with; "
                "expected the same files on every node, under the same absolute path"
            )

    def answer(self, requests: Sequence[Request]) -> Delivery:
        """Answer every repeat of every request."""
        assert self._client is not None
        answers: list[Answer] = []
        error, began = None, time.perf_counter()
        try:
            for together in self._client.complete(requests):
                answers += together
        except GraderError as problem:
            error = problem
        return Delivery(answers, error, time.perf_counter() - began)

    def close(self) -> None:
        """Unload the model."""
        self._stack.close()
