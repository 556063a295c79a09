"""Graders: a prompt, a model and a way of sampling."""

from __future__ import annotations

from dataclasses import dataclass, field

from calibration_sets.item import content_digest
from graders.capabilities import Capabilities
from graders.endpoint import Endpoint
from graders.prompt import GraderPrompt
from graders.sampling import Sampling

__all__ = ["Grader"]


@dataclass(frozen=True, slots=True)
class Grader:
    """Who judges.

    ``model`` is ``provider/name``, such as ``local/smollm2``. ``prompt`` is ``None`` for graders
    that take none (``baseline/lexical``, replayed or imported verdicts). ``model_digest`` stands
    for what the model name alone does not say, such as the hash of a file of recorded completions;
    ``address`` is what a provider opens where that is not the model's name, such as a path;
    ``endpoint`` is how a service is reached, ``capabilities`` what its model can do.
    ``grader_id`` covers all that can change a completion: prompt content, model and sampling, but
    not names, versions, addresses, endpoints or the number of repeats.
    """

    model: str
    sampling: Sampling
    prompt: GraderPrompt | None = None
    model_digest: str = ""
    address: str = ""
    endpoint: Endpoint = field(default_factory=Endpoint)
    capabilities: Capabilities = field(default_factory=Capabilities)
    grader_id: str = field(init=False)

    def __post_init__(self) -> None:
        content = {
            "prompt": self.prompt.digest if self.prompt else None,
            "model": self.model,
            "model_digest": self.model_digest,
            "sampling": dict(self.sampling.as_settings()),
        }
        object.__setattr__(self, "grader_id", content_digest(content)[:16])

    @property
    def title(self) -> str:
        """Prompt and model, for tables."""
        return f"{self.prompt.title} {self.model}" if self.prompt else self.model
