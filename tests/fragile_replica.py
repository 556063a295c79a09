"""A replica for tests: it dies, refuses and counts its loads as files in a folder, or words in responses, say.

It is sent to Ray's processes by value, as the tests are no package that these could import.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import ray

from graders.client import Request
from graders.errors import GraderError, ServiceError
from graders.grader import Grader
from graders.providers.ray_replica import Delivery, Replica

FOLDER = "AUTORATER_TEST_FOLDER"
"""Environment variable: the folder, which the test and its replicas share."""


class FragileReplica(Replica):
    """``die-loading`` and ``refuse-loading`` are files; ``poison`` and ``slow`` stand in a response."""

    def __init__(self, grader: Grader, *, program: str, variables: Mapping[str, str], gpus: float) -> None:
        super().__init__(grader, program=program, variables=variables, gpus=gpus)
        self.folder = Path(variables[FOLDER])

    def load(self) -> GraderError | None:
        with (self.folder / "loads").open("a", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
        if (self.folder / "die-loading").exists():
            os.kill(os.getpid(), signal.SIGKILL)
        if (self.folder / "refuse-loading").exists():
            return ServiceError("vllm/none: not loaded, no such model; expected a model that vLLM can serve here")
        return super().load()

    def answer(self, requests: Sequence[Request]) -> Delivery:
        if any("poison" in request.item.response for request in requests):
            os.kill(os.getpid(), signal.SIGKILL)
        if any("engine" in request.item.response for request in requests):
            half = super().answer(requests[: len(requests) // 2])
            return Delivery(half.answers, ServiceError("vllm/x: the engine process died; expected it to live"), 1.0)
        if any("slow" in request.item.response for request in requests):
            time.sleep(0.2)
        return super().answer(requests)


ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
